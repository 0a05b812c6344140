//! What is kept of sessions comes back, is replaced and forgotten as a whole.

use super::*;

fn session(key: u64, stamp: u64, messages: usize) -> SessionRows {
    let message = MessageRow {
        kind: "answer".into(),
        fate: "kept".into(),
        tokens: Some([5, 4, 3, 0, 2, 1, 15]),
        versions: vec![(0, 10)],
        pieces: vec![(20, 5)],
        calls: vec![CallRow { name: "read".into(), output_state: "whole", ..CallRow::default() }],
        touched: vec![TouchRow {
            tool: "read".into(),
            how: "read",
            path: "a.rs".into(),
            time: None,
        }],
        ..MessageRow::default()
    };
    SessionRows {
        key,
        stamp,
        source: "agent",
        id: format!("session-{key}"),
        files: vec!["/a".into()],
        messages: vec![message; messages],
        ..SessionRows::default()
    }
}

fn counts(file: &FactFile) -> Vec<i64> {
    let count = |table: &&str| {
        file.db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    tables::OF_SESSION.iter().map(count).collect()
}

#[test]
fn a_session_is_kept_replaced_and_forgotten_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.db");
    let mut file = FactFile::open(&path, "1").unwrap();
    file.keep(&[session(u64::MAX, 1, 3), session(2, 1, 2)]).unwrap();
    assert_eq!(counts(&file), [2, 5, 5, 5, 5, 5]);
    file.keep(&[session(u64::MAX, 7, 1)]).unwrap();
    assert_eq!(counts(&file), [2, 3, 3, 3, 3, 3]);
    drop(file);
    let mut file = FactFile::open(&path, "1").unwrap();
    assert_eq!(file.stamps().unwrap(), HashMap::from([(u64::MAX, 7), (2, 1)]));
    file.forget(&[u64::MAX, 99]).unwrap();
    assert_eq!(counts(&file), [1, 2, 2, 2, 2, 2]);
    assert_eq!(file.stamps().unwrap(), HashMap::from([(2, 1)]));
}

#[test]
fn another_version_starts_anew_and_damage_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.db");
    FactFile::open(&path, "1").unwrap().keep(&[session(1, 1, 1)]).unwrap();
    assert_eq!(FactFile::open(&path, "1").unwrap().stamps().unwrap().len(), 1);
    assert!(FactFile::open(&path, "2").unwrap().stamps().unwrap().is_empty());
    let broken = folder.path().join("broken.db");
    #[expect(clippy::disallowed_methods, reason = "a test makes what it looks at")]
    std::fs::write(&broken, vec![b'x'; 8192]).unwrap();
    assert!(matches!(FactFile::open(&broken, "1"), Err(Error::Damaged(_))));
}

#[test]
fn what_is_not_committed_was_never_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.db");
    let mut file = FactFile::open(&path, "1").unwrap();
    file.keep(&[session(1, 1, 2)]).unwrap();
    let change = file.db.transaction().unwrap();
    delete(&change, 1).unwrap();
    insert(&change, &session(1, 2, 1)).unwrap();
    drop(change);
    assert_eq!(file.stamps().unwrap(), HashMap::from([(1, 1)]));
    assert_eq!(counts(&file), [1, 2, 2, 2, 2, 2]);
}
