//! What can go wrong with an index.

use std::path::PathBuf;

use tantivy::TantivyError;

/// Why the index could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder cannot be read or written.
    #[error("cannot open the search index in {}", folder.display())]
    Open {
        /// Where the index should be.
        folder: PathBuf,
        /// What the index engine said.
        source: Box<TantivyError>,
    },
    /// The index is damaged, or of another version: it has to be built again.
    #[error("the search index in {} cannot be used: {reason}", folder.display())]
    Stale {
        /// Where the index is.
        folder: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Somebody else is writing; what was committed before can be searched.
    #[error("another process is writing the search index in {}", folder.display())]
    Busy {
        /// Where the index is.
        folder: PathBuf,
    },
    /// Messages could not be added.
    #[error("cannot write the search index in {}", folder.display())]
    Write {
        /// Where the index is.
        folder: PathBuf,
        /// What the index engine said.
        source: Box<TantivyError>,
    },
    /// A file of the index is not what was written: it has to be built again.
    #[error("the search index is damaged")]
    Damaged,
    /// A search failed in the middle.
    #[error("cannot search the index")]
    Search(#[source] Box<TantivyError>),
}

impl Error {
    /// Whether the index has to be built again.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Stale { .. } | Self::Damaged | Self::Search(_))
    }
}
