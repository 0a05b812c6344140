//! `recount fork`

use std::process::ExitCode;

use clap::Args;
use recount_changes::{Changes, Fork};

use crate::commands::change::Consent;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Start a new session from the messages of another
///
/// The new session has its own id and all messages of the old one that were not undone. The agent lists and resumes it like any
/// other; the old session does not change. Tool output that is kept in separate files is shared, not copied.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount fork 279d                      # everything, to try something else
  recount fork 279d --at 2               # up to the second prompt and its answers
  recount fork 279d --to ~/code/web      # continue in another project")]
pub(crate) struct ForkArgs {
    /// Session: an id or its first characters, a file, @N or `latest`
    session: String,

    /// Last message to copy: the number of a prompt (with its answers), or the start of a message id
    #[arg(long, value_name = "MESSAGE")]
    at: Option<String>,

    /// Target project: its folder or its name
    #[arg(long, value_name = "PROJECT")]
    to: Option<String>,

    /// Title of the new session
    #[arg(long)]
    title: Option<String>,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &ForkArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let to = args.to.as_deref().map(|to| context.project_argument(to));
    let bar = Bar::new(context, "reading");
    let fork = Fork { at: args.at.as_deref(), to: to.as_deref(), title: args.title.as_deref() };
    let offer = changes.fork_plan(&args.session, fork, &bar)?;
    bar.finish();
    let id = offer.plan.sessions.first().map(|new| new.id.clone()).unwrap_or_default();
    args.consent.without_asking().carry_out(&offer, changes, context, &format!("new session {id}"))
}
