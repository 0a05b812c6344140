//! Usage by projects, models, tools, sessions and files, largest first.

use std::io;

use super::super::grouped;
use super::super::html_writer::HtmlWriter;
use super::columns::COLOURS;
use super::input::{Failure, File, ReportFigures, ReportRow, UsageReport};
use super::table::{Line, Table};
use super::timeline::coloured;
use super::words::{cost, duration, share};
use crate::words::size;

/// The maximum number of rows of each list.
const SHOWN: usize = 25;

const USE: &[(&str, &str)] = &[
    ("Sessions", "sessions"),
    ("Prompts", "prompts"),
    ("Requests", "requests"),
    ("Cached", "cached"),
    ("Active", "active"),
    ("Tokens", "tokens"),
    ("Cost", "cost"),
];
/// Prompts cannot be assigned to a model.
const MODEL_USE: &[(&str, &str)] = &[
    ("Sessions", "sessions"),
    ("Requests", "requests"),
    ("Cached", "cached"),
    ("Output", "output"),
    ("Thoughts", "thoughts"),
    ("Tokens", "tokens"),
    ("Cost", "cost"),
];
const SESSION_USE: &[(&str, &str)] = &[
    ("Prompts", "prompts"),
    ("Requests", "requests"),
    ("Tools", "calls"),
    ("Cached", "cached"),
    ("Active", "active"),
    ("Tokens", "tokens"),
    ("Cost", "cost"),
];

const TOOL_USE: &[(&str, &str)] = &[
    ("Sessions", "sessions"),
    ("Calls", "calls"),
    ("Failed", "failures"),
    ("Stopped", "stopped"),
    ("Failure rate", "rate"),
];

/// Writes the projects.
pub(super) fn projects(report: &UsageReport, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let cells = |figures: &ReportFigures| {
        vec![
            grouped(figures.sessions),
            grouped(figures.prompts),
            grouped(figures.requests),
            cached(figures),
            duration(figures.active_seconds),
            grouped(figures.tokens.total),
            cost(figures.cost),
        ]
    };
    let mut lines = lines(report, &report.projects, |_| COLOURS[0], cells);
    more(&mut lines, &report.projects, USE, cells);
    let total = Some(cells(&report.total));
    let table = Table { caption: "By project", heading: "Project", columns: USE, lines, total };
    section("<section id=\"projects\">\n<h2>Projects</h2>\n", &table, html)
}

/// Writes the models, in their colors in the chart.
pub(super) fn models(report: &UsageReport, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let cells = |figures: &ReportFigures| {
        vec![
            grouped(figures.sessions),
            grouped(figures.requests),
            cached(figures),
            grouped(figures.tokens.output),
            grouped(figures.tokens.thoughts),
            grouped(figures.tokens.total),
            cost(figures.cost),
        ]
    };
    let own = coloured(report.models.len());
    let colour = |number: usize| COLOURS.get(number.min(own)).copied().unwrap_or(COLOURS[5]);
    let mut lines = lines(report, &report.models, colour, cells);
    more(&mut lines, &report.models, MODEL_USE, cells);
    let total = Some(cells(&report.total));
    let table = Table { caption: "By model", heading: "Model", columns: MODEL_USE, lines, total };
    section("<section id=\"models\">\n<h2>Models</h2>\n", &table, html)
}

/// Writes the largest sessions.
pub(super) fn sessions(report: &UsageReport, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let cells = |figures: &ReportFigures| {
        vec![
            grouped(figures.prompts),
            grouped(figures.requests),
            grouped(figures.tool_calls),
            cached(figures),
            duration(figures.active_seconds),
            grouped(figures.tokens.total),
            cost(figures.cost),
        ]
    };
    let mut lines = lines(report, &report.sessions, |_| COLOURS[0], cells);
    more(&mut lines, &report.sessions, SESSION_USE, cells);
    let table = Table {
        caption: "Largest sessions",
        heading: "Session",
        columns: SESSION_USE,
        lines,
        total: None,
    };
    section("<section id=\"sessions\">\n<h2>Largest sessions</h2>\n", &table, html)
}

/// Writes the tools, and why they failed.
pub(super) fn tools(report: &UsageReport, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    if report.tools.is_empty() {
        return Ok(());
    }
    let cells = |figures: &ReportFigures| {
        vec![
            grouped(figures.sessions),
            grouped(figures.tool_calls),
            grouped(figures.tools_failed),
            grouped(figures.tools_cancelled),
            share(figures.tools_failed.into(), figures.tool_calls.into()),
        ]
    };
    let line = |row: &ReportRow| {
        let ReportFigures { tool_calls, tools_failed, tools_cancelled, .. } = row.figures;
        let well = tool_calls.saturating_sub(tools_failed).saturating_sub(tools_cancelled);
        Line {
            name: row.name.clone(),
            bar: vec![
                (COLOURS[0], well.into()),
                ("failed", tools_failed.into()),
                (COLOURS[5], tools_cancelled.into()),
            ],
            cells: cells(&row.figures),
            ..Line::default()
        }
    };
    let mut lines: Vec<Line> = report.tools.iter().take(SHOWN).map(line).collect();
    more(&mut lines, &report.tools, TOOL_USE, cells);
    let total = Some(cells(&report.total));
    let table = Table { caption: "By tool", heading: "Tool", columns: TOOL_USE, lines, total };
    html.mark("<section id=\"tools\">\n<h2>Tools</h2>\n")?;
    table.write(html)?;
    if !report.errors.is_empty() {
        let line = |failure: &Failure| Line {
            name: failure.tool.clone(),
            detail: failure.error.clone(),
            cells: vec![grouped(failure.times)],
            ..Line::default()
        };
        let lines = report.errors.iter().take(SHOWN).map(line).collect();
        let columns = &[("Times", "times")];
        let table = Table {
            caption: "Why tools failed",
            heading: "Tool, and how the error begins",
            columns,
            lines,
            total: None,
        };
        html.mark("<details class=\"fold\"><summary>Why they failed</summary>\n")?;
        table.write(html)?;
        html.mark("</details>\n")?;
    }
    html.mark("</section>\n")
}

/// Writes the largest files.
pub(super) fn files(report: &UsageReport, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let line = |file: &File| Line {
        name: file.path.clone(),
        bar: vec![(COLOURS[1], file.bytes.into())],
        cells: vec![
            grouped(file.sent),
            size(file.bytes),
            grouped(file.written),
            grouped(file.named),
        ],
        ..Line::default()
    };
    let columns =
        &[("Sent", "sent"), ("Text sent", "text"), ("Written", "written"), ("Named", "named")];
    let mut lines: Vec<Line> = report.files.iter().take(SHOWN).map(line).collect();
    if let Some(rest) = rest(report.files.len()) {
        let cells = vec![String::new(); columns.len()];
        lines.push(Line { name: rest, cells, ..Line::default() });
    }
    let table = Table { caption: "Files", heading: "File", columns, lines, total: None };
    section("<section id=\"files\">\n<h2>Files most sent and touched</h2>\n", &table, html)
}

fn section(open: &'static str, table: &Table, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    if table.lines.is_empty() {
        return Ok(());
    }
    html.mark(open)?;
    table.write(html)?;
    html.mark("</section>\n")
}

fn cached(figures: &ReportFigures) -> String {
    share(figures.tokens.cached.into(), figures.tokens.input.into())
}

fn lines(
    report: &UsageReport,
    rows: &[ReportRow],
    colour: impl Fn(usize) -> &'static str,
    cells: impl Fn(&ReportFigures) -> Vec<String>,
) -> Vec<Line> {
    let is_priced = report.total.cost.units.is_some_and(|units| units > 0);
    let line = |(number, row): (usize, &ReportRow)| {
        let ReportFigures { cost, tokens, .. } = &row.figures;
        // If nothing has a price, rows are compared by tokens.
        let weight = if is_priced { cost.units.unwrap_or_default() } else { tokens.total.into() };
        let (name, detail) = (row.name.clone(), row.detail.clone());
        Line { name, detail, bar: vec![(colour(number), weight)], cells: cells(&row.figures) }
    };
    rows.iter().take(SHOWN).enumerate().map(line).collect()
}

fn rest(rows: usize) -> Option<String> {
    let more = rows.checked_sub(SHOWN).filter(|more| *more > 0)?;
    Some(format!("and {} more", grouped(more as u64)))
}

/// Adds a row for all that are not shown.
fn more(
    lines: &mut Vec<Line>,
    rows: &[ReportRow],
    columns: &[(&str, &str)],
    cells: impl Fn(&ReportFigures) -> Vec<String>,
) {
    let Some(name) = rest(rows.len()) else { return };
    let mut sum = ReportFigures::default();
    for ReportRow { figures, .. } in rows.iter().skip(SHOWN) {
        sum.add(figures);
    }
    let known = |((_, class), cell): (&(&str, &str), String)| {
        // These may overlap, and cannot be summed.
        if matches!(*class, "sessions" | "active") { String::new() } else { cell }
    };
    let cells = columns.iter().zip(cells(&sum)).map(known).collect();
    lines.push(Line { name, cells, ..Line::default() });
}
