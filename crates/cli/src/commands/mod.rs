//! One file per command: its arguments, its help, what it does.

mod change;
pub(crate) mod completions;
pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod guard;
pub(crate) mod help_markdown;
pub(crate) mod history;
pub(crate) mod index;
pub(crate) mod list;
pub(crate) mod man;
mod picked;
pub(crate) mod prices;
pub(crate) mod projects;
mod redacted;
pub(crate) mod restore;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod sql;
pub(crate) mod stats;
pub(crate) mod story;
pub(crate) mod testbed;
pub(crate) mod trash;
pub(crate) mod undo;
pub(crate) mod vault;
