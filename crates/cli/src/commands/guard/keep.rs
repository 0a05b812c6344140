//! `recount guard --keep`

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use recount_changes::{Changes, KeepReport};
use recount_engine::{Engine, Subscription, WatchEvent, WatchMode};
use recount_model::{SessionFacts, SessionId, SourceName};
use serde::Serialize;

use super::GuardArgs;
use crate::context::Context;
use crate::failure::{ERROR, Failure};
use crate::output::json;
use crate::output::progress::Bar;
use crate::words;

/// Changes within this time are copied together; nothing waits longer.
const TOGETHER: Duration = Duration::from_millis(300);
/// Changes are waited for so long at a time.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    report: &'a KeepReport,
}

/// Brings the copies in the vault up to date.
pub(super) fn run(args: &GuardArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    if args.consent.is_dry_run() {
        context.warn("nothing was copied (--dry-run)");
        return Ok(ExitCode::SUCCESS);
    }
    let project = args.project.as_deref().map(|project| context.project_argument(project));
    // What is written during the first copy is seen too.
    let subscription =
        args.watch.then(|| engine.watch(WatchMode::Events)).transpose().map_err(Failure::from)?;
    let bar = Bar::new(context, "keeping sessions");
    let report = changes.keep(project.as_deref(), &bar)?;
    bar.finish();
    if !context.global.json {
        context.warn(&words::guard::copied(&report));
    }
    let is_whole = show(&report, context)?;
    if let Some(subscription) = subscription {
        context.warn("copying what is written; Ctrl-C stops");
        return watch(&engine, &subscription, project.as_deref(), context);
    }
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(ERROR) })
}

/// Copies what changes, as it changes.
fn watch(
    engine: &Engine,
    subscription: &Subscription,
    project: Option<&str>,
    context: &Context,
) -> Result<ExitCode, Failure> {
    loop {
        let mut changed = BTreeSet::new();
        let mut patience = PATIENCE;
        let mut end = None;
        while let Some(event) = subscription.next(patience) {
            let end = *end.get_or_insert_with(|| Instant::now() + TOGETHER);
            note(event, subscription, &mut changed);
            patience = end.saturating_duration_since(Instant::now());
        }
        if changed.is_empty() {
            continue;
        }
        let newest = engine.at(&subscription.snapshot());
        let report = Changes::new(&newest).keep_some(project, &changed)?;
        show(&report, context)?;
    }
}

/// Notes which session an event is about.
fn note(
    event: WatchEvent,
    subscription: &Subscription,
    changed: &mut BTreeSet<(SourceName, SessionId)>,
) {
    let key = |facts: &SessionFacts| (facts.source, facts.id.clone());
    match event {
        WatchEvent::Added(facts) => {
            changed.insert(key(&facts));
        }
        WatchEvent::Changed(change) => {
            changed.insert(key(&change.after));
        }
        WatchEvent::Reset => {
            changed.extend(subscription.snapshot().sessions().iter().map(|facts| key(facts)));
        }
        // What was kept of one that is gone stays.
        WatchEvent::Gone(_) | WatchEvent::Project(_) | WatchEvent::Problems(_) => {}
    }
}

/// Prints the report for programs, and what failed for all. Returns whether nothing did.
fn show(report: &KeepReport, context: &Context) -> Result<bool, Failure> {
    if context.global.json {
        json::whole(context, &Document { schema: "recount.keep/1", report })?;
    }
    for failed in &report.failed {
        let path = context.folders.tilde(&failed.path.to_string_lossy());
        context.warn(&format!("not kept: {path}: {}", failed.why));
    }
    Ok(report.failed.is_empty())
}
