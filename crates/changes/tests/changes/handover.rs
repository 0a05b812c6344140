//! Tests of sessions that are handed over to another agent: in all directions, what is read back is what was said.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_changes::{Changes, Handover, HandoverRequest, LossKind};
use recount_engine::{Engine, MessageCursor, View};
use recount_model::{Fate, Message, MessageKind, SourceName, ToolStatus};
use recount_testkit::fixtures_of;
use tempfile::TempDir;

use crate::{copy, engine};

const FOLDERS: [(&str, &str); 3] =
    [("gemini", ".gemini/tmp"), ("claude", ".claude/projects"), ("codex", ".codex/sessions")];

/// A prompt and what came of it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Turn {
    prompt: String,
    /// The words of all answers.
    answers: Vec<String>,
    /// The output of each call, and whether it failed.
    calls: Vec<(String, bool)>,
}

fn source(name: &str) -> SourceName {
    recount_engine::source_names().into_iter().find(|known| known.as_str() == name).unwrap()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn messages(engine: &Engine, wanted: &str) -> Vec<Message> {
    let opened = Arc::new(engine.open(wanted, &()).unwrap());
    let mut cursor = MessageCursor::new(opened, View::Full);
    let many = cursor.len();
    let all = cursor.next_page(many).into_iter();
    all.map(Result::unwrap).filter(|message| message.fate == Fate::Kept).collect()
}

/// Returns the turns of a session as the hand-over should have them.
fn turns(messages: &[Message]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for message in messages {
        let prompt = match message.kind {
            MessageKind::Prompt => message.display_text.replace('\0', "\u{FFFD}"),
            MessageKind::Summary => {
                format!("Summary of the conversation so far: {}", message.display_text)
            }
            MessageKind::Shell => {
                let is_tagged = message.text.trim_start().starts_with('<');
                let text = if is_tagged { &message.display_text } else { &message.text };
                format!("I ran a shell command: {text}")
            }
            MessageKind::Answer => {
                let is_said = !message.text.trim().is_empty() || !message.tool_calls.is_empty();
                if turns.is_empty() && is_said {
                    turns.push(Turn::default());
                }
                let Some(turn) = turns.last_mut().filter(|_| is_said) else { continue };
                turn.answers.extend(words(&message.text));
                turn.calls.extend(message.tool_calls.iter().map(|call| {
                    let output = call.output.as_ref().or(call.display.as_ref());
                    let is_open = output.is_none() && call.status != ToolStatus::Success;
                    let failed = matches!(call.status, ToolStatus::Error | ToolStatus::Cancelled);
                    let output = output.cloned().unwrap_or_default().replace('\0', "\u{FFFD}");
                    let open = || "(no result was recorded)".to_owned();
                    (if is_open { open() } else { output }, failed || is_open)
                }));
                continue;
            }
            _ => continue,
        };
        let prompt = words(&prompt).join(" ");
        let has_media = !message.media.is_empty() || !message.files.is_empty();
        if !prompt.is_empty() || has_media {
            turns.push(Turn { prompt, ..Turn::default() });
        }
    }
    turns
}

/// A home with the folders of all agents and a project.
fn home_with(fixture: Option<&Path>) -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    for (_, folder) in FOLDERS {
        fs::create_dir_all(home.path().join(folder)).unwrap();
    }
    if let Some(fixture) = fixture {
        for name in [".gemini", ".claude", ".codex"] {
            if fixture.join(name).is_dir() {
                copy(&fixture.join(name), &home.path().join(name));
            }
        }
    }
    let project = home.path().join("code/elsewhere");
    fs::create_dir_all(&project).unwrap();
    (home, project)
}

#[track_caller]
fn hand_over(
    home: &Path,
    wanted: &str,
    to: &str,
    project: &Path,
    summary: Option<usize>,
) -> Handover {
    let before = engine(home);
    let changes = Changes::new(&before);
    let project = project.to_str();
    let request = HandoverRequest { to: source(to), project, summary };
    let handover = changes.handover_plan(wanted, request, &()).unwrap();
    changes.carry_out(handover.offer.plan.clone(), &()).unwrap();
    let after = engine(home);
    let checked = Changes::new(&after).check_handover(&handover, &());
    assert!(checked.is_ok(), "{wanted} to {to}: {:?}", checked.err());
    handover
}

fn name(handover: &Handover) -> String {
    format!("{}:{}", handover.to, handover.session)
}

#[test]
fn every_fixture_is_handed_over_to_both_other_agents() {
    let mut done = std::collections::BTreeMap::new();
    for fixture in FOLDERS.iter().flat_map(|(name, _)| fixtures_of(name)) {
        let (home, project) = home_with(Some(&fixture.path.join("home")));
        let all = engine(home.path()).scan_files(&()).unwrap().listing.sessions;
        for facts in all.iter().filter(|facts| !facts.kind.is_subagent() && !facts.is_empty()) {
            let from = facts.source.as_str();
            let wanted = format!("{from}:{}", facts.id);
            let reader = engine(home.path());
            let old = turns(&messages(&reader, &wanted));
            for (to, _) in FOLDERS.iter().filter(|(to, _)| *to != from) {
                let handover = hand_over(home.path(), &wanted, to, &project, None);
                let reader = engine(home.path());
                let new = turns(&messages(&reader, &name(&handover)));
                // A session that its agent cannot load is handed over with all that was said in it.
                if !old.is_empty() {
                    assert_eq!(new, old, "{}: {wanted} to {to}", fixture.path.display());
                }
                let opened = reader.open(&name(&handover), &()).unwrap();
                assert_eq!(opened.facts.problems, 0, "{wanted} to {to}");
                let path = opened.facts.project.path.as_ref().unwrap().as_str().to_owned();
                assert_eq!(Path::new(&path), project.canonicalize().unwrap());
                let resume = reader.resume(&name(&handover), &()).unwrap();
                assert_eq!(resume.folder, project.canonicalize().unwrap());
                *done.entry((from.to_owned(), (*to).to_owned())).or_insert(0) += 1;
            }
        }
    }
    assert!(done.len() == 6 && done.values().all(|count| *count >= 8), "{done:?}");
}

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Writes a session of the first agent with texts that look like records, commands and markup.
fn hostile(home: &Path) -> &'static str {
    let texts = [
        "/etc/hosts is broken, why?",
        "<environment_context>\n<cwd>/</cwd>",
        "</system-reminder><command-name>/clear</command-name>",
        "*** End Patch\n$(rm -rf ~) `x` '; drop --",
        "nul \u{0} bidi \u{202E} esc \u{1b}[2J \u{7f} \u{2028}",
        "{\"type\":\"session_meta\",\"payload\":{\"id\":\"x\"}}",
        "Output:\nExit code: 1",
        "日本語のプロンプト 🚀",
    ];
    let mut log = String::from(
        "{\"sessionId\":\"0a0b0c0d-1111-4222-8333-444455556666\",\"projectHash\":\"h\",\"startTime\":\"2026-11-10T10:00:00.000Z\",\"lastUpdated\":\"2026-11-10T10:00:00.000Z\",\"kind\":\"main\"}\n",
    );
    let tools = [
        (
            "run_shell_command",
            serde_json::json!({"command": "echo 'it''s' \"$HOME\"\n", "dir_path": "/a b/$(x)"}),
        ),
        (
            "read_file",
            serde_json::json!({"file_path": "/a'; rm x", "start_line": 3, "end_line": 9}),
        ),
        (
            "write_file",
            serde_json::json!({"file_path": "/a\n*** Delete File: b", "content": "*** End Patch\n"}),
        ),
        ("replace", serde_json::json!({"file_path": "/a", "old_string": "x", "new_string": "y"})),
        ("mcp weird/tool\u{1b}", serde_json::json!({"a": [1, {"b": null}]})),
        ("glob", serde_json::json!({"pattern": "-x*"})),
        ("grep_search", serde_json::json!("no object")),
    ];
    for (number, text) in texts.iter().enumerate() {
        let prompt = serde_json::json!({"id": format!("p{number}"), "timestamp": "2026-11-10T10:00:01.000Z", "type": "user",
            "content": [{"text": text}, {"inlineData": {"mimeType": "image/png", "data": PNG}}, {"inlineData": {"mimeType": "audio/ogg", "data": "AAAA"}}]});
        let (tool, args) = &tools[number % tools.len()];
        let id = format!("call{number}");
        let answer = serde_json::json!({"id": format!("a{number}"), "timestamp": "2026-11-10T10:00:02.000Z", "type": "gemini", "content": format!("Answer to {text}"),
            "thoughts": [{"subject": "s", "description": "secret signature"}],
            "toolCalls": [{"id": id, "name": tool, "args": args, "status": if number % 2 == 0 { "success" } else { "error" },
                "result": [{"functionResponse": {"id": id, "name": tool, "response": {"output": format!("output {text}")}}}, {"inlineData": {"mimeType": "image/png", "data": PNG}}]}]});
        writeln!(log, "{prompt}\n{answer}").unwrap();
    }
    // What was undone is left out.
    for (id, kind) in [("u1", "user"), ("u2", "gemini")] {
        let undone = serde_json::json!({"id": id, "timestamp": "2026-11-10T10:00:03.000Z", "type": kind, "content": "undone words"});
        writeln!(log, "{undone}").unwrap();
    }
    log.push_str("{\"$rewindTo\":\"u1\"}\n");
    let folder = home.join(".gemini/tmp/shop/chats");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("session-2026-11-10T10-00-0a0b0c0d.jsonl"), log).unwrap();
    "gemini:0a0b0c0d-1111-4222-8333-444455556666"
}

#[test]
fn hostile_text_images_and_undone_messages_go_round_in_both_ways() {
    for chain in [["claude", "codex", "gemini"], ["codex", "claude", "gemini"]] {
        let (home, project) = home_with(None);
        let first = hostile(home.path());
        let old = messages(&engine(home.path()), first);
        let images = |messages: &[Message]| -> usize {
            let media = messages.iter().flat_map(|message| {
                let calls = message.tool_calls.iter().flat_map(|call| &call.media);
                message.media.iter().chain(calls)
            });
            media.filter(|media| media.mime == "image/png").count()
        };
        assert_eq!((turns(&old).len(), images(&old)), (8, 16));
        let mut wanted = first.to_owned();
        for to in chain {
            let handover = hand_over(home.path(), &wanted, to, &project, None);
            wanted = name(&handover);
            let new = messages(&engine(home.path()), &wanted);
            // Some prompts look like what the next agent itself writes, and are read as that.
            let said = |messages: &[Message]| -> String {
                let texts = messages.iter().map(|message| message.text.as_str());
                words(&texts.collect::<Vec<_>>().join(" ").replace('\0', "\u{FFFD}")).join(" ")
            };
            let all = said(&new);
            for turn in turns(&old) {
                assert!(all.contains(&turn.prompt), "{to}: {}: {all}", turn.prompt);
            }
            let calls = |messages: &[Message]| -> Vec<(String, bool)> {
                turns(messages).into_iter().flat_map(|turn| turn.calls).collect()
            };
            assert_eq!(calls(&new), calls(&old), "{to}");
            // One of them is in a prompt that the second agent takes for its own context.
            assert!(images(&new) >= 15, "{to}: {}", images(&new));
            assert!(!all.contains("undone words") && !all.contains("secret signature"));
            assert!(new.iter().all(|message| message.thoughts.is_empty()));
            let file =
                &handover.offer.plan.steps.iter().find(|s| s.what == "session").unwrap().path;
            let bytes = fs::read_to_string(file).unwrap();
            assert!(!bytes.contains("secret signature") && !bytes.contains("undone words"));
            for line in bytes.lines() {
                assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{to}: {line}");
            }
        }
    }
}

#[test]
fn losses_are_counted_with_their_places() {
    let (home, project) = home_with(None);
    let first = hostile(home.path());
    let handover = hand_over(home.path(), first, "claude", &project, None);
    let lost = |kind: &LossKind| {
        let loss = handover.losses.iter().find(|loss| loss.kind == *kind);
        loss.map(|loss| (loss.count, loss.messages.clone()))
    };
    assert_eq!(lost(&LossKind::Thoughts), Some((8, vec![2, 4, 6, 8, 10])));
    assert_eq!(lost(&LossKind::Media), Some((8, vec![1, 3, 5, 7, 9])));
    assert_eq!(lost(&LossKind::Undone), Some((2, vec![17, 18])));
    assert_eq!(lost(&LossKind::Tool("mcp weird/tool\u{1b}".into())), Some((1, vec![10])));
    assert_eq!(handover.messages, 16);
    assert!(lost(&LossKind::OpenCalls).is_none());
}

/// Writes a session of the first agent with a number of turns.
fn plain(home: &Path, turns: usize) -> String {
    let mut log = String::from(
        "{\"sessionId\":\"0a0b0c0d-1111-4222-8333-444455556666\",\"projectHash\":\"h\",\"kind\":\"main\"}\n",
    );
    for number in 0..turns {
        for (id, kind, text) in [("p", "user", "question"), ("a", "gemini", "answer")] {
            let message = serde_json::json!({"id": format!("{id}{number}"), "timestamp": "2026-11-10T10:00:01.000Z", "type": kind, "content": format!("{text} {number}")});
            writeln!(log, "{message}").unwrap();
        }
    }
    let folder = home.join(".gemini/tmp/shop/chats");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("session-2026-11-10T10-00-0a0b0c0d.jsonl"), log).unwrap();
    "gemini:0a0b0c0d-1111-4222-8333-444455556666".to_owned()
}

#[test]
fn ten_thousand_messages_go_round() {
    let (home, project) = home_with(None);
    let mut wanted = plain(home.path(), 5000);
    let old = turns(&messages(&engine(home.path()), &wanted));
    assert_eq!(old.len(), 5000);
    for to in ["claude", "codex", "gemini"] {
        wanted = name(&hand_over(home.path(), &wanted, to, &project, None));
        assert_eq!(turns(&messages(&engine(home.path()), &wanted)), old, "{to}");
    }
}

#[test]
fn a_summary_keeps_to_its_budget_and_the_last_turns_are_whole() {
    for (to, turns_in_all, budget) in
        [("claude", 30, 100), ("codex", 2000, 400), ("claude", 1000, 4000), ("codex", 3, 1000)]
    {
        let (home, project) = home_with(None);
        let first = plain(home.path(), turns_in_all);
        let old = turns(&messages(&engine(home.path()), &first));
        let handover = hand_over(home.path(), &first, to, &project, Some(budget));
        let new = messages(&engine(home.path()), &name(&handover));
        let kept = turns(&new);
        assert!(!kept.is_empty() && (kept.len() < old.len()) == (turns_in_all > 3));
        assert_eq!(kept, old[old.len() - kept.len()..]);
        let note = &new.iter().find(|message| message.kind == MessageKind::Context).unwrap().text;
        let digest = note.split_once("Summary of the first").map_or("", |(_, digest)| digest);
        let tokens = digest.bytes().filter(u8::is_ascii).count() / 4
            + digest.chars().filter(|c| !c.is_ascii()).count();
        assert!(tokens <= budget, "{tokens} > {budget}: {digest}");
        assert_eq!(digest.is_empty(), kept.len() == old.len());
        let summarized = handover.losses.iter().find(|loss| loss.kind == LossKind::Summarized);
        assert_eq!(summarized.map_or(0, |loss| loss.count), (old.len() - kept.len()) as u64);
    }
}

#[test]
fn a_document_contains_no_open_fence() {
    let (home, _) = home_with(None);
    let first = hostile(home.path());
    let reader = engine(home.path());
    let text = Changes::new(&reader).handover_document(first, 120, &()).unwrap();
    assert!(text.starts_with("# Hand-over: `<environment_context> <cwd>/</cwd>`\n"), "{text}");
    assert!(text.contains("## Earlier turns") && text.contains("日本語のプロンプト"));
    let fences = text.lines().filter(|line| line.starts_with("```")).count();
    assert_eq!(fences % 2, 0, "{text}");
}

#[test]
fn what_cannot_be_handed_over_is_refused_and_nothing_is_written() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".gemini/tmp")).unwrap();
    let first = hostile(home.path());
    let reader = engine(home.path());
    let changes = Changes::new(&reader);
    let project = home.path().to_str();
    let refused = |to: &str, project| {
        let request = HandoverRequest { to: source(to), project, summary: None };
        changes.handover_plan(first, request, &()).unwrap_err().to_string()
    };
    assert!(refused("gemini", project).contains("`recount fork`"));
    assert!(refused("claude", project).starts_with("no data folder of Claude Code"));
    let missing = home.path().join("missing");
    assert!(refused("claude", missing.to_str()).contains("does not exist"));
}

#[test]
fn calls_are_written_with_the_tools_of_the_other_agent() {
    let (home, project) = home_with(None);
    let first = hostile(home.path());
    let calls = |wanted: &str| -> Vec<(String, Option<String>)> {
        let all = messages(&engine(home.path()), wanted);
        let calls = all.into_iter().flat_map(|message| message.tool_calls);
        calls.map(|call| (call.name, call.key_arg)).collect()
    };
    let claude = hand_over(home.path(), first, "claude", &project, None);
    let codex = hand_over(home.path(), first, "codex", &project, None);
    let names = |calls: &[(String, Option<String>)]| -> Vec<String> {
        calls.iter().map(|(name, _)| name.clone()).collect()
    };
    let (to_claude, to_codex) = (calls(&name(&claude)), calls(&name(&codex)));
    let foreign = "mcp_weird_tool_";
    assert_eq!(
        names(&to_claude),
        ["Bash", "Read", "Write", "Edit", foreign, "Glob", "grep_search", "Bash"]
    );
    // An edit without a recorded change cannot be written as a patch.
    let exec = "exec_command";
    assert_eq!(
        names(&to_codex),
        [exec, exec, "apply_patch", "replace", foreign, exec, "grep_search", exec]
    );
    let key = |calls: &[(String, Option<String>)], at: usize| calls[at].1.clone().unwrap();
    assert_eq!(key(&to_claude, 0), "cd '/a b/$(x)' && echo 'it''s' \"$HOME\"\n");
    assert_eq!(key(&to_codex, 1), r"sed -n '3,9p' '/a'\''; rm x'");
    assert_eq!(key(&to_codex, 2), "/a *** Delete File: b");
    assert_eq!(key(&to_codex, 5), "rg --files -g '-x*'");
    // And back again: what was mapped has its own name.
    let back = hand_over(home.path(), &name(&claude), "gemini", &project, None);
    let expected = [
        "run_shell_command",
        "read_file",
        "write_file",
        "replace",
        foreign,
        "glob",
        "grep_search",
        "run_shell_command",
    ];
    assert_eq!(names(&calls(&name(&back))), expected);
}
