//! A session as a file that others can read: one renderer per format, fed message by message.
//!
//! A [`Renderer`] is told of a session, then of each message, and writes as it goes: nothing but the message at hand is
//! in memory. [`Format`] is the list of formats, [`names`] finds file names that are safe on every file system. Nothing
//! here opens a file; who calls says where the bytes go.
//!
//! Tables for other programs ([`parquet`]) are told row by row instead, by who knows their columns.
//!
//! Session text is untrusted. [`text`] makes control characters visible, and each format keeps text from being taken for
//! its own structure: a fence, a heading, a formula, the end of a string.

#![warn(clippy::indexing_slicing, clippy::string_slice)]

pub mod csv;
mod html;
pub mod json;
mod markdown;
pub mod media;
pub mod names;
mod options;
pub mod parquet;
mod plain;
mod renderer;
mod tables;
#[cfg(test)]
mod tests;
pub mod text;
mod words;

pub use html::{report, site};
pub use options::{ExportOptions, ExportTable, Format, LinkPolicy, Links};
pub use recount_blocks::Level;
pub use renderer::{Renderer, TranscriptPart};
