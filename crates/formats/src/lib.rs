//! Bytes to sessions; pure and read-only, one folder per source.
//!
//! A file is read once, from front to back, through a reused [`bytes::Buffer`] into a [`source::Reader`]. The result is an
//! [`outline::Outline`]: the messages, the location of each version, which of them the agent's own loader would show, the
//! fate of the others, and the problems. An outline has no text.
//!
//! [`Source::group_sessions`] then groups the files of one session, each with its role, and [`Source::message`] reads one
//! message in full from its location on demand.
//!
//! For a source whose sessions are not read yet only [`Source::known_folders`] is used: the folders it was used in.
//!
//! ```
//! use recount_formats::reader;
//! use recount_model::Grammar;
//!
//! let log = br#"{"sessionId":"s","projectHash":"h"}
//! {"id":"1","type":"user","content":"hello"}
//! "#;
//! let mut reader = reader(Grammar::Jsonl, "session.jsonl");
//! let used = reader.feed(log);
//! reader.finish(&log[used..]);
//! assert_eq!(reader.outline().strict.len(), 1);
//! ```
#![warn(clippy::indexing_slicing, clippy::string_slice, clippy::wildcard_enum_match_arm)]
#![cfg_attr(test, expect(clippy::indexing_slicing, reason = "a test may fail by panic"))]

pub mod bytes;
pub mod claude;
pub mod codex;
pub mod edit;
mod folder;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;
pub mod gemini;
mod grouping;
pub mod handover;
pub mod hook;
mod id_index;
pub mod integration;
pub mod json;
pub mod live;
mod named_folders;
mod names;
pub mod native;
pub mod orphan;
pub mod outline;
pub mod recovery;
pub mod retention;
pub mod rewrite;
pub mod source;
mod sqlite;
pub mod stream;

use std::sync::Arc;

use recount_model::Grammar;

pub use edit::Editor;
pub use folder::on_two_cores;
pub use handover::HandoverFormat;
pub use live::LiveSource;
pub use native::NativeFormat;
pub use retention::RetentionPolicy;
pub use rewrite::Rewriter;
pub use source::{SOURCES, Source, Sources};
pub use stream::StreamFormat;

/// Returns a reader for the bytes of a session file in `grammar`, to be fed incrementally.
pub fn reader(grammar: Grammar, file: &str) -> Box<dyn source::Reader> {
    gemini::reader(grammar, &Arc::from(file))
}
