//! Figures as a table, and as CSV.

use std::process::ExitCode;

use recount_display::usage::{cost, heading, label, tokens, weight};
use recount_engine::export::csv;
use recount_engine::stats::{By, ContentStats, StatsReport, StatsRow, UsageFigures};

use super::{Bound, StatsArgs, chart, content, end, print};

use crate::context::{Context, Paged};
use crate::failure::Failure;
use crate::output::bar::bar;
use crate::output::columns::{Align, Column, Fit};
use crate::output::form::Form;
use crate::output::json;
use crate::output::number::percent;
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;

/// The name of the last row.
const TOTAL: &str = "total";
/// The width of bars.
const BAR: usize = 12;

/// Shows a report.
pub(super) fn show(
    report: &StatsReport,
    errors: Option<&ContentStats>,
    args: &StatsArgs,
    context: &Context,
) -> Result<ExitCode, Failure> {
    if context.global.json {
        json::print(context, |out| recount_documents::stats_report(out, report, errors))?;
    } else if args.csv {
        csv(report, context)?;
    } else {
        let mut shown = page(report, context);
        if args.chart {
            shown = format!("{}\n{shown}", chart::page(report, context));
        }
        if let Some(content) = errors.filter(|content| !content.errors.is_empty()) {
            shown = format!("{shown}\n{}", content::errors(content, context));
        }
        print(context, &shown)?;
    }
    let bound = match report.by {
        By::Tool => Bound::Explained,
        _ if args.csv => Bound::Unmarked,
        _ => Bound::of_tables(context),
    };
    Ok(end(context, &report.total, &report.basis, bound))
}

/// Draws a report.
fn page(report: &StatsReport, context: &Context) -> String {
    let columns = if report.by == By::Tool { tool_columns() } else { columns(report.by) };
    let is_tool = report.by == By::Tool;
    let form = context.form();
    let most = report.rows.iter().map(|row| weight(is_tool, &row.figures)).max().unwrap_or(0);
    let mut cells: Vec<Vec<StyledSpan>> =
        report.rows.iter().map(|row| cells(report.by, row, most, form)).collect();
    let total =
        StatsRow { key: TOTAL.to_owned(), name: None, parent: None, figures: report.total.clone() };
    let mut last: Vec<StyledSpan> = cells_of(report.by, &total, 0, form);
    last = last.into_iter().map(|span| StyledSpan::new(span.text(), Tone::Strong)).collect();
    cells.push(last);
    let keep: Vec<bool> =
        columns.iter().map(|column| is_shown(report.by, column.heading, form)).collect();
    let kept = |cells: Vec<StyledSpan>| {
        let pairs = cells.into_iter().zip(&keep).filter(|(_, keep)| **keep);
        pairs.map(|(cell, _)| cell).collect::<Vec<StyledSpan>>()
    };
    let cells: Vec<Vec<StyledSpan>> = cells.into_iter().map(kept).collect();
    let columns: Vec<Column> = columns
        .into_iter()
        .zip(&keep)
        .filter(|(_, keep)| **keep)
        .map(|(column, _)| column)
        .collect();
    context.table(&columns, &cells)
}

const fn right(heading: &'static str, fit: Fit) -> Column {
    Column { heading, align: Align::Right, fit }
}

fn columns(by: By) -> Vec<Column> {
    // Titles and folder names can be cut; names of models and days cannot.
    let is_long = matches!(by, By::Project | By::Session | By::Agent);
    let fit = if is_long { Fit::Flexible } else { Fit::Keep };
    vec![
        Column { heading: heading(by), align: Align::Left, fit },
        right("SESSIONS", Fit::Drop(6)),
        right("PROMPTS", Fit::Drop(7)),
        right("REQUESTS", Fit::Drop(11)),
        right("INPUT", Fit::Drop(9)),
        right("CACHED", Fit::Drop(8)),
        right("OUTPUT", Fit::Drop(10)),
        right("THOUGHTS", Fit::Drop(3)),
        right("TOOLS", Fit::Drop(2)),
        right("FAILED", Fit::Drop(1)),
        right("ACTIVE", Fit::Drop(5)),
        right("TOKENS", Fit::Keep),
        right("COST", Fit::Keep),
        Column { heading: "", align: Align::Left, fit: Fit::Drop(4) },
    ]
}

/// Whether a column is useful: a session counts one, its title needs the width, and prompts cannot be assigned to a model.
fn is_shown(by: By, heading: &str, form: Form) -> bool {
    // Rows for programs all have the same columns, and bars are useless in a file.
    if form == Form::Exact {
        return !heading.is_empty();
    }
    match by {
        By::Session | By::Agent => {
            !matches!(heading, "SESSIONS" | "THOUGHTS" | "FAILED" | "INPUT" | "OUTPUT" | "CACHED")
        }
        By::Model => heading != "PROMPTS",
        _ => true,
    }
}

fn tool_columns() -> Vec<Column> {
    vec![
        Column { heading: "TOOL", align: Align::Left, fit: Fit::Flexible },
        right("SESSIONS", Fit::Drop(1)),
        right("CALLS", Fit::Keep),
        right("FAILED", Fit::Keep),
        right("CANCELLED", Fit::Drop(2)),
        right("RATE", Fit::Keep),
        Column { heading: "", align: Align::Left, fit: Fit::Drop(3) },
    ]
}

fn cells(by: By, row: &StatsRow, most: u128, form: Form) -> Vec<StyledSpan> {
    let mut cells = cells_of(by, row, most, form);
    if let Some(first) = cells.first_mut() {
        *first = StyledSpan::new(first.text(), Tone::Name);
    }
    cells
}

fn cells_of(by: By, row: &StatsRow, most: u128, form: Form) -> Vec<StyledSpan> {
    let figures = &row.figures;
    let plain = |text: &str| StyledSpan::new(text, Tone::Plain);
    let dim = |text: &str| StyledSpan::new(text, Tone::Dim);
    let number = |number: u64| plain(&form.count(number));
    let drawn = dim(&bar(weight(by == By::Tool, figures), most, BAR));
    let failed = |text: String| {
        StyledSpan::new(&text, if figures.tools_failed > 0 { Tone::Warning } else { Tone::Dim })
    };
    if by == By::Tool {
        let rate = figures.failure_share().map(percent).unwrap_or_default();
        return vec![
            plain(&row.key),
            number(figures.sessions),
            number(figures.tool_calls),
            failed(form.count(figures.tools_failed)),
            number(figures.tools_cancelled),
            failed(rate),
            drawn,
        ];
    }
    vec![
        plain(&label(by, row)),
        number(figures.sessions),
        number(figures.prompts),
        number(figures.requests),
        number(figures.tokens.input),
        dim(&figures.cache_share().map(percent).unwrap_or_default()),
        number(figures.tokens.output),
        number(figures.tokens.thoughts),
        number(figures.tool_calls),
        failed(form.count(figures.tools_failed)),
        plain(&form.duration(figures.active_seconds)),
        plain(&form.tokens(tokens(figures))),
        plain(&match form {
            Form::Short => cost(figures),
            Form::Exact => form.money(figures.cost_usd),
        }),
        drawn,
    ]
}

const CSV: &[&str] = &[
    "key",
    "name",
    "sessions",
    "requests",
    "undone",
    "prompts",
    "answers",
    "input",
    "output",
    "cached",
    "thoughts",
    "tool",
    "total",
    "cost_usd",
    "cost_is_lower_bound",
    "unpriced",
    "tool_calls",
    "tools_failed",
    "tools_cancelled",
    "active_seconds",
    "wall_seconds",
];

/// Prints a report as CSV, the total last.
fn csv(report: &StatsReport, context: &Context) -> Result<(), Failure> {
    let mut out = context.out(Paged::No);
    csv::row(&mut out, CSV.iter().map(|name| csv::CsvCell::Text(name)))?;
    for row in &report.rows {
        csv::row(&mut out, csv_cells(&row.key, row.name.as_deref(), &row.figures))?;
    }
    csv::row(&mut out, csv_cells("total", None, &report.total))?;
    out.finish()?;
    Ok(())
}

fn csv_cells<'a>(
    key: &'a str,
    name: Option<&'a str>,
    figures: &UsageFigures,
) -> impl Iterator<Item = csv::CsvCell<'a>> {
    let tokens = &figures.tokens;
    let mut cells = vec![csv::CsvCell::Text(key), csv::CsvCell::Text(name.unwrap_or_default())];
    let numbers = [
        figures.sessions,
        figures.requests,
        figures.undone,
        figures.prompts,
        figures.answers,
        tokens.input,
        tokens.output,
        tokens.cached,
        tokens.thoughts,
        tokens.tool,
        tokens.total,
    ];
    cells.extend(numbers.map(|number| csv::CsvCell::Number(number.to_string())));
    let dollars = figures.cost_usd.map(|cost| format!("{}", cost.dollars()));
    cells.push(csv::CsvCell::Number(dollars.unwrap_or_default()));
    let rest = [
        u64::from(figures.cost_is_lower_bound),
        figures.unpriced,
        figures.tool_calls,
        figures.tools_failed,
        figures.tools_cancelled,
        figures.active_seconds,
        figures.wall_seconds,
    ];
    cells.extend(rest.map(|number| csv::CsvCell::Number(number.to_string())));
    cells.into_iter()
}
