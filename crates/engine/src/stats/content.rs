//! What filled the context: prompts, files, outputs, thoughts. This reads all messages.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::Mutex;

use recount_formats::Source;
use recount_formats::source::{FileAccess, FileAt, SessionFiles};
use recount_model::{Message, MessageKind, SessionFacts, ToolCall, ToolStatus};
use serde::Serialize;

use super::StatsRequest;
use crate::cache::growth::FullRead;
use crate::cache::refresh::hash;
use crate::cancel::stop_if_cancelled;
use crate::messages::{Messages, View};
use crate::search::index::session_key;
use crate::sessions::facts::facts;
use crate::snapshot::disk_scan::{Group, Progress, scan_files};
use crate::{Engine, Error};

/// How much of an error is compared.
const ERROR: usize = 160;

/// What filled the context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContentStats {
    /// The number of sessions that were read.
    pub sessions: u64,
    /// The number of messages that could not be read in full.
    pub unread: u64,
    /// The text by kind, largest first.
    pub parts: Vec<ContentPart>,
    /// Tool outputs by tool, largest first.
    pub outputs: Vec<ToolOutput>,
    /// Causes of tool failures, most frequent first.
    pub errors: Vec<ToolError>,
    /// Files that were attached, read, written or named, largest first.
    pub files: Vec<FileUse>,
}

/// One kind of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContentPart {
    /// What it is.
    pub kind: &'static str,
    /// The number of pieces.
    pub pieces: u64,
    /// The size of the text.
    pub bytes: u64,
}

/// The outputs of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolOutput {
    /// The tool.
    pub tool: String,
    /// The number of calls.
    pub calls: u64,
    /// The size of the text.
    pub bytes: u64,
}

/// The cause of a tool failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolError {
    /// The tool.
    pub tool: String,
    /// The start of the error message.
    pub error: String,
    /// How often.
    pub times: u64,
}

/// A file, and how it was used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileUse {
    /// Its path, as in the messages.
    pub path: String,
    /// How often its text was sent to the model: attached to a prompt, or read by a tool.
    pub sent: u64,
    /// The size of that text.
    pub bytes: u64,
    /// How often it was written.
    pub written: u64,
    /// How often a call named it, whatever the outcome.
    pub named: u64,
}

impl Engine {
    /// Determines what filled the context, and why tools failed.
    ///
    /// # Errors
    /// If a filter is invalid.
    pub fn content(
        &self,
        asked: &StatsRequest,
        progress: &dyn Progress,
    ) -> Result<ContentStats, Error> {
        let listing = self.list(&asked.sessions, progress)?;
        let disk = self.look();
        let mut files: HashMap<String, (usize, Arc<FileAt>)> = HashMap::new();
        for (number, folder) in disk.folders.iter().enumerate() {
            for file in &folder.at.files {
                let path = file.path.to_string_lossy().into_owned();
                files.insert(path, (number, Arc::clone(file)));
            }
        }
        let group = |session: &Arc<SessionFacts>| {
            let known = session.own_files().filter_map(|file| files.get(&file.path).cloned());
            let files: Vec<_> = known.collect();
            let folder = files.first().and_then(|(folder, _)| disk.folders.get(*folder))?;
            Some(Group { source: folder.source, files })
        };
        let groups: Vec<Group> = listing.sessions.iter().filter_map(group).collect();
        let wanted: HashSet<u64> =
            listing.sessions.iter().map(|facts| session_key(facts)).collect();
        let met = Mutex::new(HashSet::new());
        let look = |source: &'static dyn Source, session_files: SessionFiles| {
            let is_wanted = wanted.contains(&session_key(&facts(source, &session_files)));
            is_wanted.then(|| look(source, &session_files, &met, asked))
        };
        let mut all = ContentCounts::default();
        let found = scan_files(&disk, &groups, &FullRead, progress, look);
        stop_if_cancelled(progress)?;
        for (_, counts) in found {
            if let Some(counts) = counts {
                all.add(counts);
            }
        }
        Ok(all.content())
    }
}

/// The results of one session, or of many.
#[derive(Debug, Default)]
struct ContentCounts {
    sessions: u64,
    unread: u64,
    parts: BTreeMap<&'static str, (u64, u64)>,
    outputs: BTreeMap<String, (u64, u64)>,
    errors: BTreeMap<(String, String), u64>,
    files: BTreeMap<String, FileUse>,
}

fn look(
    source: &'static dyn Source,
    session_files: &SessionFiles,
    met: &Mutex<HashSet<u64>>,
    asked: &StatsRequest,
) -> ContentCounts {
    let mut counts = ContentCounts { sessions: 1, ..ContentCounts::default() };
    let (since, until) = (asked.sessions.since, asked.sessions.until);
    for message in Messages::new(source, session_files, None, View::Full) {
        let Ok(message) = message else {
            counts.unread += 1;
            continue;
        };
        let is_within = since.is_none_or(|since| message.time.is_some_and(|time| time >= since))
            && until.is_none_or(|until| message.time.is_some_and(|time| time <= until));
        let key = message.id.as_ref().map(|id| hash(&(id.as_str(), message.time)));
        // Copies of a message in other sessions were sent again, but are not new.
        let is_new = |key| met.lock().is_ok_and(|mut met| met.insert(key));
        if is_within && key.is_none_or(is_new) {
            counts.message(source, &message);
        }
    }
    counts
}

impl ContentCounts {
    fn part(&mut self, kind: &'static str, bytes: usize) {
        if bytes > 0 {
            let (pieces, sum) = self.parts.entry(kind).or_default();
            *pieces += 1;
            *sum += bytes as u64;
        }
    }

    fn message(&mut self, source: &dyn Source, message: &Message) {
        let kind = match message.kind {
            MessageKind::Prompt => "prompts",
            MessageKind::Answer => "answers",
            MessageKind::Context => "context",
            MessageKind::Hook => "hooks",
            MessageKind::Shell => "shell",
            MessageKind::Summary => "summaries",
            MessageKind::Nudge => "nudges",
            // Tool outputs are counted with their calls, and notices are not sent.
            MessageKind::ToolResult | MessageKind::Notice => "",
        };
        if !kind.is_empty() {
            let files: usize = message.files.iter().map(|file| file.content.len()).sum();
            self.part(kind, message.text.len().saturating_sub(files));
        }
        for file in &message.files {
            self.part("files", file.content.len());
            let used = self.file(&file.path);
            used.sent += 1;
            used.bytes += file.bytes;
        }
        for thought in &message.thoughts {
            self.part("thoughts", thought.subject.len() + thought.description.len());
        }
        for call in &message.tool_calls {
            self.call(source, call);
        }
    }

    fn call(&mut self, source: &dyn Source, call: &ToolCall) {
        let output = call.output.as_deref().unwrap_or_default();
        self.part("tool calls", call.args.as_str().len());
        self.part("tool output", output.len());
        let (calls, bytes) = self.outputs.entry(call.name.clone()).or_default();
        *calls += 1;
        *bytes += output.len() as u64;
        if call.status == ToolStatus::Error {
            let line = output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let error: String = line.trim().chars().take(ERROR).collect();
            *self.errors.entry((call.name.clone(), error)).or_default() += 1;
        }
        let touched = source.touched(call);
        let reads =
            touched.iter().filter(|touch| touch.how == FileAccess::Read).count().max(1) as u64;
        for touch in touched {
            let used = self.file(&touch.path);
            match touch.how {
                FileAccess::Read => {
                    used.sent += 1;
                    used.bytes += output.len() as u64 / reads;
                }
                FileAccess::Written => used.written += 1,
                FileAccess::Named => used.named += 1,
            }
        }
    }

    fn file(&mut self, path: &str) -> &mut FileUse {
        let new = || FileUse { path: path.to_owned(), ..FileUse::default() };
        self.files.entry(path.to_owned()).or_insert_with(new)
    }

    fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.unread += other.unread;
        for (kind, (pieces, bytes)) in other.parts {
            let own = self.parts.entry(kind).or_default();
            *own = (own.0 + pieces, own.1 + bytes);
        }
        for (tool, (calls, bytes)) in other.outputs {
            let own = self.outputs.entry(tool).or_default();
            *own = (own.0 + calls, own.1 + bytes);
        }
        for (error, times) in other.errors {
            *self.errors.entry(error).or_default() += times;
        }
        for (path, used) in other.files {
            let own = self.file(&path);
            own.sent += used.sent;
            own.bytes += used.bytes;
            own.written += used.written;
            own.named += used.named;
        }
    }

    fn content(self) -> ContentStats {
        use std::cmp::Reverse;
        let part = |(kind, (pieces, bytes))| ContentPart { kind, pieces, bytes };
        let output = |(tool, (calls, bytes))| ToolOutput { tool, calls, bytes };
        let error = |((tool, error), times)| ToolError { tool, error, times };
        let mut content = ContentStats {
            sessions: self.sessions,
            unread: self.unread,
            parts: self.parts.into_iter().map(part).collect(),
            outputs: self.outputs.into_iter().map(output).collect(),
            errors: self.errors.into_iter().map(error).collect(),
            files: self.files.into_values().collect(),
        };
        content.parts.sort_by_key(|part| Reverse(part.bytes));
        content.outputs.sort_by_key(|output| Reverse(output.bytes));
        content.errors.sort_by_key(|error| Reverse(error.times));
        content
            .files
            .sort_by_key(|file| Reverse((file.bytes, file.sent, file.written, file.named)));
        content
    }
}
