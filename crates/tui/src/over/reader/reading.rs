//! How far the session was read: where new messages begin, and that its end was shown.

use std::sync::Arc;

use jiff::SignedDuration;
use recount_engine::View;

use super::Reader;
use crate::screen::Context;
use crate::work::{ReadNews, Slot};

/// While a session grows, what was read of it is written this often.
const OFTEN: SignedDuration = SignedDuration::from_secs(2);

impl Reader {
    /// Finds the first of a number of new messages, at the end of the full view. While one reads, their start stays.
    pub(super) fn find_new(&mut self, many: usize) {
        let Some(text) = self.text.as_ref().filter(|text| text.view == View::Full) else { return };
        let total = text.marks.len();
        let known = self.new.map(|(first, _)| first);
        let first = known.or_else(|| (many > 0).then(|| total.saturating_sub(many)));
        self.new = first.map(|first| (first, total.saturating_sub(first)));
    }

    /// Returns how many new messages begin with this one.
    pub(super) fn new_at(&self, message: usize) -> Option<usize> {
        let (first, many) = self.new.filter(|(first, many)| *first > 0 && *many > 0)?;
        let is_full = self.text.as_ref().is_some_and(|text| text.view == View::Full);
        let begins = self.messages.get(self.place_of(first)) == Some(&message);
        (is_full && begins).then_some(many)
    }

    /// Whether there is a line across the screen before a message.
    pub(super) fn has_rule(&self, message: usize) -> bool {
        self.gap(message).is_some() || self.new_at(message).is_some()
    }

    /// Whether the last row is on the screen.
    pub(super) fn is_end_shown(&mut self) -> bool {
        let mut last = self.top;
        for _ in 0..self.size.1 {
            if !self.is_loaded(last.message) {
                return false;
            }
            match self.down(last) {
                Some(next) => last = next,
                None => return true,
            }
        }
        false
    }

    /// Notes that the end was shown, unless that was done a moment ago.
    pub(super) fn mark_read(&mut self, cx: &mut Context<'_>) {
        let now = cx.shared.now;
        if self.marked.is_none_or(|(_, at)| now.duration_since(at) >= OFTEN) {
            self.mark_now(cx);
        }
    }

    /// Notes that the end was shown, if it is.
    pub(super) fn mark_now(&mut self, cx: &mut Context<'_>) {
        let Some(text) = &self.text else { return };
        let messages = text.opened.facts.counts.messages;
        let is_known = self.marked.is_some_and(|(known, _)| known == messages);
        if is_known || text.opened.is_saved() || !self.is_end_shown() {
            return;
        }
        self.marked = Some((messages, cx.shared.now));
        let key = self.key.clone();
        cx.ask(Slot::Mark, move |work| {
            // If it cannot be written, nothing is marked.
            let engine = work.fresh_engine();
            let marks = engine.mark_read(&key, messages);
            ReadNews(Arc::new(marks.unwrap_or_else(|_| engine.read_marks())))
        });
    }
}
