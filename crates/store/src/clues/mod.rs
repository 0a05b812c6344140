//! Other sources of folder names on this machine: shell histories and repositories.
//!
//! A clue only suggests a candidate; the hash decides whether a candidate is a project's folder. So a clue may be stale or
//! wrong, and missing or damaged files suggest nothing.

pub(crate) mod git;
pub(crate) mod history;
mod lexical;
mod words;
pub(crate) mod zoxide;
