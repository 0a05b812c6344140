//! `recount relocate`

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files, sessions};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Update a project whose folder was moved or renamed
///
/// Agents identify a project by its path, and do not find its sessions under a new one. relocate updates the agent's project registry and
/// markers, under the agent's own lock, and the path that each session records. If the agent was already used in the new folder, both projects are
/// merged. Without NEW, uses the folder that `recount projects` suggests, if it is likely enough.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount relocate ~/code/shop ~/projects/shop
  recount relocate release-tools --dry-run   # to the suggested folder
  recount projects                           # which folders are missing")]
pub(crate) struct RelocateArgs {
    /// Old folder, or name of the project
    old: String,

    /// New folder
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
