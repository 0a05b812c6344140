//! What is sent, and how often.

use recount_engine::export::lake::{LakeLevel, LakeOptions};
use recount_lake::PushOptions;

use crate::machine::{Machine, full};
use crate::store::FaultyStore;

#[test]
fn a_push_without_changes_is_one_request() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    let first = machine.push(&store).unwrap();
    assert_eq!((first.files, first.sessions, first.unchanged), (10, 4, 0));
    store.reset();
    let second = machine.push(&store).unwrap();
    assert_eq!((second.files, second.unchanged), (0, 10));
    assert_eq!((second.requests["get"], second.requests["put"]), (1, 0));
    assert_eq!(store.count(), 1);
}

#[test]
fn one_changed_session_is_at_most_one_write_per_table() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    machine.push(&store).unwrap();
    machine.session("05", 1, 3);
    store.reset();
    machine.push(&store).unwrap();
    let puts = store.puts();
    let tables: Vec<_> = puts.iter().filter(|path| path.ends_with(".parquet")).collect();
    // No tools were called, and no file touched: those tables are as they were.
    assert_eq!(tables.len(), 3, "{puts:?}");
    assert!(tables.iter().all(|path| path.contains("/month=2026-05/")), "{puts:?}");
    assert_eq!(puts.len(), 5, "and the manifest, before and after: {puts:?}");
}

#[test]
fn the_same_sessions_are_the_same_bytes_on_every_machine() {
    let tables = |machine: &Machine| {
        let store = FaultyStore::new();
        machine.push_with(&store, &full()).unwrap();
        let objects = store.objects().into_iter().filter(|(path, _)| path.contains("/requests/"));
        objects.map(|(_, bytes)| bytes).collect::<Vec<_>>()
    };
    assert_eq!(tables(&Machine::new()), tables(&Machine::new()));
}

#[test]
fn a_dry_run_sends_nothing_and_shows_rows() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    let options = PushOptions { dry_run: true, ..PushOptions::default() };
    let report = machine.push_with(&store, &options).unwrap();
    assert!(store.objects().is_empty());
    assert_eq!(report.files, 10);
    let requests = report.tables.iter().find(|table| table.name == "requests").unwrap();
    assert_eq!(requests.rows, 8);
    let messages = report.tables.iter().find(|table| table.name == "messages").unwrap();
    let shown: Vec<&str> = messages.sample.iter().map(|(_, value)| value.as_str()).collect();
    assert!(!shown.iter().any(|value| value.contains("Secret plan")), "{shown:?}");
    let report = machine.push_with(&store, &PushOptions { dry_run: true, ..full() }).unwrap();
    let messages = report.tables.iter().find(|table| table.name == "messages").unwrap();
    assert!(messages.sample.iter().any(|(_, value)| value.contains("Secret plan")));
}

#[test]
fn deleted_sessions_leave_the_lake_unless_they_are_to_stay() {
    for keep_deleted in [false, true] {
        let (machine, store) = (Machine::new(), FaultyStore::new());
        let tables = LakeOptions { keep_deleted, ..LakeOptions::default() };
        let options = PushOptions { tables, ..PushOptions::default() };
        machine.push_with(&store, &options).unwrap();
        machine.delete("05", 1);
        machine.delete("06", 3);
        machine.delete("06", 4);
        let report = machine.push_with(&store, &options).unwrap();
        let expected = if keep_deleted { (0, 4, 8) } else { (5, 1, 2) };
        let counted = (rows(&store, "sessions/"), rows(&store, "requests/"));
        assert_eq!((report.removed, counted.0, counted.1), expected);
        // Nothing happens twice.
        store.reset();
        machine.push_with(&store, &options).unwrap();
        assert!(store.puts().is_empty(), "{:?}", store.puts());
        // Without the option, what was kept is gone.
        machine.push(&store).unwrap();
        assert_eq!((rows(&store, "sessions/"), rows(&store, "requests/")), (1, 2));
    }
}

#[test]
fn text_that_was_kept_does_not_outlive_a_lower_level() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    let options = |level| {
        let tables = LakeOptions { level, keep_deleted: true, ..LakeOptions::default() };
        PushOptions { tables, ..PushOptions::default() }
    };
    machine.push_with(&store, &options(LakeLevel::Full)).unwrap();
    machine.delete("06", 3);
    machine.delete("06", 4);
    machine.push_with(&store, &options(LakeLevel::Full)).unwrap();
    let size = |store: &FaultyStore| -> usize {
        let tables = store.objects().into_iter();
        tables.filter(|(path, _)| path.contains("/messages/")).map(|(_, bytes)| bytes.len()).sum()
    };
    let with_text = size(&store);
    machine.push_with(&store, &options(LakeLevel::None)).unwrap();
    assert!(size(&store) < with_text);
    for (path, bytes) in store.objects().into_iter().filter(|(path, _)| path.ends_with(".parquet"))
    {
        // Small pages are stored as they are when they do not get smaller.
        let found = bytes.windows(11).any(|window| window == b"Secret plan");
        assert!(!found, "{path}");
    }
}

/// Sessions of another project, with a call that reads a file.
fn add_other_project(machine: &Machine) {
    let home = machine.folder.path().join("home/.gemini/tmp/client");
    std::fs::create_dir_all(home.join("chats")).unwrap();
    std::fs::write(home.join(".project_root"), "/code/client").unwrap();
    let text = r#"{"sessionId":"99999999-0000-4000-8000-000000000000","projectHash":"q","startTime":"2026-05-20T10:00:00.000Z","lastUpdated":"2026-05-20T10:00:00.000Z","kind":"main"}
{"id":"u1","timestamp":"2026-05-20T10:01:00.000Z","type":"user","content":[{"text":"Secret plan of a client"}]}
{"id":"g1","timestamp":"2026-05-20T10:02:00.000Z","type":"gemini","content":"Fine.","toolCalls":[{"id":"c1","name":"read_file","args":{"file_path":"/code/client/contract.md"},"status":"success","timestamp":"2026-05-20T10:02:00.000Z","result":[{"functionResponse":{"id":"c1","name":"read_file","response":{"output":"text"}}}]}],"tokens":{"input":100,"output":10,"cached":0,"thoughts":0,"tool":0,"total":110},"model":"gemini-3-pro-preview"}
"#;
    std::fs::write(home.join("chats/session-2026-05-20T10-00-99999999.jsonl"), text).unwrap();
}

fn rows(store: &FaultyStore, table: &str) -> u64 {
    let mut manifests = store.objects().into_iter();
    let manifest = manifests.rfind(|(path, _)| path.contains("_origins/")).unwrap().1;
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let files = manifest["files"].as_object().unwrap().iter();
    let files = files.filter(|(path, _)| path.starts_with(table));
    files.map(|(_, file)| file["rows"].as_u64().unwrap()).sum()
}

#[test]
fn a_project_that_is_left_out_is_not_kept_as_deleted() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    add_other_project(&machine);
    let options = |excluded: &[&str]| {
        let excluded = excluded.iter().map(|name| (*name).to_owned()).collect();
        let tables = LakeOptions { keep_deleted: true, excluded, ..LakeOptions::default() };
        PushOptions { tables, raw: true, ..PushOptions::default() }
    };
    let has_copy = |store: &FaultyStore| {
        let lists = store.objects().into_iter();
        let mut lists = lists.filter(|(path, _)| path.contains("/_raw/") && path.ends_with("json"));
        lists.any(|(_, bytes)| String::from_utf8(bytes).unwrap().contains("/client/"))
    };
    machine.push_with(&store, &options(&[])).unwrap();
    assert_eq!((rows(&store, "sessions/"), has_copy(&store)), (5, true));
    machine.delete("05", 1);
    machine.push_with(&store, &options(&["client"])).unwrap();
    assert_eq!(rows(&store, "sessions/"), 4, "the deleted one stays, the client's does not");
    assert_eq!((rows(&store, "requests/"), has_copy(&store)), (8, false));
}

#[test]
fn rows_are_the_same_at_every_level() {
    let tables = ["sessions/", "messages/", "tool_calls/", "requests/", "files_touched/"];
    let counts = [LakeLevel::None, LakeLevel::Redacted, LakeLevel::Full].map(|level| {
        let (machine, store) = (Machine::new(), FaultyStore::new());
        add_other_project(&machine);
        let tables_of = LakeOptions { level, ..LakeOptions::default() };
        let options = PushOptions { tables: tables_of, ..PushOptions::default() };
        machine.push_with(&store, &options).unwrap();
        tables.map(|table| rows(&store, table))
    });
    assert_eq!(counts[0], [5, 18, 1, 9, 1]);
    assert_eq!((counts[1], counts[2]), (counts[0], counts[0]));
}
