//! `recount trash`

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use recount_changes::{Changes, Emptying, Trashed, UndoData};
use serde::Serialize;

use crate::commands::change::Consent;
use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure};
use crate::output::columns::{Align, Column, Fit};
use crate::output::json;
use crate::output::number::{bytes, plural};
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;
use crate::{when, words};

/// List deleted sessions and undo data, or empty the trash
///
/// Deleted sessions are the trash: `recount restore SESSION` brings one back. Undo data is something else: the originals of files that rename,
/// repair, trim, compact, convert or another change replaced. `recount undo` needs it, and `trash empty` keeps it unless --undo-data is given.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount trash
  recount trash empty --before 30d                 # what was deleted more than 30 days ago
  recount trash empty --yes
  recount trash empty --undo-data --before 90d     # undo data of older changes, too")]
pub(crate) struct TrashArgs {
    #[command(subcommand)]
    command: Option<What>,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// List deleted sessions and undo data
    List,
    /// Remove deleted sessions for good
    ///
    /// They can no longer be restored. Undo data of other changes stays unless --undo-data is given.
    Empty(EmptyArgs),
}

#[derive(Args, Clone, Debug)]
struct EmptyArgs {
    /// Only what was deleted or changed before this time (2026-09-02, 30d)
    #[arg(long, value_name = "WHEN")]
    before: Option<String>,

    /// Also remove undo data; those changes can no longer be undone
    #[arg(long)]
    undo_data: bool,

    #[command(flatten)]
    consent: Consent,
}

#[derive(Serialize)]
struct Emptied {
    sessions: usize,
    bytes: u64,
    undo_data: usize,
    undo_data_bytes: u64,
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
    let kept = changes.kept_copies()?;
    let nothing = kept.sessions.is_empty();
    if context.global.json {
        json::print(context, |out| recount_documents::trash(out, &kept))?;
    } else if !kept.is_empty() {
        let mut out = context.out(Paged::Yes);
        let rows: Vec<Vec<StyledSpan>> =
            kept.sessions.iter().map(|item| row(item, context)).collect();
        if !rows.is_empty() {
            out.write_all(context.table(COLUMNS, &rows).as_bytes())?;
        }
        let undo: Vec<Vec<StyledSpan>> =
            kept.undo_data.iter().map(|item| undo_row(item, context)).collect();
        if !undo.is_empty() {
            let gap = if rows.is_empty() { "" } else { "\n" };
            write!(out, "{gap}{}", context.table(UNDO_COLUMNS, &undo))?;
        }
        out.finish()?;
    }
    if nothing {
        context.warn("the trash is empty: there are no deleted sessions");
    }
    Ok(ExitCode::SUCCESS)
}

fn empty(args: &EmptyArgs, changes: Changes<'_>, context: &Context) -> Result<ExitCode, Failure> {
    args.consent.recover(changes, context)?;
    let before = args.before.as_deref().map(|text| when::parse(text, context.clock.now()));
    let before = before.transpose().map_err(|message| Failure::new(ERROR, message))?;
    let mut going = changes.kept_copies()?;
    going.retain_before(before);
    let kept = if args.undo_data { Vec::new() } else { std::mem::take(&mut going.undo_data) };
    let (sessions, undo_data) = (going.sessions.len(), going.undo_data.len());
    let size: u64 = going.sessions.iter().map(|item| item.bytes).sum();
    let undo_size: u64 = going.undo_data.iter().map(|item| item.bytes).sum();
    let mut words = Vec::new();
    if sessions > 0 || undo_data == 0 {
        words.push(format!("{}, {}", plural(sessions as u64, "deleted session"), bytes(size)));
    }
    if undo_data > 0 {
        let of = plural(undo_data as u64, "change");
        words.push(format!("the undo data of {of}, {}", bytes(undo_size)));
    }
    let words = words.join(", and ");
    if !kept.is_empty() {
        let size = bytes(kept.iter().map(|item| item.bytes).sum());
        let of = plural(kept.len() as u64, "change");
        context.warn(&format!("undo data of {of}, {size}, stays; --undo-data removes it, too"));
    }
    if going.is_empty() && !context.global.json {
        context.warn("nothing to remove");
        return Ok(ExitCode::SUCCESS);
    }
    if !args.consent.agree(&format!("remove {words}, for good"))? {
        context.warn(&format!("nothing was changed (--dry-run): {words} would be removed"));
        return Ok(ExitCode::SUCCESS);
    }
    let what = if args.undo_data { Emptying::SessionsAndUndoData } else { Emptying::Sessions };
    let emptied = changes.empty_trash(what, before)?;
    if context.global.json {
        let emptied = Emptied {
            sessions,
            bytes: size,
            undo_data,
            undo_data_bytes: undo_size,
            changes: emptied,
        };
        json::document(context, "trash", "emptied", &emptied)?;
    } else {
        let can = plural(emptied as u64, "change");
        context.warn(&format!("removed for good: {words}; {can} can no longer be undone"));
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

fn row(item: &Trashed, context: &Context) -> Vec<StyledSpan> {
    let form = context.form();
    let project = item.session.project.as_deref().map(|path| context.folders.tilde(path));
    vec![
        StyledSpan::new(&form.start(&item.session.id), Tone::Name),
        StyledSpan::new(&form.time(Some(item.time), context.clock.now()), Tone::Dim),
        StyledSpan::new(&form.count(item.files.len() as u64), Tone::Plain),
        StyledSpan::new(&form.bytes(item.bytes), Tone::Plain),
        StyledSpan::new(&project.unwrap_or_default(), Tone::Dim),
        StyledSpan::new(item.session.title.as_deref().unwrap_or_default(), Tone::Plain),
    ]
}

const UNDO_COLUMNS: &[Column] = &[
    Column { heading: "UNDO DATA", align: Align::Left, fit: Fit::Keep },
    Column { heading: "CHANGED", align: Align::Left, fit: Fit::Drop(3) },
    Column { heading: "CHANGE", align: Align::Left, fit: Fit::Keep },
    Column { heading: "FILES", align: Align::Right, fit: Fit::Drop(2) },
    Column { heading: "SIZE", align: Align::Right, fit: Fit::Keep },
    Column { heading: "SESSIONS", align: Align::Left, fit: Fit::Flexible },
];

fn undo_row(item: &UndoData, context: &Context) -> Vec<StyledSpan> {
    let form = context.form();
    vec![
        StyledSpan::new(&item.receipt, Tone::Name),
        StyledSpan::new(&form.time(Some(item.time), context.clock.now()), Tone::Dim),
        StyledSpan::new(&item.command, Tone::Plain),
        StyledSpan::new(&form.count(item.files.len() as u64), Tone::Plain),
        StyledSpan::new(&form.bytes(item.bytes), Tone::Plain),
        StyledSpan::new(&words::subjects(&item.sessions), Tone::Plain),
    ]
}
