//! Tests of sessions that are continued in another agent.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "test setup must succeed")]

use std::fs;

use recount_testkit::Home;

use super::changing::{change, files, folder, json, said, session};
use crate::home;

fn with_all_agents(case: &str) -> (Home, String) {
    let home = home([case]);
    for name in [".gemini/tmp", ".claude/projects", ".codex/sessions"] {
        fs::create_dir_all(home.path().join(name)).unwrap();
    }
    let store = folder(&home, "code/store");
    (home, store)
}

#[test]
fn a_session_is_handed_over_read_back_and_undone() {
    let (home, store) = with_all_agents("gemini/lines/tools");
    let before = files(&home, ".claude");
    let made = change(&home, &["handover", "8662", "--to", "claude", "--project", &store]);
    let id = made["sessions"][0]["id"].as_str().unwrap();
    let new = session(&home, id);
    assert_eq!(
        (&new["source"], &new["project"]["path"]),
        (&"claude".into(), &store.as_str().into())
    );
    assert!(new["title"].as_str().unwrap().ends_with("(from Gemini CLI)"), "{new}");
    assert!(made["resume"].as_str().unwrap().ends_with(&format!("claude --resume {id}")), "{made}");
    let losses = made["losses"].as_array().unwrap();
    assert!(losses.iter().any(|loss| loss["kind"] == "thoughts" || loss["kind"] == "tool"));
    assert_eq!(losses.len(), made["notes"].as_array().unwrap().len());
    let calls = |messages: &[serde_json::Value]| -> Vec<String> {
        let kept = messages.iter().filter(|message| message["fate"] == "kept");
        let calls = kept.flat_map(|message| message["tool_calls"].as_array().cloned().unwrap());
        calls.map(|call| call["output"].to_string()).collect()
    };
    assert_eq!(calls(&said(&home, id)), calls(&said(&home, "8662")));
    let receipt = made["receipt"].as_str().unwrap();
    assert_eq!(home.run(["undo", receipt, "--yes"]).code, Some(0));
    assert_eq!(files(&home, ".claude"), before);
}

#[test]
fn a_plan_writes_nothing_and_a_document_needs_no_agent() {
    let (home, store) = with_all_agents("codex/tagged/tools");
    let before = (files(&home, ".gemini"), files(&home, ".codex"));
    let all = json(&home, &["list", "--all"]);
    let id = all["sessions"][0]["id"].as_str().unwrap();
    let dry = json(&home, &["handover", id, "--to", "gemini", "--project", &store, "--dry-run"]);
    assert!(dry["receipt"].is_null() && dry["resume"].is_null(), "{dry}");
    assert_eq!(dry["schema"], "recount.handover/1");
    let printed = home.run(["handover", id, "--print"]);
    assert!(printed.stdout.starts_with("# Hand-over: `"), "{printed}");
    assert_eq!((files(&home, ".gemini"), files(&home, ".codex")), before);
    let same = home.run(["handover", id, "--to", "codex"]);
    assert_eq!(same.code, Some(3), "{same}");
    assert_eq!(home.run(["handover", id]).code, Some(2));
}
