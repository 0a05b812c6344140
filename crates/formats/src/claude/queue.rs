//! Prompts that were typed while the agent was busy.
//!
//! The agent records its queue. A prompt that is taken out for a turn of its own gets a row. One that is passed to the model in
//! the middle of a turn is only removed from the queue by some releases (2.0.70, 2.1.80), so these records are all that is left
//! of it; later ones (2.1.140) write a `queued_command`, too.

use std::collections::VecDeque;

use recount_model::Span;
use serde::{Deserialize, Serialize};

use super::row::Row;
use super::wording::{LEAD, is_typed};
use crate::json::Text;
use crate::source::stable_hash;

/// More prompts than people queue. Beyond it the oldest is dropped, so that each record costs the same.
const MOST: usize = 256;

/// A prompt in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QueuedPrompt {
    /// The record that put it there.
    pub(crate) span: Span,
    pub(crate) time: Option<i64>,
    /// A hash of its text.
    pub(crate) words: u64,
    /// How many rows were read before it was removed.
    pub(crate) after: u32,
    /// Whether a human typed it: the agent puts its own notifications in.
    is_typed: bool,
    /// Whether it is a command, which waits for the end of the turn.
    is_command: bool,
}

impl QueuedPrompt {
    /// Returns an id for the message: the record has none.
    pub(crate) fn id(&self) -> Box<str> {
        format!("queued-{}-{:016x}", self.time.unwrap_or_default(), self.words).into()
    }
}

/// The queue of a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Queue {
    waiting: VecDeque<QueuedPrompt>,
    /// Removed in this turn: a row may still follow.
    removed: Vec<QueuedPrompt>,
    /// Removed, and no row followed.
    prompts: Vec<QueuedPrompt>,
}

impl Queue {
    /// Takes a record of the queue; `rows` were read before it.
    pub(crate) fn record(&mut self, row: &Row<'_>, span: Span, rows: u32) {
        match row.operation.map(Text::name).as_deref() {
            Some(b"enqueue") => {
                let Some(text) = row.content else { return };
                let lead = text.decode_start(LEAD);
                if self.waiting.len() >= MOST {
                    self.waiting.pop_front();
                }
                self.waiting.push_back(QueuedPrompt {
                    span,
                    time: row.time,
                    words: hash(text),
                    after: rows,
                    is_typed: is_typed(&lead),
                    is_command: lead.starts_with('/'),
                });
            }
            // A row with its text follows.
            Some(b"dequeue") => drop(self.waiting.pop_front()),
            Some(b"remove") => {
                if self.removed.len() >= MOST {
                    self.settle();
                }
                let words = row.content.map(hash);
                let is_it = |prompt: &QueuedPrompt| Some(prompt.words) == words;
                let named = self.waiting.iter().position(is_it);
                let first = || self.waiting.iter().position(|prompt| !prompt.is_command);
                let at = named.or_else(first);
                let prompt = self.waiting.remove(at.unwrap_or_default());
                let prompt = prompt.filter(|prompt| prompt.is_typed && !prompt.is_command);
                self.removed.extend(prompt.map(|prompt| QueuedPrompt { after: rows, ..prompt }));
            }
            // Back into the editor, all at once.
            Some(b"popAll") => self.waiting.clear(),
            // Whatever a newer release does with its queue, what was typed stays until it is taken out.
            _ => {}
        }
    }

    /// Whether prompts were removed since the last answer.
    pub(crate) fn is_open(&self) -> bool {
        !self.removed.is_empty()
    }

    /// Takes the text of a prompt that has a row.
    pub(crate) fn meet(&mut self, text: Text<'_>) {
        let words = hash(text);
        if let Some(at) = self.removed.iter().position(|prompt| prompt.words == words) {
            self.removed.remove(at);
        }
    }

    /// An answer came: what was removed before it has no row.
    pub(crate) fn settle(&mut self) {
        self.prompts.append(&mut self.removed);
    }

    /// Lists the prompts that have no row, in order.
    pub(crate) fn prompts(&self) -> impl Iterator<Item = &QueuedPrompt> {
        self.prompts.iter().chain(&self.removed)
    }
}

fn hash(text: Text<'_>) -> u64 {
    stable_hash(text.decode().trim())
}
