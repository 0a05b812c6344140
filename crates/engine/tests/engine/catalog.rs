//! With a catalog every answer is what it is without one.

#![expect(clippy::disallowed_methods, reason = "a test changes what it looks at")]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use recount_engine::ListQuery;
use recount_testkit::{Home, fixtures};

use crate::engine;

/// Lists everything, as text.
fn list(home: &Path, data: Option<&Path>) -> String {
    let listing = engine(home, data).list(&ListQuery::default(), &()).unwrap();
    let problems: Vec<_> = listing.sessions.iter().map(|session| &session.problem_list).collect();
    format!("{}\n{problems:?}", serde_json::to_string_pretty(&listing.sessions).unwrap())
}

/// Says what a home with and without a catalog answers, twice with it.
pub(crate) fn check(home: &Path, data: &Path, what: &str) {
    let without = list(home, None);
    assert_eq!(list(home, Some(data)), without, "{what}, to be learned");
    assert_eq!(list(home, Some(data)), without, "{what}, remembered");
    assert_eq!(list(home, Some(data)), without, "{what}, remembered as a whole");
}

/// Makes a file as old as those that nobody is writing.
fn age(path: &Path, seconds: u64) {
    let then = SystemTime::now() - Duration::from_secs(seconds);
    File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
}

fn sessions(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(sessions(&entry.path()));
        } else if entry.file_name().to_string_lossy().starts_with("session-") {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

#[test]
fn every_fixture_is_remembered_as_it_was_read() {
    for case in fixtures() {
        let home = Home::with([case.name.as_str()]);
        check(home.path(), &home.path().join("data"), &case.name);
    }
}

#[test]
fn what_changed_is_read_again() {
    let home =
        Home::with(["gemini/checkpoints/tools", "gemini/lines/plain", "gemini/strings/plain"]);
    let data = home.path().join("data");
    check(home.path(), &data, "as recorded");
    let files = sessions(&home.path().join(".gemini"));
    let log = files.iter().find(|path| path.extension().is_some_and(|e| e == "jsonl")).unwrap();
    let line = r#"{"id":"new-1","timestamp":"2026-11-15T19:00:00Z","type":"user","content":[{"text":"one more"}]}"#;
    writeln!(File::options().append(true).open(log).unwrap(), "{line}").unwrap();
    check(home.path(), &data, "a line appended");
    age(log, 60);
    check(home.path(), &data, "the same line, some time ago");
    // The same size, another content.
    let text = fs::read_to_string(log).unwrap().replace("one more", "one less");
    fs::write(log, text).unwrap();
    age(log, 30);
    check(home.path(), &data, "a word replaced");
    fs::remove_file(log).unwrap();
    check(home.path(), &data, "a file removed");
    fs::write(log, format!("{line}\n")).unwrap();
    check(home.path(), &data, "another file in its place");
}

#[test]
fn a_large_log_goes_on_where_it_was_left() {
    let home = Home::with(["gemini/checkpoints/rewind"]);
    let data = home.path().join("data");
    let files = sessions(&home.path().join(".gemini"));
    let log = files.iter().find(|path| path.extension().is_some_and(|e| e == "jsonl")).unwrap();
    let append = |lines: &str| {
        File::options().append(true).open(log).unwrap().write_all(lines.as_bytes()).unwrap();
    };
    let words = "word ".repeat(300);
    let message = |n: usize| {
        format!(
            r#"{{"id":"m-{n}","timestamp":"2026-11-15T19:00:00Z","type":"user","content":[{{"text":"{words}{n}"}}]}}"#
        )
    };
    let many: String = (0..1500).map(|n| message(n) + "\n").collect();
    append(&many);
    check(home.path(), &data, "more than a megabyte");
    append(&format!("{}\n", message(2000)));
    check(home.path(), &data, "a line more");
    append("{\"$rewindTo\":\"m-1000\"}\n");
    check(home.path(), &data, "a rewind");
    append(&format!("{{\"$set\":{{\"messages\":[{}]}}}}\n", message(7)));
    check(home.path(), &data, "a checkpoint");
    append(r#"{"id":"torn","timestamp":"2026-11-15T19:0"#);
    check(home.path(), &data, "a torn line");
    append("0:00Z\",\"type\":\"user\",\"content\":[{\"text\":\"whole now\"}]}\n");
    check(home.path(), &data, "the rest of it");
    // Cut short, and grown past the old size with other content.
    let text = fs::read(log).unwrap();
    fs::write(log, &text[..1_200_000]).unwrap();
    check(home.path(), &data, "cut");
    let other: String = (5000..7000).map(|n| message(n) + "\n").collect();
    append(&other);
    check(home.path(), &data, "grown differently");
}

#[test]
fn a_damaged_or_locked_catalog_stops_nobody() {
    let home = Home::with(["gemini/lines/plain"]);
    let data = home.path().join("data");
    check(home.path(), &data, "fresh");
    let file = data.join("catalog.db");
    let zeros = vec![0; 70_000];
    for bytes in [&b"not a database, but long enough to be looked at as one"[..], &[], &zeros] {
        fs::write(&file, bytes).unwrap();
        check(home.path(), &data, "damaged");
    }
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    for byte in &mut bytes[middle..] {
        *byte ^= 0x5a;
    }
    fs::write(&file, bytes).unwrap();
    check(home.path(), &data, "half of it overwritten");
    let blocked = home.path().join("blocked");
    fs::write(&blocked, "a file where a folder should be").unwrap();
    check(home.path(), &blocked.join("data"), "no data folder");
}

#[test]
fn runs_at_the_same_time_agree() {
    let home =
        Home::with(["gemini/checkpoints/tools", "gemini/lines/migration", "gemini/strings/paths"]);
    let data = home.path().join("data");
    let without = list(home.path(), None);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..5 {
                    assert_eq!(list(home.path(), Some(&data)), without);
                }
            });
        }
    });
}
