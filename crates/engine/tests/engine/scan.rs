//! Tests that a search without an index has the same hits as one with it.

use std::collections::BTreeSet;
use std::path::Path;

use recount_engine::{Engine, HitOrder, ListQuery, SearchRequest};
use recount_testkit::{Home, corpus, fixtures};

use crate::engine;
use crate::snapshot::add_beside;

const QUERIES: [&str; 48] = [
    "shop",
    "tax",
    "the",
    "prices.csv",
    "pricescsv",
    "prices csv",
    "\"tax rate\"",
    "\"rate tax\"",
    "run_shell_command",
    "runshellcommand",
    "runShellCommand",
    "shell",
    "read*",
    "dis*",
    "会话",
    "税",
    "税率",
    "セッション",
    "한국",
    "привет",
    "ПРИВЕТ",
    "cafe",
    "café",
    "straße",
    "strasse",
    "tool:read_file",
    "tool:shell",
    "model:flash",
    "model:pro tax",
    "file:prices.csv",
    "kind:prompt",
    "kind:prompt tax",
    "is:error",
    "is:undone",
    "fate:rewound",
    "in:title tax",
    "in:output the",
    "in:prompt,answer tax",
    "/tax[- ]rate/i",
    "/[0-9]+ percent/",
    "/\\bfn \\w+/",
    "tax NOT rate",
    "tax -is:undone",
    "(tax OR discount) percent",
    "tax OR xyzzyplugh",
    "tasc~",
    "after:2026-01-01 tax",
    "source:gemini tax",
];

fn request(query: &str, without_index: bool) -> SearchRequest {
    SearchRequest {
        query: query.to_owned(),
        limit: 100_000,
        sort: HitOrder::Time,
        all_hits: true,
        width: 60,
        without_index,
        at_once: false,
    }
}

/// Returns the locations of hits, and their number if it is certain.
fn found(engine: &Engine, query: &str, without_index: bool) -> (BTreeSet<String>, bool) {
    let answer = engine.search(&request(query, without_index), &()).unwrap();
    if answer.is_exact {
        assert_eq!(answer.total, answer.hits.len(), "{query}");
    }
    let place = |hit: &recount_engine::Match| {
        let message = &hit.message;
        format!(
            "{} {}:{} {}",
            hit.session.id, message.place.file, message.place.offset, message.fate
        )
    };
    (answer.hits.iter().map(place).collect(), answer.relaxed)
}

pub(crate) fn agree(home: &Path, data: &Path, queries: &[&str], what: &str) -> usize {
    let engine = engine(home, Some(data));
    let mut hits = 0;
    for query in queries {
        let with = found(&engine, query, false);
        let without = found(&engine, query, true);
        assert_eq!(without, with, "{query} in {what}");
        hits += with.0.len();
    }
    hits
}

#[test]
fn every_fixture_gives_the_same_hits() {
    for case in fixtures() {
        let home = Home::with([case.name.as_str()]);
        agree(home.path(), &home.path().join("data"), &QUERIES, &case.name);
    }
}

#[test]
fn all_fixtures_together_give_the_same_hits() {
    let cases = fixtures();
    let home = Home::with(cases.iter().map(|case| case.name.as_str()));
    assert!(agree(home.path(), &home.path().join("data"), &QUERIES, "all") > 100);
}

#[test]
fn while_another_search_builds_the_index_the_files_are_searched() {
    let home = Home::with(["gemini/lines/tools", "gemini/strings/plain"]);
    let data = home.path().join("data");
    let engine = engine(home.path(), Some(&data));
    let expected = found(&engine, "tax", true);
    assert!(!expected.0.is_empty());
    assert_eq!(found(&engine, "tax", false), expected);
    let folders = std::fs::read_dir(data.join("search")).unwrap();
    let folder = folders.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    // Somebody else adds a session at this moment.
    let index = recount_search::Index::open(&folder).unwrap();
    let writer = index.writer(16_000_000, 1, "new").unwrap();
    let sessions = engine.list(&ListQuery::default(), &()).unwrap().sessions;
    let mut files = sessions.iter().flat_map(|session| &session.files);
    let is_log = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl");
    let log = files.find(|file| is_log(Path::new(&file.path))).unwrap();
    add_beside(Path::new(&log.path), 1);
    let asked = request("tax", false);
    // Nobody has to start a build that somebody else does.
    assert!(!engine.search(&asked, &()).unwrap().is_unindexed);
    assert_eq!(found(&engine, "tax", false), expected);
    let snapshot = engine.snapshot(&()).unwrap();
    let typed = engine.at(&snapshot).search_typed(&asked, None, &()).unwrap();
    assert!(typed.is_unindexed && typed.total == expected.0.len(), "{typed:?}");
    drop(writer);
    // The index is empty again, and somebody has just begun to fill it.
    let index = recount_search::Index::rebuild(&folder).unwrap();
    let _writer = index.writer(16_000_000, 1, "new").unwrap();
    assert_eq!(found(&engine, "tax", false), expected);
    let snapshot = engine.snapshot(&()).unwrap();
    let typed = engine.at(&snapshot).search_typed(&asked, None, &()).unwrap();
    assert!(typed.is_unindexed || typed.total == expected.0.len(), "{typed:?}");
}

#[test]
fn without_a_folder_for_an_index_the_files_are_searched() {
    let home = Home::with(["gemini/lines/tools", "gemini/strings/plain"]);
    let asked = |query: &str, all_hits| SearchRequest {
        query: query.to_owned(),
        limit: 2,
        sort: HitOrder::Relevance,
        all_hits,
        width: 60,
        without_index: false,
        at_once: false,
    };
    let engine = engine(home.path(), None);
    let answer = engine.search(&asked("tax", true), &()).unwrap();
    assert!(!answer.notes.is_empty() && answer.is_exact && !answer.relaxed);
    assert!(answer.total > 2 && answer.hits.len() == 2, "{}", answer.total);
    assert!(answer.hits[0].message.time >= answer.hits[1].message.time);
    assert!(answer.hits[0].snippet.is_some());
    let each = engine.search(&asked("tax", false), &()).unwrap();
    assert_eq!(each.hits.len(), each.sessions.min(2));
    assert_eq!(each.total, answer.total);
    let some = engine.search(&asked("tax xyzzyplugh", false), &()).unwrap();
    assert!(some.relaxed && some.total == answer.total);
    assert!(engine.search(&asked("project:nowhere tax", false), &()).is_err());
}

#[test]
fn homes_of_the_corpus_give_the_same_hits() {
    let data = Home::empty();
    for (number, capture) in corpus().captures.iter().step_by(9).enumerate() {
        let data = data.path().join(number.to_string());
        agree(&capture.home(), &data, &QUERIES, &capture.name);
    }
}
