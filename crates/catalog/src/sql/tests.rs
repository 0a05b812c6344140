//! Statements that are answered, refused and not understood.

use super::*;
use crate::facts::{CallRow, FactFile, MessageRow, SessionRows};

fn fault(statement: &str) -> SqlError {
    Question::new(statement).map(|_| statement.to_owned()).unwrap_err()
}

#[test]
fn what_an_answer_needs_is_known_beforehand() {
    for (statement, sessions, facts) in [
        ("SELECT 1", false, false),
        ("SELECT count(*) FROM sessions", true, false),
        ("SELECT count(*) FROM messages", false, true),
        ("SELECT text FROM messages LIMIT 1", false, true),
        ("SELECT * FROM sessions s JOIN requests r ON r.session = s.id", true, true),
        ("WITH sessions AS (SELECT 1) SELECT * FROM sessions", false, false),
        ("EXPLAIN QUERY PLAN SELECT * FROM tool_calls;  -- a comment", false, true),
        (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT i FROM n LIMIT 3",
            false,
            false,
        ),
        ("SELECT name FROM pragma_table_info('messages')", false, false),
        ("PRAGMA table_info(files_touched)", false, false),
        ("VALUES (1), (2)", false, false),
    ] {
        let needs = Question::new(statement).map(|question| question.needs());
        assert_eq!(needs.unwrap(), Needs { sessions, facts }, "{statement}");
    }
}

#[test]
fn what_changes_anything_is_refused() {
    for statement in [
        "INSERT INTO sessions (id) VALUES ('x')",
        "WITH a AS (SELECT 1) INSERT INTO sessions (id) SELECT * FROM a",
        "WITH a AS (SELECT 1) UPDATE messages SET id = 1",
        "WITH a AS (SELECT 1) DELETE FROM kept_messages",
        "EXPLAIN DELETE FROM sessions",
        "UPDATE messages SET text = ''",
        "DELETE FROM kept_messages",
        "DROP TABLE sessions",
        "CREATE TABLE mine (a)",
        "CREATE TEMP TABLE mine (a)",
        "CREATE VIRTUAL TABLE mine USING fts5(a)",
        "ATTACH '/tmp/other.db' AS other",
        "DETACH main",
        "PRAGMA writable_schema = ON",
        "PRAGMA query_only = OFF",
        "PRAGMA journal_mode = DELETE",
        "SELECT load_extension('x')",
        "BEGIN",
        "SAVEPOINT a",
        "VACUUM",
        "VACUUM INTO '/tmp/copy.db'",
        "REINDEX",
        "SELECT 1; DELETE FROM sessions",
    ] {
        assert!(
            matches!(fault(statement), SqlError::Refused(_)),
            "{statement}: {:?}",
            fault(statement)
        );
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (statement, what, at) in [
        ("SELECT speech FROM messages", "no such column: speech", Some(7)),
        ("SELECT * FROM message", "no such table: message", Some(14)),
        ("SELECTED 1", "near \"SELECTED\": syntax error", Some(0)),
        ("SELECT", "incomplete input", Some(6)),
        ("SELECT 1\0; DROP TABLE sessions", "a statement cannot hold a NUL", Some(8)),
        ("SELECT nosuch()", "no such function: nosuch", Some(7)),
        ("SELECT 'a", "unrecognized token: \"'a\"", Some(7)),
    ] {
        match fault(statement) {
            SqlError::Mistake { what: told, offset } => {
                assert_eq!((told.as_str(), offset), (what, at));
            }
            other => panic!("{statement}: {other:?}"),
        }
    }
    assert!(matches!(fault("SELECT 1; SELECT 2"), SqlError::Several));
    assert!(matches!(fault("SELECT 1; SELECTED"), SqlError::Several));
    for empty in ["", "  ", ";", "-- nothing", "/* nothing"] {
        assert!(matches!(fault(empty), SqlError::Nothing), "{empty}");
    }
}

/// Returns where it was asked to read.
struct Echo;

impl TextSource for Echo {
    fn text(&mut self, place: &TextLocation, part: TextPart) -> Option<String> {
        Some(format!("{}+{} {part:?} {:?}", place.path, place.offset, place.versions))
    }
}

#[test]
fn text_is_read_only_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.db");
    let message = MessageRow {
        kind: "answer".into(),
        fate: "kept".into(),
        offset: 7,
        versions: vec![(1, 2)],
        calls: vec![CallRow { name: "a".into(), output_state: "whole", ..CallRow::default() }; 2],
        ..MessageRow::default()
    };
    let session = SessionRows {
        key: 1,
        source: "agent",
        id: "s".into(),
        files: vec!["/log".into()],
        messages: vec![message],
        ..SessionRows::default()
    };
    let mut file = FactFile::open(&path, "1").unwrap();
    file.keep(&[session]).unwrap();
    let ask = |statement: &str| {
        let ground = SqlInput {
            prices: Box::new(()),
            facts: Some(&path),
            sessions: &mut std::iter::empty(),
            texts: Box::new(Echo),
        };
        let answer = Question::new(statement).unwrap().ask(ground).unwrap();
        let mut rows = Vec::new();
        answer
            .each(&mut |cells| {
                rows.push(format!("{cells:?}"));
                Ok(())
            })
            .unwrap();
        rows
    };
    assert_eq!(ask("SELECT text FROM messages"), [r#"[Text("/log+7 Text [(1, 2)]")]"#]);
    assert_eq!(
        ask("SELECT output FROM tool_calls WHERE call = 2"),
        [r#"[Text("/log+7 Output(1) [(1, 2)]")]"#]
    );
    assert_eq!(
        ask("SELECT recount_said(1, 99, 0, 'text'), recount_said('/etc/passwd', 1, 0, 'text')"),
        ["[Null, Null]"]
    );
    // What is written meanwhile does not disturb, and nothing can be written here.
    assert!(file.keep(&[]).is_ok());
    assert_eq!(ask("SELECT x'ff00', 1.5, cast(x'ff' AS TEXT)").len(), 1);
}

#[test]
fn every_column_has_a_name_of_its_own_and_a_line_about_it() {
    for view in VIEWS {
        let mut names: Vec<&str> = view.columns.iter().map(|column| column.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), view.columns.len(), "{}", view.name);
        assert!(view.columns.iter().all(|column| !column.about.is_empty()));
    }
}
