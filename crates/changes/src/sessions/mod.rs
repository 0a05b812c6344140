//! Whole sessions: moved, renamed, copied, made into one, deleted and brought back.

mod carry;
mod delete;
mod edition;
pub(crate) mod fork;
pub(crate) mod merge;
mod moving;
pub(crate) mod prune;
mod relocate;
mod rename;
mod restore;
pub(crate) mod select;
pub(crate) mod steps;
