//! Headless output and telemetry logs: recognized, split into runs, and written as session files of their agent.
//!
//! An agent that runs without a terminal prints what it does: one JSON document, or one event per line. A [`StreamFormat`]
//! recognizes such output by its first record. [`Splitter`] cuts bytes into records, [`Intake`] sorts records into runs, one for each
//! time that the agent was started, and [`StreamFormat::files`] writes all runs of a session as the agent itself would keep it.

mod intake;
mod split;

use std::fmt::Debug;
use std::path::PathBuf;

use jiff::Timestamp;
use recount_model::SessionId;
use serde_json::{Map, Value};

use crate::json::JsonTree;

pub use intake::{Intake, Run};
pub use split::Splitter;

/// How the headless output of an agent is read.
pub trait StreamFormat: Debug + Sync {
    /// Says which run a record begins or belongs to. `None` when it can only be told by the records before it.
    fn begins(&self, record: &Value, before: Option<&RunKey>) -> Option<Beginning>;

    /// Whether a record of a run is of a type that known releases write.
    fn is_known(&self, kind: StreamKind, record: &Value) -> bool;

    /// Writes all runs of a session as the agent itself would keep it. Same runs, same bytes.
    fn files(&self, session: &StreamSession<'_>) -> Vec<StreamFile>;

    /// Returns the folder in which a run was, if its records say so.
    fn folder(&self, _records: &[Value]) -> Option<String> {
        None
    }
}

/// What the output of an agent is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum StreamKind {
    /// One document at the end of a run.
    Json,
    /// One event per line.
    StreamJson,
    /// A log of telemetry, of many sessions.
    Telemetry,
}

impl StreamKind {
    /// Returns its name, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::StreamJson => "stream-json",
            Self::Telemetry => "telemetry",
        }
    }
}

/// The run that records belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunKey {
    /// What it is.
    pub kind: StreamKind,
    /// The session.
    pub session: SessionId,
    /// Whether its last record has come.
    pub is_ended: bool,
}

/// What a record says of the run that it belongs to.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// What the run is.
    pub kind: StreamKind,
    /// The session.
    pub session: SessionId,
    /// Whether it may belong to a run of that session that has begun before, as each record of a log does.
    pub is_part: bool,
    /// What is kept of the record.
    pub keep: Keep,
}

/// What is kept of a record.
#[derive(Clone, Debug)]
pub enum Keep {
    /// All of it.
    All,
    /// Only this: the rest is repeated elsewhere.
    Part(Value),
    /// Nothing: it says nothing of a conversation.
    Nothing,
}

/// A session whose output is written as files.
#[derive(Debug)]
pub struct StreamSession<'a> {
    /// Its id.
    pub id: &'a SessionId,
    /// Its runs, in the order in which they came.
    pub runs: &'a [KeptRun],
}

/// A run that was kept.
#[derive(Clone, Debug)]
pub struct KeptRun {
    /// What it is.
    pub kind: StreamKind,
    /// When it was taken in, or last written: for output without times.
    pub time: Option<Timestamp>,
    /// The folder in which the agent ran, if a human said so.
    pub project: Option<String>,
    /// What was asked, if a human said so: some output does not repeat it.
    pub prompt: Option<String>,
    /// Its records.
    pub records: Vec<Value>,
}

/// A file of a session, as its agent would write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFile {
    /// Where it lies below the agent's data folder.
    pub path: PathBuf,
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Whether it holds the session; else it says something of its project.
    pub is_session: bool,
}

/// Whether an id is one that agents give: it becomes the name of a file.
pub fn is_session_id(id: &str) -> bool {
    (1..=128).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Reads one record; nothing that is not an object is one.
pub fn record(bytes: &[u8]) -> Option<Value> {
    JsonTree::parse(bytes).ok().map(value).filter(Value::is_object)
}

/// Turns a tree into a value. What is nested too deeply is kept as text.
pub(crate) fn value(tree: JsonTree) -> Value {
    match tree {
        JsonTree::Null => Value::Null,
        JsonTree::Bool(yes) => Value::Bool(yes),
        JsonTree::Number(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        JsonTree::String(text) | JsonTree::Deep(text) => Value::String(text),
        JsonTree::Array(all) => Value::Array(all.into_iter().map(value).collect()),
        JsonTree::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, tree)| (key, value(tree))).collect())
        }
    }
}

/// Returns a text of a record.
pub(crate) fn text<'a>(record: &'a Value, key: &str) -> Option<&'a str> {
    record.get(key).and_then(Value::as_str)
}

/// Returns a count of a record; 0 if there is none.
pub(crate) fn count(record: &Value, key: &str) -> u64 {
    record.get(key).and_then(Value::as_u64).unwrap_or(0)
}

/// Returns an object as fields.
pub(crate) fn fields(record: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    record.and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

/// Returns the id of a session, if it is one.
pub(crate) fn session_id(record: &Value, key: &str) -> Option<SessionId> {
    text(record, key).filter(|id| is_session_id(id)).map(SessionId::new)
}

/// Writes a record as a line.
pub(crate) fn line(record: &Value) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(record).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Writes a time as agents do.
pub(crate) fn time_text(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Makes a UUID from a name, the same for the same name.
pub(crate) fn made_up_uuid(name: &str) -> String {
    use sha2::Digest as _;
    let hash = sha2::Sha256::digest(name.as_bytes());
    let first = hash.iter().take(16).fold(0u128, |sum, byte| sum << 8 | u128::from(*byte));
    let hex = format!("{first:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    // Version 8: made by a rule of one's own.
    format!("{}-{}-8{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
