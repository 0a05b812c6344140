//! What can go wrong with the cache. None of it may stop anybody: it can be made again.

use rusqlite::ErrorCode;

/// Why the cache cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is none of ours, or damaged: it may be removed.
    #[error("the catalog is damaged")]
    Damaged(#[source] rusqlite::Error),
    /// A row is not what was written.
    #[error("a row of the catalog is damaged")]
    Broken,
    /// Another run is writing for longer than we wait.
    #[error("the catalog is in use")]
    Busy(#[source] rusqlite::Error),
    /// Anything else: no permission, no space.
    #[error("the catalog cannot be used")]
    Other(#[source] rusqlite::Error),
}

impl Error {
    /// Whether the file may be removed, as what it holds cannot be believed.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_) | Self::Broken)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            // What we ask is right, so tables that do not understand it are not ours.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown) => {
                Self::Damaged(error)
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(error),
            _ => Self::Other(error),
        }
    }
}
