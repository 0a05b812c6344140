//! Recordings: what happened to files, processes and titles, one JSON object per line.
//!
//! `{"t","op","path","data"}` file changes below the home, `{"t","proc":[…]}` all processes, `{"t","title","who"}` titles of
//! terminals. `t` is in milliseconds since the start. Other lines (`truth`, `act`, `api`) say what the session really did and are
//! not looked at here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use recount_model::LiveHook;
use serde::{Deserialize, Serialize};

use crate::live::feed::LiveFeed;
use crate::live::{DocumentParts, FileForm, LiveProcess};

/// One line of a recording.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct TimelineEntry {
    /// Milliseconds since the start.
    pub t: i64,
    /// When the recording began, in milliseconds since 1970; on the first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t0_epoch_ms: Option<i64>,
    /// What happened to a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// The file, below the home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its old name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What was appended, or all of the new content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// All processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proc: Option<Vec<LiveProcess>>,
    /// What an agent said through a hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<LiveHook>,
    /// The title of a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Which terminal, by a label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Which terminal, by its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<String>,
}

/// Feeds a recording to trackers.
#[derive(Debug)]
pub struct TimelinePlayer {
    home: PathBuf,
    start: i64,
    documents: BTreeMap<PathBuf, Vec<u8>>,
    /// Terminals in the order they appeared.
    terminals: Vec<String>,
    /// Labels of terminals in the order they appeared, each with its last title.
    labels: Vec<(String, Option<(i64, String)>)>,
}

impl TimelinePlayer {
    /// Plays a recording that began at `start` into data folders below `home`.
    pub fn new(home: &Path, start: i64) -> Self {
        Self {
            home: home.to_owned(),
            start,
            documents: BTreeMap::new(),
            terminals: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// Returns the time of a line, in milliseconds since 1970.
    pub fn time(&self, t: i64) -> i64 {
        self.start.saturating_add(t)
    }

    /// Takes one line.
    pub fn play(&mut self, feed: &mut LiveFeed, entry: TimelineEntry) {
        let at = self.time(entry.t);
        if let (Some(op), Some(path)) = (&entry.op, &entry.path) {
            let path = self.home.join(path);
            let from = entry.from.as_ref().map(|from| self.home.join(from));
            self.file(
                feed,
                at,
                op,
                &path,
                from.as_deref(),
                entry.data.as_deref().unwrap_or_default(),
            );
        }
        if let Some(processes) = &entry.proc {
            for process in processes {
                if let Some(key) =
                    process.terminal_key().filter(|key| !self.terminals.contains(key))
                {
                    self.terminals.push(key);
                }
            }
            feed.processes(at, processes);
            self.deliver(feed);
        }
        if let Some(hook) = &entry.hook {
            feed.hook(&LiveHook { at, ..hook.clone() });
        }
        if let Some(title) = entry.title {
            if let Some(terminal) = &entry.terminal {
                feed.title(at, terminal, &title);
            } else {
                let who = entry.who.unwrap_or_default();
                match self.labels.iter_mut().find(|(label, _)| *label == who) {
                    Some((_, known)) => *known = Some((at, title)),
                    None => self.labels.push((who, Some((at, title)))),
                }
                self.deliver(feed);
            }
        }
    }

    /// Hands titles to the terminals that their labels stand for: the first label is the first terminal.
    fn deliver(&mut self, feed: &mut LiveFeed) {
        for ((_, title), terminal) in self.labels.iter_mut().zip(&self.terminals) {
            if let Some((at, title)) = title.take() {
                feed.title(at, terminal, &title);
            }
        }
    }

    fn file(
        &mut self,
        feed: &mut LiveFeed,
        at: i64,
        op: &str,
        path: &Path,
        from: Option<&Path>,
        data: &str,
    ) {
        let Some(form) = feed.form(path) else {
            if let Some(from) = from {
                feed.removed(at, from);
            }
            return;
        };
        let is_document = form == FileForm::Document;
        match op {
            "delete" => {
                self.documents.remove(path);
                feed.removed(at, path);
            }
            "append" if is_document => {
                let content = self.documents.entry(path.to_owned()).or_default();
                content.extend_from_slice(data.as_bytes());
                let document = DocumentParts { head: content, tail: None };
                feed.document(at, path, &document);
            }
            "append" => feed.append(at, path, data.as_bytes()),
            "create" | "rewrite" | "truncate" if is_document => {
                let document = DocumentParts { head: data.as_bytes(), tail: None };
                feed.document(at, path, &document);
                self.documents.insert(path.to_owned(), data.as_bytes().to_vec());
            }
            "create" | "rewrite" | "truncate" => feed.open(at, path, data.as_bytes(), None),
            "rename" => {
                let moved = from.and_then(|from| self.documents.remove(from));
                if let Some(from) = from {
                    feed.removed(at, from);
                }
                let content = if data.is_empty() {
                    moved.unwrap_or_default()
                } else {
                    data.as_bytes().to_vec()
                };
                if is_document {
                    feed.document(at, path, &DocumentParts { head: &content, tail: None });
                    self.documents.insert(path.to_owned(), content);
                } else if !data.is_empty() {
                    feed.open(at, path, data.as_bytes(), None);
                }
            }
            _ => {}
        }
    }
}

/// Estimates when a recording began from the processes in it: none of them began after it was seen.
pub fn estimate_start<'a>(entries: impl Iterator<Item = &'a TimelineEntry>) -> Option<i64> {
    let seen = entries.filter_map(|entry| Some((entry.t, entry.proc.as_ref()?)));
    let begun = seen.filter_map(|(t, all)| Some(all.iter().map(|one| one.start_ms).max()? - t));
    begun.max()
}
