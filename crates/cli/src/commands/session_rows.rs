//! Sessions as rows: for a table and for CSV.

use std::io::{self, Write};
use std::sync::Arc;

use recount_engine::ListScope;
use recount_engine::export::csv::{self, CsvCell};
use recount_model::SessionFacts;

use crate::context::Context;
use crate::output::columns::{Align, Column, Fit};
use crate::output::form::Form;
use crate::output::number::price;
use crate::output::project_names::ProjectNames;
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;

const AGENT: &str = "AGENT";
const LABELS: &str = "LABELS";

const COLUMNS: &[Column] = &[
    Column { heading: "#", align: Align::Right, fit: Fit::Keep },
    Column { heading: "ID", align: Align::Left, fit: Fit::Drop(8) },
    Column { heading: "USED", align: Align::Left, fit: Fit::Keep },
    Column { heading: AGENT, align: Align::Left, fit: Fit::Drop(7) },
    Column { heading: "PROJECT", align: Align::Path, fit: Fit::Drop(9) },
    Column { heading: "PROMPTS", align: Align::Right, fit: Fit::Drop(5) },
    Column { heading: "TOOLS", align: Align::Right, fit: Fit::Drop(2) },
    Column { heading: "TOKENS", align: Align::Right, fit: Fit::Drop(4) },
    Column { heading: "COST", align: Align::Right, fit: Fit::Drop(6) },
    Column { heading: "SIZE", align: Align::Right, fit: Fit::Drop(1) },
    Column { heading: "NOTES", align: Align::Left, fit: Fit::Drop(3) },
    Column { heading: LABELS, align: Align::Left, fit: Fit::Drop(10) },
    Column { heading: "TITLE", align: Align::Left, fit: Fit::Flexible },
];

/// Lays out a table of sessions, numbered from 1.
pub(crate) fn table(rows: &[Arc<SessionFacts>], names: &ProjectNames, context: &Context) -> String {
    let form = context.form();
    // Empty columns are dropped, but rows for programs always have the same columns.
    let is_labelled = rows.iter().any(|session| !labels(session).is_empty());
    let is_mixed =
        rows.iter().any(|session| Some(session.source) != rows.first().map(|first| first.source));
    let is_shown = |column: &Column| {
        form == Form::Exact
            || match column.heading {
                LABELS => is_labelled,
                AGENT => is_mixed,
                _ => true,
            }
    };
    let columns: Vec<Column> = COLUMNS.iter().filter(|column| is_shown(column)).copied().collect();
    let row = |(at, session): (usize, &Arc<SessionFacts>)| {
        let cells = row(at + 1, session, names, context).into_iter().zip(COLUMNS);
        cells.filter(|(_, column)| is_shown(column)).map(|(cell, _)| cell).collect()
    };
    let cells: Vec<Vec<StyledSpan>> = rows.iter().enumerate().map(row).collect();
    context.table(&columns, &cells)
}

fn row(
    number: usize,
    session: &SessionFacts,
    names: &ProjectNames,
    context: &Context,
) -> Vec<StyledSpan> {
    let form = context.form();
    let tone = if session.is_empty() { Tone::Dim } else { Tone::Plain };
    let notes = notes(session).join(", ");
    let warning = if session.problems > 0 { Tone::Warning } else { Tone::Dim };
    let tokens = (!session.is_usage_unknown()).then_some(session.tokens.total);
    let cost = match form {
        Form::Short => price(session.cost_usd, session.cost_is_lower_bound == Some(true)),
        Form::Exact => session.cost_usd.map(|cost| cost.to_string()).unwrap_or_default(),
    };
    vec![
        StyledSpan::new(&number.to_string(), Tone::Dim),
        StyledSpan::new(form.session(&session.id), Tone::Name),
        StyledSpan::new(&form.time(session.updated, context.clock.now()), Tone::Dim),
        StyledSpan::new(session.source.as_str(), Tone::Plain),
        StyledSpan::new(names.name(&session.project), Tone::Strong),
        StyledSpan::new(&form.count(session.typed_prompts()), Tone::Plain),
        StyledSpan::new(&form.count(session.tool_calls.total), Tone::Plain),
        StyledSpan::new(&form.tokens(tokens), Tone::Plain),
        StyledSpan::new(&cost, Tone::Plain),
        StyledSpan::new(&form.bytes(session.bytes()), Tone::Dim),
        StyledSpan::new(&notes, warning),
        StyledSpan::new(&labels(session), Tone::Dim),
        StyledSpan::new(session.shown_title(), tone),
    ]
}

fn notes(session: &SessionFacts) -> Vec<String> {
    let mut notes = Vec::new();
    if session.kind.is_subagent() {
        notes.push("sub-agent".to_owned());
    }
    if session.counts.undone > 0 {
        notes.push(format!("{} undone", session.counts.undone));
    }
    if session.not_understood > 0 {
        notes.push(format!("{} not understood", session.not_understood));
    } else if session.problems > 0 {
        let s = if session.problems == 1 { "" } else { "s" };
        notes.push(format!("{} problem{s}", session.problems));
    }
    notes
}

/// Returns the labels of a session: a star for a pin, then the tags.
fn labels(session: &SessionFacts) -> String {
    let Some(labels) = &session.labels else { return String::new() };
    let pin = labels.pinned.then(|| "*".to_owned());
    let tags = labels.tags.iter().map(|tag| format!("#{tag}"));
    pin.into_iter().chain(tags).collect::<Vec<_>>().join(" ")
}

const CSV: &[&str] = &[
    "source",
    "id",
    "kind",
    "parent",
    "title",
    "project",
    "path",
    "started",
    "updated",
    "messages",
    "prompts",
    "answers",
    "undone",
    "tool_calls",
    "tools_failed",
    "models",
    "input",
    "output",
    "cached",
    "thoughts",
    "tokens",
    "cost_usd",
    "bytes",
    "problems",
    "pinned",
    "tags",
];

/// Prints sessions as CSV.
pub(crate) fn csv(rows: &[Arc<SessionFacts>], out: &mut impl Write) -> io::Result<()> {
    csv::row(out, CSV.iter().map(|name| CsvCell::Text(name)))?;
    for session in rows {
        let number = |number: u64| CsvCell::Number(number.to_string());
        let is_unknown = session.is_usage_unknown();
        let used =
            |tokens: u64| if is_unknown { CsvCell::Number(String::new()) } else { number(tokens) };
        let text = CsvCell::Text;
        let time = |time: Option<jiff::Timestamp>| {
            CsvCell::Number(time.map(|time| time.to_string()).unwrap_or_default())
        };
        let path = session.project.path.as_ref().map_or("", |path| path.as_str());
        let parent = session.parent.as_ref().map_or("", |parent| parent.as_str());
        let models = session.models.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        let labels = session.labels.as_ref();
        let tags = labels.map(|labels| labels.tags.iter().cloned().collect::<Vec<_>>().join(" "));
        let tags = tags.unwrap_or_default();
        let cost = session.cost_usd.map(|cost| cost.to_string()).unwrap_or_default();
        let cells = [
            text(session.source.as_str()),
            text(session.id.as_str()),
            text(session.kind.as_str()),
            text(parent),
            text(session.title.as_deref().unwrap_or_default()),
            text(session.project.name()),
            text(path),
            time(session.started),
            time(session.updated),
            number(session.counts.messages),
            number(session.typed_prompts()),
            number(session.counts.answers),
            number(session.counts.undone),
            number(session.tool_calls.total),
            number(session.tool_calls.failed),
            text(&models),
            used(session.tokens.input),
            used(session.tokens.output),
            used(session.tokens.cached),
            used(session.tokens.thoughts),
            used(session.tokens.total),
            CsvCell::Number(cost),
            number(session.bytes()),
            number(session.problems),
            number(u64::from(labels.is_some_and(|labels| labels.pinned))),
            text(&tags),
        ];
        csv::row(out, cells)?;
    }
    Ok(())
}

/// Returns the project that an answer is limited to, on one line.
pub(crate) fn scope(scope: &ListScope) -> String {
    scope_of_rows(scope, scope.sessions)
}

/// The same above or below rows: with their number if a filter, a limit or a flag changes it.
pub(crate) fn scope_of_rows(scope: &ListScope, rows: usize) -> String {
    let sessions = if scope.of == 1 { "session" } else { "sessions" };
    let all = if scope.is_implied { " · --all shows all" } else { "" };
    let (name, own, of) = (scope.project.name(), scope.sessions, scope.of);
    let shown = if rows == own { String::new() } else { format!("{rows} shown · ") };
    format!("project {name} · {shown}{own} of {of} {sessions}{all}")
}
