//! `recount merge`

use std::process::ExitCode;

use clap::Args;
use recount_changes::{Changes, Merge};

use crate::commands::change::Consent;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Make one session of several, one conversation behind the other
///
/// They stand in the order in which they began. The new session has an id of its own and lies in the project of the one that is named first. A message that several of them
/// have, as forks do, is in it once. The sessions it was made of go to the trash.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount merge 3d2f 8662\n  recount merge @1 @2 @5 --title 'Tax, all of it' --keep"
)]
pub(crate) struct MergeArgs {
    /// The sessions
    #[arg(required = true, num_args = 2.., value_name = "SESSION")]
    sessions: Vec<String>,

    /// Another project: its folder, or any name that it has
    #[arg(long, value_name = "PROJECT")]
    to: Option<String>,

    /// The title of the new session
    #[arg(long)]
    title: Option<String>,

    /// Leave the sessions it is made of where they are
    #[arg(long)]
    keep: bool,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &MergeArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let to = args.to.as_deref().map(|to| context.project_argument(to));
    let bar = Bar::new(context, "reading");
    let merge = Merge { to: to.as_deref(), title: args.title.as_deref(), keep: args.keep };
    let offer = changes.merge_plan(&args.sessions, merge, &bar)?;
    bar.finish();
    let id = offer.plan.sessions.first().map(|new| new.id.clone()).unwrap_or_default();
    args.consent.carry_out(&offer, changes, context, &format!("new session {id}"))
}
