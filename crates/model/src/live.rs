//! What a session is doing right now.

use serde::Serialize;

use crate::{SessionId, SourceName, Tokens};

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LiveState {
    /// The agent waits for a permission or an answer.
    Approve,
    /// The turn is over: it is the user's move.
    Yours,
    /// A tool runs.
    Tool,
    /// A request is with the model.
    Working,
    /// The turn has been over for a while.
    Idle,
    /// An error ended the turn or the run.
    Failed,
    /// It ended by itself.
    Done,
    /// The process vanished in mid-turn.
    Gone,
}

impl LiveState {
    /// Returns its name, as flags and JSON have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Yours => "yours",
            Self::Tool => "tool",
            Self::Working => "working",
            Self::Idle => "idle",
            Self::Failed => "failed",
            Self::Done => "done",
            Self::Gone => "gone",
        }
    }

    /// Whether a request or a tool is under way, or waits for a permission.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Working | Self::Tool | Self::Approve)
    }
}

/// One reason for a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSignal {
    /// Where it is from: `records`, `process`, `terminal`, `title`, `status`, `log`, `hook`.
    pub from: &'static str,
    /// What it says.
    pub says: String,
    /// When it was seen, in milliseconds.
    pub at: i64,
}

/// A tool call that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveTool {
    /// The tool.
    pub name: String,
    /// Its key argument, on one line.
    pub argument: Option<String>,
    /// Since when, in milliseconds.
    pub since: i64,
}

/// How full the context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextUse {
    /// Tokens of the last request of the main conversation.
    pub used: u64,
    /// How many there may be, if the session records it.
    pub window: Option<u64>,
}

/// What one request used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveRequest {
    /// The same for all records of the request.
    pub key: String,
    /// When it was answered, in milliseconds.
    pub time: i64,
    /// The model.
    pub model: Option<String>,
    /// What it used.
    pub tokens: Tokens,
}

/// The same call with the same arguments and the same result, again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circling {
    /// The tool.
    pub tool: String,
    /// How often in a row.
    pub times: u32,
}

/// A sub-agent of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSubagent {
    /// Its id.
    pub id: String,
    /// Whether it has not finished.
    pub is_working: bool,
    /// When it wrote last, in milliseconds.
    pub changed: i64,
}

/// The terminal that a session is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct LiveTerminal {
    /// The device.
    pub tty: Option<String>,
    /// The pane of tmux.
    pub tmux: Option<String>,
}

/// A session that runs, or ended a moment ago, as its source sees it.
#[derive(Clone, Debug)]
pub struct LiveSession {
    /// The agent.
    pub source: SourceName,
    /// Tells rows of one source from each other while they last.
    pub key: String,
    /// The session, once it is known.
    pub id: Option<SessionId>,
    /// The process that works in it.
    pub process: Option<u32>,
    /// When that process began, in milliseconds.
    pub started: Option<i64>,
    /// The folder the agent works in.
    pub folder: Option<String>,
    /// Whether nobody sits at it: its output goes to a program.
    pub headless: bool,
    /// What it is doing.
    pub state: LiveState,
    /// Whether that is told, rather than inferred.
    pub certain: bool,
    /// Why.
    pub signals: Vec<LiveSignal>,
    /// The tool that runs or waits for a permission.
    pub tool: Option<LiveTool>,
    /// What was said or asked last, on one line.
    pub doing: Option<String>,
    /// How full the context is.
    pub context: Option<ContextUse>,
    /// The model of the last request.
    pub model: Option<String>,
    /// What it used, as far as was read: all of it in a replay.
    pub requests: Vec<LiveRequest>,
    /// Its sub-agents.
    pub subagents: Vec<LiveSubagent>,
    /// The terminal.
    pub terminal: LiveTerminal,
    /// Whether it goes in circles.
    pub circling: Option<Circling>,
}
