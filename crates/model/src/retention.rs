//! What an agent deletes by itself, and for which reason.

use serde::Serialize;

use crate::SessionId;

/// A file that an agent's next start would delete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingDeletion {
    /// The file.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Whether it is a link: what it leads to stays.
    pub is_link: bool,
    /// Why it goes.
    pub why: DeletionReason,
    /// The file that it goes with.
    pub with: Option<String>,
    /// Why that one goes.
    pub with_why: Option<DeletionReason>,
    /// The session it belongs to, of a file that is not a session's own.
    pub session: Option<SessionId>,
}

/// Why an agent deletes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeletionReason {
    /// Its session was last used too long ago.
    Age,
    /// There are more sessions than may be kept.
    Count,
    /// The agent cannot load it.
    Unreadable,
    /// It does not say when it was written.
    NoTimes,
    /// Left over by a resume: nothing is said in it, and another file has the conversation.
    Stub,
    /// It contains no message that could be continued.
    NothingSaid,
    /// It says it is a sub-agent's, and lies where main sessions do.
    Subagent,
    /// Its name ends like that of a file that goes.
    SameName,
    /// It belongs to a session that goes.
    Beside,
    /// An output of a tool that was written too long ago.
    OutputAge,
    /// There are more outputs of tools than may be kept.
    OutputCount,
    /// It goes at every start.
    EveryStart,
}

impl DeletionReason {
    /// Whether the agent takes it away as a matter of course: nobody needs to be warned.
    pub fn is_routine(self) -> bool {
        self == Self::EveryStart
    }
}
