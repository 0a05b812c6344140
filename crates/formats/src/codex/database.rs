//! What the agent's own index knows of threads.
//!
//! `state_<n>.sqlite` is made from the rollouts. It may be stale, locked, torn, of another form or not there, so it is asked only for
//! what no rollout says: the name that the user gave to a thread, and threads whose rollouts are gone.

use std::fs;
use std::path::{Path, PathBuf};

use recount_model::RecordedPath;

use crate::sqlite::{Database, Value};

/// What the index has been called since 0.93.
pub(super) const USUAL: &str = "state_5.sqlite";

/// What is on record of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Thread {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) cwd: Option<RecordedPath>,
    /// What the user asked first.
    pub(super) first_prompt: Option<String>,
    /// When it began, in milliseconds.
    pub(super) began: Option<i64>,
}

/// Returns the index that the newest release uses, and the log that belongs to it.
pub(super) fn files(root: &Path) -> Option<[PathBuf; 2]> {
    let newest = fs::read_dir(root).ok()?.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let form = name.strip_prefix("state")?.strip_suffix(".sqlite")?;
        let number: u32 = match form.strip_prefix('_') {
            Some(number) => number.parse().ok()?,
            None if form.is_empty() => 0,
            None => return None,
        };
        Some((number, entry.path(), name))
    });
    let (_, path, name) = newest.max_by_key(|(number, _, _)| *number)?;
    let log = path.with_file_name(format!("{name}-wal"));
    Some([path, log])
}

/// Lists the threads on record; none if the index cannot be read.
pub(super) fn threads(root: &Path) -> Vec<Thread> {
    let mut threads = Vec::new();
    let Some([path, _]) = files(root) else { return threads };
    let columns = ["id", "name", "cwd", "first_user_message", "created_at_ms", "created_at"];
    let Ok(mut database) = Database::open(&path) else { return threads };
    // What was read before a break is as good as without it.
    let _read_to_its_end = database.rows("threads", &columns, |values| {
        let [Value::Text(id), name, cwd, first, millis, seconds] = values else { return };
        let said =
            |value: &Value| value.text().filter(|text| !text.trim().is_empty()).map(str::to_owned);
        let began = match (millis, seconds) {
            (Value::Integer(millis), _) => Some(*millis),
            (_, Value::Integer(seconds)) => Some(seconds.saturating_mul(1000)),
            _ => None,
        };
        threads.push(Thread {
            id: id.clone(),
            name: said(name),
            cwd: said(cwd).map(RecordedPath::new),
            first_prompt: said(first),
            began,
        });
    });
    threads
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn the_newest_index_is_asked_and_any_form_of_it_is_borne() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(threads(root), []);
        let make = |name: &str, sql: &str| {
            Connection::open(root.join(name)).unwrap().execute_batch(sql).unwrap();
        };
        make(
            "state.sqlite",
            "CREATE TABLE threads (id TEXT, title TEXT); INSERT INTO threads VALUES ('a', 'first')",
        );
        assert_eq!(threads(root), [Thread { id: "a".to_owned(), ..Thread::default() }]);
        make(
            "state_5.sqlite",
            "CREATE TABLE threads (id TEXT PRIMARY KEY, created_at INTEGER, cwd TEXT, name TEXT, first_user_message TEXT);
             INSERT INTO threads VALUES ('b', 7, '/home/dev/code/shop', 'Notes', 'Hi'), ('c', 8, '', ' ', NULL)",
        );
        let known = threads(root);
        assert_eq!(known.len(), 2);
        assert_eq!((known[0].name.as_deref(), known[0].began), (Some("Notes"), Some(7000)));
        assert_eq!(known[0].cwd.as_ref().map(RecordedPath::as_str), Some("/home/dev/code/shop"));
        assert_eq!((&known[1].name, &known[1].cwd), (&None, &None));
        make(
            "state_12.sqlite",
            "CREATE TABLE threads (id INTEGER PRIMARY KEY); INSERT INTO threads VALUES (1)",
        );
        assert_eq!(threads(root), [], "ids of another form name nothing");
        make("state_13.sqlite", "CREATE TABLE other (id TEXT)");
        assert_eq!(threads(root), []);
    }
}
