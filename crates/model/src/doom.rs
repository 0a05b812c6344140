//! What an agent deletes by itself: how its clean-up sees a file, and what it takes away for which reason.

use serde::{Deserialize, Serialize};

use crate::SessionId;

/// How an agent's own clean-up sees one file of a session, whatever its release asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that some release asks for")]
pub struct Sight {
    /// The session's id, as the agent's loader finds it.
    pub id: Option<SessionId>,
    /// The id at the very start of the file, where a clean-up looks for it; not always the same.
    pub first_id: Option<SessionId>,
    /// When the session began.
    pub started: Said,
    /// When it was last written.
    pub updated: Said,
    /// Whether the loader accepts the file.
    pub loadable: bool,
    /// Whether it says it is a sub-agent's.
    pub subagent: bool,
    /// Whether the file is one JSON object.
    pub is_document: bool,
    /// Whether that has a list of messages.
    pub has_messages: bool,
    /// Whether somebody speaks in it.
    pub spoken: bool,
    /// The same for a loader that reads lines only, and no checkpoints.
    pub spoken_in_lines: bool,
    /// The same for one that looks at the last checkpoint alone, if there is one.
    pub spoken_in_list: bool,
    /// Whether there is anything to go on with.
    pub resumable: bool,
}

/// A time, as far as a file says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    /// It does not.
    #[default]
    Nothing,
    /// It says something that is no time.
    Unclear,
    /// In milliseconds.
    At(i64),
}

impl Said {
    /// Returns the time, if there is one.
    pub fn millis(self) -> Option<i64> {
        if let Self::At(millis) = self { Some(millis) } else { None }
    }
}

/// A file that an agent's next start would delete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Doom {
    /// The file.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Why it goes.
    pub why: Why,
    /// The file that it goes with.
    pub with: Option<String>,
    /// Why that one goes.
    pub with_why: Option<Why>,
    /// The session it belongs to, of a file that is not a session's own.
    pub session: Option<SessionId>,
}

/// Why an agent deletes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
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
    /// Nothing is said in it that could be gone on with.
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

impl Why {
    /// Whether the agent takes it away as a matter of course: nobody needs to be warned.
    pub fn is_routine(self) -> bool {
        self == Self::EveryStart
    }
}
