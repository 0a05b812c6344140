//! `recount move`

use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files, sessions};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Move a session to another project
///
/// Moves all files of the session with its sub-agents, tool output, plans and logs. The agent then lists and resumes it in the other
/// project. The agent need not have been used there before, but the folder must exist. A file whose name would cause the agent to delete
/// it together with another session is renamed.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount move 279d --to ~/code/web
  recount move @3 --to ~/code/web --dry-run
  recount move 279d --to .           # to the current folder")]
pub(crate) struct MoveArgs {
    /// Session: an id or its first characters, a file, @N or `latest`
    session: String,

    /// Target project: its folder or its name
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
