//! Messages: text, author and fate.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{MessageId, Problem, Span, Tokens, What};

/// One message of a session.
#[derive(Clone, Debug, Serialize)]
pub struct Message {
    /// Its id; missing in some damaged or foreign files.
    pub id: Option<MessageId>,
    /// What it is.
    pub kind: MessageKind,
    /// Its fate.
    pub fate: Fate,
    /// Its time.
    pub time: Option<Timestamp>,
    /// The whole text that was sent.
    pub text: String,
    /// What the human typed, or what the agent would show.
    pub display_text: String,
    /// Files whose content was attached.
    pub files: Vec<AttachedFile>,
    /// Images and other binary parts.
    pub media: Vec<Media>,
    /// The model's thoughts.
    pub thoughts: Vec<Thought>,
    /// The tool calls.
    pub tool_calls: Vec<ToolCall>,
    /// What the request used.
    pub tokens: Option<Tokens>,
    /// The model that answered.
    pub model: Option<String>,
    /// The severity of a notice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<NoticeLevel>,
    /// The problems found in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<What>,
    /// Its location on disk.
    #[serde(rename = "where")]
    pub place: RecordLocation,
}

impl Message {
    /// Returns an empty message at `place`.
    pub fn at(place: RecordLocation, kind: MessageKind, fate: Fate) -> Self {
        Self {
            id: None,
            kind,
            fate,
            time: None,
            text: String::new(),
            display_text: String::new(),
            files: Vec::new(),
            media: Vec::new(),
            thoughts: Vec::new(),
            tool_calls: Vec::new(),
            tokens: None,
            model: None,
            level: None,
            problems: Vec::new(),
            place,
        }
    }

    /// Returns its problems with its location.
    pub fn located_problems(&self) -> impl Iterator<Item = Problem> {
        let RecordLocation { file, line, offset, bytes, .. } = self.place.clone();
        self.problems.iter().map(move |&what| Problem {
            file: Arc::clone(&file),
            span: Some(Span { line, offset, bytes }),
            what,
            done: "the rest of the message is shown".into(),
        })
    }
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageKind {
    /// What a human typed.
    Prompt,
    /// The model's answer, with its thoughts and tool calls.
    Answer,
    /// Context that the agent added in front: date, folders, editor state.
    Context,
    /// Output of a hook.
    Hook,
    /// The result of a tool, sent back to the model.
    ToolResult,
    /// A shell command that the human ran from within the agent.
    Shell,
    /// Information, a warning or an error shown to the human.
    Notice,
    /// The summary that took the place of a compressed conversation.
    Summary,
    /// An automatic "please continue".
    Nudge,
}

impl fmt::Display for MessageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Context => "context",
            Self::Hook => "hook",
            Self::ToolResult => "tool-result",
            Self::Shell => "shell",
            Self::Notice => "notice",
            Self::Summary => "summary",
            Self::Nudge => "nudge",
        })
    }
}

/// The fate of a message.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// The agent's own loader shows it.
    #[default]
    Kept,
    /// Undone by a rewind.
    Rewound,
    /// Withdrawn because the request failed or was cancelled.
    Cancelled,
    /// Replaced by a summary.
    Compressed,
    /// Dropped when the agent rewrote its list.
    Replaced,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Kept => "kept",
            Self::Rewound => "rewound",
            Self::Cancelled => "cancelled",
            Self::Compressed => "compressed",
            Self::Replaced => "replaced",
        })
    }
}

/// The severity of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeLevel {
    /// Information.
    Info,
    /// A warning.
    Warning,
    /// An error.
    Error,
}

/// A file whose content was attached to a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttachedFile {
    /// The path as written in the message.
    pub path: String,
    /// How many bytes of text were sent.
    pub bytes: u64,
    /// The text that was sent; part of `text`, so not repeated in JSON.
    #[serde(skip)]
    pub content: String,
}

/// A binary part: an image, a sound, a file by address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Media {
    /// Its MIME type.
    pub mime: String,
    /// Its size in bytes, when the data is in the message.
    pub bytes: u64,
    /// Where the data is; not in JSON because of its size.
    #[serde(skip)]
    pub held: MediaData,
}

/// Where the data of a binary part is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MediaData {
    /// Not in the message, or withheld.
    #[default]
    Elsewhere,
    /// In the message, as base64.
    Base64(String),
    /// In a file of this name, beside the one that is being written.
    Beside(String),
}

/// One thought of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Thought {
    /// The heading.
    pub subject: String,
    /// The thought itself.
    pub description: String,
    /// Its time.
    pub time: Option<Timestamp>,
}

/// One call of a tool.
#[derive(Clone, Debug, Serialize)]
pub struct ToolCall {
    /// The call's id.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The name shown to people.
    pub display_name: Option<String>,
    /// The invocation's own description.
    pub description: Option<String>,
    /// The arguments, as written in the file.
    pub args: RawJson,
    /// The most informative argument: a command, a path, a pattern.
    pub key_arg: Option<String>,
    /// How it ended.
    pub status: ToolStatus,
    /// When it was recorded.
    pub time: Option<Timestamp>,
    /// The output that it returned.
    pub output: Option<String>,
    /// Whether `output` is the whole output.
    pub output_state: OutputState,
    /// The result as the agent displayed it, as text.
    pub display: Option<String>,
    /// The change it made, as a unified diff.
    pub diff: Option<String>,
    /// The sub-agent that it ran.
    pub agent_id: Option<String>,
    /// Images and other binary parts that it returned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Media>,
}

impl ToolCall {
    /// Returns a call of which only the name is known.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            id: None,
            name: name.into(),
            display_name: None,
            description: None,
            args: RawJson::default(),
            key_arg: None,
            status: ToolStatus::Other(String::new()),
            time: None,
            output: None,
            output_state: OutputState::Whole,
            display: None,
            diff: None,
            agent_id: None,
            media: Vec::new(),
        }
    }
}

/// How a tool call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolStatus {
    /// It worked.
    Success,
    /// It failed or was refused.
    Error,
    /// The human stopped it.
    Cancelled,
    /// Another status, as written in the file.
    Other(String),
}

impl ToolStatus {
    /// Returns the status as written in the file.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
            Self::Other(word) => word,
        }
    }
}

impl Serialize for ToolStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_str() {
            "" => serializer.serialize_none(),
            word => serializer.serialize_str(word),
        }
    }
}

/// Whether a tool's output is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputState {
    /// As the tool returned it.
    #[default]
    Whole,
    /// The record was cut or masked; the full text was found elsewhere and inserted.
    Recovered,
    /// Cut to its head and tail; the rest is lost.
    Truncated,
    /// Replaced by a preview; the original is lost.
    Masked,
}

/// JSON kept as text, exactly as in the file except for white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawJson(Box<str>);

impl RawJson {
    /// Wraps text that is valid JSON.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for RawJson {
    fn default() -> Self {
        Self("null".into())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_str::<&RawValue>(&self.0) {
            Ok(raw) if !is_deep(&self.0) => raw.serialize(serializer),
            // Text that another parser refuses is still shown, as a string.
            _ => serializer.serialize_str(&self.0),
        }
    }
}

/// Nesting depth that every parser accepts, with a margin for the enclosing values.
const DEEPEST: usize = 100;

/// Whether JSON is nested deeper than other programs can read.
fn is_deep(json: &str) -> bool {
    let (mut depth, mut is_text, mut is_escaped) = (0usize, false, false);
    // A shorter text cannot have this many brackets.
    if json.len() <= 2 * DEEPEST {
        return false;
    }
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => {
                depth += 1;
                if depth > DEEPEST {
                    return true;
                }
            }
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Where a message is on disk. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordLocation {
    /// The file.
    pub file: Arc<str>,
    /// The line on which the message begins.
    pub line: u32,
    /// Its first byte.
    pub offset: u64,
    /// Its length in bytes; for a message in pieces, the first piece.
    pub bytes: u64,
    /// The other pieces of a message that was recorded in several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<Span>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_that_is_too_deep_for_others_is_written_as_text() {
        let nested =
            |depth: usize| RawJson::new(format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
        let written = |json: &RawJson| serde_json::to_string(json).unwrap();
        assert_eq!(written(&nested(100)), nested(100).as_str());
        assert_eq!(written(&nested(101)), format!("\"{}\"", nested(101).as_str()));
        let text = RawJson::new(format!("[\"\\\"{}\"]", "[".repeat(1000)));
        assert_eq!(written(&text), text.as_str());
    }
}
