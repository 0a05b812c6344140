//! Rows, drawn: columns for what goes on in time, bars for all else.

use recount_engine::stats::{By, StatsReport, StatsRow};

use super::table::{cost, label, weight};
use crate::context::Context;
use crate::output::bar::{bar, columns};
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::number::{count, money};
use crate::output::span::{Line, Span};
use crate::output::theme::Tone;
use recount_engine::stats::Money;

/// How high columns are.
const HEIGHT: usize = 10;
/// How wide bars are.
const WIDTH: usize = 40;

/// Draws the rows of a report.
pub(super) fn page(report: &StatsReport, context: &Context) -> String {
    if report.by.is_time() { upright(report, context) } else { lying(report, context) }
}

/// Columns above a line of days, the last ones if there is not room for all.
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
    // As wide as there is room for, with a gap where that leaves one.
    let each = (room / report.rows.len().max(1)).clamp(1, 6);
    let shown = report.rows.len().min(room / each.max(1));
    let rows = report.rows.get(report.rows.len() - shown..).unwrap_or_default();
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
