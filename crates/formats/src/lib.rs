//! Bytes to sessions.
#![warn(clippy::indexing_slicing, clippy::string_slice, clippy::wildcard_enum_match_arm)]
#![cfg_attr(test, expect(clippy::indexing_slicing, reason = "a test may fail by panic"))]

pub mod bytes;
pub mod fuzz;
pub mod gemini;
pub mod json;
pub mod outline;
pub mod source;

pub use source::{SOURCES, Source};
