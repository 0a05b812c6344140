//! `recount relocate`

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files, sessions};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Tell the agent that a project's folder was moved or renamed
///
/// The agent knows a project by its folder's path: under another one it finds none of its sessions. This sets its register and its
/// markers right, under its own lock, and says in every session where it belongs. When the agent was used in the new
/// folder already, both become one. Without NEW, the place that `recount projects` proposes, if it is likely.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount relocate ~/code/shop ~/projects/shop\n  recount relocate ~/code/shop --dry-run    to where it has likely gone\n  \
    recount projects                          which folders are gone"
)]
pub(crate) struct RelocateArgs {
    /// The folder that is gone, or the project by any name that it has
    old: String,

    /// Where it is now
    new: Option<String>,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &RelocateArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let path = |wanted: &String| {
        let is_path = wanted.contains(['/', '\\']) || matches!(wanted.as_str(), "." | "..");
        if !is_path {
            return wanted.clone();
        }
        context.absolute(Path::new(wanted)).to_string_lossy().into_owned()
    };
    let bar = Bar::new(context, "reading");
    let offer =
        changes.relocate_plan(&path(&args.old), args.new.as_ref().map(path).as_deref(), &bar)?;
    bar.finish();
    let done = format!("{} relocated: {}", sessions(&offer.plan), files(&offer.plan));
    args.consent.carry_out(&offer, changes, context, &done)
}
