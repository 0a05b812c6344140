//! `recount trash`

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use recount_changes::{Changes, Trashed};
use serde::Serialize;

use crate::commands::change::Consent;
use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure};
use crate::output::columns::{Align, Column, Fit};
use crate::output::json;
use crate::output::number::{bytes, plural};
use crate::output::span::Span;
use crate::output::theme::Tone;
use crate::when;

/// List deleted sessions, or empty the trash
///
/// `recount restore SESSION` brings a session back.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount trash
  recount trash empty --before 30d   # what was deleted more than 30 days ago
  recount trash empty --yes")]
pub(crate) struct TrashArgs {
    #[command(subcommand)]
    command: Option<What>,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// List deleted sessions
    List,
    /// Delete the content of the trash for good
    ///
    /// Deletions whose files are removed can no longer be undone.
    Empty(EmptyArgs),
}

#[derive(Args, Clone, Debug)]
struct EmptyArgs {
    /// Only what was deleted before this time (2026-09-02, 30d)
    #[arg(long, value_name = "WHEN")]
    before: Option<String>,

    #[command(flatten)]
    consent: Consent,
}

#[derive(Serialize)]
struct Emptied {
    changes: usize,
}

pub(crate) fn run(args: &TrashArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    match &args.command {
        None | Some(What::List) => list(changes, context),
        Some(What::Empty(args)) => empty(args, changes, context),
    }
}

fn list(changes: Changes<'_>, context: &Context) -> Result<ExitCode, Failure> {
    let trash = changes.trash()?;
    if context.global.json {
        json::document(context, "trash", "sessions", &trash)?;
    } else if !trash.is_empty() {
        let rows: Vec<Vec<Span>> = trash.iter().map(|item| row(item, context)).collect();
        let mut out = context.out(Paged::Yes);
        out.write_all(context.table(COLUMNS, &rows).as_bytes())?;
        out.finish()?;
    }
    if trash.is_empty() {
        context.warn("the trash is empty");
    }
    Ok(ExitCode::SUCCESS)
}

fn empty(args: &EmptyArgs, changes: Changes<'_>, context: &Context) -> Result<ExitCode, Failure> {
    args.consent.recover(changes, context)?;
    let before = args.before.as_deref().map(|text| when::parse(text, context.clock.now()));
    let before = before.transpose().map_err(|message| Failure::new(ERROR, message))?;
    let old = |item: &&Trashed| before.is_none_or(|before| item.time < before);
    let trash = changes.trash()?;
    let going: Vec<&Trashed> = trash.iter().filter(old).collect();
    let size: u64 = going.iter().map(|item| item.bytes).sum();
    let words = format!("{}, {}", plural(going.len() as u64, "session"), bytes(size));
    if !args.consent.agree(&format!("throw away {words}, for good"))? {
        context.warn(&format!("nothing was changed (--dry-run): {words} would be deleted"));
        return Ok(ExitCode::SUCCESS);
    }
    let emptied = changes.empty_trash(before)?;
    if context.global.json {
        json::document(context, "trash", "emptied", &Emptied { changes: emptied })?;
    } else {
        context.warn(&format!("deleted {words} for good"));
    }
    Ok(ExitCode::SUCCESS)
}

const COLUMNS: &[Column] = &[
    Column { heading: "ID", align: Align::Left, fit: Fit::Keep },
    Column { heading: "DELETED", align: Align::Left, fit: Fit::Keep },
    Column { heading: "FILES", align: Align::Right, fit: Fit::Drop(2) },
    Column { heading: "SIZE", align: Align::Right, fit: Fit::Keep },
    Column { heading: "PROJECT", align: Align::Path, fit: Fit::Drop(1) },
    Column { heading: "TITLE", align: Align::Left, fit: Fit::Flexible },
];

fn row(item: &Trashed, context: &Context) -> Vec<Span> {
    let form = context.form();
    let project = item.session.project.as_deref().map(|path| context.folders.tilde(path));
    vec![
        Span::new(&form.start(&item.session.id), Tone::Name),
        Span::new(&form.time(Some(item.time), context.clock.now()), Tone::Dim),
        Span::new(&form.count(item.files.len() as u64), Tone::Plain),
        Span::new(&form.bytes(item.bytes), Tone::Plain),
        Span::new(&project.unwrap_or_default(), Tone::Dim),
        Span::new(item.session.title.as_deref().unwrap_or_default(), Tone::Plain),
    ]
}
