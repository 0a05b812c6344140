//! Orphaned files in an agent's folders.

use std::path::PathBuf;

/// An orphaned file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// Its path.
    pub path: PathBuf,
    /// What it is.
    pub what: OrphanKind,
}

/// Kinds of orphans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrphanKind {
    /// It belongs to a deleted session.
    Orphan {
        /// What it is, for people.
        what: &'static str,
    },
    /// Something that was written or renamed and never removed.
    Leftover,
    /// A lock that nobody holds.
    StaleLock,
    /// A directory of an unknown project.
    NoMarker,
    /// The agent's record of a directory is inconsistent.
    Contradiction {
        /// A description.
        text: String,
        /// Whether it is about the marker of the directory's project.
        is_marker: bool,
    },
}
