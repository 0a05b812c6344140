//! Tests of the readers on recorded homes.
#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

mod claude;
mod codex;
mod corpus;
mod live;
mod live_memory;
mod live_rows;
mod named_folders;
mod streams;
