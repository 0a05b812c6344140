//! Orphaned files in an agent's folders.

use std::path::PathBuf;

/// An orphaned file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// Where it lies.
    pub path: PathBuf,
    /// What it is.
    pub what: OrphanKind,
}

/// Kinds of orphans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrphanKind {
    /// It belongs to a session that is gone.
    Orphan {
        /// What it is, for people.
        what: &'static str,
    },
    /// Something that was written or put aside and never cleared away.
    Leftover,
    /// A lock that nobody holds any more.
    StaleLock,
    /// A directory of a project that does not say which.
    NoMarker,
    /// What the agent has on record of a directory does not fit.
    Contradiction {
        /// In words.
        text: String,
        /// Whether it is the marker that says which project a directory is.
        is_marker: bool,
    },
}
