//! Every recorded home of Claude Code, compared with a count of its own that knows nothing of how we read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_formats::bytes::{Buffer, read_small};
use recount_formats::outline::Outline;
use recount_formats::source::{
    MessageRequest, OtherVersions, PieceBytes, RootShape, ScannedFile, SessionFiles,
};
use recount_formats::{SOURCES, Source};
use recount_model::{Message, MessageKind, SessionKind};
use recount_testkit::{Capture, corpus_of_other_agents, fixtures_of};
use serde_json::Value;

#[derive(Debug)]
struct NoOthers;

impl OtherVersions for NoOthers {
    fn each(&self, _visit: &mut dyn FnMut(&[u8]) -> bool) {}
}

fn claude() -> &'static dyn Source {
    *SOURCES.iter().find(|source| source.name().as_str() == "claude").unwrap()
}

fn captures() -> Vec<Capture> {
    let all = corpus_of_other_agents().captures.into_iter();
    let recorded = all.filter(|capture| capture.name.starts_with("claude-code/"));
    let cases = fixtures_of("claude").into_iter();
    let cases = cases.map(|case| Capture { name: case.name, path: case.path });
    recorded.chain(cases).collect()
}

/// Reads every session of a home.
fn sessions(root: &Path) -> Vec<SessionFiles> {
    let mut buffer = Buffer::new();
    let mut scanned = Vec::new();
    for (number, folder) in claude().locate(root, RootShape::Whole).folders.iter().enumerate() {
        for at in &folder.files {
            let mut outline = claude().outline(&at.path, &mut buffer);
            let others = std::mem::take(&mut outline.others);
            let is_shared = !others.is_empty();
            for outline in std::iter::once(outline).chain(others) {
                let at = Arc::clone(at);
                scanned.push(ScannedFile {
                    folder: number,
                    named_folder: true,
                    is_shared,
                    at,
                    outline,
                });
            }
        }
    }
    claude().group_sessions(scanned)
}

fn messages(path: &Path, outline: &Outline) -> Vec<Message> {
    let bytes = read_small(path).unwrap();
    let file: Arc<str> = Arc::from(path.to_string_lossy());
    let cut = |span: recount_model::Span| {
        let start = usize::try_from(span.offset).unwrap();
        &bytes[start..start + usize::try_from(span.bytes).unwrap()]
    };
    let read = |entry: &recount_formats::outline::MessageEntry| {
        let span = outline.versions[entry.best as usize].span;
        let pieces: Vec<PieceBytes<'_>> = outline
            .pieces_of(entry)
            .map(|version| PieceBytes { bytes: cut(version.span), span: version.span })
            .collect();
        let request = MessageRequest {
            bytes: cut(span),
            pieces: &pieces,
            file: &file,
            span,
            fate: entry.fate,
            entry: None,
            model: None,
            others: &NoOthers,
            folder: None,
            detail: recount_formats::source::Detail::Whole,
        };
        let message = claude().message(&request).unwrap();
        assert_eq!(message.kind, entry.kind, "{} {span:?}", path.display());
        let id = message.id.as_ref().map(recount_model::MessageId::as_str);
        assert_eq!(id, entry.id.as_deref(), "{} {span:?}", path.display());
        assert_eq!(message.tokens, entry.tokens, "{} {span:?}", path.display());
        message
    };
    outline.entries.iter().map(read).collect()
}

fn transcripts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            transcripts(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            found.push(path);
        }
    }
}

/// Counts the tokens of a home: per id of an answer the largest of each figure, whatever file it stands in.
fn counted(root: &Path) -> [u64; 4] {
    const FIGURES: [&str; 4] =
        ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let mut files = Vec::new();
    transcripts(&root.join("projects"), &mut files);
    let mut answers: BTreeMap<String, [u64; 4]> = BTreeMap::new();
    for file in files {
        for line in String::from_utf8(read_small(&file).unwrap()).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let message = &row["message"];
            let model = message["model"].as_str().unwrap_or_default();
            if row["type"] != "assistant" || model == "<synthetic>" || model.is_empty() {
                continue;
            }
            let id = message["id"].as_str().unwrap().to_owned();
            let known = answers.entry(id).or_default();
            for (slot, name) in known.iter_mut().zip(FIGURES) {
                *slot = (*slot).max(message["usage"][name].as_u64().unwrap_or(0));
            }
        }
    }
    answers.into_values().fold([0; 4], |sum, one| std::array::from_fn(|at| sum[at] + one[at]))
}

#[test]
fn tokens_are_those_of_a_count_of_its_own() {
    let captures = captures();
    for capture in &captures {
        let root = capture.home().join(".claude");
        let mut seen = BTreeSet::new();
        let mut sum = [0; 4];
        for session in sessions(&root) {
            for outline in session.files.iter().map(|file| &file.file.outline) {
                for entry in &outline.entries {
                    let Some(tokens) = entry.tokens else { continue };
                    if seen.insert(claude().request_key(outline, entry)) {
                        let fresh = tokens.input - tokens.cached - tokens.cache_write;
                        let figures = [
                            fresh,
                            tokens.output + tokens.thoughts,
                            tokens.cache_write,
                            tokens.cached,
                        ];
                        sum = std::array::from_fn(|at| sum[at] + figures[at]);
                    }
                }
            }
        }
        assert_eq!(sum, counted(&root), "{}", capture.name);
    }
}

#[test]
fn nothing_recorded_is_unknown_and_every_message_is_read() {
    for capture in captures() {
        for session in sessions(&capture.home().join(".claude")) {
            for file in &session.files {
                let outline = &file.file.outline;
                assert_eq!(outline.problems.kept, [], "{}", file.file.at.path.display());
                for message in messages(&file.file.at.path, outline) {
                    assert_eq!(message.problems, [], "{}", file.file.at.path.display());
                    for call in &message.tool_calls {
                        let told = format!("{} {:?}", capture.name, call);
                        assert!(call.id.is_some() && call.output.is_some(), "{told}");
                    }
                }
            }
        }
    }
}

/// What the scenario typed, without the words in front that say how.
fn typed(capture: &Capture) -> Vec<String> {
    let meta: Value = serde_json::from_str(&capture.meta().unwrap()).unwrap();
    let prompts = meta["prompts"].as_array().unwrap().iter().map(|prompt| {
        let text = prompt.as_str().unwrap();
        let text = text
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(") "))
            .map_or(text, |(_, text)| text);
        text.split_once(" (").map_or(text, |(text, _)| text).to_owned()
    });
    prompts.collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "a sweep says how much it saw")]
fn every_typed_prompt_is_a_prompt_and_nothing_else_is() {
    let mut compared = 0;
    for capture in captures() {
        let Some(meta) = capture.meta() else { continue };
        let meta: Value = serde_json::from_str(&meta).unwrap();
        if meta["mode"] != "print" {
            continue;
        }
        let typed = typed(&capture);
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for session in sessions(&capture.home().join(".claude")) {
            if session.kind == SessionKind::Subagent {
                continue;
            }
            let mut once = BTreeSet::new();
            for file in &session.files {
                for message in messages(&file.file.at.path, &file.file.outline) {
                    if message.kind == MessageKind::Prompt {
                        let told = format!("{} {}", capture.name, message.display_text);
                        assert!(once.insert(message.display_text.clone()), "twice: {told}");
                        let is_it =
                            |text: &&String| message.display_text.starts_with(text.as_str());
                        let text = typed.iter().find(is_it);
                        assert!(text.is_some(), "not typed: {told}");
                        let text = text.unwrap().clone();
                        found.entry(text).or_default().insert(session.id.to_string());
                    }
                }
            }
        }
        let is_run = |text: &&String| !text.starts_with('/');
        // What was killed early may have left no file, and 1.0 has no forks.
        let may_miss = capture.name.ends_with("/killed") || capture.name.contains("/1.0.24/resume");
        for prompt in typed.iter().filter(is_run) {
            assert!(found.contains_key(prompt) || may_miss, "{}: {prompt}", capture.name);
            compared += 1;
        }
    }
    println!("{compared} prompts compared");
    let is_recorded = captures().iter().any(|capture| capture.meta().is_some());
    assert!(compared > 40 || !is_recorded, "only {compared} prompts were compared");
}

/// Returns the folder that a transcript records: the last that it was moved to, else the first of all.
fn recorded_folder(path: &Path) -> Option<String> {
    let text = String::from_utf8(read_small(path).unwrap()).unwrap();
    let rows: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let moved = rows.iter().rev().find_map(|row| row["relocatedCwd"].as_str());
    moved.or_else(|| rows.iter().find_map(|row| row["cwd"].as_str())).map(str::to_owned)
}

#[test]
#[expect(clippy::print_stdout, reason = "a sweep says how much it saw")]
fn no_session_is_there_twice_and_each_is_in_the_folder_it_records() {
    let captures = captures();
    for capture in &captures {
        let mut ids = BTreeSet::new();
        for session in sessions(&capture.home().join(".claude")) {
            assert!(ids.insert(session.id.clone()), "{}: {}", capture.name, session.id);
            for file in &session.files {
                let cwd = file.file.outline.head.cwd.as_ref().map(|cwd| cwd.as_str().to_owned());
                assert_eq!(cwd, recorded_folder(&file.file.at.path), "{}", capture.name);
            }
        }
    }
    println!("{} captures and fixtures read", captures.len());
}

#[test]
fn sub_agents_are_linked_to_the_call_that_ran_them_and_warm_ups_are_marked() {
    for capture in captures() {
        let all = sessions(&capture.home().join(".claude"));
        let is_background = |session: &&SessionFiles| {
            session.files.iter().any(|file| file.file.outline.head.is_background)
        };
        let agents: Vec<_> = { all.iter() }
            .filter(|session| session.kind == SessionKind::Subagent && !is_background(session))
            .collect();
        assert_eq!(
            agents.len(),
            usize::from(capture.name.ends_with("/subagent")),
            "{}",
            capture.name
        );
        for agent in agents {
            let parent =
                all.iter().find(|session| Some(&session.id) == agent.parent.as_ref()).unwrap();
            let calls = parent.files.iter().flat_map(|file| &file.file.outline.agent_calls);
            let its: Vec<_> =
                calls.filter(|call| call.agent.as_deref() == Some(agent.id.as_str())).collect();
            assert_eq!(its.len(), 1, "{}", capture.name);
            let prompt = agent.files[0].file.outline.first_prompt.as_deref().unwrap();
            assert!(prompt.starts_with("Count how many python files"), "{}", capture.name);
        }
    }
}

#[test]
fn a_session_that_was_driven_by_hand_is_read_as_it_went() {
    for capture in
        captures().iter().filter(|capture| capture.name == "claude-code/2.1.325/interactive")
    {
        let all = sessions(&capture.home().join(".claude"));
        let session =
            all.iter().find(|session| session.id.as_str().starts_with("c26462b6")).unwrap();
        let file = &session.files[0].file;
        assert_eq!(file.outline.head.name.as_deref(), Some("HTTP codes 整理"));
        let all = messages(&file.at.path, &file.outline);
        let told: Vec<(String, String)> = { all.iter() }
            .filter(|message| matches!(message.kind, MessageKind::Prompt | MessageKind::Answer))
            .map(|message| {
                (format!("{} {}", message.kind, message.fate), message.display_text.clone())
            })
            .collect();
        let prompts: Vec<_> = { told.iter() }
            .filter(|(kind, _)| kind.starts_with("prompt"))
            .map(|(kind, text)| (kind.as_str(), text.as_str()))
            .collect();
        assert_eq!(
            prompts,
            [
                ("prompt compressed", "What does HTTP status 404 mean?"),
                ("prompt compressed", "Tell me a long story about the shop"),
                ("prompt compressed", "Tell me a long story about the shop"),
                ("prompt compressed", "Say hello"),
                ("prompt rewound", "Please list the files and fix the total in cart.py"),
                ("prompt rewound", "Rename the helper variable"),
                ("prompt compressed", "Use tabs instead of spaces?"),
                ("prompt kept", "And what about 410?"),
            ]
        );
        let answers = told.iter().filter(|(kind, _)| kind == "answer kept").count();
        assert_eq!(answers, 2, "the one that the compaction kept, and the last: {told:?}");
    }
}
