//! Recorded homes for tests, and the fixtures that replace them in a plain clone.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io, thread};

use crate::fixture::{fixtures, folders, repository};

/// The homes that a test covers.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// The captures, sorted by name.
    pub captures: Vec<Capture>,
    is_recorded: bool,
}

/// What an agent left on disk after one scripted scenario.
#[derive(Clone, Debug)]
pub struct Capture {
    /// `<release>/<scenario>`, `<agent>/<release>/<scenario>`, or the name of a fixture.
    pub name: String,
    /// Its folder, which contains `home/`.
    pub path: PathBuf,
}

/// Returns the recorded homes, or the fixtures where there are none.
///
/// `RECOUNT_CORPUS` names the folder, which contains `<release>/<scenario>/home/`; if it is set and empty, the fixtures are
/// used. Without that variable the folder is `shared/corpus` beside the repository. The name of the test and the number of
/// captures are written to standard error, bypassing the capture of the test harness.
///
/// # Panics
/// If `RECOUNT_CORPUS` names a folder without captures: a requested sweep must not pass on nothing.
pub fn corpus() -> Corpus {
    let Some(folder) = corpus_folder() else {
        let captures =
            fixtures().into_iter().map(|case| Capture { name: case.name, path: case.path });
        let captures: Vec<Capture> = captures.collect();
        report(&format!("no corpus; {} fixtures instead", captures.len()));
        return Corpus { captures, is_recorded: false };
    };
    recorded(&folder, 2)
}

/// Returns the recorded homes of agents that recount only takes folders from: `corpus-other` beside the corpus.
///
/// It contains `<agent>/<release>/<scenario>/home/`. No fixture replaces them.
///
/// # Panics
/// If there is a corpus and none of these beside it.
pub fn corpus_of_other_agents() -> Corpus {
    let Some(folder) = corpus_folder().map(|folder| folder.with_file_name("corpus-other")) else {
        report("no corpus; nothing to compare");
        return Corpus { captures: Vec::new(), is_recorded: false };
    };
    recorded(&folder, 3)
}

/// Returns the folders of live recordings, each with `timeline.jsonl` and `meta.json`: `live` beside the corpus, else those in
/// `recordings/`.
///
/// # Panics
/// If there is a corpus and none of these beside it.
pub fn recordings() -> Vec<PathBuf> {
    let named = corpus_folder().map(|folder| folder.with_file_name("live"));
    let folder = named.unwrap_or_else(|| repository().join("recordings"));
    let mut level = vec![folder.clone()];
    for _ in 0..3 {
        level = level.iter().flat_map(|path| folders(path)).collect();
    }
    level.retain(|path| path.join("timeline.jsonl").is_file());
    report(&format!("{} recordings in {}", level.len(), folder.display()));
    assert!(!level.is_empty(), "no recordings in {}", folder.display());
    level
}

/// Returns files with headless output of agents: those in `streams` beside the corpus and the telemetry logs in the corpus, else those in
/// `fixtures/streams`.
///
/// # Panics
/// If there is a corpus and none of these beside it.
pub fn streams() -> Vec<PathBuf> {
    let (folder, depth) = match corpus_folder() {
        Some(corpus) => (corpus.with_file_name("streams"), 2),
        None => (crate::fixture("streams"), 1),
    };
    let mut level = vec![folder.clone()];
    for _ in 0..depth {
        level = level.iter().flat_map(|path| folders(path)).collect();
    }
    let files = level.iter().flat_map(fs::read_dir).flatten().flatten().map(|entry| entry.path());
    let is_output = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_one = [".json", ".jsonl", ".log"].iter().any(|ending| name.ends_with(ending));
        is_one && name != "index.json"
    };
    let mut all: Vec<PathBuf> = files.filter(is_output).collect();
    if let Some(corpus) = corpus_folder() {
        let scenarios = folders(&corpus).into_iter().flat_map(|release| folders(&release));
        let logs = scenarios.map(|scenario| scenario.join("home/.gemini/telemetry.log"));
        all.extend(logs.filter(|log| log.is_file()));
    }
    all.sort();
    report(&format!("{} files in {}", all.len(), folder.display()));
    assert!(!all.is_empty(), "no headless output in {}", folder.display());
    all
}

impl Corpus {
    /// Whether these are recordings. Where fixtures replace them, a test cannot expect certain numbers.
    pub fn is_recorded(&self) -> bool {
        self.is_recorded
    }
}

impl Capture {
    /// Returns the home after the scenario.
    pub fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    /// Returns every recorded state of the home: `home`, `home-after-list`, …
    pub fn homes(&self) -> Vec<PathBuf> {
        let is_home = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("home"))
        };
        folders(&self.path).into_iter().filter(is_home).collect()
    }

    /// Returns the text of `meta.json`: the release, what was typed and what the agent printed. Fixtures have none.
    pub fn meta(&self) -> Option<String> {
        fs::read_to_string(self.path.join("meta.json")).ok()
    }
}

fn recorded(folder: &Path, depth: usize) -> Corpus {
    let mut level = if folder.is_dir() { vec![folder.to_owned()] } else { Vec::new() };
    for _ in 0..depth {
        level = level.iter().flat_map(|path| folders(path)).collect();
    }
    let capture = |path: PathBuf| {
        let below = path.strip_prefix(folder).unwrap_or(&path);
        Capture { name: below.to_string_lossy().into_owned(), path }
    };
    let captures: Vec<Capture> =
        level.into_iter().map(capture).filter(|capture| capture.home().is_dir()).collect();
    report(&format!("{} captures in {}", captures.len(), folder.display()));
    assert!(!captures.is_empty(), "no recorded homes in {}", folder.display());
    Corpus { captures, is_recorded: true }
}

/// Returns the folder of the corpus, which need not exist if `RECOUNT_CORPUS` names it.
fn corpus_folder() -> Option<PathBuf> {
    if let Some(named) = env::var_os("RECOUNT_CORPUS") {
        return Some(PathBuf::from(named)).filter(|folder| !folder.as_os_str().is_empty());
    }
    let folder = repository().parent()?.join("shared/corpus");
    folder.is_dir().then_some(folder)
}

fn report(what: &str) {
    let test = thread::current();
    let line = format!("{}: {what}\n", test.name().unwrap_or("a test"));
    // `eprintln!` would be captured and dropped when the test passes.
    let _written = io::stderr().lock().write_all(line.as_bytes());
}
