//! Exports sessions as files: one renderer per format, fed message by message.
//!
//! A [`Renderer`] receives a session, then each message, and writes immediately: only the current message is in memory.
//! [`Format`] is the list of formats, [`names`] finds file names that are safe on every file system. Nothing here opens a
//! file; the caller provides the output.
//!
//! Tables for other programs ([`parquet`]) are written row by row instead, by the caller that knows their columns.
//!
//! Session text is untrusted. [`text`] makes control characters visible, and each format escapes text so that it is not
//! read as structure: a fence, a heading, a formula, the end of a string.

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
