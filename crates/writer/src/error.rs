//! Errors while bytes are being changed.

use std::{io, path::PathBuf};

use crate::change::Refusal;

/// A change on disk that did not happen, and the operation that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A folder, or one of its parents, could not be created.
    #[error("cannot create the folder {}", path.display())]
    CreateFolder {
        /// The requested folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file could not be opened for writing.
    #[error("cannot create the file {}", path.display())]
    CreateFile {
        /// The requested file, or the temporary one beside it.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A new file was requested where something already exists; it was left alone.
    #[error("{} exists already and was not overwritten", path.display())]
    AlreadyExists {
        /// Its path.
        path: PathBuf,
    },
    /// The path has no file name, so nothing can be written there.
    #[error("{} does not name a file", path.display())]
    NotAFile {
        /// The path that was given.
        path: PathBuf,
    },
    /// The bytes could not all be written.
    #[error("cannot write to {}", path.display())]
    WriteFile {
        /// The file being written.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The bytes were written, but could not be synced.
    #[error("cannot sync {}", path.display())]
    SyncFile {
        /// The file being synced.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The permissions of the old file could not be copied to the new one.
    #[error("cannot set the permissions of {}", path.display())]
    SetPermissions {
        /// The file being prepared.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The modification time could not be set.
    #[error("cannot set the time of {}", path.display())]
    SetTime {
        /// The file that was written.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The new file could not replace the old one, which is untouched.
    #[error("cannot replace {}", path.display())]
    ReplaceFile {
        /// The file to be replaced.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file to be changed could not be read, and is untouched.
    #[error("cannot read {}", path.display())]
    ReadFile {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file could not be removed.
    #[error("cannot remove {}", path.display())]
    RemoveFile {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Another run holds the lock for too long.
    #[error("{} is locked by another recount process", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The new bytes are in place, but a power cut might still bring the old ones back.
    #[error("cannot sync the folder {}", path.display())]
    SyncFolder {
        /// The folder being synced.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A change of users' data was refused for safety; nothing was changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A file that was just written has other content when it is read back.
    #[error("{} does not contain what was written to it", path.display())]
    NotAsWritten {
        /// The file.
        path: PathBuf,
    },
    /// A change could neither be finished nor rolled back completely; the next run tries again.
    #[error("change {id} is not finished; the next change completes it")]
    Unfinished {
        /// Its receipt.
        id: String,
        /// The first error.
        source: Box<Self>,
    },
    /// No change has this receipt.
    #[error("no change '{0}'")]
    NoReceipt(String),
    /// Several changes have receipts that begin like this.
    #[error("'{0}' matches several changes")]
    ManyReceipts(String),
    /// There is no change that could be undone.
    #[error("there is nothing to undo")]
    NothingToUndo,
}

impl Error {
    /// Returns the message with all causes.
    pub(crate) fn full_message(&self) -> String {
        let mut story = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(inner) = cause {
            story = format!("{story}: {inner}");
            cause = inner.source();
        }
        story
    }
}
