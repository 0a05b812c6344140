//! `recount repair`

use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files, sessions};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Repair sessions that their agent cannot load or resume
///
/// Fixes incomplete records, stray bytes that make the agent drop a line, a missing header, truncated documents, rewinds to messages that do
/// not exist, tool calls without a response and responses without a call, messages hidden by a later record, and files that the agent set
/// aside. Healthy sessions are not touched, and the old file is kept as undo data. `recount doctor` lists what needs repair. For a session whose
/// files are gone, use `recount recover`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount repair 279d --dry-run      # what is wrong, and the fix
  recount repair 279d
  recount repair --all --yes         # every session that is not running")]
pub(crate) struct RepairArgs {
    /// Sessions: ids or their first characters, files, @N or `latest`
    #[arg(required_unless_present = "all", value_name = "SESSION")]
    sessions: Vec<String>,

    /// Every session that is not running
    #[arg(long, conflicts_with = "sessions")]
    all: bool,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &RepairArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let bar = Bar::new(context, "reading");
    let offer = changes.repair_plan(&args.sessions, &bar)?;
    bar.finish();
    let done = format!("{} repaired: {}", sessions(&offer.plan), files(&offer.plan));
    args.consent.carry_out_or_report(&offer, changes, context, &done, "nothing to repair")
}
