//! Shared by tests of commands that change something.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "test setup must succeed"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use recount_testkit::Home;
use serde_json::Value;

/// A file with its bytes, its time and its permissions; a folder has none of them.
pub(crate) type Tree = BTreeMap<PathBuf, Option<(Vec<u8>, SystemTime, bool)>>;

/// Returns all contents of an agent's folder.
pub(crate) fn tree(home: &Home) -> Tree {
    let mut tree = Tree::new();
    let mut open = vec![home.path().join(".gemini")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                tree.insert(path.clone(), None);
                open.push(path);
            } else {
                let (time, readonly) =
                    (metadata.modified().unwrap(), metadata.permissions().readonly());
                let bytes = fs::read(&path).unwrap();
                tree.insert(path, Some((bytes, time, readonly)));
            }
        }
    }
    tree
}

/// Returns every file below a folder of the home, with its bytes.
pub(crate) fn files(home: &Home, below: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![home.path().join(below)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                all.insert(path, bytes);
            }
        }
    }
    all
}

/// Returns the JSON output of a command.
#[track_caller]
pub(crate) fn json(home: &Home, arguments: &[&str]) -> Value {
    let output = home.run(arguments.iter().chain(&["--json"]));
    serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output}"))
}

/// Carries out a change, which must succeed. Returns its JSON output.
#[track_caller]
pub(crate) fn change(home: &Home, arguments: &[&str]) -> Value {
    let output = home.run(arguments.iter().chain(&["--yes", "--json"]));
    assert_eq!(output.code, Some(0), "{output}");
    serde_json::from_str(&output.stdout).unwrap()
}

/// Undoes a change, and checks that everything is as before.
#[track_caller]
pub(crate) fn undo(home: &Home, change: &Value, before: &Tree) {
    let undone = home.run(["undo", change["receipt"].as_str().unwrap(), "--yes"]);
    assert_eq!(undone.code, Some(0), "{undone}");
    let after = tree(home);
    let paths = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(paths(&after), paths(before));
    assert!(after == *before, "bytes, times or permissions differ");
}

/// Returns all sessions in the list.
pub(crate) fn sessions(home: &Home) -> Vec<Value> {
    json(home, &["list", "--all"])["sessions"].as_array().unwrap().clone()
}

/// Returns one session of the list.
#[track_caller]
pub(crate) fn session(home: &Home, id: &str) -> Value {
    let found = sessions(home).into_iter().find(|session| session["id"] == id);
    found.unwrap_or_else(|| panic!("no session {id}"))
}

/// Returns the messages of a session, without their locations.
pub(crate) fn said(home: &Home, id: &str) -> Vec<Value> {
    let shown = json(home, &["show", id]);
    let mut messages = shown["messages"].as_array().unwrap().clone();
    for message in &mut messages {
        message.as_object_mut().unwrap().remove("where");
    }
    messages
}

/// Returns the names of the files in a folder below the agent's, sorted.
pub(crate) fn names(home: &Home, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(home.path().join(".gemini").join(folder)).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Creates a folder in the home, and returns its path.
pub(crate) fn folder(home: &Home, path: &str) -> String {
    home.write(&format!("{path}/README.md"), "");
    home.at(path)
}

/// Returns a log with one prompt and its answer.
pub(crate) fn log(id: &str, words: &str) -> String {
    format!(
        "{{\"sessionId\":\"{id}\",\"projectHash\":\"x\",\"startTime\":\"2026-11-15T08:00:00.000Z\",\"lastUpdated\":\"2026-11-15T08:00:09.000Z\",\"kind\":\"main\"}}\n\
        {{\"id\":\"{words}-1\",\"timestamp\":\"2026-11-15T08:00:01.000Z\",\"type\":\"user\",\"content\":[{{\"text\":\"{words}?\"}}]}}\n\
        {{\"id\":\"{words}-2\",\"timestamp\":\"2026-11-15T08:00:09.000Z\",\"type\":\"gemini\",\"content\":\"{words}!\"}}\n"
    )
}
