//! Tests with sessions of Claude Code: every command that changes something, on every layout.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "test setup must succeed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use recount_testkit::Home;
use serde_json::{Value, json as value};

use super::changing::{change, files, folder, json, session, sessions};
use crate::home;

const CASES: [&str; 8] = [
    "claude/inline/resume",
    "claude/inline/subagent",
    "claude/flat/resume",
    "claude/flat/subagent",
    "claude/folder/compact",
    "claude/folder/interactive",
    "claude/folder/resume",
    "claude/folder/subagent",
];
const ROOT: &str = ".claude";
const PROJECT: &str = ".claude/projects/-home-dev-code-shop";

#[track_caller]
fn undo(home: &Home, change: &Value, before: &BTreeMap<PathBuf, Vec<u8>>) {
    let undone = home.run(["undo", change["receipt"].as_str().unwrap(), "--yes"]);
    assert_eq!(undone.code, Some(0), "{undone}");
    assert!(files(home, ROOT) == *before, "not as it was");
}

fn main_sessions(home: &Home) -> Vec<Value> {
    let is_main = |session: &Value| session["kind"] == "main" && session["messages"] != 0;
    sessions(home).into_iter().filter(is_main).collect()
}

/// Returns the messages with speaker and fate.
fn said(home: &Home, id: &str) -> Vec<(String, String, String)> {
    let shown = json(home, &["show", id]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = shown["messages"].as_array().unwrap().iter();
    messages.map(|one| (text(&one["kind"]), text(&one["fate"]), text(&one["text"]))).collect()
}

/// Returns the kept prompts and answers.
fn words(home: &Home, id: &str) -> Vec<(String, String, String)> {
    let is_said = |one: &(String, String, String)| {
        matches!(one.0.as_str(), "prompt" | "answer") && one.1 == "kept" && !one.2.is_empty()
    };
    said(home, id).into_iter().filter(is_said).collect()
}

#[test]
fn titles_are_set_and_removed() {
    for case in CASES {
        let home = home([case]);
        let before = files(&home, ROOT);
        for old in main_sessions(&home) {
            let id = old["id"].as_str().unwrap();
            let made = change(&home, &["rename", id, "Größe – 会话 \"x\""]);
            assert_eq!(session(&home, id)["title"], "Größe – 会话 \"x\"", "{case}");
            undo(&home, &made, &before);
            assert_eq!(session(&home, id)["title"], old["title"], "{case}");
        }
    }
}

/// Releases from 2.1.3xx store the title again, in a write-protected file.
#[test]
fn the_copy_of_a_title_follows() {
    let home = home(["claude/folder/subagent"]);
    let id = main_sessions(&home)[0]["id"].as_str().unwrap().to_owned();
    let copy = format!("{PROJECT}/{id}/custom-title.json");
    change(&home, &["rename", &id, "First"]);
    assert!(!home.path().join(&copy).exists(), "made where the agent keeps none");
    home.write(&copy, "{\"customTitle\":\"First\"}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let protected = fs::Permissions::from_mode(0o444);
        fs::set_permissions(home.path().join(&copy), protected).unwrap();
    }
    let before = files(&home, ROOT);
    let made = change(&home, &["rename", &id, "Größe \"x\""]);
    let held: Value = serde_json::from_slice(&home.read(&copy)).unwrap();
    assert_eq!(held, value!({"customTitle": "Größe \"x\""}));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let permissions = fs::metadata(home.path().join(&copy)).unwrap().permissions();
        assert_eq!(permissions.mode() & 0o777, 0o444);
    }
    undo(&home, &made, &before);
}

#[test]
fn sessions_go_to_other_folders_with_their_agents() {
    for case in CASES {
        let home = home([case]);
        let store = folder(&home, "code/a store");
        let before = files(&home, ROOT);
        for old in main_sessions(&home) {
            let id = old["id"].as_str().unwrap();
            let original = said(&home, id);
            let made = change(&home, &["move", id, "--to", &store]);
            let new = session(&home, id);
            assert_eq!(new["project"]["path"], store, "{case}");
            assert_eq!(said(&home, id), original, "{case}");
            for field in ["messages", "undone", "title", "started", "tokens", "problems"] {
                assert_eq!(new[field], old[field], "{case}: {field}");
            }
            undo(&home, &made, &before);
        }
    }
}

#[test]
fn a_moved_project_keeps_its_sessions() {
    for case in CASES {
        let home = home([case]);
        let store = folder(&home, "code/store");
        let before = files(&home, ROOT);
        let known = main_sessions(&home).len();
        let made = change(&home, &["relocate", "/home/dev/code/shop", &store]);
        let now = main_sessions(&home);
        assert_eq!(now.len(), known, "{case}");
        for new in now {
            assert_eq!(new["project"]["path"], store, "{case}");
            assert_eq!(new["problems"], 0, "{case}");
        }
        assert!(!home.path().join(PROJECT).exists(), "{case}");
        undo(&home, &made, &before);
    }
}

#[test]
fn a_fork_and_an_export_have_the_kept_messages() {
    for case in CASES {
        let home = home([case]);
        let before = files(&home, ROOT);
        for old in main_sessions(&home) {
            let id = old["id"].as_str().unwrap();
            let original = words(&home, id);
            let known: Vec<Value> = main_sessions(&home);
            let made = change(&home, &["fork", id]);
            let fork = main_sessions(&home);
            let fork = fork.iter().find(|one| known.iter().all(|old| old["id"] != one["id"]));
            let fork = fork.unwrap_or_else(|| panic!("{case}: no fork of {id}"));
            assert_eq!(words(&home, fork["id"].as_str().unwrap()), original, "{case}");
            assert_eq!(fork["problems"], 0, "{case}");
            undo(&home, &made, &before);
            let output = home.run(["export", id, "--format", "claude", "-o", "-"]);
            assert_eq!(output.code, Some(0), "{output}");
            home.write("exported.jsonl", output.stdout.as_bytes());
            assert_eq!(words(&home, &home.at("exported.jsonl")), original, "{case}");
        }
    }
}

#[test]
fn sessions_are_deleted_and_restored() {
    for case in CASES {
        let home = home([case]);
        let before = files(&home, ROOT);
        for old in main_sessions(&home) {
            let id = old["id"].as_str().unwrap();
            let made = change(&home, &["delete", id]);
            assert!(sessions(&home).iter().all(|one| one["id"] != id), "{case}");
            undo(&home, &made, &before);
            change(&home, &["delete", id]);
            change(&home, &["restore", id]);
            assert!(files(&home, ROOT) == before, "{case}");
        }
    }
}

#[test]
fn copies_are_kept_and_restored() {
    let home = home(["claude/folder/subagent", "claude/folder/interactive"]);
    let before = files(&home, PROJECT);
    let kept = home.run(["guard", "--keep", "--yes"]);
    assert_eq!(kept.code, Some(0), "{kept}");
    let ids: Vec<Value> = main_sessions(&home);
    fs::remove_dir_all(home.path().join(PROJECT)).unwrap();
    let verified = home.run(["vault", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified}");
    let listed = home.run(["vault"]);
    for one in &ids {
        let id = one["id"].as_str().unwrap();
        assert!(listed.stdout.contains(id.get(..8).unwrap()), "{listed}");
        change(&home, &["restore", id]);
    }
    assert!(files(&home, PROJECT) == before, "not what was kept");
}

#[test]
fn secrets_are_gone_from_every_format() {
    let home = home([]);
    let token = format!("ghp_{}", "q8W2e4R6t1Y3u5I7o9P0aS2dF4gH6jK8lZ1x");
    let email = "ada.lovelace@analytical-engines.org";
    let id = "feedbeef-0000-4000-8000-000000000001";
    let row = |more: Value| {
        let mut row = value!({"sessionId": id, "cwd": "/home/dev/code/shop", "isSidechain": false,
            "version": "2.1.112", "timestamp": "2026-11-15T08:00:01.000Z"});
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{row}\n")
    };
    let text = [
        row(value!({"type": "user", "uuid": "u1", "parentUuid": null,
            "message": {"role": "user", "content": format!("Use {token} and write to {email}")}})),
        row(
            value!({"type": "assistant", "uuid": "u2", "parentUuid": "u1", "message": {"id": "m1", "role": "assistant",
            "model": "claude-sonnet-4-6", "usage": {"input_tokens": 1, "output_tokens": 1}, "content": [
            {"type": "thinking", "thinking": format!("The token {token}"), "signature": "x"},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": format!("curl -H 'Authorization: Bearer {token}' x")}}]}}),
        ),
        row(value!({"type": "user", "uuid": "u3", "parentUuid": "u2", "toolUseResult":
            {"stdout": format!("GITHUB_TOKEN={token}"), "stderr": format!("sent to {email}"), "interrupted": false, "isImage": false},
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": format!("GITHUB_TOKEN={token}")}]}})),
        row(value!({"type": "custom-title", "customTitle": format!("Write to {email}")})),
    ];
    home.write(&format!("{PROJECT}/{id}.jsonl"), text.concat());
    for format in ["md", "html", "txt", "json", "jsonl", "claude"] {
        let words = ["export", id, "--format", format, "--level", "trace", "--thoughts"];
        let all = home.run(words);
        assert!(all.stdout.contains("ada.lovelace"), "{format} has them without --redact: {all}");
        let clean = home.run(words.iter().chain(&["--redact"]));
        assert_eq!(clean.code, Some(0), "{format}: {clean}");
        for secret in [token.as_str(), email] {
            assert!(!clean.stdout.contains(secret), "{format} holds {secret}");
        }
    }
}

#[test]
fn the_program_resumes_a_session_in_its_folder_and_home() {
    let home = home(["claude/folder/resume"]);
    let shop = folder(&home, "code/shop");
    let id = main_sessions(&home)[0]["id"].as_str().unwrap().to_owned();
    change(&home, &["move", &id, "--to", &shop]);
    let output = home.run(["resume", &id, "--print"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(output.stdout, format!("cd {shop} && claude --resume {id}\n"));
    let other = home.at("elsewhere");
    fs::rename(home.path().join(ROOT), home.path().join("elsewhere")).unwrap();
    let output = home.run_with(["resume", &id, "--print"], |command| {
        command.env("CLAUDE_CONFIG_DIR", &other);
    });
    assert_eq!(output.code, Some(0), "{output}");
    // The variable is already set, and the program inherits it.
    assert_eq!(output.stdout, format!("cd {shop} && claude --resume {id}\n"));
    let output = home.run(["--home", &other, "resume", &id, "--print"]);
    assert_eq!(output.code, Some(0), "{output}");
    let expected = format!("cd {shop} && CLAUDE_CONFIG_DIR={other} claude --resume {id}\n");
    assert_eq!(output.stdout, expected);
}
