//! Feeds the trackers of all agents of some data folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use recount_model::{LiveHook, LiveSession};

use crate::Source;
use crate::live::steady::Steady;
use crate::live::{
    DocumentParts, FileForm, LiveProcess, LiveSource, LiveTracker, RequestPrice, Roster,
};

/// So much of a line is kept while its end has not come: what is longer is no record of interest.
const LINE: usize = 64 << 20;

/// The tracker of one agent in one data folder.
#[derive(Debug)]
struct Folder {
    name: &'static str,
    source: &'static dyn LiveSource,
    root: PathBuf,
    tracker: Box<dyn LiveTracker>,
    /// Beginnings of lines whose end has not come.
    torn: BTreeMap<PathBuf, Vec<u8>>,
}

/// The trackers of some data folders.
#[derive(Debug, Default)]
pub struct LiveFeed {
    folders: Vec<Folder>,
    steady: Steady,
}

impl LiveFeed {
    /// Follows the sessions of a source below a data folder, if they can be followed.
    pub fn add(&mut self, source: &'static dyn Source, root: &Path) {
        if let Some(live) = source.live() {
            let tracker = live.tracker();
            let torn = BTreeMap::new();
            let name = source.name().as_str();
            self.folders.push(Folder { name, source: live, root: root.to_owned(), tracker, torn });
        }
    }

    /// Returns the data folders, each with its agent.
    pub fn roots(&self) -> impl Iterator<Item = (&'static dyn LiveSource, &Path)> {
        self.folders.iter().map(|folder| (folder.source, folder.root.as_path()))
    }

    /// Returns how a file is followed, if it is.
    pub fn form(&self, path: &Path) -> Option<FileForm> {
        self.folders.iter().find_map(|folder| {
            let below = path.strip_prefix(&folder.root).ok()?;
            folder.source.form(below)
        })
    }

    fn folder(&mut self, path: &Path) -> Option<(&mut Folder, PathBuf)> {
        self.folders.iter_mut().find_map(|folder| {
            let below = path.strip_prefix(&folder.root).ok()?.to_owned();
            folder.source.form(&below).is_some().then_some((folder, below))
        })
    }

    /// Takes bytes that were appended to a log.
    pub fn append(&mut self, at: i64, path: &Path, bytes: &[u8]) {
        let Some((folder, below)) = self.folder(path) else { return };
        let mut torn = folder.torn.remove(&below).unwrap_or_default();
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end);
            if torn.is_empty() {
                folder.tracker.record(at, &below, line);
            } else {
                torn.extend_from_slice(line);
                folder.tracker.record(at, &below, &torn);
                torn.clear();
            }
            rest = after.get(1..).unwrap_or_default();
        }
        torn.extend_from_slice(rest);
        if !torn.is_empty() && torn.len() <= LINE {
            folder.torn.insert(below, torn);
        }
    }

    /// Takes a log from its start: its first bytes and, if that is not all, its last ones, which begin with a whole line.
    pub fn open(&mut self, at: i64, path: &Path, head: &[u8], tail: Option<&[u8]>) {
        let Some((folder, below)) = self.folder(path) else { return };
        folder.torn.remove(&below);
        folder.tracker.restarted(at, &below);
        self.append(at, path, head);
        if let Some(tail) = tail {
            if let Some((folder, below)) = self.folder(path) {
                folder.torn.remove(&below);
            }
            self.append(at, path, tail);
        }
    }

    /// Takes a document as it is now.
    pub fn document(&mut self, at: i64, path: &Path, document: &DocumentParts<'_>) {
        if let Some((folder, below)) = self.folder(path) {
            folder.tracker.document(at, &below, document);
        }
    }

    /// Notes that a file is gone.
    pub fn removed(&mut self, at: i64, path: &Path) {
        if let Some((folder, below)) = self.folder(path) {
            folder.torn.remove(&below);
            folder.tracker.removed(at, &below);
        }
    }

    /// Takes the processes as they are now.
    pub fn processes(&mut self, at: i64, processes: &[LiveProcess]) {
        let roster = Roster::new(processes);
        for folder in &mut self.folders {
            folder.tracker.processes(at, &roster);
        }
    }

    /// Takes the title of a terminal.
    pub fn title(&mut self, at: i64, terminal: &str, title: &str) {
        for folder in &mut self.folders {
            folder.tracker.title(at, terminal, title);
        }
    }

    /// Takes what an agent said through a hook.
    pub fn hook(&mut self, hook: &LiveHook) {
        for folder in self.folders.iter_mut().filter(|folder| folder.name == hook.source) {
            folder.tracker.hook(hook);
        }
    }

    /// Returns what each session is doing, and what it used at these prices.
    pub fn sessions(&mut self, now: i64, price: &RequestPrice<'_>) -> Vec<LiveSession> {
        let mut rows: Vec<LiveSession> = Vec::new();
        for folder in &mut self.folders {
            for row in folder.tracker.sessions(now, price) {
                // An agent may have several data folders; a process has its session in one of them.
                let same = rows.iter().position(|known| {
                    known.source == row.source
                        && known.process == row.process
                        && (known.id.is_none() || row.id.is_none())
                });
                match same.and_then(|at| rows.get_mut(at)) {
                    Some(known) if known.id.is_none() && row.id.is_some() => *known = row,
                    Some(_) => {}
                    None => rows.push(row),
                }
            }
        }
        self.steady.apply(&mut rows, now);
        rows
    }

    /// Forgets what ended before `time`.
    pub fn forget(&mut self, time: i64) {
        for folder in &mut self.folders {
            folder.tracker.forget(time);
        }
    }
}
