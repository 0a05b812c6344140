//! `recount guard --hook`: installed without a trace of it elsewhere, and quiet whatever happens.

#![expect(clippy::unwrap_used, reason = "what a test needs it must have")]

use std::fs::File;

use recount_testkit::{Home, Output};
use serde_json::json;

use super::changing::{json as run_json, tree};
use crate::home;

/// What the agent is told to call: tests may lie in a temporary folder.
const PROGRAM: &str = env!("CARGO_BIN_EXE_recount");
const SETTINGS: &str = ".gemini/settings.json";
const CHATS: &str = ".gemini/tmp/shop/chats";
const CONVERSATION: &str = "session-2026-11-15T18-28-798f2624.jsonl";
const STUB: &str = "session-2026-11-15T18-29-798f2624.jsonl";

/// Runs the hook as an agent does that has `file` open.
fn call(home: &Home, event: &str, file: &str) -> Output {
    let id = run_json(home, &["list", "--all"])["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["id"].as_str().unwrap().to_owned())
        .find(|id| id.starts_with("798f2624"));
    let told = json!({
        "session_id": id,
        "transcript_path": home.at(&format!("{CHATS}/{file}")),
        "cwd": "/home/dev/code/shop",
        "hook_event_name": event,
    });
    answer(home, &told.to_string())
}

fn answer(home: &Home, told: &str) -> Output {
    home.write("told.json", told);
    home.run_with(["guard", "--hook", "run"], |command| {
        command.stdin(File::open(home.path().join("told.json")).unwrap());
    })
}

fn is_there(home: &Home, file: &str) -> bool {
    home.path().join(CHATS).join(file).exists()
}

#[test]
fn the_stub_is_removed_once_the_agent_has_left_it() {
    let home = home(["gemini/lines/resume-stub"]);
    assert!(is_there(&home, CONVERSATION) && is_there(&home, STUB), "{:#?}", tree(&home).keys());
    // While a session is being taken up, the agent still has the stub open.
    for (event, file) in [("SessionStart", STUB), ("BeforeAgent", STUB), ("SessionEnd", STUB)] {
        let output = call(&home, event, file);
        assert_eq!(output.to_string(), "[exit 0]", "{event}");
        assert!(is_there(&home, STUB), "{event}");
    }
    let output = call(&home, "BeforeAgent", CONVERSATION);
    assert_eq!(output.to_string(), "[exit 0]");
    assert!(is_there(&home, CONVERSATION) && !is_there(&home, STUB));
    assert_eq!(home.run(["guard", "--release", "0.60.0", "-q"]).code, Some(0));
    // It can be taken back like any change.
    assert_eq!(home.run(["undo", "--yes"]).code, Some(0));
    assert!(is_there(&home, STUB));
    assert_eq!(call(&home, "SessionEnd", CONVERSATION).to_string(), "[exit 0]");
    assert!(!is_there(&home, STUB));
    // And copies are held.
    assert_eq!(run_json(&home, &["vault"])["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn any_input_is_handled_silently() {
    let home = home(["gemini/lines/resume-stub"]);
    let before = tree(&home);
    for told in [
        "",
        "nonsense",
        "{}",
        r#"{"session_id": 1, "transcript_path": [], "hook_event_name": "SessionEnd"}"#,
        r#"{"session_id": "a", "transcript_path": "/nowhere/chats/x.jsonl", "hook_event_name": "SessionEnd"}"#,
        r#"{"session_id": "a", "transcript_path": "", "hook_event_name": "BeforeTool"}"#,
    ] {
        assert_eq!(answer(&home, told).to_string(), "[exit 0]", "{told}");
    }
    assert_eq!(tree(&home), before);
    home.write(".config/recount/config.toml", "[nonsense");
    assert_eq!(answer(&home, "{}").to_string(), "[exit 0]");
}

#[test]
fn it_is_installed_once_and_removed_without_a_trace() {
    let home = home(["gemini/lines/plain"]);
    let text = "{\n  // mine\n  \"ui\": { \"theme\": \"x\" }\n}\n";
    home.write(SETTINGS, text);
    let install = ["guard", "--hook", "install", "--program", PROGRAM];
    let output = home.run(install.iter().chain(&["--yes"]));
    assert_eq!(output.code, Some(0), "{output}");
    let with = String::from_utf8(home.read(SETTINGS)).unwrap();
    assert!(with.starts_with("{\n  // mine\n") && with.contains("guard --hook run"), "{with}");
    let again = home.run(install.iter().chain(&["--yes"]));
    assert!(again.stderr.contains("there already"), "{again}");
    let output = home.run(["guard", "--hook", "remove", "--yes"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(String::from_utf8(home.read(SETTINGS)).unwrap(), text);
    assert_eq!(home.run(["guard", "--hook", "remove", "--yes"]).code, Some(0));
    home.write(SETTINGS, "{\"hooksConfig\": {\"enabled\": false}}");
    let off = home.run(install.iter().chain(&["--dry-run"]));
    assert!(off.stderr.contains("runs no hooks"), "{off}");
}

#[test]
fn it_is_not_installed_into_settings_that_the_agent_refuses() {
    let home = home(["gemini/lines/plain"]);
    let text = "{\n  \"ui\": { \"theme\": \"x\" },\n}\n";
    home.write(SETTINGS, text);
    for arguments in [
        &["guard", "--hook", "install", "--program", PROGRAM, "--yes"][..],
        &["guard", "--retention", "off", "--yes"],
    ] {
        let output = home.run(arguments);
        assert_eq!(output.code, Some(3), "{output}");
        assert!(output.stderr.contains("line 2: a comma after the last item"), "{output}");
        assert!(output.stderr.contains("the agent refuses the file"), "{output}");
    }
    assert_eq!(String::from_utf8(home.read(SETTINGS)).unwrap(), text);
    // Somebody adds the comma later: it is found all the same.
    home.write(SETTINGS, "{}\n");
    home.run(["guard", "--hook", "install", "--program", PROGRAM, "--yes"]);
    let with = String::from_utf8(home.read(SETTINGS)).unwrap();
    home.write(SETTINGS, with.trim_end().trim_end_matches('}').trim_end().to_owned() + ",\n}\n");
    let output = home.run(["guard", "--hook", "remove", "--yes"]);
    assert_eq!(output.code, Some(0), "{output}");
    let left = String::from_utf8(home.read(SETTINGS)).unwrap();
    assert!(!left.contains("recount"), "{left}");
}

#[cfg(unix)]
#[test]
fn a_program_in_a_temporary_folder_is_not_installed_as_hook() {
    let home = home(["gemini/lines/plain"]);
    let here = std::path::Path::new(PROGRAM).parent().unwrap();
    let output = home.run_with(["guard", "--hook", "install", "--yes"], |command| {
        command.env("TMPDIR", here);
    });
    assert_eq!(output.code, Some(3), "{output}");
    assert!(output.stderr.contains("is in a temporary folder"), "{output}");
    assert!(!home.path().join(SETTINGS).exists());
}
