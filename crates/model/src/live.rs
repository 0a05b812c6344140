//! What a session is doing right now.

use std::collections::BTreeMap;
use std::ops::AddAssign;

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

/// What the requests of a session used, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveUsage {
    /// All of them.
    pub tokens: Tokens,
    /// What they cost in units of 10^-12 dollars, if any of them has a price.
    pub cost: Option<u128>,
    /// The last minute, and the last ten.
    pub recent: [LiveSpan; 2],
}

/// What was used in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveSpan {
    /// Tokens.
    pub tokens: u64,
    /// Units of 10^-12 dollars.
    pub cost: u128,
}

impl AddAssign for LiveUsage {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        if let Some(cost) = other.cost {
            self.cost = Some(self.cost.unwrap_or_default().saturating_add(cost));
        }
        for (span, other) in self.recent.iter_mut().zip(other.recent) {
            span.tokens = span.tokens.saturating_add(other.tokens);
            span.cost = span.cost.saturating_add(other.cost);
        }
    }
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
    /// The pane of `WezTerm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wezterm: Option<String>,
    /// The window of kitty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kitty: Option<String>,
}

/// Environment variables that say which terminal a process is in.
pub const TERMINAL_VARIABLES: &[&str] = &[
    "TMUX",
    "TMUX_PANE",
    "WEZTERM_UNIX_SOCKET",
    "WEZTERM_PANE",
    "KITTY_LISTEN_ON",
    "KITTY_WINDOW_ID",
];

/// A program that can say the titles of its terminals.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TerminalServer {
    /// tmux: its socket and the number of its process, with a comma between.
    Tmux(String),
    /// `WezTerm`: its socket.
    Wezterm(String),
    /// kitty: the address that it listens on.
    Kitty(String),
}

impl TerminalServer {
    /// Returns what a terminal of it is known by.
    pub fn key(&self, pane: &str) -> String {
        match self {
            Self::Tmux(server) => format!("{server},{pane}"),
            Self::Wezterm(socket) => format!("wezterm,{socket},{pane}"),
            Self::Kitty(address) => format!("kitty,{address},{pane}"),
        }
    }
}

/// When an agent runs the commands that users have set up for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookMoment {
    /// A session begins, or is being resumed.
    Start,
    /// The user has said something, and the session is in its own file.
    Prompt,
    /// The user is asked for a permission.
    Permission,
    /// A turn is over.
    TurnEnd,
    /// A session ends.
    End,
}

/// What an agent said through a hook: one line of a log, without any text of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveHook {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// The agent.
    pub source: String,
    /// The moment.
    pub moment: HookMoment,
    /// The session.
    pub session: String,
    /// The processes above the hook, the nearest first: one of them is the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<u32>,
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
    /// What it and its sub-agents used, as far as was read: all of it in a replay.
    pub usage: LiveUsage,
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

    /// Returns the program that can say the title of its terminal, and which of its terminals that is. The innermost one counts: what
    /// runs in tmux inherits the variables of the terminal around it.
    pub fn terminal_server(&self) -> Option<(TerminalServer, &str)> {
        let both = |server: &str, pane: &str| Some((self.variable(server)?, self.variable(pane)?));
        if let Some((server, pane)) = both("TMUX", "TMUX_PANE") {
            let server = server.rsplit_once(',').map_or(server, |(server, _)| server);
            return Some((TerminalServer::Tmux(server.to_owned()), pane));
        }
        if let Some((socket, pane)) = both("WEZTERM_UNIX_SOCKET", "WEZTERM_PANE") {
            return Some((TerminalServer::Wezterm(socket.to_owned()), pane));
        }
        let (address, window) = both("KITTY_LISTEN_ON", "KITTY_WINDOW_ID")?;
        Some((TerminalServer::Kitty(address.to_owned()), window))
    }

    /// Returns what its terminal is known by: the pane of a program that can say its title, else the device.
    pub fn terminal_key(&self) -> Option<String> {
        match self.terminal_server() {
            Some((server, pane)) => Some(server.key(pane)),
            None => self.tty.clone().filter(|tty| !tty.is_empty()),
        }
    }

    /// Returns the terminal it is in.
    pub fn terminal(&self) -> LiveTerminal {
        let mut terminal = LiveTerminal { tty: self.tty.clone(), ..LiveTerminal::default() };
        match self.terminal_server() {
            Some((TerminalServer::Tmux(_), pane)) => terminal.tmux = Some(pane.to_owned()),
            Some((TerminalServer::Wezterm(_), pane)) => terminal.wezterm = Some(pane.to_owned()),
            Some((TerminalServer::Kitty(_), window)) => terminal.kitty = Some(window.to_owned()),
            None => {}
        }
        terminal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_terminal_counts() {
        let process = |variables: &[(&str, &str)]| LiveProcess {
            tty: Some("/dev/pts/3".to_owned()),
            env: variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            ..LiveProcess::default()
        };
        let kitty = [("KITTY_LISTEN_ON", "unix:/tmp/k"), ("KITTY_WINDOW_ID", "7")];
        let wezterm = [("WEZTERM_UNIX_SOCKET", "/run/w"), ("WEZTERM_PANE", "2")];
        let tmux = [("TMUX", "/tmp/tmux-0/default,42,0"), ("TMUX_PANE", "%1")];
        let key = |process: &LiveProcess| process.terminal_key().unwrap();
        assert_eq!(key(&process(&kitty)), "kitty,unix:/tmp/k,7");
        assert_eq!(key(&process(&[wezterm, kitty].concat())), "wezterm,/run/w,2");
        assert_eq!(key(&process(&[wezterm, tmux].concat())), "/tmp/tmux-0/default,42,%1");
        assert_eq!(key(&process(&kitty[1..])), "/dev/pts/3", "nobody can be asked");
        assert_eq!(process(&wezterm).terminal().wezterm.as_deref(), Some("2"));
    }
}
