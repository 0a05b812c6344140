//! Tests of findings and their severity, and that a healthy home has none.

#![expect(clippy::unwrap_used, reason = "test setup must succeed")]
#![expect(clippy::disallowed_methods, reason = "tests change their own files")]

use std::fs;
use std::path::Path;

use recount_testkit::Home;
use serde_json::Value;

use crate::commands::changing::{json, tree};
use crate::{has, home};

const SHOP: &str = ".gemini/tmp/shop";

fn findings(home: &Home) -> Vec<Value> {
    json(home, &["doctor"])["findings"].as_array().unwrap().clone()
}

/// Returns the findings, in short.
fn short_findings(home: &Home, topic: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let all = findings(home).into_iter().filter(|finding| finding["topic"] == topic);
    all.map(|f| format!("{}: {} [{}]", text(&f["severity"]), text(&f["what"]), text(&f["remedy"])))
        .collect()
}

/// Returns a healthy home: the project exists, and nothing is old.
fn healthy() -> Home {
    let home = home([]);
    let project = home.at("code/shop");
    fs::create_dir_all(&project).unwrap();
    home.write(&format!("{SHOP}/.project_root"), &project);
    home.write(".gemini/projects.json", format!(r#"{{"projects":{{"{project}":"shop"}}}}"#));
    home.write(&format!("{SHOP}/chats/session-2026-11-15T08-00-3d2f9a10.jsonl"), concat!(
        r#"{"sessionId":"3d2f9a10-5c1b-4d11-b127-fab536451cda","projectHash":"h","startTime":"2026-11-15T08:00:00.000Z","lastUpdated":"2026-11-15T08:10:00.000Z","kind":"main"}"#, "\n",
        r#"{"id":"u1","timestamp":"2026-11-15T08:00:01.000Z","type":"user","content":[{"text":"hello"}]}"#, "\n",
        r#"{"id":"m1","timestamp":"2026-11-15T08:00:02.000Z","type":"gemini","content":"hi"}"#, "\n"));
    private(&home.path().join(".gemini"), true);
    home
}

/// Sets whether other users can read a folder.
#[cfg(unix)]
fn private(folder: &Path, is_private: bool) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = if is_private { 0o700 } else { 0o755 };
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn private(_folder: &Path, _is_private: bool) {}

#[test]
fn a_healthy_home_has_nothing_wrong() {
    let home = healthy();
    insta::assert_snapshot!(home.run(["doctor"]), @"
    ------- stderr -------
    note: no problems found
    [exit 0]
    ");
    assert_eq!(findings(&home), Vec::<Value>::new());
}

#[test]
fn damage_is_reported_with_the_command_that_fixes_it() {
    let home = healthy();
    let path = format!("{SHOP}/chats/session-2026-11-15T08-00-3d2f9a10.jsonl");
    let mut torn = home.read(&path);
    torn.extend(br#"{"$rewindTo":"gone"}"#);
    torn.extend(b"\n{\"id\":\"u2\"");
    home.write(&path, torn);
    let before = tree(&home);
    insta::assert_debug_snapshot!(short_findings(&home, "sessions"), @r#"
    [
        "error: a rewind to a message that does not exist hides everything before it [recount repair 3d2f9a10]",
        "warning: the last record is incomplete (10 bytes) [recount repair 3d2f9a10]",
    ]
    "#);
    has(&findings(&home)[0], "topic severity what session path remedy");
    let output = home.run(["doctor"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(tree(&home), before);
    assert_eq!(home.run(["repair", "3d2f", "--yes"]).code, Some(0));
    assert_eq!(short_findings(&home, "sessions"), Vec::<String>::new());
}

#[test]
fn orphaned_files_are_reported() {
    let home = healthy();
    for path in [
        format!("{SHOP}/chats/11111111-5c1b-4d11-b127-fab536451cda/agent1.jsonl"),
        format!("{SHOP}/tool-outputs/session-22222222-5c1b-4d11-b127-fab536451cda/x.txt"),
        format!("{SHOP}/logs/session-33333333-5c1b-4d11-b127-fab536451cda.jsonl"),
        format!("{SHOP}/44444444-5c1b-4d11-b127-fab536451cda/plans/p.md"),
        format!("{SHOP}/logs.json.invalid_json.1794762003000.bak"),
        ".gemini/projects.json.0a1b.tmp".to_owned(),
        ".gemini/projects.json.lock/x".to_owned(),
    ] {
        home.write(&path, "");
    }
    let lock = fs::File::open(home.path().join(".gemini/projects.json.lock")).unwrap();
    lock.set_modified("2026-11-15T19:00:00Z".parse::<jiff::Timestamp>().unwrap().into()).unwrap();
    insta::assert_debug_snapshot!(short_findings(&home, "left-over"), @r#"
    [
        "warning: a stale lock [-]",
        "note: activity log of a session that is gone [recount prune --orphaned]",
        "note: left over from an interrupted write or rename [-]",
        "note: left over from an interrupted write or rename [-]",
        "note: outputs of tools of a session that is gone [recount prune --orphaned]",
        "note: plans and tasks of a session that is gone [recount prune --orphaned]",
        "note: sub-agents of a session that is gone [recount prune --orphaned]",
    ]
    "#);
}

#[test]
fn markers_and_registry_are_compared() {
    let home = healthy();
    let project = home.at("code/shop");
    home.write(".gemini/history/shop/.project_root", home.at("code/other"));
    home.write(
        ".gemini/projects.json",
        format!(r#"{{"projects":{{"{project}":"shop","/gone":"Bad Name"}}}}"#),
    );
    home.write(".gemini/tmp/blog/chats/session-2026-11-15T08-00-99999999.jsonl", "{}");
    let all = short_findings(&home, "projects");
    let all: Vec<String> = all.iter().map(|one| one.replace(&home.at(""), "~/")).collect();
    insta::assert_debug_snapshot!(all, @r#"
    [
        "error: \"Bad Name\" for /gone has characters that make 0.43 and later forget all projects [-]",
        "error: it names ~/code/shop, and history/.project_root names ~/code/other [recount projects --scan]",
        "warning: missing marker: nothing here records the project [-]",
    ]
    "#);
    home.write(".gemini/projects.json", "{\"projects\":{");
    assert!(
        short_findings(&home, "projects")
            .iter()
            .any(|one| one.contains("project registry is damaged"))
    );
}

#[test]
fn our_own_data_is_checked() {
    let home = healthy();
    assert_eq!(short_findings(&home, "recount"), Vec::<String>::new());
    home.write(".local/share/recount/journal/20261116-000000.jsonl", "garbage\n");
    home.write(".local/share/recount/catalog.db", "garbage");
    let all = short_findings(&home, "recount");
    assert!(all.iter().any(|one| one.contains("a journal cannot be read")), "{all:?}");
}

#[test]
fn one_project_can_be_asked_for() {
    let home = healthy();
    home.write(".gemini/tmp/blog/.project_root", home.at("code/blog"));
    home.write(
        ".gemini/tmp/blog/chats/session-2026-11-15T08-00-99999999.jsonl",
        "{\"id\":\"u1\",\"type\":\"user\",\"content\":\"x\"}",
    );
    assert_eq!(home.run(["doctor", "shop"]).code, Some(0));
    assert_eq!(home.run(["doctor", "blog"]).code, Some(1));
}

#[cfg(unix)]
#[test]
fn files_that_others_can_read_or_nobody_can_write_are_reported() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = healthy();
    let file = home.path().join(format!("{SHOP}/chats/session-2026-11-15T08-00-3d2f9a10.jsonl"));
    fs::set_permissions(file, fs::Permissions::from_mode(0o444)).unwrap();
    private(home.path(), false);
    private(&home.path().join(".gemini"), false);
    let all = short_findings(&home, "permissions").join("\n").replace(&home.at(""), "~/");
    let path = format!("~/{SHOP}/chats/session-2026-11-15T08-00-3d2f9a10.jsonl");
    let expected = format!(
        "warning: not writable by its owner; the agent cannot resume it [chmod u+w {path}]"
    );
    assert!(all.starts_with(&expected), "{all}");
    assert!(all.contains("other users of this machine can read"), "{all}");
}

#[cfg(unix)]
#[test]
fn the_remedy_that_is_printed_runs() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = healthy();
    let data = home.path().join("other home/.gemini");
    fs::create_dir_all(home.path().join("other home")).unwrap();
    fs::rename(home.path().join(".gemini"), &data).unwrap();
    for path in [home.path(), &home.path().join("other home"), &data] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let output = home.run_with(["--home", "other home", "doctor"], |command| {
        command.env("RECOUNT_WIDTH", "200");
    });
    let (_, command) = output.stdout.split_once("chmod go-rwx ").unwrap();
    let command = format!("chmod go-rwx {}", command.lines().next().unwrap());
    assert_eq!(command, "chmod go-rwx ~/'other home/.gemini'");
    let mut shell = std::process::Command::new("sh");
    let run = shell.args(["-c", &command]).env("HOME", home.path()).output().unwrap();
    assert!(run.status.success(), "{command}: {run:?}");
    assert_eq!(fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn nothing_is_cut_on_a_narrow_terminal() {
    // The demo home has projects whose folders are gone.
    let home = home([]);
    let document: Value = serde_json::from_str(&home.run(["doctor", "--json"]).stdout).unwrap();
    let narrow = home.run_with(["doctor"], |command| {
        command.env("RECOUNT_WIDTH", "60");
    });
    let words = narrow.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let findings = document["findings"].as_array().unwrap();
    assert!(findings.len() > 3, "{document}");
    for finding in findings {
        let what = finding["what"].as_str().unwrap();
        assert!(words.contains(what), "{what}: {narrow}");
        if let Some(remedy) = finding["remedy"].as_str() {
            assert!(narrow.stdout.lines().any(|line| line.trim() == remedy), "{remedy}: {narrow}");
        }
    }
}

/// One day's directory has sessions of two projects, one with a damaged line.
#[test]
fn sessions_of_one_day_are_told_apart_by_their_projects() {
    let home = home([]);
    let (shop, gone) = (home.at("code/shop"), home.at("code/gone"));
    fs::create_dir_all(&shop).unwrap();
    for (number, project) in [(1, &shop), (2, &gone)] {
        let id = format!("019ab7de-0000-7000-8000-00000000000{number}");
        let mut log = format!(
            "{{\"timestamp\":\"2026-11-15T08:00:00.000Z\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\"timestamp\":\"2026-11-15T08:00:00.000Z\",\"cwd\":\"{project}\",\"originator\":\"codex_cli_rs\",\"cli_version\":\"0.104.0\"}}}}\n"
        );
        log.push_str("{\"timestamp\":\"2026-11-15T08:00:01.000Z\",\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"hello\"}}\n");
        log.push_str("{\"timestamp\":\"2026-11-15T08:00:02.000Z\",\"type\":\"resp\n");
        log.push_str("{\"timestamp\":\"2026-11-15T08:00:03.000Z\",\"type\":\"event_msg\",\"payload\":{\"type\":\"agent_message\",\"message\":\"hi\"}}\n");
        home.write(
            &format!(".codex/sessions/2026/11/15/rollout-2026-11-15T08-00-00-{id}.jsonl"),
            log,
        );
    }
    private(&home.path().join(".codex"), true);
    let sessions = |arguments: &[&str]| {
        let all = json(&home, arguments)["findings"].as_array().unwrap().clone();
        let ids = all.iter().filter_map(|finding| finding["session"].as_str().map(str::to_owned));
        let mut ids: Vec<String> = ids.collect();
        ids.dedup();
        ids
    };
    assert_eq!(sessions(&["doctor"]).len(), 2);
    assert_eq!(sessions(&["doctor", "shop"]), ["019ab7de-0000-7000-8000-000000000001"]);
    let page = home.run(["doctor", "gone"]).to_string();
    assert!(page.contains("code/gone"), "{page}");
    assert!(!page.contains("11/15 "), "a day is no place of a project: {page}");
}
