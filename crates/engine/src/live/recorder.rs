//! Writes down what is seen, in the form that a replay reads.

use std::io::Write;
use std::path::{Path, PathBuf};

use recount_formats::live::TimelineEntry;
use recount_model::{LiveHook, LiveProcess};

use crate::live::tail::Change;

/// Writes a recording: only what changes, one line each.
pub struct Recorder {
    out: Box<dyn Write + Send>,
    home: PathBuf,
    start: i64,
    processes: Vec<LiveProcess>,
    processes_at: i64,
}

/// Processes are written at least this often, so that a replay sees how much they write.
const EVERY: i64 = 1000;

impl std::fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Recorder").field("home", &self.home).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Begins a recording at `start`; paths are written below `home`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(out: Box<dyn Write + Send>, home: &Path, start: i64) -> std::io::Result<Self> {
        let mut recorder = Self {
            out,
            home: home.to_owned(),
            start,
            processes: Vec::new(),
            processes_at: i64::MIN,
        };
        recorder.put(&TimelineEntry { t0_epoch_ms: Some(start), ..TimelineEntry::default() })?;
        Ok(recorder)
    }

    fn put(&mut self, entry: &TimelineEntry) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }

    fn entry(&self, at: i64) -> TimelineEntry {
        TimelineEntry { t: at - self.start, ..TimelineEntry::default() }
    }

    pub(crate) fn file(&mut self, at: i64, path: &Path, change: &Change) -> std::io::Result<()> {
        let below = path.strip_prefix(&self.home).unwrap_or(path);
        let text = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).into_owned());
        let (op, data) = match change {
            Change::Opened(head, tail) | Change::Document(head, tail) => {
                let mut all = head.clone();
                all.extend(tail.iter().flatten());
                ("rewrite", text(&all))
            }
            Change::Appended(bytes) => ("append", text(bytes)),
            Change::Removed => ("delete", None),
        };
        let path = Some(below.to_string_lossy().into_owned());
        let entry = TimelineEntry { op: Some(op.to_owned()), path, data, ..self.entry(at) };
        self.put(&entry)
    }

    pub(crate) fn processes(&mut self, at: i64, processes: &[LiveProcess]) -> std::io::Result<()> {
        let numbers = |all: &[LiveProcess]| {
            all.iter().map(|one| (one.pid, one.start_ticks, one.is_zombie())).collect::<Vec<_>>()
        };
        if numbers(processes) == numbers(&self.processes) && at - self.processes_at < EVERY {
            return Ok(());
        }
        self.processes = processes.to_vec();
        self.processes_at = at;
        let entry = TimelineEntry { proc: Some(processes.to_vec()), ..self.entry(at) };
        self.put(&entry)
    }

    pub(crate) fn hook(&mut self, hook: &LiveHook) -> std::io::Result<()> {
        let entry = TimelineEntry { hook: Some(hook.clone()), ..self.entry(hook.at) };
        self.put(&entry)
    }

    pub(crate) fn title(&mut self, at: i64, terminal: &str, title: &str) -> std::io::Result<()> {
        let (title, terminal) = (Some(title.to_owned()), Some(terminal.to_owned()));
        let entry = TimelineEntry { title, terminal, ..self.entry(at) };
        self.put(&entry)
    }
}
