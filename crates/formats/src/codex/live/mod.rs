//! What Codex is doing right now.
//!
//! The rollout is flushed event by event, so its end is nearly always right. The process has it open: itself up to 0.144, through a
//! daemon that serves all windows from 0.166.

mod judge;
mod rollout;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use recount_model::{
    LiveHook, LiveSession, LiveState, LiveSubagent, LiveUsage, SessionId, SourceName,
};
use serde_json::Value;

use crate::live::{
    Agents, DocumentParts, FileForm, HookLog, Known, LiveProcess, LiveSource, LiveTracker,
    RequestPrice, Roster, is_helper, program_name,
};
use judge::{Title, Verdict};
use rollout::{Rollout, Turn};

/// The name in flags, JSON and the catalog.
const NAME: SourceName = SourceName::new("codex");
/// In the environment of tools: the session that runs them.
const THREAD: &str = "CODEX_THREAD_ID";
/// A thread without a window that is not at work is shown for this time after its last record.
const SHOWN: i64 = 60_000;
/// A thread may be stamped so long before the window that shows it.
const EARLY: i64 = 200;

/// The live side of Codex.
#[derive(Debug)]
pub(crate) struct CodexLive;

impl LiveSource for CodexLive {
    fn tracker(&self) -> Box<dyn LiveTracker> {
        Box::new(Tracker::default())
    }

    fn variables(&self) -> &'static [&'static str] {
        &[THREAD, "PWD", "TMUX", "TMUX_PANE"]
    }

    fn session_variables(&self) -> &'static [&'static str] {
        &["CODEX_THREAD_ID", "CODEX_SESSION_ID"]
    }

    fn is_agent(&self, process: &LiveProcess) -> bool {
        role(process).is_some()
    }

    fn is_followed_directory(&self, below: &Path) -> bool {
        let mut parts = below.iter();
        parts.next().is_none_or(|first| first == "sessions") && parts.count() <= 3
    }

    fn form(&self, below: &Path) -> Option<FileForm> {
        is_rollout(below).then_some(FileForm::Log)
    }
}

fn is_rollout(below: &Path) -> bool {
    let name = below.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    below.starts_with("sessions")
        && name.starts_with("rollout-")
        && below.extension().is_some_and(|extension| extension == "jsonl")
}

/// What a process of the agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Starts the native program.
    Launcher,
    /// A window.
    Window,
    /// One run without a terminal.
    Exec,
    /// Serves windows and editors.
    Server,
    /// Something that is no session.
    Command,
}

/// Subcommands that are no session.
const COMMANDS: &[&str] = &[
    "login",
    "logout",
    "mcp",
    "mcp-server",
    "completion",
    "apply",
    "a",
    "debug",
    "sandbox",
    "features",
    "cloud",
    "doctor",
    "update",
    "plugin",
    "execpolicy",
    "help",
    "--version",
    "-V",
    "--help",
    "-h",
];

fn role(process: &LiveProcess) -> Option<Role> {
    let mut args = process.args.iter().map(String::as_str);
    match program_name(args.next()?) {
        "codex" => {}
        "node" | "nodejs" | "bun" => {
            let script = args.find(|arg| !arg.starts_with('-'))?;
            let parts: Vec<&str> = script.split(['/', '\\']).collect();
            let is_own = parts.ends_with(&["bin", "codex"])
                || parts.ends_with(&[".bin", "codex"])
                || parts.ends_with(&["bin", "codex.js"]);
            return is_own.then_some(Role::Launcher);
        }
        _ => return None,
    }
    let words: Vec<&str> = args.collect();
    let command = words.iter().find(|word| !word.starts_with('-') || COMMANDS.contains(word));
    Some(match command {
        Some(&"exec" | &"e" | &"review") => Role::Exec,
        Some(&"app-server") if words.contains(&"pid-update-loop") => Role::Command,
        Some(&"app-server") => Role::Server,
        Some(word) if COMMANDS.contains(word) => Role::Command,
        _ => Role::Window,
    })
}

#[derive(Debug, Default)]
struct Tracker {
    agents: Agents,
    servers: Agents,
    rollouts: BTreeMap<PathBuf, Rollout>,
    /// Tool processes, by the session that they name.
    tools: BTreeMap<String, Vec<LiveProcess>>,
    titles: BTreeMap<String, Title>,
    verdicts: BTreeMap<String, Verdict>,
    hooks: HookLog,
}

impl LiveTracker for Tracker {
    fn record(&mut self, at: i64, file: &Path, line: &[u8]) {
        let Ok(record) = serde_json::from_slice::<Value>(line) else { return };
        self.rollouts.entry(file.to_owned()).or_default().record(at, &record);
    }

    fn document(&mut self, _at: i64, _file: &Path, _document: &DocumentParts<'_>) {}

    fn restarted(&mut self, _at: i64, file: &Path) {
        if let Some(rollout) = self.rollouts.get_mut(file) {
            rollout.requests.restart();
        }
    }

    fn removed(&mut self, _at: i64, file: &Path) {
        self.rollouts.remove(file);
    }

    fn processes(&mut self, at: i64, roster: &Roster<'_>) {
        let of = |roles: &[Role]| -> Vec<(u32, &LiveProcess)> {
            let all = roster.all().filter(|one| !one.is_zombie());
            let own = all.filter(|one| role(one).is_some_and(|role| roles.contains(&role)));
            // A session that was started by another one's tool is a session, a copy of the same program below it is not.
            let own = own.filter(|one| {
                roles.contains(&Role::Server)
                    || roster.get(one.ppid).is_none_or(|parent| {
                        !matches!(role(parent), Some(Role::Window | Role::Exec | Role::Server))
                    })
            });
            own.map(|one| (one.pid, one)).collect()
        };
        let is_child = |child: &LiveProcess| role(child).is_none() && !is_helper(child);
        let (sessions, servers) = (of(&[Role::Window, Role::Exec]), of(&[Role::Server]));
        self.agents.update(at, sessions, roster, &is_child);
        self.servers.update(at, servers, roster, &is_child);
        self.tools.clear();
        for process in roster.all().filter(|one| role(one).is_none() && !one.is_zombie()) {
            if let Some(thread) = process.variable(THREAD) {
                self.tools.entry(thread.to_owned()).or_default().push(process.clone());
            }
        }
    }

    fn title(&mut self, at: i64, terminal: &str, title: &str) {
        self.titles.entry(terminal.to_owned()).or_default().update(at, title);
    }

    fn hook(&mut self, hook: &LiveHook) {
        self.hooks.update(hook);
    }

    fn sessions(&mut self, now: i64, price: &RequestPrice<'_>) -> Vec<LiveSession> {
        for one in self.rollouts.values_mut() {
            one.requests.settle(price);
        }
        let owned = self.owned();
        let agents: Vec<(u32, Known)> =
            self.agents.iter().map(|(pid, known)| (pid, known.clone())).collect();
        let mut rows: Vec<LiveSession> = agents
            .iter()
            .map(|(pid, known)| self.row(pid.to_string(), known, owned.get(pid), now))
            .collect();
        rows.extend(self.unattended(&owned, now));
        rows
    }

    fn forget(&mut self, time: i64) {
        self.agents.forget(time);
        self.servers.forget(time);
        let all = self.agents.iter().chain(self.servers.iter());
        let oldest = all.map(|(_, known)| known.process.start_ms).min();
        let oldest = oldest.unwrap_or(i64::MAX).min(time);
        self.rollouts.retain(|_, one| one.changed >= oldest);
        self.hooks.forget(oldest);
        let keys: Vec<String> = self.agents.iter().map(|(pid, _)| pid.to_string()).collect();
        // The key of a thread without a window ends with its rollout.
        let rollouts = &self.rollouts;
        let is_thread = |key: &str| {
            key.split_once('/').is_some_and(|(_, path)| rollouts.contains_key(Path::new(path)))
        };
        self.verdicts.retain(|key, _| keys.contains(key) || is_thread(key));
    }
}

impl Tracker {
    /// Returns the rollout of each process that is a session.
    fn owned(&self) -> BTreeMap<u32, PathBuf> {
        let mut owned = BTreeMap::new();
        let mut taken: Vec<&PathBuf> = Vec::new();
        for (pid, known) in self.agents.iter() {
            let open = self.open_by(known);
            let newest = open.max_by_key(|(_, one)| (one.changed, one.started));
            if let Some((path, _)) = newest {
                taken.push(path);
                owned.insert(pid, path.clone());
            }
        }
        let mut windows: Vec<(u32, &Known)> =
            self.agents.iter().filter(|(pid, _)| !owned.contains_key(pid)).collect();
        windows.sort_by_key(|(_, known)| known.process.start_ms);
        let is_free = |path: &PathBuf| !taken.contains(&path);
        for (pid, known) in &windows {
            let named = self.rollouts.iter().find(|(path, one)| {
                let id = one.id.as_deref();
                is_free(path) && known.process.args.iter().any(|arg| Some(arg.as_str()) == id)
            });
            if let Some((path, _)) = named {
                owned.insert(*pid, path.clone());
            }
        }
        // Each thread belongs to the youngest window that began before it in the same folder.
        let mut threads: Vec<(&PathBuf, &Rollout)> = self
            .rollouts
            .iter()
            .filter(|(path, one)| one.parent.is_none() && is_free(path))
            .collect();
        threads.sort_by_key(|(_, one)| one.started);
        for (path, one) in threads {
            if owned.values().any(|taken| taken == path) {
                continue;
            }
            let Some(started) = one.started else { continue };
            let lives = |known: &Known, at: i64| {
                known.process.start_ms <= at + EARLY && known.ended.is_none_or(|ended| ended >= at)
            };
            let here = || windows.iter().rev().filter(|(_, known)| known.process.cwd == one.folder);
            let began = here().find(|(_, known)| lives(known, started));
            let resumed = || {
                here().find(|(pid, known)| {
                    !owned.contains_key(pid)
                        && known.process.args.iter().any(|arg| arg == "resume" || arg == "fork")
                        && lives(known, one.changed)
                })
            };
            if let Some((pid, _)) = began.or_else(resumed) {
                owned.insert(*pid, path.clone());
            }
        }
        owned
    }

    /// Returns the rollouts that a process has open, without those of sub-agents.
    fn open_by(&self, known: &Known) -> impl Iterator<Item = (&PathBuf, &Rollout)> {
        let open = &known.process.open_files;
        self.rollouts.iter().filter(move |(path, one)| {
            one.parent.is_none()
                && open.iter().any(|open| Path::new(open).file_name() == path.file_name())
        })
    }

    /// Returns the tools that name a session, or those of servers that name none.
    fn tools_of(&self, id: Option<&str>) -> Vec<LiveProcess> {
        if let Some(named) = id.and_then(|id| self.tools.get(id)) {
            return named.clone();
        }
        let servers = self.servers.iter().filter(|(_, known)| known.ended.is_none());
        let children = servers.flat_map(|(_, known)| &known.children);
        let unnamed =
            children.filter(|child| child.variable(THREAD).is_none() && !child.is_zombie());
        unnamed.cloned().collect()
    }

    /// Returns the window that shows a rollout, or showed it last.
    fn window_of(&self, path: &Path, owned: &BTreeMap<u32, PathBuf>) -> Option<&Known> {
        let (pid, _) = owned.iter().find(|(_, taken)| taken.as_path() == path)?;
        self.agents.iter().find(|(key, _)| key == pid).map(|(_, known)| known)
    }

    /// Returns rows for threads that a server works in without a window.
    fn unattended(&mut self, owned: &BTreeMap<u32, PathBuf>, now: i64) -> Vec<LiveSession> {
        let servers: Vec<(u32, Known)> = self
            .servers
            .iter()
            .filter(|(_, known)| known.ended.is_none())
            .map(|(pid, known)| (pid, known.clone()))
            .collect();
        let mut rows = Vec::new();
        for (pid, known) in servers {
            let is_shown = |one: &Rollout| one.turn == Turn::Open || one.changed >= now - SHOWN;
            let open: Vec<PathBuf> = self
                .open_by(&known)
                .filter(|(path, one)| match self.window_of(path, owned) {
                    None => is_shown(one),
                    // Its window is gone; what is written since is the server's.
                    Some(window) => window.ended.is_some_and(|end| {
                        one.turn == Turn::Open || (one.changed > end && is_shown(one))
                    }),
                })
                .map(|(path, _)| path.clone())
                .collect();
            for path in open {
                let key = format!("{pid}/{}", path.display());
                rows.push(self.row(key, &known, Some(&path), now));
            }
        }
        rows
    }

    fn row(&mut self, key: String, known: &Known, path: Option<&PathBuf>, now: i64) -> LiveSession {
        let rollout = path.and_then(|path| self.rollouts.get(path));
        let id = rollout.and_then(|one| one.id.clone());
        let subagents: Vec<(&PathBuf, &Rollout)> = self
            .rollouts
            .iter()
            .filter(|(_, one)| one.parent.is_some() && one.parent == id)
            .filter(|(_, one)| one.changed >= known.process.start_ms)
            .collect();
        let is_exec = role(&known.process) == Some(Role::Exec);
        let tools = self.tools_of(id.as_deref());
        let verdict = judge::judge(&judge::Looked {
            known,
            rollout,
            tools: &tools,
            is_headless: is_exec,
            hooked: id.as_deref().and_then(|id| self.hooks.of(id)),
            subagent: subagents
                .iter()
                .filter(|(_, one)| one.turn == Turn::Open)
                .map(|(_, one)| one.changed)
                .max(),
            title: known.process.terminal_key().and_then(|key| self.titles.get(&key)),
            before: self.verdicts.get(&key),
            now,
        });
        let mut row = LiveSession {
            source: NAME,
            key: key.clone(),
            id: id.map(SessionId::new),
            process: Some(known.process.pid),
            started: Some(known.process.start_ms),
            folder: rollout
                .and_then(|one| one.folder.clone())
                .or_else(|| known.process.cwd.clone()),
            headless: is_exec || role(&known.process) == Some(Role::Server),
            state: verdict.state,
            certain: verdict.certain,
            signals: verdict.signals.clone(),
            tool: None,
            doing: None,
            context: None,
            model: None,
            usage: LiveUsage::default(),
            subagents: Vec::new(),
            terminal: known.process.terminal(),
            circling: None,
        };
        if let Some(rollout) = rollout {
            let is_tool = matches!(row.state, LiveState::Tool | LiveState::Approve);
            row.tool = rollout.calls.latest().filter(|_| is_tool).cloned();
            row.doing.clone_from(&rollout.doing);
            row.circling = rollout.calls.circling();
            row.model.clone_from(&rollout.model);
            row.context = rollout.context;
            row.usage = rollout.requests.usage(now);
        }
        for (_, one) in subagents {
            row.subagents.push(LiveSubagent {
                id: one.id.clone().unwrap_or_default(),
                is_working: one.turn == Turn::Open,
                changed: one.changed,
            });
            row.usage += one.requests.usage(now);
        }
        self.verdicts.insert(key, verdict);
        row
    }
}
