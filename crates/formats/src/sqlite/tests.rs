//! Databases that the library wrote, read without it.

#![expect(clippy::disallowed_methods, reason = "a test writes what it reads")]

use std::fs;

use proptest::prelude::*;
use rusqlite::Connection;

use super::*;

/// Rows as the library reads them.
type Rows = Vec<(String, Option<String>, i64)>;

fn wanted(count: i64) -> Rows {
    let one = |number: i64| {
        // From short ones to some that take several pages.
        let long = "字".repeat(usize::try_from(number % 7).unwrap() * 700);
        (format!("thread-{number:05}"), (number % 3 > 0).then_some(long), number * 1_000_003 - 9)
    };
    (0..count).map(one).collect()
}

fn fill(db: &Connection, rows: &Rows) {
    db.execute_batch(
        "CREATE TABLE other (a); CREATE TABLE threads (id TEXT PRIMARY KEY, made REAL DEFAULT 1.5, name TEXT, n INTEGER NOT NULL);
         ALTER TABLE threads ADD COLUMN late TEXT; BEGIN;",
    )
    .unwrap();
    for (id, name, number) in rows {
        db.execute("INSERT INTO threads (id, name, n) VALUES (?1, ?2, ?3)", (id, name, number))
            .unwrap();
    }
    db.execute_batch("COMMIT").unwrap();
}

fn read(path: &Path) -> Rows {
    let mut rows = Vec::new();
    let mut database = Database::open(path).unwrap();
    database
        .rows("threads", &["id", "NAME", "n", "late", "none"], |values| match values {
            [Value::Text(id), name, Value::Integer(number), Value::Null, Value::Null] => {
                let name = name.text().map(str::to_owned);
                rows.push((id.clone(), name, *number));
            }
            other => panic!("{other:?}"),
        })
        .unwrap();
    rows
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn rows_are_those_that_were_written_whatever_the_size_of_pages() {
    for page in [512, 4096, 65_536] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        let db = Connection::open(&path).unwrap();
        db.execute_batch(&format!("PRAGMA page_size = {page}")).unwrap();
        let rows = wanted(900);
        fill(&db, &rows);
        assert_eq!(read(&path), rows, "{page}");
    }
}

#[test]
fn what_is_only_in_the_log_counts_once_it_is_committed_and_nothing_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.sqlite");
    let db = Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0").unwrap();
    let rows = wanted(300);
    fill(&db, &rows);
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    db.execute("UPDATE threads SET name = 'new' WHERE id = 'thread-00007'", []).unwrap();
    let mut changed = rows;
    changed[7].1 = Some("new".to_owned());
    assert_eq!(read(&path), changed);
    // A lock that somebody holds is not waited for, and what is not committed is not there.
    db.execute_batch("BEGIN EXCLUSIVE; UPDATE threads SET name = 'never'").unwrap();
    assert_eq!(read(&path), changed);
    drop(db);
    // Copied without the shared memory, as a backup has it: nothing is made beside it.
    let copy = tempfile::tempdir().unwrap();
    let path = copy.path().join("a.sqlite");
    let db = Connection::open(folder.path().join("b.sqlite")).unwrap();
    db.execute_batch("PRAGMA journal_mode = wal").unwrap();
    fill(&db, &changed);
    for ending in ["", "-wal"] {
        let (from, to) = (format!("b.sqlite{ending}"), format!("a.sqlite{ending}"));
        fs::copy(folder.path().join(from), copy.path().join(to)).unwrap();
    }
    assert_eq!(read(&path), changed);
    assert_eq!(names(copy.path()), ["a.sqlite", "a.sqlite-wal"]);
}

#[test]
fn what_is_no_database_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.sqlite");
    assert!(Database::open(&path).is_err());
    for content in [&b""[..], b"SQLite format 3\0", &[0; 5000], b"SQLite format 3\0\x10\0\x07\x07"]
    {
        fs::write(&path, content).unwrap();
        assert!(Database::open(&path).is_err());
    }
    let db = Connection::open(folder.path().join("b.sqlite")).unwrap();
    db.execute_batch(
        "CREATE TABLE a (b TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO a VALUES ('x')",
    )
    .unwrap();
    let mut database = Database::open(&folder.path().join("b.sqlite")).unwrap();
    assert!(database.rows("none", &["b"], |_| {}).is_err());
    assert!(database.rows("a", &["b"], |_| {}).is_err(), "a table without row ids");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn damaged_databases_are_read_to_their_end(
        damage in prop::collection::vec((0_usize..40_000, any::<u8>()), 1..60),
        length in 0_usize..40_000,
        in_log in any::<bool>(),
    ) {
        static WRITTEN: std::sync::OnceLock<(Vec<u8>, Vec<u8>)> = std::sync::OnceLock::new();
        let (database, log) = WRITTEN.get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.sqlite");
            let db = Connection::open(&path).unwrap();
            db.execute_batch("PRAGMA page_size = 512; PRAGMA journal_mode = wal").unwrap();
            fill(&db, &wanted(40));
            db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); UPDATE threads SET n = 1").unwrap();
            (fs::read(&path).unwrap(), fs::read(folder.path().join("a.sqlite-wal")).unwrap())
        });
        let (mut database, mut log) = (database.clone(), log.clone());
        let hurt = if in_log { &mut log } else { &mut database };
        let size = hurt.len();
        for (at, byte) in damage {
            hurt[at % size] = byte;
        }
        hurt.truncate(length.max(1));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        fs::write(&path, &database).unwrap();
        fs::write(folder.path().join("a.sqlite-wal"), &log).unwrap();
        let mut rows = 0_usize;
        if let Ok(mut database) = Database::open(&path) {
            let _read = database.rows("threads", &["id", "name"], |_| rows += 1);
        }
        prop_assert!(rows < 100_000);
    }
}
