//! `recount restore`

use std::process::ExitCode;

use clap::Args;

use crate::commands::change::{Consent, files, sessions};
use crate::context::Context;
use crate::failure::Failure;

/// Bring a session back from the trash
///
/// Every file returns to its place with its bytes, its time and its permissions. Without a SESSION, the one that was deleted last.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount restore             the last one\n  recount restore 3d2f\n  recount trash               what there is"
)]
pub(crate) struct RestoreArgs {
    /// The session: its id, or the first characters of it
    session: Option<String>,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &RestoreArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    args.consent.recover(&engine, context)?;
    let plan = engine.restore_plan(args.session.as_deref())?;
    let done = format!("{} back in place: {}", sessions(&plan), files(&plan));
    args.consent.carry_out(&plan, &engine, context, &done)
}
