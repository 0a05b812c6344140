//! What can go wrong while bytes are being changed.

use std::{io, path::PathBuf};

use crate::change::Refusal;

/// A change on disk that did not happen, and what was being done at that moment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A folder, or one above it, could not be made.
    #[error("cannot create the folder {}", path.display())]
    CreateFolder {
        /// The folder that was asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be opened for writing.
    #[error("cannot create the file {}", path.display())]
    CreateFile {
        /// The file that was asked for, or the temporary one beside it.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A new file was asked for where something lies already; it was left alone.
    #[error("{} exists already and was not overwritten", path.display())]
    AlreadyExists {
        /// What lies there.
        path: PathBuf,
    },
    /// The path ends in no file name, so nothing can be put there.
    #[error("{} does not name a file", path.display())]
    NotAFile {
        /// The path that was given.
        path: PathBuf,
    },
    /// The bytes could not all be written.
    #[error("cannot write to {}", path.display())]
    WriteFile {
        /// The file being filled.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The bytes were handed over, but the system could not say that they are safe.
    #[error("cannot sync {}", path.display())]
    SyncFile {
        /// The file being flushed.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The permissions of the old file could not be given to the new one.
    #[error("cannot set the permissions of {}", path.display())]
    SetPermissions {
        /// The file being prepared.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The time of last change could not be set.
    #[error("cannot set the time of {}", path.display())]
    SetTime {
        /// The file that was written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The finished bytes could not take the place of the old file, which is untouched.
    #[error("cannot replace {}", path.display())]
    ReplaceFile {
        /// The file that was to be replaced.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What is to be changed could not be read, and is untouched.
    #[error("cannot read {}", path.display())]
    ReadFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be removed.
    #[error("cannot remove {}", path.display())]
    RemoveFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another run holds the file for longer than we wait.
    #[error("{} is locked by another recount process", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The new bytes are in place, but a power cut now might still bring the old ones back.
    #[error("cannot sync the folder {}", path.display())]
    SyncFolder {
        /// The folder being flushed.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A change of users' data was refused for safety; nothing was changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A file that was just written holds something else when it is read.
    #[error("{} does not contain what was written to it", path.display())]
    NotAsWritten {
        /// The file.
        path: PathBuf,
    },
    /// A change could neither be made nor taken back as a whole; the next run goes on with it.
    #[error("change {id} is not finished; the next change completes it")]
    Unfinished {
        /// Its receipt.
        id: String,
        /// What went wrong first.
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
    /// Returns the whole story, causes included.
    pub(crate) fn told(&self) -> String {
        let mut story = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(inner) = cause {
            story = format!("{story}: {inner}");
            cause = inner.source();
        }
        story
    }
}
