//! Every recorded home of Codex: prompts, undone prompts, parents, forks, names and tokens as they were.
//!
//! The recordings are not part of the repository; without them the fixtures are read, which say the same in `expected.json`.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_formats::SOURCES;
use recount_formats::bytes::{Buffer, Input, read_small};
use recount_formats::outline::Outline;
use recount_formats::source::{
    Detail, MessageRequest, OtherVersions, PieceBytes, RootShape, ScannedFile, SessionFile,
    SessionFiles, Source,
};
use recount_model::{Fate, FileRole, Message, MessageKind, SessionKind, Span};
use recount_testkit::{corpus_of_other_agents, fixtures_of};
use serde_json::Value;

#[derive(Debug)]
struct NoOthers;

impl OtherVersions for NoOthers {
    fn each(&self, _visit: &mut dyn FnMut(&[u8]) -> bool) {}
}

fn codex() -> &'static dyn Source {
    *SOURCES.iter().find(|source| source.name().as_str() == "codex").unwrap()
}

/// A recorded home with what is known of it.
struct Recording {
    name: String,
    home: PathBuf,
    meta: Value,
}

fn recordings() -> Vec<Recording> {
    let read =
        |path: PathBuf| read_small(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let captures = corpus_of_other_agents().captures.into_iter();
    let captures = captures.filter(|capture| capture.name.starts_with("codex/"));
    let mut all: Vec<Recording> = captures
        .map(|capture| Recording {
            home: capture.home(),
            meta: read(capture.path.join("meta.json")).unwrap_or_default(),
            name: capture.name,
        })
        .collect();
    all.extend(fixtures_of("codex").into_iter().map(|case| Recording {
        home: case.path.join("home"),
        meta: read(case.path.join("expected.json")).unwrap_or_default(),
        name: case.name,
    }));
    assert!(!all.is_empty());
    all
}

/// All files of a home, sorted into sessions, each with what it borrows in front.
fn sessions(home: &Path) -> Vec<SessionFiles> {
    let mut buffer = Buffer::new();
    let located = codex().locate(&home.join(".codex"), RootShape::Whole);
    let mut groups: BTreeMap<String, Vec<ScannedFile>> = BTreeMap::new();
    for at in located.folders.iter().flat_map(|folder| &folder.files) {
        let outline = codex().outline(&at.path, &mut buffer);
        let file = ScannedFile {
            folder: 0,
            named_folder: true,
            is_shared: false,
            at: Arc::clone(at),
            outline,
        };
        groups.entry(at.group.clone()).or_default().push(file);
    }
    let mut all: Vec<SessionFiles> =
        groups.values().flat_map(|files| codex().group_sessions(files.clone())).collect();
    for session in &mut all {
        let main = session.files.iter().find(|file| file.role == FileRole::Main);
        let mut next = main.and_then(|main| main.file.outline.head.base.as_deref().cloned());
        let mut bases = Vec::new();
        while let Some(base) = next.take() {
            let files = groups.get(&*base.group).cloned().unwrap_or_default();
            let parent =
                codex().group_sessions(files).into_iter().find(|one| one.id == base.session);
            let (borrowed, further) = codex().borrowed(parent.unwrap(), &base).unwrap();
            bases.extend(borrowed);
            next = further;
        }
        session.files.splice(0..0, bases.into_iter().rev());
    }
    all
}

fn content(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    Input::open(path).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn slice(bytes: &[u8], span: Span) -> &[u8] {
    let start = usize::try_from(span.offset).unwrap();
    &bytes[start..start + usize::try_from(span.bytes).unwrap()]
}

/// Reads all messages of a file.
fn messages(file: &SessionFile) -> Vec<Message> {
    let bytes = content(&file.file.at.path);
    let name: Arc<str> = Arc::from(file.file.at.path.to_string_lossy());
    let outline = &file.file.outline;
    let read = |entry| read(outline, &bytes, &name, entry);
    (0..outline.entries.len()).map(read).collect()
}

fn read(outline: &Outline, bytes: &[u8], name: &Arc<str>, at: usize) -> Message {
    let entry = &outline.entries[at];
    let span = outline.versions[entry.best as usize].span;
    let pieces: Vec<PieceBytes<'_>> = outline
        .pieces_of(entry)
        .map(|version| PieceBytes { bytes: slice(bytes, version.span), span: version.span })
        .collect();
    let model = entry.model.map(|model| &*outline.models[usize::from(model)]);
    let request = MessageRequest {
        bytes: slice(bytes, span),
        pieces: &pieces,
        file: name,
        span,
        fate: entry.fate,
        entry: Some(entry),
        model,
        others: &NoOthers,
        folder: None,
        detail: Detail::Whole,
    };
    codex().message(&request).unwrap()
}

/// What was typed in a session, kept or undone.
fn prompts(
    session: &SessionFiles,
    is_wanted: impl Fn(&SessionFile, &Message) -> bool,
) -> Vec<String> {
    let mut all = Vec::new();
    for file in &session.files {
        if matches!(file.role, FileRole::Copy | FileRole::Twin) {
            continue;
        }
        let said = messages(file).into_iter().filter(|message| message.kind == MessageKind::Prompt);
        all.extend(
            said.filter(|message| is_wanted(file, message)).map(|message| message.display_text),
        );
    }
    all
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// A prompt of a recording's notes without what the notes add in brackets.
fn plain(note: &str) -> String {
    let note = note
        .split_once(") ")
        .filter(|(mark, _)| mark.starts_with('('))
        .map_or(note, |(_, rest)| rest);
    note.split(" (").next().unwrap_or(note).to_owned()
}

#[test]
#[expect(clippy::print_stdout, reason = "a sweep says how much it saw")]
fn every_typed_prompt_is_a_prompt_once() {
    let (mut swept, mut compared) = (0, 0);
    let scripted: Vec<String> = recordings()
        .iter()
        .flat_map(|recording| texts(&recording.meta["prompts"]))
        .map(|note| plain(&note))
        .collect();
    for Recording { name, home, meta } in recordings() {
        let located = codex().locate(&home.join(".codex"), RootShape::Whole);
        let main: Vec<SessionFiles> = sessions(&home)
            .into_iter()
            .filter(|session| session.kind == SessionKind::Main)
            .collect();
        let kept =
            |session: &SessionFiles| prompts(session, |_, message| message.fate == Fate::Kept);
        swept += 1;
        let Some(expected) = meta["expected_sessions"].as_array() else {
            let mut typed: Vec<String> =
                texts(&meta["prompts"]).iter().map(|note| plain(note)).collect();
            if typed.is_empty() {
                // Recordings made of others' sessions: what was typed there, and nothing else.
                let said: Vec<String> = main.iter().flat_map(&kept).collect();
                assert!(!said.is_empty(), "{name}");
                for prompt in &said {
                    assert!(scripted.contains(prompt), "{name}: {prompt}");
                }
                compared += said.len();
                continue;
            }
            let mut said: Vec<String> = if name.contains("0.29.0/") {
                // A resume copies everything into a new file: each file holds the prompts up to its own.
                let mut all: Vec<Vec<String>> = main.iter().map(&kept).collect();
                all.sort_by_key(Vec::len);
                for (session, more) in all.iter().zip(1..) {
                    assert_eq!(*session, typed[..more.min(typed.len())], "{name}");
                }
                all.pop().unwrap_or_default()
            } else {
                main.iter().flat_map(&kept).collect()
            };
            // The script of one recording typed its second prompt in another language than its notes say.
            if name.contains("0.1.2505") {
                (typed, said) = (vec![typed[0].clone()], vec![said[0].clone()]);
            }
            typed.sort();
            said.sort();
            assert_eq!(said, typed, "{name}");
            compared += said.len();
            continue;
        };
        let tell = |session: &SessionFiles| {
            let title = located.names.iter().find(|(id, _)| *id == session.id);
            let undone = prompts(session, |_, message| message.fate != Fate::Kept);
            let own = prompts(session, |file, message| {
                file.role != FileRole::Base && message.fate == Fate::Kept
            });
            (kept(session), undone, own, title.map(|(_, title)| title.clone()))
        };
        let mut said: Vec<_> = main.iter().map(tell).collect();
        said.sort();
        let mut wanted: Vec<_> = expected.iter().collect();
        wanted.sort_by_key(|one| texts(&one["prompts"]));
        assert_eq!(said.len(), wanted.len(), "{name}");
        for ((kept, undone, own, title), wanted) in said.iter().zip(wanted) {
            assert_eq!(*kept, texts(&wanted["prompts"]), "{name}");
            assert_eq!(*undone, texts(&wanted["abandoned"]), "{name}");
            if let Some(expected) = wanted["title"].as_str() {
                assert_eq!(title.as_deref(), Some(expected), "{name}");
            }
            // A copied fork has its parent's prompts in its own file.
            let is_borrowed = name.contains("0.166.0/") || name.contains("paginated/");
            if wanted["own_prompts"].is_array() && is_borrowed {
                assert_eq!(*own, texts(&wanted["own_prompts"]), "{name}");
            }
            compared += kept.len();
        }
    }
    println!("{compared} prompts of {swept} captures and fixtures compared");
    assert!(compared > 10, "only {compared} prompts were compared");
}

/// Counts the tokens of a file by the rule in words, without a line of the reader.
fn counted(bytes: &[u8]) -> u64 {
    let rows: Vec<Value> = bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let meta = rows
        .iter()
        .find(|row| row["type"] == "session_meta")
        .map(|row| row["payload"].clone())
        .unwrap_or_default();
    let metas = rows.iter().filter(|row| row["type"] == "session_meta").count();
    let id = meta["id"].as_str().unwrap_or_default().to_owned();
    let own_from = if metas > 1 {
        let is_own = |row: &&Value| {
            let turn = row["payload"]["turn_id"].as_str().unwrap_or_default();
            turn.len() == 36 && turn[..13] >= id[..13]
        };
        let first = rows.iter().find(is_own).unwrap();
        rows.iter().position(|row| row == first).unwrap()
    } else {
        0
    };
    let mut records: BTreeMap<String, u64> = BTreeMap::new();
    let sum = |usage: &Value| {
        usage["input_tokens"].as_u64().unwrap() + usage["output_tokens"].as_u64().unwrap()
    };
    let first_record =
        rows.iter().position(|row| row["type"] == "token_usage_record").unwrap_or(rows.len());
    for row in rows.iter().filter(|row| {
        row["type"] == "token_usage_record" && row["payload"]["thread_id"] == id.as_str()
    }) {
        let response = row["payload"]["response_id"].as_str().unwrap().to_owned();
        records.insert(response, sum(&row["payload"]["usage"]));
    }
    let mut total = records.values().sum::<u64>();
    let mut before: Option<Value> = None;
    for (at, row) in rows.iter().enumerate().take(first_record) {
        let info = &row["payload"]["info"];
        if row["payload"]["type"] != "token_count" || info.is_null() {
            continue;
        }
        let (now, last) = (&info["total_token_usage"], &info["last_token_usage"]);
        let used = match &before {
            Some(before) if before == now => 0,
            None => sum(last),
            Some(before)
                if now == last
                    || now["total_tokens"].as_u64() < before["total_tokens"].as_u64() =>
            {
                sum(now)
            }
            Some(before) => sum(now).saturating_sub(sum(before)),
        };
        before = Some(now.clone());
        total += if at >= own_from { used } else { 0 };
    }
    total
}

#[test]
fn tokens_are_those_of_an_independent_count() {
    let mut compared = 0;
    for Recording { name, home, .. } in recordings() {
        for file in sessions(&home).iter().flat_map(|session| &session.files) {
            if file.role == FileRole::Base {
                continue;
            }
            let entries = file.file.outline.entries.iter();
            let booked: u64 =
                entries.filter_map(|entry| entry.tokens).map(|tokens| tokens.total).sum();
            assert_eq!(
                booked,
                counted(&content(&file.file.at.path)),
                "{name}: {}",
                file.file.at.path.display()
            );
            compared += usize::from(booked > 0);
        }
    }
    assert!(compared > 3, "only {compared} files were compared");
}

#[test]
fn nothing_recorded_is_unknown_to_us() {
    for Recording { name, home, .. } in recordings() {
        for session in sessions(&home) {
            for file in &session.files {
                assert_eq!(
                    file.file.outline.problems.kept,
                    [],
                    "{name}: {}",
                    file.file.at.path.display()
                );
                assert!(file.file.outline.loadable, "{name}");
            }
        }
    }
}

/// Returns the folder that a file records first, by looking for it as text.
fn recorded_folder(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let of_header = text.lines().find_map(|line| {
        let row: Value = serde_json::from_str(line).ok()?;
        let is_meta = row["type"] == "session_meta";
        row["payload"]["cwd"].as_str().filter(|_| is_meta).map(str::to_owned)
    });
    of_header.or_else(|| {
        let rest = text.split_once("<cwd>")?.1;
        Some(rest.split_once("</cwd>")?.0.to_owned())
    })
}

#[test]
#[expect(clippy::print_stdout, reason = "a sweep says how much it saw")]
fn no_session_is_there_twice_and_each_is_in_the_folder_it_records() {
    let mut swept = 0;
    for Recording { name, home, .. } in recordings() {
        let mut ids = std::collections::BTreeSet::new();
        for session in sessions(&home) {
            assert!(ids.insert(session.id.clone()), "{name}: {}", session.id);
            let main = session.files.iter().find(|file| file.role == FileRole::Main).unwrap();
            let cwd = main.file.outline.head.cwd.as_ref().map(|cwd| cwd.as_str().to_owned());
            assert_eq!(cwd, recorded_folder(&content(&main.file.at.path)), "{name}");
        }
        swept += 1;
    }
    println!("{swept} captures and fixtures read");
}

#[test]
fn sub_agents_are_linked_to_the_calls_that_ran_them() {
    let mut linked = 0;
    for Recording { name, home, .. } in recordings() {
        let all = sessions(&home);
        for agent in all.iter().filter(|session| session.kind == SessionKind::Subagent) {
            let parent = all.iter().find(|session| Some(&session.id) == agent.parent.as_ref());
            let parent = parent.unwrap_or_else(|| panic!("{name}: no parent"));
            let calls = parent.files.iter().flat_map(|file| &file.file.outline.agent_calls);
            let named = calls.filter(|call| call.agent.as_deref() == Some(agent.id.as_str()));
            assert_eq!(named.count(), 1, "{name}");
            linked += 1;
        }
    }
    assert!(linked > 0);
}

#[test]
fn answers_hold_their_calls_and_what_came_of_them() {
    for Recording { name, home, .. } in recordings() {
        for file in sessions(&home).iter().flat_map(|session| &session.files) {
            for (message, entry) in messages(file).iter().zip(&file.file.outline.entries) {
                assert_eq!(
                    message.tool_calls.len(),
                    entry.calls[0] as usize,
                    "{name}: {message:?}"
                );
                let failed = message
                    .tool_calls
                    .iter()
                    .filter(|call| call.status.as_str() == "error")
                    .count();
                assert_eq!(failed, entry.calls[1] as usize, "{name}: {message:?}");
                assert_eq!(message.kind, entry.kind, "{name}");
            }
        }
    }
}

/// The thoughts come first, then the event of the text, then the text: all of one answer.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test writes what it reads")]
fn thoughts_and_text_of_the_first_answer_are_one() {
    let folder = tempfile::tempdir().unwrap();
    let id = "01a1e065-0c52-71a2-99af-55a094a8d3f7";
    let path = folder.path().join(format!("rollout-2026-11-15T18-08-01-{id}.jsonl"));
    let lines = [
        ("session_meta", format!(r#"{{"id":"{id}","timestamp":"2026-11-15T18:08:01.000Z","cwd":"/home/dev/code/shop","originator":"codex_cli_rs","cli_version":"0.104.0"}}"#)),
        ("response_item", r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}"#.to_owned()),
        ("event_msg", r#"{"type":"user_message","message":"Hi","images":[]}"#.to_owned()),
        ("event_msg", r#"{"type":"agent_reasoning","text":"Think"}"#.to_owned()),
        ("response_item", r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"Think"}],"encrypted_content":"x"}"#.to_owned()),
        ("event_msg", r#"{"type":"agent_message","message":"Hello"}"#.to_owned()),
        ("response_item", r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}"#.to_owned()),
    ];
    let lines: Vec<String> = { lines.iter() }
        .map(|(kind, payload)| {
            format!(
                r#"{{"timestamp":"2026-11-15T18:08:02.000Z","type":"{kind}","payload":{payload}}}"#
            )
        })
        .collect();
    let text = lines.join("\n") + "\n";
    std::fs::write(&path, text).unwrap();
    let outline = codex().outline(&path, &mut Buffer::new());
    let kinds: Vec<MessageKind> = outline.entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [MessageKind::Prompt, MessageKind::Answer]);
    let (bytes, name) = (content(&path), Arc::from("x"));
    let answer = read(&outline, &bytes, &name, 1);
    assert_eq!((answer.thoughts.len(), answer.display_text.as_str()), (1, "Hello"));
}

#[test]
fn a_file_in_pieces_is_the_file_at_once() {
    let mut buffer = Buffer::new();
    for Recording { name, home, .. } in recordings() {
        let located = codex().locate(&home.join(".codex"), RootShape::Whole);
        for at in located.folders.iter().flat_map(|folder| &folder.files) {
            let whole = codex().outline_to_keep(&at.path, &mut buffer);
            let Some(saved) = whole.saved else { continue };
            let again =
                codex().outline_from(&at.path, &mut buffer, &saved.state, u64::MAX).unwrap();
            assert_eq!(format!("{:?}", again.outline), format!("{:?}", whole.outline), "{name}");
        }
    }
}
