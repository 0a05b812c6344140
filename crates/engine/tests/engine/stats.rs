//! Tests that every request is counted once: compared with a slow count that knows nothing about sessions.

#![expect(clippy::disallowed_methods, reason = "test setup")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use recount_engine::ListQuery;
use recount_engine::stats::{By, Money, StatsReport, StatsRequest};
use recount_testbed::{Era, TestbedAgent};
use recount_testkit::{Home, corpus, fixtures};
use serde_json::Value;

use crate::engine;

const ALL: [By; 10] = [
    By::Day,
    By::Week,
    By::Month,
    By::Hour,
    By::Project,
    By::Model,
    By::Session,
    By::Source,
    By::Tool,
    By::Agent,
];

fn asked() -> StatsRequest {
    StatsRequest {
        sessions: ListQuery::default(),
        zone: TimeZone::UTC,
        gap: SignedDuration::from_mins(30),
    }
}

fn stats(home: &Path, data: Option<&Path>, by: By) -> StatsReport {
    engine(home, data).stats(&asked(), by, &()).unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if path.iter().any(|part| part == "chats") {
            all.push(path);
        }
    }
    all.sort();
    all
}

/// Returns the usage of messages, by id and time. Every line and every list is read, whatever it is for.
fn naive(home: &Path) -> BTreeMap<(String, String), BTreeSet<[u64; 6]>> {
    let mut found = BTreeMap::new();
    for file in files(home) {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        if let Ok(document) = serde_json::from_str::<Value>(&text) {
            collect(&document, &mut found);
            continue;
        }
        for line in text.lines() {
            if let Ok(record) = serde_json::from_str::<Value>(line) {
                collect(&record, &mut found);
            }
        }
    }
    found
}

fn collect(value: &Value, found: &mut BTreeMap<(String, String), BTreeSet<[u64; 6]>>) {
    let messages = value["messages"].as_array().into_iter().flatten();
    let replaced = value["$set"]["messages"].as_array().into_iter().flatten();
    for message in messages.chain(replaced).chain([value]) {
        let (Some(id), Some(tokens)) = (message["id"].as_str(), message["tokens"].as_object())
        else {
            continue;
        };
        let number = |key: &str| tokens.get(key).and_then(Value::as_u64).unwrap_or(0);
        let counts = ["input", "output", "cached", "thoughts", "tool", "total"].map(number);
        let time = message["timestamp"].as_str().unwrap_or_default().to_owned();
        found.entry((id.to_owned(), time)).or_default().insert(counts);
    }
}

/// Compares both counts of a home, with and without a catalog.
fn check(home: &Path, what: &str) {
    let expected = naive(home);
    let report = stats(home, None, By::Day);
    assert_eq!(report.total.requests, expected.len() as u64, "{what}");
    let mut sums = [0; 6];
    for (id, counts) in &expected {
        assert_eq!(counts.len(), 1, "{what}: {id:?} has several figures");
        let counts = counts.first().unwrap();
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    let tokens = report.total.tokens;
    let ours =
        [tokens.input, tokens.output, tokens.cached, tokens.thoughts, tokens.tool, tokens.total];
    assert_eq!(ours, sums, "{what}");
    let data = tempfile::tempdir().unwrap();
    let told = |report: &StatsReport| serde_json::to_string(report).unwrap();
    for round in ["to be learned", "remembered", "remembered as a whole"] {
        let again = stats(home, Some(data.path()), By::Day);
        assert_eq!(told(&again), told(&report), "{what}, {round}");
    }
    adds_up(home, &report, what);
}

/// Checks that the rows of any dimension add up to the total.
fn adds_up(home: &Path, report: &StatsReport, what: &str) {
    for by in ALL {
        let report = StatsReport { by, ..stats(home, None, by) };
        let sum = |of: fn(&recount_engine::stats::UsageFigures) -> u64| {
            report.rows.iter().map(|row| of(&row.figures)).sum::<u64>()
        };
        assert_eq!(sum(|row| row.tool_calls), report.total.tool_calls, "{what} {by:?}");
        if by == By::Tool {
            continue;
        }
        assert_eq!(sum(|row| row.requests), report.total.requests, "{what} {by:?}");
        assert_eq!(sum(|row| row.tokens.total), report.total.tokens.total, "{what} {by:?}");
        let money: Money = report.rows.iter().filter_map(|row| row.figures.cost_usd).sum();
        assert_eq!(money, report.total.cost_usd.unwrap_or_default(), "{what} {by:?}");
        if !matches!(by, By::Model) {
            assert_eq!(sum(|row| row.prompts), report.total.prompts, "{what} {by:?}");
            assert_eq!(sum(|row| row.answers), report.total.answers, "{what} {by:?}");
        }
    }
    let (projects, _) = engine(home, None).projects(None, &()).unwrap();
    let money: Money = projects.iter().filter_map(|row| row.cost_usd).sum();
    let tokens: u64 = projects.iter().map(|row| row.tokens.total).sum();
    let prompts: u64 = projects.iter().map(|row| row.prompts).sum();
    let total = &report.total;
    let wanted = (total.cost_usd.unwrap_or_default(), total.tokens.total, total.prompts);
    assert_eq!((money, tokens, prompts), wanted, "{what}: projects");
    let explained = engine(home, None).explain(&asked(), None, &()).unwrap();
    assert_eq!(explained.requests.len() as u64, report.total.requests, "{what}");
    let last = explained.requests.last().map(|line| line.sum_usd).unwrap_or_default();
    assert_eq!(last, report.total.cost_usd.unwrap_or_default(), "{what}");
    let listed = engine(home, None).list(&ListQuery::default(), &()).unwrap();
    let tokens: u64 = listed.sessions.iter().map(|session| session.tokens.total).sum();
    let elsewhere = report.basis.duplicates.elsewhere;
    assert!(tokens == report.total.tokens.total || elsewhere > 0, "{what}: the list says {tokens}");
}

#[test]
fn every_fixture_is_counted_once() {
    for case in fixtures() {
        // Files that the slow count cannot read are for the tests of the reader.
        if !case.name.contains("/damaged/") {
            check(&case.path.join("home"), &case.name);
        }
    }
}

#[test]
fn every_recorded_home_is_counted_once() {
    let corpus = corpus();
    for capture in &corpus.captures {
        if !capture.name.contains("/damaged/") {
            check(&capture.home(), &capture.name);
        }
    }
    let seen = corpus.captures.len();
    assert!(!corpus.is_recorded() || seen > 100, "{seen}");
}

#[test]
fn made_up_homes_with_copies_and_twins_are_counted_once() {
    for seed in 1..4 {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let options = recount_testbed::TestbedOptions {
            seed,
            sessions: 60,
            projects: 5,
            megabytes: 1.0,
            // The slow count supports only these.
            eras: Era::of(TestbedAgent::Gemini),
        };
        let report = recount_testbed::generate(&home, &options, &mut |_, _| {}).unwrap();
        assert!(report.truth.iter().any(|session| !session.other_files.is_empty()), "{seed}");
        check(&home, &format!("seed {seed}"));
    }
}

/// Makes a file old enough that nobody seems to write to it.
fn age(path: &Path) {
    let then = SystemTime::now() - Duration::from_secs(3600);
    File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
}

/// Returns a home with one session, and another that was created from it.
fn forked() -> Home {
    let home = Home::with(["gemini/checkpoints/multi-turn"]);
    let original = files(home.path()).remove(0);
    let text = fs::read_to_string(&original).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let id = first["sessionId"].as_str().unwrap();
    let other = id.replace(|c: char| c.is_ascii_digit(), "7").replace('a', "b");
    let name = original.file_name().unwrap().to_string_lossy();
    let copy = original.with_file_name(name.replace(&id[..8], &other[..8]));
    fs::write(&copy, text.replace(id, &other)).unwrap();
    age(&copy);
    home
}

#[test]
fn a_session_made_of_another_is_not_paid_for_again() {
    let alone = Home::with(["gemini/checkpoints/multi-turn"]);
    let one = stats(alone.path(), None, By::Session).total;
    let home = forked();
    let both = stats(home.path(), None, By::Session);
    assert_eq!((both.total.requests, both.total.tokens), (one.requests, one.tokens));
    assert_eq!(both.total.cost_usd, one.cost_usd);
    assert_eq!(both.total.prompts, one.prompts);
    assert_eq!(both.basis.duplicates.elsewhere, one.requests);
    check(home.path(), "a fork");
}

#[test]
fn sub_agents_belong_to_the_session_that_ran_them() {
    let home = Home::with(["gemini/checkpoints/subagent"]);
    let sessions = stats(home.path(), None, By::Session);
    assert_eq!(sessions.rows.len() as u64, sessions.total.sessions);
    assert!(sessions.rows.iter().all(|row| row.parent.is_none()));
    let agents = stats(home.path(), None, By::Agent);
    let run: Vec<_> = agents.rows.iter().filter(|row| row.parent.is_some()).collect();
    assert!(!run.is_empty() && run.iter().all(|row| row.figures.requests > 0), "{run:?}");
    let main = agents.rows.iter().find(|row| row.key == "main").unwrap();
    let sum: u64 = run.iter().map(|row| row.figures.requests).sum();
    assert_eq!(main.figures.requests + sum, agents.total.requests);
}

#[test]
fn what_an_era_omits_is_reported() {
    let total = |case: &str| stats(Home::with([case]).path(), None, By::Day).total;
    let piled = total("gemini/strings/tools");
    assert!(piled.missing.rounds > 0 && piled.cost_is_lower_bound, "{piled:?}");
    assert_eq!(piled.missing.first_figures, piled.requests);
    let whole = total("gemini/checkpoints/tools");
    assert_eq!((whole.missing.rounds, whole.missing.first_figures), (0, 0), "{whole:?}");
    let failed = total("gemini/checkpoints/api-error");
    assert!(failed.missing.unanswered > 0 && failed.cost_is_lower_bound, "{failed:?}");
    let compressed = total("gemini/checkpoints/compress");
    assert!(compressed.missing.side_calls > 0, "{compressed:?}");
}

#[test]
fn a_model_without_a_price_is_named_and_never_free() {
    let home = Home::with(["gemini/checkpoints/plain"]);
    let file = files(home.path()).remove(0);
    let text = fs::read_to_string(&file).unwrap();
    let known = stats(home.path(), None, By::Model).rows.first().unwrap().key.clone();
    fs::write(&file, text.replace(&known, "unheard-of")).unwrap();
    age(&file);
    let report = stats(home.path(), None, By::Model);
    assert_eq!(report.total.cost_usd, None);
    assert!(report.total.cost_is_lower_bound && report.total.tokens.total > 0);
    let names: Vec<_> = report.basis.unpriced_models.iter().map(|u| u.model.clone()).collect();
    assert_eq!(names, [Some("unheard-of".to_owned())]);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["total"]["cost_usd"], Value::Null);
}

#[test]
fn pauses_longer_than_the_gap_are_not_work() {
    let home = Home::empty();
    let message = |id: &str, kind: &str, time: &str| {
        format!(r#"{{"id":"{id}","timestamp":"2026-11-10T{time}Z","type":"{kind}","content":"x"}}"#)
    };
    let lines = [
        r#"{"sessionId":"0000aaaa-1","projectHash":"p","startTime":"2026-11-10T10:00:00Z","lastUpdated":"2026-11-10T10:00:00Z","kind":"main"}"#.to_owned(),
        message("1", "user", "10:00:00"),
        message("2", "gemini", "10:10:00"),
        message("3", "user", "11:00:00"),
        message("4", "gemini", "11:00:30"),
    ];
    home.write(
        ".gemini/tmp/p/chats/session-2026-11-10T10-00-0000aaaa.jsonl",
        lines.join("\n") + "\n",
    );
    let total = stats(home.path(), None, By::Day).total;
    assert_eq!((total.active_seconds, total.wall_seconds), (630, 3630));
    let long = StatsRequest { gap: SignedDuration::from_hours(1), ..asked() };
    let total = engine(home.path(), None).stats(&long, By::Day, &()).unwrap().total;
    assert_eq!(total.active_seconds, 3630);
}

#[test]
fn only_requests_of_the_asked_time_are_counted() {
    let home = Home::with(["gemini/checkpoints/multi-turn"]);
    let explained = engine(home.path(), None).explain(&asked(), None, &()).unwrap();
    let middle = explained.requests[1].time.unwrap();
    let mut later = asked();
    later.sessions.since = Some(middle);
    let report = engine(home.path(), None).stats(&later, By::Day, &()).unwrap();
    assert_eq!(report.total.requests, explained.requests.len() as u64 - 1);
    later.sessions.until = Some(middle);
    let report = engine(home.path(), None).stats(&later, By::Day, &()).unwrap();
    assert_eq!(report.total.requests, 1);
}

#[test]
fn what_filled_the_context_is_read_from_what_was_said() {
    let home = Home::with(["gemini/checkpoints/at-files", "gemini/checkpoints/tools"]);
    let content = engine(home.path(), None).content(&asked(), &()).unwrap();
    let kinds: BTreeSet<_> = content.parts.iter().map(|part| part.kind).collect();
    for kind in ["prompts", "files", "tool output", "answers", "context"] {
        assert!(kinds.contains(kind), "{kinds:?}");
    }
    assert_eq!(content.unread, 0);
    assert!(content.files.iter().any(|file| file.sent > 1), "{:?}", content.files);
    assert!(content.errors.iter().any(|error| error.tool == "read_file"), "{:?}", content.errors);
}
