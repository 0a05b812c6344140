//! Charts of rows: columns for periods, bars for everything else.

use recount_display::usage::{TimeChart, cost, label, time_chart, weight};
use recount_engine::stats::{By, StatsReport, StatsRow};

use crate::context::Context;
use crate::output::bar::bar;
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::number::count;
use crate::output::span::{Line, StyledSpan};
use crate::output::theme::Tone;

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
    let chart = time_chart(report.by, &report.rows, canvas.room(), HEIGHT);
    let TimeChart { margin, most, .. } = &chart;
    let mut lines = Vec::with_capacity(chart.lines.len() + 2);
    for (at, line) in chart.lines.iter().enumerate() {
        let axis = if at == 0 { most.as_str() } else { "" };
        lines.push(Line::new([
            StyledSpan::new(&format!("{axis:>margin$} "), Tone::Dim),
            StyledSpan::new(line, Tone::Name),
        ]));
    }
    let zero = format!("{:>margin$} ", "0");
    lines.push(Line::new([
        StyledSpan::new(&zero, Tone::Dim),
        StyledSpan::new(&"─".repeat(chart.width), Tone::Dim),
    ]));
    let ends = format!("{} {}", " ".repeat(*margin), chart.ends);
    lines.push(Line::new([StyledSpan::new(&ends, Tone::Dim)]));
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
            StyledSpan::new(&label(report.by, row), Tone::Plain),
            StyledSpan::new(&bar(weight(is_tool, &row.figures), most, width), Tone::Name),
            StyledSpan::new(&figure, Tone::Dim),
        ]
    };
    let cells: Vec<Vec<StyledSpan>> = report.rows.iter().map(row).collect();
    // The headings are empty, and so is their line.
    render(BARS, &cells, &canvas)
        .lines()
        .skip(1)
        .fold(String::new(), |page, line| page + line + "\n")
}
