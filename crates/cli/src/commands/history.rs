//! `recount history`

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use recount_changes::{Change, ChangeState, Changes};

use crate::commands::change::report_damaged;
use crate::context::{Context, Paged};
use crate::failure::Failure;
use crate::output::columns::{Align, Column, Fit};
use crate::output::json;
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;
use crate::words;

/// List the changes made by recount
///
/// Newest first, each with the receipt that `recount undo` accepts.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount history
  recount history --json")]
pub(crate) struct HistoryArgs {}

pub(crate) fn run(_args: &HistoryArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    let made = changes.history()?;
    report_damaged(changes, context)?;
    if context.global.json {
        json::document(context, "history", "changes", &made)?;
    } else if !made.is_empty() {
        let rows: Vec<Vec<StyledSpan>> = made.iter().map(|change| row(change, context)).collect();
        let mut out = context.out(Paged::Yes);
        out.write_all(context.table(COLUMNS, &rows).as_bytes())?;
        out.finish()?;
    }
    if made.is_empty() {
        context.warn("no changes yet");
    }
    Ok(ExitCode::SUCCESS)
}

const COLUMNS: &[Column] = &[
    Column { heading: "RECEIPT", align: Align::Left, fit: Fit::Keep },
    Column { heading: "WHEN", align: Align::Left, fit: Fit::Drop(2) },
    Column { heading: "CHANGE", align: Align::Left, fit: Fit::Keep },
    Column { heading: "STATE", align: Align::Left, fit: Fit::Keep },
    Column { heading: "FILES", align: Align::Right, fit: Fit::Drop(4) },
    Column { heading: "SIZE", align: Align::Right, fit: Fit::Drop(3) },
    Column { heading: "SESSIONS", align: Align::Left, fit: Fit::Flexible },
];

fn row(change: &Change, context: &Context) -> Vec<StyledSpan> {
    let tone = match change.state {
        ChangeState::Done => Tone::Plain,
        ChangeState::Undone | ChangeState::PartlyUndone => Tone::Dim,
        ChangeState::TakenBack | ChangeState::CutShort => Tone::Warning,
    };
    let state = match change.state {
        ChangeState::Done if !change.undoable => "done, for good",
        state => words::state(state),
    };
    let form = context.form();
    vec![
        StyledSpan::new(&change.receipt, Tone::Name),
        StyledSpan::new(&form.time(Some(change.time), context.clock.now()), Tone::Dim),
        StyledSpan::new(&change.command, Tone::Plain),
        StyledSpan::new(state, tone),
        StyledSpan::new(&form.count(change.files as u64), Tone::Plain),
        StyledSpan::new(&form.bytes(change.bytes), Tone::Plain),
        StyledSpan::new(&words::subjects(&change.sessions), Tone::Plain),
    ]
}
