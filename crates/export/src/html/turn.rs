//! What is recorded of each turn for the end of the page, where the list of prompts and the charts are written.

use jiff::Timestamp;
use recount_model::{Message, Tokens};

use crate::text::{Bidi, shortened, single_line};

/// The longest title in the list of prompts.
const TITLE: usize = 100;

/// A short record of a prompt and what followed.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) title: String,
    pub(super) time: Option<Timestamp>,
    pub(super) is_undone: bool,
    /// The usage of all its requests.
    pub(super) tokens: Tokens,
    /// The largest context of a request.
    pub(super) context: u64,
}

impl Turn {
    pub(super) fn new(prompt: &Message, bidi: Bidi) -> Self {
        // A prompt of many megabytes is not read completely for a few words.
        let start: String = prompt.display_text.trim_start().chars().take(4 * TITLE).collect();
        let title = single_line(&start, bidi);
        Self {
            title: shortened(&title, TITLE).into_owned(),
            time: prompt.time,
            is_undone: prompt.fate != recount_model::Fate::Kept,
            tokens: Tokens::default(),
            context: 0,
        }
    }

    pub(super) fn add(&mut self, tokens: Tokens) {
        self.tokens += tokens;
        self.context = self.context.max(tokens.input);
    }
}
