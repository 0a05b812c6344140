//! Tests of what is found in text, what is kept, and what always holds.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

mod contexts;
mod kinds;
mod lookalikes;
mod ordinary;
mod planted;
mod properties;
mod rules;
mod support;
mod table;
