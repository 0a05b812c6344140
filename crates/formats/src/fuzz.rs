//! Checks that must hold for any bytes: run by the fuzz targets, and on a stable compiler by property tests.
//!
//! They panic where an invariant is broken, so they are compiled for tests and with the feature `fuzzing` only.

use std::io::Cursor;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::bytes::Buffer;
use crate::edit::{Amendment, Title};
use crate::gemini;
use crate::json::{JsonTree, Scanner, compact};
use crate::native::NativeTexts;
use crate::outline::Outline;
use crate::rewrite::{Exchange, Rewrite, Shape};
use crate::source::{Detail, MessageRequest, OtherVersions, Source as _};

/// Reads `data` as a session file and every message of it, and checks that the views agree.
///
/// # Panics
/// If an invariant does not hold.
pub fn session(data: &[u8]) {
    let file: Arc<str> = Arc::from("fuzz");
    let mut buffer = Buffer::new();
    let outline = gemini::outline(&mut Cursor::new(data), &file, &mut buffer);
    #[expect(clippy::expect_used, reason = "a cursor over bytes cannot fail")]
    let outline = outline.expect("reading from memory");
    assert!(
        strict_is_part_of_full(&outline),
        "the strict view has a message that the full view lacks"
    );
    for entry in &outline.entries {
        for version in outline.versions_of(entry) {
            let start = usize::try_from(version.span.offset).unwrap_or(usize::MAX);
            let end =
                start.saturating_add(usize::try_from(version.span.bytes).unwrap_or(usize::MAX));
            let bytes = data.get(start..end);
            assert!(bytes.is_some(), "a span that is not in the file");
            let request = MessageRequest {
                pieces: &[],
                bytes: bytes.unwrap_or_default(),
                file: &file,
                span: version.span,
                fate: entry.fate,
                entry: Some(entry),
                model: None,
                others: &NoOthers,
                folder: None,
                detail: Detail::Whole,
            };
            assert!(
                gemini::Gemini.message(&request).is_ok(),
                "a message that cannot be read again"
            );
            own_line(request.bytes);
            repaired(request.bytes);
        }
    }
    if outline.loadable {
        named(data, &outline, &mut buffer);
    }
    let _saved = gemini::Gemini.foreign(data, &file);
    let turns = gemini::Gemini.native_format().and_then(|form| form.saved(data, None));
    turns.unwrap_or_default().iter().for_each(|record| own_line(record));
}

/// Reads `data` as a transcript and every message of it and of the agents in it, and checks that the views agree.
///
/// # Panics
/// If an invariant does not hold.
pub fn transcript(data: &[u8]) {
    let file: Arc<str> = Arc::from("fuzz.jsonl");
    let mut reader = crate::claude::reader(&file);
    let used = reader.feed(data);
    reader.finish(data.get(used..).unwrap_or_default());
    let mut outline = reader.into_outline();
    let others = std::mem::take(&mut outline.others);
    for outline in std::iter::once(outline).chain(others) {
        assert!(
            strict_is_part_of_full(&outline),
            "the strict view has a message that the full view lacks"
        );
        for entry in &outline.entries {
            let cut = |span: recount_model::Span| {
                let start = usize::try_from(span.offset).unwrap_or(usize::MAX);
                let end = start.saturating_add(usize::try_from(span.bytes).unwrap_or(usize::MAX));
                let bytes = data.get(start..end);
                assert!(bytes.is_some(), "a span that is not in the file");
                bytes.unwrap_or_default()
            };
            let span =
                outline.versions.get(entry.best as usize).map(|v| v.span).unwrap_or_default();
            let pieces: Vec<crate::source::PieceBytes<'_>> = outline
                .pieces_of(entry)
                .map(|version| crate::source::PieceBytes {
                    bytes: cut(version.span),
                    span: version.span,
                })
                .collect();
            let request = MessageRequest {
                pieces: &pieces,
                bytes: cut(span),
                file: &file,
                span,
                fate: entry.fate,
                entry: Some(entry),
                model: None,
                others: &NoOthers,
                folder: None,
                detail: Detail::Whole,
            };
            let message = crate::claude::Claude.message(&request);
            assert!(
                message.is_ok_and(|message| message.kind == entry.kind),
                "a message that cannot be read again, or is another"
            );
        }
    }
}

/// Sets a title: the session then has it, and all its messages are unchanged.
fn named(data: &[u8], before: &Outline, buffer: &mut Buffer) {
    let said = Amendment { title: Some(Title::Is("A \"title\"")), ..Amendment::default() };
    let amended = gemini::amended(data, before.grammar, said);
    assert!(amended.is_some(), "a session that can be loaded cannot be named");
    let mut amended = Cursor::new(amended.unwrap_or_default());
    let after = gemini::outline(&mut amended, &Arc::from("fuzz"), buffer);
    let is_so = |after: &Outline| {
        after.loadable
            && after.head.summary.as_deref() == Some("A \"title\"")
            && after.head.session_id == before.head.session_id
            && (after.entries.len(), after.strict.len())
                == (before.entries.len(), before.strict.len())
    };
    assert!(after.as_ref().is_ok_and(is_so), "a title that changes more, or is not taken");
}

/// Writes a record in the agent's native format, under its own id and under another, and replaces its texts.
fn own_line(record: &[u8]) {
    let Some(form) = gemini::Gemini.native_format() else { return };
    for id in [None, Some("other")] {
        let Some(line) = form.record(record, id) else { continue };
        assert!(memchr::memchr2(b'\n', b'\r', &line).is_none(), "a record on more than one line");
        assert_eq!(form.record(&line, None).as_ref(), Some(&line), "a line that changes again");
        let replaced = form.replace(&line, &mut Blank);
        assert!(replaced.is_some_and(|new| JsonTree::parse(&new).is_ok()), "replacing broke it");
    }
}

/// Writes a record as an element of a document, and with answered calls or dropped responses.
fn repaired(record: &[u8]) {
    let Some(rewriter) = gemini::Gemini.rewriter() else { return };
    if let Some(element) = rewriter.shape(record, &Shape::Element(None)) {
        assert_eq!(compact(&element), compact(record), "an element that says something else");
    }
    let Some(Exchange { calls, answers, .. }) = rewriter.exchange(record) else { return };
    for rewrite in [Rewrite::Answer(calls), Rewrite::Drop(answers)] {
        let written = rewriter.rewritten(record, &rewrite);
        assert!(written.is_none_or(|new| JsonTree::parse(&new).is_ok()), "mending broke it");
    }
}

/// Replaces every text by an empty one.
struct Blank;

impl NativeTexts for Blank {
    fn text(&mut self, _key: Option<&str>, _text: &str) -> Option<String> {
        Some(String::new())
    }

    fn path_hash(&mut self) -> Option<String> {
        None
    }

    fn media(&mut self) {}
}

/// Reads `data` as JSON and compares with `serde_json`: what is accepted, the value, and the value of the compacted text.
///
/// # Panics
/// If the two disagree.
pub fn json(data: &[u8]) {
    let mut scanner = Scanner::new(data);
    let is_accepted = scanner.skip().and_then(|()| scanner.end()).is_ok();
    // Ignoring a value checks only its syntax. Like `JSON.parse`, and unlike parsing to a `Value`, that has no limit on
    // depth or numbers, and accepts half a surrogate pair as a character.
    let expected = serde_json::from_slice::<IgnoredAny>(data);
    assert_eq!(is_accepted, expected.is_ok(), "not what serde_json says: {expected:?}");
    let tree = JsonTree::parse(data);
    assert_eq!(tree.is_ok(), is_accepted, "scanner and tree disagree");
    let (Ok(tree), Ok(value)) = (tree, serde_json::from_slice::<Value>(data)) else { return };
    assert!(is_same(&tree, &value), "{tree:?} is not {value:?}");
    let again = serde_json::from_str::<Value>(&compact(data));
    assert_eq!(again.ok(), Some(value), "compacting changed the value");
}

/// Whether a tree is the value that the reference parser read.
fn is_same(tree: &JsonTree, value: &Value) -> bool {
    match (tree, value) {
        (JsonTree::Null, Value::Null) => true,
        (JsonTree::Bool(tree), Value::Bool(value)) => tree == value,
        (JsonTree::String(tree), Value::String(value)) => tree == value,
        (JsonTree::Array(tree), Value::Array(value)) => {
            tree.len() == value.len()
                && tree.iter().zip(value).all(|(tree, value)| is_same(tree, value))
        }
        (JsonTree::Object(tree), Value::Object(value)) => {
            let is_in = |(key, tree): &(String, JsonTree)| {
                value.get(key).is_some_and(|value| is_same(tree, value))
            };
            tree.len() == value.len() && tree.iter().all(is_in)
        }
        (JsonTree::Number(text) | JsonTree::Deep(text), value) => {
            serde_json::from_str::<Value>(text).is_ok_and(|read| read == *value)
        }
        _ => false,
    }
}

fn strict_is_part_of_full(outline: &Outline) -> bool {
    outline.strict.iter().all(|shown| {
        (shown.entry as usize) < outline.entries.len()
            && (shown.version as usize) < outline.versions.len()
    })
}

#[derive(Debug)]
struct NoOthers;

impl OtherVersions for NoOthers {
    fn each(&self, _visit: &mut dyn FnMut(&[u8]) -> bool) {}
}
