//! `recount export --format AGENT`

#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

use std::path::Path;

use recount_testkit::Home;
use serde_json::{Value, json};

use crate::home;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the names of all files in a folder of a home and below.
fn names(home: &Home, folder: &str) -> Vec<String> {
    fn gather(path: &Path, all: &mut Vec<String>) {
        for entry in path.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                gather(&path, all);
            } else {
                all.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    let mut all = Vec::new();
    gather(&home.path().join(folder), &mut all);
    all.sort();
    all
}

#[test]
fn a_session_in_two_files_is_one_log() {
    let home = home(["gemini/damaged/split-by-compress"]);
    insta::assert_snapshot!(home.run(["export", "178e5879", "--format", "gemini"]), @r#"
    {"sessionId":"178e5879-52e6-5ce4-9f0d-afcde21c5e87","projectHash":"52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee","startTime":"2026-11-15T17:00:00.000Z","lastUpdated":"2026-11-15T17:01:08.000Z"}
    {"id":"p1","timestamp":"2026-11-15T17:00:01.000Z","type":"user","content":"What does cart.js do?"}
    {"id":"a1","timestamp":"2026-11-15T17:00:03.000Z","type":"gemini","content":"It adds up prices.","thoughts":[],"tokens":{"input":100,"output":10,"cached":0,"thoughts":0,"tool":0,"total":110},"model":"gemini-2.5-pro"}
    {"id":"p2","timestamp":"2026-11-15T17:00:10.000Z","type":"user","content":"And tax.js?"}
    {"id":"a2","timestamp":"2026-11-15T17:00:12.000Z","type":"gemini","content":"It adds the tax.","thoughts":[],"tokens":{"input":100,"output":10,"cached":0,"thoughts":0,"tool":0,"total":110},"model":"gemini-2.5-pro"}
    {"id":"i1","timestamp":"2026-11-15T17:00:20.000Z","type":"info","content":""}
    {"id":"p3","timestamp":"2026-11-15T17:01:05.000Z","type":"user","content":"Now write a test."}
    {"id":"a3","timestamp":"2026-11-15T17:01:08.000Z","type":"gemini","content":"Written.","thoughts":[],"tokens":{"input":100,"output":10,"cached":0,"thoughts":0,"tool":0,"total":110},"model":"gemini-2.5-pro"}
    [exit 0]
    "#);
    let strict = home.run(["export", "178e5879", "--format", "gemini", "--view", "strict"]);
    let ids: Vec<Value> =
        lines(&strict.stdout).iter().skip(1).map(|line| line["id"].clone()).collect();
    assert_eq!(ids, ["p3", "a3"], "what the agent itself would load");
}

#[test]
fn undone_messages_are_not_exported() {
    let home = home(["gemini/checkpoints/rewind"]);
    let exported = home.run(["export", "26b31e75", "--format", "gemini"]).stdout;
    assert!(
        exported.contains("Question four") && !exported.contains("Question three"),
        "{exported}"
    );
    assert!(!exported.contains("$rewindTo") && !exported.contains("$set"), "{exported}");
    insta::assert_snapshot!(home.run(["export", "26b31e75", "--format", "gemini", "--view", "full"]), @r"
    ------- stderr -------
    error: --view full is not for gemini: what was undone would be said again
    hint: leave out --view, or choose another --format
    [exit 2]
    ");
    for args in [["--minimal", "--thoughts"], ["--split", "5"], ["--table", "requests"]] {
        let args = args.iter().take(if args[0] == "--minimal" { 1 } else { 2 });
        let all = ["export", "26b31e75", "--format", "gemini", "-o", "x.jsonl"];
        let refused = home.run(all.iter().chain(args));
        assert_eq!(refused.code, Some(2), "{refused}");
        assert!(refused.stderr.contains("not for gemini"), "{refused}");
    }
}

#[test]
fn unknown_fields_are_kept() {
    let home = home([]);
    let head = json!({"sessionId": "feedbeef-0000-4000-8000-000000000002", "projectHash": "h", "kind": "main",
        "startTime": "2026-11-15T08:00:00.000Z", "lastUpdated": "2026-11-15T08:00:09.000Z", "mood": ["good"]});
    let message = r#"{"id":"m1","timestamp":"2026-11-15T08:00:01.000Z","type":"user","content":[{"text":"hi"}],"weather":{"is": "wet"}}"#;
    let text = format!("{head}\n{message}\n{{\"of\":\"the future\"}}\n{{broken\n{message}\n");
    home.write(".gemini/tmp/shop/chats/session-2026-11-15T08-00-feedbeef.jsonl", text);
    let exported = home.run(["export", "feedbeef", "--format", "gemini", "-v"]);
    assert_eq!(exported.stdout.lines().nth(1), Some(message), "byte for byte, and once");
    assert_eq!(exported.stdout.lines().count(), 2);
    assert_eq!(lines(&exported.stdout)[0]["mood"], json!(["good"]));
    assert!(exported.stderr.contains("record not understood"), "{}", exported.stderr);
    assert!(exported.stderr.contains("line is not JSON"), "{}", exported.stderr);
}

#[test]
fn a_conversation_that_the_agent_buried_is_restored() {
    let home = home([]);
    let head = r#"{"sessionId":"feedbeef-0000-4000-8000-000000000003","projectHash":"h","startTime":"2026-11-15T08:00:00.000Z","lastUpdated":"2026-11-15T08:00:09.000Z","kind":"main"}"#;
    let talk = r#"{"id":"p","timestamp":"2026-11-15T08:00:01.000Z","type":"user","content":[{"text":"hi"}]}
{"id":"a","timestamp":"2026-11-15T08:00:02.000Z","type":"gemini","content":"ho"}"#;
    let context = r#"{"$set":{"messages":[{"id":"d04923d38bb0f6017037e74183378ef4","type":"user","content":[{"text":"<session_context>"}]}]}}"#;
    home.write(
        ".gemini/tmp/shop/chats/session-2026-11-15T08-00-feedbeef.jsonl",
        format!("{head}\n{talk}\n{head}\n{context}\n"),
    );
    let exported = home.run(["export", "feedbeef", "--format", "gemini", "-v"]);
    let ids: Vec<Value> =
        lines(&exported.stdout).iter().skip(1).map(|line| line["id"].clone()).collect();
    assert_eq!(ids, ["p", "a", "d04923d38bb0f6017037e74183378ef4"]);
    assert!(
        exported.stderr.contains("the agent itself would load nothing of it"),
        "{}",
        exported.stderr
    );
}

#[test]
fn a_file_that_ends_in_jsonl_is_ours_unless_asked_otherwise() {
    let home = home(["gemini/lines/plain"]);
    home.run(["export", "d22642e2", "-o", "a.jsonl"]);
    let ours = String::from_utf8(home.read("a.jsonl")).unwrap();
    assert_eq!(lines(&ours)[0]["schema"], "recount.session/1");
    let done = home.run(["export", "d22642e2", "--format", "gemini", "-o", "b.jsonl"]);
    assert!(done.stderr.contains("1 session written (1 file"), "{done}");
    let own = String::from_utf8(home.read("b.jsonl")).unwrap();
    assert!(lines(&own)[0]["sessionId"].as_str().unwrap().starts_with("d22642e2"));
}

#[test]
fn both_forms_share_a_folder() {
    let home = home(["gemini/lines/migration", "gemini/lines/subagent"]);
    let run = |format| home.run(["export", "--all", "--format", format, "-o", "out/"]);
    assert!(run("gemini").stderr.contains("written"));
    let own = names(&home, "out");
    assert!(own.iter().any(|name| name == "session-2026-11-15T18-30-83bb9fd9.jsonl"), "{own:?}");
    assert!(own.iter().any(|name| name == "agent-e76q7e.jsonl"), "{own:?}");
    assert!(run("jsonl").stderr.contains("written"));
    let both = names(&home, "out");
    // Each session twice; the record and the lock once.
    assert_eq!(both.len(), 2 * own.len() - 2, "{both:?}");
    assert!(both.iter().all(|name| !name.contains("-2.jsonl")), "{both:?}");
    for format in ["gemini", "jsonl"] {
        assert!(run(format).stderr.contains("nothing to write"), "{format}");
    }
    let refused =
        home.run(["export", "--all", "--format", "gemini", "-o", ".gemini/tmp/shop/chats/"]);
    assert_eq!(refused.code, Some(3), "{refused}");
}

#[test]
fn a_saved_chat_becomes_a_session() {
    let home = home(["gemini/strings/saved-chats"]);
    let folder = "52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee";
    let chat = home.at(&format!(".gemini/tmp/{folder}/checkpoint-before-change.json"));
    let exported = home.run(["export", &chat, "--format", "gemini"]);
    let all = lines(&exported.stdout);
    assert_eq!(all[0]["sessionId"].as_str().unwrap().len(), 36, "{exported}");
    assert_eq!(all[0]["projectHash"], folder);
    assert_eq!(all[1]["content"], json!([{"text": "What does an apple cost?"}]), "{exported}");
    assert_eq!(all[1]["type"], "user");
}

#[test]
fn secrets_are_taken_out_and_the_rest_still_loads() {
    let home = home([]);
    let key = format!("ghp_{}", "q8W2e4R6t1Y3u5I7o9P0aS2dF4gH6jK8lZ1x");
    let head = json!({"sessionId": "feedbeef-0000-4000-8000-000000000004", "projectHash": "0123abcd", "kind": "main",
        "startTime": "2026-11-15T08:00:00.000Z", "lastUpdated": "2026-11-15T08:00:09.000Z", "summary": format!("Use {key}"),
        "note": {"by": "ada.lovelace@analytical-engines.org"}});
    let prompt = json!({"id": "p1", "timestamp": "2026-11-15T08:00:01.000Z", "type": "user", "content":
        [{"text": format!("log in with {key}")}, {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}]});
    let answer = json!({"id": "a1", "timestamp": "2026-11-15T08:00:02.000Z", "type": "gemini", "model": "gemini-2.5-pro",
        "content": [{"functionCall": {"id": "c1", "name": "login", "args": {"password": "s3cr3tP4ss"}},
        "thoughtSignature": "Q2xlYXJseSBub3QgYSBzZWNyZXQgYnV0IGxvbmcgZW5vdWdoIQ"}],
        "toolCalls": [{"id": "c1", "name": "login", "args": {"password": "s3cr3tP4ss"}, "status": "success",
        "timestamp": "2026-11-15T08:00:03.000Z", "result": [{"functionResponse": {"id": "c1", "name": "login",
        "response": {"output": format!("token {key}")}}}]}]});
    let text = format!("{head}\n{prompt}\n{answer}\n");
    home.write(".gemini/tmp/shop/chats/session-2026-11-15T08-00-feedbeef.jsonl", text);
    let clean =
        home.run(["export", "feedbeef", "--format", "gemini", "--redact", "-o", "clean.jsonl"]);
    let text = String::from_utf8(home.read("clean.jsonl")).unwrap();
    for secret in [key.as_str(), "ada.lovelace", "s3cr3tP4ss", "0123abcd"] {
        assert!(!text.contains(secret), "{secret}: {text}");
        assert!(!clean.stderr.contains(secret), "{clean}");
    }
    assert!(clean.stderr.contains("1 media file not redacted"), "{clean}");
    let all = lines(&text);
    assert_eq!(all.len(), 3);
    assert_eq!(all[1]["content"][1], prompt["content"][1], "media stay");
    let (old, new) = (&answer["content"][0], &all[2]["content"][0]);
    assert_eq!(old["thoughtSignature"], new["thoughtSignature"]);
    for (old, new) in [
        (&answer["toolCalls"][0], &all[2]["toolCalls"][0]),
        (&old["functionCall"], &new["functionCall"]),
    ] {
        for field in ["id", "name", "status", "timestamp"] {
            assert_eq!(old[field], new[field], "{field}");
        }
    }
    let shown = home.run(["show", "clean.jsonl", "--json", "--view", "strict"]);
    let document: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(document["messages"].as_array().unwrap().len(), 2);
    let check = home.run(["export", "feedbeef", "--format", "gemini", "--redact=check"]);
    assert_eq!(check.code, Some(3), "{check}");
}
