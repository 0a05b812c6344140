//! Places in the text, how one moves between them, and what has to be read for that.

use std::sync::Arc;

use recount_engine::MessageMark;

use super::Reader;
use super::layout::{Laid, Layout, Row};
use crate::keys::Action;
use crate::screen::Context;
use crate::shared::Shared;

/// The number of lines that are shown before one that was jumped to.
const ABOVE: usize = 3;

/// A row of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(super) message: usize,
    pub(super) line: usize,
}

/// Where to go, once the message is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Landing {
    pub(super) message: usize,
    pub(super) target: Target,
    /// Whether the screen scrolls only as far as it must.
    pub(super) keeps_top: bool,
}

/// Which row of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    First,
    Last,
    Line(usize),
    /// The first or last row where something failed.
    Error(bool),
    /// The first or last row where a file was changed.
    Change(bool),
    /// The first or last row of a call.
    Call(bool),
    /// The first or last row with the text that was looked for.
    Found(bool),
}

impl Reader {
    pub(super) fn mark(&self, message: usize) -> Option<&MessageMark> {
        self.text.as_ref()?.marks.get(message)
    }

    /// Returns the place of a message among those that are shown.
    pub(super) fn place_of(&self, message: usize) -> usize {
        self.messages.partition_point(|one| *one < message)
    }

    /// Returns a message if it may be shown, else the one after it, else the last one.
    fn nearest(&self, message: usize) -> usize {
        let near = self.messages.get(self.place_of(message)).or(self.messages.last());
        near.copied().unwrap_or_default()
    }

    pub(super) fn next_message(&self, message: usize) -> Option<usize> {
        self.messages.get(self.messages.partition_point(|one| *one <= message)).copied()
    }

    pub(super) fn previous_message(&self, message: usize) -> Option<usize> {
        self.messages.get(self.place_of(message).checked_sub(1)?).copied()
    }

    pub(super) fn is_loaded(&self, message: usize) -> bool {
        self.loaded.contains_key(&message)
    }

    /// Returns the rows of a message; empty if it is not read, or shows nothing.
    pub(super) fn rows(&mut self, message: usize) -> &[Row] {
        if !self.laid.contains_key(&message)
            && let Some(read) = self.loaded.get(&message)
        {
            let entry = self.mark(message).map(|mark| mark.entry).unwrap_or_default();
            let project = self.project();
            let look = self.look_at(message, &project);
            let fold = |unit: usize| self.folds.get(&(entry, unit)).copied().or(self.fold_all);
            let mut laid = match read {
                Ok(one) => Layout::of(one, message, look, &fold),
                Err(problem) => Laid::broken(problem, look.width),
            };
            if !laid.rows.is_empty() && self.has_rule(message) {
                laid.begin_with_gap();
            }
            self.laid.insert(message, laid);
        }
        self.laid.get(&message).map_or(&[], |laid| &laid.rows)
    }

    /// Returns the words for the pause before a message.
    pub(super) fn gap(&self, message: usize) -> Option<recount_blocks::Gap> {
        self.text.as_ref()?.gap(self.previous_message(message), message)
    }

    /// Returns the number of rows; a message that is not read yet has one.
    fn height_of(&mut self, message: usize) -> usize {
        if self.is_loaded(message) { self.rows(message).len() } else { 1 }
    }

    pub(super) fn down(&mut self, spot: Spot) -> Option<Spot> {
        if spot.line + 1 < self.height_of(spot.message) {
            return Some(Spot { line: spot.line + 1, ..spot });
        }
        let mut message = spot.message;
        loop {
            message = self.next_message(message)?;
            if self.height_of(message) > 0 {
                return Some(Spot { message, line: 0 });
            }
        }
    }

    pub(super) fn up(&mut self, spot: Spot) -> Option<Spot> {
        if spot.line > 0 {
            return Some(Spot { line: spot.line - 1, ..spot });
        }
        let mut message = spot.message;
        loop {
            message = self.previous_message(message)?;
            let height = self.height_of(message);
            if height > 0 {
                return Some(Spot { message, line: height - 1 });
            }
        }
    }

    /// Goes some rows down or up, but not past a message that is not read yet.
    fn walk(&mut self, mut spot: Spot, rows: usize, on: bool) -> Spot {
        for _ in 0..rows {
            let next = if on { self.down(spot) } else { self.up(spot) };
            let Some(next) = next else { break };
            spot = next;
            if !self.is_loaded(spot.message) {
                break;
            }
        }
        spot
    }

    /// Whether the cursor is on the last row.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.text.is_some() && self.down(self.cursor).is_none()
    }

    pub(super) fn go_last(&mut self, cx: &mut Context<'_>) {
        let message = self.messages.last().copied().unwrap_or_default();
        self.landing = Some(Landing { message, target: Target::Last, keeps_top: true });
        self.settle(cx);
    }

    /// Does what a key asks of any text. Returns whether it was one of those.
    pub(super) fn scroll(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        let page = self.size.1.max(2) - 1;
        let (rows, on) = match action {
            Action::Down => (1, true),
            Action::Up => (1, false),
            Action::HalfDown => (page / 2 + 1, true),
            Action::HalfUp => (page / 2 + 1, false),
            Action::PageDown | Action::PageForward => (page, true),
            Action::PageUp | Action::PageBackward => (page, false),
            Action::First => {
                let message = self.messages.first().copied().unwrap_or_default();
                self.landing = Some(Landing { message, target: Target::First, keeps_top: false });
                self.settle(cx);
                return true;
            }
            Action::Last => {
                self.go_last(cx);
                return true;
            }
            _ => return false,
        };
        self.landing = None;
        if rows > 1 {
            self.top = self.walk(self.top, rows, on);
        }
        self.cursor = self.walk(self.cursor, rows, on);
        self.settle(cx);
        true
    }

    /// Takes the size of the screen, and lays everything out again if it is another.
    pub(super) fn fit(&mut self, shared: &Shared) {
        let (width, height) = shared.size;
        // Tabs, title, foot, notice and hints.
        let around = 4 + u16::from(height >= 14);
        self.resize(usize::from(width), usize::from(height.saturating_sub(around)));
    }

    pub(super) fn resize(&mut self, width: usize, height: usize) {
        if self.size.0 != width {
            self.laid.clear();
        }
        self.size = (width, height);
    }

    /// After every change: lands, keeps the cursor on a row and the row on the screen, and asks for what is missing.
    pub(super) fn settle(&mut self, cx: &mut Context<'_>) {
        if self.text.is_none() || self.messages.is_empty() {
            return;
        }
        self.land();
        self.keep_on_a_row();
        self.keep_on_screen();
        if self.is_end_shown() {
            self.unread = 0;
            self.mark_read(cx);
        }
        self.fetch(cx);
        self.forget();
    }

    fn land(&mut self) {
        let Some(mut landing) = self.landing else { return };
        landing.message = self.nearest(landing.message);
        let message = landing.message;
        if !self.is_loaded(message) {
            self.landing = Some(landing);
            return;
        }
        self.landing = None;
        if let Target::Found(_) = landing.target {
            self.open_found(message);
        }
        let found = self.found.clone();
        let rows = self.rows(message);
        let first = usize::from(rows.first().is_some_and(|row| row.is_gap));
        let many = rows.len();
        let find = |on: bool, is_it: &dyn Fn(&Row) -> bool| {
            let at = if on { rows.iter().position(is_it) } else { rows.iter().rposition(is_it) };
            at.unwrap_or(first)
        };
        let line = match landing.target {
            Target::First => first,
            Target::Last => many.saturating_sub(1),
            Target::Line(line) => line.min(many.saturating_sub(1)),
            Target::Error(on) => find(on, &|row| row.is_error),
            Target::Change(on) => find(on, &|row| row.is_change),
            Target::Call(on) => find(on, &|row| row.is_call),
            Target::Found(on) => find(on, &|row| super::highlight::row_finds(row, &found)),
        };
        self.cursor = Spot { message, line };
        self.keep_on_a_row();
        if !landing.keeps_top {
            let above = if landing.target == Target::First { first } else { ABOVE };
            self.top = self.walk(self.cursor, above, false);
        }
    }

    /// The message under the cursor may turn out to show nothing.
    fn keep_on_a_row(&mut self) {
        if self.messages.binary_search(&self.cursor.message).is_err() {
            self.cursor = Spot { message: self.nearest(self.cursor.message), line: 0 };
        }
        let height = self.height_of(self.cursor.message);
        if height == 0 {
            let next = self.down(self.cursor).or_else(|| self.up(self.cursor));
            self.cursor = next.unwrap_or(self.cursor);
        } else {
            self.cursor.line = self.cursor.line.min(height - 1);
        }
    }

    fn keep_on_screen(&mut self) {
        let height = self.size.1.max(1);
        let top_height = self.height_of(self.top.message);
        let is_shown = self.messages.binary_search(&self.top.message).is_ok();
        if !is_shown || self.top.line >= top_height.max(1) || self.cursor < self.top {
            self.top = self.cursor;
        }
        let mut last = self.top;
        let mut seen = 1;
        while seen < height
            && let Some(next) = self.down(last)
        {
            (last, seen) = (next, seen + 1);
        }
        if self.cursor > last {
            self.top = self.cursor;
            seen = 1;
        }
        // No empty screen below the end, and the cursor not above it.
        while seen < height
            && let Some(above) = self.up(self.top)
        {
            (self.top, seen) = (above, seen + 1);
        }
        if self.top.line == 0 && self.height_of(self.top.message) == 0 {
            self.top = self.cursor;
        }
    }

    /// Returns what is known about the text, for jumps.
    pub(super) fn text_of(&self) -> Option<Arc<super::Text>> {
        self.text.clone()
    }
}
