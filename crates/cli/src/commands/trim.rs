//! `recount trim`

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use recount_changes::{Changes, Trim, Turn, TurnAt};

use crate::commands::change::{Consent, shrunk};
use crate::context::{Context, Paged};
use crate::failure::{Failure, NOTHING};
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::json;
use crate::output::number::{bytes, count};
use crate::output::progress::Bar;
use crate::output::span::Span;
use crate::output::theme::Tone;

/// Drop turns of a session from what its agent will load
///
/// A turn is a prompt and all that follows up to the next; calls of tools and their results stay together. Without a range the
/// turns are listed with their numbers. What stands before the first prompt stays. Newer releases are given a list of
/// what is left, at the end of the file: the turns stay in it, as undone. For older ones the file is written anew, and
/// the turns stay in the undo data.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount trim 3d2f                    the turns and their numbers\n  \
    recount trim 3d2f --drop 2..4        without turns 2, 3 and 4\n  recount trim 3d2f --keep-last 3\n  \
    recount trim 3d2f --from 5 --to 9    only these\n  recount trim 3d2f --drop 2 --rewrite out of the file, too"
)]
pub(crate) struct TrimArgs {
    /// The session
    #[arg(value_name = "SESSION")]
    session: String,

    /// Keep from this turn on; a number, or the start of a message's id
    #[arg(long, value_name = "TURN", value_parser = turn)]
    from: Option<TurnAt>,

    /// Keep up to this turn
    #[arg(long, value_name = "TURN", value_parser = turn)]
    to: Option<TurnAt>,

    /// Keep so many turns at the end
    #[arg(long, value_name = "N", conflicts_with_all = ["from", "to", "drop"])]
    keep_last: Option<usize>,

    /// Drop these turns: one, or the first and the last
    #[arg(long, value_name = "TURN[..TURN]", value_parser = stretch, conflicts_with_all = ["from", "to"])]
    drop: Option<Stretch>,

    /// Write the file anew without them, whatever the release
    #[arg(long)]
    rewrite: bool,

    #[command(flatten)]
    consent: Consent,
}

#[derive(Clone, Debug)]
struct Stretch(TurnAt, TurnAt);

#[expect(clippy::unnecessary_wraps, reason = "the form that clap asks for")]
fn turn(text: &str) -> Result<TurnAt, String> {
    // Ids are longer than any number of turns.
    let number = text.parse().ok().filter(|_| text.len() < 8);
    Ok(number.map_or_else(|| TurnAt::Message(text.to_owned()), TurnAt::Number))
}

fn stretch(text: &str) -> Result<Stretch, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    if from.is_empty() || to.is_empty() {
        return Err("give the first and the last turn, for example 2..4".to_owned());
    }
    Ok(Stretch(turn(from)?, turn(to)?))
}

pub(crate) fn run(args: &TrimArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    let trim = match (&args.drop, args.keep_last) {
        (Some(Stretch(from, to)), _) => Trim::Drop(from.clone(), to.clone()),
        (None, Some(many)) => Trim::KeepLast(many),
        (None, None) if args.from.is_some() || args.to.is_some() => {
            Trim::Keep(args.from.clone(), args.to.clone())
        }
        (None, None) => {
            let bar = Bar::new(context, "reading");
            let turns = changes.turns(&args.session, &bar)?;
            bar.finish();
            return list(&turns, context);
        }
    };
    args.consent.recover(changes, context)?;
    let bar = Bar::new(context, "reading");
    let offer = changes.trim_plan(&args.session, &trim, args.rewrite, &bar)?;
    bar.finish();
    let done = format!("trimmed: {}", shrunk(&offer.plan));
    args.consent.carry_out_or_tell(&offer, changes, context, &done, "nothing to drop")
}

const COLUMNS: &[Column] = &[
    Column { heading: "TURN", align: Align::Right, fit: Fit::Keep },
    Column { heading: "MESSAGES", align: Align::Right, fit: Fit::Drop(2) },
    Column { heading: "SIZE", align: Align::Right, fit: Fit::Drop(1) },
    Column { heading: "PROMPT", align: Align::Left, fit: Fit::Flexible },
];

fn list(turns: &[Turn], context: &Context) -> Result<ExitCode, Failure> {
    if context.global.json {
        json::document(context, "trim", "turns", &turns)?;
    } else {
        let row = |turn: &Turn| {
            vec![
                Span::new(&turn.number.to_string(), Tone::Strong),
                Span::new(&count(turn.messages as u64), Tone::Plain),
                Span::new(&bytes(turn.bytes), Tone::Plain),
                Span::new(&turn.prompt, Tone::Plain),
            ]
        };
        let rows: Vec<Vec<Span>> = turns.iter().map(row).collect();
        let mut out = context.out(Paged::Yes);
        if !rows.is_empty() {
            out.write_all(render(COLUMNS, &rows, &context.canvas()).as_bytes())?;
        }
        out.finish()?;
    }
    if turns.is_empty() {
        context.warn("the agent would load no prompt of it");
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(ExitCode::SUCCESS)
}
