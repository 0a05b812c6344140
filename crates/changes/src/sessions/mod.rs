//! Changes to whole sessions: move, rename, fork, merge, delete and restore.

mod change_recorded_folder;
mod delete;
mod edition;
pub(crate) mod fork;
pub(crate) mod merge;
pub(crate) mod move_files;
pub(crate) mod moving;
pub(crate) mod prune;
mod relocate;
pub(crate) mod rename;
mod restore;
mod running;
pub(crate) mod select;
pub(crate) mod steps;
