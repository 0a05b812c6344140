//! Whole sessions: moved, renamed, copied, made into one, deleted and brought back.

mod delete;
mod edition;
pub(crate) mod fork;
pub(crate) mod merge;
mod move_files;
mod moving;
pub(crate) mod prune;
mod refolder;
mod relocate;
mod rename;
mod restore;
pub(crate) mod select;
pub(crate) mod steps;
