//! What else on this machine names folders: where the shell has been, and what belongs to one repository.
//!
//! A clue only offers a candidate; whether a candidate is a project's folder is decided by its hash. So a clue may be stale or
//! wrong, and what is missing or damaged offers nothing.

pub(crate) mod git;
pub(crate) mod history;
mod lexical;
mod words;
pub(crate) mod zoxide;
