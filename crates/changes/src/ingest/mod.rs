//! Headless output kept as sessions, in our own data folder: nothing of an agent's changes for it.
//!
//! Below `ingested/` each home has a folder that plays a home itself: what is in it lies as the agents would lay it out, so everything that reads
//! sessions reads these, too. Beside it, in `streams/`, is what the runs printed, from which the sessions are made: a longer version of a
//! run replaces the shorter one, and another run of the same session is added to it.

mod store;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use recount_engine::Error as Unanswered;
use recount_formats::Source;
use recount_formats::stream::{Run, StreamFile, StreamFormat, StreamSession};
use recount_model::{SessionId, SourceName};
use recount_store::ingested_home;
use serde::Serialize;

use self::store::{Added, RunStore};
use crate::{Changes, Error};

/// How long to wait for another run that ingests.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What is known of output besides what it says.
#[derive(Clone, Debug, Default)]
pub struct IngestOptions {
    /// The folder in which the agent ran.
    pub project: Option<String>,
    /// What was asked.
    pub prompt: Option<String>,
    /// When the output was last written: for output without times.
    pub time: Option<Timestamp>,
}

/// A session whose output was taken in.
#[derive(Clone, Debug, Serialize)]
pub struct IngestedSession {
    /// The agent.
    pub source: SourceName,
    /// Its id.
    pub id: SessionId,
    /// How it was started.
    pub kind: &'static str,
    /// What the output was: `json`, `stream-json` or `telemetry`.
    pub stream: &'static str,
    /// What was done with it.
    pub outcome: IngestOutcome,
    /// How many records were of this session.
    pub events: u64,
    /// Types of records that no known release writes, with how many there were.
    pub unknown: BTreeMap<String, u64>,
    /// The session's file, if it was made here.
    pub path: Option<PathBuf>,
}

/// What was done with output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IngestOutcome {
    /// It is a new session.
    Kept,
    /// It adds to a session that was kept before.
    Extended,
    /// All of it was kept before.
    Unchanged,
    /// The agent's own record of the session is on disk, and has all of it.
    OnDisk,
}

impl Changes<'_> {
    /// Keeps runs of agents as sessions, unless these are on disk.
    ///
    /// # Errors
    /// If our data folder cannot be used.
    pub fn ingest(
        self,
        runs: &[Run],
        options: &IngestOptions,
    ) -> Result<Vec<IngestedSession>, Error> {
        let home = self.ingested_home()?;
        let mut sessions: Vec<((SourceName, &SessionId), Vec<&Run>)> = Vec::new();
        for run in runs {
            let key = (run.source, &run.key.session);
            match sessions.iter_mut().find(|(known, _)| *known == key) {
                Some((_, all)) => all.push(run),
                None => sessions.push((key, vec![run])),
            }
        }
        if sessions.is_empty() {
            return Ok(Vec::new());
        }
        recount_writer::create_private_folder(&home)?;
        let _turn = recount_writer::disk::lock(&home.join(store::FOLDER), TIMEOUT)?;
        let mut done = Vec::with_capacity(sessions.len());
        for ((source, id), runs) in sessions {
            let known = self.engine.sources().iter().find(|known| known.name() == source);
            let Some((source, format)) = known.and_then(|known| Some((*known, known.streams()?)))
            else {
                continue;
            };
            done.push(self.ingest_session(&home, source, format, id, &runs, options)?);
        }
        Ok(done)
    }

    fn ingest_session(
        self,
        home: &Path,
        source: &'static dyn Source,
        format: &'static dyn StreamFormat,
        id: &SessionId,
        runs: &[&Run],
        options: &IngestOptions,
    ) -> Result<IngestedSession, Error> {
        let root = home.join(source.folders().below_home.first().copied().unwrap_or_default());
        let mut store = RunStore::read(home, source.name(), id)?;
        let files = |store: &RunStore| {
            let runs = store.runs();
            let session = StreamSession { id, runs: &runs };
            if runs.is_empty() { Vec::new() } else { format.files(&session) }
        };
        let before = files(&store);
        let is_on_disk = self.is_on_disk(home, source, id);
        // One that was deleted comes back.
        let is_there = |file: &StreamFile| file.is_session && root.join(&file.path).is_file();
        let mut outcome = if before.iter().any(is_there) {
            IngestOutcome::Unchanged
        } else {
            IngestOutcome::Kept
        };
        for run in runs {
            let is_more = store.add(run, options) != Added::Nothing;
            if is_more && outcome == IngestOutcome::Unchanged {
                outcome = IngestOutcome::Extended;
            }
        }
        let mut after = files(&store);
        if is_on_disk {
            // What the run records about the project is still worth keeping.
            after.retain(|file| !file.is_session);
            outcome = IngestOutcome::OnDisk;
        } else {
            store.write()?;
        }
        for file in &after {
            put(&root.join(&file.path), &file.bytes)?;
        }
        if !is_on_disk {
            let is_stale = |file: &&StreamFile| !after.iter().any(|kept| kept.path == file.path);
            for file in before.iter().filter(|file| file.is_session).filter(is_stale) {
                recount_writer::disk::remove(&root.join(&file.path))?;
            }
        }
        let mut unknown: BTreeMap<String, u64> = BTreeMap::new();
        for (kind, count) in runs.iter().flat_map(|run| &run.unknown) {
            *unknown.entry(kind.clone()).or_default() += count;
        }
        Ok(IngestedSession {
            source: source.name(),
            id: id.clone(),
            kind: "headless",
            stream: runs.first().map_or("", |run| run.key.kind.as_str()),
            outcome,
            events: runs.iter().map(|run| run.events).sum(),
            unknown,
            path: after.iter().find(|file| file.is_session).map(|file| root.join(&file.path)),
        })
    }

    /// Whether the agent itself has a session on disk.
    fn is_on_disk(self, home: &Path, source: &dyn Source, id: &SessionId) -> bool {
        let wanted = format!("{}:{id}", source.name());
        let elsewhere = |path: &str| !Path::new(path).starts_with(home);
        match self.engine.open(&wanted, &()) {
            Ok(opened) => {
                let facts = &opened.facts;
                facts.id == *id
                    && !facts.is_empty()
                    && facts.files.iter().any(|file| elsewhere(&file.path))
            }
            Err(Unanswered::Ambiguous { candidates, .. }) => {
                candidates.iter().any(|facts| facts.id == *id && !facts.is_empty())
            }
            Err(_) => false,
        }
    }

    /// Returns the folder for what is ingested for the home that is read.
    fn ingested_home(self) -> Result<PathBuf, Error> {
        let data = self.data_apart()?;
        let home = self.engine.first_home().ok_or(Unanswered::NoDataFolder)?;
        let home = ingested_home(data, &home);
        Ok(std::path::absolute(&home).unwrap_or(home))
    }
}

/// Writes a file, unless it is as it should be.
fn put(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let is_same = recount_formats::bytes::read_limited(path, bytes.len() as u64 + 1)
        .is_ok_and(|known| known == bytes);
    if !is_same {
        if let Some(folder) = path.parent() {
            recount_writer::create_private_folder(folder)?;
        }
        recount_writer::write_private(path, bytes)?;
    }
    Ok(())
}
