//! Headless output becomes sessions: every figure that a run reports, counted once.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "what a test needs it must have"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use recount_testkit::{Home, fixture, streams};
use serde_json::{Value, json};

use super::changing::log;
use crate::{has, home};

fn stream(name: &str) -> String {
    fixture(format!("streams/{name}")).to_string_lossy().into_owned()
}

fn text(name: &str) -> String {
    fs::read_to_string(stream(name)).unwrap()
}

fn document(home: &Home, arguments: &[&str]) -> Value {
    let output = home.run(arguments.iter().chain(&["--json"]));
    assert_eq!(output.code, Some(0), "{arguments:?}: {output}");
    serde_json::from_str(&output.stdout).unwrap()
}

fn listed(home: &Home) -> Vec<Value> {
    let listed = document(home, &["list", "--all", "--kind", "main,subagent,headless"]);
    listed["sessions"].as_array().unwrap().clone()
}

/// All files of what was ingested, with their times.
fn tree(home: &Home) -> Vec<(PathBuf, SystemTime)> {
    let mut open = vec![home.path().join(".local/share/recount/ingested")];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let changed = fs::metadata(&path).unwrap().modified().unwrap();
                found.push((path, changed));
            }
        }
    }
    found.sort();
    found
}

fn ingest(home: &Home, path: &str) -> Value {
    document(home, &["ingest", path])
}

fn outcome(document: &Value) -> &str {
    document["sessions"][0]["outcome"].as_str().unwrap()
}

/// What a run says of itself: prompts, calls of tools, and tokens in, out, from the cache and in all.
#[derive(Debug, Default, PartialEq, Eq)]
struct Reported {
    prompts: u64,
    tools: u64,
    input: u64,
    output: u64,
    cached: u64,
    total: u64,
}

fn count(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or(0)
}

/// Reads what a file says of itself, without any code of ours.
fn reported(path: &Path) -> Reported {
    let text = fs::read_to_string(path).unwrap();
    let mut reported = Reported::default();
    let mut calls = BTreeSet::new();
    for record in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
        let record = record.unwrap();
        let kind = record["type"].as_str().unwrap_or_default();
        match (kind, record["attributes"]["event.name"].as_str()) {
            (_, Some("gemini_cli.user_prompt")) => reported.prompts += 1,
            (_, Some("gemini_cli.tool_call")) => reported.tools += 1,
            (_, Some("gemini_cli.api_response")) => {
                let used = &record["attributes"];
                reported.input += count(used, "/input_token_count");
                reported.output +=
                    count(used, "/output_token_count") + count(used, "/thoughts_token_count");
                reported.cached += count(used, "/cached_content_token_count");
                reported.total += count(used, "/total_token_count");
            }
            ("message", _) => reported.prompts += u64::from(record["role"] == "user"),
            ("result", _) if record.get("usage").is_some() => {
                let used = &record["usage"];
                let (read, written) = (
                    count(used, "/cache_read_input_tokens"),
                    count(used, "/cache_creation_input_tokens"),
                );
                reported.input += count(used, "/input_tokens") + read + written;
                reported.output += count(used, "/output_tokens");
                reported.cached += read;
                reported.total = reported.input + reported.output;
                if calls.is_empty() {
                    let denied = record["permission_denials"].as_array().unwrap();
                    calls.extend(denied.iter().map(|call| call["tool_use_id"].to_string()));
                }
            }
            ("result", _) => {
                reported.tools = count(&record, "/stats/tool_calls");
                reported.input = count(&record, "/stats/input_tokens");
                reported.cached = count(&record, "/stats/cached");
                reported.total = count(&record, "/stats/total_tokens");
                reported.output = reported.total - reported.input;
            }
            ("assistant", _) if record["parent_tool_use_id"].is_null() => {
                let blocks = record["message"]["content"].as_array().unwrap();
                let used = blocks.iter().filter(|block| block["type"] == "tool_use");
                calls.extend(used.map(|call| call["id"].to_string()));
            }
            ("item.completed", _) => {
                let said = ["agent_message", "reasoning", "error"];
                reported.tools +=
                    u64::from(!said.contains(&record["item"]["type"].as_str().unwrap()));
            }
            ("turn.completed", _) => {
                reported.input = count(&record, "/usage/input_tokens");
                reported.output = count(&record, "/usage/output_tokens");
                reported.cached = count(&record, "/usage/cached_input_tokens");
                reported.total = reported.input + reported.output;
            }
            ("", _) if record.get("response").is_some() => {
                reported.tools = count(&record, "/stats/tools/totalCalls");
                for used in record["stats"]["models"].as_object().unwrap().values() {
                    reported.input += count(used, "/tokens/prompt");
                    reported.cached += count(used, "/tokens/cached");
                    reported.total += count(used, "/tokens/total");
                }
                reported.output = reported.total - reported.input;
            }
            _ => {}
        }
    }
    reported.tools += calls.len() as u64;
    reported
}

fn figures(session: &Value) -> Reported {
    let tokens = &session["tokens"];
    Reported {
        prompts: count(session, "/prompts"),
        tools: count(session, "/tool_calls/total"),
        input: count(tokens, "/input"),
        output: count(tokens, "/output") + count(tokens, "/thoughts") + count(tokens, "/tool"),
        cached: count(tokens, "/cached"),
        total: count(tokens, "/total"),
    }
}

#[test]
fn every_recorded_run_is_a_session_with_its_own_totals() {
    for path in streams() {
        let name = path.to_string_lossy().into_owned();
        let home = home([]);
        if fs::metadata(&path).unwrap().len() == 0 {
            assert_eq!(home.run(["ingest", &name]).code, Some(1), "{name}");
            continue;
        }
        let kept = ingest(&home, &name);
        assert_eq!(outcome(&kept), "kept", "{name}");
        assert_eq!((&kept["skipped"], &kept["torn"]), (&json!(0), &json!(false)), "{name}");
        assert_eq!(kept["sessions"][0]["unknown"], json!({}), "{name}");
        let sessions = listed(&home);
        let main: Vec<&Value> = sessions.iter().filter(|one| one["kind"] == "headless").collect();
        assert_eq!(main.len(), 1, "{name}");
        assert_eq!(figures(main[0]), reported(&path), "{name}");
        assert_eq!(figures(&kept["sessions"][0]["session"]), figures(main[0]), "{name}");
        for session in &sessions {
            assert_eq!(session["entrypoint"], "headless", "{name}");
            assert_eq!(session["problems"], 0, "{name}: {session}");
        }
        // Once more changes nothing.
        let before = tree(&home);
        assert_eq!(outcome(&ingest(&home, &name)), "unchanged", "{name}");
        assert_eq!(tree(&home), before, "{name}");
        assert_eq!(listed(&home), sessions, "{name}");
    }
}

#[test]
fn what_is_only_ingested_is_headless_wherever_its_kind_is_told() {
    const ID: &str = "5396033a-62e1-4e34-b341-0423d181220f";
    let home = home([]);
    ingest(&home, &stream("gemini/tools.jsonl"));
    home.write(
        ".gemini/tmp/shop/chats/session-2026-11-15T08-00-798f2624.jsonl",
        log("798f2624-0", "pear"),
    );
    let kinds = |arguments: &[&str]| -> Vec<String> {
        let listed = document(&home, arguments);
        let rows = listed["sessions"].as_array().unwrap().iter();
        rows.map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
    };
    let mut all = kinds(&["list", "--all"]);
    all.sort();
    assert_eq!(all, ["headless", "main"]);
    assert_eq!(kinds(&["list", "--all", "--kind", "headless"]), ["headless"]);
    assert_eq!(kinds(&["list", "--all", "--kind", "main"]), ["main"]);
    assert_eq!(document(&home, &["show", ID])["session"]["kind"], "headless");
    assert_eq!(document(&home, &["show", ID])["session"]["agent_index"], Value::Null);
    let rows = home.run(["sql", "select kind from sessions order by kind", "--csv"]);
    assert_eq!(rows.stdout.lines().collect::<Vec<_>>(), ["kind", "headless", "main"], "{rows}");
    assert!(home.run(["list", "--all", "--csv"]).stdout.contains(",headless,"));
    let tokens = |kind: &str| {
        document(&home, &["stats", "--kind", kind])["total"]["tokens"]["total"].clone()
    };
    assert_eq!((tokens("headless"), tokens("main")), (json!(60_667), json!(0)));
    // Once the agent's own record is there, it is one like any other.
    home.write(".gemini/tmp/shop/chats/session-2026-11-15T08-00-5396033a.jsonl", log(ID, "apple"));
    assert_eq!(kinds(&["list", "--all"]), ["main", "main"]);
}

#[test]
fn a_session_is_read_like_any_other() {
    let home = home([]);
    ingest(&home, &stream("gemini/tools.jsonl"));
    let shown = document(&home, &["show", "5396033a"]);
    has(&shown, "session messages");
    let texts: Vec<&str> =
        shown["messages"].as_array().unwrap().iter().filter_map(|m| m["text"].as_str()).collect();
    assert!(
        texts.contains(&"What does an apple cost?") && texts.contains(&"An apple costs 3."),
        "{texts:?}"
    );
    let call = &shown["messages"][2]["tool_calls"][0];
    assert_eq!((&call["name"], &call["output"]), (&json!("run_shell_command"), &json!("hello")));
    assert_eq!(document(&home, &["search", "apple costs"])["total"], 1);
    assert_eq!(document(&home, &["stats"])["total"]["tokens"]["total"], 60_667);
    assert_eq!(home.run(["export", "5396033a", "--format", "md"]).code, Some(0));
    insta::assert_snapshot!(home.run(["ingest", &stream("gemini/tools.jsonl")]), @r"
    SESSION   AGENT   RESULT     PROMPTS  TOOLS  TOKENS  TITLE
    5396033a  gemini  unchanged        1      3     61k  What does an apple cost?
    [exit 0]
    ");
}

#[test]
fn a_resumed_run_is_added_to_its_session() {
    for agent in ["gemini", "claude", "codex"] {
        // In whatever order they come.
        for order in [["tools", "resume"], ["resume", "tools"]] {
            let home = home([]);
            let [first, second] = order.map(|name| stream(&format!("{agent}/{name}.jsonl")));
            assert_eq!(outcome(&ingest(&home, &first)), "kept");
            assert_eq!(outcome(&ingest(&home, &second)), "extended");
            let sessions = listed(&home);
            assert_eq!(sessions.len(), 1, "{agent}");
            let [tools, resume] = ["tools", "resume"]
                .map(|name| reported(Path::new(&stream(&format!("{agent}/{name}.jsonl")))));
            let got = figures(&sessions[0]);
            assert_eq!(got.tools, tools.tools + resume.tools, "{agent}");
            assert_eq!(got.prompts, tools.prompts + resume.prompts, "{agent}");
            // What this agent says is used is the sum of the thread.
            let total = if agent == "codex" { resume.total } else { tools.total + resume.total };
            assert_eq!(got.total, total, "{agent} {order:?}");
            assert_eq!(sessions[0]["answers"], 5, "{agent}");
            assert_eq!(outcome(&ingest(&home, &first)), "unchanged");
        }
    }
}

#[test]
fn a_torn_stream_keeps_what_it_has() {
    for name in
        ["gemini/tools.jsonl", "claude/tools.jsonl", "codex/tools.jsonl", "gemini/tools.json"]
    {
        let whole = text(name);
        let home = home([]);
        let lines = whole.match_indices('\n').map(|(at, _)| at + 1);
        let cuts: Vec<usize> = if whole.lines().count() > 20 {
            (1..8).map(|part| whole.len() * part / 8).collect()
        } else {
            lines.flat_map(|at| [at, at.saturating_sub(9)]).chain([whole.len()]).collect()
        };
        let mut cuts: Vec<usize> = cuts;
        cuts.sort_unstable();
        let mut most = 0;
        for cut in cuts {
            home.write("run.jsonl", &whole.as_bytes()[..cut]);
            let output = home.run(["ingest", &home.at("run.jsonl"), "--json"]);
            if output.code != Some(0) {
                assert_eq!((output.code, most), (Some(2), 0), "{name} {cut}: {output}");
                continue;
            }
            let sessions = listed(&home);
            assert_eq!(sessions.len(), 1, "{name} {cut}");
            assert_eq!(sessions[0]["problems"], 0, "{name} {cut}");
            let now = count(&sessions[0], "/messages");
            assert!(now >= most, "{name} {cut}: {now} after {most}");
            most = now;
        }
        ingest(&home, &stream(name));
        let sessions = listed(&home);
        assert_eq!(figures(&sessions[0]), reported(Path::new(&stream(name))), "{name}");
        // A shorter version takes nothing away.
        home.write("run.jsonl", &whole.as_bytes()[..whole.len() / 2]);
        ingest(&home, &home.at("run.jsonl"));
        assert_eq!(listed(&home), sessions, "{name}");
    }
}

#[test]
fn with_tee_the_stream_goes_through_unchanged_and_at_once() {
    let home = home([]);
    let whole = text("claude/partial.jsonl");
    let mut child = home
        .command(["ingest", "-", "--tee"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (first, rest) = whole.split_at(whole.len() / 3);
    to.write_all(first.as_bytes()).unwrap();
    to.flush().unwrap();
    let mut passed = vec![0; first.len()];
    // Before the rest has come.
    from.read_exact(&mut passed).unwrap();
    to.write_all(rest.as_bytes()).unwrap();
    drop(to);
    from.read_to_end(&mut passed).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(passed, whole.as_bytes());
    let sessions = listed(&home);
    assert_eq!(figures(&sessions[0]), reported(Path::new(&stream("claude/partial.jsonl"))));
}

#[test]
fn with_tee_bytes_go_through_unchanged_whatever_they_are() {
    let mut odd = text("gemini/tools.jsonl").into_bytes();
    odd.truncate(odd.len() / 2);
    odd.extend([0, 0xff, 0xfe, b'\r', b'\n', b'{', b'"', 0xc3, b'\n', 0x1b]);
    let deep = "[".repeat(100_000);
    for (bytes, code) in [
        (odd.clone(), 0),
        (vec![0xff; 200_000], 2),
        (deep.into_bytes(), 2),
        (b"no JSON at all".to_vec(), 2),
        (Vec::new(), 1),
    ] {
        let home = home([]);
        home.write("in", &bytes);
        let output = home
            .command(["ingest", "-", "--tee"])
            .stdin(fs::File::open(home.at("in")).unwrap())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout == bytes, "{} bytes of {}", output.stdout.len(), bytes.len());
    }
}

#[test]
fn a_session_on_disk_and_its_stream_are_one() {
    const ID: &str = "5396033a-62e1-4e34-b341-0423d181220f";
    let own = ".gemini/tmp/shop/chats/session-2026-11-15T08-00-5396033a.jsonl";
    // On disk before.
    let before = home([]);
    before.write(own, log(ID, "apple"));
    let on_disk = listed(&before);
    assert_eq!(outcome(&ingest(&before, &stream("gemini/tools.jsonl"))), "on-disk");
    assert_eq!(listed(&before), on_disk);
    // On disk later.
    let later = home([]);
    ingest(&later, &stream("gemini/tools.jsonl"));
    assert_eq!(listed(&later).len(), 1);
    later.write(own, log(ID, "apple"));
    let sessions = listed(&later);
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["files"].as_array().unwrap().len(), 1);
    assert!(sessions[0]["files"][0]["path"].as_str().unwrap().ends_with("T08-00-5396033a.jsonl"));
    assert_eq!(document(&later, &["stats"])["total"]["tokens"]["total"], 0);
    // Gone again, what was ingested is back.
    fs::remove_file(later.at(own)).unwrap();
    assert_eq!(figures(&listed(&later)[0]), reported(Path::new(&stream("gemini/tools.jsonl"))));
}

#[test]
fn what_was_ingested_for_a_home_belongs_to_it() {
    let home = home([]);
    fs::create_dir_all(home.at("other/.gemini/tmp")).unwrap();
    let other = home.at("other");
    document(&home, &["ingest", &stream("gemini/tools.jsonl"), "--home", &other]);
    let sessions =
        |arguments: &[&str]| document(&home, arguments)["sessions"].as_array().unwrap().len();
    assert_eq!(sessions(&["list", "--all", "--home", &other]), 1);
    ingest(&home, &stream("gemini/error.jsonl"));
    assert_eq!(sessions(&["list", "--all"]), 1);
    // No agent deletes it.
    let row = &document(&home, &["list", "--all", "--home", &other])["sessions"][0];
    assert_ne!(row["doomed"], true);
}

#[test]
fn telemetry_tells_the_folder_of_a_hash() {
    let home = home([]);
    let id = "9572ed9e-dee7-4e53-8b1a-e92b90fb1ea1";
    let hash = "52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee";
    let path = format!(".gemini/tmp/{hash}/chats/session-2026-11-15T18-35-9572ed9e.jsonl");
    home.write(&path, log(id, "apple"));
    assert_eq!(listed(&home)[0]["project"]["path"], Value::Null);
    assert_eq!(outcome(&ingest(&home, &stream("gemini/telemetry.log"))), "on-disk");
    assert_eq!(listed(&home)[0]["project"]["path"], "/home/dev/code/shop");
    assert_eq!(listed(&home).len(), 1);
}

#[test]
fn a_log_of_telemetry_and_the_stream_of_the_same_run_are_one() {
    let home = home([]);
    let id = "9572ed9e-dee7-4e53-8b1a-e92b90fb1ea1";
    ingest(&home, &stream("gemini/telemetry.log"));
    let alone = listed(&home);
    let at = |second: &str| format!("2026-11-15T18:35:{second}Z");
    let printed = [
        json!({"type": "init", "timestamp": at("56.600"), "session_id": id, "model": "auto"}),
        json!({"type": "message", "timestamp": at("56.676"), "role": "user", "content": "What does an apple cost?"}),
        json!({"type": "result", "timestamp": at("57.300"), "status": "success", "stats": {"total_tokens": 10375, "input_tokens": 10320, "output_tokens": 48}}),
    ];
    home.write("run.jsonl", printed.map(|record| record.to_string()).join("\n"));
    ingest(&home, &home.at("run.jsonl"));
    assert_eq!(listed(&home), alone);
}

#[test]
fn errors_denials_and_sub_agents_are_told() {
    let home = home([]);
    let error = |name: &str, id: &str| {
        ingest(&home, &stream(name));
        let shown = document(&home, &["show", id]);
        let notices: Vec<Value> = shown["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|m| m["kind"] == "notice")
            .cloned()
            .collect();
        let said = |m: &Value| {
            m["text"].as_str().unwrap().contains("Request contains an invalid argument")
        };
        assert_eq!(notices.iter().filter(|m| said(m)).count(), 1, "{name}: {shown}");
    };
    error("gemini/error.jsonl", "0de898ab");
    error("claude/error.jsonl", "23ef5ba0");
    error("claude/error.json", "e1a70b37");
    error("codex/error.jsonl", "01a1e462-6f9f");
    for (name, id) in [("claude/denied.jsonl", "6fb4eeae"), ("claude/denied.json", "74967782")] {
        ingest(&home, &stream(name));
        let row = document(&home, &["show", id])["session"].clone();
        assert_eq!(row["tool_calls"], json!({"total": 1, "failed": 1, "cancelled": 0}), "{name}");
    }
    ingest(&home, &stream("claude/subagent.jsonl"));
    let agent = listed(&home).into_iter().find(|one| one["kind"] == "subagent").unwrap();
    assert_eq!(agent["parent"], "ddf1f307-adb1-4489-be56-b35d12d585b9");
    // 65,500 and 62 tokens in all, of which the session itself used 52,500 and 42.
    assert_eq!(
        (&agent["tokens"]["input"], &agent["tokens"]["output"]),
        (&json!(13_000), &json!(20))
    );
    assert_eq!(agent["first_prompt"], "SUBTASK: find where tax is computed.");
}

#[test]
fn records_of_a_type_that_nobody_knows_are_kept_and_counted() {
    let home = home([]);
    for (name, id) in [("gemini", "5396033a"), ("claude", "8964058b"), ("codex", "01a1e462-379f")] {
        let mut lines: Vec<String> =
            text(&format!("{name}/tools.jsonl")).lines().map(str::to_owned).collect();
        lines.insert(2, r#"{"type":"quantum","words":"of the future"}"#.to_owned());
        home.write("run.jsonl", lines.join("\n"));
        let kept = ingest(&home, &home.at("run.jsonl"));
        assert_eq!(kept["sessions"][0]["unknown"], json!({"quantum": 1}), "{name}");
        let row = document(&home, &["show", id])["session"].clone();
        assert_eq!(row["problems"], 1, "{name}");
        assert_eq!(row["tool_calls"]["total"], 3, "{name}");
        assert!(home.run(["show", id, "--raw"]).stdout.contains("of the future"), "{name}");
    }
}

#[test]
fn what_a_run_does_not_say_can_be_given() {
    let home = home([]);
    fs::create_dir_all(home.at("shop")).unwrap();
    for (name, id) in [
        ("codex/tools.jsonl", "01a1e462-379f"),
        ("gemini/tools.json", "d7a73010"),
        ("claude/denied.json", "74967782"),
    ] {
        let path = stream(name);
        document(
            &home,
            &["ingest", &path, "--prompt", "What does an apple cost?", "--project", "shop"],
        );
        let row = document(&home, &["show", id])["session"].clone();
        assert_eq!(
            (&row["prompts"], &row["title"]),
            (&json!(1), &json!("What does an apple cost?")),
            "{name}"
        );
        assert_eq!(row["project"]["path"], json!(home.at("shop")), "{name}");
    }
}

#[test]
fn what_is_no_output_of_an_agent_is_refused() {
    let home = home([]);
    let fed = |text: &str| {
        let text = text.as_bytes().to_vec();
        let mut child = home
            .command(["ingest", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&text).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(fed("").0, Some(1));
    let (code, said) = fed("hello\n{\"a\":1}\n\x1b[31m{{{\n");
    assert_eq!(code, Some(2));
    assert!(said.contains("standard input is not headless output of a known agent"), "{said}");
    // Ids become names of files.
    for id in ["../../../etc/passwd", "..", "a/b", "a\\\\b", "", "x\\u0000y", &"x".repeat(4000)] {
        for record in [
            format!(
                r#"{{"type":"init","timestamp":"2026-11-16T12:50:44.059Z","session_id":"{id}","model":"auto"}}"#
            ),
            format!(
                r#"{{"type":"system","subtype":"init","session_id":"{id}","cwd":"/","uuid":"u"}}"#
            ),
            format!(r#"{{"type":"thread.started","thread_id":"{id}"}}"#),
            format!(r#"{{"session_id":"{id}","response":"x"}}"#),
        ] {
            assert_eq!(fed(&record).0, Some(2), "{record}");
        }
    }
    assert_eq!(tree(&home), []);
    assert_eq!(home.run(["ingest", "nowhere.jsonl"]).code, Some(2));
    assert_eq!(home.run(["ingest", "."]).code, Some(2));
    assert_eq!(home.run(["ingest", "-", "--tee", "--json"]).code, Some(2));
    assert_eq!(home.run(["ingest"]).code, Some(2));
}

#[test]
fn hostile_text_and_agents_ids_do_no_harm() {
    let home = home([]);
    let id = "aaaaaaaa-0000-4000-8000-000000000000";
    let evil = "\\u001b]0;owned\\u0007\\u202e\\ud800";
    let lines = [
        format!(
            r#"{{"type":"system","subtype":"init","session_id":"{id}","cwd":"/home/dev/code/shop","uuid":"u0"}}"#
        ),
        format!(
            r#"{{"type":"user","session_id":"{id}","uuid":"u1","parent_tool_use_id":"t","agent_id":"../../evil","message":{{"role":"user","content":"{evil}"}}}}"#
        ),
        format!(r#"{{"type":"{evil}","session_id":"{id}"}}"#),
        format!(
            r#"{{"type":"assistant","session_id":"{id}","uuid":"u2","parent_tool_use_id":null,"message":{{"id":"m","role":"assistant","content":[{{"type":"text","text":"{evil}"}}]}}}}"#
        ),
        "[".repeat(3000),
    ];
    home.write("run.jsonl", lines.join("\n"));
    let output = home.run(["ingest", &home.at("run.jsonl")]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(!output.stdout.contains('\x1b') && !output.stderr.contains("\x1b]"), "{output}");
    assert!(!tree(&home).iter().any(|(path, _)| path.to_string_lossy().contains("evil")));
    let shown = home.run(["show", id]);
    assert_eq!(shown.code, Some(0));
    assert!(!shown.stdout.contains("\x1b]"));
}
