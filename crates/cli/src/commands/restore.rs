//! `recount restore`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files, nothing, sessions};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Bring a session back from the trash, from the vault, or from a backup
///
/// From the trash every file returns to its place with its bytes, its time and its permissions; without a SESSION, the one that was
/// deleted last. What is not there is looked for among the copies of `guard --keep`, or with --from in another home. Then
/// files go where the project's sessions lie today, and a session that the agent would delete at once for its age is marked as used now.
/// Nothing is put over a file that holds something else.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount restore             the last one\n  recount restore 3d2f\n  recount restore 3d2f --from /mnt/backup/home/dev\n  recount trash               what there is\n  recount vault               and what was kept"
)]
pub(crate) struct RestoreArgs {
    /// The session: its id, or the first characters of it
    session: Option<String>,

    /// A home to take it from: a backup, a mounted disk
    #[arg(long, value_name = "DIR", requires = "session")]
    from: Option<PathBuf>,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &RestoreArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let bar = Bar::new(context, "reading");
    let offer = changes.restore_plan(args.session.as_deref(), args.from.as_deref(), &bar)?;
    bar.finish();
    if offer.is_empty() {
        return nothing(&offer, context, "it is in its place already");
    }
    let done = format!("{} back in place: {}", sessions(&offer.plan), files(&offer.plan));
    args.consent.without_asking().carry_out(&offer, changes, context, &done)
}
