//! Names: those of files, and those that users gave to threads.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use recount_model::SessionId;

use crate::bytes::{LINES_TAIL, read_tail};
use crate::json::Scanner;

use super::database;
use super::record::{string, text};

/// What the name of a rollout says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RolloutName<'a> {
    /// The local time, as text.
    pub(super) time: &'a str,
    pub(super) thread: &'a str,
    /// The thread again, but for one that was reverted.
    pub(super) rollout: &'a str,
}

const PREFIX: &str = "rollout-";
const ENDINGS: [&str; 3] = [".jsonl.zst", ".jsonl", ".json"];

/// How long an id is.
const ID: usize = 36;

/// Reads the name of a file; `None` if it is not a rollout.
pub(super) fn rollout(name: &str) -> Option<RolloutName<'_>> {
    let stem = stem(name)?;
    let (before, rollout) = split_id(stem).unwrap_or(("", stem));
    let reverted = before.strip_suffix('_').and_then(split_id);
    let (time, thread) = reverted.unwrap_or((before, rollout));
    Some(RolloutName { time: time.trim_end_matches('-'), thread, rollout })
}

fn stem(name: &str) -> Option<&str> {
    let rest = name.strip_prefix(PREFIX)?;
    ENDINGS.iter().find_map(|ending| rest.strip_suffix(ending)).filter(|stem| !stem.is_empty())
}

fn split_id(text: &str) -> Option<(&str, &str)> {
    let (before, id) = text.split_at_checked(text.len().checked_sub(ID)?)?;
    let is_id = id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_id.then_some((before, id))
}

/// The same for a path.
pub(super) fn of_path(path: &Path) -> Option<RolloutName<'_>> {
    rollout(path.file_name()?.to_str()?)
}

/// Where the names of threads are.
pub(super) fn index_file(root: &Path) -> PathBuf {
    root.join("session_index.jsonl")
}

/// Reads the names that users gave to threads; the last one of each counts. The agent's index is asked where no other record has one.
pub(super) fn given(root: &Path) -> Vec<(SessionId, String)> {
    let bytes = read_tail(&index_file(root), LINES_TAIL).unwrap_or_default();
    let mut names: HashMap<String, String> = HashMap::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Some((id, name)) = entry(line) {
            names.insert(id, name);
        }
    }
    for thread in database::threads(root) {
        if let Some(name) = thread.name {
            names.entry(thread.id).or_insert(name);
        }
    }
    let mut names: Vec<_> = names.into_iter().filter(|(_, name)| !name.trim().is_empty()).collect();
    names.sort();
    names.into_iter().map(|(id, name)| (SessionId::new(id), name)).collect()
}

/// Reads one line of the index.
pub(super) fn entry(line: &[u8]) -> Option<(String, String)> {
    let (mut id, mut name) = (None, None);
    Scanner::new(Some(line).filter(|line| line.first() == Some(&b'{'))?)
        .object(|scanner, key| {
            let value = scanner.value()?;
            if key.is("id") {
                id = string(Some(value));
            } else if key.is("thread_name") {
                name = text(Some(value)).map(|text| text.decode().into_owned());
            }
            Ok(())
        })
        .ok()?;
    Some((id?, name?))
}

#[cfg(test)]
mod tests {
    use recount_testkit::Home;
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn names_come_from_the_list_of_names_and_else_from_the_index() {
        let home = Home::empty();
        home.write(".codex/session_index.jsonl", "{\"id\":\"a\",\"thread_name\":\"listed\"}\n");
        let root = home.path().join(".codex");
        let db = Connection::open(root.join("state_5.sqlite")).unwrap();
        db.execute_batch(
            "CREATE TABLE threads (id TEXT PRIMARY KEY, title TEXT, name TEXT);
             INSERT INTO threads VALUES ('a', 'x', 'stale'), ('b', 'x', 'only here'), ('c', 'x', NULL)",
        )
        .unwrap();
        let named = |id: &str, name: &str| (SessionId::new(id), name.to_owned());
        assert_eq!(given(&root), [named("a", "listed"), named("b", "only here")]);
    }

    #[test]
    fn names_of_every_release_are_read() {
        let id = "01a1e06d-9d83-79a1-b887-d77d275061bd";
        let next = "01a1e06e-63ad-7dd3-b795-d79341dd1065";
        let read = |name: &str| {
            rollout(name)
                .map(|name| (name.time.to_owned(), name.thread.to_owned(), name.rollout.to_owned()))
        };
        let time = "2026-11-15T18-17-22";
        let one = Some((time.to_owned(), id.to_owned(), id.to_owned()));
        for ending in ENDINGS {
            assert_eq!(read(&format!("rollout-{time}-{id}{ending}")), one);
        }
        let reverted = Some((time.to_owned(), id.to_owned(), next.to_owned()));
        assert_eq!(read(&format!("rollout-{time}-{id}_{next}.jsonl")), reverted);
        let date = Some(("2026-11-15".to_owned(), id.to_owned(), id.to_owned()));
        assert_eq!(read(&format!("rollout-2026-11-15-{id}.json")), date);
        assert_eq!(read("notes.jsonl"), None);
        assert_eq!(read("rollout-.jsonl"), None);
        assert_eq!(
            read("rollout-short.jsonl"),
            Some((String::new(), "short".into(), "short".into()))
        );
        assert_eq!(read("rollout-2026-11-15T18-17-22-01a1e06d.tmp"), None);
    }
}
