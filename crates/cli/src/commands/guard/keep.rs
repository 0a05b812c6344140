//! `recount guard --keep`

use std::process::ExitCode;

use recount_changes::{Changes, KeepReport};
use serde::Serialize;

use super::GuardArgs;
use crate::context::Context;
use crate::failure::{ERROR, Failure};
use crate::output::json;
use crate::output::number::{bytes, count, plural};
use crate::output::progress::Bar;

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
    let bar = Bar::new(context, "keeping sessions");
    let report = changes.keep(project.as_deref(), &bar)?;
    bar.finish();
    if context.global.json {
        json::whole(context, &Document { schema: "recount.keep/1", report: &report })?;
    } else {
        context.warn(&told(&report));
    }
    for failed in &report.failed {
        let path = context.folders.tilde(&failed.path.to_string_lossy());
        context.warn(&format!("not kept: {path}: {}", failed.why));
    }
    Ok(if report.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(ERROR) })
}

fn told(report: &KeepReport) -> String {
    let KeepReport { new, grown, changed, .. } = report;
    let what = [(new, "new"), (grown, "grown"), (changed, "changed")];
    let what: Vec<String> = what
        .iter()
        .filter(|(number, _)| **number > 0)
        .map(|(number, word)| format!("{} {word}", count(**number)))
        .collect();
    let what = if what.is_empty() { "nothing new".to_owned() } else { what.join(", ") };
    format!(
        "kept: {}, {}, {} ({what}); the vault takes {}",
        plural(report.sessions, "session"),
        plural(report.files, "file"),
        bytes(report.bytes),
        bytes(report.packed)
    )
}
