//! `recount export`

mod args;
mod asked;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use recount_engine::export::{ExportTable, Format, Redacted, Redaction};
use recount_engine::{Engine, Export, Exported, ListQuery, Selection};
use recount_model::SessionFacts;
use serde::Serialize;

pub(crate) use self::args::ExportArgs;
use self::args::RedactArg;
use self::asked::{Target, export, format, target};
use super::list::moment;
use super::{redacted, session_rows};
use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure, NOTHING};
use crate::output::json;
use crate::output::number::{bytes, plural};
use crate::output::progress::Bar;

pub(crate) fn run(args: &ExportArgs, context: &Context) -> Result<ExitCode, Failure> {
    let is_check = args.redact == Some(RedactArg::Check);
    let (format, own) = format(args, context);
    let format = if is_check { Format::Jsonl } else { format };
    let target = if is_check { Target::Output } else { target(args, format)? };
    let mut export = export(args, format, own, &target, context)?;
    let engine = context.engine_for_all(&args.sessions)?;
    let redaction = args.redact.map(|_| engine.redaction()).transpose()?.map(Arc::new);
    export.redaction.clone_from(&redaction);
    let selection = select(args, engine, &export, context)?;
    selection.fits(&export)?;
    let sessions = selection.sessions();
    if sessions.is_empty() {
        context.warn("no session matches");
        return Ok(ExitCode::from(NOTHING));
    }
    let bar = Bar::new(context, "exporting");
    let exported = match &target {
        Target::Output if is_check => engine.export_to(&selection, &export, &mut io::sink())?,
        Target::Output => {
            let mut out = context.out(Paged::No);
            let exported = engine.export_to(&selection, &export, &mut out)?;
            out.finish()?;
            exported
        }
        Target::File(path) => engine.export_file(&selection, &export, path)?,
        Target::Folder(path) => engine.export_folder(&selection, &export, path, &bar)?,
    };
    bar.finish();
    let found = redaction.as_deref().map(Redaction::found).unwrap_or_default();
    if is_check {
        return redacted::check(&found, context);
    }
    let sum =
        |count: fn(&SessionFacts) -> u64| sessions.iter().map(|facts| count(facts)).sum::<u64>();
    let total = sum(|facts| facts.problems) + exported.problems.len() as u64;
    tell(&exported, total, &found, &target, format, context)?;
    if redaction.is_some() && exported.written > 0 {
        redacted::tell(&found, context);
    }
    if exported.unseen > 0 {
        let media = plural(exported.unseen, "media file");
        context.warn(&format!("{media} not redacted: only text is scanned"));
    }
    let kept = sessions.iter().flat_map(|facts| &facts.problem_list).chain(&exported.problems);
    let code = context.problems(kept, total, sum(|facts| facts.not_understood));
    if let [facts] = *sessions
        && exported.written + exported.unchanged + exported.files == 0
        && let Some(problem) = exported.problems.first()
    {
        let file = context.folders.tilde(&problem.file);
        let why =
            format!("{} was not exported: {file} {}", facts.id.short(), problem.what.phrase());
        return Err(Failure::new(ERROR, why));
    }
    Ok(code)
}

fn select(
    args: &ExportArgs,
    engine: &Engine,
    export: &Export,
    context: &Context,
) -> Result<Selection, Failure> {
    let bar = Bar::new(context, "reading sessions");
    if !args.sessions.is_empty() {
        let is_whole = export.own.is_none()
            && matches!(export.format, Format::Json | Format::Jsonl | Format::Parquet);
        let mut opened = Vec::new();
        for wanted in &args.sessions {
            let mut session = engine.open(wanted, &bar)?;
            if export.options.strict && !session.is_loadable() {
                let words = "the agent cannot load this session: its strict view is empty";
                context.warn(&format!("{}: {words}", session.facts.id.short()));
            }
            if is_whole {
                engine.complete(&mut session);
            }
            opened.push(session);
        }
        bar.finish();
        return Ok(Selection::Opened(opened));
    }
    let now = context.clock.now();
    let query = ListQuery {
        project: args.project.as_deref().map(|project| context.project_argument(project)),
        here: context.env.current_folder().cloned().filter(|_| !args.all),
        since: moment("--since", args.since.as_deref(), now)?,
        until: moment("--until", args.until.as_deref(), now)?,
        text: args.text.clone(),
        background: has_requests(export),
        ..ListQuery::default()
    };
    let mut listing = engine.list(&query, &bar)?;
    engine.price(&mut listing.sessions, &bar);
    bar.finish();
    if let Some(scope) = &listing.scope {
        context.warn(&session_rows::scope(scope));
    }
    // A session in which nothing was said is worth a file only when that may be our fault; it is always worth a row where
    // tables are those of `recount sql`.
    let is_row = export.format == Format::Parquet;
    listing.sessions.retain(|session| is_row || !session.is_empty() || session.problems > 0);
    Ok(Selection::Listed(listing))
}

/// Whether rows of requests are written: each that was made counts, also by what an agent ran for itself.
fn has_requests(export: &Export) -> bool {
    let is_asked = || export.tables.contains(&ExportTable::Requests);
    match export.format {
        Format::Parquet => is_asked(),
        Format::Csv => export.options.table == ExportTable::Requests || is_asked(),
        _ => false,
    }
}

/// What was done, for JSON.
#[derive(Serialize)]
struct Summary<'a> {
    written: u64,
    unchanged: u64,
    files: u64,
    bytes: u64,
    removed: u64,
    problems: u64,
    redacted: Vec<redacted::Row<'a>>,
}

/// Says what was done.
fn tell(
    exported: &Exported,
    problems: u64,
    found: &[Redacted],
    target: &Target,
    format: Format,
    context: &Context,
) -> Result<(), Failure> {
    let (Target::File(path) | Target::Folder(path)) = target else { return Ok(()) };
    let &Exported { written, unchanged, files, bytes: size, removed, .. } = exported;
    if context.global.json {
        let redacted = redacted::rows(found);
        let summary =
            Summary { written, unchanged, files, bytes: size, removed, problems, redacted };
        json::document(context, "export", "export", &summary)?;
        return Ok(());
    }
    let what = match format {
        Format::Csv => "table",
        Format::Parquet => "partition",
        _ => "session",
    };
    let mut words = if written > 0 {
        format!("{} written ({}, {})", plural(written, what), plural(files, "file"), bytes(size))
    } else {
        "nothing to write".into()
    };
    if unchanged > 0 {
        words = format!("{words}, {unchanged} unchanged");
    }
    if removed > 0 {
        words = format!("{words}, {} removed whose sessions are gone", plural(removed, "file"));
    }
    context.warn(&format!("{words}: {}", context.folders.tilde(&path.to_string_lossy())));
    Ok(())
}
