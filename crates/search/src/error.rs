//! Errors of an index.

use std::path::PathBuf;

use tantivy::TantivyError;

/// Why the index could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder cannot be read or written.
    #[error("cannot open the search index in {}", folder.display())]
    Open {
        /// The folder of the index.
        folder: PathBuf,
        /// The cause.
        source: Box<TantivyError>,
    },
    /// The index is damaged, or of another version: it has to be rebuilt.
    #[error("the search index in {} cannot be used: {reason}", folder.display())]
    Stale {
        /// The folder of the index.
        folder: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Another process is writing; earlier commits can be searched.
    #[error("another process is writing the search index in {}", folder.display())]
    Busy {
        /// The folder of the index.
        folder: PathBuf,
    },
    /// Messages could not be added.
    #[error("cannot write the search index in {}", folder.display())]
    Write {
        /// The folder of the index.
        folder: PathBuf,
        /// The cause.
        source: Box<TantivyError>,
    },
    /// A file of the index has a wrong checksum: it has to be rebuilt.
    #[error("the search index is damaged")]
    Damaged,
    /// A search failed.
    #[error("cannot search the index")]
    Search(#[source] Box<TantivyError>),
}

impl Error {
    /// Whether the index has to be rebuilt.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Stale { .. } | Self::Damaged | Self::Search(_))
    }
}
