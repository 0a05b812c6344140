//! Snapshots: what they answer is what a look at the disk answers, what changed is told, and nothing is done when nothing did.

#![expect(clippy::disallowed_methods, reason = "a test changes what it looks at")]

mod cursor;
mod grown;
mod questions;
mod refresh;
mod soak;
mod watch;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use recount_engine::Engine;
use recount_testbed::{Era, TestbedAgent, TestbedOptions};
use tempfile::TempDir;

/// A synthetic home with room for our own data.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(sessions: usize, megabytes: f64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The tests change records of these.
        let eras = Era::of(TestbedAgent::Gemini);
        let options = TestbedOptions { sessions, megabytes, eras, ..TestbedOptions::default() };
        recount_testbed::generate(&folder.path().join("home"), &options, &mut |_, _| {}).unwrap();
        let place = Self { folder };
        for path in place.everything() {
            age(&path, 3600);
        }
        place
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Returns an engine that keeps its data in a folder of this name.
    fn engine(&self, data: &str) -> Engine {
        crate::engine(&self.home(), Some(&self.folder.path().join(data)))
    }

    /// Lists all session files.
    fn sessions(&self) -> Vec<PathBuf> {
        let mut found = self.everything();
        let is_session = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("session-") && path.is_file()
        };
        found.retain(is_session);
        found
    }

    /// Lists all files and folders, what is inside of a folder before it.
    fn everything(&self) -> Vec<PathBuf> {
        fn below(folder: &Path, found: &mut Vec<PathBuf>) {
            let mut paths: Vec<PathBuf> =
                fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            paths.sort();
            for path in paths {
                if path.is_dir() {
                    below(&path, found);
                }
                found.push(path);
            }
        }
        let mut found = Vec::new();
        below(&self.home().join(".gemini"), &mut found);
        found
    }

    /// Returns a log to which lines are appended.
    fn log(&self) -> PathBuf {
        let is_log = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "jsonl");
        self.sessions().into_iter().find(is_log).unwrap()
    }
}

/// Makes a file or folder as old as those that nobody is writing.
fn age(path: &Path, seconds: u64) {
    let then = SystemTime::now() - Duration::from_secs(seconds);
    File::open(path).unwrap().set_modified(then).unwrap();
}

/// Appends a prompt to a log.
fn append(path: &Path, number: usize) {
    let line = format!(
        r#"{{"id":"appended-{number}","timestamp":"2026-11-15T19:00:00Z","type":"user","content":[{{"text":"prompt number {number}"}}]}}"#
    );
    writeln!(File::options().append(true).open(path).unwrap(), "{line}").unwrap();
}

/// Writes a log of a new session beside another, and returns its path.
pub(crate) fn add_beside(path: &Path, number: usize) -> PathBuf {
    let id = format!("{number:08x}-5c1b-4a5e-9f60-0b1c2d3e4f50");
    let new = session_beside(path, number);
    let head = format!(
        r#"{{"sessionId":"{id}","projectHash":"x","startTime":"2026-11-15T18:00:00Z","lastUpdated":"2026-11-15T18:00:00Z"}}"#
    );
    fs::write(&new, format!("{head}\n")).unwrap();
    append(&new, number);
    new
}

/// Returns where [`add_beside`] puts a session.
pub(crate) fn session_beside(path: &Path, number: usize) -> PathBuf {
    path.with_file_name(format!("session-2026-11-15T18-00-{number:08x}.jsonl"))
}
