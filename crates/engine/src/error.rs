//! Errors of a whole query. Errors of one record are a `Problem`.

use std::path::PathBuf;

use recount_model::{SessionFacts, SessionId, SourceName};

use crate::sessions::resume::Unresumable;

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The query was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A home could not be read.
    #[error(transparent)]
    Home(#[from] recount_store::Error),
    /// A recording cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// No session has this id.
    #[error("no session matches '{0}'")]
    NoSession(String),
    /// The given release of an agent is invalid.
    #[error("'{0}' is not a release")]
    NotARelease(String),
    /// There are no sessions.
    #[error("no sessions found")]
    NoSessions,
    /// More than one session has an id with this prefix.
    #[error("'{wanted}' matches {} sessions", candidates.len())]
    Ambiguous {
        /// The argument.
        wanted: String,
        /// The candidates.
        candidates: Vec<SessionFacts>,
    },
    /// An id prefix is too short.
    #[error("'{0}' is too short: give at least 4 characters of the session's id")]
    TooShort(String),
    /// There is no such row in the last list.
    #[error("the last list has no row {0}")]
    NoRow(String),
    /// There is no such file.
    #[error("no such file: {0}")]
    NoFile(PathBuf),
    /// The file exists but cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file has no known conversation.
    #[error("not a session: {0}")]
    NotASession(PathBuf),
    /// A text that should be a cite is none.
    #[error("'{0}' is not a cite: cites look like r1:279d2ba9:14:646744+4457:9f3c")]
    NotACite(String),
    /// A quote has no words.
    #[error("the quote is empty")]
    EmptyQuote,
    /// No project matches.
    #[error("no project matches '{0}'")]
    NoProject(String),
    /// No project matches, but some have a similar name.
    #[error("no project matches '{wanted}'")]
    SimilarProjects {
        /// The argument.
        wanted: String,
        /// Names or paths of the similar ones, closest first.
        similar: Vec<String>,
    },
    /// More than one project matches.
    #[error("'{wanted}' matches {} projects", candidates.len())]
    AmbiguousProject {
        /// The argument.
        wanted: String,
        /// Names or paths of the candidates.
        candidates: Vec<String>,
    },
    /// A file that the user may edit is invalid.
    #[error("{}: {message}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The message, with its line.
        message: String,
    },
    /// The report of another tool is invalid.
    #[error("{}: not a report by day in JSON", .0.display())]
    NotAReport(PathBuf),
    /// A query is invalid.
    #[error("{what}")]
    Query {
        /// The query with carets under the position.
        pointed: String,
        /// What is wrong.
        what: String,
        /// A valid query of that kind.
        example: &'static str,
    },
    /// An SQL statement is invalid.
    #[error("{what}")]
    Sql {
        /// What is wrong.
        what: String,
        /// Its line with carets under the position.
        pointed: Option<String>,
        /// Suggestions.
        hints: Vec<String>,
    },
    /// An SQL statement would do more than read.
    #[error("{0} is refused: statements may only read")]
    SqlRefused(String),
    /// The receiver of an answer failed.
    #[error(transparent)]
    Output(std::io::Error),
    /// The search index cannot be used.
    #[error(transparent)]
    Index(#[from] recount_search::Error),
    /// The catalog cannot be used.
    #[error(transparent)]
    Catalog(#[from] recount_catalog::Error),
    /// A redaction rule of the user cannot be used.
    #[error("{0}")]
    Redaction(String),
    /// There is no data folder.
    #[error("no data folder: HOME is not set")]
    NoDataFolder,
    /// The data folder cannot be used.
    #[error("cannot keep anything in {}", folder.display())]
    DataFolder {
        /// recount's data folder.
        folder: PathBuf,
        /// The cause.
        source: recount_catalog::Error,
    },
    /// A session cannot be written in the native format of another agent.
    #[error("session {} belongs to {agent}: it cannot be written in the native format of {form}", id.short())]
    OtherForm {
        /// The session.
        id: SessionId,
        /// Its agent.
        agent: SourceName,
        /// The agent of the format.
        form: SourceName,
    },
    /// The given folder is something else.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The destination is among an agent's own files.
    #[error("{} is an agent's own folder: nothing is written there", .0.display())]
    AgentsFolder(PathBuf),
    /// A saved chat cannot have labels.
    #[error("a saved chat is not a session: only sessions have tags and pins")]
    SavedChat,
    /// A session cannot be resumed.
    #[error("session {id} cannot be resumed: {why}")]
    NotResumable {
        /// The start of the session's id.
        id: String,
        /// The reason.
        why: Unresumable,
    },
    /// A write failed, or was refused for safety.
    #[error(transparent)]
    Write(#[from] recount_writer::Error),
}

impl Error {
    /// Whether there is no folder for data.
    pub(crate) fn is_homeless(&self) -> bool {
        matches!(self, Self::NoDataFolder | Self::DataFolder { .. } | Self::Write(_))
            && !self.is_busy()
    }

    /// Returns the message with all causes.
    pub fn full_message(&self) -> String {
        let mut story = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(inner) = cause {
            story = format!("{story}: {inner}");
            cause = inner.source();
        }
        story
    }

    /// Whether another run is writing.
    pub fn is_busy(&self) -> bool {
        matches!(
            self,
            Self::Index(recount_search::Error::Busy { .. })
                | Self::Catalog(recount_catalog::Error::Busy(_))
                | Self::DataFolder { source: recount_catalog::Error::Busy(_), .. }
        )
    }
}
