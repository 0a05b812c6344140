//! How statistics look.

use ratatui::layout::Rect;
use recount_display::bar::bar;
use recount_display::form::Form;
use recount_display::number::{at_least, count, duration, money, percent, plural};
use recount_display::span::StyledSpan;
use recount_display::theme::Tone;
use recount_display::usage::{self, cost, heading, label, over_budget, time_chart, weight};
use recount_display::width::width;
use recount_engine::stats::{Budget, By, StatsRow, UsageFigures};
use recount_platform::local_zone;

use super::{DIMENSIONS, Figures, Stats};
use crate::draw::{Painter, columns};
use crate::keys::Action;
use crate::shared::Shared;
use crate::table::{Align, Column, Layout};

/// The width of bars.
const BAR: u16 = 12;
/// Below this height there is no chart.
const TALL: u16 = 16;

const fn column(heading: &'static str, width: u16, align: Align, rank: u8) -> Column {
    Column { heading, width, align, rank }
}

/// The columns; their ranks are those of `recount stats`.
const COLUMNS: &[Column] = &[
    column("", 0, Align::Left, 0),
    column("SESSIONS", 8, Align::Right, 6),
    column("PROMPTS", 7, Align::Right, 7),
    column("REQUESTS", 8, Align::Right, 11),
    column("INPUT", 6, Align::Right, 9),
    column("CACHED", 6, Align::Right, 8),
    column("OUTPUT", 6, Align::Right, 10),
    column("THOUGHTS", 8, Align::Right, 3),
    column("TOOLS", 6, Align::Right, 2),
    column("FAILED", 6, Align::Right, 1),
    column("ACTIVE", 8, Align::Right, 5),
    column("TOKENS", 7, Align::Right, 0),
    column("COST", 11, Align::Right, 0),
    column("BAR", BAR, Align::Left, 4),
];

const TOOL_COLUMNS: &[Column] = &[
    column("", 0, Align::Left, 0),
    column("SESSIONS", 8, Align::Right, 1),
    column("CALLS", 7, Align::Right, 0),
    column("FAILED", 6, Align::Right, 0),
    column("CANCELLED", 9, Align::Right, 2),
    column("RATE", 6, Align::Right, 0),
    column("BAR", BAR, Align::Left, 3),
];

impl Stats {
    pub(super) fn draw_all(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (width, height) = (painter.width(), painter.height());
        self.head(&mut painter.part(0, 0, width, 1), shared);
        let Some((asked, figures)) = self.shown.clone() else {
            let (words, tone) = match &self.wrong {
                Some(wrong) => (wrong.as_str(), Tone::Error),
                None => ("adding up…", Tone::Dim),
            };
            painter.text(3, 2, words, tone);
            return;
        };
        let mut y = 1;
        y +=
            self.totals(&mut painter.part(0, y, width, height.saturating_sub(y)), &figures, shared);
        if let Some(wrong) = &self.wrong {
            painter.text(1, y, wrong, Tone::Error);
            y += 1;
        }
        if height >= TALL {
            let lines = if height >= 32 { 9 } else { 5 };
            let mut part = painter.part(1, y + 1, width.saturating_sub(2), lines + 2);
            chart(&mut part, &figures, usize::from(lines));
            y += lines + 4;
        }
        let mut part = painter.part(0, y, width, height.saturating_sub(y));
        self.table(&mut part, asked.by, &figures, shared);
    }

    /// What is counted, by what, and when.
    fn head(&self, painter: &mut Painter<'_>, shared: &Shared) {
        let scope = match (&self.asked.here, &shared.rows.scope) {
            (Some(_), Some(scope)) => shared.rows.names.name(&scope.project).to_owned(),
            _ => "everywhere".to_owned(),
        };
        let mut x = painter.text(1, 0, &scope, Tone::Strong) + 2;
        let period = self.asked.period.name(self.asked.by, shared.now, &local_zone());
        x = painter.text(x, 0, if period == "all" { "all time" } else { &period }, Tone::Plain) + 2;
        x = painter.text(x, 0, "by", Tone::Dim) + 1;
        let is_narrow = painter.width() < 80;
        for by in DIMENSIONS {
            let is_own = *by == self.asked.by;
            if is_own || !is_narrow {
                let tone = if is_own { Tone::Heading } else { Tone::Dim };
                let name = name(*by);
                let text = if is_own { format!("[{name}]") } else { name.to_owned() };
                x = painter.text(x, 0, &text, tone) + 1;
            }
        }
        if self.is_waiting && self.shown.is_some() {
            painter.text_right(0, "adding up… ", Tone::Dim);
        } else if painter.width().saturating_sub(x) > 20 {
            let key = |action| shared.settings.keymap.first(action).unwrap_or_default();
            let words = format!("{} {} period ", key(Action::Earlier), key(Action::Later));
            painter.text_right(0, &words, Tone::Dim);
        }
    }

    /// Today, the period, and all; and budgets. Returns the number of lines.
    fn totals(&self, painter: &mut Painter<'_>, figures: &Figures, shared: &Shared) -> u16 {
        let period = self.asked.period.name(self.asked.by, shared.now, &local_zone());
        let mut parts = vec![("today", &figures.today)];
        if period != "all" {
            parts.push((period.as_str(), &figures.report.total));
        }
        parts.push(("all", &figures.all));
        let tokens = |total: &UsageFigures| format!(" · {} tokens", count(total.tokens.total));
        let needed = |(name, total): &(&str, &UsageFigures)| {
            width(name) + width(&cost(total)) + width(&tokens(total)) + 4
        };
        let is_short = parts.iter().map(needed).sum::<usize>() > usize::from(painter.width());
        let mut x = 1;
        for (name, total) in parts {
            x = painter.text(x, 0, name, Tone::Dim) + 1;
            x = painter.text(x, 0, &cost(total), Tone::Strong);
            if !is_short {
                x = painter.text(x, 0, &tokens(total), Tone::Plain);
            }
            x += 3;
        }
        if usize::from(painter.width().saturating_sub(x)) > 14 {
            let words = plural(figures.report.total.sessions, "session");
            painter.text_right(0, &format!("{words} "), Tone::Dim);
        }
        let mut y = 1;
        for (span, limit) in figures.budget.iter().flat_map(Budget::limits) {
            let (words, tone) = if limit.is_over() {
                (over_budget(span, limit), Tone::Warning)
            } else {
                let span = if span == By::Day { "today" } else { "this month" };
                let spent = at_least(&money(limit.spent_usd), limit.is_lower_bound);
                let most = money(limit.limit_usd);
                (format!("budget {span}: {spent} of {most}"), Tone::Plain)
            };
            let x = painter.text(1, y, &words, tone) + 2;
            let drawn = bar(limit.spent_usd.units(), limit.limit_usd.units(), 20);
            painter.text(x, y, &drawn, tone);
            y += 1;
        }
        y
    }

    fn table(&mut self, painter: &mut Painter<'_>, by: By, figures: &Figures, shared: &Shared) {
        let (width, height) = (painter.width(), painter.height());
        let all = if by == By::Tool { TOOL_COLUMNS } else { COLUMNS };
        let wanted = |column: &Column| !(by == By::Model && column.heading == "PROMPTS");
        let layout = Layout::new(all, width.saturating_sub(2), wanted);
        let mut heads = all.to_vec();
        for column in &mut heads {
            if column.heading.is_empty() {
                column.heading = if by == By::Source { "AGENT" } else { heading(by) };
            } else if column.heading == "BAR" {
                column.heading = "";
            }
        }
        layout.head(&heads, painter, 1, 0);
        let rows = &figures.report.rows;
        let body = height.saturating_sub(2);
        self.cursor.fit(usize::from(body), rows.len());
        let area = painter.area();
        self.list = Rect { y: area.y + 1, height: body, ..area };
        let most = rows.iter().map(|row| weight(by == By::Tool, &row.figures)).max().unwrap_or(0);
        let shown = rows.iter().enumerate().skip(self.cursor.top).take(usize::from(body));
        for (line, (at, row)) in shown.enumerate() {
            let y = columns(line) + 1;
            layout.row(all, painter, (1, y), |at| cell(all, at, by, row, most));
            if at == self.cursor.at {
                painter.part(0, y, width, 1).select(0);
            }
        }
        if rows.is_empty() {
            let key = |action| shared.settings.keymap.first(action).unwrap_or_default();
            let words = format!(
                "nothing was used in this period; {} shows an earlier one, esc all",
                key(Action::Earlier)
            );
            painter.text(3, 2, &words, Tone::Dim);
            return;
        }
        let total = StatsRow {
            key: "total".to_owned(),
            name: None,
            parent: None,
            figures: figures.report.total.clone(),
        };
        let y = columns(rows.len().min(usize::from(body))) + 1;
        layout.row(all, painter, (1, y), |at| {
            let span = cell(all, at, by, &total, 0);
            StyledSpan::new(span.text(), Tone::Strong)
        });
    }
}

fn name(by: By) -> &'static str {
    match by {
        By::Week => "week",
        By::Month => "month",
        By::Project => "project",
        By::Model => "model",
        By::Tool => "tool",
        By::Source => "agent",
        _ => "day",
    }
}

/// Returns one cell of a row.
fn cell(all: &[Column], at: usize, by: By, row: &StatsRow, most: u128) -> StyledSpan {
    let plain = |text: &str| StyledSpan::new(text, Tone::Plain);
    let Some(column) = all.get(at) else { return plain("") };
    let figures: &UsageFigures = &row.figures;
    let failed = |text: &str| {
        StyledSpan::new(text, if figures.tools_failed > 0 { Tone::Warning } else { Tone::Dim })
    };
    match column.heading {
        "" => StyledSpan::new(&label(by, row), Tone::Name),
        "SESSIONS" => plain(&count(figures.sessions)),
        "PROMPTS" => plain(&count(figures.prompts)),
        "REQUESTS" => plain(&count(figures.requests)),
        "INPUT" => plain(&count(figures.tokens.input)),
        "CACHED" => {
            StyledSpan::new(&figures.cache_share().map(percent).unwrap_or_default(), Tone::Dim)
        }
        "OUTPUT" => plain(&count(figures.tokens.output)),
        "THOUGHTS" => plain(&count(figures.tokens.thoughts)),
        "TOOLS" | "CALLS" => plain(&count(figures.tool_calls)),
        "FAILED" => failed(&count(figures.tools_failed)),
        "CANCELLED" => plain(&count(figures.tools_cancelled)),
        "RATE" => failed(&figures.failure_share().map(percent).unwrap_or_default()),
        "ACTIVE" => plain(&duration(figures.active_seconds)),
        "TOKENS" => plain(&Form::Short.tokens(usage::tokens(figures))),
        "COST" => plain(&cost(figures)),
        _ => {
            let width = usize::from(BAR);
            StyledSpan::new(&bar(weight(by == By::Tool, figures), most, width), Tone::Dim)
        }
    }
}

/// Draws columns over time.
fn chart(painter: &mut Painter<'_>, figures: &Figures, lines: usize) {
    let width = usize::from(painter.width());
    let chart = time_chart(figures.time.by, &figures.time.rows, width, lines);
    let margin = chart.margin;
    let x = columns(margin + 1);
    for (y, line) in chart.lines.iter().enumerate() {
        if y == 0 {
            painter.text(0, 0, &format!("{:>margin$}", chart.most), Tone::Dim);
        }
        painter.text(x, columns(y), line, Tone::Name);
    }
    let y = columns(chart.lines.len());
    painter.text(0, y, &format!("{:>margin$}", "0"), Tone::Dim);
    painter.text(x, y, &"─".repeat(chart.width), Tone::Dim);
    painter.text(x, y + 1, &chart.ends, Tone::Dim);
}
