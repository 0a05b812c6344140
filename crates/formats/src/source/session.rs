//! Files that were read, and the sessions that they form.

use std::sync::Arc;

use recount_model::{FileRole, SessionId, SessionKind, SourceState};

use super::FileAt;
use crate::outline::{FileSummary, Outline};

/// A file that was read.
#[derive(Clone, Debug)]
pub struct ScannedFile<O = Outline> {
    /// The number of its project directory.
    pub folder: usize,
    /// Whether that directory's name is the readable, newer kind.
    pub named_folder: bool,
    /// Whether other sessions are in the same file.
    pub is_shared: bool,
    /// The file.
    pub at: Arc<FileAt>,
    /// What is in it.
    pub outline: O,
}

/// A file that was read, without its messages.
pub type ListedFile = ScannedFile<FileSummary>;

impl ScannedFile {
    /// Returns it without its messages, with the given state.
    pub fn listed(&self, state: SourceState) -> ListedFile {
        ScannedFile {
            folder: self.folder,
            named_folder: self.named_folder,
            is_shared: self.is_shared,
            at: Arc::clone(&self.at),
            outline: self.outline.summary(state),
        }
    }
}

/// The files of one session.
#[derive(Clone, Debug)]
pub struct SessionFiles {
    /// The session's id.
    pub id: SessionId,
    /// Whether another session started it.
    pub kind: SessionKind,
    /// That session.
    pub parent: Option<SessionId>,
    /// Its files, in the order of the conversation.
    pub files: Vec<SessionFile>,
}

/// One file of a session.
#[derive(Clone, Debug)]
pub struct SessionFile {
    /// Its role in the session.
    pub role: FileRole,
    /// Whether the conversation was compressed at its end.
    pub compressed: bool,
    /// Whether the agent loads it before the main one.
    pub is_loaded: bool,
    /// The file.
    pub file: ScannedFile,
}

/// A row of the agent's own list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRow {
    /// The session.
    pub id: SessionId,
    /// The title as the agent prints it.
    pub title: String,
}
