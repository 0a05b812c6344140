//! `recount fork`

use std::process::ExitCode;

use clap::Args;
use recount_changes::{Changes, Fork};

use crate::commands::change::Consent;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Begin a new session with the conversation of another, as far as you want it
///
/// The new session has an id of its own and all that stands of the old one: what was undone is left out. The agent lists and
/// resumes it like any other, and the old one stays as it is. Kept outputs of tools stay where they are.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount fork 3d2f                    all of it, to try something else\n  recount fork 3d2f --at 2             \
    up to the second prompt and what was answered\n  recount fork 3d2f --to ~/code/shop   go on in another project"
)]
pub(crate) struct ForkArgs {
    /// The session
    session: String,

    /// The last message: the number of a prompt, with its answers, or the start of a message's id
    #[arg(long, value_name = "MESSAGE")]
    at: Option<String>,

    /// Another project: its folder, or any name that it has
    #[arg(long, value_name = "PROJECT")]
    to: Option<String>,

    /// The title of the new session
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
