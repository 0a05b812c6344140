//! `recount export --format parquet`

#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use jiff::Timestamp;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use recount_testkit::{Home, fixtures};
use serde_json::{Map, Value, json};

use crate::home;

const TABLES: [&str; 5] = ["sessions", "messages", "tool_calls", "requests", "files_touched"];

/// Returns the files below a folder of a home, by their names in it.
fn files(home: &Home, folder: &str) -> BTreeMap<String, std::path::PathBuf> {
    fn gather(path: &Path, name: &str, all: &mut BTreeMap<String, std::path::PathBuf>) {
        for entry in fs::read_dir(path).into_iter().flatten() {
            let entry = entry.unwrap();
            let name = format!("{name}/{}", entry.file_name().to_string_lossy());
            if entry.file_type().unwrap().is_dir() {
                gather(&entry.path(), &name, all);
            } else if entry.path().extension().is_some_and(|ending| ending == "parquet") {
                all.insert(name, entry.path());
            }
        }
    }
    let mut all = BTreeMap::new();
    gather(&home.path().join(folder), "", &mut all);
    all
}

/// Returns the rows of a table like `recount sql --json`, with the values in folder names.
pub(super) fn rows(home: &Home, folder: &str, table: &str) -> Vec<Map<String, Value>> {
    let mut rows = Vec::new();
    for (name, path) in files(home, &format!("{folder}/{table}")) {
        let [_, source, month, _] = name.split('/').collect::<Vec<_>>().try_into().unwrap();
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            let cells = row.get_column_iter().map(|(name, field)| (name.clone(), answer(field)));
            let mut cells: Map<String, Value> = cells.collect();
            let at = |text: &str, key| json!(text.strip_prefix(key).unwrap());
            cells.insert("source".into(), at(source, "source="));
            cells.insert("month".into(), at(month, "month="));
            rows.push(cells);
        }
    }
    rows
}

fn answer(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Str(text) => json!(text),
        Field::Long(number) => json!(number),
        Field::Double(number) => json!(number),
        Field::Bool(flag) => json!(u8::from(*flag)),
        Field::TimestampMillis(millis) => {
            json!(format!("{:.3}", Timestamp::from_millisecond(*millis).unwrap()))
        }
        other => json!(format!("{other:?}")),
    }
}

/// Returns the rows of a view.
fn asked(home: &Home, table: &str) -> Vec<Map<String, Value>> {
    let answer = home.run(["sql", &format!("SELECT * FROM {table}"), "--json"]).stdout;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let columns = answer["columns"].as_array().unwrap();
    let row = |row: &Value| {
        let cells = columns.iter().zip(row.as_array().unwrap());
        cells.map(|(name, cell)| (name.as_str().unwrap().to_owned(), cell.clone())).collect()
    };
    answer["rows"].as_array().unwrap().iter().map(row).collect()
}

fn sorted(rows: Vec<Map<String, Value>>) -> Vec<String> {
    let mut rows: Vec<String> = rows.into_iter().map(|row| Value::from(row).to_string()).collect();
    rows.sort();
    rows
}

fn summary(home: &Home, arguments: &[&str]) -> Value {
    let mut all = vec!["export", "--format", "parquet", "-o", "out", "--json"];
    all.extend(arguments);
    let output = home.run(all);
    serde_json::from_str::<Value>(&output.stdout).unwrap()["export"].clone()
}

#[test]
fn tables_of_every_fixture_are_those_of_sql() {
    let cases = fixtures();
    let home = home(cases.iter().map(|case| case.name.as_str()));
    let output = home.run(["export", "--all", "--format", "parquet", "-o", "out"]);
    assert_eq!(output.code, Some(0), "{output}");
    for table in TABLES {
        let mut read = rows(&home, "out", table);
        let month = |row: &mut Map<String, Value>| row.remove("month").unwrap();
        let months: Vec<Value> = read.iter_mut().map(month).collect();
        if table == "sessions" {
            for (row, month) in read.iter().zip(&months) {
                let began = if row["started"].is_null() { "updated" } else { "started" };
                let began = row[began].as_str().map(|time| &time[..7]);
                assert_eq!(month, began.unwrap_or("__HIVE_DEFAULT_PARTITION__"));
            }
        }
        assert!(read.len() > 20, "{} {table}", read.len());
        let (read, asked) = (sorted(read), sorted(asked(&home, table)));
        let differs = read.iter().zip(&asked).find(|(read, asked)| read != asked);
        assert_eq!(differs, None, "{table}");
        assert_eq!(read.len(), asked.len(), "{table}");
    }
}

#[test]
fn only_changes_are_written_and_deleted_sessions_are_removed() {
    let home = home(["gemini/lines/tools", "gemini/lines/multi-turn"]);
    let head = json!({"sessionId": "feedbeef-0000-4000-8000-000000000001", "projectHash": "0".repeat(64),
        "startTime": "2026-09-15T08:00:00.000Z", "lastUpdated": "2026-09-15T08:00:09.000Z", "kind": "main"});
    let prompt = |id: &str| json!({"id": id, "timestamp": "2026-09-15T08:00:01.000Z", "type": "user", "content": [{"text": "Hello"}]});
    let path = ".gemini/tmp/shop/chats/session-2026-09-15T08-00-feedbeef.jsonl";
    home.write(path, format!("{head}\n{}\n", prompt("p1")));
    let first = summary(&home, &["--all"]);
    assert_eq!((&first["written"], &first["files"]), (&json!(2), &json!(10)), "{first}");
    let second = summary(&home, &["--all"]);
    assert_eq!((&second["written"], &second["unchanged"]), (&json!(0), &json!(2)), "{second}");
    home.write(path, format!("{head}\n{}\n{}\n", prompt("p1"), prompt("p2")));
    let third = summary(&home, &["--all"]);
    assert_eq!((&third["written"], &third["unchanged"]), (&json!(1), &json!(1)), "{third}");
    let said =
        |rows: &[Map<String, Value>]| rows.iter().filter(|row| row["month"] == "2026-09").count();
    assert_eq!(said(&rows(&home, "out", "messages")), 2);
    // Files of others are kept, and so is their folder.
    let mine = home.at("out/requests/source=gemini/month=2026-09/mine.txt");
    home.write(&mine, "mine");
    #[expect(clippy::disallowed_methods, reason = "the test acts as the agent")]
    fs::remove_file(home.at(path)).unwrap();
    let fourth = summary(&home, &["--all"]);
    assert_eq!(fourth["removed"], 5, "{fourth}");
    assert_eq!(
        fourth["files"], 1,
        "the agent's list has other numbers, nothing else is new: {fourth}"
    );
    assert!(files(&home, "out").keys().all(|name| name.contains("month=2026-11")));
    assert!(Path::new(&mine).exists());
    assert!(!Path::new(&home.at("out/messages/source=gemini/month=2026-09")).exists());
    let fifth = summary(&home, &["--all"]);
    assert_eq!((&fifth["written"], &fifth["removed"]), (&json!(0), &json!(0)), "{fifth}");
}

#[test]
fn some_tables_of_some_sessions() {
    let home = home(["gemini/lines/tools", "gemini/lines/rewind"]);
    let one = summary(&home, &["--all", "--table", "requests"]);
    assert_eq!((&one["written"], &one["files"]), (&json!(1), &json!(1)), "{one}");
    assert!(files(&home, "out").keys().all(|name| name.starts_with("/requests/")));
    let every = summary(&home, &["--all"]);
    assert_eq!((&every["written"], &every["files"]), (&json!(1), &json!(4)), "{every}");
    let id = "8662c6d1-79eb-45ff-9a82-649436c92eda";
    summary(&home, &[id]);
    for table in TABLES {
        let key = if table == "sessions" { "id" } else { "session" };
        let mut own = rows(&home, "out", table);
        for row in &mut own {
            row.remove("month").unwrap();
        }
        let mut all = asked(&home, table);
        all.retain(|row| row[key] == id);
        assert_eq!(sorted(own), sorted(all), "{table}");
    }
    summary(&home, &["--all", "--view", "strict"]);
    let strict = rows(&home, "out", "messages");
    assert!(strict.iter().all(|row| row["fate"] == "kept"));
    assert!(strict.len() < asked(&home, "messages").len());
}

#[test]
fn a_saved_chat_is_a_session_too() {
    let home = home(["gemini/lines/saved-chats"]);
    let chat = fs::read_dir(home.path().join(".gemini/tmp/shop")).unwrap();
    let chat = chat.map(|entry| entry.unwrap().path());
    let is_chat = |path: &std::path::PathBuf| path.to_string_lossy().contains("checkpoint-");
    let chat = chat.into_iter().find(is_chat).unwrap();
    let answer = summary(&home, &[chat.to_str().unwrap()]);
    assert_eq!(answer["written"], 1, "{answer}");
    let shown = home.run(["show", chat.to_str().unwrap(), "--json"]).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let texts = |rows: &mut dyn Iterator<Item = &Value>| rows.cloned().collect::<Vec<Value>>();
    let messages = rows(&home, "out", "messages");
    assert!(!messages.is_empty());
    assert_eq!(
        texts(&mut messages.iter().map(|row| &row["text"])),
        texts(&mut shown["messages"].as_array().unwrap().iter().map(|message| &message["text"]))
    );
}

#[test]
fn it_goes_into_a_folder() {
    let home = home(["gemini/lines/tools"]);
    home.write("file", "mine");
    insta::assert_snapshot!(home.run(["export", "--all", "--format", "parquet"]), @r"
    ------- stderr -------
    error: parquet needs an output folder: it writes several tables, partitioned by agent and month
    hint: give one with -o DIR; it is created if needed
    hint: one table in one file is --format csv --table TABLE
    [exit 2]
    ");
    for target in ["-", "file", "tables.parquet"] {
        let output = home.run(["export", "--all", "-f", "parquet", "-o", target]);
        assert_eq!(output.code, Some(2), "{target}: {output}");
        assert!(output.stderr.contains("parquet needs an output folder"), "{target}: {output}");
    }
    insta::assert_snapshot!(home.run(["export", "--all", "-f", "csv", "--table", "messages"]), @r"
    ------- stderr -------
    error: --table messages is for parquet, not for csv
    hint: leave out --table messages, or choose another --format
    [exit 2]
    ");
    let answer = home.run(["export", "--all", "-f", "parquet", "-o", "out"]);
    assert!(answer.stderr.starts_with("note: 1 partition written (5 files, "), "{answer}");
    let inside = home.run(["export", "--all", "-f", "parquet", "-o", ".gemini/tmp"]);
    assert_eq!(inside.code, Some(3), "{inside}");
}

#[test]
fn files_of_others_are_not_touched() {
    let home = home(["gemini/lines/tools"]);
    let theirs = "out/messages/source=gemini/month=2026-11/messages.parquet";
    home.write(theirs, "theirs");
    home.write("out/sessions", "not a folder");
    let output = home.run(["export", "--all", "-f", "parquet", "-o", "out"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("is not a folder"), "{output}");
    #[expect(clippy::disallowed_methods, reason = "the test removes its own files")]
    fs::remove_file(home.at("out/sessions")).unwrap();
    for _ in 0..2 {
        assert_eq!(home.run(["export", "--all", "-f", "parquet", "-o", "out"]).code, Some(0));
        assert_eq!(home.read(theirs), b"theirs");
        assert!(
            home.path()
                .join("out/messages/source=gemini/month=2026-11/messages-2.parquet")
                .exists()
        );
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let home = home(["gemini/lines/tools"]);
    home.write("elsewhere/a", "");
    home.write("out/a", "");
    std::os::unix::fs::symlink(home.path().join("elsewhere"), home.path().join("out/messages"))
        .unwrap();
    let output = home.run(["export", "--all", "-f", "parquet", "-o", "out"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert_eq!(fs::read_dir(home.path().join("elsewhere")).unwrap().count(), 1);
}
