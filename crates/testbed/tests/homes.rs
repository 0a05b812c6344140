//! Tests that a synthetic home is valid, reproducible, and matches its report.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "tests read what was written, and helpers panic on failure"
)]

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use recount_testbed::{
    Era, Error, ExpectedHome, ExpectedKind, SessionTruth, TestbedAgent, TestbedOptions, demo,
    generate,
};
use serde_json::Value;

type Files = BTreeMap<PathBuf, Vec<u8>>;

fn now() -> Timestamp {
    "2026-11-15T18:00:00Z".parse().unwrap()
}

/// Returns every file below `root`, by its relative path.
fn files(root: &Path) -> Files {
    let (mut found, mut folders) = (Files::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn made_demo() -> (ExpectedHome, Files) {
    let home = tempfile::tempdir().unwrap();
    let report = demo(home.path(), now()).unwrap();
    (report, files(home.path()))
}

fn made(options: &TestbedOptions) -> (ExpectedHome, Files) {
    let home = tempfile::tempdir().unwrap();
    let report = generate(home.path(), options, &mut |_, _| {}).unwrap();
    (report, files(home.path()))
}

/// Returns the records of a session file: its lines, or the one document.
fn records(bytes: &[u8], path: &Path) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    if path.extension().unwrap() == "jsonl" {
        assert!(text.ends_with('\n'), "{}", path.display());
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    } else {
        assert!(!text.ends_with('\n'), "{}", path.display());
        vec![serde_json::from_str(text).unwrap()]
    }
}

/// Returns the messages that the program's loader shows, by the rules of its releases since 0.47.
fn replay(records: &[Value]) -> (Vec<Value>, HashSet<String>) {
    let (mut kept, mut ever) = (Vec::<Value>::new(), HashSet::new());
    let mut upsert = |kept: &mut Vec<Value>, message: &Value| {
        ever.insert(message["id"].as_str().unwrap().to_owned());
        match kept.iter_mut().find(|old| old["id"] == message["id"]) {
            Some(old) => *old = message.clone(),
            None => kept.push(message.clone()),
        }
    };
    for record in records {
        if let Some(target) = record.get("$rewindTo") {
            let at = kept.iter().position(|message| message["id"] == *target);
            kept.truncate(at.expect("a rewind names a message that is there"));
        } else if record.get("id").is_some() {
            upsert(&mut kept, record);
        } else {
            let list = record.pointer("/$set/messages").or(record.get("messages"));
            if let Some(list) = list {
                kept.clear();
                list.as_array().unwrap().iter().for_each(|message| upsert(&mut kept, message));
            }
        }
    }
    (kept, ever)
}

fn check(session: &SessionTruth, files: &Files) {
    let bytes = &files[&session.main_file];
    for other in &session.other_files {
        assert!(files.contains_key(other), "{}", other.display());
    }
    if session.era.agent() != TestbedAgent::Gemini {
        return check_other(session, bytes);
    }
    assert_eq!(bytes.len() as u64, session.bytes);
    let records = records(bytes, &session.main_file);
    assert_eq!(records[0]["sessionId"], session.id.as_str());
    let (kept, ever) = replay(&records);
    let name = session.main_file.display();
    assert_eq!(kept.len() as u64, session.kept.messages, "{name}");
    assert_eq!(ever.len() as u64, session.ever, "{name}");
    let calls: Vec<&Value> =
        kept.iter().filter_map(|message| message["toolCalls"].as_array()).flatten().collect();
    assert_eq!(calls.len() as u64, session.kept.tool_calls, "{name}");
    let having = |status| calls.iter().filter(|call| call["status"] == status).count() as u64;
    assert_eq!(having("error"), session.kept.failed, "{name}");
    assert_eq!(having("cancelled"), session.kept.cancelled, "{name}");
    let tokens: u64 = kept.iter().filter_map(|message| message["tokens"]["total"].as_u64()).sum();
    assert_eq!(tokens, session.kept.tokens, "{name}");
}

/// Checks what can be checked about sessions of other agents without replaying them; the readers' own tests do the rest.
fn check_other(session: &SessionTruth, bytes: &[u8]) {
    let name = session.main_file.to_string_lossy();
    if name.ends_with(".zst") {
        assert!(bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]), "{name}");
        return;
    }
    // A sub-agent of Claude Code 1.0 is in the file of its session.
    assert!(session.bytes == bytes.len() as u64 || session.bytes == 0, "{name}");
    assert!(String::from_utf8_lossy(bytes).contains(&session.id), "{name}");
    let records = records(bytes, &session.main_file);
    if session.era.agent() == TestbedAgent::Claude {
        let ids: HashSet<&str> = records.iter().filter_map(|row| row["uuid"].as_str()).collect();
        for parent in records.iter().filter_map(|row| row["parentUuid"].as_str()) {
            assert!(ids.contains(parent), "{name}: {parent}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let options =
        TestbedOptions { sessions: 24, projects: 5, megabytes: 0.6, ..TestbedOptions::default() };
    let (report, files) = made(&options);
    let (again, same) = made(&options);
    assert_eq!(report, again);
    assert_eq!(files, same);
    let (_, others) = made(&TestbedOptions { seed: 2, ..options });
    assert_ne!(files, others);
    assert_eq!(made_demo(), made_demo());
}

#[test]
fn every_file_is_valid_and_matches_the_report() {
    for options in [
        TestbedOptions { sessions: 80, projects: 9, megabytes: 3.0, ..TestbedOptions::default() },
        TestbedOptions {
            sessions: 12,
            projects: 1,
            megabytes: 0.0,
            seed: 77,
            ..TestbedOptions::default()
        },
    ] {
        let (report, files) = made(&options);
        assert_eq!(report.sessions, options.sessions);
        assert_eq!(report.files, files.len());
        assert_eq!(report.bytes, files.values().map(|bytes| bytes.len() as u64).sum::<u64>());
        assert_eq!(report.messages, report.truth.iter().map(|s| s.kept.messages).sum::<u64>());
        for (path, bytes) in &files {
            if path.extension().is_some_and(|end| end == "json" || end == "jsonl") {
                records(bytes, path);
            }
        }
        report.truth.iter().for_each(|session| check(session, &files));
    }
}

#[test]
fn the_size_is_about_the_requested_one() {
    for (sessions, megabytes) in [(3, 2_u32), (60, 4)] {
        let options =
            TestbedOptions { sessions, megabytes: megabytes.into(), ..TestbedOptions::default() };
        let (report, _) = made(&options);
        let percent = report.bytes / 10_000 / u64::from(megabytes);
        assert!((85..125).contains(&percent), "{sessions} sessions: {percent} %");
    }
}

#[test]
fn progress_goes_from_nothing_to_all() {
    let home = tempfile::tempdir().unwrap();
    let options = TestbedOptions { sessions: 10, megabytes: 0.5, ..TestbedOptions::default() };
    let mut seen = Vec::new();
    generate(home.path(), &options, &mut |done, total| seen.push((done, total))).unwrap();
    assert_eq!(seen.first(), Some(&(0, 500_000)));
    assert_eq!(seen.len(), 11);
    assert!(seen.is_sorted());
}

#[test]
fn only_the_eras_asked_for_are_used() {
    for era in Era::ALL {
        let options = TestbedOptions {
            sessions: 12,
            megabytes: 0.4,
            eras: vec![era],
            ..TestbedOptions::default()
        };
        let (report, _) = made(&options);
        assert!(report.truth.iter().all(|session| session.era == era), "{era}");
        assert_eq!(era.name().parse(), Ok(era));
    }
    assert!("stone".parse::<Era>().is_err());
}

#[test]
fn a_folder_that_is_not_empty_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("mine"), b"x").unwrap();
    let error = demo(home.path(), now()).unwrap_err();
    assert!(matches!(&error, Error::NotEmpty { path } if path == home.path()));
    assert!(error.to_string().ends_with("is not empty"), "{error}");
    let error = generate(home.path(), &TestbedOptions::default(), &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, Error::NotEmpty { .. }));
    assert!(matches!(
        demo(&home.path().join("mine"), now()).unwrap_err(),
        Error::ReadFolder { .. }
    ));
    assert_eq!(files(home.path()).len(), 1);
    demo(&home.path().join("new/home"), now()).unwrap();
}

#[test]
fn the_demo_is_small_and_has_one_of_everything() {
    let (report, files) = made_demo();
    report.truth.iter().for_each(|session| check(session, &files));
    assert!(report.bytes < 1_000_000, "{} bytes", report.bytes);
    assert_eq!((report.projects, report.sessions, report.subagents), (5, 29, 5));
    for era in Era::ALL {
        assert!(report.truth.iter().any(|session| session.era == era), "{era}");
    }
    let main = |session: &&SessionTruth| session.kind == ExpectedKind::Main;
    assert!(report.truth.iter().filter(main).any(|session| session.kept.failed > 0));
    assert!(report.truth.iter().filter(main).any(|session| session.kept.cancelled > 0));
    assert!(report.truth.iter().filter(main).any(|session| session.ever > session.kept.messages));

    let all: String = files
        .iter()
        .filter(|(path, _)| path.to_string_lossy().contains("/chats/"))
        .map(|(_, bytes)| String::from_utf8_lossy(bytes))
        .collect();
    for feature in [
        "\"$rewindTo\":",
        "<state_snapshot>",
        "<session_context>",
        "Request cancelled.",
        "[API Error:",
        "_response\"",
        "\"agentId\":",
        "\"isSubagentProgress\":true",
        "\"fileDiff\":",
        "\"isUninitialized\"",
        "\"todos\":",
        "\"matches\":",
        "\"displayContent\":",
        "--- Content from referenced files ---",
        "I ran the following shell command:",
        "\"thought\":true",
        "\"type\":\"warning\"",
        "\"type\":\"error\"",
        "\"functionCall\":",
        "mcp_orders_run_query",
        "google_web_search",
        "web_fetch",
        "ask_user",
        "save_memory",
        "read_many_files",
        "气温",
        "東京",
        "🎉",
    ] {
        assert!(all.contains(feature), "{feature}");
    }
}

#[test]
fn the_demo_has_the_files_around_the_sessions() {
    let (report, files) = made_demo();
    let names: Vec<String> = files.keys().map(|path| path.to_string_lossy().into_owned()).collect();
    let has = |part: &str| names.iter().any(|name| name.contains(part));
    for part in [
        ".gemini/projects.json",
        ".gemini/settings.json",
        ".gemini/trustedFolders.json",
        ".gemini/history/shop/.project_root",
        ".gemini/tmp/project/.project_root",
        "/logs.json",
        "/shell_history",
        "/checkpoint-receipt-v1.json",
        ".claude/history.jsonl",
        "/subagents/agent-a",
        ".meta.json",
        "/-home-dev-code-tinyparse/agent-",
        ".codex/session_index.jsonl",
        ".codex/archived_sessions/rollout-",
        ".jsonl.zst",
        ".codex/sessions/rollout-",
        "/checkpoint-before%20dates%2F%C3%BCberblick.json",
    ] {
        assert!(has(part), "{part}");
    }
    assert_eq!(files[Path::new(".gemini/tmp/shop/.project_root")], b"/home/dev/code/shop");
    // The same bytes in the hash folder and in the readable one.
    let copy = |name: &&String| name.contains("/52efbb07") && name.contains("/chats/");
    let copies: Vec<&String> = names.iter().filter(copy).collect();
    assert_eq!(copies.len(), 2);
    for name in copies {
        let slug = name
            .replace("52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee", "shop");
        assert_eq!(files[Path::new(name)], files[Path::new(&slug)]);
    }
    // A document, the lines that continue it, and a stub, all of one session.
    let twin = report
        .truth
        .iter()
        .find(|session| {
            session.main_file.extension().unwrap() == "jsonl"
                && session.other_files.contains(&session.main_file.with_extension("json"))
        })
        .unwrap();
    assert_eq!(twin.other_files.len(), 3);
    // Sub-agents are in a folder named after their main session.
    let is_gemini = |session: &&SessionTruth| session.era.agent() == TestbedAgent::Gemini;
    let is_agent = |session: &&SessionTruth| session.kind == ExpectedKind::Subagent;
    for agent in report.truth.iter().filter(is_gemini).filter(is_agent) {
        let folder = agent.main_file.parent().unwrap().file_name().unwrap();
        assert_eq!(folder.to_str(), agent.parent.as_deref());
    }
}
