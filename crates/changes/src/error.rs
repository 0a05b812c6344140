//! Why a change cannot be planned or made.

use std::path::{Path, PathBuf};

use recount_engine::Error as Unanswered;

use crate::Reason;

/// Why a change cannot be planned or made. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something needed for it could not be determined.
    #[error(transparent)]
    Engine(#[from] Unanswered),
    /// The new content would differ in meaning from the old one, so it is not offered.
    #[error("{}: the rewritten file would not have the same content", path.display())]
    NotTheSame {
        /// The file.
        path: PathBuf,
    },
    /// A session that was handed over is not read back as it was.
    #[error("the new session differs from message {message} of the old one on")]
    NotHandedOver {
        /// The number of the message.
        message: u64,
    },
    /// The agent itself cannot load the file, so its view cannot be preserved.
    #[error("{}: the agent cannot load it as it is", path.display())]
    NotLoadable {
        /// The file.
        path: PathBuf,
    },
    /// A session has no such turn.
    #[error("no turn '{wanted}': the agent loads {turns}")]
    NoTurn {
        /// The requested turn.
        wanted: String,
        /// The number of turns.
        turns: usize,
    },
    /// The session would be empty.
    #[error("no turns would remain")]
    NothingLeft,
    /// An agent's settings cannot be changed.
    #[error("cannot parse {}: {why}", path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        why: recount_formats::retention::Unfit,
    },
    /// An agent's settings are valid, but not in a form that is edited.
    #[error("cannot change {}: {why}", path.display())]
    OtherForm {
        /// The file.
        path: PathBuf,
        /// What is in the way.
        why: recount_formats::retention::Unfit,
    },
    /// No agent that recount can be added to was found.
    #[error("no agent found")]
    NoAgentHere,
    /// A file that recount did not write is in the way.
    #[error("{} is there already, and recount did not write it", path.display())]
    OtherFile {
        /// The file.
        path: PathBuf,
    },
    /// A setting that recount did not write is in the way.
    #[error("{}: {what} is set already, and not by recount", path.display())]
    OtherEntry {
        /// The file.
        path: PathBuf,
        /// The setting.
        what: String,
    },
    /// No agent that deletes sessions by itself was found.
    #[error("no agent found that deletes sessions by itself")]
    NoAgent,
    /// The request would do harm, or is not possible for this session.
    #[error(transparent)]
    Declined(#[from] Reason),
    /// No message of the strict view has this id.
    #[error("no message '{0}' in this session")]
    NoMessage(String),
    /// No session in the trash has this id.
    #[error("no session '{0}' in the trash")]
    NotInTrash(String),
    /// No session in the trash or in the vault has this id.
    #[error("no session '{0}' in the trash or in the vault")]
    NotKept(String),
    /// There is nothing in the trash.
    #[error("the trash is empty")]
    EmptyTrash,
    /// A write failed, or was refused for safety.
    #[error(transparent)]
    Write(#[from] recount_writer::Error),
}

impl Error {
    pub(crate) fn no_session(wanted: &str) -> Self {
        Unanswered::NoSession(wanted.to_owned()).into()
    }

    pub(crate) fn no_project(wanted: &str) -> Self {
        Unanswered::NoProject(wanted.to_owned()).into()
    }

    pub(crate) fn not_a_session(wanted: &str) -> Self {
        Unanswered::NotASession(wanted.into()).into()
    }

    /// Whether a written session differs from what was planned, and should be undone.
    pub fn is_mismatch(&self) -> bool {
        matches!(self, Self::NotHandedOver { .. })
    }

    pub(crate) fn unreadable(path: &Path, source: std::io::Error) -> Self {
        Unanswered::Unreadable { path: path.to_owned(), source }.into()
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
}
