//! `recount verify`

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use recount_engine::{Cite, Verdict, Verification};
use serde::Serialize;

use crate::context::{Context, Paged};
use crate::failure::{Failure, NOTHING};
use crate::output::json;
use crate::output::progress::Bar;
use crate::output::sanitize::single_line;
use crate::when;

/// Check that a quote is in the message cited for it
///
/// Reads the cited bytes again and compares. White space, width of letters and kinds of quotation marks do not matter, words and case do. Agents get
/// cites from `recount mcp`; SESSION:N cites message N of a session. Exits with 1 unless the quote is verified.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount verify 279d2ba9:2 '10 % off from ten pieces'     # message 2 of a session
  recount verify 279d2ba9:2 '10 % off from ten pieces' --json | jq -r .verified.cite")]
pub(crate) struct VerifyArgs {
    /// Cite, or SESSION:N for message N of a session
    cite: String,

    /// Words to look for
    quote: String,
}

/// The result, for JSON.
#[derive(Serialize)]
struct Document<'a> {
    verdict: &'static str,
    cite: Option<String>,
    part: Option<&'static str>,
    kind: Option<recount_model::MessageKind>,
    fate: Option<recount_model::Fate>,
    time: Option<jiff::Timestamp>,
    session: Option<&'a str>,
    recorded: Option<&'a str>,
    only_quoted: &'a [String],
    only_recorded: &'a [String],
}

pub(crate) fn run(args: &VerifyArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.engine()?;
    let cite: Cite = args.cite.parse()?;
    let bar = Bar::new(context, "reading sessions");
    let verified = engine.verify(&cite, &args.quote, None, &bar)?;
    bar.finish();
    if context.global.json {
        json::document(context, "verify", "verified", &document(&verified))?;
    } else {
        let mut out = context.out(Paged::No);
        for line in lines(&verified) {
            writeln!(out, "{}", single_line(&line))?;
        }
        out.finish()?;
    }
    let is_verified = verified.verdict == Verdict::Verified;
    Ok(if is_verified { ExitCode::SUCCESS } else { ExitCode::from(NOTHING) })
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Verified => "verified",
        Verdict::Near { .. } => "near",
        Verdict::NotThere => "not there",
        Verdict::Changed => "changed",
        Verdict::Gone => "gone",
    }
}

fn document(verified: &Verification) -> Document<'_> {
    let (recorded, only_quoted, only_recorded) = match &verified.verdict {
        Verdict::Near { passage, only_quoted, only_recorded } => {
            (Some(passage.as_str()), only_quoted.as_slice(), only_recorded.as_slice())
        }
        _ => (None, [].as_slice(), [].as_slice()),
    };
    let message = verified.message.as_ref();
    Document {
        verdict: word(&verified.verdict),
        cite: verified.found.as_ref().map(Cite::to_string),
        part: verified.field.map(recount_engine::Field::name),
        kind: message.map(|message| message.kind),
        fate: message.map(|message| message.fate),
        time: message.and_then(|message| message.time),
        session: verified.session.as_ref().map(|session| session.facts.id.as_str()),
        recorded,
        only_quoted,
        only_recorded,
    }
}

fn lines(verified: &Verification) -> Vec<String> {
    let mut lines = vec![match (&verified.verdict, &verified.found) {
        (Verdict::Verified, _) => "verified: the message has these words".to_owned(),
        (Verdict::Near { .. }, _) => "near: the message has something else".to_owned(),
        (Verdict::NotThere, Some(_)) => {
            "not there: another message of the session has these words".to_owned()
        }
        (Verdict::NotThere, None) => {
            "not there: neither the message nor its session has these words".to_owned()
        }
        (Verdict::Changed, _) => {
            "changed: the file is not as cited; the words were found again".to_owned()
        }
        (Verdict::Gone, _) => {
            "gone: the session was deleted, or changed so that it no longer has these words"
                .to_owned()
        }
    }];
    if let Verdict::Near { passage, only_quoted, only_recorded } = &verified.verdict {
        lines.push(format!("  recorded: {passage}"));
        for (name, words) in
            [("only in the quote", only_quoted), ("only in the record", only_recorded)]
        {
            if !words.is_empty() {
                lines.push(format!("  {name}: {}", words.join(" ")));
            }
        }
    }
    if let (Some(message), Some(session)) = (&verified.message, &verified.session) {
        let part = verified.field.map_or("message", recount_engine::Field::name);
        let time = message.time.map(when::minute).unwrap_or_default();
        let title = session.facts.title.as_deref().unwrap_or("(no title)");
        lines.push(format!("  {part}, {time}, {}: {title}", message.fate));
    }
    if let Some(found) = &verified.found {
        lines.push(format!("  {found}"));
    }
    lines
}
