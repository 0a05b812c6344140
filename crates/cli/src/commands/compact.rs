//! `recount compact`

use std::process::ExitCode;

use clap::Args;
use recount_changes::{Changes, Compaction};

use crate::commands::change::{Consent, files, point, saved, shrunk};
use crate::commands::show::ViewArg;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Shrink session files by dropping repeated records
///
/// Agents write a message again at every change, and all messages at every resume, so files grow much faster than conversations. compact
/// drops records that later ones repeat. What the agent loads and what `recount show` prints stay the same, including undone messages; both
/// are compared before the plan is shown. The old file is kept as undo data.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount compact 279d --dry-run         # how much it would save
  recount compact --all                  # every session that shrinks by 10 % or more
  recount compact --all --min-saving 50%
  recount compact 279d --view strict     # also drop undone messages")]
pub(crate) struct CompactArgs {
    /// Sessions: ids or their first characters, files, @N or `latest`
    #[arg(required_unless_present = "all", value_name = "SESSION")]
    sessions: Vec<String>,

    /// Every session that is not running
    #[arg(long, conflicts_with = "sessions")]
    all: bool,

    /// Skip files that would shrink by less
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = percent)]
    min_saving: u64,

    /// Which messages to keep in the file
    #[arg(long, value_name = "VIEW", default_value = "full")]
    view: ViewArg,

    /// Keep only what the agent loads; now --view strict
    #[arg(long, hide = true, conflicts_with = "view")]
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
        strict_only: args.strict_only || args.view == ViewArg::Strict,
    };
    let offer = changes.compact_plan(&wanted, &bar)?;
    bar.finish();
    if !offer.is_empty() {
        point(&format!("{}: {}", files(&offer.plan), saved(&offer.plan)), context)?;
    }
    let done = format!("{} rewritten: {}", files(&offer.plan), shrunk(&offer.plan));
    args.consent.carry_out_or_report(&offer, changes, context, &done, "nothing to drop")
}
