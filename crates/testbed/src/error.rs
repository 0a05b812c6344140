//! Errors while creating a home.

use std::{io, path::PathBuf};

/// Why a home was not created, or not completely.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The requested folder is not empty; nothing was written.
    #[error("the folder {} is not empty", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The requested folder could not be read; nothing was written.
    #[error("cannot read the folder {}", path.display())]
    ReadFolder {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file or folder of the home could not be written.
    #[error("cannot write the home")]
    Write(#[from] recount_writer::Error),
}
