//! What is kept of sessions that run does not grow with what they write.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use recount_formats::SOURCES;
use recount_formats::live::{LiveFeed, LiveProcess};
use serde_json::{Value, json};

/// When it begins, in milliseconds since 1970.
const START: i64 = 1_794_800_000_000;
/// How long it lasts: an hour.
const LONG: i64 = 60 * 60 * 1000;

/// A session: its process, its file, how that begins and what follows.
struct Session {
    program: &'static str,
    file: &'static str,
    head: Vec<Value>,
    line: fn(i64, &str) -> Value,
}

fn time(millis: i64) -> String {
    recount_model::timestamp(millis).unwrap().to_string()
}

fn sessions() -> [Session; 4] {
    let start = time(START);
    [
        Session {
            program: "/usr/bin/gemini",
            file: ".gemini/tmp/shop/chats/session-2026-11-16T13-10-117eaa32.jsonl",
            head: vec![json!({"sessionId": "117eaa32", "startTime": start})],
            line: |nth, at| {
                json!({
                    "id": format!("m{nth}"), "timestamp": at, "type": "gemini", "content": "done", "model": "gemini-3.5-flash",
                    "tokens": {"input": 100, "output": 10, "total": 110},
                    "toolCalls": [{"id": format!("c{nth}"), "name": "shell", "args": {"command": nth}, "result": nth}],
                })
            },
        },
        Session {
            program: "claude",
            file: ".claude/projects/-c-shop/11111111-0000-4000-8000-000000000000.jsonl",
            head: vec![json!({"type": "user", "cwd": "/c/shop", "message": {"content": "go"}})],
            line: claude_line,
        },
        Session {
            program: "claude",
            file: ".claude/projects/-c-shop/11111111-0000-4000-8000-000000000000/subagents/agent-1.jsonl",
            head: Vec::new(),
            line: claude_line,
        },
        Session {
            program: "codex",
            file: ".codex/sessions/2026/11/16/rollout-2026-11-16T13-10-00-0193aaaa.jsonl",
            head: vec![json!({"type": "session_meta", "timestamp": start,
                "payload": {"id": "0193aaaa", "cwd": "/c/shop", "timestamp": start}})],
            line: |nth, at| {
                if nth % 2 == 0 {
                    // Calls that never end.
                    let call = json!({"type": "function_call", "call_id": format!("c{nth}"), "name": "shell", "arguments": "{}"});
                    return json!({"type": "response_item", "timestamp": at, "payload": call});
                }
                json!({"type": "event_msg", "timestamp": at, "payload": {"type": "token_count", "info": {
                    "total_token_usage": {"total_tokens": nth * 110},
                    "last_token_usage": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}}}})
            },
        },
    ]
}

fn claude_line(nth: i64, at: &str) -> Value {
    json!({"type": "assistant", "timestamp": at, "message": {
        "id": format!("m{nth}"), "model": "claude-sonnet-4-5",
        "content": [{"type": "tool_use", "id": format!("c{nth}"), "name": "Bash", "input": {"command": nth}}],
        "usage": {"input_tokens": 100, "output_tokens": 10}}})
}

/// Lets every session write a number of lines within an hour. Returns what is kept then, as text.
fn kept(lines: i64) -> (LiveFeed, String) {
    let home = Path::new("/home/dev");
    let mut feed = LiveFeed::default();
    for source in SOURCES {
        for below in source.folders().below_home {
            feed.add(*source, &home.join(below));
        }
    }
    let all = sessions();
    let process = |(pid, one): (u32, &Session)| LiveProcess {
        pid,
        ppid: 1,
        args: vec![
            if one.program.starts_with('/') { "node".into() } else { one.program.into() },
            one.program.into(),
        ],
        cwd: Some("/c/shop".to_owned()),
        start_ms: START - 1000,
        tty: Some(format!("/dev/pts/{pid}")),
        ..LiveProcess::default()
    };
    let processes: Vec<LiveProcess> =
        (7..).zip(&all).filter(|(_, one)| !one.head.is_empty()).map(process).collect();
    let path = |one: &Session| -> PathBuf { home.join(one.file) };
    let root = recount_formats::live::DocumentParts { head: b"/c/shop", tail: None };
    feed.document(START, &home.join(".gemini/tmp/shop/.project_root"), &root);
    for one in &all {
        feed.open(START, &path(one), b"", None);
        for line in &one.head {
            feed.append(START, &path(one), format!("{line}\n").as_bytes());
        }
    }
    // Hooks and facts of sub-agents are told again and again.
    let facts = home.join(
        ".claude/projects/-c-shop/11111111-0000-4000-8000-000000000000/subagents/agent-1.meta.json",
    );
    let parts = recount_formats::live::DocumentParts { head: b"{\"finished\":true}", tail: None };
    for nth in 0..lines {
        let at = START + nth * LONG / lines;
        for one in &all {
            feed.append(at, &path(one), format!("{}\n", (one.line)(nth, &time(at))).as_bytes());
        }
        feed.document(at, &facts, &parts);
        if nth % 50 == 0 || nth + 1 == lines {
            feed.processes(at, &processes);
            feed.title(at, "/dev/pts/7", &format!("title {nth}"));
            feed.forget(at - 600_000);
            feed.sessions(at, &|request| Some(u128::from(request.tokens.total)));
        }
    }
    let mut text = String::new();
    write!(text, "{feed:?}").unwrap();
    (feed, text)
}

#[test]
fn ten_times_the_lines_take_no_more_memory() {
    let (_, few) = kept(4_000);
    let (mut feed, many) = kept(40_000);
    // Up to a limit that is reached between the two.
    assert!(many.len() <= 2 * few.len(), "{} and {}", few.len(), many.len());
    let rows = feed.sessions(START + LONG, &|_| None);
    let total: u64 = rows.iter().map(|row| row.usage.tokens.total).sum();
    // Of the four files, that of the sub-agent counts with its session, and every second line of the last one is a call.
    assert_eq!(total, 40_000 * 110 * 7 / 2, "{rows:?}");
}
