//! Terminal output: text made safe, styled, wrapped and laid out.
//!
//! Session text is untrusted. The only way from a `&str` to the terminal is [`Span`](span::Span), and a span cannot be
//! built without [`sanitize`](sanitize::sanitize). A renderer takes text and a [`Canvas`](canvas::Canvas) and returns whole
//! lines, none wider than the canvas; if [`Paint`](canvas::Paint) is off no escape byte is among them. Nothing here reads a
//! file, the environment or the clock.

pub(crate) mod bar;
pub(crate) mod canvas;
pub(crate) mod code;
pub(crate) mod columns;
pub(crate) mod diff;
pub(crate) mod form;
pub(crate) mod grid;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod moment;
pub(crate) mod number;
pub(crate) mod plain;
pub(crate) mod progress;
pub(crate) mod project_names;
pub(crate) mod row;
pub(crate) mod sanitize;
pub(crate) mod span;
pub(crate) mod theme;
pub(crate) mod transcript;
pub(crate) mod width;
pub(crate) mod wrap;

#[cfg(test)]
mod tests;
