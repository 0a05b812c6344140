//! Where was it said: words to messages, ranked, with the spot shown.
//!
//! This room knows words, not files. A message comes in as a [`Document`]; what goes on disk are its
//! words and where it stands, never its text. A question comes in as text ([`SearchQuery::parse`]), becomes a
//! [`QueryPlan`] once the caller has told which sessions a project or source means, and is answered by a
//! [`Searcher`]. Where the index cannot be sure (a phrase in tool output, a regex), the hit says so and
//! the caller asks [`QueryPlan::holds`] with the message itself; the same function answers without an index.
//!
//! In the order of flow: `token` (text to words), `neighbours` (which words stand next to each other), `index`
//! (words to disk and back, ranking), `query` (what may be asked), `plan` (the question on the index, on texts,
//! and its snippet).

#![warn(clippy::indexing_slicing, clippy::string_slice)]
#![cfg_attr(
    test,
    expect(clippy::indexing_slicing, clippy::string_slice, reason = "a test may fail by panic")
)]

mod document;
mod error;
mod index;
mod neighbours;
mod plan;
mod query;
mod token;

pub use document::{Document, Field, MessageTexts};
pub use error::Error;
pub use index::{Drafts, Found, Hit, HitOrder, Index, Overlay, SearchOptions, Searcher, Writer};
pub use plan::{Prefilter, QueryPlan, Rows, Snippet};
pub use query::{QueryError, SearchQuery, SessionLeaf};
pub use token::BARRIER;
