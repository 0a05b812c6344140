//! Tests that SQL agrees with lists and views.

#![expect(clippy::disallowed_methods, reason = "tests change their own files")]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use recount_engine::stats::{By, StatsRequest};
use recount_engine::{Engine, Error, ListQuery, Progress, SqlValue, VIEWS, View};
use recount_model::{SessionFacts, Tokens};
use recount_testkit::{Home, NOW, fixtures};

use crate::engine_with_data;

/// Runs a statement, and returns each cell as text.
fn ask(engine: &Engine, statement: &str) -> Vec<Vec<String>> {
    let table = engine.sql(statement, &()).unwrap();
    assert!(!table.is_behind);
    let mut rows = Vec::new();
    let told = table.each(&mut |cells| {
        assert_eq!(cells.len(), table.columns.len());
        rows.push(cells.iter().map(shown).collect());
        Ok(())
    });
    assert_eq!(told.unwrap(), rows.len() as u64, "{statement}");
    rows
}

fn shown(cell: &SqlValue<'_>) -> String {
    match cell {
        SqlValue::Null => "-".into(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        SqlValue::Text(text) => text.to_string(),
        SqlValue::Bytes(bytes) => format!("{bytes:?}"),
    }
}

/// Compares sums of every view with the list.
pub(crate) fn check_sums(engine: &Engine, what: &str) {
    let listing = engine.list(&ListQuery::default(), &()).unwrap();
    let sum = |count: fn(&SessionFacts) -> u64| {
        listing.sessions.iter().map(|facts| count(facts)).sum::<u64>()
    };
    let expected = |numbers: &[u64]| vec![numbers.iter().map(u64::to_string).collect::<Vec<_>>()];
    let counted = ask(
        engine,
        "SELECT count(*), coalesce(sum(messages), 0), coalesce(sum(tokens_total), 0), coalesce(sum(bytes), 0) FROM sessions",
    );
    let sessions = listing.sessions.len() as u64;
    let (messages, tokens) = (sum(|s| s.counts.messages), sum(|s| s.tokens.total));
    assert_eq!(
        counted,
        expected(&[sessions, messages, tokens, sum(SessionFacts::bytes)]),
        "{what}"
    );
    let counted = ask(
        engine,
        "SELECT count(*), coalesce(sum(kind = 'prompt'), 0), coalesce(sum(kind = 'answer'), 0),
         coalesce(sum(fate <> 'kept'), 0), coalesce(sum(tool_calls), 0) FROM messages",
    );
    let (prompts, answers) = (sum(|s| s.counts.prompts), sum(|s| s.counts.answers));
    let (undone, calls) = (sum(|s| s.counts.undone), sum(|s| s.tool_calls.total));
    assert_eq!(counted, expected(&[messages, prompts, answers, undone, calls]), "{what}");
    let counted = ask(
        engine,
        "SELECT count(*), coalesce(sum(is_error), 0), coalesce(sum(status = 'cancelled'), 0) FROM tool_calls",
    );
    let (failed, cancelled) = (sum(|s| s.tool_calls.failed), sum(|s| s.tool_calls.cancelled));
    assert_eq!(counted, expected(&[calls, failed, cancelled]), "{what}");
    // Each request is in the session that made it; what a resume or fork copied is only in the session's own row.
    let more = ask(
        engine,
        "SELECT s.id FROM sessions s JOIN (SELECT session, sum(input) AS i, sum(output) AS o, sum(total) AS a FROM requests GROUP BY session) r
         ON r.session = s.id WHERE r.i > s.tokens_input OR r.o > s.tokens_output OR r.a > s.tokens_total",
    );
    assert_eq!(more, Vec::<Vec<String>>::new(), "{what}");
    let counted = ask(
        engine,
        "SELECT count(*), coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(cached), 0), coalesce(sum(cache_write), 0),
         coalesce(sum(thoughts), 0), coalesce(sum(tool), 0), coalesce(sum(total), 0) FROM requests",
    );
    let total = engine.stats(&everything(), By::Day, &()).unwrap().total;
    let Tokens { input, output, cached, cache_write, thoughts, tool, total: all, .. } =
        total.tokens;
    let numbers = [total.requests, input, output, cached, cache_write, thoughts, tool, all];
    assert_eq!(counted, expected(&numbers), "{what}");
    let cost = ask(engine, "SELECT total(cost_usd), sum(cost_usd IS NULL) FROM requests").concat();
    let (cost, unpriced) = (cost[0].parse::<f64>().unwrap(), &cost[1]);
    let known = total.cost_usd.unwrap_or_default().dollars();
    assert!((cost - known).abs() < 1e-9, "{what}: {cost} in sql, {known} in stats");
    let unpriced = if total.requests == 0 { 0 } else { unpriced.parse().unwrap() };
    assert_eq!(unpriced, total.unpriced, "{what}");
    let typed = ask(engine, "SELECT coalesce(sum(prompts), 0) FROM sessions");
    assert!(typed.concat()[0].parse::<u64>().unwrap() >= total.prompts, "{what}");
}

/// Asks for all that was ever used.
fn everything() -> StatsRequest {
    StatsRequest {
        sessions: ListQuery::default(),
        zone: TimeZone::UTC,
        gap: SignedDuration::from_mins(30),
    }
}

/// Compares texts with the transcript.
pub(crate) fn check_texts(engine: &Engine, what: &str) {
    let listing = engine.list(&ListQuery::default(), &()).unwrap();
    let mut told = ask(
        engine,
        "SELECT session, coalesce(id, ''), kind, fate, file, line, offset, bytes, text, display_text, characters FROM messages
         ORDER BY session, number",
    );
    let mut calls = ask(
        engine,
        "SELECT session, name, status, args, output, diff, output_state FROM tool_calls ORDER BY session, number, call",
    );
    for session in &listing.sessions {
        let opened = engine.open(session.id.as_str(), &()).unwrap();
        let own = |rows: &mut Vec<Vec<String>>| -> Vec<Vec<String>> {
            let own = rows.extract_if(.., |row| row[0] == session.id.as_str());
            own.map(|row| row[1..].to_vec()).collect()
        };
        let (told, calls) = (own(&mut told), own(&mut calls));
        let (mut expected, mut expected_calls) = (Vec::new(), Vec::new());
        for message in opened.messages(View::Full).unwrap().map(Result::unwrap) {
            let place = &message.place;
            expected.push(vec![
                message.id.as_ref().map_or(String::new(), ToString::to_string),
                message.kind.to_string(),
                message.fate.to_string(),
                place.file.to_string(),
                place.line.to_string(),
                place.offset.to_string(),
                place.bytes.to_string(),
                message.text.clone(),
                message.display_text.clone(),
                message.text.chars().count().to_string(),
            ]);
            for call in &message.tool_calls {
                let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
                let status = Some(call.status.as_str().to_owned()).filter(|word| !word.is_empty());
                expected_calls.push(vec![
                    call.name.clone(),
                    or_none(&status),
                    call.args.as_str().to_owned(),
                    or_none(&call.output),
                    or_none(&call.diff),
                    format!("{:?}", call.output_state).to_lowercase(),
                ]);
            }
        }
        assert_eq!(told, expected, "{what}: {}", session.id);
        assert_eq!(calls, expected_calls, "{what}: {}", session.id);
    }
}

#[test]
fn every_fixture_adds_up_and_reads_as_it_is_shown() {
    for case in fixtures() {
        let home = Home::with([case.name.as_str()]);
        let engine = engine_with_data(home.path());
        check_sums(&engine, &case.name);
        check_texts(&engine, &case.name);
    }
}

#[test]
fn a_synthetic_home_adds_up() {
    let home = Home::empty();
    let folder = home.path().join("a folder");
    recount_testbed::demo(&folder, NOW.parse().unwrap()).unwrap();
    let engine = engine_with_data(&folder);
    check_sums(&engine, "demo");
    check_texts(&engine, "demo");
    let touched = ask(&engine, "SELECT DISTINCT how FROM files_touched ORDER BY how");
    assert_eq!(touched.concat(), ["attached", "named", "read", "written"]);
}

#[test]
fn every_column_can_be_asked_for() {
    let home = Home::with(["gemini/lines/tools"]);
    let engine = engine_with_data(home.path());
    for view in VIEWS {
        let columns: Vec<&str> = view.columns.iter().map(|column| column.name).collect();
        let table = engine.sql(&format!("SELECT * FROM {}", view.name), &()).unwrap();
        assert_eq!(table.columns, columns);
        assert!(table.each(&mut |_| Ok(())).unwrap() > 0, "{}", view.name);
    }
    let [row] =
        ask(&engine, "SELECT id, source, kind, project_name, started, models FROM sessions")
            .try_into()
            .unwrap();
    assert_eq!(row[1..4], ["gemini", "main", "shop"]);
    assert!(row[4].ends_with('Z') && row[4].len() == 24, "{}", row[4]);
}

/// Records how much was to be read.
#[derive(Debug, Default)]
struct ReadSizes(Mutex<Vec<u64>>);

impl Progress for ReadSizes {
    fn advance(&self, _done: u64, total: u64) {
        self.0.lock().unwrap().push(total);
    }
}

fn logs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(logs(&entry.path()));
        } else if entry.path().extension().is_some_and(|ending| ending == "jsonl") {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

#[test]
fn only_what_changed_is_read_again_and_what_is_gone_goes() {
    let home = Home::with(["gemini/lines/plain", "gemini/lines/tools", "gemini/strings/plain"]);
    let count = |told: &ReadSizes| {
        let table =
            engine_with_data(home.path()).sql("SELECT count(*) FROM messages", told).unwrap();
        let mut count = String::new();
        table
            .each(&mut |cells| {
                count = shown(&cells[0]);
                Ok(())
            })
            .unwrap();
        count.parse::<u64>().unwrap()
    };
    let first = count(&ReadSizes::default());
    let again = ReadSizes::default();
    assert_eq!(count(&again), first);
    assert!(again.0.lock().unwrap().is_empty(), "nothing was read");
    let log = logs(&home.path().join(".gemini")).remove(0);
    let line = r#"{"id":"late","timestamp":"2026-11-15T19:00:00Z","type":"user","content":[{"text":"one more"}]}"#;
    writeln!(File::options().append(true).open(&log).unwrap(), "{line}").unwrap();
    let then = SystemTime::now() - Duration::from_secs(60);
    File::options().write(true).open(&log).unwrap().set_modified(then).unwrap();
    let appended = ReadSizes::default();
    assert_eq!(count(&appended), first + 1);
    let size = fs::metadata(&log).unwrap().len();
    assert!(appended.0.lock().unwrap().iter().all(|total| *total == size), "only that session");
    fs::remove_file(&log).unwrap();
    assert!(count(&ReadSizes::default()) < first);
    check_sums(&engine_with_data(home.path()), "after all");
}

#[test]
fn a_damaged_file_is_made_again() {
    let home = Home::with(["gemini/lines/tools"]);
    let count = || ask(&engine_with_data(home.path()), "SELECT count(*) FROM messages");
    let first = count();
    let folder = home.path().join("our data/facts");
    let is_db = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "db");
    let file =
        fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).find(is_db).unwrap();
    for bytes in [vec![b'x'; 9000], Vec::new(), vec![0; 70_000]] {
        fs::write(&file, bytes).unwrap();
        assert_eq!(count(), first);
    }
    let mut bytes = fs::read(&file).unwrap();
    let pages = bytes.len() / 3;
    for byte in &mut bytes[pages..] {
        *byte ^= 0x5a;
    }
    fs::write(&file, bytes).unwrap();
    // Detected now or while the rows are read; the run after that succeeds in any case.
    if let Ok(table) = engine_with_data(home.path()).sql("SELECT * FROM messages", &()) {
        let _told = table.each(&mut |_| Ok(()));
    }
    assert_eq!(count(), first);
}

#[test]
fn runs_at_the_same_time_agree() {
    let home = Home::with(["gemini/lines/tools", "gemini/lines/migration", "gemini/strings/paths"]);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..4 {
                    check_sums(&engine_with_data(home.path()), "at the same time");
                }
            });
        }
    });
}

#[test]
fn a_home_without_sessions_has_empty_views() {
    let home = Home::empty();
    for view in VIEWS {
        let statement = format!("SELECT * FROM {}", view.name);
        assert!(ask(&engine_with_data(home.path()), &statement).is_empty());
    }
}

#[test]
fn a_mistake_is_reported_before_anything_is_read() {
    let home = Home::with(["gemini/lines/tools"]);
    let engine = engine_with_data(home.path());
    let told = ReadSizes::default();
    assert!(matches!(engine.sql("SELECT nope FROM messages", &told), Err(Error::Sql { .. })));
    assert!(matches!(engine.sql("DELETE FROM messages", &told), Err(Error::SqlRefused(_))));
    assert!(told.0.lock().unwrap().is_empty());
    assert!(!home.path().join("our data").exists());
}
