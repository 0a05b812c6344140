//! Facts that only Gemini CLI's own rules need: how its list and its cleanup see a file.
//!
//! Stored with the outline as [`SourceState`], so that nothing else needs to know these facts.

use jiff::tz::TimeZone;
use recount_model::{SessionId, SourceState};
use serde::{Deserialize, Serialize};

use super::js_date::JsTime;
use crate::outline::Outline;

/// How Gemini CLI's own list and cleanup see one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GeminiState {
    /// For the list.
    pub(crate) listing: AgentListing,
    /// For the cleanup.
    pub(crate) retention: RetentionFacts,
}

impl GeminiState {
    /// Decodes the state of a file; one that cannot be decoded is empty.
    pub(crate) fn of(outline: &Outline) -> Self {
        Self::decode(&outline.state).unwrap_or_default()
    }

    /// Decodes a stored state.
    pub(crate) fn decode(state: &SourceState) -> Option<Self> {
        postcard::from_bytes(state.as_bytes()).ok()
    }

    /// Encodes the state.
    pub(crate) fn encode(&self) -> SourceState {
        SourceState::new(postcard::to_allocvec(self).unwrap_or_default())
    }
}

/// A stored state of which only the part for the cleanup is used: the texts of [`AgentListing`] before it are not copied.
#[derive(Deserialize)]
struct RetentionState<'a> {
    #[serde(borrow)]
    _listing: [Option<&'a str>; 4],
    retention: RetentionFacts,
}

impl RetentionFacts {
    /// Decodes a stored state.
    pub(crate) fn decode(state: &[u8]) -> Option<Self> {
        Some(postcard::from_bytes::<RetentionState<'_>>(state).ok()?.retention)
    }
}

/// How the agent's list sees a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentListing {
    /// The start of the first user message as used by the list.
    pub(crate) first_user: Option<String>,
    /// The start of the first user message of any kind.
    pub(crate) first_any: Option<String>,
    /// The first user message that is not a command, flattened as older releases do it.
    pub(crate) first_flat: Option<String>,
    /// The title in the newest releases' list, if the messages are no longer available.
    pub(crate) newest: Option<String>,
}

/// How the agent's cleanup sees a file, for all releases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that some release checks")]
pub(crate) struct RetentionFacts {
    /// The session's id, as the agent's loader finds it.
    pub(crate) id: Option<SessionId>,
    /// The id at the very start of the file, where a cleanup looks for it; not always the same.
    pub(crate) first_id: Option<SessionId>,
    /// When the session began.
    pub(crate) started: RecordedTime,
    /// When it was last written.
    pub(crate) updated: RecordedTime,
    /// Whether the loader accepts the file.
    pub(crate) loadable: bool,
    /// Whether it is marked as a sub-agent's.
    pub(crate) subagent: bool,
    /// Whether the file is one JSON object.
    pub(crate) is_document: bool,
    /// Whether that has a list of messages.
    pub(crate) has_messages: bool,
    /// Whether it has a message of a human or a model.
    pub(crate) spoken: bool,
    /// The same for a loader that reads lines only, and no checkpoints.
    pub(crate) spoken_in_lines: bool,
    /// The same for one that reads only the last checkpoint, if there is one.
    pub(crate) spoken_in_list: bool,
    /// Whether there is anything to resume.
    pub(crate) resumable: bool,
}

/// A recorded time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RecordedTime {
    /// None is recorded.
    #[default]
    Nothing,
    /// Something is recorded that is not a time.
    Unclear,
    /// This time.
    Said(JsTime),
}

impl RecordedTime {
    /// Returns the time in milliseconds, if there is one.
    pub(crate) fn millis(self) -> Option<i64> {
        match self {
            Self::Said(JsTime::At(millis)) => Some(millis),
            Self::Said(time) => time.millis(&TimeZone::system()),
            Self::Nothing | Self::Unclear => None,
        }
    }
}

/// What only the reader of one grammar knows about a file, for [`RetentionFacts`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    pub(crate) first_id: Option<SessionId>,
    pub(crate) is_document: bool,
    pub(crate) has_messages: bool,
}
