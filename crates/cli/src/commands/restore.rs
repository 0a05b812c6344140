//! `recount restore`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files, nothing, sessions};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Restore a deleted session from trash, vault or backup
///
/// From the trash, every file returns to its place with its bytes, time and permissions; without a SESSION, the session that was deleted last.
/// If it is not in the trash, restore looks in the vault (`guard --keep`), or with --from in another home. Those files go to the project's current
/// folder, and a session that the agent would delete at once because of its age is marked as used now. Files with other content are never
/// overwritten. To revert a rename, trim or move, use `recount undo`; for a session without any copy, `recount recover`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount restore                    # the session deleted last
  recount restore 279d
  recount restore 279d --from ~/backup
  recount trash                      # what can be restored")]
pub(crate) struct RestoreArgs {
    /// Session id or its first characters
    session: Option<String>,

    /// Home to restore from: a backup or a mounted disk
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
