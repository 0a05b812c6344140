//! Tests of plans on every fixture and every recorded home.

#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]
#![expect(clippy::disallowed_methods, reason = "tests change their own files")]

mod doctor;
mod handover;
mod rewriting;
mod selecting;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_engine::{Engine, Setup};
use recount_model::Clock;
use recount_platform::{Env, Processes, Running};
use recount_testkit::{NOW, corpus, fixtures};
use tempfile::TempDir;

/// No agent is running.
#[derive(Debug)]
struct Nobody;

impl Processes for Nobody {
    fn running(&self, _variables: &[&str]) -> Vec<Running> {
        Vec::new()
    }
}

fn engine(home: &Path) -> Engine {
    let data = home.join("recount-data");
    let env = Env::for_tests([("RECOUNT_DATA_DIR", data.to_str().unwrap())], None);
    let clock = Clock::fixed(NOW.parse().unwrap());
    let setup = Setup {
        known_sources: recount_engine::SOURCES,
        homes: vec![home.to_owned()],
        sources: Vec::new(),
        env,
        clock,
    };
    Engine::new(setup).unwrap().with_processes(Arc::new(Nobody))
}

fn entries(path: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in entries(from) {
        let target = to.join(path.file_name().unwrap());
        let kind = fs::symlink_metadata(&path).unwrap();
        if kind.is_dir() {
            copy(&path, &target);
        } else if kind.is_file() {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Returns all recorded and synthetic homes, each copied to its own folder.
fn homes() -> impl Iterator<Item = (String, TempDir)> {
    let cases = fixtures().into_iter().map(|case| case.path.join("home"));
    let corpus = corpus();
    // Without a corpus the fixtures replace it, and need not be checked twice.
    let captures = if corpus.is_recorded() { corpus.captures } else { Vec::new() };
    let captures = captures.into_iter().flat_map(|capture| capture.homes());
    cases.chain(captures).filter(|home| home.join(".gemini").is_dir()).map(|home| {
        let folder = tempfile::tempdir().unwrap();
        copy(&home.join(".gemini"), &folder.path().join(".gemini"));
        (home.display().to_string(), folder)
    })
}
