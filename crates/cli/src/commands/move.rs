//! `recount move`

use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files, sessions};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Take a session to another project, where the agent then lists and resumes it
///
/// All its files go, found by its full id, with its sub-agents, kept outputs, plans and logs. The project may be one that the
/// agent was never used in; its folder must be there. A file whose name would let the agent delete it along with another session
/// gets another name.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount move 3d2f --to ~/code/shop\n  recount move @3 --to shop --dry-run\n  recount move 3d2f --to .        \
    to the folder you are in"
)]
pub(crate) struct MoveArgs {
    /// The session
    session: String,

    /// The project: its folder, or any name that it has
    #[arg(long, value_name = "PROJECT")]
    to: String,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &MoveArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let bar = Bar::new(context, "reading");
    let to = context.project_argument(&args.to);
    let offer = changes.move_plan(&args.session, &to, &bar)?;
    bar.finish();
    let done = format!("{} moved: {}", sessions(&offer.plan), files(&offer.plan));
    args.consent.carry_out(&offer, changes, context, &done)
}
