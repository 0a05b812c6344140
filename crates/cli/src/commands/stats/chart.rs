//! Charts of rows: columns for periods, bars for everything else.

use jiff::ToSpan as _;
use jiff::civil::Date;
use recount_engine::stats::{By, StatsReport, StatsRow, UsageFigures};

use super::table::{cost, label, weight};
use crate::context::Context;
use crate::output::bar::{bar, columns};
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::number::{count, money};
use crate::output::span::{Line, Span};
use crate::output::theme::Tone;
use recount_engine::stats::Money;

/// The height of columns.
const HEIGHT: usize = 10;
/// The width of bars.
const WIDTH: usize = 40;

/// Draws the rows of a report.
pub(super) fn page(report: &StatsReport, context: &Context) -> String {
    if report.by.is_time() { upright(report, context) } else { lying(report, context) }
}

/// Draws columns above a line of days; the last ones if there is not enough width for all.
fn upright(report: &StatsReport, context: &Context) -> String {
    let canvas = context.canvas();
    let weigh = |row: &StatsRow| weight(false, &row.figures);
    let top = report.rows.iter().max_by_key(|row| weigh(row));
    let most = top.map(|row| match row.figures.cost_usd {
        Some(cost) if cost > Money::default() => money(cost),
        _ => format!("{} tokens", count(row.figures.tokens.total)),
    });
    let most = most.unwrap_or_default();
    let margin = most.chars().count().max(2) + 1;
    let room = canvas.room().saturating_sub(margin + 1);
    let all = spaced(report.by, &report.rows, room);
    // As wide as possible, with a gap if there is width for one.
    let each = (room / all.len().max(1)).clamp(1, 6);
    let shown = all.len().min(room / each.max(1));
    let rows = all.get(all.len() - shown..).unwrap_or_default();
    let weights: Vec<u128> = rows.iter().map(weigh).collect();
    let spread = |line: &str| -> String {
        let wide = |block: char| {
            let body = if each > 2 { each - 1 } else { each };
            block.to_string().repeat(body) + &" ".repeat(each - body)
        };
        line.chars().map(wide).collect()
    };
    let drawn = columns(&weights, HEIGHT);
    let mut lines = Vec::with_capacity(drawn.len() + 2);
    for (at, line) in drawn.iter().enumerate() {
        let axis = if at == 0 { most.as_str() } else { "" };
        lines.push(Line::new([
            Span::new(&format!("{axis:>margin$} "), Tone::Dim),
            Span::new(&spread(line), Tone::Name),
        ]));
    }
    let zero = format!("{:>margin$} ", "0");
    lines.push(Line::new([
        Span::new(&zero, Tone::Dim),
        Span::new(&"─".repeat(shown * each), Tone::Dim),
    ]));
    let (first, last) = (rows.first(), rows.last());
    let name = |row: Option<&StatsRow>| row.map(|row| label(report.by, row)).unwrap_or_default();
    let (first, last) = (name(first), name(last));
    let gap = (shown * each).saturating_sub(first.chars().count() + last.chars().count());
    let ends =
        if gap > 0 && shown > 1 { format!("{first}{}{last}", " ".repeat(gap)) } else { last };
    lines.push(Line::new([Span::new(&format!("{} {ends}", " ".repeat(margin)), Tone::Dim)]));
    canvas.print(lines)
}

/// Inserts empty rows for periods without usage, so that columns are at proportional distances; at most as many as fit.
fn spaced(by: By, rows: &[StatsRow], room: usize) -> Vec<StatsRow> {
    let step = |date: Date| match by {
        By::Day => date.yesterday().ok(),
        By::Week => date.checked_sub(7.days()).ok(),
        By::Month => date.checked_sub(1.month()).ok(),
        _ => None,
    };
    let mut all: Vec<StatsRow> = Vec::with_capacity(rows.len());
    let mut next: Option<Date> = None;
    for row in rows.iter().rev() {
        let date = date(by, &row.key);
        while let (Some(wanted), Some(date)) = (next, date)
            && wanted > date
            && all.len() < room
        {
            let key = key(by, wanted);
            all.push(StatsRow { key, name: None, parent: None, figures: UsageFigures::default() });
            next = step(wanted);
        }
        all.push(row.clone());
        next = date.and_then(step);
    }
    all.reverse();
    all
}

fn date(by: By, key: &str) -> Option<Date> {
    if by == By::Month { format!("{key}-01").parse().ok() } else { key.parse().ok() }
}

fn key(by: By, date: Date) -> String {
    let text = date.to_string();
    if by == By::Month { text.get(..7).unwrap_or(&text).to_owned() } else { text }
}

const BARS: &[Column] = &[
    Column { heading: "", align: Align::Left, fit: Fit::Flexible },
    Column { heading: "", align: Align::Left, fit: Fit::Keep },
    Column { heading: "", align: Align::Right, fit: Fit::Keep },
];

fn lying(report: &StatsReport, context: &Context) -> String {
    let canvas = context.canvas();
    let is_tool = report.by == By::Tool;
    let most = report.rows.iter().map(|row| weight(is_tool, &row.figures)).max().unwrap_or(0);
    let width = WIDTH.min(canvas.room() / 2);
    let row = |row: &StatsRow| {
        let figure = if is_tool { count(row.figures.tool_calls) } else { cost(&row.figures) };
        vec![
            Span::new(&label(report.by, row), Tone::Plain),
            Span::new(&bar(weight(is_tool, &row.figures), most, width), Tone::Name),
            Span::new(&figure, Tone::Dim),
        ]
    };
    let cells: Vec<Vec<Span>> = report.rows.iter().map(row).collect();
    // The headings are empty, and so is their line.
    render(BARS, &cells, &canvas)
        .lines()
        .skip(1)
        .fold(String::new(), |page, line| page + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_without_use_have_a_place() {
        let row = |key: &str| StatsRow {
            key: key.to_owned(),
            name: None,
            parent: None,
            figures: UsageFigures::default(),
        };
        let keys = |by: By, keys: &[&str], room| -> Vec<String> {
            let rows: Vec<StatsRow> = keys.iter().map(|key| row(key)).collect();
            spaced(by, &rows, room).into_iter().map(|row| row.key).collect()
        };
        assert_eq!(
            keys(By::Day, &["2026-02-27", "2026-03-02"], 80),
            ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]
        );
        assert_eq!(
            keys(By::Week, &["2026-09-07", "2026-09-21"], 80),
            ["2026-09-07", "2026-09-14", "2026-09-21"]
        );
        assert_eq!(keys(By::Month, &["2025-12", "2026-02"], 80), ["2025-12", "2026-01", "2026-02"]);
        assert_eq!(keys(By::Hour, &["03", "09"], 80), ["03", "09"]);
        assert_eq!(keys(By::Day, &["1990-01-01", "2026-03-02"], 10).len(), 11);
    }
}
