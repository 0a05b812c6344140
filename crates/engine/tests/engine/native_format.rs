//! Tests of sessions written in the agent's native format and read again: nothing of the conversation may be lost.

#![expect(clippy::panic, reason = "a test may fail by panic")]

use std::path::Path;

use recount_engine::export::{ExportOptions, Format, native_formats};
use recount_engine::{Engine, Export, ListQuery, Opened, Selection, View};
use recount_model::{Fate, FileRole, Message, SessionFacts, TitleFrom};
use recount_testkit::{Home, corpus, fixtures};
use serde_json::Value;

/// Writes a session in its native format.
fn exported(engine: &Engine, opened: Opened, strict: bool) -> Vec<u8> {
    let export = Export {
        format: Format::Jsonl,
        options: ExportOptions { strict, ..ExportOptions::default() },
        split: None,
        tables: Vec::new(),
        images: recount_engine::export::Images::default(),
        redaction: None,
        own: native_formats().find(|form| form.source() == opened.facts.source),
    };
    let mut out = Vec::new();
    engine.export_to(&Selection::Opened(vec![opened]), &export, &mut out).unwrap();
    out
}

fn messages(opened: &Opened, view: View) -> Vec<Message> {
    opened.messages(view).unwrap().map(Result::unwrap).collect()
}

/// Returns the expected conversation: what the agent would load of each section, file by file; everything that was not
/// undone if it cannot load a file; everything if there is nothing else.
fn conversation(engine: &Engine, opened: &Opened, facts: &SessionFacts) -> Vec<Message> {
    let mut all = Vec::new();
    for file in &facts.files {
        if matches!(file.role, FileRole::Main | FileRole::Part) {
            // An empty file is not a session by itself.
            let Ok(alone) = engine.open(&file.path, &()) else { continue };
            if alone.is_loadable() {
                all.extend(messages(&alone, View::Strict));
            } else {
                let kept = messages(&alone, View::Full).into_iter();
                all.extend(kept.filter(|message| message.fate == Fate::Kept));
            }
        }
    }
    let is_said = |message: &Message| !matches!(kind(message).as_str(), "context" | "notice");
    if all.iter().any(is_said) || facts.is_empty() { all } else { messages(opened, View::Full) }
}

fn kind(message: &Message) -> String {
    serde_json::to_value(message.kind).unwrap().as_str().unwrap().to_owned()
}

/// Returns the content of a message, without its location. Outputs that were completed from elsewhere are not compared.
fn said(message: &Message) -> Value {
    let mut value = serde_json::to_value(message).unwrap();
    let fields = value.as_object_mut().unwrap();
    for field in ["where", "problems", "fate"] {
        fields.remove(field);
    }
    for call in fields["tool_calls"].as_array_mut().unwrap() {
        if call["output_state"] != "whole" {
            call["output"] = Value::Null;
            call["output_state"] = Value::Null;
        }
    }
    value
}

/// Exports one session and reads it back.
fn round_trip(engine: &Engine, facts: &SessionFacts, place: &str) {
    let opened = engine.open(facts.id.as_str(), &()).unwrap();
    let place = format!("{place} {}", facts.id);
    let expected = conversation(engine, &opened, facts);
    let text = exported(engine, opened, false);
    assert!(text.ends_with(b"\n"), "{place}");
    let new = Home::empty();
    new.write(".gemini/tmp/shop/.project_root", "/home/dev/code/shop");
    new.write(".gemini/tmp/shop/chats/session-2026-11-15T08-00-00000000.jsonl", &text);
    let again = crate::engine(new.path(), None);
    let listing = again.list(&ListQuery::default(), &()).unwrap();
    let [row] = listing.sessions.as_slice() else {
        panic!("{place}: {} rows", listing.sessions.len())
    };
    let read = again.open(row.id.as_str(), &()).unwrap();
    assert!(read.is_loadable(), "{place}");
    let got = messages(&read, View::Strict);
    assert_eq!(got.len(), expected.len(), "{place}");
    for (old, new) in expected.iter().zip(&got) {
        let (mut old, mut new) = (said(old), said(new));
        if old["id"].is_null() {
            new["id"] = Value::Null;
        }
        for (old, new) in old["tool_calls"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .zip(new["tool_calls"].as_array_mut().unwrap())
        {
            if old["output_state"].is_null() || new["output_state"].is_null() {
                for call in [old, new] {
                    call["output"] = Value::Null;
                    call["output_state"] = Value::Null;
                }
            }
        }
        assert_eq!(old, new, "{place}");
    }
    assert_eq!(row.counts.undone, 0, "{place}");
    assert_eq!(row.counts.messages, expected.len() as u64, "{place}");
    assert_eq!(row.kept.tokens, row.tokens, "{place}");
    let is_own = !facts.id.as_str().contains('@');
    if is_own {
        assert_eq!((&row.id, row.kind), (&facts.id, facts.kind), "{place}");
    }
    if facts.title_from == TitleFrom::Summary {
        assert_eq!(row.title, facts.title, "{place}");
    }
    if facts.files.len() == 1 && facts.counts.undone == 0 {
        let figures = |row: &SessionFacts| {
            (row.kept, row.counts, row.tokens, row.tool_calls, row.models.clone())
        };
        assert_eq!(figures(row), figures(facts), "{place}");
        assert_eq!(row.title, facts.title, "{place}");
        assert_eq!((row.started, row.updated), (facts.started, facts.updated), "{place}");
        assert_eq!(row.directories, facts.directories, "{place}");
    }
    // A clean session is unchanged.
    assert_eq!(
        String::from_utf8_lossy(&exported(&again, read, true)),
        String::from_utf8_lossy(&text),
        "{place}"
    );
}

fn sweep(home: &Path, place: &str) -> usize {
    let engine = crate::engine(home, None);
    let listing = engine.list(&ListQuery::default(), &()).unwrap();
    for facts in &listing.sessions {
        round_trip(&engine, facts, place);
    }
    listing.sessions.len()
}

#[test]
fn every_fixture_round_trips() {
    let sessions: usize =
        fixtures().iter().map(|case| sweep(&case.path.join("home"), &case.name)).sum();
    assert!(sessions > 80, "{sessions}");
}

#[test]
fn every_recorded_session_round_trips() {
    let corpus = corpus();
    let captures = corpus.captures.iter();
    let sessions: usize = captures.map(|capture| sweep(&capture.home(), &capture.name)).sum();
    assert!(!corpus.is_recorded() || sessions > 150, "{sessions}");
}
