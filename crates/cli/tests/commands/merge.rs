//! Tests of merged sessions.

use super::changing::{change, json, log, said, session, sessions, tree, undo};
use crate::home;

const TOOLS: &str = "8662c6d1-79eb-45ff-9a82-649436c92eda";
const AGENTS: &str = "fa293f46-f175-4caf-8daa-a46248fa4b4c";

#[test]
fn conversations_are_concatenated_and_the_originals_go_to_the_trash() {
    let home = home(["gemini/lines/tools", "gemini/lines/subagent"]);
    let (tools, agents) = (said(&home, TOOLS), said(&home, AGENTS));
    let before = tree(&home);
    let made = change(&home, &["merge", AGENTS, TOOLS]);
    let id = made["sessions"][0]["id"].as_str().unwrap();
    let texts = |messages: &[serde_json::Value]| -> Vec<String> {
        messages.iter().map(|message| message["text"].to_string()).collect()
    };
    assert_eq!(texts(&said(&home, id)), [texts(&tools), texts(&agents)].concat());
    let outputs = |messages: &[serde_json::Value]| -> Vec<String> {
        let calls =
            messages.iter().flat_map(|m| m["tool_calls"].as_array().cloned().unwrap_or_default());
        calls.map(|call| call["output"].to_string()).collect()
    };
    assert_eq!(outputs(&said(&home, id)), [outputs(&tools), outputs(&agents)].concat());
    let all = sessions(&home);
    let mains: Vec<_> = all.iter().filter(|session| session["kind"] == "main").collect();
    assert_eq!((mains.len(), &mains[0]["id"]), (1, &id.into()));
    let led =
        all.iter().filter(|session| session["parent"] == id && !session["parent_call"].is_null());
    assert_eq!(led.count(), 2, "its sub-agents go with the conversation");
    let trash = json(&home, &["trash"]);
    assert_eq!(trash["sessions"].as_array().unwrap().len(), 2, "{trash}");
    // An output that the text still mentions is not an orphan.
    let prune = json(&home, &["prune", "--orphaned", "shop"]);
    assert!(!prune.to_string().contains("tool-outputs"), "{prune}");
    undo(&home, &made, &before);
}

#[test]
fn with_keep_nothing_is_deleted() {
    let home = home(["gemini/lines/tools", "gemini/lines/subagent"]);
    let before = tree(&home);
    let made = change(&home, &["merge", TOOLS, AGENTS, "--keep", "--title", "Both"]);
    assert_eq!(made["files"].as_array().unwrap().len(), 1);
    assert_eq!(session(&home, made["sessions"][0]["id"].as_str().unwrap())["title"], "Both");
    session(&home, TOOLS);
    undo(&home, &made, &before);
}

#[test]
fn a_message_is_in_it_once_and_one_that_only_shares_an_id_is_not_lost() {
    let home = home([]);
    home.write(".gemini/tmp/shop/.project_root", "/home/dev/code/shop");
    let (a, b) = ("aaaaaaaa-1111-4111-8111-111111111111", "bbbbbbbb-1111-4111-8111-111111111111");
    home.write(".gemini/tmp/shop/chats/session-2026-11-15T08-00-aaaaaaaa.jsonl", log(a, "plums"));
    let forked = change(&home, &["fork", a])["sessions"][0]["id"].as_str().unwrap().to_owned();
    let merged = change(&home, &["merge", a, &forked, "--keep"]);
    assert_eq!(said(&home, merged["sessions"][0]["id"].as_str().unwrap()).len(), 2);
    let other = log(b, "pears").replace("pears-", "plums-").replace("T08:00:0", "T09:00:0");
    home.write(".gemini/tmp/shop/chats/session-2026-11-15T09-00-bbbbbbbb.jsonl", other);
    let merged = change(&home, &["merge", a, b, "--keep"]);
    let words: Vec<String> = said(&home, merged["sessions"][0]["id"].as_str().unwrap())
        .iter()
        .map(|message| {
            format!("{} {}", message["id"].as_str().unwrap(), message["text"].as_str().unwrap())
        })
        .collect();
    assert_eq!(words, ["plums-1 plums?", "plums-2 plums!", "plums-1-2 pears?", "plums-2-2 pears!"]);
}

#[test]
fn merging_needs_two_sessions() {
    let home = home(["gemini/lines/tools"]);
    let before = tree(&home);
    insta::assert_snapshot!(home.run(["merge", TOOLS, "8662", "--yes"]), @r"
    ------- stderr -------
    error: merge needs at least two sessions
    [exit 3]
    ");
    assert_eq!(home.run(["merge", TOOLS, "--yes"]).code, Some(2));
    assert_eq!(home.run(["merge", TOOLS, "ffff", "--yes"]).code, Some(1));
    assert_eq!(tree(&home), before);
}

#[test]
fn it_says_how_many_undone_messages_are_left_out() {
    let home = home(["gemini/lines/tools", "gemini/lines/rewind"]);
    let all = sessions(&home);
    let is_main = |session: &&serde_json::Value| session["kind"] == "main";
    let ids: Vec<&str> =
        all.iter().filter(is_main).map(|session| session["id"].as_str().unwrap()).collect();
    let undone: u64 =
        all.iter().filter(is_main).map(|session| session["undone"].as_u64().unwrap()).sum();
    assert!(undone > 0);
    let mut words = vec!["merge"];
    words.extend(&ids);
    words.push("--dry-run");
    let planned = home.run(words).to_string();
    assert!(planned.contains(&format!("{undone} undone or replaced message")), "{planned}");
}
