//! `recount delete`

use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files, sessions};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::number::bytes;
use crate::output::progress::Bar;

/// Put sessions into the trash, with all that belongs to them
///
/// All files of a session go, found by its full id: parts, copies in the folders of older releases, left-overs of resumes, its sub-agents,
/// kept outputs of tools, plans and logs. They stay in recount's trash until it is emptied; `recount undo` and `recount
/// restore` bring them back byte for byte. A session that an agent is working in is refused.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount delete 3d2f --dry-run    what would go\n  recount delete @3 @4 @7          rows of the last list\n  \
    recount delete 3d2f --yes        without asking\n  recount restore 3d2f             and back"
)]
pub(crate) struct DeleteArgs {
    /// The sessions
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
