//! Tests of shown and exported content: every version, no secret, nothing active.

#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

use recount_testkit::Home;
use serde_json::{Value, json};

use crate::home;

#[path = "../../../redact/tests/text/contexts.rs"]
mod contexts;
#[path = "../../../redact/tests/text/table.rs"]
mod table;

const ID: &str = "feedbeef-0000-4000-8000-000000000001";

fn head() -> Value {
    json!({"sessionId": ID, "projectHash": "0".repeat(64), "startTime": "2026-11-15T08:00:00.000Z",
        "lastUpdated": "2026-11-15T08:00:09.000Z", "kind": "main"})
}

fn user(id: &str, text: &str) -> Value {
    json!({"id": id, "timestamp": "2026-11-15T08:00:01.000Z", "type": "user", "content": text})
}

fn model(id: &str, text: &str) -> Value {
    json!({"id": id, "timestamp": "2026-11-15T08:00:02.000Z", "type": "gemini", "model": "gemini-2.5-pro", "content": text})
}

fn call(id: &str, args: &Value, output: &str) -> Value {
    json!({"id": id, "name": "run_shell_command", "args": args, "status": "success",
        "timestamp": "2026-11-15T08:00:03.000Z", "result": [{"functionResponse":
        {"id": id, "name": "run_shell_command", "response": {"output": output}}}]})
}

fn with(records: &[Value]) -> Home {
    let home = home([] as [&str; 0]);
    let mut text = format!("{}\n", head());
    for record in records {
        text.push_str(&record.to_string());
        text.push('\n');
    }
    home.write(".gemini/tmp/shop/chats/session-2026-11-15T08-00-feedbeef.jsonl", text);
    home
}

fn messages(home: &Home, view: &str) -> Vec<Value> {
    let shown = home.run(["show", "feedbeef", "--json", "--view", view]);
    let document: Value = serde_json::from_str(&shown.stdout).unwrap();
    document["messages"].as_array().unwrap().clone()
}

#[test]
fn the_full_view_shows_the_text_that_the_agent_shows() {
    let mut rich = model("m", "the first and longer answer, which was replaced");
    rich["toolCalls"] = json!([call("c1", &json!({"command": "ls"}), "Cargo.toml")]);
    let home = with(&[user("u", "hello"), rich, model("m", "short zebra")]);
    let (strict, full) = (messages(&home, "strict"), messages(&home, "full"));
    assert_eq!(strict[1]["text"], "short zebra");
    assert_eq!(full[1]["text"], "short zebra");
    // What only the earlier record has is not lost.
    assert_eq!(full[1]["tool_calls"][0]["output"], "Cargo.toml");
    assert!(home.run(["search", "zebra"]).stdout.contains("zebra"));
    assert!(home.run(["export", "feedbeef"]).stdout.contains("short zebra"));
}

#[test]
fn all_that_the_agent_shows_is_in_the_full_view() {
    let mut dice = table::Dice(17);
    for round in 0..60 {
        let mut records = Vec::new();
        let mut written: Vec<Value> = Vec::new();
        for number in 0..12 {
            let id = format!("m{}", dice.roll(4));
            let text = format!("{round}-{number} {}", "word ".repeat(dice.roll(9)));
            let mut record = if dice.roll(2) == 0 { user(&id, &text) } else { model(&id, &text) };
            if dice.roll(3) == 0 {
                let output = format!("output {round}-{number}");
                record["toolCalls"] =
                    json!([call(&format!("c{}", dice.roll(2)), &json!({}), &output)]);
            }
            match dice.roll(6) {
                0 => records.push(json!({"$rewindTo": id})),
                1 => {
                    let from = dice.roll(written.len().max(1)).min(written.len());
                    records.push(json!({"$set": {"messages": &written[from..]}}));
                }
                _ => {
                    records.push(record.clone());
                    written.push(record);
                }
            }
        }
        // Every third is a document, where one id may occur twice.
        let home = if round % 3 == 0 {
            let home = home([] as [&str; 0]);
            let mut document = head();
            document["messages"] = json!(written);
            home.write(
                ".gemini/tmp/shop/chats/session-2026-11-15T08-00-feedbeef.json",
                document.to_string(),
            );
            home
        } else {
            with(&records)
        };
        let shown = home.run(["show", "feedbeef", "--json", "--view", "full"]);
        if shown.code != Some(0) {
            continue;
        }
        let full = messages(&home, "full");
        let texts: Vec<&str> = full.iter().map(|one| one["text"].as_str().unwrap()).collect();
        let all = serde_json::to_string(&full).unwrap();
        for one in messages(&home, "strict") {
            let text = one["text"].as_str().unwrap();
            assert!(texts.contains(&text), "round {round}: {text:?} is not in {texts:?}");
            for call in one["tool_calls"].as_array().unwrap() {
                if let Some(output) = call["output"].as_str() {
                    assert!(all.contains(output), "round {round}: {output:?}");
                }
            }
        }
    }
}

/// Returns a session with one secret per message, in every text field.
fn planted(kinds: &[table::Kind]) -> Home {
    let mut records = Vec::new();
    for (number, (_, around, secret)) in kinds.iter().enumerate() {
        let text = around.replace("{}", secret);
        let id = format!("m{number}");
        let record = match number % 5 {
            0 => user(&id, &text),
            1 => model(&id, &text),
            2 => {
                let mut record = model(&id, "ran it");
                record["toolCalls"] = json!([call(&id, &json!({"command": text}), "done")]);
                record
            }
            3 => {
                let mut record = model(&id, "ran it");
                record["toolCalls"] = json!([call(&id, &json!({}), &text)]);
                record
            }
            _ => {
                let mut record = model(&id, "thought of it");
                record["thoughts"] = json!([{"subject": "Note", "description": text, "timestamp": "2026-11-15T08:00:02.000Z"}]);
                record
            }
        };
        records.push(record);
    }
    with(&records)
}

#[test]
#[expect(clippy::print_stdout, reason = "the share is a figure that people ask for")]
fn secrets_of_every_kind_are_gone_in_every_format() {
    let mut kinds = table::kinds(73);
    kinds.extend(contexts::contexts(&mut table::Dice(73)));
    assert!(kinds.len() >= 200);
    let home = planted(&kinds);
    for format in ["md", "html", "txt", "json", "jsonl", "gemini"] {
        let args = [
            "export",
            "feedbeef",
            "--format",
            format,
            "--level",
            "trace",
            "--thoughts",
            "--redact",
        ];
        let clean = home.run(args);
        assert_eq!(clean.code, Some(0), "{}", clean.stderr);
        let left: Vec<&str> = kinds
            .iter()
            .filter(|(_, _, secret)| {
                let escaped =
                    secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                table::is_left(&clean.stdout, secret)
                    || (escaped != *secret && table::is_left(&clean.stdout, &escaped))
            })
            .map(|(name, ..)| *name)
            .collect();
        println!("{format}: {} of {} kinds found", kinds.len() - left.len(), kinds.len());
        assert!(left.len() * 100 <= kinds.len() * 3, "{format}: {left:?}");
    }
}

#[test]
fn secrets_in_keys_models_colors_and_names_of_files_are_gone() {
    let key = format!("ghp_{}", "q8W2e4R6t1Y3u5I7o9P0aS2dF4gH6jK8lZ1x");
    let (one, other) = key.split_at(17);
    let mut answer = model("m", "done");
    answer["model"] = json!(format!("gemini-{key}"));
    let mut shell = call("c1", &json!({key.clone(): {"nested": {key.clone(): 1}}}), "ok");
    shell["resultDisplay"] = json!([[{"text": one, "bold": true, "fg": "#ff0000"}, {"text": other, "bold": false}], [{"text": "end"}]]);
    answer["toolCalls"] = json!([shell]);
    let mut parts = user("u2", "");
    parts["content"] = json!([{"text": one}, {"text": other}]);
    let home = with(&[user("u", &format!("use {key}")), answer, parts]);
    for format in ["md", "html", "txt", "json", "jsonl", "gemini", "csv"] {
        let clean =
            home.run(["export", "feedbeef", "--format", format, "--level", "trace", "--redact"]);
        assert_eq!(clean.code, Some(0), "{format}: {}", clean.stderr);
        for part in [&key[4..20], &key[20..36]] {
            assert!(!clean.stdout.contains(part), "{format} holds {part}: {}", clean.stdout);
        }
        if format == "gemini" {
            for line in clean.stdout.lines() {
                assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
            }
        }
    }
    let written = home.run(["export", "feedbeef", "--format", "md", "--redact", "-o", "out/"]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    assert!(!written.stdout.contains(&key[4..20]) && !written.stderr.contains(&key[4..20]));
}

/// Secrets in the keys, names and split texts of other agents' records.
#[test]
fn secrets_in_keys_and_names_are_gone_whatever_the_agent() {
    let key = format!("ghp_{}", "q8W2e4R6t1Y3u5I7o9P0aS2dF4gH6jK8lZ1x");
    let (one, other) = key.split_at(17);
    let home = home([]);
    let row = |uuid: &str, parent: Value, kind: &str, more: Value| {
        let mut row = json!({"parentUuid": parent, "isSidechain": false, "type": kind, "uuid": uuid, "cwd": "/home/dev/code/shop",
            "sessionId": "feedbeef-0000-4000-8000-000000000001", "version": "2.1.112", "timestamp": "2026-11-15T18:00:00.000Z"});
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    };
    let rows = [
        row(
            "a",
            Value::Null,
            "user",
            json!({"message": {"role": "user", "content": [{"type": "text", "text": one}, {"type": "text", "text": other}]}}),
        ),
        row(
            "b",
            json!("a"),
            "assistant",
            json!({"requestId": "r", "message": {"id": "msg_1", "type": "message", "role": "assistant",
            "model": format!("claude-{key}"), "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1},
            "content": [{"type": "tool_use", "id": "toolu_1", "name": format!("mcp__{key}"), "input": {key.clone(): {"nested": {key.clone(): 1}}}}]}}),
        ),
        row(
            "c",
            json!("b"),
            "user",
            json!({"toolUseResult": {key.clone(): "ok"}, "message": {"role": "user", "content":
            [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok", "is_error": false}]}}),
        ),
    ];
    let text: String = rows.iter().flat_map(|row| [row.to_string(), "\n".to_owned()]).collect();
    home.write(
        ".claude/projects/-home-dev-code-shop/feedbeef-0000-4000-8000-000000000001.jsonl",
        &text,
    );
    let id = "01a1e065-0c52-71a2-99af-55a094a8d3f7";
    let line = |kind: &str, payload: Value| json!({"timestamp": "2026-11-15T18:08:01.000Z", "type": kind, "payload": payload});
    let lines = [
        line(
            "session_meta",
            json!({"id": id, "timestamp": "2026-11-15T18:08:01.000Z", "cwd": "/home/dev/code/shop", "originator": "codex_cli_rs",
            "cli_version": "0.104.0", "source": "cli"}),
        ),
        line(
            "response_item",
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": one}, {"type": "input_text", "text": other}]}),
        ),
        line(
            "event_msg",
            json!({"type": "user_message", "message": format!("use {key}"), "images": []}),
        ),
        line(
            "response_item",
            json!({"type": "function_call", "name": format!("mcp__{key}"), "arguments": format!("{{\"{key}\":1}}"), "call_id": "call_1"}),
        ),
        line(
            "event_msg",
            json!({"type": "patch_apply_end", "call_id": "call_1", "success": true, "changes": {format!("/tmp/{key}"): {"type": "add", "content": ""}}}),
        ),
        line(
            "response_item",
            json!({"type": "function_call_output", "call_id": "call_1", "output": "ok"}),
        ),
    ];
    let text: String = lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
    home.write(
        &format!(".codex/sessions/2026/11/15/rollout-2026-11-15T18-08-01-{id}.jsonl"),
        &text,
    );
    for (session, format) in [("feedbeef", "claude"), (id, "codex")] {
        let clean =
            home.run(["export", session, "--format", format, "--level", "trace", "--redact"]);
        assert_eq!(clean.code, Some(0), "{format}: {}", clean.stderr);
        for part in [&key[4..16], &key[20..36]] {
            assert!(!clean.stdout.contains(part), "{format} holds {part}: {}", clean.stdout);
        }
        assert!(clean.stdout.lines().all(|line| line.starts_with('{')), "{}", clean.stdout);
    }
}

#[test]
fn findings_are_listed_by_number() {
    let records: Vec<Value> =
        (1..=11).map(|number| user(&format!("m{number}"), "password=hunter2water")).collect();
    let found = with(&records).run(["export", "feedbeef", "--redact=check"]);
    let mut numbers: Vec<usize> = found
        .stdout
        .lines()
        .filter_map(|line| line.split("message ").nth(1)?.split(':').next()?.parse().ok())
        .collect();
    // The typed and the sent text are two findings.
    numbers.dedup();
    assert_eq!(numbers, (1..=11).collect::<Vec<_>>());
}

#[test]
fn links_and_directions_are_inert_unless_they_are_wanted() {
    let home = with(&[
        user("u", "hi"),
        model(
            "m",
            "See [a](javascript:alert(1)) and ![b](https://evil.example/p.png), not \u{202E}gnp.exe",
        ),
    ]);
    let page = home.run(["export", "feedbeef"]).stdout;
    assert!(page.contains("[a]\\(javascript:alert(1))") && page.contains("\\![b]("), "{page}");
    let kept = home.run(["export", "feedbeef", "--links", "keep"]).stdout;
    assert!(kept.contains("[a](javascript:alert(1))") && kept.contains(" ![b]("), "{kept}");
    for format in ["md", "txt", "html"] {
        let page = home.run(["export", "feedbeef", "--format", format]).stdout;
        assert!(!page.contains('\u{202E}') && page.contains("U+202E"), "{format}: {page}");
    }
}

#[test]
fn a_file_of_an_unknown_kind_is_not_written() {
    let home = with(&[user("u", "hi"), model("m", "yes")]);
    let refused = home.run(["export", "feedbeef", "-o", "x.pdf"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains(".pdf is not an export format"), "{}", refused.stderr);
    assert!(!home.path().join("x.pdf").exists());
    assert_eq!(home.run(["export", "feedbeef", "-o", "x.pdf", "--format", "md"]).code, Some(0));
}

#[test]
fn json_is_whole_when_a_statement_fails_midway() {
    let home = with(&[user("u", "hi"), model("m", "yes")]);
    let failed = home.run([
        "sql",
        "--json",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3) \
         SELECT CASE WHEN x < 3 THEN x ELSE json('not json') END FROM n",
    ]);
    assert_eq!(failed.code, Some(2), "{}", failed.stdout);
    if !failed.stdout.is_empty() {
        let document: Value = serde_json::from_str(&failed.stdout).unwrap();
        assert!(document["error"].is_string(), "{}", failed.stdout);
    }
}

#[test]
fn arguments_that_are_too_deep_are_text() {
    let deep = format!("{}{}", "[".repeat(3000), "]".repeat(3000));
    let mut record = model("m", "ran").to_string();
    record.pop();
    record.push_str(r#","toolCalls":[{"id":"c","name":"x","args":{"a":"#);
    record.push_str(&deep);
    record.push_str(r#"},"status":"success"}]}"#);
    let home = home([] as [&str; 0]);
    let text = format!("{}\n{}\n{record}\n", head(), user("u", "hi"));
    home.write(".gemini/tmp/shop/chats/session-2026-11-15T08-00-feedbeef.jsonl", text);
    let shown = messages(&home, "full");
    assert!(shown[1]["tool_calls"][0]["args"].is_string());
}

#[test]
fn prompts_of_sub_agents_are_not_typed_by_anybody() {
    let home = with(&[user("u", "hi"), model("m", "yes")]);
    let mut agent = head();
    agent["sessionId"] = json!("feedbeef-0000-4000-8000-0000000000aa");
    agent["kind"] = json!("subagent");
    let text = format!("{agent}\n{}\n{}\n", user("au", "investigate"), model("am", "found"));
    home.write(&format!(".gemini/tmp/shop/chats/{ID}/sub.jsonl"), text);
    let stats = home.run(["stats", "--all", "--by", "day", "--json"]);
    let report: Value = serde_json::from_str(&stats.stdout).unwrap();
    assert_eq!(report["total"]["prompts"], 1, "{}", stats.stdout);
}

#[test]
fn a_report_can_come_from_standard_input() {
    use std::io::Write as _;
    use std::process::Stdio;
    let home = with(&[user("u", "hi"), model("m", "yes")]);
    let mut command = home.command(["stats", "--all", "--compare", "-"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let report = br#"{"daily":[{"date":"2026-11-15","totalTokens":5,"totalCost":0.1}]}"#;
    child.stdin.take().unwrap().write_all(report).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("2026-11-15"));
}

#[test]
fn guard_and_projects_count_projects_alike() {
    // One project in two directories, by its name and by the hash of its path.
    const HASH: &str = "52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee";
    let home = with(&[user("u", "hi"), model("m", "yes")]);
    home.write(".gemini/tmp/shop/.project_root", "/home/dev/code/shop");
    let mut other = head();
    other["sessionId"] = json!("0ddba11d-0000-4000-8000-000000000002");
    let text = format!("{other}\n{}\n{}\n", user("u", "other"), model("m", "yes"));
    home.write(&format!(".gemini/tmp/{HASH}/chats/session-2026-11-15T09-00-0ddba11d.jsonl"), text);
    let shown = home.run(["projects", "--json"]);
    let document: Value = serde_json::from_str(&shown.stdout).unwrap();
    let count = document["projects"].as_array().unwrap().len();
    let guarded = home.run(["guard"]).stdout;
    assert_eq!(count, 1, "{}", shown.stdout);
    assert!(guarded.contains("1 project") && !guarded.contains("2 projects"), "{guarded}");
}

#[test]
fn sessions_in_the_trash_are_not_lost() {
    let home = with(&[user("u", "hi"), model("m", "yes")]);
    let logs = json!([{"sessionId": ID, "messageId": 0, "type": "user", "message": "hi", "timestamp": "2026-11-15T08:00:01.000Z"}]);
    home.write(".gemini/tmp/shop/logs.json", logs.to_string());
    assert_eq!(home.run(["delete", "feedbeef", "--yes"]).code, Some(0));
    let lost = home.run(["list", "--lost", "--all"]);
    assert!(!lost.stdout.contains("feedbeef"), "{}", lost.stdout);
}
