//! Tests of new sessions that begin with the conversation of another.

#![expect(clippy::unwrap_used, reason = "test setup must succeed")]

use serde_json::Value;

use super::changing::{change, folder, json, said, session, sessions, tree, undo};
use crate::home;

/// Returns the ids of the kept messages.
fn standing(messages: &[Value]) -> Vec<&str> {
    let kept = messages.iter().filter(|message| message["fate"] == "kept");
    kept.map(|message| message["id"].as_str().unwrap()).collect()
}

#[test]
fn a_fork_has_the_kept_messages_and_is_listed_by_the_agent() {
    let mut forked = 0;
    for case in [
        "gemini/strings/multi-turn",
        "gemini/parts/tools",
        "gemini/lines/multi-turn",
        "gemini/lines/migration",
        "gemini/checkpoints/rewind",
        "gemini/checkpoints/resume-stub",
        "gemini/checkpoints/subagent",
        "gemini/damaged/torn-tail",
    ] {
        let home = home([case]);
        let before = tree(&home);
        for old in sessions(&home) {
            let id = old["id"].as_str().unwrap();
            if old["kind"] != "main" || old["agent_index"].is_null() {
                continue;
            }
            let made = change(&home, &["fork", id]);
            let new = session(&home, made["sessions"][0]["id"].as_str().unwrap());
            let new_id = new["id"].as_str().unwrap();
            assert_ne!(new_id, id);
            assert_eq!(new["title"], format!("{} (fork)", old["title"].as_str().unwrap()));
            assert!(!new["agent_index"].is_null(), "{case}: {id}");
            assert_eq!((&new["undone"], &new["problems"]), (&0.into(), &0.into()), "{case}: {id}");
            assert_eq!(new["project"]["path"], old["project"]["path"]);
            // What an old release can read stays readable for it.
            let old_files = old["files"].as_array().unwrap();
            let is_old = old_files.iter().all(|file| file["grammar"] == "json");
            let grammar = if is_old { "json" } else { "jsonl" };
            assert_eq!(new["files"][0]["grammar"], grammar, "{case}: {id}");
            assert_eq!(new["updated"], "2026-11-16T00:00:00Z");
            let (theirs, ours) =
                (json(&home, &["show", id, "--view", "strict"]), said(&home, new_id));
            let theirs = theirs["messages"].as_array().unwrap();
            assert_eq!(standing(&ours), standing(theirs), "{case}: {id}");
            let text = |messages: &[Value]| -> Vec<String> {
                messages.iter().map(|message| message["text"].to_string()).collect()
            };
            assert_eq!(text(&ours), text(theirs), "{case}: {id}");
            forked += 1;
            undo(&home, &made, &before);
        }
    }
    assert!(forked > 8, "{forked}");
}

#[test]
fn a_fork_ends_where_it_is_wanted() {
    let home = home(["gemini/lines/multi-turn"]);
    let all = sessions(&home);
    let most = all.iter().max_by_key(|session| session["prompts"].as_u64()).unwrap();
    let id = most["id"].as_str().unwrap();
    let messages = said(&home, id);
    let prompts: Vec<usize> = messages
        .iter()
        .enumerate()
        .filter(|(_, message)| message["kind"] == "prompt" && message["fate"] == "kept")
        .map(|(at, _)| at)
        .collect();
    assert!(prompts.len() >= 2, "{id}");
    let fork = |at: &str| {
        let made = change(&home, &["fork", id, "--at", at, "--title", "Cut"]);
        said(&home, made["sessions"][0]["id"].as_str().unwrap())
    };
    let until = |end: usize| messages[..end].iter().filter(|m| m["fate"] == "kept").count();
    assert_eq!(fork("1").len(), until(prompts[1]));
    assert_eq!(fork(&prompts.len().to_string()).len(), until(messages.len()));
    let first = messages[prompts[0]]["id"].as_str().unwrap();
    assert_eq!(fork(first).len(), until(prompts[0] + 1));
    insta::assert_snapshot!(home.run(["fork", id, "--at", "99", "--yes"]), @r"
    ------- stderr -------
    error: no message '99' in this session
    hint: give the number of a prompt, or the id of a message as `recount show --json` prints it
    [exit 1]
    ");
    insta::assert_snapshot!(home.run(["fork", id, "--at", "none", "--yes"]), @r"
    ------- stderr -------
    error: no message 'none' in this session
    hint: give the number of a prompt, or the id of a message as `recount show --json` prints it
    [exit 1]
    ");
}

#[test]
fn a_fork_goes_to_another_project_and_its_outputs_are_found() {
    let home = home(["gemini/damaged/truncated-output"]);
    let store = folder(&home, "code/store");
    let words = said(&home, "b47f");
    let before = tree(&home);
    let made = change(&home, &["fork", "b47f", "--to", &store, "--title", "Else\u{7}where"]);
    let id = made["sessions"][0]["id"].as_str().unwrap();
    let new = session(&home, id);
    assert_eq!((&new["project"]["path"], &new["title"]), (&store.into(), &"Elsewhere".into()));
    let outputs = |messages: &[Value]| -> Vec<String> {
        let calls = messages.iter().filter(|message| message["fate"] == "kept");
        calls
            .flat_map(|m| m["tool_calls"].as_array().cloned().unwrap_or_default())
            .map(|c| c["output"].to_string())
            .collect()
    };
    assert_eq!(outputs(&said(&home, id)), outputs(&words));
    undo(&home, &made, &before);
}

#[test]
fn what_cannot_be_forked_is_refused() {
    let home = home(["gemini/lines/subagent", "gemini/lines/saved-chats"]);
    let before = tree(&home);
    assert_eq!(home.run(["fork", "e76q7e", "--yes"]).code, Some(3));
    let chat = home.at(".gemini/tmp/shop/checkpoint-before-change.json");
    assert_eq!(home.run(["fork", &chat, "--yes"]).code, Some(3));
    let dry = json(&home, &["fork", "fa29", "--dry-run"]);
    assert!(dry["receipt"].is_null() && dry["schema"] == "recount.fork/1", "{dry}");
    assert_eq!(tree(&home), before);
}
