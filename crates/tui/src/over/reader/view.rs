//! How the transcript looks.

use recount_blocks::Level;
use recount_display::number::{at_least, bytes, count, running_price};
use recount_display::sanitize::single_line;
use recount_display::theme::Tone;
use recount_display::transcript::{tone, who};
use recount_display::when;
use recount_display::width::{truncate_to, width};
use recount_engine::{MessageMark, View};
use recount_model::{Fate, MessageKind};

use super::Reader;
use super::highlight::highlighted;
use super::moves::Spot;
use crate::draw::{Painter, columns};
use crate::shared::Shared;

/// From this width on, the margin has cost and context.
const WIDE: usize = 72;

/// Returns the width of the margin.
const fn margin(width: usize) -> usize {
    if width >= WIDE { 22 } else { 13 }
}

impl Reader {
    /// Returns the width of the text.
    pub(super) fn body_width(&self) -> usize {
        self.size.0.saturating_sub(margin(self.size.0) + 1).max(8)
    }

    pub(super) fn draw_all(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (width, height) = (painter.width(), painter.height());
        self.resize(usize::from(width), usize::from(height.saturating_sub(2)));
        self.title(&mut painter.part(0, 0, width, 1), shared);
        let mut body = painter.part(0, 1, width, height.saturating_sub(2));
        if let Some(error) = self.error.clone() {
            let lines =
                recount_display::plain::lines(&error, Tone::Error, usize::from(width.max(12)) - 4);
            for (y, line) in lines.iter().enumerate() {
                body.line(2, columns(y) + 1, line);
            }
            body.text(2, columns(lines.len()) + 2, "esc goes back", Tone::Dim);
            return;
        }
        if self.text.is_none() {
            let size = shared.session(&self.key).map(|facts| bytes(facts.bytes()));
            let words = size.map_or_else(
                || "reading the session…".to_owned(),
                |size| format!("reading the session ({size})…"),
            );
            body.text(2, 1, &words, Tone::Dim);
            return;
        }
        if self.messages.is_empty() {
            let words = if self.view == View::Strict {
                "the agent itself would show nothing of this session; u shows everything"
            } else {
                "there is nothing to show at this level; = shows more"
            };
            body.text(2, 1, words, Tone::Dim);
        } else {
            self.body(&mut body);
        }
        self.foot(&mut painter.part(0, height.saturating_sub(1), width, 1), shared);
    }

    fn title(&self, painter: &mut Painter<'_>, shared: &Shared) {
        let facts = self.facts(shared);
        let title = facts.as_ref().map(|facts| single_line(facts.shown_title()));
        let mut words = Vec::new();
        if let Some(facts) = &facts {
            words.push(single_line(shared.rows.names.name(&facts.project)));
        }
        words.push(single_line(self.key.id.short()));
        if let Some(state) = shared.states.get(&self.key) {
            let is_it = |row: &&recount_engine::live::LiveRow| {
                row.session.source == self.key.source
                    && row.session.id.as_ref() == Some(&self.key.id)
            };
            let since = shared.live.iter().find(is_it).map(|row| row.since);
            let since = since.map(|since| clock((shared.now.as_millisecond() - since) / 1000));
            words.push(
                format!("{} {}", state.as_str(), since.unwrap_or_default()).trim().to_owned(),
            );
        }
        let room = usize::from(painter.width());
        let right = truncate_to(&words.join(" · "), room / 2);
        let start = painter.text_right(0, &format!("{right} "), Tone::Dim);
        let title = truncate_to(&title.unwrap_or_default(), usize::from(start.saturating_sub(3)));
        painter.text(1, 0, &title, Tone::Heading);
    }

    fn body(&mut self, painter: &mut Painter<'_>) {
        let mut spot = Some(self.top);
        for y in 0..painter.height() {
            let Some(at) = spot else { break };
            self.row(painter, y, at);
            spot = self.down(at);
        }
    }

    fn row(&mut self, painter: &mut Painter<'_>, y: u16, at: Spot) {
        let gutter = columns(margin(usize::from(painter.width())));
        let is_top = y == 0;
        let is_cursor = at == self.cursor;
        let Some(row) = self.rows(at.message).get(at.line).cloned() else {
            painter.text(gutter, y, "…", Tone::Dim);
            if is_cursor {
                painter.part(0, y, gutter.saturating_sub(2), 1).select(0);
            }
            return;
        };
        if row.is_gap {
            self.pause(painter, y, at.message);
        } else {
            let is_first = at.line == 0 || (at.line == 1 && self.has_rule(at.message));
            let is_undone = self.mark(at.message).is_some_and(|mark| mark.fate != Fate::Kept);
            if is_first || is_top {
                self.margin(painter, y, at.message, is_first, is_top);
            }
            let bar = if is_undone { "┆" } else { "│" };
            painter.text(gutter.saturating_sub(2), y, bar, Tone::Dim);
            painter.spans(gutter, y, &highlighted(&row.line, &self.found));
            let fate = self.mark(at.message).filter(|mark| is_first && mark.fate != Fate::Kept);
            let right = fate.map_or(row.right, |mark| format!("[{}]", mark.fate));
            if !right.is_empty() {
                let tone = if is_undone && is_first { Tone::Warning } else { Tone::Dim };
                painter.text_right(y, &format!(" {right} "), tone);
            }
        }
        if is_cursor {
            painter.part(0, y, gutter.saturating_sub(2), 1).select(0);
        }
    }

    /// Draws a pause, or where new messages begin, over the whole width.
    fn pause(&self, painter: &mut Painter<'_>, y: u16, message: usize) {
        let mut words = Vec::new();
        words.extend(self.new_at(message).map(|new| format!("{new} new")));
        if let Some(gap) = self.gap(message) {
            let time = |at: usize| self.mark(at).and_then(|mark| mark.time);
            let before = self.previous_message(message).and_then(time);
            words.push(format!("{gap} later"));
            if let (Some(before), Some(now)) = (before, time(message))
                && !when::same_day(before, now)
            {
                words.push(when::minute(now));
            }
        }
        let words = format!(" {} ", words.join(", "));
        painter.rule(y, "");
        let x = usize::from(painter.width()).saturating_sub(width(&words)) / 2;
        let tone = if self.new_at(message).is_some() { Tone::Added } else { Tone::Dim };
        painter.text(columns(x), y, &words, tone);
    }

    /// Draws time, running sum, and who speaks or how full the context was.
    fn margin(
        &self,
        painter: &mut Painter<'_>,
        y: u16,
        message: usize,
        is_first: bool,
        is_top: bool,
    ) {
        let Some(mark) = self.mark(message) else { return };
        let clock = |mark: &MessageMark| mark.time.map(when::clock_time);
        let time = clock(mark);
        let before = self.previous_message(message).and_then(|at| self.mark(at)).and_then(clock);
        if let Some(time) = time.filter(|time| is_top || before.as_ref() != Some(time)) {
            painter.text(1, y, &time, Tone::Dim);
        }
        if !is_first {
            return;
        }
        let gutter = margin(usize::from(painter.width()));
        let is_wide = gutter >= 20;
        let is_undone = mark.fate != Fate::Kept;
        if is_wide {
            let has_request = mark.context.is_some();
            let sum = mark.sum.filter(|_| has_request).map(|sum| running_price(sum.dollars()));
            let words = if is_undone { "undone".to_owned() } else { sum.unwrap_or_default() };
            painter.part(7, y, 9, 1).text(0, 0, &words, Tone::Dim);
        }
        let read = self.loaded.get(&message).and_then(|read| read.as_ref().ok());
        let (words, tone) = match (mark.kind, read) {
            (MessageKind::Answer, _) if is_wide => (context(mark), Tone::Dim),
            (MessageKind::Answer, _) | (_, None) => (String::new(), Tone::Dim),
            (_, Some(message)) => (who(message), tone(message)),
        };
        let room = if is_wide { 12 } else { 4 };
        let words = truncate_to(&single_line(&words), room);
        let x = (gutter - 3).saturating_sub(width(&words));
        painter.text(columns(x), y, &words, tone);
    }

    fn foot(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        if self.is_typing || !self.found.is_empty() {
            let tone = if self.is_typing { Tone::Strong } else { Tone::Dim };
            let x = painter.text(1, 0, "/ ", tone);
            let words = if self.is_typing {
                "↵ finds · esc leaves"
            } else {
                "n next · N previous · esc clears"
            };
            let words = if self.seeking.is_some() { "looking…" } else { words };
            let end = painter.text_right(0, &format!("{words} "), Tone::Dim);
            let is_typing = self.is_typing;
            let mut field = painter.part(x, 0, end.saturating_sub(x + 1), 1);
            self.field.draw(&mut field, 0, 0, is_typing);
            return;
        }
        let room = usize::from(painter.width()).saturating_sub(2);
        let mut words = self.position(shared);
        while width(&words.join(" · ")) > room && words.len() > 1 {
            words.pop();
        }
        painter.text(1, 0, &words.join(" · "), Tone::Dim);
    }

    /// Says where one is, what it cost so far, and what is shown.
    fn position(&mut self, shared: &Shared) -> Vec<String> {
        let is_at_end = self.is_at_end();
        let Some(text) = self.text.clone() else { return Vec::new() };
        let here = self.cursor.message;
        let is_prompt =
            |at: &&usize| text.marks.get(**at).is_some_and(|mark| mark.kind == MessageKind::Prompt);
        let prompts = self.messages.iter().filter(is_prompt).count();
        let before = self.messages.iter().take_while(|at| **at <= here).filter(is_prompt).count();
        let mut words = vec![format!("{before}/{prompts} prompts")];
        let facts = self.facts(shared);
        let total = facts.as_ref().and_then(|facts| facts.cost_usd);
        let sum = self.mark(here).and_then(|mark| mark.sum);
        if let Some(total) = total {
            let is_least = facts.and_then(|facts| facts.cost_is_lower_bound) == Some(true);
            let sum = sum.map_or_else(|| "$0".to_owned(), |sum| running_price(sum.dollars()));
            words.push(format!("{sum} of {}", at_least(&running_price(total), is_least)));
        }
        words.push(level(self.shown.level).to_owned());
        let undone = self.undone();
        words.push(match (self.view, undone) {
            (View::Strict, _) => "strict view".to_owned(),
            (View::Full, 0) => "full view".to_owned(),
            (View::Full, undone) if self.shown.with_undone => format!("full view, {undone} undone"),
            (View::Full, undone) => format!("{undone} undone hidden (,u)"),
        });
        if self.unread > 0 {
            words.insert(0, format!("{} new below", self.unread));
        }
        words.push(if self.is_following && is_at_end { "follows" } else { "F follows" }.to_owned());
        words
    }
}

/// Returns the name of a level.
pub(super) const fn level(level: Level) -> &'static str {
    match level {
        Level::Talk => "talk",
        Level::Actions => "actions",
        Level::Full => "details",
        Level::Trace => "trace",
    }
}

/// Says how full the context was: a share if the window is known, else tokens.
#[expect(clippy::cast_precision_loss, reason = "a percentage needs no exact digits")]
fn context(mark: &MessageMark) -> String {
    match mark.context {
        Some((used, Some(window))) => {
            format!("{:.0} %", used as f64 * 100.0 / window.max(1) as f64)
        }
        Some((used, None)) => count(used),
        None => String::new(),
    }
}

/// Formats seconds as on a stop watch.
fn clock(seconds: i64) -> String {
    let seconds = seconds.max(0);
    match seconds {
        0..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}
