//! Which sessions there are, and which process each belongs to.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use recount_formats::SOURCES;
use recount_formats::live::{LiveFeed, TimelineEntry, TimelinePlayer};
use recount_model::{LiveSession, LiveState};
use serde_json::{Value, json};

/// When synthetic recordings begin, in milliseconds since 1970.
const START: i64 = 1_794_800_000_000;

/// Plays lines, and calls `see` with the rows after each.
fn play(lines: &[Value], start: i64, mut see: impl FnMut(i64, &[LiveSession])) {
    let mut feed = LiveFeed::default();
    for source in SOURCES {
        for below in source.folders().below_home {
            feed.add(*source, &PathBuf::from("/home/dev").join(below));
        }
    }
    let mut player = TimelinePlayer::new(Path::new("/home/dev"), start);
    for line in lines {
        let entry: TimelineEntry = serde_json::from_value(line.clone()).unwrap();
        let t = entry.t;
        player.play(&mut feed, entry);
        see(t, &feed.sessions(player.time(t), &|_| None));
    }
}

/// Reads one of the recordings in the repository.
#[expect(clippy::disallowed_methods, reason = "recordings are small")]
fn recording(name: &str) -> (Vec<Value>, i64) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let folder = root.join("recordings").join(name);
    let text = fs::read_to_string(folder.join("timeline.jsonl")).unwrap();
    let meta: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("meta.json")).unwrap()).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (lines, meta["t0_epoch_ms"].as_i64().unwrap())
}

#[test]
fn two_sessions_in_one_folder_are_two_rows() {
    let (lines, start) = recording("gemini-cli/0.60.0/j-two-sessions");
    let truths: Vec<u32> = lines
        .iter()
        .filter(|line| line.get("truth").is_some())
        .map(|line| u32::try_from(line["pid"].as_u64().unwrap()).unwrap())
        .collect();
    let mut ids: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    play(&lines, start, |_, rows| {
        for row in rows {
            let (Some(pid), Some(id)) = (row.process, &row.id) else { continue };
            let seen = ids.entry(pid).or_default();
            if seen.last().map(String::as_str) != Some(id.as_str()) {
                seen.push(id.as_str().to_owned());
            }
        }
    });
    ids.retain(|pid, _| truths.contains(pid));
    let sessions: Vec<&Vec<String>> = ids.values().collect();
    assert_eq!(sessions.len(), 2, "{ids:?}");
    assert!(sessions.iter().all(|one| one.len() == 1), "a process changes its session: {ids:?}");
    assert_ne!(sessions[0], sessions[1]);
}

#[test]
fn an_editor_and_a_script_are_headless_and_ask_nobody() {
    for (name, has_ended) in
        [("gemini-cli/0.60.0/n-acp", false), ("gemini-cli/0.60.0/i-headless", true)]
    {
        let (lines, start) = recording(name);
        let mut states = Vec::new();
        play(&lines, start, |_, rows| {
            for row in rows.iter().filter(|row| row.id.is_some()) {
                assert!(row.headless && row.state != LiveState::Approve, "{name}: {row:?}");
                states.push(row.state);
            }
        });
        assert!(states.contains(&LiveState::Working), "{name}");
        assert!(!states.contains(&LiveState::Failed), "{name}");
        assert!(!has_ended || states.last() == Some(&LiveState::Done), "{name}: {states:?}");
    }
}

#[test]
fn a_sub_agent_is_part_of_the_row_of_its_session() {
    for name in ["gemini-cli/0.60.0/k-subagent", "codex/0.144.6/k-subagent"] {
        let (lines, start) = recording(name);
        let (mut working, mut most) = (0, 0);
        play(&lines, start, |_, rows| {
            most = most.max(rows.len());
            let busy = rows.iter().find(|row| row.subagents.iter().any(|one| one.is_working));
            working += usize::from(busy.is_some_and(|row| row.state == LiveState::Tool));
        });
        assert!(working > 0 && most == 1, "{name}: {working} looks, {most} rows");
    }
}

fn rollout(id: &str) -> String {
    format!(".codex/sessions/2026/11/17/rollout-2026-11-17T10-00-00-{id}.jsonl")
}

fn process(pid: u32, args: &[&str], started: i64, open: &[&str], tty: Option<&str>) -> Value {
    let open: Vec<String> = open.iter().map(|id| format!("/home/dev/{}", rollout(id))).collect();
    json!({"pid": pid, "ppid": 1, "comm": "codex", "argv": args, "cwd": "/c/shop", "start_ms": START + started,
           "state": "S", "tty": tty, "env": {}, "open_files": open})
}

fn record(kind: &str, payload: &Value) -> String {
    format!("{}\n", json!({"type": kind, "payload": payload}))
}

fn begun(id: &str, t: i64) -> Value {
    let time = recount_model::timestamp(START + t).unwrap().to_string();
    let meta = json!({"id": id, "cwd": "/c/shop", "timestamp": time});
    json!({"t": t, "op": "create", "path": rollout(id), "data": record("session_meta", &meta)})
}

fn event(id: &str, t: i64, payload: &Value) -> Value {
    json!({"t": t, "op": "append", "path": rollout(id), "data": record("event_msg", payload)})
}

/// One daemon works for all windows, holds all files, and goes on without them.
#[test]
fn threads_of_a_daemon_belong_to_their_windows_and_outlive_them() {
    use LiveState::{Done, Gone, Tool, Working, Yours};
    let daemon = |open: &[&str]| {
        process(5, &["/h/codex", "app-server", "--listen", "unix://"], 0, open, None)
    };
    let first = || process(10, &["/h/codex"], 1000, &[], Some("/dev/pts/1"));
    let second = || process(20, &["/h/codex"], 3000, &[], Some("/dev/pts/2"));
    let tool = json!({"pid": 30, "ppid": 5, "comm": "bash", "argv": ["bash", "-lc", "make"], "cwd": "/c/shop",
                      "start_ms": START + 6000, "state": "S", "env": {"CODEX_THREAD_ID": "aaaa"}});
    let call = json!({"type": "function_call", "call_id": "1", "name": "exec_command", "arguments": "{\"cmd\":\"make\"}"});
    let call = json!({"t": 6000, "op": "append", "path": rollout("aaaa"), "data": record("response_item", &call)});
    let lines = [
        json!({"t": 1100, "proc": [daemon(&[]), first()]}),
        begun("aaaa", 2000),
        json!({"t": 3100, "proc": [daemon(&["aaaa"]), first(), second()]}),
        begun("bbbb", 4000),
        json!({"t": 4100, "proc": [daemon(&["aaaa", "bbbb"]), first(), second()]}),
        event("aaaa", 5000, &json!({"type": "task_started"})),
        call,
        json!({"t": 7000, "proc": [daemon(&["aaaa", "bbbb"]), first(), second(), &tool]}),
        // The first window is killed, the second one is closed; its turn was over.
        json!({"t": 8000, "proc": [daemon(&["aaaa", "bbbb"]), &tool]}),
        json!({"t": 9000, "proc": [daemon(&["aaaa", "bbbb"]), &tool]}),
        event("aaaa", 10_000, &json!({"type": "task_complete", "last_agent_message": "Done."})),
        json!({"t": 11_000, "proc": [daemon(&["aaaa", "bbbb"])]}),
        json!({"t": 80_000, "proc": [daemon(&["aaaa", "bbbb"])]}),
    ];
    let mut seen: BTreeMap<i64, Vec<(u32, String, LiveState, bool)>> = BTreeMap::new();
    play(&lines, START, |t, rows| {
        let row = |row: &LiveSession| {
            let id = row.id.as_ref().map_or("", |id| id.as_str()).to_owned();
            (row.process.unwrap(), id, row.state, row.headless)
        };
        seen.insert(t, rows.iter().map(row).collect());
    });
    let row = |pid: u32, id: &str, state, headless| (pid, id.to_owned(), state, headless);
    assert_eq!(seen[&4100], [row(10, "aaaa", Yours, false), row(20, "bbbb", Yours, false)]);
    assert_eq!(seen[&5000], [row(10, "aaaa", Working, false), row(20, "bbbb", Yours, false)]);
    assert_eq!(seen[&7000], [row(10, "aaaa", Tool, false), row(20, "bbbb", Yours, false)]);
    let ended = [row(10, "aaaa", Gone, false), row(20, "bbbb", Done, false)];
    assert_eq!(seen[&9000][..2], ended);
    assert_eq!(seen[&9000][2], row(5, "aaaa", Tool, true), "it runs on, unattended");
    assert_eq!(seen[&9000].len(), 3);
    assert_eq!(seen[&11_000][2], row(5, "aaaa", Yours, true));
    assert_eq!(seen[&80_000], ended, "what is over for a minute is not shown");
}
