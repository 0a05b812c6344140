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

/// Clear sessions away by rule, into the trash
///
/// What any of the rules names goes, in all projects or in one. Nothing happens without --yes: the plan is only shown. Pinned
/// sessions are left alone, and so are those that somebody works in.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(
    after_help = "Examples:\n  recount prune --older 90d            what would go\n  recount prune --older 90d --yes      to the trash with it\n  \
    recount prune --empty --orphaned shop"
)]
pub(crate) struct PruneArgs {
    /// Project: a path, a slug, the start of its hash, or a part of its name
    project: Option<String>,

    /// Sessions last used longer ago than this, or before this day (90d, 12w, 2026-01-01)
    #[arg(long, value_name = "WHEN")]
    older: Option<String>,

    /// Sessions in which nobody said anything, and left-overs of resumes
    #[arg(long)]
    empty: bool,

    /// Sessions of projects whose folder is gone; sub-agents, outputs, plans and logs of sessions that are gone
    #[arg(long)]
    orphaned: bool,

    /// Leave pinned sessions alone; so it is anyway
    #[arg(long, conflicts_with = "with_pinned")]
    keep_pinned: bool,

    /// Take pinned sessions, too
    #[arg(long)]
    with_pinned: bool,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &PruneArgs, context: &Context) -> Result<ExitCode, Failure> {
    if args.older.is_none() && !args.empty && !args.orphaned {
        return Err(Failure::new(ERROR, "no rule says what is to go")
            .hint("name one or more of --older 90d, --empty, --orphaned"));
    }
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    let consent = args.consent.only_when_told();
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
            "--yes puts {}, {}, {size}, into the trash",
            sessions(&offer.plan),
            files(&offer.plan)
        ));
    }
    Ok(code)
}
