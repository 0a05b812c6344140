//! Which folder each project directory stands for: on scripted homes with fake processes and disks, and on every
//! recorded home.
#![expect(clippy::panic, reason = "a test may fail by panic")]

mod bad_input;
mod clues;
mod corpus;
mod learned;
mod machine;
mod places;
mod renamed;
mod slow_disks;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use recount_engine::{Engine, ProjectRow, Setup};
use recount_formats::SOURCES;
use recount_model::{Clock, Clue, ClueKind};
use recount_platform::{Env, FolderEntry, Lister, Processes, Running};
use recount_store::scan::{DiskTree, FolderTree};
use recount_testkit::{Home, NOW};
use serde_json::{Value, json};

/// The hash by which the agent names the project at `path`.
fn hash(path: &str) -> String {
    SOURCES[0].project_hash(path).unwrap().as_str().to_owned()
}

/// A session of one prompt that carries the hash of `path`.
fn session(id: &str, path: &str, prompt: &str) -> String {
    let head = json!({"sessionId": id, "projectHash": hash(path), "startTime": "2026-11-15T08:00:00.000Z",
        "lastUpdated": "2026-11-15T08:00:01.000Z", "kind": "main"});
    let message = json!({"id": format!("{id}-1"), "timestamp": "2026-11-15T08:00:01.000Z", "type": "user",
        "content": [{"text": prompt}]});
    format!("{head}\n{message}\n")
}

/// Writes a session into a directory of the agent.
fn write_session(home: &Home, directory: &str, text: &str) {
    let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let short: String = head["sessionId"].as_str().unwrap().chars().take(8).collect();
    let file = format!(".gemini/tmp/{directory}/chats/session-2026-11-15T08-00-{short}.jsonl");
    home.write(&file, text);
}

/// Writes a directory that is named by the hash of `path` and tells nothing else of it.
fn write_hash_directory(home: &Home, path: &str) {
    let name = hash(path);
    let id: String = name.chars().take(8).collect();
    write_session(home, &name, &session(&id, path, "hello"));
}

/// Processes that a test makes up.
#[derive(Debug, Default)]
struct Scripted(Vec<Running>);

impl Processes for Scripted {
    fn running(&self, _variables: &[&str]) -> Vec<Running> {
        self.0.clone()
    }
}

/// A disk without folders.
#[derive(Debug)]
struct Bare;

impl FolderTree for Bare {
    fn lister(&self, _place: &Path) -> Lister {
        Lister::default()
    }

    fn folders(&self, _: &Path, _: Lister, _: &mut dyn FnMut(&FolderEntry<'_>)) -> io::Result<()> {
        Ok(())
    }
}

/// The disk, and how often it was asked for what lies below the upper levels of a place.
#[derive(Debug)]
struct Counting {
    disk: DiskTree,
    deep: PathBuf,
    asked: AtomicUsize,
}

impl Counting {
    /// Counts questions for `deep` and what lies below it.
    fn below(deep: PathBuf) -> Arc<Self> {
        Arc::new(Self { disk: DiskTree::new(), deep, asked: AtomicUsize::new(0) })
    }

    fn asked(&self) -> usize {
        self.asked.swap(0, Ordering::SeqCst)
    }
}

impl FolderTree for Counting {
    fn lister(&self, place: &Path) -> Lister {
        self.disk.lister(place)
    }

    fn folders(
        &self,
        folder: &Path,
        lister: Lister,
        visit: &mut dyn FnMut(&FolderEntry<'_>),
    ) -> io::Result<()> {
        self.asked.fetch_add(usize::from(folder.starts_with(&self.deep)), Ordering::SeqCst);
        self.disk.folders(folder, lister, visit)
    }
}

/// The user of `home` asks, at a machine on which nothing runs.
fn engine(home: &Home) -> Engine {
    engine_at(home, NOW)
}

/// The same at another time.
fn engine_at(home: &Home, now: &str) -> Engine {
    let data = home.at(".local/share/recount");
    let pairs = [("HOME", home.path().to_str().unwrap()), ("RECOUNT_DATA_DIR", data.as_str())];
    let env = Env::for_tests(pairs, None);
    let clock = Clock::fixed(now.parse().unwrap());
    let setup =
        Setup { known_sources: SOURCES, homes: Vec::new(), sources: Vec::new(), env, clock };
    Engine::new(setup).unwrap().with_processes(Arc::new(Scripted::default()))
}

/// The same, where no search of the disk finds anything.
fn still(home: &Home) -> Engine {
    engine(home).with_tree(Arc::new(Bare))
}

fn rows(engine: &Engine) -> Vec<ProjectRow> {
    engine.projects(None, &()).unwrap().0
}

/// The row of the directory that is named by the hash of `path`, or by a slug.
#[track_caller]
fn row<'a>(rows: &'a [ProjectRow], directory: &str) -> &'a ProjectRow {
    let name = if directory.contains(['/', '\\']) { hash(directory) } else { directory.to_owned() };
    let has = |row: &&ProjectRow| row.parts.iter().any(|part| part.directory.ends_with(&name));
    rows.iter().find(has).unwrap_or_else(|| panic!("no directory {name}"))
}

fn path(row: &ProjectRow) -> Option<&str> {
    row.path.as_ref().map(recount_model::RecordedPath::as_str)
}

fn clue(row: &ProjectRow, kind: ClueKind) -> Option<&Clue> {
    row.evidence.iter().find(|clue| clue.clue == kind)
}

/// Asserts that the directory named by the hash of `folder` is proven to be that folder, by this kind of clue.
#[track_caller]
fn assert_proven(engine: &Engine, folder: &str, by: ClueKind) {
    let rows = rows(engine);
    let row = row(&rows, folder);
    assert_eq!(path(row), Some(folder), "{:?}", row.evidence);
    let clue = clue(row, by).unwrap_or_else(|| panic!("no {by} in {:?}", row.evidence));
    assert!(clue.proves && clue.weight == 100, "{clue:?}");
}

/// The notes on what does not fit.
fn notes(row: &ProjectRow) -> String {
    let notes = row.evidence.iter().filter(|clue| clue.clue == ClueKind::Note);
    notes.map(|clue| clue.detail.as_str()).collect::<Vec<_>>().join("; ")
}
