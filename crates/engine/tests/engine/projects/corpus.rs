//! Tests on every project directory of every recorded home: the right folder, or none if there is no clue.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use recount_engine::ProjectRow;
use recount_testkit::{Capture, corpus};
use serde_json::Value;

use super::{Arc, Bare, Scripted, hash};

fn entries(path: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(path).into_iter().flatten();
    let mut all: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

#[expect(clippy::disallowed_methods, reason = "a test reads what it compares with")]
fn text_of(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// Returns all text below a folder.
fn all_text(folder: &Path) -> String {
    let below = |path: PathBuf| if path.is_dir() { all_text(&path) } else { text_of(&path) + "\n" };
    entries(folder).into_iter().map(below).collect()
}

/// Returns the folders in which the agent was run in a capture.
fn folders_used(capture: &Capture) -> Option<BTreeSet<String>> {
    let meta: Value = serde_json::from_str(&capture.meta()?).unwrap();
    let runs = ["commands", "list_sessions"].into_iter().filter_map(|key| meta[key].as_array());
    let folders = runs.flatten().map(|run| &run["cwd"]).chain([&meta["project_path"]]);
    Some(folders.filter_map(Value::as_str).map(str::to_owned).collect())
}

/// Returns the folder of a project directory: the one whose hash is its name or is in its sessions, else that of its
/// marker.
fn truth(directory: &Path, home: &Path, used: &BTreeSet<String>) -> Option<String> {
    let name = directory.file_name().unwrap().to_string_lossy();
    let text = all_text(&directory.join("chats"));
    let by_name = used.iter().find(|folder| hash(folder) == name);
    let by_hash = used.iter().find(|folder| text.contains(&hash(folder)));
    let marker = |root: &str| {
        let marker = home.join(".gemini").join(root).join(&*name).join(".project_root");
        Some(text_of(&marker).trim().to_owned()).filter(|path| !path.is_empty())
    };
    by_name.or(by_hash).cloned().or_else(|| marker("tmp")).or_else(|| marker("history"))
}

fn rows(home: &Path) -> Vec<ProjectRow> {
    let engine = crate::engine(home, None);
    let engine = engine.with_processes(Arc::new(Scripted::default())).with_tree(Arc::new(Bare));
    engine.projects(None, &()).unwrap().0
}

#[test]
fn every_directory_resolves_to_its_recorded_folder_or_to_none() {
    let corpus = corpus();
    let (mut resolved, mut proven, mut untold) = (0, 0, 0);
    for capture in &corpus.captures {
        // The folders in which the agent was run are only recorded in a real recording.
        let Some(used) = folders_used(capture) else { continue };
        for home in capture.homes() {
            let told = all_text(&home);
            for row in rows(&home) {
                let known = row.path.as_ref().map(|path| path.as_str().to_owned());
                for part in &row.parts {
                    let at = part.directory.display();
                    let truth = truth(&part.directory, &home, &used);
                    let truth = truth.unwrap_or_else(|| panic!("nobody knows the truth of {at}"));
                    match &known {
                        Some(known) => assert_eq!(*known, truth, "{at}: {:?}", row.evidence),
                        None => assert!(!told.contains(&truth), "{at}: {truth} is told"),
                    }
                    resolved += usize::from(known.is_some());
                    untold += usize::from(known.is_none());
                    proven += usize::from(row.evidence.iter().any(|clue| clue.proves));
                }
            }
        }
    }
    if !corpus.is_recorded() {
        return;
    }
    // Of the eras that name a project only by its hash, some homes mention no file.
    assert!(resolved > 2 * untold, "{resolved} resolved, {untold} not");
    assert!(proven > resolved / 2, "{proven} of {resolved} proven");
}
