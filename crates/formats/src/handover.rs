//! Writes the conversation of one agent as a native session of another, from what recount read of it.
//!
//! Unlike [`NativeFormat`](crate::NativeFormat), which copies an agent's own records, nothing here comes from the other agent's bytes: no
//! signatures, no encrypted parts, no ids. Each agent maps its tools to [`ToolAction`]s and writes those of others with its own tools.

pub(crate) mod diff;

use std::fmt::Debug;

use jiff::Timestamp;
use recount_model::{AttachedFile, Media, MediaData, SessionId, ToolCall};
use serde_json::{Map, Value};

use crate::json::JsonTree;
use crate::stream::value;

/// Writes sessions from conversations of other agents.
pub trait HandoverFormat: Debug + Sync {
    /// Starts to write a session.
    fn writer<'a>(&self, session: &'a HandoverSession<'a>) -> Box<dyn HandoverWriter + 'a>;

    /// Returns what a call of this agent's own tools does; `None` if other agents have no tool for it.
    fn action(&self, call: &ToolCall) -> Option<ToolAction>;
}

/// Writes one session, message by message.
pub trait HandoverWriter {
    /// Appends what comes before the first message.
    fn begin(&mut self, out: &mut Vec<u8>);

    /// Appends a message, and returns what of it could not be written.
    fn message(&mut self, message: &HandoverMessage, out: &mut Vec<u8>) -> Unwritten;

    /// Appends what comes after the last message.
    fn end(&mut self, _out: &mut Vec<u8>) {}
}

/// What is known about a session that is written.
#[derive(Clone, Debug)]
pub struct HandoverSession<'a> {
    /// Its id.
    pub id: &'a SessionId,
    /// The folder of its project.
    pub folder: &'a str,
    /// The hash of that path, for agents that use one.
    pub project_hash: Option<&'a str>,
    /// Its title.
    pub title: Option<&'a str>,
    /// The time of its first message.
    pub started: Timestamp,
    /// The time of the hand-over.
    pub updated: Timestamp,
    /// A note for the model that says where the conversation comes from. It is not shown as a prompt.
    pub note: &'a str,
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoverRole {
    /// A human.
    User,
    /// The model.
    Model,
}

/// A message that is handed over.
#[derive(Clone, Debug)]
pub struct HandoverMessage {
    /// Who wrote it.
    pub role: HandoverRole,
    /// Its time.
    pub time: Timestamp,
    /// What was typed, or what the model answered.
    pub text: String,
    /// Files whose content was attached.
    pub files: Vec<AttachedFile>,
    /// Images and other binary parts.
    pub media: Vec<Media>,
    /// The model that answered.
    pub model: Option<String>,
    /// The tool calls of an answer, each with its result.
    pub calls: Vec<HandoverCall>,
}

/// A tool call with its result.
#[derive(Clone, Debug)]
pub struct HandoverCall {
    /// The tool's name at its agent.
    pub name: String,
    /// Its arguments there.
    pub args: Map<String, Value>,
    /// What it does; `None` if it is a tool that only its agent has.
    pub action: Option<ToolAction>,
    /// What it returned.
    pub output: String,
    /// Whether it failed, or was refused or stopped.
    pub is_error: bool,
    /// The change that it made, as a unified diff.
    pub diff: Option<String>,
    /// Images and other binary parts that it returned.
    pub media: Vec<Media>,
}

/// What a tool call does, in words that all agents share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolAction {
    /// Runs a command in a shell.
    Shell {
        /// The command.
        command: String,
        /// The folder to run it in.
        folder: Option<String>,
    },
    /// Reads a text file.
    Read {
        /// Its path.
        path: String,
        /// The first line, from 1.
        first: Option<u64>,
        /// The number of lines.
        lines: Option<u64>,
    },
    /// Writes a whole file.
    Write {
        /// Its path.
        path: String,
        /// Its new content.
        content: String,
    },
    /// Replaces text in a file.
    Edit {
        /// Its path.
        path: String,
        /// The old text.
        old: String,
        /// The new text.
        new: String,
        /// Whether every occurrence is replaced.
        all: bool,
    },
    /// Searches the content of files.
    SearchText {
        /// The regular expression.
        pattern: String,
        /// Where to search.
        path: Option<String>,
        /// Which files to search, as a glob.
        files: Option<String>,
    },
    /// Finds files by name.
    FindFiles {
        /// The glob.
        pattern: String,
        /// Where to search.
        path: Option<String>,
    },
    /// Lists a folder.
    ListFolder {
        /// Its path.
        path: String,
    },
    /// Reads a web page.
    FetchPage {
        /// Its address.
        url: String,
        /// What to find there.
        question: String,
    },
    /// Searches the web.
    SearchWeb {
        /// The query.
        query: String,
    },
    /// Writes the list of things to do.
    Tasks(Vec<HandoverTask>),
}

/// A thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoverTask {
    /// What is to be done.
    pub text: String,
    /// `pending`, `in_progress` or `completed`: the words that all agents use.
    pub status: &'static str,
}

impl HandoverTask {
    /// Reads tasks from a list of objects with their texts under `key`.
    pub(crate) fn list(args: &Map<String, Value>, list: &str, key: &str) -> Option<Vec<Self>> {
        let task = |task: &Value| {
            let status = match task.get("status")?.as_str()? {
                "completed" => "completed",
                "in_progress" => "in_progress",
                _ => "pending",
            };
            Some(Self { text: task.get(key)?.as_str()?.to_owned(), status })
        };
        args.get(list)?.as_array()?.iter().map(task).collect()
    }
}

/// What of a message could not be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unwritten {
    /// Tools that the agent does not have. Their calls are kept under their own names.
    pub tools: Vec<String>,
    /// Binary parts that the agent does not accept, or whose data is not in the session.
    pub media: u64,
}

/// The name of a tool as every service accepts it: letters, digits, `_` and `-`, at most 64.
pub(crate) fn tool_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().map(plain).take(64).collect();
    if name.is_empty() { "unknown_tool".to_owned() } else { name }
}

/// The arguments of a call, as an object.
pub fn arguments(call: &ToolCall) -> Map<String, Value> {
    match JsonTree::parse(call.args.as_str().as_bytes()).map(value) {
        Ok(Value::Object(fields)) => fields,
        Ok(Value::Null) | Err(_) => Map::new(),
        Ok(other) => Map::from_iter([("input".to_owned(), other)]),
    }
}

/// Returns the data of an image in a format that all services accept.
pub(crate) fn image(media: &Media) -> Option<&str> {
    let is_known =
        matches!(media.mime.as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp");
    data(media).filter(|_| is_known)
}

/// Returns the data of a binary part, in base64.
pub(crate) fn data(media: &Media) -> Option<&str> {
    match &media.held {
        MediaData::Base64(data) if !data.is_empty() => Some(data),
        MediaData::Base64(_) | MediaData::Elsewhere | MediaData::Beside(_) => None,
    }
}

/// Reads arguments of a call.
pub(crate) trait Arguments {
    /// Returns the first of these that is a text.
    fn text(&self, keys: &[&str]) -> Option<String>;
    /// Returns a number.
    fn number(&self, key: &str) -> Option<u64>;
    /// Whether a flag is set.
    fn is_set(&self, key: &str) -> bool;
}

impl Arguments for Map<String, Value> {
    fn text(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.get(*key)?.as_str()).map(str::to_owned)
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.as_u64()
    }

    fn is_set(&self, key: &str) -> bool {
        self.get(key).and_then(Value::as_bool) == Some(true)
    }
}

/// Builds arguments: those without a value are left out.
pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(fields.map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Quotes a word for a shell.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
