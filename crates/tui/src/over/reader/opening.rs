//! Opens a session, again when it grows, and in another view or level.

use std::sync::Arc;

use recount_blocks::Level;
use recount_engine::View;

use super::Reader;
use super::moves::{Landing, Target};
use super::text::{Open, Ready, Shown, Text, Wanted};
use crate::effect::Notice;
use crate::screen::Context;
use crate::work::Slot;

impl Reader {
    pub(super) fn ask_open(&mut self, again: bool, wanted: Wanted, cx: &mut Context<'_>) {
        let opened = self.text.as_ref().filter(|_| !again).map(|text| Arc::clone(&text.opened));
        let (key, view, shown) = (self.key.clone(), self.view, self.shown);
        let facts = cx.shared.session(&self.key).cloned();
        let open = Open { key, opened, facts, view, wanted, shown };
        self.is_opening = true;
        cx.ask(Slot::Reader, move |work| open.run(work));
    }

    /// The session was opened, or opened again.
    pub(super) fn opened(&mut self, ready: Ready, cx: &mut Context<'_>) {
        let before = self.text.as_ref().map(|text| (text.view, text.marks.len()));
        let was_at_end = self.is_at_end();
        let line = self.cursor.line;
        self.text = Some(Arc::clone(&ready.text));
        self.error = None;
        self.loaded = ready.page.into_iter().collect();
        self.laid.clear();
        self.awaited = None;
        self.choose();
        if before.is_none() && matches!(self.wanted, Wanted::At(_)) {
            self.raise(ready.at);
        }
        if !ready.is_found {
            cx.say(Notice::error("the message is no longer in this session"));
        }
        let target = match (&self.wanted, before) {
            (Wanted::End, _) => Target::Last,
            (Wanted::Entry(..), Some(_)) if was_at_end && self.is_following => Target::Last,
            (Wanted::Entry(..), _) => Target::Line(line),
            _ => Target::First,
        };
        if let Some((_, many)) = before.filter(|(view, _)| *view == self.view) {
            self.unread += ready.text.marks.len().saturating_sub(many);
        }
        if before.is_none() {
            self.unread = ready.new;
        }
        // Who follows at the end reads them as they come.
        let is_followed = before.is_some() && target == Target::Last;
        self.find_new(if is_followed { 0 } else { ready.new });
        let message = if target == Target::Last {
            self.messages.last().copied().unwrap_or_default()
        } else {
            ready.at
        };
        let keeps_top = matches!(target, Target::Line(_));
        self.landing = Some(Landing { message, target, keeps_top });
        self.settle(cx);
    }

    /// Chooses the messages that may be shown.
    pub(super) fn choose(&mut self) {
        let Some(text) = &self.text else { return };
        self.messages = text.shown(self.shown.level, self.shown.with_undone);
    }

    /// Shows more, until a message that was asked for is among it.
    pub(super) fn raise(&mut self, message: usize) {
        for level in [Level::Full, Level::Trace] {
            if self.messages.binary_search(&message).is_ok() {
                break;
            }
            self.shown.level = level;
            self.choose();
        }
    }

    /// Another level, or with or without what was undone: the cursor stays at its message.
    pub(super) fn show(&mut self, shown: Shown, cx: &mut Context<'_>) {
        let message = self.cursor.message;
        self.shown = shown;
        self.laid.clear();
        self.folds.clear();
        self.fold_all = None;
        self.choose();
        let is_shown = self.messages.binary_search(&message).is_ok();
        let target = if is_shown { Target::Line(self.cursor.line) } else { Target::First };
        self.landing = Some(Landing { message, target, keeps_top: true });
        self.settle(cx);
    }

    pub(super) fn change_level(&mut self, by: isize, cx: &mut Context<'_>) {
        const LEVELS: [Level; 4] = [Level::Talk, Level::Actions, Level::Full, Level::Trace];
        let at = LEVELS.iter().position(|level| *level == self.shown.level).unwrap_or(1);
        if let Some(level) = LEVELS.get(at.saturating_add_signed(by)).copied() {
            self.show(Shown { level, ..self.shown }, cx);
        }
    }

    pub(super) fn change_view(&mut self, cx: &mut Context<'_>) {
        let entry = self.mark(self.cursor.message).map(|mark| mark.entry);
        self.view = if self.view == View::Full { View::Strict } else { View::Full };
        let is_empty = |text: &Arc<Text>| !text.opened.is_loadable();
        if self.view == View::Strict && self.text.as_ref().is_some_and(is_empty) {
            cx.say(Notice::error(
                "the agent cannot load this session: its strict view is empty; u goes back",
            ));
        }
        self.wanted = Wanted::Entry(entry.unwrap_or_default(), self.cursor.message);
        self.ask_open(false, self.wanted.clone(), cx);
    }

    /// Looks whether the session grew.
    pub(super) fn look(&mut self, cx: &mut Context<'_>) {
        let Some(facts) = cx.shared.session(&self.key) else { return };
        let state = Some((facts.updated, facts.bytes()));
        // One that grows all the time must not be opened anew before it is open.
        if self.state == state || self.is_opening || cx.shared.rows.is_remembered {
            return;
        }
        self.state = state;
        let entry = self.mark(self.cursor.message).map(|mark| mark.entry);
        self.wanted = if self.is_following && self.is_at_end() {
            Wanted::End
        } else {
            Wanted::Entry(entry.unwrap_or_default(), self.cursor.message)
        };
        self.ask_open(true, self.wanted.clone(), cx);
    }

    pub(super) fn follow(&mut self, cx: &mut Context<'_>) {
        let was_at_end = self.is_at_end();
        self.is_following = !(was_at_end && self.is_following);
        if self.is_following && !was_at_end {
            self.go_last(cx);
        }
        let words = if self.is_following { "follows as it grows" } else { "does not follow" };
        cx.say(Notice::info(words));
    }
}
