//! Full-text search: from words to ranked messages, with snippets.
//!
//! This crate knows words, not files. A message is added as a [`Document`]; its words and its location are stored on disk,
//! never its text. A query is text ([`SearchQuery::parse`]), becomes a [`QueryPlan`] once the caller has resolved the
//! sessions of a project or source, and is run by a [`Searcher`]. Where the index is not certain (a phrase in tool output,
//! a regex), the hit is marked and the caller calls [`QueryPlan::holds`] with the message itself; the same function works
//! without an index.
//!
//! In the order of flow: `token` (text to words), `neighbours` (adjacent words), `index` (words on disk, ranking), `query`
//! (the query language), `question` (sentences), `plan` (a query on the index and on texts, and its snippet).

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
mod question;
mod token;

pub use document::{Document, Field, MessageTexts};
pub use error::Error;
pub use index::{Drafts, Found, Hit, HitOrder, Index, Overlay, SearchOptions, Searcher, Writer};
pub use plan::{Prefilter, QueryPlan, Relaxation, Rows, Snippet};
pub use query::{QueryError, SearchQuery, SessionLeaf};
pub use token::BARRIER;
