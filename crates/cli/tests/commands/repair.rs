//! Tests of repaired sessions: what the agent loads before and after, and that a second repair does nothing.

#![expect(clippy::unwrap_used, reason = "test setup must succeed")]
#![expect(clippy::disallowed_methods, reason = "tests change their own files")]

use std::fs;

use recount_testkit::{Home, fixtures};
use serde_json::{Value, json};

use crate::commands::changing::{json, tree};
use crate::home;

const CHATS: &str = ".gemini/tmp/shop/chats";
const HEAD: &str = r#"{"sessionId":"3d2f9a10-5c1b-4d11-b127-fab536451cda","projectHash":"52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee","startTime":"2026-11-15T08:00:00.000Z","lastUpdated":"2026-11-15T08:10:00.000Z","kind":"main"}"#;

/// Returns a home with one log of these lines.
fn with_log(lines: &[&str]) -> Home {
    let home = home([]);
    home.write(".gemini/tmp/shop/.project_root", "/home/dev/code/shop");
    let text = [lines, &[""]].concat().join("\n");
    home.write(&format!("{CHATS}/session-2026-11-15T08-00-3d2f9a10.jsonl"), text);
    home
}

fn user(id: &str, text: &str) -> String {
    let time = "2026-11-15T08:01:00.000Z";
    json!({"id": id, "timestamp": time, "type": "user", "content": [{"text": text}]}).to_string()
}

fn model(id: &str, text: &str) -> String {
    let time = "2026-11-15T08:02:00.000Z";
    json!({"id": id, "timestamp": time, "type": "gemini", "content": text}).to_string()
}

/// Returns what the agent loads of a session: ids and texts.
fn strict(home: &Home, id: &str) -> Vec<(String, String)> {
    let shown = json(home, &["show", id, "--view", "strict"]);
    let messages = shown["messages"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    messages.map(|m| (text(&m["id"]), text(&m["text"]))).collect()
}

fn ids(home: &Home, id: &str) -> Vec<String> {
    strict(home, id).into_iter().map(|(id, _)| id).collect()
}

/// Repairs all sessions, checks that nothing is left to do, and returns the plan.
fn repair(home: &Home) -> Value {
    let before = tree(home);
    let plan = json(home, &["repair", "--all", "--yes"]);
    assert!(plan["receipt"].is_string(), "{plan}");
    let after = tree(home);
    let again = home.run(["repair", "--all", "--yes"]);
    assert!(again.stderr.contains("nothing to repair"), "{again}");
    let undone = json(home, &["undo", "--yes"]);
    assert_eq!(tree(home), before);
    let redone = home.run(["undo", undone["receipt"].as_str().unwrap(), "--yes"]);
    assert_eq!(redone.code, Some(0), "{redone}");
    assert_eq!(tree(home), after);
    plan
}

#[test]
fn healthy_sessions_are_not_changed() {
    for case in fixtures() {
        if case.name.contains("/damaged/") {
            continue;
        }
        let home = home([case.name.as_str()]);
        let output = home.run(["repair", "--all", "--yes"]);
        assert!(output.stderr.contains("nothing to repair"), "{}: {output}", case.name);
    }
}

#[test]
fn every_damaged_fixture_is_repaired_once_or_reported() {
    let mut mended = Vec::new();
    for case in fixtures() {
        if !case.name.contains("/damaged/") {
            continue;
        }
        let home = home([case.name.as_str()]);
        let listed = |home: &Home| -> usize {
            let all = json(home, &["list", "--all"]);
            all["sessions"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|s| !s["agent_index"].is_null())
                .count()
        };
        let before = listed(&home);
        if json(&home, &["repair", "--all", "--dry-run"])["files"].as_array().unwrap().is_empty() {
            continue;
        }
        repair(&home);
        assert!(listed(&home) >= before, "{}", case.name);
        mended.push(case.name.rsplit('/').next().unwrap().to_owned());
    }
    insta::assert_snapshot!(mended.join(" "), @"bom damaged-document no-metadata torn-tail truncated-document unknown-rewind unreadable-aside welded-line");
}

#[test]
fn a_torn_tail_is_cut_and_a_missing_line_end_added() {
    let home = with_log(&[HEAD, &user("u1", "hello"), &model("m1", "hi")]);
    let path = format!("{CHATS}/session-2026-11-15T08-00-3d2f9a10.jsonl");
    let whole = home.read(&path);
    home.write(&path, [whole.as_slice(), br#"{"id":"u2","timestamp":"2026-11"#].concat());
    repair(&home);
    assert_eq!(home.read(&path), whole);
    home.write(&path, &whole[..whole.len() - 1]);
    repair(&home);
    assert_eq!(home.read(&path), whole);
}

#[test]
fn a_missing_head_is_taken_from_the_log_of_prompts() {
    let home = with_log(&[&user("u1", "hello"), &model("m1", "hi")]);
    let id = "3d2f9a10-5c1b-4d11-b127-fab536451cda";
    let entry = json!([{"sessionId": id, "messageId": 0, "type": "user", "message": "hello", "timestamp": "2026-11-15T08:01:00.000Z"}]);
    home.write(".gemini/tmp/shop/logs.json", entry.to_string());
    assert_eq!(ids(&home, "3d2f9a10"), Vec::<String>::new());
    repair(&home);
    let text =
        String::from_utf8(home.read(&format!("{CHATS}/session-2026-11-15T08-00-3d2f9a10.jsonl")))
            .unwrap();
    let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(head["sessionId"], id);
    assert_eq!(head["startTime"], "2026-11-15T08:01:00.000Z");
    assert_eq!(head["kind"], "main");
    assert_eq!(head["projectHash"].as_str().unwrap().len(), 64);
    assert_eq!(ids(&home, id), ["u1", "m1"]);
}

#[test]
fn a_rewind_to_nowhere_hides_nothing_any_more() {
    let home = with_log(&[
        HEAD,
        &user("u1", "hello"),
        &model("m1", "hi"),
        r#"{"$rewindTo":"gone"}"#,
        &user("u2", "on"),
    ]);
    assert_eq!(ids(&home, "3d2f"), ["u2"]);
    repair(&home);
    assert_eq!(ids(&home, "3d2f"), ["u1", "m1", "u2"]);
}

#[test]
fn a_call_without_a_response_gets_one() {
    let call = json!({"id": "m1", "timestamp": "2026-11-15T08:02:00.000Z", "type": "gemini", "content": "",
        "toolCalls": [{"id": "c1", "name": "read_file", "args": {"file_path": "a"}, "status": "success",
            "result": [{"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "x"}}}]},
            {"id": "c2", "name": "glob", "args": {}, "status": "cancelled", "result": null}]});
    let said = json!({"id": "m2", "timestamp": "2026-11-15T08:03:00.000Z", "type": "gemini",
        "content": [{"text": "now"}, {"functionCall": {"id": "c3", "name": "glob", "args": {"pattern": "*"}}}]});
    let home = with_log(&[
        HEAD,
        &user("u1", "hello"),
        &call.to_string(),
        &said.to_string(),
        &user("u2", "and?"),
    ]);
    let before = strict(&home, "3d2f");
    let plan = repair(&home);
    assert!(
        plan["notes"][0].as_str().unwrap().contains("2 tool calls without a response"),
        "{plan}"
    );
    assert_eq!(strict(&home, "3d2f"), before);
    let text =
        String::from_utf8(home.read(&format!("{CHATS}/session-2026-11-15T08-00-3d2f9a10.jsonl")))
            .unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[5]["toolCalls"][0], call["toolCalls"][0]);
    assert_eq!(lines[5]["toolCalls"][1]["result"][0]["functionResponse"]["id"], "c2");
    assert_eq!(lines[6]["content"], said["content"]);
    let lost = json!([{"functionResponse": {"id": "c3", "name": "glob", "response": {"error": "The result of this call was lost."}}}]);
    assert_eq!(lines[6]["toolCalls"][0]["result"], lost);
}

#[test]
fn a_response_without_a_call_is_no_longer_sent() {
    let response = |id: &str| json!({"functionResponse": {"id": id, "name": "glob", "response": {"output": "x"}}});
    let alone = json!({"id": "r1", "timestamp": "2026-11-15T08:02:00.000Z", "type": "user", "content": [response("c9")]});
    let mixed = json!({"id": "r2", "timestamp": "2026-11-15T08:02:00.000Z", "type": "user", "content": [response("c8"), {"text": "go on"}]});
    let home = with_log(&[
        HEAD,
        &user("u1", "hello"),
        &alone.to_string(),
        &model("m1", "hi"),
        &mixed.to_string(),
    ]);
    repair(&home);
    let shown = json(&home, &["show", "3d2f", "--view", "strict"]);
    let messages = shown["messages"].as_array().unwrap();
    assert_eq!(ids(&home, "3d2f"), ["u1", "r1", "m1", "r2"]);
    assert_eq!(messages[1]["kind"], "notice");
    assert_eq!(messages[3]["text"], "go on");
    assert_eq!(messages[3]["kind"], "prompt");
}

#[test]
fn a_buried_conversation_is_shown_again() {
    let context =
        user("d04923d38bb0f6017037e74183378ef4", "<session_context>\nhere\n</session_context>");
    let list = format!(r#"{{"$set":{{"messages":[{context}]}}}}"#);
    let again = r#"{"$set":{"sessionId":"3d2f9a10-5c1b-4d11-b127-fab536451cda"}}"#;
    let home = with_log(&[HEAD, &list, &user("u1", "hello"), &model("m1", "hi"), again, &list]);
    assert_eq!(ids(&home, "3d2f").len(), 1);
    repair(&home);
    assert_eq!(ids(&home, "3d2f")[1..], ["u1", "m1"]);
}

#[test]
fn a_cut_document_is_closed_and_one_on_one_line_is_indented() {
    let whole = json!({"sessionId": "3d2f9a10-5c1b-4d11-b127-fab536451cda", "projectHash": "h", "startTime": "2025-12-03T06:35:37.302Z",
        "lastUpdated": "2025-12-03T06:38:32.429Z", "messages": [
            {"id": "u1", "timestamp": "2025-12-03T06:35:37.302Z", "type": "user", "content": "hello"},
            {"id": "m1", "timestamp": "2025-12-03T06:35:38.302Z", "type": "gemini", "content": "hi", "extra": [1, {"a": []}]}]});
    let path = format!("{CHATS}/session-2025-12-03T06-35-3d2f9a10.json");
    let home = home([]);
    home.write(".gemini/tmp/shop/.project_root", "/home/dev/code/shop");
    home.write(&path, whole.to_string());
    let plan = repair(&home);
    assert!(plan["notes"][0].as_str().unwrap().contains("it is a single line"), "{plan}");
    let text = String::from_utf8(home.read(&path)).unwrap();
    assert!(text.starts_with("{\n  \"sessionId\""), "{text}");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), whole);
    let cut = text.find("\"extra\"").unwrap();
    home.write(&path, &text[..cut]);
    assert_eq!(ids(&home, "3d2f"), Vec::<String>::new());
    repair(&home);
    assert_eq!(ids(&home, "3d2f"), ["u1"]);
}

#[test]
fn a_file_that_was_put_aside_is_restored() {
    let home = with_log(&[HEAD, &user("u2", "later"), &model("m2", "yes")]);
    let aside = format!("{CHATS}/session-2026-11-15T08-00-3d2f9a10.jsonl.unreadable-1794762003000");
    home.write(&aside, format!("{HEAD}\n{}\n{}\n", user("u1", "earlier"), user("u2", "later")));
    let before = ids(&home, "3d2f");
    let full = |home: &Home| json(home, &["show", "3d2f"])["messages"].as_array().unwrap().len();
    assert_eq!(full(&home), 3);
    repair(&home);
    assert_eq!(ids(&home, "3d2f"), before);
    assert_eq!(full(&home), 3);
    assert!(!home.path().join(&aside).exists());
    // Alone, it gets its old name back.
    let path = home.path().join(format!("{CHATS}/session-2026-11-15T08-00-3d2f9a10.jsonl"));
    fs::rename(&path, home.path().join(&aside)).unwrap();
    repair(&home);
    assert!(path.exists());
}

#[test]
fn without_a_yes_nothing_is_changed() {
    let home = with_log(&[&user("u1", "hello")]);
    let before = tree(&home);
    let refused = home.run(["repair", "3d2f"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    let dry = home.run(["repair", "3d2f", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{dry}");
    assert!(dry.stderr.contains("no header with a session id; a header is added"), "{dry}");
    assert_eq!(tree(&home), before);
}
