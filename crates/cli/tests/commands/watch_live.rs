//! `recount watch` beside files and processes that change, and what agents and terminals say.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "what a test needs it must have"
)]
#![cfg(unix)]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use recount_testkit::Home;
use serde_json::{Value, json};

use super::changing::json as run_json;
use crate::home;

const ID: &str = "117eaa32-683a-4d3c-8c0d-9a395b519f51";
const LOG: &str = ".gemini/tmp/shop/chats/session-2026-11-16T13-10-117eaa32.jsonl";
/// Nothing takes so long that works.
const PATIENCE: Duration = Duration::from_secs(120);

fn now() -> i64 {
    i64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

fn time(millis: i64) -> String {
    recount_model::timestamp(millis).unwrap().to_string()
}

fn head(at: i64) -> String {
    let head = json!({"sessionId": ID, "projectHash": "x", "startTime": time(at), "lastUpdated": time(at)});
    format!("{head}\n")
}

fn record(kind: &str, content: &str, at: i64) -> String {
    let content =
        if kind == "user" { json!([{"text": content}]) } else { Value::String(content.to_owned()) };
    let record =
        json!({"id": format!("m{at}"), "timestamp": time(at), "type": kind, "content": content});
    format!("{record}\n")
}

/// Writes the log as an agent does: files of a home that tests write are old.
fn write_log(home: &Home, text: &str) {
    let path = home.path().join(LOG);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A home with a session that a process of the table works in, with these environment variables.
fn running(variables: &Value) -> Home {
    let home = home([]);
    let now = now();
    home.write(".gemini/tmp/shop/.project_root", "/home/dev/code/shop");
    write_log(&home, &(head(now - 4000) + &record("user", "Clean up", now - 4000)));
    let process = json!({
        "pid": 91, "ppid": 52, "comm": "node", "argv": ["node", "/usr/bin/gemini"], "exe": "/usr/bin/node",
        "cwd": "/home/dev/code/shop", "start_ms": now - 9000, "state": "S", "env": variables,
        "open_files": [], "tty": "/dev/pts/3",
    });
    home.write("processes.json", json!([process]).to_string());
    home
}

/// `recount watch --json`, and what it prints.
struct Watching {
    child: Child,
    documents: Receiver<Value>,
    log: PathBuf,
}

impl Watching {
    fn start(home: &Home) -> Self {
        let mut child = home
            .command(["watch", "--json"])
            .env("RECOUNT_PROCESS_TABLE", home.at("processes.json"))
            .env_remove("RECOUNT_NOW")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, documents) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let _sent = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        Self { child, documents, log: home.path().join(LOG) }
    }

    /// Waits for a state, and returns the session then.
    fn wait(&self, state: &str) -> Value {
        self.wait_for(state, |session| session["state"] == state)
    }

    /// Waits until something holds of the session, and returns it.
    fn wait_for(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        let mut last = Value::Null;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let next = self.documents.recv_timeout(left);
            assert!(next.is_ok(), "never '{what}'; the last was {last}");
            last = next.unwrap()["session"].clone();
            if is_it(&last) {
                return last;
            }
        }
    }

    fn append(&self, text: &str) {
        let mut log = File::options().append(true).open(&self.log).unwrap();
        log.write_all(text.as_bytes()).unwrap();
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

#[test]
fn whatever_happens_to_a_file_the_state_is_that_of_its_end() {
    let home = running(&json!({}));
    let watch = Watching::start(&home);
    watch.wait("working");
    watch.append(&record("error", "no", now()));
    watch.wait("failed");
    // Half a record says nothing until the rest comes.
    let again = record("user", "Again", now());
    let (half, rest) = again.split_at(20);
    watch.append(half);
    std::thread::sleep(Duration::from_millis(300));
    watch.append(rest);
    watch.wait("working");
    // Truncated, and written again from its start.
    let start = now() - 4000;
    File::options().write(true).open(&watch.log).unwrap().set_len(0).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    watch.append(&(head(start) + &record("error", "no", now())));
    watch.wait("failed");
    // Replaced by another file, longer than the one before.
    let beside = watch.log.with_extension("tmp");
    let longer =
        head(start) + &record("info", &"x".repeat(5000), now()) + &record("user", "b", now());
    fs::write(&beside, longer).unwrap();
    fs::rename(&beside, &watch.log).unwrap();
    watch.wait("working");
    // Garbage between records.
    watch.append("\u{0}\u{1}{{{]\n\n");
    watch.append(&record("error", "no", now()));
    watch.wait("failed");
    // Gone, a link to somewhere else, and back.
    fs::remove_file(&watch.log).unwrap();
    watch.wait("yours");
    let elsewhere = home.path().join("elsewhere.jsonl");
    fs::write(&elsewhere, head(start) + &record("error", "no", now())).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &watch.log).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let followed: Vec<Value> = watch.documents.try_iter().collect();
    assert!(followed.iter().all(|one| one["session"]["state"] != "failed"), "{followed:?}");
    fs::remove_file(&watch.log).unwrap();
    fs::write(&watch.log, head(start) + &record("user", "c", now())).unwrap();
    watch.wait("working");
}

#[test]
fn a_document_that_is_rewritten_again_and_again_is_read_to_its_end() {
    let home = running(&json!({}));
    fs::remove_file(home.at(LOG)).unwrap();
    let path = home.path().join(LOG).with_extension("json");
    let write = |messages: &[Value]| {
        let document = json!({"sessionId": ID, "projectHash": "x", "startTime": time(now() - 4000), "messages": messages});
        fs::write(&path, serde_json::to_vec_pretty(&document).unwrap()).unwrap();
    };
    let prompt = |number: usize| json!({"id": format!("p{number}"), "timestamp": time(now()), "type": "user", "content": "go"});
    let mut messages = vec![prompt(0)];
    write(&messages);
    let watch = Watching::start(&home);
    watch.wait("working");
    for number in 1..20 {
        messages.push(prompt(number));
        write(&messages);
        // Caught in the middle of a rewrite it says nothing.
        if number % 5 == 0 {
            fs::write(&path, "{\"sessionId\": \"117e").unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    messages.push(json!({"id": "e", "timestamp": time(now()), "type": "error", "content": "no"}));
    write(&messages);
    watch.wait("failed");
}

#[test]
fn ten_thousand_events_are_not_too_many() {
    let home = running(&json!({}));
    let watch = Watching::start(&home);
    watch.wait("working");
    let mut log = File::options().append(true).open(&watch.log).unwrap();
    let begun = Instant::now();
    for number in 0..10_000 {
        writeln!(log, "{{\"id\":\"i{number}\",\"type\":\"info\",\"content\":\"{number}\"}}")
            .unwrap();
    }
    log.write_all(record("error", "no", now()).as_bytes()).unwrap();
    watch.wait("failed");
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
}

fn once(home: &Home, path: Option<&str>) -> Value {
    let output = home.run_with(["watch", "--once", "--json"], |command| {
        command.env("RECOUNT_PROCESS_TABLE", home.at("processes.json")).env_remove("RECOUNT_NOW");
        if let Some(path) = path {
            command.env("PATH", path);
        }
    });
    assert_eq!(output.code, Some(0), "{output}");
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    document["sessions"][0].clone()
}

#[test]
fn who_cannot_see_processes_says_so() {
    let home = running(&json!({}));
    let run = |home: &Home| {
        home.run_with(["watch", "--once"], |command| {
            command.env("RECOUNT_PROCESS_TABLE", home.at("processes.json"));
        })
    };
    assert!(!run(&home).stderr.contains("processes cannot be listed"));
    for broken in ["", "[{\"pid\":"] {
        home.write("processes.json", broken);
        let output = run(&home);
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), "no agent is running\n"));
        assert!(output.stderr.contains("processes cannot be listed here"), "{output}");
    }
    fs::remove_file(home.at("processes.json")).unwrap();
    assert!(run(&home).stderr.contains("RECOUNT_PROCESS_TABLE"));
}

/// A folder with one program: a script.
fn program(home: &Home, name: &str, script: &str) -> String {
    let path = format!("bin/{name}");
    home.write(&path, format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(home.at(&path), fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", home.at("bin"))
}

#[test]
fn titles_come_from_the_terminal_that_the_agent_runs_in() {
    let wezterm = json!({"WEZTERM_UNIX_SOCKET": "/run/w", "WEZTERM_PANE": "3"});
    let kitty = json!({"KITTY_LISTEN_ON": "unix:/tmp/k", "KITTY_WINDOW_ID": "7"});
    let panes = r#"[ "$WEZTERM_UNIX_SOCKET" = /run/w ] && echo '[{"pane_id":3,"title":"✋  Action Required (shop)"}]'"#;
    let windows = r#"[ "$3" = unix:/tmp/k ] && echo '[{"tabs":[{"windows":[{"id":7,"title":"✋  Action Required (shop)"}]}]}]'"#;
    for (variables, name, script) in [(&wezterm, "wezterm", panes), (&kitty, "kitty", windows)] {
        let home = running(variables);
        let path = program(&home, name, script);
        // A terminal that takes long to answer is not waited for, so a busy machine is asked again.
        let mut asked = (0..20).map(|_| once(&home, Some(&path)));
        let session = asked.find(|session| session["signals"][0]["from"] == "title").unwrap();
        assert_eq!((&session["state"], &session["certain"]), (&json!("approve"), &json!(true)));
        assert!(session["terminal"][name].is_string(), "{session}");
        // One that is not there, fails or hangs changes nothing else.
        for broken in ["exit 1", "echo nonsense", "sleep 60"] {
            let path = program(&home, name, broken);
            assert_eq!(once(&home, Some(&path))["state"], "working", "{broken}");
        }
    }
    let tmux = json!({"TMUX": "/nowhere/tmux,1,0", "TMUX_PANE": "%0"});
    assert_eq!(once(&running(&tmux), Some("/nowhere"))["state"], "working");
}

/// Calls the hook as an agent does.
fn call(home: &Home, agent: &str, said: &Value) {
    home.write("said.json", said.to_string());
    let output = home.run_with(["guard", "--hook", "run", "--source", agent], |command| {
        command.stdin(File::open(home.at("said.json")).unwrap()).env_remove("RECOUNT_NOW");
    });
    assert_eq!(output.to_string(), "[exit 0]");
}

#[test]
fn a_hook_says_at_once_that_a_permission_is_asked_for() {
    let home = running(&json!({}));
    let at = home.at(LOG);
    let said = |event: &str, about: &str| {
        json!({"session_id": ID, "transcript_path": &at, "cwd": "/home/dev/code/shop", "hook_event_name": event,
               "notification_type": about, "message": "secret", "prompt": "secret"})
    };
    let watch = Watching::start(&home);
    watch.wait("working");
    call(&home, "gemini", &said("Notification", "Other"));
    call(&home, "gemini", &said("Notification", "ToolPermission"));
    let asked = watch.wait("approve");
    assert_eq!(asked["certain"], true);
    assert_eq!(asked["signals"][0]["from"], "hook");
    watch.append(&record("gemini", "I left it.", now() + 600));
    std::thread::sleep(Duration::from_millis(1200));
    call(&home, "gemini", &said("AfterAgent", ""));
    let is_told = |session: &Value| session["signals"].to_string().contains("the turn is over");
    let over = watch.wait_for("the turn is over", is_told);
    assert_eq!((&over["state"], &over["certain"]), (&json!("yours"), &json!(true)));
    let log = fs::read_to_string(home.at(".local/share/recount/live/hooks.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(!log.contains("secret"));
    // Whoever looks later sees the same.
    assert_eq!(once(&home, None)["state"], "yours");
}

#[test]
fn hooks_of_all_agents_are_planned_installed_once_undone_and_removed() {
    const PROGRAM: &str = env!("CARGO_BIN_EXE_recount");
    let home = home(["gemini/lines/plain"]);
    for folder in [".claude/projects/-p", ".codex/sessions"] {
        fs::create_dir_all(home.at(folder)).unwrap();
    }
    let claude = "{\n  \"model\": \"opus\"\n}\n";
    home.write(".claude/settings.json", claude);
    let files = [".gemini/settings.json", ".claude/settings.json", ".codex/hooks.json"];
    let installed = |home: &Home| -> Vec<bool> {
        let text = |file: &&str| fs::read_to_string(home.at(file)).unwrap_or_default();
        files.iter().map(|file| text(file).contains("guard --hook run --source")).collect()
    };
    let install = ["guard", "--hook", "install", "--program", PROGRAM];
    let plan = home.run(install.iter().chain(&["--dry-run"]));
    assert_eq!((plan.code, installed(&home)), (Some(0), vec![false; 3]), "{plan}");
    let done = home.run(install.iter().chain(&["--yes"]));
    assert_eq!((done.code, installed(&home)), (Some(0), vec![true; 3]), "{done}");
    let before: Vec<_> = files.iter().map(|file| fs::read(home.at(file)).unwrap()).collect();
    assert_eq!(home.run(install.iter().chain(&["--yes"])).code, Some(0));
    let after: Vec<_> = files.iter().map(|file| fs::read(home.at(file)).unwrap()).collect();
    assert_eq!(before, after, "it is installed once");
    for (file, event) in files.iter().zip(["Notification", "Notification", "PermissionRequest"]) {
        let settings: Value = serde_json::from_slice(&fs::read(home.at(file)).unwrap()).unwrap();
        assert!(settings["hooks"][event][0]["hooks"][0]["command"].is_string(), "{settings}");
        // None stands in the way of a tool.
        for tool in ["BeforeTool", "PreToolUse", "PostToolUse", "AfterTool"] {
            assert!(settings["hooks"].get(tool).is_none(), "{tool}");
        }
    }
    assert_eq!(home.run(["undo", "--yes"]).code, Some(0));
    assert_eq!(installed(&home), [false; 3]);
    assert_eq!(fs::read_to_string(home.at(files[1])).unwrap(), claude);
    home.run(install.iter().chain(&["--yes", "--source", "claude"]));
    assert_eq!(installed(&home), [false, true, false]);
    home.run(install.iter().chain(&["--yes"]));
    let removed = home.run(["guard", "--hook", "remove", "--yes"]);
    assert_eq!((removed.code, installed(&home)), (Some(0), vec![false; 3]), "{removed}");
    assert_eq!(fs::read_to_string(home.at(files[1])).unwrap(), claude);
}

#[test]
fn a_past_day_is_played_from_session_files() {
    let home = home(["gemini/lines/plain"]);
    let sessions = run_json(&home, &["list", "--all"]);
    let session = &sessions["sessions"][0];
    let date = &session["started"].as_str().unwrap()[..10];
    let play = |arguments: &[&str]| {
        home.run_with(["watch", "--replay"].iter().chain(arguments), |command| {
            command.env("TZ", "UTC");
        })
    };
    let played = play(&[date, "--speed", "max", "--json"]);
    assert_eq!(played.code, Some(0), "{played}");
    let documents: Vec<Value> =
        played.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let states: Vec<&str> =
        documents.iter().map(|one| one["session"]["state"].as_str().unwrap()).collect();
    assert_eq!((states.first(), states.last()), (Some(&"working"), Some(&"done")), "{states:?}");
    assert!(states.contains(&"yours"), "{states:?}");
    let first = &documents[0];
    assert!(first["time"].as_str() >= session["started"].as_str(), "{first}");
    assert!(first["time"].as_str() < session["updated"].as_str(), "{first}");
    assert_eq!(first["session"]["id"], session["id"]);
    assert_eq!(first["session"]["title"], session["title"]);
    let midnight = first["t"].as_i64().unwrap();
    assert!((0..86_400_000).contains(&midnight));
    let tokens = &documents.last().unwrap()["session"]["tokens"]["total"];
    assert_eq!(tokens, &session["tokens"]["total"]);
    assert!(documents.windows(2).all(|two| two[0]["t"].as_i64() <= two[1]["t"].as_i64()));
    // A day on which nothing happened, and what is no day and no file.
    let empty = play(&["1999-01-01", "--speed", "max", "--json"]);
    assert_eq!((empty.code, empty.stdout.as_str()), (Some(0), ""), "{empty}");
    assert_eq!(play(&["2026-13-01", "--speed", "max"]).code, Some(2));
    assert_eq!(play(&[date, "--speed", "0"]).code, Some(2));
}

#[test]
fn a_budget_is_projected() {
    let home = running(&json!({}));
    home.write(".config/recount/config.toml", "[budget]\ndaily = 0.001\nmonthly = 1000.0\n");
    let at = now();
    let answer = json!({"id": "a", "timestamp": time(at - 2000), "type": "gemini", "content": "Done.", "model": "gemini-2.5-pro",
                        "tokens": {"input": 100_000, "output": 1000, "cached": 0, "thoughts": 0, "tool": 0, "total": 101_000}});
    let log = fs::read_to_string(home.at(LOG)).unwrap();
    write_log(&home, &format!("{log}{answer}\n"));
    let once = |more: &[&str]| {
        home.run_with(["watch", "--once"].iter().chain(more).copied(), |command| {
            let command = command.env("RECOUNT_PROCESS_TABLE", home.at("processes.json"));
            command.env_remove("RECOUNT_NOW");
        })
        .stdout
    };
    // What was spent is not waited for long, so a busy machine is asked again.
    let mut documents = (0..20).map(|_| serde_json::from_str::<Value>(&once(&["--json"])).unwrap());
    let document =
        documents.find(|document| document["budget"]["daily"]["spent_usd"].is_f64()).unwrap();
    let budget = &document["budget"];
    let figure = |path: &str| budget.pointer(path).and_then(Value::as_f64).unwrap();
    assert!(figure("/daily/spent_usd") > 0.1, "{budget}");
    assert!(figure("/usd_per_minute") > 0.01, "{budget}");
    assert!(figure("/monthly/projected_usd") > figure("/monthly/spent_usd"), "{budget}");
    assert!(budget["daily"]["reached"].is_string(), "{budget}");
    assert!((0..20).any(|_| once(&[]).contains("of $0.001, over")), "{}", once(&[]));
}
