//! Tests on every recorded home: no prompt on disk may be lost.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use recount_engine::export::{ExportOptions, Format, Images, Level};
use recount_engine::{Engine, Export, Guarded, ListQuery, Selection, View};
use recount_model::{DeletionReason, MessageKind};
use recount_testkit::{Capture, Page, corpus};
use serde_json::Value;

use crate::engine_at;

#[expect(clippy::disallowed_methods, reason = "a test reads what it compares with")]
fn text_of(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}

/// Returns what was typed in a recording, without slash commands and shell lines.
fn typed(meta: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for command in meta["commands"].as_array().into_iter().flatten() {
        let argv: Vec<&str> =
            command["argv"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        all.extend(argv.windows(2).filter(|pair| pair[0] == "-p").map(|pair| pair[1].to_owned()));
        let keys = command["interactive"].as_array().into_iter().flatten();
        all.extend(keys.filter_map(|key| key["type"].as_str().map(str::to_owned)));
    }
    all.retain(|text| !text.starts_with(['/', '!']) && !text.contains('@'));
    // A key binding of the terminal dropped some question marks at the end.
    all.iter()
        .map(|text| text.trim_end_matches('?').trim().to_owned())
        .filter(|text| !text.is_empty())
        .collect()
}

/// Opens a recorded home as of the day after the recording.
fn open(home: &Path) -> Engine {
    engine_at(home, None, "2026-11-16T00:00:00Z")
}

/// Parses the metadata of a recording; fixtures have none.
fn meta(capture: &Capture) -> Option<Value> {
    Some(serde_json::from_str(&capture.meta()?).unwrap())
}

#[test]
fn every_session_is_exported_in_every_format() {
    let corpus = corpus();
    let mut exported = 0;
    for capture in &corpus.captures {
        let engine = open(&capture.home());
        let listing = engine.list(&ListQuery::default(), &()).unwrap();
        for session in &listing.sessions {
            let opened = engine.open(session.id.as_str(), &()).unwrap();
            let messages: Vec<Value> = opened
                .messages(View::Full)
                .unwrap()
                .map(|message| serde_json::to_value(message.unwrap()).unwrap())
                .collect();
            let selection = Selection::Opened(vec![opened]);
            for (format, level) in FORMATS {
                let options = ExportOptions { level, thoughts: true, ..ExportOptions::default() };
                let (split, tables, redaction, own) = (None, Vec::new(), None, None);
                let images = Images::Within;
                let export = Export { format, options, split, tables, images, redaction, own };
                let mut out = Vec::new();
                let done = engine.export_to(&selection, &export, &mut out).unwrap();
                assert_eq!(done.written, 1, "{}", session.id);
                // Some fixtures are damaged on purpose.
                assert!(done.problems.is_empty() || !corpus.is_recorded(), "{}", session.id);
                let text = String::from_utf8(out).unwrap();
                let is_odd = |c: &char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
                assert_eq!(text.chars().find(is_odd), None, "{} {format:?}", session.id);
                if format == Format::Html {
                    Page::read(&text);
                }
                if format == Format::Jsonl {
                    let lines = text.lines().skip(1);
                    let read: Vec<Value> =
                        lines.map(|line| serde_json::from_str(line).unwrap()).collect();
                    assert_eq!(read, messages, "{}", session.id);
                }
                exported += 1;
            }
        }
    }
    assert!(exported > if corpus.is_recorded() { 500 } else { 100 }, "{exported}");
}

const FORMATS: [(Format, Level); 8] = [
    (Format::Html, Level::Trace),
    (Format::Markdown, Level::Talk),
    (Format::Markdown, Level::Full),
    (Format::Markdown, Level::Trace),
    (Format::Text, Level::Trace),
    (Format::Json, Level::Full),
    (Format::Jsonl, Level::Full),
    (Format::Csv, Level::Full),
];

#[test]
fn every_prompt_on_disk_is_found_as_a_prompt() {
    let corpus = corpus();
    let mut found = 0;
    for capture in &corpus.captures {
        let Some(meta) = meta(capture) else { continue };
        let engine = open(&capture.home());
        let listing = engine.list(&ListQuery::default(), &()).unwrap();
        assert!(listing.problems.is_empty(), "{}: {:?}", capture.name, listing.problems);
        let (mut prompts, mut on_disk) = (Vec::new(), String::new());
        for session in &listing.sessions {
            assert_eq!(session.problems, 0, "{}: {:?}", session.id, session.problem_list);
            let opened = engine.open(session.id.as_str(), &()).unwrap();
            let messages: Vec<_> =
                opened.messages(View::Full).unwrap().map(Result::unwrap).collect();
            assert_eq!(messages.len() as u64, session.counts.messages, "{}", session.id);
            let strict = opened.messages(View::Strict).unwrap().count() as u64;
            assert_eq!(strict, session.kept.messages, "{}", session.id);
            let said = messages.iter().filter(|message| message.kind == MessageKind::Prompt);
            prompts.extend(said.map(|message| message.display_text.clone()));
            for file in &session.files {
                on_disk.push_str(&text_of(Path::new(&file.path)));
            }
        }
        for text in typed(&meta) {
            let escaped = serde_json::to_string(&text).unwrap();
            if on_disk.contains(escaped.trim_matches('"')) {
                let has = prompts.iter().any(|prompt| prompt.contains(&text));
                assert!(has, "{}: {text:?} is on disk and not among {prompts:?}", capture.name);
                found += 1;
            }
        }
    }
    assert!(!corpus.is_recorded() || found > 250, "only {found} prompts were looked for");
}

/// Returns the files that were deleted after the agent was started again to list its sessions, relative to the home.
fn gone(meta: &Value) -> BTreeSet<String> {
    let notes = meta["notes"].as_str().unwrap_or_default();
    let told = notes.lines().filter_map(|line| line.split_once("Gone after --list-sessions: "));
    told.flat_map(|(_, files)| files.split(", ")).map(|file| file.trim().to_owned()).collect()
}

/// Returns the last part of a file's name, which groups of files share.
fn ending(file: &str) -> &str {
    file.rsplit('-').next().and_then(|end| end.split('.').next()).unwrap_or_default()
}

#[test]
fn what_the_agent_deleted_was_foretold() {
    let corpus = corpus();
    let (mut captures, mut found) = (0, 0);
    for capture in &corpus.captures {
        let Some(meta) = meta(capture) else { continue };
        let home = capture.home();
        let forecast = open(&home).guard(None, meta["release"].as_str(), &()).unwrap();
        let below = |path: &str| {
            Path::new(path).strip_prefix(&home).unwrap().to_string_lossy().into_owned()
        };
        let deletions = forecast.projects.iter().flat_map(Guarded::deletions);
        let mut told: Vec<(String, DeletionReason)> =
            deletions.map(|deletion| (below(&deletion.path), deletion.why)).collect();
        let gone = gone(&meta);
        let is_told = |file: &String| told.iter().any(|(path, _)| path == file);
        assert!(gone.iter().all(is_told), "{}: {gone:?} is not {told:?}", capture.name);
        // That run was so short that it ended in the middle of a group: the stub, which comes last, was left.
        let is_left = |path: &str, why: DeletionReason| {
            why == DeletionReason::Stub && gone.iter().any(|file| ending(file) == ending(path))
        };
        told.retain(|(path, why)| !gone.contains(path) && !is_left(path, *why));
        assert!(told.is_empty(), "{}: {told:?} is still there", capture.name);
        captures += 1;
        found += gone.len();
    }
    let is_enough = captures > 100 && found >= 8;
    assert!(!corpus.is_recorded() || is_enough, "{found} files in {captures} recordings");
}
