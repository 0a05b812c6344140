//! What the index stores of a message, and how.

use recount_model::{Fate, MessageKind};
use tantivy::schema::{
    FAST, Field as Handle, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing,
    TextOptions,
};
use tantivy::tokenizer::TokenizerManager;

use crate::document::Field;
use crate::token::WordTokenizer;

/// The tokenizer's name is part of the schema on disk, and the version is part of the name: an index with another tokenizer
/// does not open. Raise it with any change to the words, or to the meaning of the columns.
const TOKENIZER: &str = "recount-words-6";
/// The same words, with a record of adjacent ones.
const NEIGHBOURS: &str = "recount-words-6-neighbours";
/// The engine's own tokenizer for unchanged values.
const RAW: &str = "raw";

pub(crate) const TAG: Handle = Handle::from_field_id(11);
pub(crate) const SESSION: Handle = Handle::from_field_id(12);
pub(crate) const MESSAGE: Handle = Handle::from_field_id(13);
pub(crate) const FILE: Handle = Handle::from_field_id(14);
pub(crate) const OFFSET: Handle = Handle::from_field_id(15);
pub(crate) const BYTES: Handle = Handle::from_field_id(16);
pub(crate) const LINE: Handle = Handle::from_field_id(17);
pub(crate) const TIME: Handle = Handle::from_field_id(18);
pub(crate) const MARKS: Handle = Handle::from_field_id(19);

/// The numeric columns of a message, by name.
const COLUMNS: [(&str, Handle); 7] = [
    ("session", SESSION),
    ("message", MESSAGE),
    ("file", FILE),
    ("offset", OFFSET),
    ("bytes", BYTES),
    ("line", LINE),
    ("time", TIME),
];

/// Every kind of message; the index stores the position in this list.
pub(crate) const KINDS: [MessageKind; 9] = [
    MessageKind::Prompt,
    MessageKind::Answer,
    MessageKind::Context,
    MessageKind::Hook,
    MessageKind::ToolResult,
    MessageKind::Shell,
    MessageKind::Notice,
    MessageKind::Summary,
    MessageKind::Nudge,
];

/// Every fate; the index stores the position in this list.
pub(crate) const FATES: [Fate; 5] =
    [Fate::Kept, Fate::Rewound, Fate::Cancelled, Fate::Compressed, Fate::Replaced];

/// The tag of a message that is an error.
pub(crate) const ERROR_TAG: &str = "is:error";

impl Field {
    /// Returns the field's number in the index.
    pub(crate) fn handle(self) -> Handle {
        Handle::from_field_id(self as u32)
    }
}

/// Returns the tag for messages of a kind.
pub(crate) fn kind_tag(kind: MessageKind) -> String {
    format!("kind:{kind}")
}

/// Returns the tag for messages of a fate.
pub(crate) fn fate_tag(fate: Fate) -> String {
    format!("fate:{fate}")
}

/// Returns the schema; fields are numbered in the order in which they are added.
pub(crate) fn schema() -> Schema {
    let mut builder = Schema::builder();
    for field in Field::ALL {
        let (tokenizer, record) = if field.has_positions() {
            (TOKENIZER, IndexRecordOption::WithFreqsAndPositions)
        } else {
            (NEIGHBOURS, IndexRecordOption::WithFreqs)
        };
        let options = TextOptions::default().set_indexing_options(indexed(tokenizer, record));
        builder.add_text_field(field.name(), options);
    }
    let tag = indexed(RAW, IndexRecordOption::Basic).set_fieldnorms(false);
    builder.add_text_field("tag", TextOptions::default().set_indexing_options(tag));
    for (name, handle) in COLUMNS {
        if handle == TIME {
            builder.add_i64_field(name, FAST);
        } else if handle == SESSION || handle == MESSAGE {
            builder.add_u64_field(name, NumericOptions::default().set_fast().set_indexed());
        } else {
            builder.add_u64_field(name, FAST);
        }
    }
    builder.add_u64_field("marks", FAST);
    builder.build()
}

fn indexed(tokenizer: &str, record: IndexRecordOption) -> TextFieldIndexing {
    TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(record)
}

/// Returns the tokenizers that the schema names.
pub(crate) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default(); // has `raw`, and what the engine wants for numbers
    manager.register(TOKENIZER, WordTokenizer::with_positions());
    manager.register(NEIGHBOURS, WordTokenizer::with_neighbours());
    manager
}

/// Encodes kind, fate, and whether the session's title is included as one number.
pub(super) fn marks(kind: MessageKind, fate: Fate, has_title: bool) -> u64 {
    let place = |at: Option<usize>| at.unwrap_or(0) as u64;
    let kind = place(KINDS.iter().position(|&one| one == kind));
    let fate = place(FATES.iter().position(|&one| one == fate));
    let all = (KINDS.len() * FATES.len()) as u64;
    u64::from(has_title) * all + kind * FATES.len() as u64 + fate
}

/// Decodes the number of [`marks`].
pub(crate) fn unmarked(marks: u64) -> (MessageKind, Fate, bool) {
    let marks = usize::try_from(marks).unwrap_or(0);
    let all = KINDS.len() * FATES.len();
    let (has_title, marks) = (marks >= all, marks % all);
    let kind = KINDS.get(marks / FATES.len()).copied().unwrap_or(MessageKind::Notice);
    let fate = FATES.get(marks % FATES.len()).copied().unwrap_or_default();
    (kind, fate, has_title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_the_numbers_that_the_code_says() {
        let schema = schema();
        for field in Field::ALL {
            assert_eq!(schema.get_field(field.name()).unwrap(), field.handle());
        }
        for (name, handle) in COLUMNS.into_iter().chain([("tag", TAG), ("marks", MARKS)]) {
            assert_eq!(schema.get_field(name).unwrap(), handle, "{name}");
        }
    }

    #[test]
    fn marks_round_trip() {
        for kind in KINDS {
            for fate in FATES {
                for title in [false, true] {
                    assert_eq!(unmarked(marks(kind, fate, title)), (kind, fate, title));
                }
            }
        }
    }
}
