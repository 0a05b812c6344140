//! `recount prune`

use std::process::ExitCode;

use clap::Args;
use recount_changes::{Changes, Prune};

use crate::commands::change::{Consent, files, sessions};
use crate::commands::list::moment;
use crate::context::Context;
use crate::failure::{ERROR, Failure};
use crate::output::number::bytes;
use crate::output::progress::Bar;

/// Move sessions to the trash by rule
///
/// Selects the sessions that match any of the rules, in one project or in all. Without --yes it only shows the plan. Pinned and running
/// sessions are skipped.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "\
Examples:
  recount prune --older 90d          # what would be deleted
  recount prune --older 90d --yes    # delete it
  recount prune shop --empty --orphaned")]
pub(crate) struct PruneArgs {
    /// Project: a path, a slug, a hash prefix, or part of its name
    project: Option<String>,

    /// Sessions last used before this time (90d, 12w, 2026-01-01)
    #[arg(long, value_name = "WHEN")]
    older: Option<String>,

    /// Sessions without messages, and stubs of resumes
    #[arg(long)]
    empty: bool,

    /// Sessions of missing projects; sub-agents, output, plans and logs of missing sessions
    #[arg(long)]
    orphaned: bool,

    /// Skip pinned sessions (the default)
    #[arg(long, conflicts_with = "with_pinned")]
    keep_pinned: bool,

    /// Include pinned sessions
    #[arg(long)]
    with_pinned: bool,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &PruneArgs, context: &Context) -> Result<ExitCode, Failure> {
    if args.older.is_none() && !args.empty && !args.orphaned {
        return Err(Failure::new(ERROR, "no rule given")
            .hint("give one or more of --older 90d, --empty, --orphaned"));
    }
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    let consent = args.consent.without_yes_dry_run();
    consent.recover(changes, context)?;
    let rules = Prune {
        older: moment("--older", args.older.as_deref(), context.clock.now())?,
        empty: args.empty,
        orphaned: args.orphaned,
        project: args.project.as_deref().map(|project| context.project_argument(project)),
        pinned: args.with_pinned,
    };
    let bar = Bar::new(context, "reading");
    let offer = changes.prune_plan(&rules, &bar)?;
    bar.finish();
    let size = bytes(offer.plan.bytes_before());
    let done = format!("{} in the trash: {}, {size}", sessions(&offer.plan), files(&offer.plan));
    let code = consent.carry_out(&offer, changes, context, &done)?;
    if !offer.is_empty() && !args.consent.is_agreed() && !context.global.json {
        context.warn(&format!(
            "run again with --yes to move {}, {}, {size}, to the trash",
            sessions(&offer.plan),
            files(&offer.plan)
        ));
    }
    Ok(code)
}
