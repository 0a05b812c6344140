//! What can keep a home from being made.

use std::{io, path::PathBuf};

/// Why a home was not made, or not finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder asked for has something in it already; nothing was written.
    #[error("the folder {} is not empty", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The folder asked for could not be looked into; nothing was written.
    #[error("cannot read the folder {}", path.display())]
    ReadFolder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file or folder of the home could not be written.
    #[error("cannot write the home")]
    Write(#[from] recount_writer::Error),
}
