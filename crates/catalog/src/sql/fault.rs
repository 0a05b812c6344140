//! Why a statement has no answer.

use rusqlite::ErrorCode;

use crate::Error;

/// Why a statement has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqlError {
    /// There is none.
    #[error("no statement given")]
    Nothing,
    /// There are several.
    #[error("only one statement is allowed")]
    Several,
    /// It would change something, or reach outside.
    #[error("{0} is refused: statements may only read")]
    Refused(String),
    /// It is not understood.
    #[error("{what}")]
    Mistake {
        /// What is wrong.
        what: String,
        /// Where, as a byte of the statement.
        offset: Option<usize>,
    },
    /// The visitor wants no more.
    #[error(transparent)]
    Stopped(#[from] std::io::Error),
    /// The fact file cannot be used.
    #[error(transparent)]
    File(#[from] Error),
}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::MultipleStatement => Self::Several,
            rusqlite::Error::SqlInputError { msg, offset, .. } => {
                Self::Mistake { what: msg, offset: usize::try_from(offset).ok() }
            }
            rusqlite::Error::SqliteFailure(code, message) if is_ours(code.code) => {
                File(rusqlite::Error::SqliteFailure(code, message)).into()
            }
            rusqlite::Error::SqliteFailure(code, message) => {
                Self::Mistake { what: message.unwrap_or_else(|| code.to_string()), offset: None }
            }
            other => File(other).into(),
        }
    }
}

/// An error of the file rather than of the statement.
struct File(rusqlite::Error);

impl From<File> for SqlError {
    fn from(File(error): File) -> Self {
        Self::File(error.into())
    }
}

fn is_ours(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::CannotOpen
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::PermissionDenied
    )
}
