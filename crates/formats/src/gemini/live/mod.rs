//! What Gemini CLI is doing right now.
//!
//! A session file says nothing while a reply streams, while a dialog is open and while a tool runs; the title of the terminal and
//! the processes fill the gaps. Measured on 0.29 to 0.61.

mod conversation;
mod judge;
mod prompts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use recount_model::{LiveHook, LiveSession, LiveUsage, SessionId};
use serde_json::Value;

use crate::live::{
    Agents, DocumentParts, FileForm, HookLog, Known, LiveProcess, LiveSource, LiveTracker,
    RequestPrice, Roster, option_value,
};
use conversation::Conversation;
use judge::{Title, Verdict};
use prompts::PromptLog;

use super::{NAME, owner};

/// The live side of Gemini CLI.
#[derive(Debug)]
pub(crate) struct GeminiLive;

/// The title of a terminal follows a prompt, and the file comes within a second of it; twice that on a busy machine.
const DECIDED_WITHIN: i64 = 2000;

/// Only the worker has it: the launcher starts itself again with it.
const WORKER: &str = "GEMINI_CLI_NO_RELAUNCH";

impl LiveSource for GeminiLive {
    fn tracker(&self) -> Box<dyn LiveTracker> {
        Box::new(Tracker::default())
    }

    fn variables(&self) -> &'static [&'static str] {
        &[WORKER, "GEMINI_CLI", "PWD", "TMUX", "TMUX_PANE"]
    }

    fn is_agent(&self, process: &LiveProcess) -> bool {
        owner::is_running(&process.args)
    }

    fn is_followed_directory(&self, below: &Path) -> bool {
        let parts: Vec<_> = below.iter().filter_map(|part| part.to_str()).collect();
        matches!(
            parts.as_slice(),
            [] | ["tmp"] | ["tmp", _] | ["tmp", _, "chats"] | ["tmp", _, "chats", _]
        )
    }

    fn form(&self, below: &Path) -> Option<FileForm> {
        match place(below)? {
            Place::Session(_) | Place::Subagent(_) => {
                let is_log = below.extension().is_some_and(|extension| extension == "jsonl");
                Some(if is_log { FileForm::Log } else { FileForm::Document })
            }
            Place::Prompts(_) | Place::Marker(_) => Some(FileForm::Document),
        }
    }
}

/// What a followed file is, with the name of the project directory, or of the session that it is a sub-agent of.
enum Place<'a> {
    Session(&'a str),
    Subagent(&'a str),
    Prompts(&'a str),
    Marker(&'a str),
}

fn place(below: &Path) -> Option<Place<'_>> {
    let parts: Vec<_> = below.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
    let is_record = |name: &str| {
        let extension = Path::new(name).extension();
        extension.is_some_and(|extension| extension == "json" || extension == "jsonl")
    };
    match parts.as_slice() {
        ["tmp", project, "chats", file] if file.starts_with("session-") && is_record(file) => {
            Some(Place::Session(project))
        }
        ["tmp", _, "chats", session, file] if is_record(file) => Some(Place::Subagent(session)),
        ["tmp", project, "logs.json"] => Some(Place::Prompts(project)),
        ["tmp", project, ".project_root"] => Some(Place::Marker(project)),
        _ => None,
    }
}

#[derive(Debug, Default)]
struct Tracker {
    agents: Agents,
    /// The worker of each launcher.
    workers: BTreeMap<u32, u32>,
    /// Which folder a project directory stands for.
    roots: BTreeMap<String, String>,
    sessions: BTreeMap<PathBuf, Conversation>,
    subagents: BTreeMap<PathBuf, Conversation>,
    prompts: BTreeMap<String, PromptLog>,
    titles: BTreeMap<String, Title>,
    hooks: HookLog,
    /// Which of several processes a file belongs to, where the terminals told it.
    decided: BTreeMap<PathBuf, u32>,
    /// What each row said last, for what a process that ended was doing.
    verdicts: BTreeMap<u32, Verdict>,
}

impl LiveTracker for Tracker {
    fn record(&mut self, at: i64, file: &Path, line: &[u8]) {
        let Ok(record) = serde_json::from_slice::<Value>(line) else { return };
        if let Some(conversation) = self.conversation(file) {
            conversation.record(at, &record);
        }
    }

    fn document(&mut self, at: i64, file: &Path, document: &DocumentParts<'_>) {
        match place(file) {
            Some(Place::Session(_) | Place::Subagent(_)) => {
                if let Some(conversation) = self.conversation(file) {
                    conversation.document(at, document);
                }
            }
            Some(Place::Prompts(project)) => {
                self.prompts.entry(project.to_owned()).or_default().update(at, document);
            }
            Some(Place::Marker(project)) => {
                let root = String::from_utf8_lossy(document.head).trim().to_owned();
                if !root.is_empty() {
                    self.roots.insert(project.to_owned(), root);
                }
            }
            None => {}
        }
    }

    fn restarted(&mut self, _at: i64, file: &Path) {
        // What was known stays until the file says something else: it may be in the middle of a rewrite.
        let subagent = self.subagents.get_mut(file);
        if let Some(conversation) = self.sessions.get_mut(file).or(subagent) {
            conversation.restart();
        }
    }

    fn removed(&mut self, _at: i64, file: &Path) {
        self.sessions.remove(file);
        self.subagents.remove(file);
        self.decided.remove(file);
    }

    fn processes(&mut self, at: i64, roster: &Roster<'_>) {
        let running = self.running(roster);
        let is_child =
            |child: &LiveProcess| !owner::is_running(&child.args) && !child.args.is_empty();
        self.agents.update(at, running, roster, &is_child);
    }

    fn title(&mut self, at: i64, terminal: &str, title: &str) {
        self.titles.entry(terminal.to_owned()).or_default().update(at, title);
    }

    fn hook(&mut self, hook: &LiveHook) {
        self.hooks.update(hook);
    }

    fn sessions(&mut self, now: i64, price: &RequestPrice<'_>) -> Vec<LiveSession> {
        for one in self.sessions.values_mut().chain(self.subagents.values_mut()) {
            one.requests.settle(price);
        }
        self.decide(now);
        let owned = self.owned_files();
        let mut rows = Vec::new();
        let agents: Vec<(u32, Known)> =
            self.agents.iter().map(|(key, known)| (key, known.clone())).collect();
        for (key, known) in agents {
            let files = owned.get(&key).map(Vec::as_slice).unwrap_or_default();
            let mut shown: Vec<Option<&PathBuf>> = Vec::new();
            if is_editor(&known.process) {
                let prompted =
                    |file: &&PathBuf| self.sessions.get(*file).is_some_and(|one| one.prompts > 0);
                shown.extend(files.iter().filter(prompted).map(Some));
            }
            if shown.is_empty() {
                shown.push(files.last());
            }
            for file in shown {
                rows.push(self.row(key, &known, file, now));
            }
        }
        rows
    }

    fn forget(&mut self, time: i64) {
        self.agents.forget(time);
        let oldest = self.agents.iter().map(|(_, known)| known.process.start_ms).min();
        let oldest = oldest.unwrap_or(i64::MAX).min(time);
        self.sessions.retain(|_, one| one.changed >= oldest);
        self.subagents.retain(|_, one| one.changed >= oldest);
        self.hooks.forget(oldest);
        let sessions = &self.sessions;
        self.decided.retain(|path, _| sessions.contains_key(path));
        let keys: Vec<u32> = self.agents.iter().map(|(key, _)| key).collect();
        self.verdicts.retain(|key, _| keys.contains(key));
        self.workers.retain(|key, _| keys.contains(key));
    }
}

impl Tracker {
    fn conversation(&mut self, file: &Path) -> Option<&mut Conversation> {
        match place(file)? {
            Place::Session(_) => Some(self.sessions.entry(file.to_owned()).or_default()),
            Place::Subagent(_) => Some(self.subagents.entry(file.to_owned()).or_default()),
            Place::Prompts(_) | Place::Marker(_) => None,
        }
    }

    /// Returns the sessions among the processes: each launcher's worker, under the launcher's number.
    fn running<'a>(&mut self, roster: &Roster<'a>) -> Vec<(u32, &'a LiveProcess)> {
        let is_agent =
            |process: &LiveProcess| owner::is_running(&process.args) && !is_command(&process.args);
        let is_launched = |process: &LiveProcess| {
            process.variable(WORKER).is_some() || roster.get(process.ppid).is_some_and(is_agent)
        };
        let mut running = Vec::new();
        for process in roster.all().filter(|one| is_agent(one) && !one.is_zombie()) {
            let is_below = roster.get(process.ppid).is_some_and(is_agent);
            if is_below {
                continue;
            }
            let worker = roster
                .children(process.pid)
                .filter(|child| is_agent(child) && !child.is_zombie())
                .min_by_key(|child| child.start_ms);
            match worker {
                Some(worker) => {
                    self.workers.insert(process.pid, worker.pid);
                    running.push((process.pid, worker));
                }
                // The launcher outlives its worker by a moment.
                None if self.workers.contains_key(&process.pid) && !is_launched(process) => {}
                None => running.push((process.pid, process)),
            }
        }
        running
    }

    /// Returns the files that each process works or worked in, the one that changed last at the end.
    fn owned_files(&self) -> BTreeMap<u32, Vec<PathBuf>> {
        let mut owned: BTreeMap<u32, Vec<PathBuf>> = BTreeMap::new();
        let mut workers: Vec<(u32, &Known)> = self.agents.iter().collect();
        workers.sort_by_key(|(_, known)| known.process.start_ms);
        let mut files: Vec<(&PathBuf, &Conversation, i64)> = self
            .sessions
            .iter()
            .filter_map(|(path, one)| Some((path, one, one.started?)))
            .collect();
        files.sort_by_key(|(_, _, started)| *started);
        for &(path, conversation, started) in &files {
            let Some(Place::Session(project)) = place(path) else { continue };
            let in_project = |known: &Known| self.is_in_project(known, project);
            let lived = |known: &Known, at: i64| {
                known.process.start_ms <= at && known.ended.is_none_or(|ended| ended >= at)
            };
            let candidates = || workers.iter().rev().filter(|(_, known)| in_project(known));
            let born = || candidates().filter(|(_, known)| lived(known, started));
            let told = self.decided.get(path);
            // Whoever runs the hooks of a session works in it.
            let hooked = conversation.id.as_deref().and_then(|id| self.hooks.of(id));
            let runs =
                candidates().find(|(_, known)| hooked.is_some_and(|one| one.is_below(known)));
            if let Some((key, _)) = runs {
                owned.entry(*key).or_default().push(path.clone());
                continue;
            }
            let native = born()
                .find(|(key, _)| Some(key) == told)
                .or_else(|| {
                    born().find(|(key, _)| !owned.contains_key(key) && !self.has_decided(*key))
                })
                .or_else(|| born().next());
            // Somebody who started later writes to it: it was resumed.
            let resumed = candidates()
                .filter(|(_, known)| {
                    known.process.start_ms > started && lived(known, conversation.changed)
                })
                .filter(|(key, known)| {
                    let is_asked = is_resuming(&known.process.args);
                    let own = owned.get(key).and_then(|files| files.last());
                    let is_unused = own
                        .and_then(|own| self.sessions.get(own))
                        .is_none_or(|own| own.prompts == 0);
                    is_asked || (native.is_none() && is_unused)
                })
                .max_by_key(|(_, known)| is_resuming(&known.process.args));
            let native_lives = native.is_some_and(|(_, known)| lived(known, conversation.changed));
            let holder = if native_lives { native } else { resumed.or(native) };
            if let Some((key, _)) = holder {
                owned.entry(*key).or_default().push(path.clone());
            }
        }
        for files in owned.values_mut() {
            files.sort_by_key(|file| self.sessions.get(file).map(|one| one.changed));
        }
        owned
    }

    /// Whether the terminals told which file a process has.
    fn has_decided(&self, key: u32) -> bool {
        self.decided.values().any(|decided| *decided == key)
    }

    /// Notes which process a new file belongs to if several may have made it and just one terminal began to work.
    fn decide(&mut self, now: i64) {
        let mut decided = Vec::new();
        for (path, conversation) in &self.sessions {
            let Some(started) = conversation.started else { continue };
            if now - started > DECIDED_WITHIN || self.decided.contains_key(path) {
                continue;
            }
            let Some(Place::Session(project)) = place(path) else { continue };
            let may_own = |known: &Known| {
                known.ended.is_none()
                    && known.process.start_ms <= started
                    && self.is_in_project(known, project)
            };
            let candidates: Vec<(u32, &Known)> =
                self.agents.iter().filter(|(_, known)| may_own(known)).collect();
            let works = |known: &Known| {
                let title = known.process.terminal_key().and_then(|key| self.titles.get(&key));
                title.is_some_and(|title| title.is_working_since(started - DECIDED_WITHIN))
            };
            let mut working = candidates.iter().filter(|(_, known)| works(known));
            if let (Some((key, _)), None, true) =
                (working.next(), working.next(), candidates.len() > 1)
                && conversation.prompts > 0
            {
                decided.push((path.clone(), *key));
            }
        }
        self.decided.extend(decided);
    }

    fn is_in_project(&self, known: &Known, project: &str) -> bool {
        let root = self.roots.get(project);
        let is_folder = |folder: &str| {
            root.is_some_and(|root| root == folder)
                || (is_hash(project) && super::project::hash(folder).as_str() == project)
        };
        let folders = [known.process.cwd.as_deref(), known.process.variable("PWD")];
        folders.into_iter().flatten().any(is_folder)
    }

    fn row(&mut self, key: u32, known: &Known, file: Option<&PathBuf>, now: i64) -> LiveSession {
        let conversation = file.and_then(|file| self.sessions.get(file));
        let project = file.and_then(|file| place(file)).and_then(|place| match place {
            Place::Session(project) => Some(project.to_owned()),
            Place::Subagent(_) | Place::Prompts(_) | Place::Marker(_) => None,
        });
        let project = project.or_else(|| self.project_of(known));
        let prompts = project.as_ref().and_then(|project| self.prompts.get(project));
        let id = conversation.and_then(|one| one.id.clone());
        let prompted = prompts.and_then(|log| match &id {
            Some(id) => log.of(id),
            None => log.unknown_since(known.process.start_ms, &|id| self.is_known_session(id)),
        });
        let subagents: Vec<(&PathBuf, &Conversation)> = self
            .subagents
            .iter()
            .filter(|(path, one)| {
                let Some(Place::Subagent(session)) = place(path) else { return false };
                id.as_deref() == Some(session) && one.changed >= known.process.start_ms
            })
            .collect();
        let looked = judge::Looked {
            known,
            is_headless: is_headless(&known.process),
            is_editor: is_editor(&known.process),
            conversation,
            prompted,
            subagent: subagents.iter().map(|(_, one)| one.changed).max(),
            hooked: id.as_deref().and_then(|id| self.hooks.of(id)),
            title: known.process.terminal_key().and_then(|key| self.titles.get(&key)),
            before: self.verdicts.get(&key),
            now,
        };
        let verdict = judge::judge(&looked);
        let mut row = LiveSession {
            source: NAME,
            key: match &id {
                Some(id) if is_editor(&known.process) => format!("{key}/{id}"),
                _ => key.to_string(),
            },
            id: id.map(SessionId::new),
            // Who starts a run without a terminal waits for the launcher.
            process: Some(if is_headless(&known.process) { key } else { known.process.pid }),
            started: Some(known.process.start_ms),
            folder: known.process.cwd.clone(),
            headless: is_headless(&known.process) || is_editor(&known.process),
            state: verdict.state,
            certain: verdict.certain,
            signals: verdict.signals.clone(),
            tool: None,
            doing: None,
            context: None,
            model: None,
            usage: LiveUsage::default(),
            subagents: subagents.iter().map(|(path, one)| one.as_subagent(path, now)).collect(),
            terminal: known.process.terminal(),
            circling: None,
        };
        if let Some(conversation) = conversation {
            conversation.fill(&mut row, known, now);
            for (_, one) in subagents {
                row.usage += one.requests.usage(now);
            }
        }
        self.verdicts.insert(key, verdict);
        row
    }

    fn is_known_session(&self, id: &str) -> bool {
        self.sessions.values().any(|one| one.id.as_deref() == Some(id))
    }

    fn project_of(&self, known: &Known) -> Option<String> {
        let folder = known.process.cwd.as_deref()?;
        let named = self.roots.iter().find(|(_, root)| root.as_str() == folder);
        if let Some((name, _)) = named {
            return Some(name.clone());
        }
        let hash = super::project::hash(folder).as_str().to_owned();
        self.prompts.contains_key(&hash).then_some(hash)
    }
}

/// Whether the name of a project directory is a hash rather than a word.
fn is_hash(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Subcommands that are no session.
const COMMANDS: &[&str] =
    &["mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"];

/// Whether a command line asks for something other than a session.
fn is_command(args: &[String]) -> bool {
    let script = args.iter().position(|arg| {
        let path = Path::new(arg);
        path.ends_with("gemini") || path.extension().is_some_and(|extension| extension == "js")
    });
    let first = script.and_then(|at| args.get(at + 1)).map(String::as_str);
    first.is_some_and(|first| COMMANDS.contains(&first))
        || args.iter().any(|arg| matches!(arg.as_str(), "--version" | "--help" | "--list-sessions"))
}

fn is_editor(process: &LiveProcess) -> bool {
    process.args.iter().any(|arg| arg == "--acp" || arg == "--experimental-acp")
}

fn is_headless(process: &LiveProcess) -> bool {
    let is_asked = option_value(&process.args, &["-p", "--prompt"]).is_some();
    !is_editor(process) && (is_asked || process.tty.is_none())
}

fn is_resuming(args: &[String]) -> bool {
    let name = |arg: &String| arg.split_once('=').map_or(arg.as_str(), |(name, _)| name).to_owned();
    args.iter().any(|arg| matches!(name(arg).as_str(), "--resume" | "-r"))
}
