//! Tests of resolving project directories to folders: on scripted homes with fake processes and disks, and on every
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

/// Returns the hash by which the agent names the project at `path`.
fn hash(path: &str) -> String {
    SOURCES[0].project_hash(path).unwrap().as_str().to_owned()
}

/// Returns a session of one prompt with the hash of `path`.
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

/// Writes a directory named by the hash of `path` without other clues.
fn write_hash_directory(home: &Home, path: &str) {
    let name = hash(path);
    let id: String = name.chars().take(8).collect();
    write_session(home, &name, &session(&id, path, "hello"));
}

/// Scripted processes.
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

/// The disk, which counts listings below the upper levels of a place.
#[derive(Debug)]
struct Counting {
    disk: DiskTree,
    deep: PathBuf,
    asked: AtomicUsize,
}

impl Counting {
    /// Counts listings of `deep` and below.
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

/// Returns an engine for the user of `home`, on a machine on which nothing runs.
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

/// The same, with a disk search that finds nothing.
fn still(home: &Home) -> Engine {
    engine(home).with_tree(Arc::new(Bare))
}

fn rows(engine: &Engine) -> Vec<ProjectRow> {
    engine.projects(None, &()).unwrap().0
}

/// Returns the row of the directory named by the hash of `path`, or by a slug.
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

/// Returns the notes about inconsistencies.
fn notes(row: &ProjectRow) -> String {
    let notes = row.evidence.iter().filter(|clue| clue.clue == ClueKind::Note);
    notes.map(|clue| clue.detail.as_str()).collect::<Vec<_>>().join("; ")
}
