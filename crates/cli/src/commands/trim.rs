//! `recount trim`

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use recount_changes::{Changes, Trim, Turn, TurnAt};

use crate::commands::change::{Consent, shrunk};
use crate::context::{Context, Paged};
use crate::failure::{Failure, NOTHING};
use crate::output::columns::{Align, Column, Fit};
use crate::output::json;
use crate::output::progress::Bar;
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;

/// Remove turns from what the agent loads of a session
///
/// A turn is a prompt and everything up to the next one; tool calls and their results stay together. Without a range, lists the turns with
/// their numbers. Messages before the first prompt are kept. For newer releases, trim appends a list of the remaining messages and the
/// removed turns stay in the file as undone. For older ones the file is rewritten and the old file is kept as undo data.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount trim 82e5                      # list the turns
  recount trim 82e5 --drop 2..4          # without turns 2, 3 and 4
  recount trim 82e5 --keep 3..           # from turn 3 on
  recount trim 82e5 --drop 2 --rewrite   # also remove it from the file")]
pub(crate) struct TrimArgs {
    /// Session: an id or its first characters, a file, @N or `latest`
    #[arg(value_name = "SESSION")]
    session: String,

    /// Turns to keep: numbers or starts of message ids; either end may be missing
    #[arg(long, value_name = "TURN..TURN", value_parser = open_range, conflicts_with_all = ["from", "to", "drop", "keep_last"])]
    keep: Option<OpenRange>,

    /// First turn to keep; now the start of --keep
    #[arg(long, value_name = "TURN", value_parser = turn, hide = true)]
    from: Option<TurnAt>,

    /// Last turn to keep; now the end of --keep
    #[arg(long, value_name = "TURN", value_parser = turn, hide = true)]
    to: Option<TurnAt>,

    /// Keep only the last N turns
    #[arg(long, value_name = "N", conflicts_with_all = ["from", "to", "drop"])]
    keep_last: Option<usize>,

    /// Turns to remove: one, or a range
    #[arg(long, value_name = "TURN[..TURN]", value_parser = stretch, conflicts_with_all = ["from", "to"])]
    drop: Option<Stretch>,

    /// Rewrite the file without them, for every release
    #[arg(long)]
    rewrite: bool,

    #[command(flatten)]
    consent: Consent,
}

#[derive(Clone, Debug)]
struct Stretch(TurnAt, TurnAt);

#[derive(Clone, Debug)]
struct OpenRange(Option<TurnAt>, Option<TurnAt>);

#[expect(clippy::unnecessary_wraps, reason = "the form that clap asks for")]
fn turn(text: &str) -> Result<TurnAt, String> {
    // Ids are longer than any number of turns.
    let number = text.parse().ok().filter(|_| text.len() < 8);
    Ok(number.map_or_else(|| TurnAt::Message(text.to_owned()), TurnAt::Number))
}

fn open_range(text: &str) -> Result<OpenRange, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let end = |text: &str| (!text.is_empty()).then(|| turn(text)).transpose();
    match (end(from)?, end(to)?) {
        (None, None) => {
            Err("give the first turn, the last turn, or both, for example 5..9".to_owned())
        }
        (from, to) => Ok(OpenRange(from, to)),
    }
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
    let keep = match &args.keep {
        Some(OpenRange(from, to)) => (from, to),
        None => (&args.from, &args.to),
    };
    let trim = match (&args.drop, args.keep_last) {
        (Some(Stretch(from, to)), _) => Trim::Drop(from.clone(), to.clone()),
        (None, Some(many)) => Trim::KeepLast(many),
        (None, None) if keep != (&None, &None) => Trim::Keep(keep.0.clone(), keep.1.clone()),
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
    args.consent.carry_out_or_report(&offer, changes, context, &done, "nothing to drop")
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
        let form = context.form();
        let row = |turn: &Turn| {
            vec![
                StyledSpan::new(&turn.number.to_string(), Tone::Strong),
                StyledSpan::new(&form.count(turn.messages as u64), Tone::Plain),
                StyledSpan::new(&form.bytes(turn.bytes), Tone::Plain),
                StyledSpan::new(&turn.prompt, Tone::Plain),
            ]
        };
        let rows: Vec<Vec<StyledSpan>> = turns.iter().map(row).collect();
        let mut out = context.out(Paged::Yes);
        if !rows.is_empty() {
            out.write_all(context.table(COLUMNS, &rows).as_bytes())?;
        }
        out.finish()?;
    }
    if turns.is_empty() {
        context.warn("the agent would not load any prompt of it");
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(ExitCode::SUCCESS)
}
