//! Tests of rewritten sessions: compacted, converted, trimmed, and rebuilt.

#![expect(clippy::unwrap_used, reason = "test setup must succeed")]

use std::fs;

use recount_testkit::Home;
use serde_json::{Value, json};

use crate::commands::changing::{json, tree};
use crate::{has, home};

const ID: &str = "3d2f9a10-5c1b-4d11-b127-fab536451cda";
const CHATS: &str = ".gemini/tmp/shop/chats";
pub(super) const LOG: &str = ".gemini/tmp/shop/chats/session-2026-11-15T08-00-3d2f9a10.jsonl";

/// Returns a log of several turns and resumes, as 0.61 writes it: each message twice, and the whole list at every resume.
pub(super) fn long_log(turns: usize) -> String {
    let head = json!({"sessionId": ID, "projectHash": "h", "startTime": "2026-11-15T08:00:00.000Z",
        "lastUpdated": "2026-11-15T08:00:00.000Z", "kind": "main"});
    let mut lines = vec![head];
    let mut list: Vec<Value> = Vec::new();
    for turn in 1..=turns {
        let time = format!("2026-11-15T08:{turn:02}:00.000Z");
        let prompt = json!({"id": format!("u{turn}"), "timestamp": time, "type": "user",
            "content": [{"text": format!("prompt {turn}")}]});
        let call = json!({"id": format!("c{turn}"), "name": "read_file", "args": {"file_path": "a"},
            "status": "success", "timestamp": time, "result": [{"functionResponse":
                {"id": format!("c{turn}"), "name": "read_file", "response": {"output": "x".repeat(900)}}}]});
        let mut answer = json!({"id": format!("m{turn}"), "timestamp": time, "type": "gemini",
            "content": "Looking.", "thoughts": [], "model": "gemini-2.5-flash",
            "tokens": {"input": 10, "output": 2, "cached": 0, "thoughts": 0, "tool": 0, "total": 12}});
        let touch = json!({"$set": {"lastUpdated": time}});
        let notice =
            json!({"id": format!("i{turn}"), "timestamp": time, "type": "info", "content": "note"});
        lines.extend([prompt.clone(), touch.clone(), answer.clone(), touch.clone()]);
        answer["toolCalls"] = json!([call]);
        lines.extend([answer.clone(), notice, touch]);
        list.push(prompt);
        list.push(json!({"id": format!("m{turn}"), "timestamp": time, "type": "gemini", "content": "Looking.",
            "toolCalls": [call]}));
        lines.push(json!({"$set": {"sessionId": ID}}));
        lines.push(json!({"$set": {"messages": list, "lastUpdated": time}}));
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).chain([String::new()]).collect();
    lines.join("\n")
}

pub(super) fn with(log: &str) -> Home {
    let home = home([]);
    home.write(".gemini/tmp/shop/.project_root", "/home/dev/code/shop");
    home.write(LOG, log);
    home
}

/// Returns what a view shows, except locations.
fn view(home: &Home, id: &str, view: &str) -> Vec<Value> {
    let mut shown = json(home, &["show", id, "--view", view]);
    let messages = shown["messages"].as_array_mut().unwrap();
    for message in messages.iter_mut() {
        message.as_object_mut().unwrap().remove("where");
    }
    std::mem::take(messages)
}

fn ids(home: &Home, id: &str) -> Vec<String> {
    let ids = view(home, id, "strict").into_iter();
    ids.map(|message| message["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_long_log_shrinks_and_keeps_its_content() {
    let home = with(&long_log(12));
    let before = tree(&home);
    let seen = (view(&home, "3d2f", "strict"), view(&home, "3d2f", "full"));
    let dry = home.run(["compact", "3d2f", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{dry}");
    assert_eq!(tree(&home), before);
    let refused = home.run(["compact", "3d2f"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    let plan = json(&home, &["compact", "3d2f", "--yes"]);
    assert_eq!(plan["schema"], "recount.compact/1");
    has(&plan["files"][0], "path what session before after");
    let bytes = |which: &str| plan["files"][0][which]["bytes"].as_u64().unwrap();
    assert!(bytes("after") * 3 < bytes("before"), "{} -> {}", bytes("before"), bytes("after"));
    assert_eq!((view(&home, "3d2f", "strict"), view(&home, "3d2f", "full")), seen);
    let again = home.run(["compact", "--all", "--yes"]);
    assert!(again.stderr.contains("nothing"), "{again}");
    assert_eq!(home.run(["undo", "--yes"]).code, Some(0));
    assert_eq!(tree(&home), before);
}

#[test]
fn only_what_the_agent_loads_can_be_kept() {
    let home = with(&long_log(3));
    let strict = view(&home, "3d2f", "strict");
    let plan = json(&home, &["compact", "3d2f", "--strict-only", "--yes"]);
    assert!(plan["notes"][0].as_str().unwrap().contains("3 messages"), "{plan}");
    assert_eq!(view(&home, "3d2f", "strict"), strict);
    assert_eq!(view(&home, "3d2f", "full").len(), strict.len());
}

#[test]
fn small_savings_are_left() {
    let home = with(&long_log(12));
    let output = home.run(["compact", "3d2f", "--min-saving", "99%", "--yes"]);
    assert!(output.stderr.contains("nothing to drop"), "{output}");
    let output = home.run(["compact", "3d2f", "--min-saving", "x"]);
    assert_eq!(output.code, Some(2), "{output}");
}

#[test]
fn a_log_becomes_a_document_and_a_document_a_log() {
    let home = with(&long_log(2));
    let before = tree(&home);
    let strict = view(&home, "3d2f", "strict");
    let plan = json(&home, &["convert", "3d2f", "--to", "json", "--yes"]);
    let notes = plan["notes"].to_string();
    assert!(notes.contains("2 messages that the agent no longer loads"), "{notes}");
    assert!(!home.path().join(LOG).exists());
    let text = String::from_utf8(home.read(LOG.trim_end_matches('l'))).unwrap();
    assert!(text.starts_with("{\n  \"sessionId\": \"3d2f9a10") && text.ends_with("\n}"), "{text}");
    assert_eq!(view(&home, "3d2f", "strict"), strict);
    let full = view(&home, "3d2f", "full");
    let back = json(&home, &["convert", "3d2f", "--to", "jsonl", "--yes"]);
    assert_eq!(back["files"].as_array().unwrap().len(), 2);
    assert_eq!(view(&home, "3d2f", "full"), full);
    assert!(
        home.path().join(LOG).exists() && !home.path().join(LOG.trim_end_matches('l')).exists()
    );
    let again = home.run(["convert", "3d2f", "--to", "jsonl", "--yes"]);
    assert!(again.stderr.contains("already"), "{again}");
    for change in [&back, &plan] {
        let receipt = change["receipt"].as_str().unwrap();
        assert_eq!(home.run(["undo", receipt, "--yes"]).code, Some(0));
    }
    assert_eq!(tree(&home), before);
}

#[test]
fn what_the_agent_cannot_load_is_not_converted() {
    let home = with("{\"id\":\"u1\",\"type\":\"user\",\"content\":\"hello\"}\n");
    let output = home.run(["convert", "3d2f", "--to", "json", "--yes"]);
    assert_eq!(output.code, Some(3), "{output}");
    assert!(output.stderr.contains("recount repair"), "{output}");
}

#[test]
fn the_old_document_beside_a_log_goes() {
    let home = home(["gemini/lines/migration"]);
    let before = tree(&home);
    let listed = json(&home, &["list", "--all"]);
    let twin = listed["sessions"].as_array().unwrap().iter().find(|session| {
        session["files"].as_array().unwrap().iter().any(|file| file["role"] == "twin")
    });
    let id = twin.unwrap()["id"].as_str().unwrap().to_owned();
    let full = view(&home, &id, "full");
    let plan = json(&home, &["convert", &id, "--to", "jsonl", "--yes"]);
    assert_eq!(plan["files"][0]["what"], "twin");
    assert!(plan["files"][0]["after"].is_null());
    assert_eq!(view(&home, &id, "full").len(), full.len());
    assert_eq!(home.run(["undo", "--yes"]).code, Some(0));
    assert_eq!(tree(&home), before);
}

#[test]
fn turns_are_listed_and_dropped() {
    let home = with(&long_log(4));
    let before = tree(&home);
    insta::assert_snapshot!(home.run(["trim", "3d2f"]), @r"
    TURN  MESSAGES    SIZE  PROMPT
       1         2  1.3 KB  prompt 1
       2         2  1.3 KB  prompt 2
       3         2  1.3 KB  prompt 3
       4         2  1.3 KB  prompt 4
    [exit 0]
    ");
    let full = view(&home, "3d2f", "full").len();
    let plan = json(&home, &["trim", "3d2f", "--drop", "2..3", "--yes"]);
    assert!(plan["notes"][0].as_str().unwrap().contains("stay in the file"), "{plan}");
    assert_eq!(ids(&home, "3d2f"), ["u1", "m1", "u4", "m4"]);
    assert_eq!(view(&home, "3d2f", "full").len(), full);
    assert_eq!(home.run(["undo", "--yes"]).code, Some(0));
    assert_eq!(tree(&home), before);
    for (arguments, left) in [
        (vec!["--keep-last", "1"], vec!["u4", "m4"]),
        (vec!["--from", "2", "--to", "3"], vec!["u2", "m2", "u3", "m3"]),
        (vec!["--drop", "m1", "--rewrite"], vec!["u2", "m2", "u3", "m3", "u4", "m4"]),
    ] {
        let output = home.run(["trim", "3d2f", "--yes"].iter().chain(&arguments));
        assert_eq!(output.code, Some(0), "{output}");
        assert_eq!(ids(&home, "3d2f"), left, "{arguments:?}");
        assert_eq!(home.run(["undo", "--yes"]).code, Some(0));
    }
    assert_eq!(tree(&home), before);
    for (arguments, code) in [
        (vec!["--drop", "1..4"], 3),
        (vec!["--drop", "9"], 1),
        (vec!["--drop", "..2"], 2),
        (vec!["--keep-last", "9"], 0),
        (vec!["--keep-last", "1"], 3),
    ] {
        let output = home.run(["trim", "3d2f"].iter().chain(&arguments));
        assert_eq!(output.code, Some(code), "{arguments:?}: {output}");
    }
    assert_eq!(tree(&home), before);
}

#[test]
fn a_document_is_trimmed_by_rewriting_it() {
    let home = with(&long_log(3));
    assert_eq!(home.run(["convert", "3d2f", "--to", "json", "--yes"]).code, Some(0));
    assert_eq!(home.run(["trim", "3d2f", "--drop", "1", "--yes"]).code, Some(0));
    assert_eq!(ids(&home, "3d2f"), ["u2", "m2", "u3", "m3"]);
}

/// Returns a log of prompts.
fn logs(prompts: &[&str]) -> String {
    let entry = |(number, prompt): (usize, &&str)| {
        json!({"sessionId": ID, "messageId": number, "type": "user", "message": prompt,
            "timestamp": format!("2026-11-15T08:0{number}:00.000Z")})
    };
    Value::Array(prompts.iter().enumerate().map(entry).collect()).to_string()
}

fn lost(prompts: &[&str]) -> Home {
    let home = home([]);
    home.write(".gemini/tmp/shop/.project_root", "/home/dev/code/shop");
    home.write(".gemini/tmp/shop/logs.json", logs(prompts));
    home
}

#[test]
fn prompts_alone_make_a_session_again() {
    let home = lost(&["Raise the tax", "/stats", "and the tests?"]);
    // The folder of older releases has the same log, and is no longer used.
    let hash = "52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee";
    home.write(&format!(".gemini/tmp/{hash}/logs.json"), home.read(".gemini/tmp/shop/logs.json"));
    home.write(&format!(".gemini/tmp/shop/tool-outputs/session-{ID}/npm_1.txt"), "all green");
    let before = tree(&home);
    insta::assert_snapshot!(home.run(["recover", "--list"]), @r"
    SESSION   PROJECT              FIRST PROMPT   LEFT
    3d2f9a10  /home/dev/code/shop  Raise the tax  3 prompts, 1 output
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["recover", "3d2f", "--dry-run"]), @"
    3d2f9a10  recovered: Raise the tax  /home/dev/code/shop
    CHANGE  WHAT     BEFORE  AFTER  FILE
    new     session       -  973 B  ~/.gemini/tmp/shop/chats/session-2026-11-15T08-00-3d2f9a10.jsonl
    ------- stderr -------
    note: 2 prompts from the log of prompts
    note: 1 output from separate files, as notices
    note: nothing was changed (--dry-run)
    [exit 0]
    ");
    assert_eq!(tree(&home), before);
    let plan = json(&home, &["recover", "3d2f", "--yes"]);
    assert_eq!(plan["sessions"][0]["id"], ID);
    let shown = view(&home, "3d2f", "strict");
    let kinds: Vec<&str> = shown.iter().map(|m| m["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["notice", "prompt", "prompt", "notice"]);
    let listed = json(&home, &["list", "--all"]);
    assert_eq!(listed["sessions"][0]["title"], "recovered: Raise the tax");
    assert_eq!(listed["sessions"][0]["agent_index"], 1);
    assert_eq!(home.run(["recover", "--list"]).code, Some(1));
    // The command's former name.
    assert_eq!(home.run(["resurrect", "--list"]).code, Some(1));
    assert_eq!(home.run(["undo", "--yes"]).code, Some(0));
    assert!(!home.path().join(LOG).exists());
}

#[test]
fn telemetry_holds_the_whole_conversation() {
    let home = lost(&["What does an apple cost?", "And a pear?"]);
    let contents = json!([
        {"role": "user", "parts": [{"text": "<session_context>\nhere\n</session_context>"}]},
        {"role": "user", "parts": [{"text": "What does an apple cost?"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "read_file", "args": {"file_path": "p"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "3"}}}]}]);
    let reply = json!([{"candidates": [{"content": {"role": "model", "parts": [{"text": "An apple "}]}}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "costs 3."}]}}]}]);
    let event = |name: &str, key: &str, text: &Value| {
        let event = json!({"attributes": {"session.id": ID, "event.name": name, "role": "main", key: text.to_string()}});
        serde_json::to_string_pretty(&event).unwrap() + "\n"
    };
    let other = json!({"resource": {}, "scopeMetrics": []}).to_string();
    let text = event("gemini_cli.api_request", "request_text", &contents)
        + &other
        + &event("gemini_cli.api_response", "response_text", &reply);
    home.write("telemetry.log", text);
    let file = home.at("telemetry.log");
    let output = home.run(["recover", "3d2f", "--from", &file, "--yes"]);
    assert_eq!(output.code, Some(0), "{output}");
    let shown = view(&home, "3d2f", "strict");
    let texts: Vec<&str> = shown.iter().skip(1).map(|m| m["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["What does an apple cost?", "", "", "An apple costs 3.", "And a pear?"]);
    // Again: its id is already in use.
    let again = json(&home, &["recover", ID, "--from", &file, "--yes"]);
    assert_ne!(again["sessions"][0]["id"], ID);
}

#[test]
fn a_saved_chat_counts_if_it_begins_like_the_session() {
    let home = lost(&["hello", "more"]);
    let chat = |first: &str| json!([{"role": "user", "parts": [{"text": first}]}, {"role": "model", "parts": [{"text": "hi"}]}]);
    home.write(".gemini/tmp/shop/checkpoint-mine.json", chat("hello").to_string());
    home.write(".gemini/tmp/shop/checkpoint-other.json", chat("another").to_string());
    let activity = json!({"type": "network", "payload": {"id": "a", "body": json!({"contents": chat("hello")}).to_string()}});
    let reply = json!({"type": "network", "payload": {"id": "a", "response": {"body":
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"yes\"}]}}]}\n\n"}}});
    let plan = json(&home, &["recover", "3d2f", "--dry-run"]);
    assert!(plan["notes"][0].as_str().unwrap().contains("2 messages from saved chat"), "{plan}");
    home.write(
        &format!(".gemini/tmp/shop/logs/session-{ID}.jsonl"),
        format!("{activity}\n{reply}\n"),
    );
    let plan = json(&home, &["recover", "3d2f", "--dry-run"]);
    assert!(plan["notes"][0].as_str().unwrap().contains("3 messages from activity log"), "{plan}");
    // A saved copy is better still.
    home.write("kept.jsonl", long_log(2));
    let plan = json(&home, &["recover", "3d2f", "--from", &home.at("kept.jsonl"), "--yes"]);
    assert!(plan["notes"][0].as_str().unwrap().contains("from its own files"), "{plan}");
    assert!(ids(&home, "3d2f").contains(&"m2".to_owned()));
}

#[test]
fn an_unknown_session_cannot_be_rebuilt() {
    let home = lost(&["hello"]);
    let output = home.run(["recover", "ffff"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(fs::read_dir(home.path().join(CHATS)).is_err());
}
