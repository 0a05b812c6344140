//! Why a change is declined: it would do harm, or cannot be made to this.

use std::path::PathBuf;

use recount_model::{RecordedPath, SessionId, SourceName};

/// Why a change is declined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A chat that was saved on its own is no session.
    #[error("a saved chat cannot be {done}: it is not a session")]
    SavedChat {
        /// What was to be done to it.
        done: Deed,
    },
    /// A sub-agent goes with the session that ran it.
    #[error("{} is a sub-agent, which cannot be {done} on its own: it belongs to the session{} that ran it", session.prefix(), spaced(parent.as_ref()))]
    Subagent {
        /// The sub-agent.
        session: SessionId,
        /// The session that ran it.
        parent: Option<SessionId>,
        /// What was to be done to it.
        done: Deed,
    },
    /// A file of a session is also needed for another one.
    #[error("a file of {session} also holds, or is the start of, session {other}")]
    SharedFile {
        /// The session.
        session: SessionId,
        /// The other one.
        other: SessionId,
    },
    /// No agent is called this.
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
        done: Deed,
    },
    /// Sessions of this agent cannot be written.
    #[error("sessions of {0} cannot be written")]
    NotWritable(SourceName),
    /// The titles of this agent cannot be set.
    #[error("the titles of {0} cannot be set")]
    NoTitles(SourceName),
    /// The agent cannot load the session, and so shows no title of it.
    #[error("the agent cannot load {}, so it would not show a title", .0.short())]
    NoTitleShown(SessionId),
    /// All names beside a file are taken.
    #[error("there is no free file name next to {}", .0.display())]
    NoFreeName(PathBuf),
    /// Nobody knows which folder a project is.
    #[error("the folder of '{0}' is not known: give its path")]
    UnknownFolder(String),
    /// The folder that sessions should go to is not there.
    #[error("{} does not exist: sessions can only be moved to existing folders", .0.display())]
    MissingFolder(PathBuf),
    /// The path of a folder is not text, and so cannot be written down.
    #[error("the name of {} is not text", .0.display())]
    NotText(PathBuf),
    /// A folder has perhaps become another.
    #[error("{old} may have moved to {new}, but that is not certain: give the new folder")]
    UnsureFolder {
        /// The folder that is gone.
        old: RecordedPath,
        /// What it has perhaps become.
        new: String,
    },
    /// Nobody knows what a folder has become.
    #[error("the new folder of {0} is not known: give it as the second argument")]
    LostFolder(RecordedPath),
    /// The agent's own record of projects stands in the way, in the words of its source.
    #[error("{0}")]
    Agent(String),
    /// Nothing was said in a session.
    #[error("{} has no messages", .0.short())]
    NothingSaid(SessionId),
    /// The session does not say which folder it belongs to.
    #[error("{} records no folder, as old releases of its agent did not, so it cannot be moved", .0.short())]
    NoFolderRecorded(SessionId),
    /// The start of an id may be that of several messages.
    #[error("'{0}' matches several messages")]
    ManyMessages(String),
    /// One session cannot be merged.
    #[error("merge needs at least two sessions")]
    OneSession,
    /// Sessions of two agents cannot be merged.
    #[error("{} and {} are of different agents", .0.short(), .1.short())]
    DifferentAgents(SessionId, SessionId),
}

/// What was to be done to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// To take it to another project.
    Move,
    /// To give it a title.
    Rename,
    /// To begin a new one like it.
    Fork,
    /// To make it one with others.
    Merge,
    /// To remove turns from it.
    Trim,
    /// To drop what it repeats.
    Compact,
    /// To write it in another format.
    Convert,
    /// To make it loadable again.
    Repair,
    /// To write it again from what is left.
    Rebuild,
}

impl Deed {
    /// Returns why it cannot be done where an agent's files are not rewritten.
    fn why_not(self) -> &'static str {
        match self {
            Self::Convert => "their agent has only one format",
            Self::Rebuild => "their agent keeps no other record of its answers",
            _ => "recount does not rewrite their files",
        }
    }
}

impl std::fmt::Display for Deed {
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
        })
    }
}

fn spaced(id: Option<&SessionId>) -> String {
    id.map(|id| format!(" {}", id.prefix())).unwrap_or_default()
}
