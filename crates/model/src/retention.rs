//! What an agent deletes by itself, and why.

use serde::Serialize;

use crate::SessionId;

/// A file that an agent's next start would delete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingDeletion {
    /// The file.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Whether it is a link: its target is kept.
    pub is_link: bool,
    /// Why it is deleted.
    pub why: DeletionReason,
    /// The file that it is deleted together with.
    pub with: Option<String>,
    /// Why that file is deleted.
    pub with_why: Option<DeletionReason>,
    /// The session it belongs to, for a file that is not a session's own.
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
    /// It does not record when it was written.
    NoTimes,
    /// Left over by a resume: it has no conversation, and another file has it.
    Stub,
    /// It contains no message that could be continued.
    NothingSaid,
    /// It is marked as a sub-agent's, but is in the folder of main sessions.
    Subagent,
    /// Its name ends like that of a file that is deleted.
    SameName,
    /// It belongs to a session that is deleted.
    Beside,
    /// A tool output that was written too long ago.
    OutputAge,
    /// There are more tool outputs than may be kept.
    OutputCount,
    /// It is deleted at every start.
    EveryStart,
}

impl DeletionReason {
    /// Whether the deletion is routine: nobody needs to be warned.
    pub fn is_routine(self) -> bool {
        self == Self::EveryStart
    }
}
