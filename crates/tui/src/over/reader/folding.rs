//! Folds, opens and copies blocks.

use recount_blocks::{Level, finds};

use super::Reader;
use super::highlight::row_finds;
use super::layout::{Fold, Layout, Row};
use super::moves::Spot;

use crate::effect::{Effect, Notice};
use crate::keys::Action;
use crate::screen::Context;

impl Reader {
    /// Folds or opens the block under the cursor.
    pub(super) fn fold(&mut self, cx: &mut Context<'_>) {
        let spot = self.cursor;
        let Some((unit, fold)) = self.unit_at(spot) else { return };
        let fold = match fold {
            Fold::Shut => Fold::Open,
            Fold::Brief if self.is_cut(spot.message, unit) => Fold::Open,
            Fold::Brief | Fold::Open => Fold::Shut,
        };
        self.set_fold(spot.message, unit, fold);
        // The first row of the block stays.
        let first = self.rows(spot.message).iter().position(|row| row.unit == unit);
        self.cursor.line = first.unwrap_or_default();
        self.settle(cx);
    }

    pub(super) fn set_fold(&mut self, message: usize, unit: usize, fold: Fold) {
        let Some(entry) = self.mark(message).map(|mark| mark.entry) else { return };
        self.folds.insert((entry, unit), fold);
        self.laid.remove(&message);
    }

    pub(super) fn toggle_all(&mut self, cx: &mut Context<'_>) {
        self.fold_all = match self.fold_all {
            None | Some(Fold::Shut | Fold::Brief) => Some(Fold::Open),
            Some(Fold::Open) => Some(Fold::Shut),
        };
        self.folds.clear();
        self.laid.clear();
        self.cursor.line = 0;
        self.settle(cx);
    }

    pub(super) fn copy(&self, action: Action, cx: &mut Context<'_>) {
        let Some(Ok(message)) = self.loaded.get(&self.cursor.message) else { return };
        if action == Action::CopyMessage {
            let is_whole = self.shown.level >= Level::Trace || message.display_text.is_empty();
            let text = if is_whole { &message.text } else { &message.display_text };
            if !text.trim().is_empty() {
                cx.then(Effect::Copy(text.trim_end().to_owned(), "message"));
                return;
            }
        }
        let project = self.project();
        let texts = Layout::texts(message, self.cursor.message, self.look_of(&project));
        let unit = self.laid_unit(self.cursor);
        let text = if action == Action::CopyMessage {
            Some(texts.join("\n\n"))
        } else {
            unit.and_then(|unit| texts.into_iter().nth(unit))
        };
        match text.filter(|text| !text.trim().is_empty()) {
            Some(text) => {
                let what = if action == Action::CopyMessage { "message" } else { "block" };
                cx.then(Effect::Copy(text, what));
            }
            None => cx.say(Notice::error("there is no text to copy here")),
        }
    }

    /// Returns the block under a place, and how it is shown.
    pub(super) fn unit_at(&mut self, spot: Spot) -> Option<(usize, Fold)> {
        let unit = self.rows(spot.message).get(spot.line)?.unit;
        let fold = self.laid.get(&spot.message)?.folds.get(unit).copied()?;
        Some((unit, fold))
    }

    /// Returns the block under a place, if it is laid out.
    pub(super) fn laid_unit(&self, spot: Spot) -> Option<usize> {
        Some(self.laid.get(&spot.message)?.rows.get(spot.line)?.unit)
    }

    /// Whether a block that is shown in brief has more.
    pub(super) fn is_cut(&mut self, message: usize, unit: usize) -> bool {
        let Some(Ok(read)) = self.loaded.get(&message) else { return false };
        let project = self.project();
        let open = |_: usize| Some(Fold::Open);
        let open = Layout::of(read, message, self.look_at(message, &project), &open);
        let many = |rows: &[Row]| rows.iter().filter(|row| row.unit == unit && !row.is_gap).count();
        many(&open.rows) > many(self.rows(message))
    }

    /// Opens the folded blocks of a message that hold what was looked for.
    pub(super) fn open_found(&mut self, message: usize) {
        let found = self.found.clone();
        if self.rows(message).iter().any(|row| row_finds(row, &found)) {
            return;
        }
        let Some(Ok(read)) = self.loaded.get(&message) else { return };
        let project = self.project();
        let texts = Layout::texts(read, message, self.look_of(&project));
        let units = texts.iter().enumerate().filter(|(_, text)| finds(text, &found));
        for unit in units.map(|(unit, _)| unit).collect::<Vec<_>>() {
            self.set_fold(message, unit, Fold::Open);
        }
    }
}
