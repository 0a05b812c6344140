//! `recount vault`

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use recount_changes::{Changes, Failed, Unwanted, VaultedSession};
use serde::Serialize;

use crate::commands::change::Consent;
use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure};
use crate::output::columns::{Align, Column, Fit};
use crate::output::json;
use crate::output::number::{bytes, count, plural};
use crate::output::progress::Bar;
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;
use crate::when;

/// List, verify or prune the copies made by `guard --keep`
///
/// `recount restore SESSION` restores a session from its copy.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount vault                           # + marks sessions whose files are gone
  recount vault verify                    # unpack and compare every copy
  recount vault prune                     # keep only the last version of each file
  recount vault prune --before 52w --all  # drop what was not seen for a year")]
pub(crate) struct VaultArgs {
    #[command(subcommand)]
    command: Option<What>,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// List the sessions in the vault
    List,
    /// Unpack every copy and verify its checksum
    Verify,
    /// Delete copies for good
    ///
    /// Without --all, deletes only versions that a newer one replaced.
    Prune(PruneArgs),
}

#[derive(Args, Clone, Debug)]
struct PruneArgs {
    /// Only copies last confirmed before this time (2026-09-02, 90d)
    #[arg(long, value_name = "WHEN")]
    before: Option<String>,

    /// Include the last version of each file
    #[arg(long, requires = "before")]
    all: bool,

    #[command(flatten)]
    consent: Consent,
}

#[derive(Serialize)]
struct Verified<'a> {
    copies: u64,
    damaged: &'a [Failed],
}

#[derive(Serialize)]
struct Pruned {
    copies: u64,
    bytes: u64,
}

pub(crate) fn run(args: &VaultArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    match &args.command {
        None | Some(What::List) => list(changes, context),
        Some(What::Verify) => verify(changes, context),
        Some(What::Prune(args)) => prune(args, changes, context),
    }
}

fn list(changes: Changes<'_>, context: &Context) -> Result<ExitCode, Failure> {
    let (held, unread) = changes.vault()?;
    if context.global.json {
        json::document(context, "vault", "sessions", &held)?;
    } else if !held.is_empty() {
        let rows: Vec<Vec<StyledSpan>> = held.iter().map(|held| row(held, context)).collect();
        let mut out = context.out(Paged::Yes);
        out.write_all(context.table(COLUMNS, &rows).as_bytes())?;
        out.finish()?;
    }
    if unread > 0 {
        context
            .warn(&format!("{} of the index cut short or damaged", plural(unread as u64, "line")));
    }
    if held.is_empty() {
        context.warn("the vault is empty; run `recount guard --keep` to fill it");
    }
    Ok(ExitCode::SUCCESS)
}

fn verify(changes: Changes<'_>, context: &Context) -> Result<ExitCode, Failure> {
    let bar = Bar::new(context, "verifying copies");
    let (copies, damaged) = changes.verify_vault(&bar)?;
    bar.finish();
    if context.global.json {
        let verified = Verified { copies, damaged: &damaged };
        json::document(context, "vault", "verified", &verified)?;
    } else {
        let sound = copies - damaged.len() as u64;
        context.warn(&format!("{} of {} verified", count(sound), copies_of(copies)));
    }
    for failed in &damaged {
        let path = context.folders.tilde(&failed.path.to_string_lossy());
        context.warn(&format!("damaged: the copy of {path}: {}", failed.why));
    }
    Ok(if damaged.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(ERROR) })
}

fn prune(args: &PruneArgs, changes: Changes<'_>, context: &Context) -> Result<ExitCode, Failure> {
    let before = args.before.as_deref().map(|text| when::parse(text, context.clock.now()));
    let before = before.transpose().map_err(|message| Failure::new(ERROR, message))?;
    let prune = Unwanted { older: !args.all, before };
    let (copies, size) = changes.unwanted_copies(prune)?;
    if copies == 0 && !context.global.json {
        context.warn("nothing to remove");
        return Ok(ExitCode::SUCCESS);
    }
    let words = format!("{}, {}", copies_of(copies), bytes(size));
    if !args.consent.agree(&format!("delete {words}, for good"))? {
        context.warn(&format!("nothing was changed (--dry-run): {words} would be deleted"));
        return Ok(ExitCode::SUCCESS);
    }
    let bytes = changes.prune_vault(prune)?;
    if context.global.json {
        json::document(context, "vault", "pruned", &Pruned { copies, bytes })?;
    } else {
        context.warn(&format!("deleted {words} for good"));
    }
    Ok(ExitCode::SUCCESS)
}

fn copies_of(number: u64) -> String {
    if number == 1 { "1 copy".to_owned() } else { format!("{} copies", count(number)) }
}

const COLUMNS: &[Column] = &[
    Column { heading: "", align: Align::Left, fit: Fit::Keep },
    Column { heading: "ID", align: Align::Left, fit: Fit::Keep },
    Column { heading: "KEPT", align: Align::Left, fit: Fit::Keep },
    Column { heading: "FILES", align: Align::Right, fit: Fit::Drop(3) },
    Column { heading: "SIZE", align: Align::Right, fit: Fit::Keep },
    Column { heading: "PACKED", align: Align::Right, fit: Fit::Drop(2) },
    Column { heading: "PROJECT", align: Align::Path, fit: Fit::Drop(1) },
    Column { heading: "TITLE", align: Align::Left, fit: Fit::Flexible },
];

fn row(held: &VaultedSession, context: &Context) -> Vec<StyledSpan> {
    let form = context.form();
    let project = held.project.as_deref().map(|path| context.folders.tilde(path));
    vec![
        StyledSpan::new(if held.gone { "+" } else { " " }, Tone::Warning),
        StyledSpan::new(&form.start(&held.id), Tone::Name),
        StyledSpan::new(&form.time(Some(held.kept), context.clock.now()), Tone::Dim),
        StyledSpan::new(&form.count(held.files), Tone::Plain),
        StyledSpan::new(&form.bytes(held.bytes), Tone::Plain),
        StyledSpan::new(&form.bytes(held.packed), Tone::Dim),
        StyledSpan::new(&project.unwrap_or_default(), Tone::Dim),
        StyledSpan::new(held.title.as_deref().unwrap_or_default(), Tone::Plain),
    ]
}
