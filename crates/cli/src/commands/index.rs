//! `recount index`

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use recount_engine::{IndexReport, IndexStatus};

use crate::context::{Context, Paged};
use crate::failure::Failure;
use crate::output::json;
use crate::output::number::{bytes, count, plural};
use crate::output::progress::Bar;
use crate::output::span::{Line, StyledSpan};
use crate::output::theme::Tone;

/// Update, inspect or rebuild the search index
///
/// `recount search` updates the index by itself. The index is a cache in recount's data folder and can be deleted at any time.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  recount index
  recount index status
  recount index rebuild
  recount index --forget             # drop sessions whose files are gone")]
pub(crate) struct IndexArgs {
    #[command(subcommand)]
    command: Option<What>,

    /// Drop sessions whose files are gone
    #[arg(long)]
    forget: bool,

    /// Build it for later searches, unless another process does
    #[arg(long, hide = true, conflicts_with = "forget")]
    background: bool,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum What {
    /// Show what is indexed
    Status,
    /// Rebuild the index from scratch
    Rebuild,
}

pub(crate) fn run(args: &IndexArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    if args.background {
        engine.index_for_later()?;
        return Ok(ExitCode::SUCCESS);
    }
    let bar = Bar::new(context, "indexing");
    if matches!(args.command, Some(What::Status)) {
        let status = engine.index_status(&bar)?;
        bar.finish();
        return show_status(&status, engine.index_progress(), context);
    }
    if args.forget {
        let forgotten = engine.forget_gone(&bar)?;
        bar.finish();
        context.warn(&format!("{} forgotten", plural(forgotten as u64, "session")));
        return Ok(ExitCode::SUCCESS);
    }
    let indexed = match args.command {
        Some(What::Rebuild) => engine.rebuild_index(&bar)?,
        _ => engine.index(&bar)?,
    };
    bar.finish();
    report(&indexed, context)?;
    Ok(ExitCode::SUCCESS)
}

fn report(indexed: &IndexReport, context: &Context) -> Result<(), Failure> {
    if context.global.json {
        json::document(context, "index", "indexed", indexed)?;
        return Ok(());
    }
    let IndexReport { sessions, messages, bytes: size, unchanged } = *indexed;
    let words = if sessions == 0 {
        format!("up to date: {}", plural(unchanged as u64, "session"))
    } else {
        let sessions = plural(sessions as u64, "session");
        format!(
            "{sessions} indexed, {} messages of {}; {unchanged} unchanged",
            count(messages),
            bytes(size)
        )
    };
    context.warn(&words);
    Ok(())
}

fn show_status(
    status: &IndexStatus,
    building: Option<(u64, u64)>,
    context: &Context,
) -> Result<ExitCode, Failure> {
    if context.global.json {
        json::document(context, "index", "status", status)?;
        return Ok(ExitCode::SUCCESS);
    }
    let folder = context.folders.tilde(&status.folder.to_string_lossy());
    let building = building.map(|(done, total)| format!("{} of {}", bytes(done), bytes(total)));
    let rows = [
        ("building", building.unwrap_or_else(|| "no".to_owned())),
        ("sessions", count(status.sessions as u64)),
        ("indexed", count(status.indexed as u64)),
        ("stale", count(status.stale as u64)),
        ("gone", count(status.gone as u64)),
        ("messages", count(status.messages)),
        ("size", bytes(status.bytes)),
        ("folder", folder),
    ];
    let line = |(name, value): &(&str, String)| {
        Line::new([
            StyledSpan::new(&format!("{name:<10}"), Tone::Dim),
            StyledSpan::new(value, Tone::Plain),
        ])
    };
    let mut out = context.out(Paged::No);
    out.write_all(context.canvas().print(rows.iter().map(line)).as_bytes())?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
