//! What can go wrong as a whole. What goes wrong with one record is a `Problem`.

use std::path::PathBuf;

use recount_model::{SessionFacts, SessionId, SourceName};

use crate::sessions::resume::Unresumable;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nobody waits for the answer any more.
    #[error("cancelled")]
    Cancelled,
    /// A home could not be looked into.
    #[error(transparent)]
    Home(#[from] recount_store::Error),
    /// A recording cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// No session has this id.
    #[error("no session matches '{0}'")]
    NoSession(String),
    /// What should be a release of an agent is none.
    #[error("'{0}' is not a release")]
    NotARelease(String),
    /// No session at all.
    #[error("no sessions found")]
    NoSessions,
    /// More than one session has an id that begins like this.
    #[error("'{wanted}' matches {} sessions", candidates.len())]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// What it may be.
        candidates: Vec<SessionFacts>,
    },
    /// An id that begins like this is too short to be looked for.
    #[error("'{0}' is too short: give at least 4 characters of the session's id")]
    TooShort(String),
    /// There is no such row in the last list.
    #[error("the last list has no row {0}")]
    NoRow(String),
    /// There is no such file.
    #[error("no such file: {0}")]
    NoFile(PathBuf),
    /// The file is there but cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file holds no conversation that we know.
    #[error("not a session: {0}")]
    NotASession(PathBuf),
    /// No project is called this.
    #[error("no project matches '{0}'")]
    NoProject(String),
    /// More than one project may be meant.
    #[error("'{wanted}' matches {} projects", candidates.len())]
    AmbiguousProject {
        /// What was asked for.
        wanted: String,
        /// Names or paths of those it may be.
        candidates: Vec<String>,
    },
    /// A file that the user may edit is not understood.
    #[error("{}: {message}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its line.
        message: String,
    },
    /// What another tool counted is not understood.
    #[error("{}: not a report by day in JSON", .0.display())]
    NotAReport(PathBuf),
    /// A query is not understood.
    #[error("{what}")]
    Query {
        /// The query with carets under the spot.
        pointed: String,
        /// What is wrong.
        what: String,
        /// A query of that kind that works.
        example: &'static str,
    },
    /// A statement in SQL is not understood.
    #[error("{what}")]
    Sql {
        /// What is wrong.
        what: String,
        /// The line of it with carets under the spot.
        pointed: Option<String>,
        /// What was perhaps meant.
        hints: Vec<String>,
    },
    /// A statement in SQL would do more than read.
    #[error("{0} is refused: statements may only read")]
    SqlRefused(String),
    /// Whoever is told an answer cannot take it.
    #[error(transparent)]
    Output(std::io::Error),
    /// The search index cannot be used.
    #[error(transparent)]
    Index(#[from] recount_search::Error),
    /// The catalog cannot be used.
    #[error(transparent)]
    Catalog(#[from] recount_catalog::Error),
    /// A rule of the user's for what is taken out of exports cannot be used.
    #[error("{0}")]
    Redaction(String),
    /// Nothing can be kept.
    #[error("no data folder: HOME is not set")]
    NoDataFolder,
    /// Nothing can be kept where we want to.
    #[error("cannot keep anything in {}", folder.display())]
    DataFolder {
        /// Our data folder.
        folder: PathBuf,
        /// Why not.
        source: recount_catalog::Error,
    },
    /// A session cannot be written in the form of another agent.
    #[error("session {} belongs to {agent}: it cannot be written in the native format of {form}", id.short())]
    OtherForm {
        /// The session.
        id: SessionId,
        /// Whose it is.
        agent: SourceName,
        /// Whose form it is.
        form: SourceName,
    },
    /// What should be a folder is something else.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// Something was to be written among an agent's own files.
    #[error("{} is an agent's own folder: nothing is written there", .0.display())]
    AgentsFolder(PathBuf),
    /// Labels were to be put on a chat that was saved on its own.
    #[error("a saved chat is not a session: only sessions have tags and pins")]
    SavedChat,
    /// Nobody can go on with a session.
    #[error("session {id} cannot be resumed: {why}")]
    NotResumable {
        /// The start of the session's id.
        id: String,
        /// Why not.
        why: Unresumable,
    },
    /// Something could not be written, or was refused for safety.
    #[error(transparent)]
    Write(#[from] recount_writer::Error),
}

impl Error {
    /// Whether there is no place to keep anything in.
    pub(crate) fn is_homeless(&self) -> bool {
        matches!(self, Self::NoDataFolder | Self::DataFolder { .. } | Self::Write(_))
            && !self.is_busy()
    }

    /// Returns the whole story, causes included.
    pub fn full_message(&self) -> String {
        let mut story = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(inner) = cause {
            story = format!("{story}: {inner}");
            cause = inner.source();
        }
        story
    }

    /// Whether another run is at it.
    pub fn is_busy(&self) -> bool {
        matches!(
            self,
            Self::Index(recount_search::Error::Busy { .. })
                | Self::Catalog(recount_catalog::Error::Busy(_))
                | Self::DataFolder { source: recount_catalog::Error::Busy(_), .. }
        )
    }
}
