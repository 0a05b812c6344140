//! An index to which messages and pieces of messages were added finds what a new one finds.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use recount_engine::Engine;
use recount_testbed::TestbedOptions;
use recount_testkit::Home;
use serde_json::Value;

use super::questions::every_hit;
use super::{Place, append};

/// How many words are looked for.
const WORDS: usize = 12;

fn files_below(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, ending, found);
        } else if path.extension().is_some_and(|own| own == ending) {
            found.push(path);
        }
    }
    found.sort();
}

/// Returns some words of a text. Some of them are in the output of tools only.
fn words(text: &str) -> BTreeSet<String> {
    let is_word = |word: &&str| (5..20).contains(&word.len()) && word.is_ascii();
    let all: BTreeSet<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_word).collect();
    let step = (all.len() / WORDS).max(1);
    all.into_iter().step_by(step).map(str::to_owned).collect()
}

fn hits(engine: &Engine, word: &str) -> Vec<String> {
    let answer = engine.search(&every_hit(word), &()).unwrap();
    assert_eq!(answer.total, answer.hits.len(), "{word}");
    let hit = |hit: &recount_engine::Match| format!("{}/{:?}", hit.session.id, hit.message);
    let mut hits: Vec<String> = answer.hits.iter().map(hit).collect();
    hits.sort();
    hits
}

fn compare(engine: &Engine, home: &Path, folder: &Path, words: &BTreeSet<String>) {
    let data = tempfile::tempdir_in(folder).unwrap();
    let fresh = crate::engine(home, Some(data.path()));
    let mut found = 0;
    for word in words {
        let expected = hits(&fresh, word);
        assert_eq!(hits(engine, word), expected, "{word}");
        found += expected.len();
    }
    assert!(found > 0);
}

#[test]
fn what_is_added_in_the_middle_of_a_turn_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let options = TestbedOptions { sessions: 20, megabytes: 0.4, ..TestbedOptions::default() };
    recount_testbed::generate(&home, &options, &mut |_, _| {}).unwrap();
    let mut logs = Vec::new();
    files_below(&home, "jsonl", &mut logs);
    let texts: Vec<String> = logs.iter().map(|log| fs::read_to_string(log).unwrap()).collect();
    assert!(logs.len() > 8, "{logs:?}");

    // Every log ends at another part of a turn.
    for (at, (log, text)) in logs.iter().zip(&texts).enumerate() {
        let lines = text.split_inclusive('\n').count();
        let kept = (lines * (at % 4 + 1) / 5).max(1);
        fs::write(log, text.split_inclusive('\n').take(kept).collect::<String>()).unwrap();
    }
    let engine = crate::engine(&home, Some(&folder.path().join("data")));
    engine.index(&()).unwrap();

    // One is written further: it is searched together with the index. Then all are.
    for (log, text) in logs.iter().zip(&texts).step_by(5) {
        fs::write(log, text).unwrap();
        compare(&engine, &home, folder.path(), &words(text));
    }
    for (log, text) in logs.iter().zip(&texts) {
        fs::write(log, text).unwrap();
    }
    engine.index(&()).unwrap();
    compare(&engine, &home, folder.path(), &texts.iter().flat_map(|text| words(text)).collect());
}

#[test]
fn only_new_messages_of_a_document_are_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let options = TestbedOptions {
        sessions: 3,
        megabytes: 0.1,
        eras: vec![recount_testbed::Era::Parts],
        ..TestbedOptions::default()
    };
    recount_testbed::generate(&home, &options, &mut |_, _| {}).unwrap();
    let mut found = Vec::new();
    files_below(&home.join(".gemini"), "json", &mut found);
    let is_document = |path: &&PathBuf| path.to_string_lossy().contains("session-");
    let document = found.iter().find(is_document).unwrap();
    let whole: Value = serde_json::from_slice(&fs::read(document).unwrap()).unwrap();
    let write = |many: usize, second: usize| {
        let mut part = whole.clone();
        part["messages"].as_array_mut().unwrap().truncate(many);
        part["lastUpdated"] = format!("2026-11-15T18:00:{second:02}.000Z").into();
        fs::write(document, serde_json::to_string_pretty(&part).unwrap()).unwrap();
    };
    let all = whole["messages"].as_array().unwrap().len();
    assert!(all > 5);
    let engine = crate::engine(&home, Some(&folder.path().join("data")));
    write(all - 2, 1);
    engine.index(&()).unwrap();
    write(all, 2);
    assert_eq!(engine.index(&()).unwrap().messages, 2);
    compare(&engine, &home, folder.path(), &words(&whole.to_string()));
}

fn largest_log(home: &Home) -> PathBuf {
    let mut logs = Vec::new();
    files_below(home.path(), "jsonl", &mut logs);
    logs.into_iter().max_by_key(|log| log.metadata().unwrap().len()).unwrap()
}

/// A message that is not complete may have another id, kind or fate than later.
#[test]
fn a_log_that_was_indexed_at_any_line_and_grew_has_what_a_whole_one_has() {
    for case in ["codex/tagged/compact", "gemini/checkpoints/rewind", "claude/folder/interactive"] {
        let home = Home::with([case]);
        let log = &largest_log(&home);
        let text = fs::read_to_string(log).unwrap();
        let words = words(&text);
        let data = home.path().join("data");
        let fresh = crate::engine(home.path(), Some(&data.join("fresh")));
        let any = words.into_iter().collect::<Vec<_>>().join(" OR ");
        let expected = hits(&fresh, &any);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for kept in 1..lines.len() {
            fs::write(log, lines[..kept].concat()).unwrap();
            let engine = crate::engine(home.path(), Some(&data.join(kept.to_string())));
            engine.index(&()).unwrap();
            fs::write(log, &text).unwrap();
            assert_eq!(
                hits(&engine, &any),
                expected,
                "{case}, {kept} lines, together with the index"
            );
            engine.index(&()).unwrap();
            assert_eq!(hits(&engine, &any), expected, "{case}, {kept} lines, indexed");
        }
    }
}

/// Of a session that is open in two terminals, the agent shows what the terminal has that wrote last.
#[test]
fn fates_follow_the_file_that_was_written_last() {
    let home = Home::with(["gemini/checkpoints/multi-turn"]);
    let log = largest_log(&home);
    let name = log.file_name().unwrap().to_str().unwrap();
    let other = log.with_file_name(name.replace("T18-44", "T18-45"));
    assert_ne!(log, other);
    let text = fs::read_to_string(&log).unwrap();
    let said = |id: &str, second: usize| {
        let time = format!("2026-11-15T19:00:{second:02}.000Z");
        let message = format!(
            r#"{{"id":"{id}","timestamp":"{time}","type":"gemini","content":"Terminal {id}.","model":"m"}}"#
        );
        format!("{message}\n{{\"$set\":{{\"lastUpdated\":\"{time}\"}}}}\n")
    };
    // The log has more versions than the other file, so that what is added to it may be indexed alone.
    let first = [text.as_str(), &said("a1", 1), &said("a1", 1), &said("a2", 2)].concat();
    fs::write(&log, &first).unwrap();
    fs::write(&other, [text.as_str(), &said("b1", 11), &said("b2", 12)].concat()).unwrap();
    let data = home.path().join("data");
    let engine = crate::engine(home.path(), Some(&data.join("first")));
    engine.index(&()).unwrap();
    let undone = "is:undone Terminal";
    let before = hits(&engine, undone);
    assert_eq!(before.len(), 2);
    fs::write(&log, [first.as_str(), &said("a3", 21)].concat()).unwrap();
    let fresh = crate::engine(home.path(), Some(&data.join("fresh")));
    let expected = hits(&fresh, undone);
    assert_ne!(before, expected);
    assert_eq!(hits(&engine, undone), expected, "together with the index");
    engine.index(&()).unwrap();
    assert_eq!(hits(&engine, undone), expected, "indexed");
}

#[test]
fn many_updates_leave_few_files() {
    let place = Place::new(4, 0.1);
    let log = place.sessions().into_iter().find(|path| path.extension().unwrap() == "jsonl");
    let engine = place.engine("data");
    let mut stored = Vec::new();
    for number in 0..24 {
        append(log.as_deref().unwrap(), number);
        assert!(engine.index(&()).unwrap().messages > 0);
        stored.clear();
        files_below(&place.home().with_file_name("data"), "store", &mut stored);
        assert!(stored.len() < 12, "{number}: {stored:?}");
    }
}
