//! What a session is doing right now.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
    /// The process disappeared in mid-turn.
    Gone,
}

impl LiveState {
    /// Returns its name in flags and JSON.
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

    /// Whether a request or a tool is in progress or waits for a permission.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Working | Self::Tool | Self::Approve)
    }
}

/// One reason for a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSignal {
    /// Where it is from: `records`, `process`, `terminal`, `title`, `status`, `log`, `hook`.
    pub from: &'static str,
    /// What it indicates.
    pub says: String,
    /// When it was seen, in milliseconds.
    pub at: i64,
}

/// An open tool call.
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
    /// The size of the context window, if the session records it.
    pub window: Option<u64>,
}

/// What one request used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveRequest {
    /// The same for all records of one request.
    pub key: String,
    /// When it was answered, in milliseconds.
    pub time: i64,
    /// The model.
    pub model: Option<String>,
    /// What it used.
    pub tokens: Tokens,
}

/// The same call with the same arguments and the same result, repeated.
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

/// A session that is running, or ended a moment ago, as its source sees it.
#[derive(Clone, Debug)]
pub struct LiveSession {
    /// The agent.
    pub source: SourceName,
    /// Distinguishes the rows of one source while they last.
    pub key: String,
    /// The session, once it is known.
    pub id: Option<SessionId>,
    /// The process that works in it.
    pub process: Option<u32>,
    /// When that process began, in milliseconds.
    pub started: Option<i64>,
    /// The folder the agent works in.
    pub folder: Option<String>,
    /// Whether nobody is at the terminal: its output goes to a program.
    pub headless: bool,
    /// What it is doing.
    pub state: LiveState,
    /// Whether the state is reported rather than inferred.
    pub certain: bool,
    /// The reasons for the state.
    pub signals: Vec<LiveSignal>,
    /// The tool that runs or waits for a permission.
    pub tool: Option<LiveTool>,
    /// The last text or question, on one line.
    pub doing: Option<String>,
    /// How full the context is.
    pub context: Option<ContextUse>,
    /// The model of the last request.
    pub model: Option<String>,
    /// Requests, as far as they were read: all of them in a replay.
    pub requests: Vec<LiveRequest>,
    /// Its sub-agents.
    pub subagents: Vec<LiveSubagent>,
    /// The terminal.
    pub terminal: LiveTerminal,
    /// Whether it repeats itself.
    pub circling: Option<Circling>,
}

/// One process. Fields that the system does not report are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveProcess {
    /// Its number.
    pub pid: u32,
    /// The number of its parent.
    pub ppid: u32,
    /// The name of the program, possibly truncated.
    pub comm: String,
    /// Its command line, the program first.
    #[serde(rename = "argv")]
    pub args: Vec<String>,
    /// The file that runs.
    pub exe: Option<String>,
    /// The folder it works in.
    pub cwd: Option<String>,
    /// When it began, in milliseconds since 1970.
    pub start_ms: i64,
    /// When it began, in ticks of the system.
    pub start_ticks: u64,
    /// `R`, `S`, `D`, `Z` …
    pub state: String,
    /// Its terminal; empty if it is unknown whether it has one.
    #[serde(default = "unknown_terminal")]
    pub tty: Option<String>,
    /// Bytes written so far, if the system reports them.
    pub wchar: Option<u64>,
    /// The requested environment variables.
    pub env: BTreeMap<String, String>,
    /// Files below the home or data folders that it has open.
    pub open_files: Vec<String>,
}

#[expect(clippy::unnecessary_wraps, reason = "the field may be missing")]
fn unknown_terminal() -> Option<String> {
    Some(String::new())
}

impl LiveProcess {
    /// Whether it has ended and waits to be reaped.
    pub fn is_zombie(&self) -> bool {
        self.state.starts_with('Z') || self.state.starts_with('X')
    }

    /// Returns an environment variable.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str)
    }

    /// Returns the key of its terminal: the pane of a terminal multiplexer, else the device.
    pub fn terminal_key(&self) -> Option<String> {
        match (self.variable("TMUX"), self.variable("TMUX_PANE")) {
            (Some(server), Some(pane)) => {
                let server = server.rsplit_once(',').map_or(server, |(server, _)| server);
                Some(format!("{server},{pane}"))
            }
            _ => self.tty.clone().filter(|tty| !tty.is_empty()),
        }
    }

    /// Returns the terminal it is in.
    pub fn terminal(&self) -> LiveTerminal {
        LiveTerminal { tty: self.tty.clone(), tmux: self.variable("TMUX_PANE").map(str::to_owned) }
    }
}
