//! What sessions do right now: recordings played, and the processes of a file.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "what a test needs it must have"
)]

use std::fs;
use std::path::{Path, PathBuf};

use recount_testkit::Home;
use serde_json::Value;

use crate::home;

fn recording(name: &str) -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    repository.join("recordings").join(name).join("timeline.jsonl")
}

fn replay(name: &str) -> Vec<Value> {
    let home = home([]);
    let path = recording(name);
    let played =
        home.run(["watch", "--replay", path.to_str().unwrap(), "--speed", "max", "--json"]);
    played.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_replay_prints_each_change_with_its_moment_and_its_reasons() {
    let documents = replay("gemini-cli/0.60.0/c-approval");
    let first = documents.first().unwrap();
    assert_eq!(first["schema"], "recount.watch/1");
    assert_eq!(first["event"], "hello");
    assert!(documents.iter().all(|one| one["t"].is_i64()));
    let approve = documents.iter().find(|one| one["session"]["state"] == "approve").unwrap();
    assert_eq!(approve["session"]["certain"], true);
    assert_eq!(approve["session"]["signals"][0]["from"], "title");
    assert_eq!(approve["session"]["id"], "117eaa32-683a-4d3c-8c0d-9a395b519f51");
    assert_eq!(approve["session"]["project"]["path"], "/home/dev/code/shop");
    assert!((14_121..15_000).contains(&approve["t"].as_i64().unwrap()));
    let last = documents.last().unwrap();
    assert_eq!((&last["event"], &last["session"]["state"]), (&"ended".into(), &"done".into()));
    assert_eq!(last["session"]["context"]["window"], 1_048_576);
    assert!(last["session"]["tokens"]["total"].as_u64().unwrap() > 60_000);
}

#[test]
fn a_kill_a_failure_and_a_tool_are_told() {
    let states = |name: &str| -> Vec<String> {
        let all = replay(name).into_iter();
        all.map(|one| one["session"]["state"].as_str().unwrap().to_owned()).collect()
    };
    let killed = states("codex/0.144.6/g2-kill9-tool");
    assert!(killed.contains(&"tool".to_owned()));
    assert_eq!(killed.last().unwrap(), "gone");
    assert_eq!(states("claude-code/2.1.325/i2-headless-error").last().unwrap(), "failed");
}

/// A home with a session that a process of the table works in, written a moment ago.
fn running() -> (Home, i64) {
    let home = home([]);
    let now =
        i64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    let time = |millis: i64| recount_model::timestamp(millis).unwrap().to_string();
    home.write(".gemini/tmp/shop/.project_root", "/home/dev/code/shop");
    let log = home.path().join(".gemini/tmp/shop/chats/session-2026-11-16T13-10-117eaa32.jsonl");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    fs::write(
        &log,
        format!(
            "{{\"sessionId\":\"117eaa32-683a-4d3c-8c0d-9a395b519f51\",\"projectHash\":\"x\",\"startTime\":\"{0}\",\"lastUpdated\":\"{0}\"}}\n\
             {{\"id\":\"1\",\"timestamp\":\"{0}\",\"type\":\"user\",\"content\":[{{\"text\":\"Clean up\"}}]}}\n",
            time(now - 4000)
        ),
    )
    .unwrap();
    home.write(
        "processes.json",
        format!(
            "[{{\"pid\":91,\"ppid\":52,\"comm\":\"node\",\"argv\":[\"node\",\"/usr/bin/gemini\"],\"exe\":\"/usr/bin/node\",\
             \"cwd\":\"/home/dev/code/shop\",\"start_ms\":{},\"state\":\"S\",\"env\":{{}},\"open_files\":[],\"tty\":\"/dev/pts/3\"}}]",
            now - 9000
        ),
    );
    (home, now)
}

#[test]
fn processes_of_a_file_stand_in_for_those_of_the_system() {
    let (home, _) = running();
    let table = home.at("processes.json");
    let run = |args: &[&str]| {
        home.run_with(args, |command| {
            command.env("RECOUNT_PROCESS_TABLE", &table).env_remove("RECOUNT_NOW");
        })
    };
    let once = run(&["watch", "--once"]);
    assert!(once.stdout.contains("working"), "{}", once.stdout);
    assert!(once.stdout.contains("shop") && once.stdout.contains("pts/3"), "{}", once.stdout);
    let document: Value =
        serde_json::from_str(&run(&["watch", "--once", "--json"]).stdout).unwrap();
    assert_eq!(document["sessions"][0]["pid"], 91);
    assert_eq!(document["sessions"][0]["state"], "working");
    fs::write(&table, "[]").unwrap();
    let none = run(&["watch", "--once"]);
    assert_eq!((none.stdout.as_str(), none.code), ("no agent is running\n", Some(1)));
    assert_eq!(run(&["watch", "--until", "done"]).code, Some(0));
}

#[test]
fn lists_and_changes_use_the_same_answer() {
    let (home, now) = running();
    // Says that it was written later, but was not while the process runs.
    let other = home.path().join(".gemini/tmp/shop/chats/session-2026-11-01T10-00-aaaaaaaa.jsonl");
    fs::write(
        &other,
        format!(
            "{{\"sessionId\":\"aaaaaaaa-683a-4d3c-8c0d-9a395b519f51\",\"projectHash\":\"x\",\"startTime\":\"2026-11-01T10:00:00.000Z\",\"lastUpdated\":\"{0}\"}}\n\
             {{\"id\":\"1\",\"timestamp\":\"{0}\",\"type\":\"user\",\"content\":[{{\"text\":\"Later\"}}]}}\n",
            recount_model::timestamp(now + 60_000).unwrap()
        ),
    )
    .unwrap();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(9 * 86_400);
    fs::File::options().append(true).open(&other).unwrap().set_modified(long_ago).unwrap();
    let table = home.at("processes.json");
    let run = |args: &[&str]| {
        home.run_with(args, |command| {
            command.env("RECOUNT_PROCESS_TABLE", &table).env_remove("RECOUNT_NOW");
        })
    };
    let listed: Value =
        serde_json::from_str(&run(&["list", "--all", "--live", "--json"]).stdout).unwrap();
    let ids: Vec<&str> = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["id"].as_str())
        .collect();
    assert_eq!(ids, ["117eaa32-683a-4d3c-8c0d-9a395b519f51"]);
    assert_eq!(run(&["delete", "117eaa32", "--yes"]).code, Some(3));
}

#[test]
fn what_is_written_is_copied_as_it_is_written() {
    use std::io::{BufRead as _, Write as _};
    let (home, _) = running();
    let mut command = home.command(["guard", "--keep", "--watch", "--json"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["new"], 1, "{first}");
    let log = home.path().join(".gemini/tmp/shop/chats/session-2026-11-16T13-10-117eaa32.jsonl");
    let answer = "{\"id\":\"2\",\"timestamp\":\"2026-11-16T13:10:05.000Z\",\"type\":\"gemini\",\"content\":\"It is clean.\"}\n";
    fs::File::options().append(true).open(&log).unwrap().write_all(answer.as_bytes()).unwrap();
    let second: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(second["grown"], 1, "{second}");
    child.kill().unwrap();
    child.wait().unwrap();
    // A deletion takes nothing.
    let whole = fs::read(&log).unwrap();
    fs::remove_file(&log).unwrap();
    let restored = home.run(["restore", "117eaa32", "--yes"]);
    assert_eq!(restored.code, Some(0), "{}", restored.stderr);
    assert_eq!(fs::read(&log).unwrap(), whole);
}

#[test]
fn a_transcript_is_followed_as_it_grows() {
    use std::io::{BufRead as _, Write as _};
    let (home, _) = running();
    let mut command = home.command(["show", "117eaa32", "--follow", "--json"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["text"], "Clean up");
    let log = home.path().join(".gemini/tmp/shop/chats/session-2026-11-16T13-10-117eaa32.jsonl");
    let answer = "{\"id\":\"2\",\"timestamp\":\"2026-11-16T13:10:05.000Z\",\"type\":\"gemini\",\"content\":\"It is clean.\"}\n";
    fs::File::options().append(true).open(log).unwrap().write_all(answer.as_bytes()).unwrap();
    let second: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(second["text"], "It is clean.");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_torn_recording_is_played_as_far_as_it_goes() {
    let home = home([]);
    let text = fs::read_to_string(recording("codex/0.144.6/g2-kill9-tool")).unwrap();
    fs::write(home.path().join("torn.jsonl"), &text[..text.len() / 2]).unwrap();
    let played = home.run(["watch", "--replay", "torn.jsonl", "--speed", "max", "--json"]);
    assert!(played.stdout.contains("\"state\":\"working\""));
    assert!(played.stderr.contains("1 line of the recording cannot be read"), "{}", played.stderr);
    let missing = home.run(["watch", "--replay", "none.jsonl", "--speed", "max"]);
    assert!(missing.stderr.contains("cannot read none.jsonl"), "{}", missing.stderr);
}
