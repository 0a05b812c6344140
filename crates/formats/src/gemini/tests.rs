//! The rules of FORMAT.md, one by one, on small files.

use std::io::Cursor;
use std::sync::Arc;

use proptest::prelude::*;
use recount_model::{Fate, Grammar, MessageKind, SessionId, What};

use super::grammar::{outline, reader, sniff};
use super::lines::Lines;
use crate::bytes::{Buffer, PART, WORTH_SHARING};
use crate::outline::Outline;

const HEAD: &str = r#"{"sessionId":"s-1","projectHash":"h","startTime":"2026-09-02T08:00:00.000Z","lastUpdated":"2026-09-02T08:00:00.000Z","kind":"main"}"#;

fn read(text: impl AsRef<[u8]>) -> Outline {
    let file = Arc::from("test.jsonl");
    outline(&mut Cursor::new(text.as_ref()), &file, &mut Buffer::new()).unwrap()
}

fn log(lines: &[&str]) -> Outline {
    read([lines, &[""]].concat().join("\n"))
}

fn user(id: &str, text: &str) -> String {
    format!(
        r#"{{"id":"{id}","timestamp":"2026-09-02T08:00:01.000Z","type":"user","content":[{{"text":"{text}"}}]}}"#
    )
}

fn model(id: &str, text: &str) -> String {
    format!(
        r#"{{"id":"{id}","timestamp":"2026-09-02T08:00:02.000Z","type":"gemini","content":"{text}","tokens":{{"input":10,"output":5,"cached":0,"thoughts":0,"tool":0,"total":15}},"model":"m"}}"#
    )
}

fn checkpoint(messages: &[&str]) -> String {
    format!(
        r#"{{"$set":{{"messages":[{}],"lastUpdated":"2026-09-02T09:00:00.000Z"}}}}"#,
        messages.join(",")
    )
}

fn strict(outline: &Outline) -> Vec<&str> {
    let id = |entry: u32| outline.entries[entry as usize].id.as_deref().unwrap_or("-");
    outline.strict.iter().map(|shown| id(shown.entry)).collect()
}

fn fates(outline: &Outline) -> Vec<(&str, Fate)> {
    outline.entries.iter().map(|entry| (entry.id.as_deref().unwrap_or("-"), entry.fate)).collect()
}

fn problems(outline: &Outline) -> Vec<What> {
    outline.problems.kept.iter().map(|problem| problem.what).collect()
}

#[test]
fn a_known_id_is_replaced_in_its_old_place() {
    let outline =
        log(&[HEAD, &user("a", "1"), &model("b", "2"), &user("c", "3"), &model("b", "2, longer")]);
    assert_eq!(strict(&outline), ["a", "b", "c"]);
    assert_eq!(outline.versions.len(), 4);
    assert_eq!(outline.strict[1].version, 3);
    assert!(outline.problems.kept.is_empty());
}

#[test]
fn the_richest_version_is_kept_although_a_later_one_is_shown() {
    let bare = r#"{"id":"b","timestamp":"2026-09-02T08:00:02.000Z","type":"gemini","content":"2"}"#;
    let outline = log(&[HEAD, &model("b", "2"), bare]);
    let entry = &outline.entries[0];
    assert_eq!((entry.best, outline.strict[0].version), (0, 1));
    assert_eq!(entry.tokens.map(|tokens| tokens.total), Some(15));
}

#[test]
fn a_rewind_removes_its_target_and_all_that_follows() {
    let lines = [
        HEAD,
        &user("a", "1"),
        &user("b", "2"),
        &user("c", "3"),
        r#"{"$rewindTo":"b"}"#,
        &user("d", "4"),
    ];
    let outline = log(&lines);
    assert_eq!(strict(&outline), ["a", "d"]);
    assert_eq!(fates(&outline)[1..3], [("b", Fate::Rewound), ("c", Fate::Rewound)]);
}

#[test]
fn a_rewind_to_an_unknown_message_empties_the_list_and_says_so() {
    let outline = log(&[HEAD, &user("a", "1"), r#"{"$rewindTo":"x"}"#]);
    assert!(strict(&outline).is_empty());
    assert_eq!(problems(&outline), [What::UnknownRewind]);
}

#[test]
fn a_checkpoint_replaces_the_list_and_the_last_prompt_is_cancelled() {
    let (a, b) = (user("a", "1"), model("b", "2"));
    let outline = log(&[HEAD, &a, &b, &user("c", "failed"), &checkpoint(&[&a, &b])]);
    assert_eq!(strict(&outline), ["a", "b"]);
    assert_eq!(fates(&outline)[2], ("c", Fate::Cancelled));
}

#[test]
fn after_a_resume_what_a_checkpoint_drops_is_replaced() {
    let a = user("a", "1");
    let info =
        r#"{"id":"i","timestamp":"2026-09-02T08:00:03.000Z","type":"info","content":"note"}"#;
    let slash = user("s", "/srv/app is broken");
    let resumed = r#"{"$set":{"sessionId":"s-1"}}"#;
    let outline = log(&[HEAD, &a, info, &slash, resumed, &checkpoint(&[&a])]);
    assert_eq!(fates(&outline)[1..], [("i", Fate::Replaced), ("s", Fate::Replaced)]);
}

#[test]
fn a_new_summary_compresses_what_was_before() {
    let snapshot = user("z", "<state_snapshot>goal</state_snapshot>");
    let outline = log(&[HEAD, &user("a", "1"), &model("b", "2"), &checkpoint(&[&snapshot])]);
    assert_eq!(strict(&outline), ["z"]);
    assert_eq!(fates(&outline)[..2], [("a", Fate::Compressed), ("b", Fate::Compressed)]);
    assert_eq!(outline.entries[2].kind, MessageKind::Summary);
}

#[test]
fn what_a_later_checkpoint_brings_back_is_kept() {
    let a = user("a", "1");
    let outline = log(&[HEAD, &a, &checkpoint(&[]), &checkpoint(&[&a])]);
    assert_eq!(fates(&outline), [("a", Fate::Kept)]);
}

#[test]
fn metadata_is_merged_and_null_overwrites() {
    let later = r#"{"$set":{"summary":"Title","directories":["/x"]}}"#;
    let outline = log(&[HEAD, later, r#"{"$set":{"directories":null}}"#]);
    assert_eq!(outline.head.summary.as_deref(), Some("Title"));
    assert!(outline.head.directories.is_empty());
    let gone = log(&[HEAD, r#"{"$set":{"sessionId":null}}"#]);
    assert!(!gone.loadable);
}

#[test]
fn kinds_are_recognized_by_words_and_parts() {
    let kind = |content: &str| {
        let line = format!(
            r#"{{"id":"x","timestamp":"2026-09-02T08:00:00.000Z","type":"user","content":{content}}}"#
        );
        log(&[HEAD, &line]).entries[0].kind
    };
    for (content, expected) in [
        (r#"[{"text":"fix it"}]"#, MessageKind::Prompt),
        (r#""fix it""#, MessageKind::Prompt),
        (r#"[{"text":"\n <session_context>\nx</session_context>"}]"#, MessageKind::Context),
        (r#"[{"text":"<hook_context>lint</hook_context>"}]"#, MessageKind::Hook),
        (r#"[{"text":"<hook_context>lint</hook_context>\n\nfix it"}]"#, MessageKind::Prompt),
        (r#"[{"functionResponse":{"id":"1","name":"t","response":{}}}]"#, MessageKind::ToolResult),
        (
            r#"[{"text":"hint"},{"functionResponse":{"name":"t","response":{}}},{"inlineData":{"mimeType":"image/png","data":""}}]"#,
            MessageKind::ToolResult,
        ),
        (r#""[Function Response: read_file]<image/png>""#, MessageKind::ToolResult),
        (r#"[{"text":"I ran the following shell command:\n```sh\nls\n```"}]"#, MessageKind::Shell),
        (
            r#"[{"text":"Here is the user's editor context as a JSON object"}]"#,
            MessageKind::Context,
        ),
        (r#"[{"text":"- **Workspace Directories:**\n  - /x"}]"#, MessageKind::Context),
        (r#""System: Please continue.""#, MessageKind::Nudge),
        (r#"[{"text":"System: Potential loop detected. Details: x"}]"#, MessageKind::Nudge),
        (r#"[{"text":"Please continue. And then?"}]"#, MessageKind::Prompt),
    ] {
        assert_eq!(kind(content), expected, "{content}");
    }
}

#[test]
fn unknown_records_types_and_fields_are_counted() {
    let odd = r#"{"id":"x","timestamp":"2026-09-02T08:00:00.000Z","type":"vision","content":"","lens":1}"#;
    let outline = log(&[HEAD, r#"{"future":true}"#, "[1]", odd]);
    assert_eq!(
        problems(&outline),
        [What::UnknownRecord, What::UnknownRecord, What::UnknownType, What::UnknownField]
    );
    assert_eq!(outline.problems.not_understood, 3);
}

#[test]
fn damage_is_reported_and_the_rest_is_read() {
    let whole = format!("{HEAD}\n{}\n", user("a", "1"));
    let torn = read([whole.as_bytes(), &user("b", "2").as_bytes()[..30]].concat());
    assert_eq!((strict(&torn), problems(&torn)), (vec!["a"], vec![What::TornTail]));

    let welded = read(format!("{whole}{{\"id\":\"b\",\"ti{}\n", user("c", "3")));
    assert_eq!(strict(&welded), ["a"], "the agent drops both");
    assert_eq!(welded.entries.len(), 2, "we read the whole one");
    assert_eq!(problems(&welded), [What::BrokenLine]);

    let marked = read(format!("\u{feff}{whole}"));
    assert!(!marked.loadable);
    assert_eq!(marked.head.session_id.as_ref().map(SessionId::as_str), Some("s-1"));
    assert!(problems(&marked).contains(&What::ByteOrderMark));

    let headless = log(&[&user("a", "1")]);
    assert!(!headless.loadable);
    assert_eq!((headless.entries.len(), problems(&headless)), (1, vec![What::NoHead]));
    assert_eq!(problems(&read("")), [What::Empty]);
}

#[test]
fn lines_may_end_in_any_way() {
    for end in ["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"] {
        let text = [HEAD, &user("a", "1"), &user("b", "2"), ""].join(end);
        assert_eq!(strict(&read(&text)), ["a", "b"], "{end:?}");
    }
}

const DOCUMENT: &str = r#"{
  "sessionId": "s-1",
  "projectHash": "h",
  "startTime": "2026-09-02T08:00:00.000Z",
  "lastUpdated": "2026-09-02T08:05:00.000Z",
  "messages": [
    {
      "id": "a",
      "timestamp": "2026-09-02T08:00:01.000Z",
      "type": "user",
      "content": "one"
    },
    {
      "id": "b",
      "timestamp": "2026-09-02T08:00:02.000Z",
      "type": "gemini",
      "content": "two"
    }
  ],
  "summary": "Title"
}"#;

#[test]
fn a_document_is_read_with_what_follows_its_messages() {
    let outline = read(DOCUMENT);
    assert_eq!(outline.grammar, Grammar::Json);
    assert!(outline.loadable);
    assert_eq!(strict(&outline), ["a", "b"]);
    assert_eq!(outline.head.summary.as_deref(), Some("Title"));
    let first = outline.versions[0].span;
    let start = usize::try_from(first.offset).unwrap();
    assert!(DOCUMENT.as_bytes()[start..].starts_with(b"{\n      \"id\": \"a\""));
}

#[test]
fn a_document_cut_anywhere_gives_every_complete_message() {
    let ends = [DOCUMENT.find("    },\n").unwrap() + 5, DOCUMENT.rfind("    }\n").unwrap() + 5];
    for cut in 1..DOCUMENT.len() {
        let outline = read(&DOCUMENT.as_bytes()[..cut]);
        assert!(!outline.loadable, "{cut}");
        let expected = ends.iter().filter(|&&end| cut >= end).count();
        assert_eq!(outline.entries.len(), expected, "cut at {cut}");
        assert!(outline.problems.total > 0, "{cut}");
    }
}

#[test]
fn a_document_damaged_in_the_middle_gives_what_is_whole_around_it() {
    let damaged = DOCUMENT.replace("\"content\": \"one\"", "\"content\": oops");
    let outline = read(&damaged);
    assert!(!outline.loadable);
    assert_eq!(fates(&outline), [("b", Fate::Kept)]);
    assert_eq!(outline.head.session_id.as_ref().map(SessionId::as_str), Some("s-1"));
}

#[test]
fn each_text_of_an_id_in_a_document_is_one_message_wherever_it_is() {
    let list =
        |texts: &[&str]| texts.iter().map(|text| model("a", text)).collect::<Vec<_>>().join(",");
    let shown = |document: &str| {
        let outline = read(document);
        let entries: Vec<u32> = outline.strict.iter().map(|shown| shown.entry).collect();
        (outline.entries.len(), entries)
    };
    let messages = list(&["one", "two", "three", "two", "one", "three"]);
    let start = r#"{"sessionId":"s-1","projectHash":"h","messages":["#;
    assert_eq!(shown(&format!("{start}\n{messages}]}}\n")), (3, vec![0, 1, 2, 1, 0, 2]));
    // Only the last of two lists counts; its first text of an id is the message that is known by it.
    let (first, second) = (list(&["one", "two"]), list(&["two", "two", "one"]));
    let twice = format!("{start}\n{first}],\"messages\":[{second}]}}\n");
    assert_eq!(shown(&twice), (3, vec![0, 0, 2]));
}

#[test]
fn memory_of_earlier_files_is_reused_without_a_trace_of_them() {
    let file = || {
        let texts = [HEAD.to_owned(), user("c", "3"), model("d", "4"), user("c", "5")];
        read(texts.join("\n") + "\n")
    };
    let alone = std::thread::spawn(move || format!("{:?}", file())).join().unwrap();
    for _ in 0..2 {
        let lines: Vec<String> = (0..200).map(|number| user(&format!("m{number}"), "x")).collect();
        read(lines.join("\n")).recycle();
        assert_eq!(format!("{:?}", file()), alone);
    }
}

#[test]
fn a_document_shows_an_id_twice_if_it_occurs_twice() {
    let twice = DOCUMENT.replace("\"id\": \"b\"", "\"id\": \"a\"");
    let outline = read(&twice);
    assert_eq!(strict(&outline), ["a", "a"]);
    // Two texts are two messages; a message that occurs twice is one.
    assert_eq!(outline.entries.len(), 2);
    assert_eq!(outline.entries[1].tokens, None);
    let same = twice.replace("\"two\"", "\"one\"");
    let outline = read(&same);
    assert_eq!(strict(&outline), ["a", "a"]);
    assert_eq!(outline.entries.len(), 1);
}

#[test]
fn the_grammar_is_detected_by_content_not_by_name() {
    assert_eq!(sniff(DOCUMENT.as_bytes()), Grammar::Json);
    assert_eq!(sniff(HEAD.as_bytes()), Grammar::Jsonl);
    assert_eq!(
        sniff(&[&HEAD.as_bytes()[..40], b"\n", HEAD.as_bytes(), b"\n"].concat()),
        Grammar::Jsonl
    );
    assert_eq!(sniff(b"{\n"), Grammar::Json);
    // For any length of the cut part, and of what follows it.
    let long = format!("{{\"id\":\"{}\n{HEAD}\n", "x".repeat(5000));
    assert_eq!(sniff(long.as_bytes()), Grammar::Jsonl);
    let long = format!("{{\n\"summary\":\"{}\",\n\"messages\":[]}}", "x".repeat(5000));
    assert_eq!(sniff(long.as_bytes()), Grammar::Json);
    assert_eq!(sniff(b"garbage\n"), Grammar::Jsonl);
}

/// Feeds a log in pieces, and saves and restores the reader at each cut where possible.
fn kept_in_pieces(text: &[u8], mut cuts: Vec<usize>) -> String {
    cuts.push(text.len());
    cuts.sort_unstable();
    let file = Arc::from("x");
    let mut reader = reader(Grammar::Jsonl, &file);
    let mut used = 0;
    for cut in cuts {
        if cut > used {
            used += reader.feed(&text[used..cut]);
        }
        if let Some(saved) = reader.save() {
            assert_eq!(saved.offset, used as u64);
            reader = Box::new(Lines::resume(&saved.state, &file).unwrap());
        }
    }
    reader.finish(&text[used..]);
    format!("{:?}", reader.outline())
}

#[test]
fn a_reader_goes_on_where_it_was_kept() {
    let mut kept = 0;
    for case in recount_testkit::fixtures() {
        for path in logs_below(&recount_testkit::fixture(&case.name)) {
            let text = crate::bytes::read_small(&path).unwrap();
            let ends: Vec<usize> = memchr::memchr_iter(b'\n', &text).map(|at| at + 1).collect();
            let whole = in_pieces(Grammar::Jsonl, &text, vec![]);
            for cut in ends.iter().step_by(ends.len() / 7 + 1) {
                assert_eq!(kept_in_pieces(&text, vec![*cut]), whole, "{} at {cut}", path.display());
                kept += 1;
            }
            assert_eq!(kept_in_pieces(&text, ends), whole, "{}", path.display());
        }
    }
    assert!(kept > 100, "only {kept} places were tried");
}

fn logs_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut logs = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            logs.extend(logs_below(&path));
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            logs.push(path);
        }
    }
    logs
}

/// Feeds `text` in pieces cut at `cuts` and returns the outline as text, for comparison.
fn in_pieces(grammar: Grammar, text: &[u8], cuts: Vec<usize>) -> String {
    on_cores(false, grammar, text, cuts)
}

/// The same, on two cores if one is idle.
fn on_cores(is_core_idle: bool, grammar: Grammar, text: &[u8], mut cuts: Vec<usize>) -> String {
    cuts.push(text.len());
    cuts.sort_unstable();
    let mut reader = reader(grammar, &Arc::from("x"));
    reader.may_share(is_core_idle);
    let mut used = 0;
    for cut in cuts {
        if cut > used {
            used += reader.feed(&text[used..cut]);
        }
    }
    reader.finish(&text[used..]);
    format!("{:?}", reader.outline())
}

/// Returns text that is large enough to be parsed on two cores.
fn large(unit: impl Fn(usize) -> String, between: &str, ends: [&str; 2]) -> String {
    let mut units = Vec::new();
    let mut bytes = 0;
    while bytes < 9_000_000 {
        units.push(unit(units.len()));
        bytes += units.last().unwrap().len() + between.len();
    }
    [ends[0], &units.join(between), ends[1]].concat()
}

#[test]
fn two_cores_read_what_one_reads_of_a_log() {
    let filler = "x\\n".repeat(500);
    let line = |n: usize| match n % 7 {
        0 => user(&format!("u{n}"), &filler),
        5 => checkpoint(&[&user("a", "1"), &user(&format!("u{}", n - 5), "2")]),
        6 if n.is_multiple_of(5) => "broken".to_owned(),
        // Larger than a part.
        1 if n.is_multiple_of(50) => model(&format!("m{}", n / 2), &"y".repeat(3 * PART)),
        _ => model(&format!("m{}", n / 2), &filler),
    };
    for end in ["\n", "\r\n", "\r"] {
        let log = large(line, end, [&HEAD.replace('\n', end), end]);
        let alone = in_pieces(Grammar::Jsonl, log.as_bytes(), vec![]);
        for cuts in [vec![], vec![4 * WORTH_SHARING]] {
            assert!(alone == on_cores(true, Grammar::Jsonl, log.as_bytes(), cuts), "{end:?}");
        }
    }
    // Too many lines to parse all of them ahead.
    let short = large(|_| "{}".repeat(3), "\n\n\n", [HEAD, "\n"]);
    // Too many messages.
    let messages = vec!["{}"; 20_000];
    let lists = large(|_| checkpoint(&messages), "\n", [HEAD, "\n"]);
    for text in [short, lists] {
        let read =
            |is_idle| on_cores(is_idle, Grammar::Jsonl, &text.as_bytes()[..2_000_000], vec![]);
        assert!(read(true) == read(false));
    }
}

#[test]
fn two_cores_read_what_one_reads_of_a_document() {
    let filler = "x\\n".repeat(500);
    let (head, tail) = DOCUMENT.split_once("    {\n").unwrap();
    let end = tail.get(tail.rfind("\n  ]").unwrap()..).unwrap();
    // Damage in the first part, and in later ones; what is broken looks like a message, or is none.
    for (damaged, damage) in [
        (usize::MAX, ""),
        (3, "oops"),
        (70, "oops"),
        (700, "oops"),
        (70, "\"x\": {\n    {}"),
        (700, "\"x\": \"\n    {\""),
        (200, "\"x\": [\n    {\"id\": \"inner\", \"type\": \"user\", \"content\": \"a\"}]"),
    ] {
        let message = |n: usize| {
            let text = if n % 60 == 9 { "y".repeat(3 * PART) } else { filler.clone() };
            let text = format!(
                "      \"id\": \"{n}\",\n      \"type\": \"user\",\n      \"content\": \"{text}\""
            );
            let more = if n == damaged { format!(",\n      {damage}") } else { String::new() };
            format!("    {{\n{text}{more}\n    }}")
        };
        for end_of_line in ["\n", "\r\n"] {
            let document = large(message, ",\n", [head, end]).replace('\n', end_of_line);
            let alone = in_pieces(Grammar::Json, document.as_bytes(), vec![]);
            // A document is parsed on two cores once its first message was reached.
            for cuts in [vec![5000], vec![5000, 4 * WORTH_SHARING]] {
                let shared = on_cores(true, Grammar::Json, document.as_bytes(), cuts);
                assert!(alone == shared, "{damaged} {damage} {end_of_line:?}");
            }
            // A list within a message is valid.
            let is_broken = damaged != usize::MAX && damaged != 200;
            assert_eq!(alone.contains("BrokenDocument"), is_broken, "{damaged} {damage}");
        }
    }
}

#[test]
fn two_cores_read_what_one_reads_of_many_short_messages() {
    let (head, tail) = DOCUMENT.split_once("    {\n").unwrap();
    let end = tail.get(tail.rfind("\n  ]").unwrap()..).unwrap();
    let message = |n: usize| match n % 3 {
        0 => format!("    {{\n      \"id\": \"{n}\",\n      \"type\": \"user\"\n    }}"),
        1 => vec!["    {}"; 20_000].join(","),
        _ => format!("    {{\"id\": \"{n}\", \"content\": \"{}\"}}", "y".repeat(PART)),
    };
    let document = large(message, ",\n", [head, end]);
    let read = |is_idle| on_cores(is_idle, Grammar::Json, document.as_bytes(), vec![5000]);
    assert!(read(true) == read(false));
}

fn any_line() -> impl Strategy<Value = String> {
    let id = prop::sample::select(vec!["a", "b", "c", "d"]);
    prop_oneof![
        4 => (id.clone(), "[a-z ]{0,12}").prop_map(|(id, text)| user(id, &text)),
        4 => (id.clone(), "[a-z ]{0,12}").prop_map(|(id, text)| model(id, &text)),
        1 => id.clone().prop_map(|id| format!(r#"{{"$rewindTo":"{id}"}}"#)),
        1 => prop::collection::vec(id, 0..4).prop_map(|ids| {
            let messages: Vec<String> = ids.iter().map(|id| user(id, "kept")).collect();
            checkpoint(&messages.iter().map(String::as_str).collect::<Vec<_>>())
        }),
        1 => Just(HEAD.to_owned()),
        1 => Just(r#"{"$set":{"sessionId":"s-1"}}"#.to_owned()),
        1 => "[ -~]{0,20}",
        1 => Just("\u{feff}{}".to_owned()),
    ]
}

proptest! {
    #[test]
    fn feeding_in_pieces_equals_feeding_at_once(
        lines in prop::collection::vec(any_line(), 0..12),
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let text = lines.join(end).into_bytes();
        let cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        prop_assert_eq!(in_pieces(Grammar::Jsonl, &text, cuts.clone()), in_pieces(Grammar::Jsonl, &text, vec![]));
        prop_assert_eq!(kept_in_pieces(&text, cuts.clone()), in_pieces(Grammar::Jsonl, &text, vec![]));
        prop_assert_eq!(in_pieces(Grammar::Json, &text, cuts), in_pieces(Grammar::Json, &text, vec![]));
    }

    #[test]
    fn a_document_in_pieces_equals_the_document_at_once(
        cuts in prop::collection::vec(0..DOCUMENT.len(), 0..8),
        flip in 0..DOCUMENT.len(),
        byte in any::<u8>(),
    ) {
        let mut text = DOCUMENT.as_bytes().to_vec();
        prop_assert_eq!(in_pieces(Grammar::Json, &text, cuts.clone()), in_pieces(Grammar::Json, &text, vec![]));
        text[flip] = byte;
        prop_assert_eq!(in_pieces(Grammar::Json, &text, cuts), in_pieces(Grammar::Json, &text, vec![]));
    }

    #[test]
    fn views_agree_on_any_log(lines in prop::collection::vec(any_line(), 0..20)) {
        crate::fuzz::session(lines.join("\n").as_bytes());
    }

    #[test]
    fn nothing_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        crate::fuzz::session(&bytes);
        crate::fuzz::json(&bytes);
    }

    #[test]
    fn nothing_panics_on_a_damaged_document(at in 0..DOCUMENT.len(), bytes in prop::collection::vec(any::<u8>(), 1..6)) {
        let mut text = DOCUMENT.as_bytes().to_vec();
        text.splice(at..(at + bytes.len()).min(text.len()), bytes);
        crate::fuzz::session(&text);
    }
}
