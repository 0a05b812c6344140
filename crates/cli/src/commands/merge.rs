//! `recount merge`

use std::process::ExitCode;

use clap::Args;
use recount_changes::{Changes, Merge};

use crate::commands::change::Consent;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Merge several sessions into one
///
/// Joins the conversations in the order in which they started. The new session has its own id and belongs to the project of the first
/// SESSION. A message that several sessions share, as forks do, is included once. The merged sessions go to the trash.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount merge 279d 82e5
  recount merge @1 @2 @5 --title 'Discounts and tax' --keep")]
pub(crate) struct MergeArgs {
    /// Sessions: ids or their first characters, files, @N or `latest`
    #[arg(required = true, num_args = 2.., value_name = "SESSION")]
    sessions: Vec<String>,

    /// Target project: its folder or its name
    #[arg(long, value_name = "PROJECT")]
    to: Option<String>,

    /// Title of the new session
    #[arg(long)]
    title: Option<String>,

    /// Keep the merged sessions
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
