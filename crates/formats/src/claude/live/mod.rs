//! What Claude Code is doing right now.
//!
//! `sessions/<pid>.json` names the session of a process and, from 2.1.3, says what it is doing. Before that the end of the transcript
//! and the processes say it.

mod judge;
mod transcript;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use recount_model::{
    ContextUse, LiveHook, LiveSession, LiveState, LiveSubagent, LiveUsage, SessionId, SourceName,
};
use serde_json::Value;

use crate::live::{
    Agents, DocumentParts, FileForm, HookLog, Known, LiveProcess, LiveSource, LiveTracker,
    RequestPrice, Roster, is_helper, option_value, program_name,
};
use judge::Verdict;
use transcript::Transcript;

/// The name in flags, JSON and the catalog.
const NAME: SourceName = SourceName::new("claude");

/// The live side of Claude Code.
#[derive(Debug)]
pub(crate) struct ClaudeLive;

impl LiveSource for ClaudeLive {
    fn tracker(&self) -> Box<dyn LiveTracker> {
        Box::new(Tracker::default())
    }

    fn variables(&self) -> &'static [&'static str] {
        &["CLAUDE_CODE_SESSION_ID", "CLAUDECODE", "PWD", "TMUX", "TMUX_PANE"]
    }

    fn session_variables(&self) -> &'static [&'static str] {
        &["CLAUDE_CODE_SESSION_ID"]
    }

    fn is_agent(&self, process: &LiveProcess) -> bool {
        is_agent(process)
    }

    fn is_followed_directory(&self, below: &Path) -> bool {
        let parts: Vec<_> = below.iter().filter_map(|part| part.to_str()).collect();
        matches!(
            parts.as_slice(),
            [] | ["sessions" | "projects"]
                | ["projects", _]
                | ["projects", _, _]
                | ["projects", _, _, "subagents"]
        )
    }

    fn form(&self, below: &Path) -> Option<FileForm> {
        Some(match place(below)? {
            Place::Transcript(_) | Place::Subagent(..) => FileForm::Log,
            Place::Registry(_) | Place::SubagentFacts(_) => FileForm::Document,
        })
    }
}

/// What a followed file is.
enum Place<'a> {
    Registry(u32),
    Transcript(&'a str),
    /// The session and the file without its extension.
    Subagent(&'a str, &'a str),
    SubagentFacts(&'a str),
}

fn place(below: &Path) -> Option<Place<'_>> {
    let parts: Vec<_> = below.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
    match parts.as_slice() {
        ["sessions", file] => Some(Place::Registry(file.strip_suffix(".json")?.parse().ok()?)),
        ["projects", _, file] => Some(Place::Transcript(file.strip_suffix(".jsonl")?)),
        ["projects", _, session, "subagents", file] => match file.strip_suffix(".jsonl") {
            Some(name) => Some(Place::Subagent(session, name)),
            None => Some(Place::SubagentFacts(file.strip_suffix(".meta.json")?)),
        },
        _ => None,
    }
}

/// What the agent says of one of its processes.
#[derive(Clone, Debug, Default)]
struct Registered {
    session: String,
    started: Option<u64>,
    is_headless: bool,
    status: Option<String>,
    waits_for: Option<String>,
    /// When the status changed.
    at: i64,
    /// When the file went.
    removed: Option<i64>,
}

#[derive(Debug, Default)]
struct Tracker {
    agents: Agents,
    registry: BTreeMap<u32, Registered>,
    transcripts: BTreeMap<PathBuf, Transcript>,
    subagents: BTreeMap<PathBuf, Transcript>,
    /// Sub-agents that the agent says have finished.
    finished: BTreeSet<String>,
    verdicts: BTreeMap<u32, Verdict>,
    hooks: HookLog,
}

impl LiveTracker for Tracker {
    fn record(&mut self, at: i64, file: &Path, line: &[u8]) {
        let Ok(record) = serde_json::from_slice::<Value>(line) else { return };
        match place(file) {
            Some(Place::Transcript(_)) => {
                self.transcripts.entry(file.to_owned()).or_default().record(at, &record, false);
            }
            Some(Place::Subagent(..)) => {
                self.subagents.entry(file.to_owned()).or_default().record(at, &record, true);
            }
            Some(Place::Registry(_) | Place::SubagentFacts(_)) | None => {}
        }
    }

    fn document(&mut self, at: i64, file: &Path, document: &DocumentParts<'_>) {
        let Ok(value) = serde_json::from_slice::<Value>(document.head) else { return };
        match place(file) {
            Some(Place::Registry(pid)) => self.register(at, pid, &value),
            Some(Place::SubagentFacts(name)) => {
                if value.get("finished").and_then(Value::as_bool) == Some(true) {
                    self.finished.insert(name.to_owned());
                }
            }
            Some(Place::Transcript(_) | Place::Subagent(..)) | None => {}
        }
    }

    fn restarted(&mut self, _at: i64, file: &Path) {
        let subagent = self.subagents.get_mut(file);
        if let Some(transcript) = self.transcripts.get_mut(file).or(subagent) {
            transcript.requests.restart();
        }
    }

    fn removed(&mut self, at: i64, file: &Path) {
        if let Some(Place::Registry(pid)) = place(file)
            && let Some(registered) = self.registry.get_mut(&pid)
        {
            registered.removed.get_or_insert(at);
        }
        self.transcripts.remove(file);
        self.subagents.remove(file);
    }

    fn processes(&mut self, at: i64, roster: &Roster<'_>) {
        let registry = &self.registry;
        let is_session = |process: &&LiveProcess| {
            if process.is_zombie() {
                return false;
            }
            let registered = registry.get(&process.pid);
            let is_registered = registered.is_some_and(|one| is_same(one, process));
            let is_below = || roster.get(process.ppid).is_some_and(is_agent);
            is_registered && !is_search(process)
                || (is_agent(process) && !is_command(&process.args) && !is_below())
        };
        let running: Vec<(u32, &LiveProcess)> =
            roster.all().filter(is_session).map(|process| (process.pid, process)).collect();
        let is_child =
            |child: &LiveProcess| !is_search(child) && !is_agent(child) && !is_helper(child);
        self.agents.update(at, running, roster, &is_child);
    }

    fn title(&mut self, _at: i64, _terminal: &str, _title: &str) {}

    fn hook(&mut self, hook: &LiveHook) {
        self.hooks.update(hook);
    }

    fn sessions(&mut self, now: i64, price: &RequestPrice<'_>) -> Vec<LiveSession> {
        for one in self.transcripts.values_mut().chain(self.subagents.values_mut()) {
            one.requests.settle(price);
        }
        let agents: Vec<(u32, Known)> =
            self.agents.iter().map(|(key, known)| (key, known.clone())).collect();
        let mut taken = Vec::new();
        agents
            .into_iter()
            .rev()
            .map(|(pid, known)| self.row(pid, &known, &mut taken, now))
            .collect()
    }

    fn forget(&mut self, time: i64) {
        self.agents.forget(time);
        let oldest = self.agents.iter().map(|(_, known)| known.process.start_ms).min();
        let oldest = oldest.unwrap_or(i64::MAX).min(time);
        self.transcripts.retain(|_, one| one.changed >= oldest);
        self.subagents.retain(|_, one| one.changed >= oldest);
        self.hooks.forget(oldest);
        let pids: Vec<u32> = self.agents.iter().map(|(pid, _)| pid).collect();
        self.verdicts.retain(|pid, _| pids.contains(pid));
        self.registry
            .retain(|pid, one| pids.contains(pid) || one.removed.is_none_or(|at| at >= time));
        let names: Vec<String> = self
            .subagents
            .keys()
            .filter_map(|path| path.file_stem())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        self.finished.retain(|name| names.contains(name));
    }
}

impl Tracker {
    fn register(&mut self, at: i64, pid: u32, value: &Value) {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let Some(session) = text("sessionId") else { return };
        let known = self.registry.entry(pid).or_default();
        let (status, waits_for) = (text("status"), text("waitingFor"));
        if status != known.status || waits_for != known.waits_for || known.removed.is_some() {
            known.at = at;
        }
        *known = Registered {
            session,
            started: text("procStart").and_then(|ticks| ticks.parse().ok()),
            is_headless: text("entrypoint").is_some_and(|entrypoint| entrypoint.starts_with("sdk")),
            status,
            waits_for,
            at: known.at,
            removed: None,
        };
    }

    /// Returns the transcript of a process, which no other row has.
    fn transcript(&self, pid: u32, known: &Known, taken: &[PathBuf]) -> Option<&PathBuf> {
        let registered = self.registry.get(&pid).filter(|one| is_same(one, &known.process));
        let of_session = |wanted: &str| {
            self.transcripts
                .keys()
                .find(|path| matches!(place(path), Some(Place::Transcript(id)) if id == wanted))
        };
        if let Some(registered) = registered {
            return of_session(&registered.session);
        }
        let named = option_value(&known.process.args, &["--resume", "-r", "--session-id"]);
        if let Some(path) = named.and_then(of_session) {
            return Some(path);
        }
        let folders = [known.process.cwd.as_deref(), known.process.variable("PWD")];
        let is_here =
            |one: &Transcript| one.folder.is_some() && folders.contains(&one.folder.as_deref());
        let end = known.ended.unwrap_or(i64::MAX);
        let is_run = |path: &Path| match place(path) {
            Some(Place::Transcript(id)) => self.hooks.of(id).is_some_and(|one| one.is_below(known)),
            _ => false,
        };
        if let Some(path) = self.transcripts.keys().find(|path| is_run(path)) {
            return Some(path);
        }
        let candidates = self.transcripts.iter().filter(|(path, one)| {
            is_here(one)
                && one.changed >= known.process.start_ms
                && one.changed <= end.saturating_add(2000)
                && !taken.contains(path)
                && !self.is_registered(path)
        });
        candidates.max_by_key(|(_, one)| one.changed).map(|(path, _)| path)
    }

    fn is_registered(&self, path: &Path) -> bool {
        let Some(Place::Transcript(id)) = place(path) else { return false };
        self.registry.values().any(|one| one.session == id && one.removed.is_none())
    }

    fn row(&mut self, pid: u32, known: &Known, taken: &mut Vec<PathBuf>, now: i64) -> LiveSession {
        let path = self.transcript(pid, known, taken).cloned();
        taken.extend(path.clone());
        let transcript = path.as_ref().and_then(|path| self.transcripts.get(path));
        let registered = self.registry.get(&pid).filter(|one| is_same(one, &known.process));
        let id = match (registered, path.as_deref().and_then(place)) {
            (Some(registered), _) => Some(registered.session.clone()),
            (None, Some(Place::Transcript(id))) => Some(id.to_owned()),
            (None, _) => None,
        };
        let mut subagents = Vec::new();
        let mut usage = LiveUsage::default();
        for (path, one) in &self.subagents {
            let Some(Place::Subagent(session, name)) = place(path) else { continue };
            if id.as_deref() != Some(session) || one.changed < known.process.start_ms {
                continue;
            }
            let is_working = !one.is_over() && !self.finished.contains(name);
            subagents.push(LiveSubagent { id: name.to_owned(), is_working, changed: one.changed });
            usage += one.requests.usage(now);
        }
        let is_headless =
            registered.is_some_and(|one| one.is_headless) || is_headless(&known.process);
        let verdict = judge::judge(&judge::Looked {
            known,
            registered,
            transcript,
            is_headless,
            hooked: id.as_deref().and_then(|id| self.hooks.of(id)),
            subagent: subagents.iter().filter(|one| one.is_working).map(|one| one.changed).max(),
            before: self.verdicts.get(&pid),
            now,
        });
        let mut row = LiveSession {
            source: NAME,
            key: pid.to_string(),
            id: id.map(SessionId::new),
            process: Some(pid),
            started: Some(known.process.start_ms),
            folder: known.process.cwd.clone(),
            headless: is_headless,
            state: verdict.state,
            certain: verdict.certain,
            signals: verdict.signals.clone(),
            tool: None,
            doing: None,
            context: None,
            model: None,
            usage: LiveUsage::default(),
            subagents,
            terminal: known.process.terminal(),
            circling: None,
        };
        if let Some(transcript) = transcript {
            let is_tool = matches!(row.state, LiveState::Tool | LiveState::Approve);
            row.tool = transcript.calls.latest().filter(|_| is_tool).cloned();
            row.doing.clone_from(&transcript.doing);
            row.circling = transcript.calls.circling();
            row.usage = transcript.requests.usage(now);
            if let Some(last) = transcript.requests.last() {
                row.model.clone_from(&last.model);
                let used = last.tokens.input + last.tokens.output;
                row.context = Some(ContextUse { used, window: None });
            }
        }
        row.usage += usage;
        self.verdicts.insert(pid, verdict);
        row
    }
}

/// Whether what the agent says of a process number is about this process.
fn is_same(registered: &Registered, process: &LiveProcess) -> bool {
    match registered.started {
        Some(started) if process.start_ticks != 0 => started == process.start_ticks,
        _ => true,
    }
}

/// Subcommands and options that are no session.
const COMMANDS: &[&str] = &[
    "mcp",
    "update",
    "upgrade",
    "doctor",
    "config",
    "install",
    "setup-token",
    "plugin",
    "migrate-installer",
    "auth",
    "agents",
    "--version",
    "-v",
    "--help",
    "-h",
];

fn is_command(args: &[String]) -> bool {
    let mut args = args.iter().map(String::as_str);
    let program = args.next().map(program_name);
    let first = if program == Some("node") { args.nth(1) } else { args.next() };
    first.is_some_and(|first| COMMANDS.contains(&first))
}

/// The agent's own search runs the agent's program under another name.
fn is_search(process: &LiveProcess) -> bool {
    process.args.first().is_some_and(|program| program_name(program) == "rg")
}

fn is_agent(process: &LiveProcess) -> bool {
    let mut args = process.args.iter().map(String::as_str);
    let Some(program) = args.next() else { return false };
    match program_name(program) {
        "claude" => true,
        "node" | "nodejs" | "bun" => args.find(|arg| !arg.starts_with('-')).is_some_and(|script| {
            let parts: Vec<&str> = script.split(['/', '\\']).collect();
            parts.ends_with(&["bin", "claude"])
                || parts.ends_with(&[".bin", "claude"])
                || parts.ends_with(&["@anthropic-ai", "claude-code", "cli.js"])
        }),
        _ => false,
    }
}

fn is_headless(process: &LiveProcess) -> bool {
    // Some releases change their command line once they run.
    process.tty.is_none() || process.args.iter().any(|arg| arg == "-p" || arg == "--print")
}
