//! Reads the messages near the screen, and drops those that are far away.

use super::text::around;
use super::{Page, Reader};
use crate::screen::Context;
use crate::work::Slot;

/// The maximum number of messages that are kept.
const KEPT: usize = 256;
/// The maximum size of them, as they are on disk.
const KEPT_BYTES: u64 = 16 * 1024 * 1024;

impl Reader {
    /// Asks for the messages near the screen that are not read yet.
    pub(super) fn fetch(&mut self, cx: &mut Context<'_>) {
        let missing = self.missing();
        let Some(missing) = missing.filter(|missing| self.awaited != Some(*missing)) else {
            return;
        };
        let Some(text) = self.text.clone() else { return };
        self.awaited = Some(missing);
        let mut wanted = around(&self.messages, missing);
        wanted.retain(|at| !self.is_loaded(*at));
        let key = self.key.clone();
        cx.ask(Slot::Page, move |_| {
            let messages = text.read(&wanted);
            Page { key, text, messages }
        });
    }

    /// Returns the nearest message that should be read now.
    pub(super) fn missing(&mut self) -> Option<usize> {
        if let Some(landing) = self.landing
            && !self.is_loaded(landing.message)
        {
            return Some(landing.message);
        }
        let height = self.size.1.max(1);
        for (rows, on) in [(2 * height, true), (height, false)] {
            let mut spot = self.top;
            for _ in 0..=rows {
                if !self.is_loaded(spot.message) {
                    return Some(spot.message);
                }
                let next = if on { self.down(spot) } else { self.up(spot) };
                let Some(next) = next else { break };
                spot = next;
            }
        }
        None
    }

    /// Drops what is far from the screen.
    pub(super) fn forget(&mut self) {
        let size = |reader: &Self, at: usize| reader.mark(at).map_or(0, |mark| mark.bytes);
        let mut bytes: u64 = self.loaded.keys().map(|at| size(self, *at)).sum();
        if self.loaded.len() <= KEPT && bytes <= KEPT_BYTES {
            return;
        }
        let middle = self.place_of(self.top.message);
        let mut loaded: Vec<(usize, usize)> =
            self.loaded.keys().map(|at| (self.place_of(*at).abs_diff(middle), *at)).collect();
        loaded.sort_unstable();
        let near = 3 * self.size.1.max(8);
        while loaded.len() > KEPT * 3 / 4 || bytes > KEPT_BYTES / 2 {
            let Some((distance, at)) = loaded.pop() else { break };
            // What a few screens show must stay, or it would be asked for again.
            if distance <= near.min(8) || (distance <= near && loaded.len() < KEPT / 2) {
                break;
            }
            bytes -= size(self, at).min(bytes);
            self.loaded.remove(&at);
            self.laid.remove(&at);
        }
    }
}
