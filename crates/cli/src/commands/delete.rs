//! `recount delete`

use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files, sessions};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::number::bytes;
use crate::output::progress::Bar;

/// Move sessions to the trash, with everything they own
///
/// Deletes all files of a session: parts, copies in folders of older releases, stubs of resumes, sub-agents, tool output, plans and
/// logs. They stay in recount's trash until it is emptied; `recount restore` and `recount undo` bring them back byte for byte. A running
/// session is refused.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount delete 279d --dry-run      # what would be deleted
  recount delete @3 @4               # rows of the last list
  recount delete 279d --yes          # without asking
  recount restore 279d               # bring it back")]
pub(crate) struct DeleteArgs {
    /// Sessions: ids or their first characters, files, @N or `latest`
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &DeleteArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let bar = Bar::new(context, "reading");
    let offer = changes.delete_plan(&args.sessions, &bar)?;
    bar.finish();
    let size = bytes(offer.plan.bytes_before());
    let done = format!("{} in the trash: {}, {size}", sessions(&offer.plan), files(&offer.plan));
    args.consent.carry_out(&offer, changes, context, &done)
}
