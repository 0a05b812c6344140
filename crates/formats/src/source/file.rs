//! A session file, seen from the outside.

use std::fs::Metadata;
use std::path::PathBuf;

use recount_files::FileStatus;
use recount_model::SessionId;
use serde::{Deserialize, Serialize};

/// How certain a source is that a file is its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recognition {
    /// It is not.
    #[default]
    No,
    /// It may have a conversation in a format that the source supports.
    Possible,
    /// It is a session file of the source.
    Certain,
}

/// What the path of a file shows about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The project directory that it is in.
    pub project_folder: Option<PathBuf>,
    /// Its role there.
    pub placement: FilePlacement,
}

/// A session file, not yet read.
#[derive(Clone, Debug)]
pub struct FileAt {
    /// Its path.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Whether it is a link to a file.
    pub is_link: bool,
    /// When it was last written, in milliseconds.
    pub modified: Option<i64>,
    /// Changes when its content does.
    pub stamp: Stamp,
    /// What its location shows about it.
    pub placement: FilePlacement,
    /// Files of one session share it; files of different sessions may.
    pub group: String,
}

/// Changes when a file's content does, as far as the system reports it without reading the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Its size.
    pub bytes: u64,
    /// When it was last written, in nanoseconds.
    pub nanos: i128,
    /// Its inode number.
    pub inode: u64,
    /// When its content, its permissions or its owner last changed, in nanoseconds: it cannot be set back. A file that
    /// becomes unreadable keeps its other times.
    #[serde(default)]
    pub changed: i128,
}

impl Stamp {
    /// Returns the stamp from a file's metadata.
    pub fn of(metadata: &Metadata) -> Self {
        Self::at(&FileStatus::of(metadata))
    }

    /// Returns the stamp from what a file looks like.
    pub fn at(status: &FileStatus) -> Self {
        Self {
            bytes: status.bytes,
            nanos: status.modified.unwrap_or_default(),
            inode: status.inode,
            changed: status.changed,
        }
    }
}

/// Returns when a file was last written, in milliseconds.
pub fn modified(metadata: &Metadata) -> Option<i64> {
    modified_at(&FileStatus::of(metadata))
}

/// Returns the same from what a file looks like.
pub(crate) fn modified_at(status: &FileStatus) -> Option<i64> {
    i64::try_from(status.modified? / 1_000_000).ok()
}

/// What the location of a file shows about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePlacement {
    /// In the folder of main sessions.
    Main,
    /// In the folder of the session that ran it.
    SubagentOf(SessionId),
    /// A file that the agent renamed.
    Leftover,
}
