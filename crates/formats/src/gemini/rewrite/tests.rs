//! Tests of random compacted logs: the loader and people see the same. And of the layout of single values.

use std::collections::HashMap;

use proptest::prelude::*;
use recount_model::Fate;
use recount_testkit::Home;

use super::*;
use crate::bytes::Buffer;
use crate::gemini::grammar;
use crate::rewrite::{RecordedCall, Speaker, unpaired};

const HEAD: &str = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-11-15T08:00:00.000Z","lastUpdated":"2026-11-15T08:00:00.000Z"}"#;

/// The views of a log: what is shown, and all messages, each with its record.
#[derive(Debug, PartialEq)]
struct Views {
    strict: Vec<(String, String)>,
    full: Vec<(String, Fate, String)>,
    fields: HashMap<String, Vec<u8>>,
}

fn views(text: &str) -> Views {
    let file = Arc::from("log.jsonl");
    let mut input = io::Cursor::new(text.as_bytes());
    let outline = grammar::outline(&mut input, &file, &mut Buffer::new()).unwrap();
    let record = |version: u32| {
        let span = outline.versions[version as usize].span;
        let from = usize::try_from(span.offset).unwrap();
        let bytes = &text.as_bytes()[from..from + usize::try_from(span.bytes).unwrap()];
        String::from_utf8(bytes.to_vec()).unwrap()
    };
    let id =
        |entry: &crate::outline::MessageEntry| entry.id.as_deref().unwrap_or_default().to_owned();
    let mut input = io::Cursor::new(text.as_bytes());
    let fields = grammar::fields(&mut input, &file, &mut Buffer::new()).unwrap();
    Views {
        strict: outline
            .strict
            .iter()
            .map(|shown| (id(&outline.entries[shown.entry as usize]), record(shown.version)))
            .collect(),
        full: outline
            .entries
            .iter()
            .map(|entry| (id(entry), entry.fate, record(entry.best)))
            .collect(),
        fields: fields.iter().map(|(key, value)| (key.to_owned(), value.to_vec())).collect(),
    }
}

/// Writes pieces of ranges and bytes.
fn written(text: &str, pieces: &[Piece]) -> String {
    let mut out = Vec::new();
    for piece in pieces {
        match piece {
            Piece::New(bytes) => out.extend_from_slice(bytes),
            Piece::Kept { offset, bytes, .. } => {
                let from = usize::try_from(*offset).unwrap();
                out.extend_from_slice(
                    &text.as_bytes()[from..from + usize::try_from(*bytes).unwrap()],
                );
            }
            Piece::Record { .. } => panic!("a compacted log has no record in another shape"),
        }
    }
    String::from_utf8(out).unwrap()
}

fn message(id: u8, rich: u8) -> String {
    let text = "x".repeat(usize::from(rich % 3) * 40);
    match (id % 4, rich / 3) {
        (0, _) => format!(r#"{{"id":"{id}","type":"user","content":"say {text}"}}"#),
        (1, _) => format!(r#"{{"id":"{id}","type":"info","content":"{text}"}}"#),
        (_, 0) => format!(r#"{{"id":"{id}","type":"gemini","content":"{text}"}}"#),
        (_, 1) => format!(
            r#"{{"id":"{id}","type":"gemini","content":"{text}","toolCalls":[{{"id":"c","name":"ls","result":[{{"functionResponse":{{"id":"c","response":{{"output":"<tool_output_masked> too large"}}}}}}]}}]}}"#
        ),
        (_, _) => format!(
            r#"{{"id":"{id}","type":"gemini","content":"{text}","tokens":{{"input":1}},"toolCalls":[{{"id":"c","name":"ls","result":[{{"functionResponse":{{"id":"c","response":{{"output":"whole"}}}}}}]}}]}}"#
        ),
    }
}

fn line() -> impl Strategy<Value = String> {
    let one = || (0u8..10, 0u8..9).prop_map(|(id, rich)| message(id, rich));
    prop_oneof![
        8 => one(),
        3 => Just(r#"{"$set":{"lastUpdated":"2026-11-15T09:00:00.000Z"}}"#.to_owned()),
        1 => Just(r#"{"$set":{"sessionId":"s"}}"#.to_owned()),
        1 => Just(r#"{"$set":{"summary":"title"}}"#.to_owned()),
        1 => Just("garbage".to_owned()),
        1 => Just(HEAD.to_owned()),
        1 => (0u8..12).prop_map(|id| format!(r#"{{"$rewindTo":"{id}"}}"#)),
        3 => proptest::collection::vec(one(), 0..8).prop_map(|all| format!(
            r#"{{"$set":{{"messages":[{}],"lastUpdated":"2026-11-15T10:00:00.000Z"}}}}"#, all.join(",")
        )),
        1 => proptest::collection::vec(one(), 0..4).prop_map(|all| format!(
            r#"{{"$set":{{"messages":[{}],"summary":"other"}}}}"#, all.join(",")
        )),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_compacted_log_says_the_same(lines in proptest::collection::vec(line(), 1..40)) {
        let text = [&[HEAD.to_owned()], lines.as_slice(), &[String::new()]].concat().join("\n");
        let home = Home::empty();
        home.write("log.jsonl", &text);
        for mode in [CompactMode::Usual, CompactMode::Greater] {
            let pieces = Files.compacted(&home.path().join("log.jsonl"), mode).unwrap();
            if let Some(pieces) = pieces {
                let smaller = written(&text, &pieces);
                prop_assert!(smaller.len() < text.len());
                prop_assert_eq!(views(&text), views(&smaller));
            }
        }
    }
}

#[test]
fn lists_are_known_since_the_release_that_brought_them() {
    for (release, known) in
        [(Some("0.39.1"), false), (Some("0.43.0"), false), (Some("0.44.0"), true), (None, true)]
    {
        assert_eq!(Files.knows_lists(release), known, "{release:?}");
    }
}

#[test]
fn calls_and_responses_are_matched_as_the_agent_sends_them() {
    let call = |id: &str| RecordedCall {
        id: Some(id.to_owned()),
        name: "ls".to_owned(),
        args: b"{}".to_vec(),
    };
    let model = |calls: &[&str], answers: &[&str]| Exchange {
        speaker: Speaker::Model,
        calls: calls.iter().map(|id| call(id)).collect(),
        answers: answers.iter().map(|id| call(id)).collect(),
    };
    let human = |answers: &[&str]| Exchange {
        speaker: Speaker::Human,
        calls: Vec::new(),
        answers: answers.iter().map(|id| call(id)).collect(),
    };
    // Answered in the record, in the next one, in both.
    assert_eq!(
        unpaired(&[
            human(&[]),
            model(&["a"], &["a"]),
            human(&["a"]),
            model(&["b"], &[]),
            human(&["b"])
        ]),
        []
    );
    let open = |id: &str| Rewrite::Answer(vec![call(id)]);
    assert_eq!(unpaired(&[model(&["a", "b"], &["a"]), human(&[])]), [(0, open("b"))]);
    assert_eq!(unpaired(&[model(&["a"], &[]), model(&[], &[])]), [(0, open("a"))]);
    assert_eq!(unpaired(&[model(&["a"], &[])]), [(0, open("a"))]);
    let unasked = |id: &str| Rewrite::Drop(vec![call(id)]);
    assert_eq!(
        unpaired(&[human(&["a"]), model(&[], &[]), human(&["b"])]),
        [(0, unasked("a")), (2, unasked("b"))]
    );
    assert_eq!(
        unpaired(&[model(&["a"], &[]), human(&[]), human(&["a"])]),
        [(0, open("a")), (2, unasked("a"))]
    );
}

#[test]
fn values_are_laid_out_as_the_agent_does() {
    let json = br#"{"a":[],"b":{},"c":[1,{"d":"x:{,}"}],"e":"\"q\""}"#;
    let mut out = Vec::new();
    layout::write_indented(json, 0, &mut out).unwrap();
    let expected = "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": \"x:{,}\"\n    }\n  ],\n  \"e\": \"\\\"q\\\"\"\n}";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn a_frame_has_the_messages_after_the_times() {
    let mut fields = Fields::default();
    for (key, value) in [("kind", "\"main\""), ("sessionId", "\"s\""), ("lastUpdated", "\"t\"")] {
        fields.set(key, value.as_bytes());
    }
    let Frame { open, close, empty, .. } = Files.document(&fields);
    assert_eq!(
        String::from_utf8([open, b"    1".to_vec(), close].concat()).unwrap(),
        "{\n  \"sessionId\": \"s\",\n  \"lastUpdated\": \"t\",\n  \"messages\": [\n    1\n  ],\n  \"kind\": \"main\"\n}"
    );
    assert_eq!(
        String::from_utf8(empty).unwrap(),
        "{\n  \"sessionId\": \"s\",\n  \"lastUpdated\": \"t\",\n  \"messages\": [],\n  \"kind\": \"main\"\n}"
    );
}
