//! Why a change is declined: it would do harm, or is not possible here.

use std::path::PathBuf;

use recount_model::{RecordedPath, SessionId, SourceName};

/// Why a change is declined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A saved chat is not a session.
    #[error("a saved chat cannot be {done}: it is not a session")]
    SavedChat {
        /// The requested operation.
        done: Operation,
    },
    /// A sub-agent is changed together with the session that ran it.
    #[error("{} is a sub-agent, which cannot be {done} on its own: it belongs to the session{} that ran it", session.prefix(), spaced(parent.as_ref()))]
    Subagent {
        /// The sub-agent.
        session: SessionId,
        /// The session that ran it.
        parent: Option<SessionId>,
        /// The requested operation.
        done: Operation,
    },
    /// A file of a session is also needed by another one.
    #[error("a file of {session} also holds, or is the start of, session {other}")]
    SharedFile {
        /// The session.
        session: SessionId,
        /// The other one.
        other: SessionId,
    },
    /// There is no agent with this name.
    #[error("unknown agent {0}")]
    UnknownAgent(SourceName),
    /// Sessions of this agent cannot be changed.
    #[error("sessions of {0} cannot be changed")]
    NotChangeable(SourceName),
    /// Files of this agent's sessions are not rewritten.
    #[error("sessions of {source_name} cannot be {done}: {}", done.why_not())]
    NotRewritten {
        /// The agent.
        source_name: SourceName,
        /// What was to be done to a session.
        done: Operation,
    },
    /// Sessions of this agent cannot be written.
    #[error("sessions of {0} cannot be written")]
    NotWritable(SourceName),
    /// The session is of the agent that it is handed over to.
    #[error("it is a session of {0} already; `recount fork` starts a new session from it")]
    SameAgent(SourceName),
    /// An agent has no data folder, so it was never used here.
    #[error("no data folder of {0} was found: start it once, or give its home with --home")]
    NoAgentFolder(&'static str),
    /// The titles of this agent cannot be set.
    #[error("the titles of {0} cannot be set")]
    NoTitles(SourceName),
    /// The agent cannot load the session, and so shows no title of it.
    #[error("the agent cannot load {}, so it would not show a title", .0.short())]
    NoTitleShown(SessionId),
    /// All names beside a file are in use.
    #[error("there is no free file name next to {}", .0.display())]
    NoFreeName(PathBuf),
    /// The folder of a project is unknown.
    #[error("the folder of '{0}' is not known: give its path")]
    UnknownFolder(String),
    /// The destination folder does not exist.
    #[error("{} does not exist: sessions can only be moved to existing folders", .0.display())]
    MissingFolder(PathBuf),
    /// The folder in which a session would be continued does not exist.
    #[error("{} does not exist: give an existing folder with --project", .0.display())]
    NoProjectFolder(PathBuf),
    /// The path of a file or a folder is not Unicode, and so cannot be recorded.
    #[error("the name of {} is not valid UTF-8: rename it first", .0.display())]
    NotText(PathBuf),
    /// A folder has possibly moved.
    #[error("{old} may have moved to {new}, but that is not certain: give the new folder")]
    UnsureFolder {
        /// The old folder.
        old: RecordedPath,
        /// The possible new folder.
        new: String,
    },
    /// The new location of a folder is unknown.
    #[error("the new folder of {0} is not known: give it as the second argument")]
    LostFolder(RecordedPath),
    /// The agent's own record of projects prevents it, as described by its source.
    #[error("{0}")]
    Agent(String),
    /// A session has no conversation.
    #[error("{} has no messages", .0.short())]
    NothingSaid(SessionId),
    /// The session does not record its folder.
    #[error("{} records no folder, as old releases of its agent did not, so it cannot be moved", .0.short())]
    NoFolderRecorded(SessionId),
    /// The start of an id matches several messages.
    #[error("'{0}' matches several messages")]
    ManyMessages(String),
    /// One session cannot be merged.
    #[error("merge needs at least two sessions")]
    OneSession,
    /// Sessions of two agents cannot be merged.
    #[error("{} and {} are of different agents", .0.short(), .1.short())]
    DifferentAgents(SessionId, SessionId),
}

/// An operation on a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Move it to another project.
    Move,
    /// Give it a title.
    Rename,
    /// Start a new one like it.
    Fork,
    /// Merge it with others.
    Merge,
    /// Remove turns from it.
    Trim,
    /// Drop repetitions.
    Compact,
    /// Write it in another format.
    Convert,
    /// Repair it.
    Repair,
    /// Rebuild it from what is left.
    Rebuild,
    /// Write it as a session of another agent.
    HandOver,
}

impl Operation {
    /// Returns why it cannot be done where an agent's files are not rewritten.
    fn why_not(self) -> &'static str {
        match self {
            Self::Convert => "their agent has only one format",
            Self::Rebuild => "their agent keeps no other record of its answers",
            _ => "recount does not rewrite their files",
        }
    }
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Move => "moved",
            Self::Rename => "renamed",
            Self::Fork => "forked",
            Self::Merge => "merged",
            Self::Trim => "trimmed",
            Self::Compact => "compacted",
            Self::Convert => "converted",
            Self::Repair => "repaired",
            Self::Rebuild => "rebuilt",
            Self::HandOver => "handed over",
        })
    }
}

fn spaced(id: Option<&SessionId>) -> String {
    id.map(|id| format!(" {}", id.prefix())).unwrap_or_default()
}
