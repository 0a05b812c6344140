//! Figures side by side: as a table, and as CSV.

use recount_engine::export::csv;
use recount_engine::stats::{By, Figures, Money, Report, Row};

use crate::context::{Context, Paged};
use crate::failure::Failure;
use crate::output::bar::bar;
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::number::{count, duration, money, percent};
use crate::output::span::Span;
use crate::output::theme::Tone;

/// How wide bars are.
const BAR: usize = 12;

/// Draws a report.
pub(super) fn page(report: &Report, context: &Context) -> String {
    let heading = heading(report.by);
    let columns = if report.by == By::Tool { tool_columns() } else { columns(heading) };
    let most = report.rows.iter().map(|row| weight(report.by, &row.figures)).max().unwrap_or(0);
    let mut cells: Vec<Vec<Span>> =
        report.rows.iter().map(|row| cells(report.by, row, most)).collect();
    let total =
        Row { key: "total".to_owned(), name: None, parent: None, figures: report.total.clone() };
    let mut last: Vec<Span> = cells_of(report.by, &total, 0);
    last = last.into_iter().map(|span| Span::new(span.text(), Tone::Strong)).collect();
    cells.push(last);
    render(&columns, &cells, &context.canvas())
}

fn heading(by: By) -> &'static str {
    match by {
        By::Day => "DAY",
        By::Week => "WEEK",
        By::Month => "MONTH",
        By::Hour => "HOUR",
        By::Project => "PROJECT",
        By::Model => "MODEL",
        By::Session => "SESSION",
        By::Source => "SOURCE",
        By::Tool => "TOOL",
        By::Agent => "AGENT",
    }
}

const fn right(heading: &'static str, fit: Fit) -> Column {
    Column { heading, align: Align::Right, fit }
}

fn columns(heading: &'static str) -> Vec<Column> {
    vec![
        Column { heading, align: Align::Left, fit: Fit::Flexible },
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

fn cells(by: By, row: &Row, most: u128) -> Vec<Span> {
    let mut cells = cells_of(by, row, most);
    if let Some(first) = cells.first_mut() {
        *first = Span::new(first.text(), Tone::Name);
    }
    cells
}

/// What bars compare.
fn weight(by: By, figures: &Figures) -> u128 {
    match figures.cost_usd {
        _ if by == By::Tool => u128::from(figures.tool_calls),
        Some(cost) if cost > Money::default() => cost.units(),
        _ => u128::from(figures.tokens.total),
    }
}

fn cells_of(by: By, row: &Row, most: u128) -> Vec<Span> {
    let figures = &row.figures;
    let plain = |text: &str| Span::new(text, Tone::Plain);
    let dim = |text: &str| Span::new(text, Tone::Dim);
    let number = |number: u64| plain(&count(number));
    let drawn = dim(&bar(weight(by, figures), most, BAR));
    let failed = |text: String| {
        Span::new(&text, if figures.tools_failed > 0 { Tone::Warning } else { Tone::Dim })
    };
    if by == By::Tool {
        let rate = figures.failure_share().map(percent).unwrap_or_default();
        return vec![
            plain(&row.key),
            number(figures.sessions),
            number(figures.tool_calls),
            failed(count(figures.tools_failed)),
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
        failed(count(figures.tools_failed)),
        plain(&duration(figures.active_seconds)),
        number(figures.tokens.total),
        plain(&cost(figures)),
        drawn,
    ]
}

/// What a row is called.
fn label(by: By, row: &Row) -> String {
    let short = || row.key.get(..8).unwrap_or(&row.key);
    match (by, &row.name) {
        (By::Session | By::Agent, Some(title)) => format!("{}  {title}", short()),
        (_, Some(name)) => name.clone(),
        (By::Hour, None) if row.key.len() == 2 => format!("{}:00", row.key),
        _ => row.key.clone(),
    }
}

/// What it cost: with a mark when it was more, and a dash when nobody knows.
pub(super) fn cost(figures: &Figures) -> String {
    match figures.cost_usd {
        None => "–".to_owned(),
        Some(cost) if figures.cost_is_lower_bound => format!("≥ {}", money(cost)),
        Some(cost) => money(cost),
    }
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
pub(super) fn csv(report: &Report, context: &Context) -> Result<(), Failure> {
    let mut out = context.out(Paged::No);
    csv::row(&mut out, CSV.iter().map(|name| csv::Cell::Text(name)))?;
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
    figures: &Figures,
) -> impl Iterator<Item = csv::Cell<'a>> {
    let tokens = &figures.tokens;
    let mut cells = vec![csv::Cell::Text(key), csv::Cell::Text(name.unwrap_or_default())];
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
    cells.extend(numbers.map(|number| csv::Cell::Number(number.to_string())));
    let dollars = figures.cost_usd.map(|cost| format!("{}", cost.dollars()));
    cells.push(csv::Cell::Number(dollars.unwrap_or_default()));
    let rest = [
        u64::from(figures.cost_is_lower_bound),
        figures.unpriced,
        figures.tool_calls,
        figures.tools_failed,
        figures.tools_cancelled,
        figures.active_seconds,
        figures.wall_seconds,
    ];
    cells.extend(rest.map(|number| csv::Cell::Number(number.to_string())));
    cells.into_iter()
}
