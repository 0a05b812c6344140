//! Messages as typed blocks: what a view draws, independent of how it looks.
//!
//! [`blocks`] turns one [`Message`](recount_model::Message) into a list of [`Block`]s. Markdown is parsed here and nowhere
//! else; [`highlight()`] splits code into classified tokens, [`DiffBlock`] a patch into numbered lines. The terminal, HTML
//! pages and programs that read JSON all draw the same blocks, so they agree on the content of a message.
//!
//! Blocks borrow from their message: most text is never copied, and output that a view folds away costs nothing. Only one
//! message is in memory at a time. Code and diffs keep their text and are split when they are drawn or serialized.
//!
//! All text in blocks is raw. Session text is untrusted, so every view escapes it when drawing: the
//! terminal in its `Span`, pages in their `HtmlWriter`, a web page as text nodes. Time and memory
//! are linear in the text, nesting is bounded ([`DEEPEST`]), and no input panics.

#![warn(clippy::indexing_slicing, clippy::string_slice)]

mod block;
mod call;
mod code;
mod diff;
mod find;
mod gap;
mod highlight;
mod languages;
mod level;
mod markdown;
mod message;
mod prose;
#[cfg(test)]
mod tests;

pub use block::Block;
pub use call::{CallBlock, CallOutput};
pub use code::{CodeBlock, path_language};
pub use diff::{DiffBlock, DiffLine, DiffLineKind};
pub use find::{contains_text, finds, is_query};
pub use gap::{Gap, rough_duration};
pub use highlight::{Token, TokenClass, highlight};
pub use level::Level;
pub use markdown::{DEEPEST, LONGEST, markdown};
pub use message::{BlockOptions, Body, blocks};
pub use prose::{Alignment, Inline, ListItem, Prose, TableCell};
