//! Why a change cannot be planned or made.

use std::path::{Path, PathBuf};

use recount_engine::Error as Unanswered;

use crate::Reason;

/// Why a change cannot be planned or made. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What must be known for it cannot be found out.
    #[error(transparent)]
    Engine(#[from] Unanswered),
    /// What would be written does not say what is there, so it is not offered.
    #[error("{}: the rewritten file would not have the same content", path.display())]
    NotTheSame {
        /// The file.
        path: PathBuf,
    },
    /// The agent itself cannot load the file, so what it would see cannot be kept.
    #[error("{}: the agent cannot load it as it is", path.display())]
    NotLoadable {
        /// The file.
        path: PathBuf,
    },
    /// A session has no such turn.
    #[error("no turn '{wanted}': the agent loads {turns}")]
    NoTurn {
        /// What was asked for.
        wanted: String,
        /// How many there are.
        turns: usize,
    },
    /// Nothing of a session would be left.
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
    /// No agent that deletes sessions by itself was found.
    #[error("no agent found that deletes sessions by itself")]
    NoAgent,
    /// What was asked for would do harm, or cannot be done to this.
    #[error(transparent)]
    Declined(#[from] Reason),
    /// No message that stands is called this.
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
    /// Something could not be written, or was refused for safety.
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

    pub(crate) fn unreadable(path: &Path, source: std::io::Error) -> Self {
        Unanswered::Unreadable { path: path.to_owned(), source }.into()
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
}
