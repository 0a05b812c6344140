//! Why a change is refused although it would be possible.

use std::path::PathBuf;

/// A change that was refused for safety. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A process uses a session of the plan.
    #[error("session {session} is in use by process {process}")]
    Live {
        /// The session.
        session: String,
        /// The process id.
        process: u32,
    },
    /// A file has changed since the plan was made.
    #[error("{} has changed since it was read", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Something exists where a new file would be created.
    #[error("{} is there already", path.display())]
    Occupied {
        /// Its path.
        path: PathBuf,
    },
    /// A file is outside of the folders that may be changed.
    #[error("{} is outside the agents' folders", path.display())]
    Outside {
        /// The file.
        path: PathBuf,
    },
    /// A link, a folder or a device where a file should be.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// Its path.
        path: PathBuf,
    },
    /// A path that cannot be written to the journal.
    #[error("the name of {} is not text", path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
    /// The disk would be full.
    #[error("no space left in {}: {needed} bytes needed, {free} free", path.display())]
    NoRoom {
        /// A folder on that disk.
        path: PathBuf,
        /// The required space.
        needed: u64,
        /// The free space.
        free: u64,
    },
    /// recount's data folder is on a disk without locks.
    #[error("{} is on a file system without locks", path.display())]
    NoLocks {
        /// recount's data folder.
        path: PathBuf,
    },
    /// A change has already been undone, or was never made.
    #[error("change {id} cannot be undone: {why}")]
    NotUndoable {
        /// The receipt.
        id: String,
        /// The reason.
        why: NotUndoableReason,
    },
}

/// Why a change can no longer be undone, or not yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotUndoableReason {
    /// The copies for undo were deleted.
    #[error("its undo data was removed")]
    Emptied,
    /// It failed, and was rolled back then.
    #[error("it failed and was rolled back")]
    TakenBack,
    /// It has not finished.
    #[error("it is not finished")]
    NotEnded,
    /// It was already undone.
    #[error("none of it is in effect any more")]
    Undone,
}
