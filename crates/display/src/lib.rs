//! How sessions look in a terminal: text made safe, styled, wrapped and laid out, and the wording of notices.
//!
//! Session text is untrusted. The only way from a `&str` to the terminal is [`StyledSpan`](span::StyledSpan), and a span cannot be
//! built without [`sanitize`](sanitize::sanitize). A renderer takes text and a [`Canvas`](canvas::Canvas) and returns whole
//! lines, none wider than the canvas; if [`Paint`](canvas::Paint) is off no escape byte is among them. Nothing here reads a
//! file, the environment or the clock.

pub mod bar;
pub mod canvas;
pub mod code;
pub mod columns;
pub mod diff;
pub mod evidence;
pub mod explain;
pub mod form;
pub mod grid;
pub mod live;
pub mod markdown;
pub mod number;
pub mod plain;
pub mod plan;
pub mod project_names;
pub mod sanitize;
pub mod span;
pub mod theme;
pub mod transcript;
pub mod usage;
pub mod when;
pub mod width;
pub mod words;
pub mod wrap;

#[cfg(test)]
mod tests;
