//! JSON as agents write it: scanned, not built.
//!
//! [`Scanner`] scans JSON text, validates it as strictly as JavaScript's `JSON.parse`, and returns slices of it. Nothing is
//! allocated and nothing recurses, so a tool result of ten megabytes costs one pass and a million nested brackets cost a
//! few bits each. [`JsonTree`] is for small parts that are needed as a value.

mod blocks;
pub(crate) mod comments;
pub mod edit;
mod fields;
mod members;
mod scanner;
mod text;
mod tree;

pub(crate) use fields::Fields;
pub(crate) use members::Members;
pub use scanner::{JsonScan, ScanError, Scanner};
pub use text::Text;
pub use tree::{JsonTree, compact, compact_bytes};

/// Removes white space at both ends as JavaScript's `trim` does: byte order marks count, U+0085 does not.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Removes white space at the start, by the same rule.
pub fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

#[cfg(test)]
mod tests;
