//! Tests of titles that the agent itself shows.

use serde_json::Value;

use super::changing::{change, json, session, sessions, tree, undo};
use crate::home;

const TITLE: &str = "Größe – 会话 \"x\"";

#[test]
fn sessions_of_every_kind_are_renamed_and_restored_byte_for_byte() {
    let mut renamed = 0;
    for case in [
        "gemini/strings/plain",
        "gemini/parts/plain",
        "gemini/lines/migration",
        "gemini/lines/subagent",
        "gemini/checkpoints/resume-stub",
        "gemini/checkpoints/compress",
        "gemini/damaged/split-by-clear",
        "gemini/damaged/torn-tail",
        "gemini/damaged/crlf",
        "gemini/damaged/same-start",
        "gemini/damaged/unreadable-aside",
    ] {
        let home = home([case]);
        let before = tree(&home);
        for old in sessions(&home).iter().filter(|session| session["kind"] == "main") {
            let id = old["id"].as_str().unwrap();
            let made = change(&home, &["rename", id, TITLE]);
            let new = session(&home, id);
            assert_eq!((&new["title"], &new["title_from"]), (&TITLE.into(), &"summary".into()));
            if !old["agent_title"].is_null() {
                assert_eq!(new["agent_title"], TITLE, "{case}: {id}");
            }
            for field in ["agent_index", "messages", "undone", "problems", "started", "updated"] {
                assert_eq!(new[field], old[field], "{case}: {id}: {field}");
            }
            renamed += 1;
            undo(&home, &made, &before);
        }
    }
    assert!(renamed > 15, "{renamed}");
}

#[test]
fn in_a_document_only_the_title_changes() {
    let home = home(["gemini/strings/plain"]);
    let id = sessions(&home)[0]["id"].as_str().unwrap().to_owned();
    let made = change(&home, &["rename", &id, "A", "title"]);
    let path = made["files"][0]["path"].as_str().unwrap();
    let path = path.strip_prefix(&home.at("")).unwrap().trim_start_matches('/').to_owned();
    let new = String::from_utf8(home.read(&path)).unwrap();
    let receipt = made["receipt"].as_str().unwrap();
    assert_eq!(home.run(["undo", receipt, "--yes"]).code, Some(0));
    let old = String::from_utf8(home.read(&path)).unwrap();
    assert_eq!(new.replace(",\n  \"summary\": \"A title\"", ""), old);
    let parsed: Value = serde_json::from_str(&new).unwrap();
    assert_eq!(parsed["summary"], "A title");
}

#[test]
fn a_torn_line_is_closed_and_never_continued() {
    let home = home(["gemini/damaged/torn-tail"]);
    let file = ".gemini/tmp/shop/chats/session-2026-11-15T17-00-42dc48bd.jsonl";
    let old = home.read(file);
    assert_ne!(old.last(), Some(&b'\n'));
    change(&home, &["rename", "42dc", "Torn"]);
    let expected = [&old[..], b"\n{\"$set\":{\"summary\":\"Torn\"}}\n"].concat();
    assert_eq!(home.read(file), expected);
}

#[test]
fn a_title_is_removed_everywhere() {
    let home = home(["gemini/lines/migration"]);
    let id = "83bb9fd9";
    let before = json(&home, &["show", id])["session"]["title"].clone();
    change(&home, &["rename", id, "Mine"]);
    // The old document, its copy, and the log; not the leftover of a resume.
    let listed = json(&home, &["show", id])["session"].clone();
    assert_eq!(listed["title"], "Mine");
    let made = change(&home, &["rename", id, "--clear"]);
    assert_eq!(made["files"].as_array().unwrap().len(), 3, "{made}");
    let listed = json(&home, &["show", id])["session"].clone();
    assert_eq!((&listed["title"], &listed["title_from"]), (&before, &"prompt".into()));
    let again = home.run(["rename", id, "--clear", "--yes"]);
    assert!(again.stderr.contains("nothing to change"), "{again}");
    assert_eq!(json(&home, &["history"])["changes"].as_array().unwrap().len(), 2);
}

#[test]
fn a_title_cannot_control_a_terminal() {
    let home = home(["gemini/lines/plain"]);
    let id = sessions(&home)[0]["id"].as_str().unwrap().to_owned();
    change(&home, &["rename", &id, "a\u{1b}[31m\tb\u{202e}\n c \u{7}"]);
    assert_eq!(session(&home, &id)["title"], "a[31m b c");
}

#[test]
fn what_has_no_title_of_its_own_is_refused() {
    let home = home(["gemini/lines/subagent", "gemini/lines/saved-chats"]);
    let before = tree(&home);
    insta::assert_snapshot!(home.run(["rename", "e76q7e", "x", "--yes"]), @r"
    ------- stderr -------
    error: e76q7e is a sub-agent, which cannot be renamed on its own: it belongs to the session fa293f46 that ran it
    [exit 3]
    ");
    let chat = home.at(".gemini/tmp/shop/checkpoint-before-change.json");
    insta::assert_snapshot!(home.run(["rename", &chat, "x", "--yes"]), @r"
    ------- stderr -------
    error: a saved chat cannot be renamed: it is not a session
    [exit 3]
    ");
    let dry = json(&home, &["rename", "fa29", "x", "--dry-run"]);
    assert!(dry["receipt"].is_null() && dry["schema"] == "recount.rename/1", "{dry}");
    assert_eq!(tree(&home), before);
}

#[test]
fn a_forgotten_title_removes_nothing() {
    let home = home(["gemini/lines/tools"]);
    let id = sessions(&home)[0]["id"].as_str().unwrap().to_owned();
    let before = tree(&home);
    let refused = home.run(["rename", &id]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.to_string().contains("TITLE"), "{refused}");
    assert_eq!(tree(&home), before);
}
