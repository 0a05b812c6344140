//! How the board looks.

use recount_display::live::spent;
use recount_display::number::plural;
use recount_display::theme::Tone;
use recount_engine::live::dollars_per_minute;

use super::board::{Line, Section};
use super::columns::{COLUMNS, subagent_cell};
use super::{Live, session_key};
use crate::draw::{Painter, columns};
use crate::shared::Shared;
use crate::table;

/// Below this height sections are only an order.
const TALL: u16 = 12;
/// Below this width a row has only what matters most.
const NARROW: u16 = 60;

impl Live {
    pub(super) fn draw_all(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (width, height) = (painter.width(), painter.height());
        self.head(&mut painter.part(0, 0, width, 1), shared);
        let body = height.saturating_sub(1);
        if self.board.lines.iter().all(|line| matches!(line, Line::Heading(_, 0))) {
            self.nothing(&mut painter.part(3, 2, width.saturating_sub(4), body), shared);
            return;
        }
        self.rows(&mut painter.part(0, 1, width, body), shared);
    }

    /// How many run, how many need somebody, what they cost, and what was spent.
    fn head(&self, painter: &mut Painter<'_>, shared: &Shared) {
        let running = shared.live.iter().filter(|row| !row.has_ended()).count();
        let mut words = vec![plural(running as u64, "agent")];
        let waiting = shared.waiting();
        let rate = shared.live.iter().map(|row| row.rates[0].usd).sum();
        let tokens = shared.live.iter().map(|row| row.rates[0].tokens).sum();
        words.extend(Some(self.unit.rate(rate, tokens)).filter(|rate| !rate.is_empty()));
        if let Some(spending) = &self.spending {
            let (per_minute, now) = (dollars_per_minute(&shared.live), shared.now.as_millisecond());
            words.push(format!("today {}", spent(&spending.today(per_minute, now))));
            let month = spending.month(per_minute, now);
            if month.limit_usd.is_some() {
                words.push(format!("month {}", spent(&month)));
            }
        }
        if self.board.hidden > 0 {
            words.push(format!("{} hidden (esc shows all)", self.board.hidden));
        }
        let mut words = words.into_iter();
        let mut x = painter.text(1, 0, &words.next().unwrap_or_default(), Tone::Strong);
        if waiting > 0 {
            let needs = if waiting == 1 { "needs" } else { "need" };
            x = painter.text(x, 0, " · ", Tone::Dim);
            x = painter.text(x, 0, &format!("{waiting} {needs} you"), Tone::Warning);
        }
        for more in words {
            x = painter.text(x, 0, &format!(" · {more}"), Tone::Dim);
        }
        let alarms = if shared.is_muted { "alarms off" } else { "alarms on" };
        let right = format!("{alarms} · {} ", self.unit.name());
        if usize::from(painter.width().saturating_sub(x)) > right.chars().count() + 1 {
            painter.text_right(0, &right, Tone::Dim);
        }
    }

    fn nothing(&self, painter: &mut Painter<'_>, shared: &Shared) {
        let lines = if shared.live.is_empty() {
            [
                "no agent is running",
                "one that starts is shown here at once; nothing has to be set up",
            ]
        } else if self.filter.needs_me {
            ["nothing needs you", "! shows all that run"]
        } else {
            ["no agent is shown", "esc shows all that run"]
        };
        painter.text(0, 0, lines[0], Tone::Plain);
        painter.text(0, 1, lines[1], Tone::Dim);
    }

    fn rows(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (width, height) = (painter.width(), painter.height());
        let is_low = height < TALL;
        let first = shared.live.first().map(|row| row.session.source);
        let is_mixed = shared.live.iter().any(|row| Some(row.session.source) != first);
        let has_branch = shared.live.iter().any(|row| {
            let known = session_key(row).and_then(|key| shared.session(&key));
            row.session.headless || known.is_some_and(|known| known.branch.is_some())
        });
        let wanted = |column: &table::Column| match column.heading {
            "agent" => is_mixed,
            "since" | "context" => width >= NARROW,
            "branch" => has_branch,
            "trend" => self.samples.values().any(|samples| samples.len() > 1),
            _ => true,
        };
        let layout = table::Layout::new(COLUMNS, width.saturating_sub(2), wanted);
        let lines: Vec<(usize, Line)> = self.board.lines.iter().copied().enumerate().collect();
        let lines: Vec<(usize, Line)> = lines
            .into_iter()
            .filter(|(_, line)| !is_low || !matches!(line, Line::Heading(..)))
            .collect();
        // Where headings are left out, the selected line is another.
        let at = lines.iter().position(|(number, _)| *number == self.cursor.at);
        let mut cursor = self.cursor;
        if is_low {
            cursor.at = at.unwrap_or_default();
            cursor.top = cursor.top.min(cursor.at);
        }
        cursor.fit(usize::from(height), lines.len());
        // The heading above the first rows is worth a line.
        if !is_low && cursor.at < usize::from(height) && cursor.top == 1 {
            cursor.top = 0;
        }
        self.list = painter.area();
        self.cursor.height = usize::from(height);
        if !is_low {
            self.cursor.top = cursor.top;
        }
        for (y, (number, line)) in
            lines.iter().skip(cursor.top).take(usize::from(height)).enumerate()
        {
            let mut part = painter.part(0, columns(y), width, 1);
            match line {
                Line::Heading(section, many) => heading(&mut part, *section, *many),
                Line::Row(at) => {
                    let Some(row) = shared.live.get(*at) else { continue };
                    layout.row(COLUMNS, &mut part, (1, 0), |at| self.cell(at, row, shared));
                }
                Line::Subagent(at, own) => {
                    let Some(row) = shared.live.get(*at) else { continue };
                    let Some(one) = row.session.subagents.get(*own) else { continue };
                    layout
                        .row(COLUMNS, &mut part, (1, 0), |at| subagent_cell(at, row, one, shared));
                }
            }
            if *number == self.cursor.at && matches!(line, Line::Row(_)) {
                part.select(0);
            }
        }
    }
}

fn heading(painter: &mut Painter<'_>, section: Section, many: usize) {
    let is_urgent = section == Section::NeedsYou && many > 0;
    let tone = match many {
        0 => Tone::Dim,
        _ if is_urgent => Tone::Warning,
        _ => Tone::Heading,
    };
    painter.text(1, 0, &format!("{} {many}", section.name()), tone);
}
