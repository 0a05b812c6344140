//! `recount repair`

use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files, sessions};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Mend sessions that their agent cannot load, or cannot go on with
///
/// What is mended: records that were not written to their end, marks and torn bytes that make the agent drop a line, a missing
/// first line, documents that were cut off, rewinds to messages that are not there, calls of tools without a response and
/// responses without a call, conversations that a later record hides, files that the agent put aside. What is fine is
/// never touched; the old file is kept as undo data. `recount doctor` lists what there is to mend.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount repair 3d2f --dry-run    what is wrong, and what would be done\n  \
    recount repair 3d2f\n  recount repair --all --yes       every session but those in use"
)]
pub(crate) struct RepairArgs {
    /// The sessions
    #[arg(required_unless_present = "all", value_name = "SESSION")]
    sessions: Vec<String>,

    /// Every session, but for those that an agent works in
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
    let done = format!("{} mended: {}", sessions(&offer.plan), files(&offer.plan));
    args.consent.carry_out_or_tell(&offer, changes, context, &done, "nothing to mend")
}
