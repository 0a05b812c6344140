//! With a catalog every answer is what it is without one.

#![expect(clippy::disallowed_methods, reason = "a test changes what it looks at")]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use recount_engine::{ContentFilter, KeptListing, ListQuery, Noted};
use recount_formats::Source;
use recount_formats::source::SessionFiles;
use recount_model::{Problem, Project, SessionRow};
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

fn everything() -> ListQuery {
    ListQuery { pending_deletion: true, labelled: true, ..ListQuery::default() }
}

fn row_text(row: &SessionRow<'_>, project: &Project) -> String {
    format!("{row:?}\n{}", serde_json::to_string(project).unwrap())
}

/// Lists everything as `--json` prints it, and once more from the rows that the catalog keeps, if they hold.
fn listed_and_kept(home: &Path, data: &Path) -> (Vec<String>, Option<Vec<String>>) {
    let engine = engine(home, Some(data));
    let mut listing = engine.list(&everything(), &()).unwrap();
    engine.price(&mut listing.sessions, &());
    let listed = listing.sessions.iter().map(|facts| row_text(&(&**facts).into(), &facts.project));
    let mut listed: Vec<String> = listed.collect();
    let problems = listing.sessions.iter().flat_map(|facts| &facts.problem_list);
    let problems: Vec<&Problem> = listing.problems.iter().chain(problems).collect();
    listed.push(format!("{} {problems:?}", listing.problems.len()));
    engine.finish_writing();
    let print = |kept: &KeptListing<'_>| {
        let rows = kept.rows.iter().map(|(row, project)| row_text(row, project));
        let problems = format!("{} {:?}", kept.other_problems, kept.problems);
        rows.chain([problems]).collect()
    };
    (listed, engine.list_kept(&everything(), &(), print).unwrap())
}

#[test]
fn kept_rows_are_those_of_the_list() {
    let (mut kept_lists, mut homes) = (0, 0);
    for case in fixtures() {
        let home = Home::with([case.name.as_str()]);
        let data = home.path().join("data");
        for _ in 0..3 {
            let (listed, kept) = listed_and_kept(home.path(), &data);
            if let Some(kept) = &kept {
                assert_eq!(*kept, listed, "{}", case.name);
            }
            kept_lists += usize::from(kept.is_some());
        }
        homes += 1;
    }
    assert!(kept_lists > homes, "{kept_lists} kept lists of {homes} homes");
}

#[test]
fn kept_rows_do_not_outlive_a_change() {
    let home = Home::with(["gemini/checkpoints/tools", "gemini/lines/plain"]);
    let (path, data) = (home.path(), home.path().join("data"));
    let check = |is_kept: bool, what: &str| {
        let engine = engine(path, Some(&data));
        let kept = engine.list_kept(&everything(), &(), |_| ()).unwrap();
        assert_eq!(kept.is_some(), is_kept, "{what}, before it is listed again");
        // What was read is kept by the first list, and the list itself by the second, if not by the first.
        listed_and_kept(path, &data);
        let (listed, kept) = listed_and_kept(path, &data);
        if let Some(kept) = kept {
            assert_eq!(kept, listed, "{what}");
        }
        listed
    };
    let first = check(false, "nothing is known");
    assert_eq!(check(true, "nothing has changed"), first);
    let files = sessions(&path.join(".gemini"));
    let log = files.iter().find(|path| path.extension().is_some_and(|e| e == "jsonl")).unwrap();
    let line =
        r#"{"id":"new-2","timestamp":"2026-11-15T19:00:00Z","type":"user","content":"One more."}"#;
    writeln!(File::options().append(true).open(log).unwrap(), "{line}").unwrap();
    let second = check(false, "a line was appended");
    assert_ne!(second, first);
    check(false, "the file was written a moment ago");
    age(log, 60);
    assert_eq!(check(false, "its time was set back"), second);
    assert_eq!(check(true, "it is old enough"), second);
    let engine = engine(path, Some(&data));
    let id = engine.list(&everything(), &()).unwrap().sessions[0].id.as_str().to_owned();
    engine.change_labels(&[id], |labels| labels.pinned = true, &()).unwrap();
    let pinned = check(true, "a session was pinned");
    assert_ne!(pinned, second);
    let limited = ListQuery { limit: Some(1), ..everything() };
    assert!(engine.list_kept(&limited, &(), |_| ()).unwrap().is_none());
    fs::remove_file(log).unwrap();
    assert_ne!(check(false, "a file is gone"), pinned);
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

/// Asks which sessions named a path or called a tool, as text.
fn holding(home: &Path, data: Option<&Path>) -> String {
    let mut told = Vec::new();
    for (what, name) in [("tool", "Shell"), ("touched", "src/"), ("touched", "prices.csv")] {
        let named = |wanted: &str| (what == wanted).then(|| name.to_owned());
        let content = ContentFilter { tool: named("tool"), touched: named("touched") };
        let query = ListQuery { content, ..ListQuery::default() };
        let listing = engine(home, data).list(&query, &()).unwrap();
        let ids: Vec<&str> = listing.sessions.iter().map(|facts| facts.id.as_str()).collect();
        told.push(format!("{what} {name}: {}", ids.join(" ")));
    }
    told.join("\n")
}

#[test]
fn what_sessions_name_is_remembered_as_it_was_read() {
    let mut found = 0;
    for case in fixtures() {
        let home = Home::with([case.name.as_str()]);
        let (path, data) = (home.path(), home.path().join("data"));
        let without = holding(path, None);
        found += without.lines().filter(|line| !line.ends_with(": ")).count();
        assert_eq!(holding(path, Some(&data)), without, "{}, to be learned", case.name);
        assert_eq!(holding(path, Some(&data)), without, "{}, remembered", case.name);
    }
    assert!(found > 5, "{found} answers: the fixtures say nothing");
}

#[test]
fn what_a_changed_session_names_is_read_again_and_nothing_else() {
    let home = Home::with(["gemini/checkpoints/tools", "gemini/lines/plain"]);
    let (path, data) = (home.path(), home.path().join("data"));
    let before = holding(path, Some(&data));
    assert!(!before.contains("newest"), "{before}");
    let files = sessions(&home.path().join(".gemini"));
    let log = files.iter().find(|path| path.extension().is_some_and(|e| e == "jsonl")).unwrap();
    let line = r#"{"id":"new-1","timestamp":"2026-11-15T19:00:00Z","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"newest_tool","args":{"command":"cat src/deep/newest.zig"},"status":"success","timestamp":"2026-11-15T19:00:00Z"}]}"#;
    let asked = |filter: ContentFilter| {
        let query = ListQuery { content: filter, ..ListQuery::default() };
        engine(path, Some(&data)).list(&query, &()).unwrap().sessions.len()
    };
    let tool = ContentFilter { tool: Some("Newest_Tool".to_owned()), touched: None };
    let touched = ContentFilter { tool: None, touched: Some("deep/newest.zig".to_owned()) };
    assert_eq!((asked(tool.clone()), asked(touched.clone())), (0, 0));
    writeln!(File::options().append(true).open(log).unwrap(), "{line}").unwrap();
    // Just written: not kept, and read all the same.
    assert_eq!((asked(tool.clone()), asked(touched.clone())), (1, 1));
    age(log, 60);
    assert_eq!((asked(tool.clone()), asked(touched.clone())), (1, 1));
    assert_eq!((asked(tool.clone()), asked(touched.clone())), (1, 1));
    let text = fs::read_to_string(log).unwrap().replace("newest", "latest");
    fs::write(log, text).unwrap();
    age(log, 30);
    assert_eq!((asked(tool), asked(touched)), (0, 0));
    assert_eq!(holding(path, Some(&data)), holding(path, None));
}

/// Counts the sessions that were looked at.
#[test]
fn only_sessions_that_changed_are_looked_at_again() {
    let home = Home::with(["gemini/checkpoints/tools", "gemini/lines/plain"]);
    let (path, data) = (home.path(), home.path().join("data"));
    let looked = || {
        let engine = engine(path, Some(&data));
        let count = AtomicUsize::new(0);
        let look = |_: &'static dyn Source, files: SessionFiles| {
            count.fetch_add(1, Ordering::Relaxed);
            Noted { value: files.id, lasts: true }
        };
        let all = engine.noted("test", &engine.disk(), &(), look).unwrap();
        (all.len(), count.into_inner())
    };
    let (all, first) = looked();
    assert_eq!((all, first), (all, all));
    assert!(all > 1, "{all}");
    assert_eq!(looked(), (all, 0));
    let files = sessions(&home.path().join(".gemini"));
    age(&files[0], 90);
    assert_eq!(looked(), (all, 1));
    assert_eq!(looked(), (all, 0));
    fs::remove_file(&files[0]).unwrap();
    assert_eq!(looked(), (all - 1, 0));
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
    let many: String = (0..3000).map(|n| message(n) + "\n").collect();
    append(&many);
    check(home.path(), &data, "more than four megabytes");
    append(&format!("{}\n", message(4000)));
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
    fs::write(log, &text[..4_400_000]).unwrap();
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
