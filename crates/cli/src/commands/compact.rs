//! `recount compact`

use std::process::ExitCode;

use clap::Args;
use recount_changes::{Changes, Compaction};

use crate::commands::change::{Consent, files, shrunk};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Write session files down once more, without what they repeat
///
/// The agent writes a message whole at every change, and all messages at every resume, so files grow much faster than
/// conversations. What is left out is what later lines repeat. What the agent loads stays the same, and so does what
/// `recount show` tells, down to what was undone; both are compared before anything is offered. The old file is kept as undo data.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount compact 3d2f --dry-run       what it would save\n  recount compact --all                \
    every session that shrinks by a tenth\n  recount compact --all --min-saving 50%\n  \
    recount compact 3d2f --strict-only   without what was undone, too"
)]
pub(crate) struct CompactArgs {
    /// The sessions
    #[arg(required_unless_present = "all", value_name = "SESSION")]
    sessions: Vec<String>,

    /// Every session, but for those that an agent works in
    #[arg(long, conflicts_with = "sessions")]
    all: bool,

    /// Leave out files that would shrink by less
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = percent)]
    min_saving: u64,

    /// Keep only what the agent loads: what was undone stays in the undo data
    #[arg(long)]
    strict_only: bool,

    #[command(flatten)]
    consent: Consent,
}

fn percent(text: &str) -> Result<u64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse().ok();
    number.filter(|number| *number <= 100).ok_or_else(|| "give a number from 0 to 100".to_owned())
}

pub(crate) fn run(args: &CompactArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let bar = Bar::new(context, "reading");
    let wanted = Compaction {
        sessions: args.sessions.clone(),
        min_saving: args.min_saving,
        strict_only: args.strict_only,
    };
    let offer = changes.compact_plan(&wanted, &bar)?;
    bar.finish();
    let done = format!("{} written anew: {}", files(&offer.plan), shrunk(&offer.plan));
    args.consent.carry_out_or_tell(&offer, changes, context, &done, "nothing to leave out")
}
