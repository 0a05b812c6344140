//! Why a change is not made, although it could be.

use std::path::PathBuf;

/// A change that was refused for safety. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Somebody is working in a session of the plan.
    #[error("session {session} is in use by process {process}")]
    Live {
        /// The session.
        session: String,
        /// The number of the process.
        process: u32,
    },
    /// A file is not what it was when the plan was made.
    #[error("{} has changed since it was read", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Something lies where a new file is to be.
    #[error("{} is there already", path.display())]
    Occupied {
        /// What lies there.
        path: PathBuf,
    },
    /// A file lies outside of the folders that may be changed.
    #[error("{} is outside the agents' folders", path.display())]
    Outside {
        /// The file.
        path: PathBuf,
    },
    /// A link, a folder or a device where a file should be.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// What it is.
        path: PathBuf,
    },
    /// A path that cannot be written down in the journal.
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
        /// What the change takes.
        needed: u64,
        /// What there is.
        free: u64,
    },
    /// Our data folder lies where runs cannot take turns.
    #[error("{} is on a file system without locks", path.display())]
    NoTurns {
        /// Our data folder.
        path: PathBuf,
    },
    /// A change has been undone already, or was never made.
    #[error("change {id} cannot be undone: {why}")]
    NotUndoable {
        /// The receipt.
        id: String,
        /// Why not.
        why: Spent,
    },
}

/// Why a change cannot be undone any more, or not yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Spent {
    /// What was kept to undo it was removed.
    #[error("its undo data was removed")]
    Emptied,
    /// It failed, and was taken back then.
    #[error("it failed and was rolled back")]
    TakenBack,
    /// It has not ended.
    #[error("it is not finished")]
    NotEnded,
    /// It was undone already.
    #[error("none of it is in effect any more")]
    Undone,
}
