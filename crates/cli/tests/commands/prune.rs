//! Tests of moving sessions to the trash by rule.

#![expect(clippy::unwrap_used, reason = "test setup must succeed")]

use recount_testkit::Home;
use serde_json::Value;

use super::changing::{change, folder, json, log, sessions, tree, undo};
use crate::home;

const OLD: &str = "aaaaaaaa-1111-4111-8111-111111111111";
const NEW: &str = "bbbbbbbb-1111-4111-8111-111111111111";
const BLANK: &str = "cccccccc-1111-4111-8111-111111111111";
const GONE: &str = "dddddddd-1111-4111-8111-111111111111";

/// Returns a project with an old session, a new one with a leftover of a resume, an empty one, and artifacts of a deleted
/// one.
fn untidy() -> Home {
    let home = home([]);
    let shop = folder(&home, "code/shop");
    let at = |path: &str| format!(".gemini/tmp/shop/{path}");
    home.write(&at(".project_root"), shop);
    let old = log(OLD, "plums").replace("2026-11-15", "2026-06-15");
    home.write(&at("chats/session-2026-06-15T08-00-aaaaaaaa.jsonl"), old);
    home.write(&at("chats/session-2026-11-15T08-00-bbbbbbbb.jsonl"), log(NEW, "pears"));
    let head = |id: &str| format!("{}\n", log(id, "x").lines().next().unwrap());
    home.write(&at("chats/session-2026-11-15T08-10-bbbbbbbb.jsonl"), head(NEW));
    home.write(&at("chats/session-2026-11-15T08-20-cccccccc.jsonl"), head(BLANK));
    home.write(&at(&format!("chats/{GONE}/e76q7e.jsonl")), log("e76q7e", "agent"));
    home.write(&at(&format!("tool-outputs/session-{GONE}/a.txt")), "x");
    home.write(&at("tool-outputs/session-e76q7e/a.txt"), "x");
    home.write(&at(&format!("tool-outputs/session-{NEW}/a.txt")), "x");
    home.write(&at(&format!("logs/session-{GONE}.jsonl")), "{}");
    home.write(&at(&format!("{GONE}/plans/plan.md")), "x");
    home.write(&at("memory/MEMORY.md"), "x");
    home
}

/// Returns the ends of the removed paths.
fn gone(plan: &Value) -> Vec<String> {
    let files = plan["files"].as_array().unwrap().iter();
    let end = |path: &str| path.split_once("/tmp/shop/").unwrap().1.to_owned();
    let mut gone: Vec<String> = files.map(|file| end(file["path"].as_str().unwrap())).collect();
    gone.sort();
    gone
}

#[test]
fn each_rule_selects_its_sessions() {
    let home = untidy();
    let plan = |rules: &[&str]| gone(&json(&home, &[&["prune"], rules].concat()));
    assert_eq!(plan(&["--older", "90d"]), ["chats/session-2026-06-15T08-00-aaaaaaaa.jsonl"]);
    assert_eq!(
        plan(&["--empty"]),
        [
            "chats/session-2026-11-15T08-10-bbbbbbbb.jsonl",
            "chats/session-2026-11-15T08-20-cccccccc.jsonl"
        ]
    );
    assert_eq!(
        plan(&["--orphaned"]),
        [
            format!("chats/{GONE}/e76q7e.jsonl"),
            format!("{GONE}/plans/plan.md"),
            format!("logs/session-{GONE}.jsonl"),
            format!("tool-outputs/session-{GONE}/a.txt"),
            "tool-outputs/session-e76q7e/a.txt".to_owned(),
        ]
    );
    assert_eq!(plan(&["--older", "90d", "--empty"]).len(), 3);
}

#[test]
fn nothing_happens_without_a_yes_and_undo_restores_everything() {
    let home = untidy();
    let before = tree(&home);
    let shown = home.run(["prune", "--older", "90d", "--empty", "--orphaned"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    assert!(shown.stderr.contains("nothing was changed"), "{shown}");
    assert!(shown.stderr.contains("run again with --yes to move 2 sessions, 8 files"), "{shown}");
    assert_eq!(tree(&home), before);
    let made = change(&home, &["prune", "--older", "90d", "--empty", "--orphaned"]);
    assert_eq!(made["schema"], "recount.prune/1");
    let left = sessions(&home);
    assert_eq!((left.len(), &left[0]["id"]), (1, &NEW.into()));
    assert_eq!(left[0]["files"].as_array().unwrap().len(), 1);
    // The session of a removed leftover is not itself in the trash.
    let trash = json(&home, &["trash"]);
    assert_eq!(trash["sessions"].as_array().unwrap().len(), 2, "{trash}");
    undo(&home, &made, &before);
}

#[test]
fn pinned_sessions_stay_unless_they_are_asked_for() {
    let home = untidy();
    home.run(["pin", OLD]);
    let kept = home.run(["prune", "--older", "90d", "--yes"]);
    assert!(kept.stderr.contains("skipped 1 session: pinned"), "{kept}");
    assert!(kept.stderr.contains("nothing to change"), "{kept}");
    assert!(gone(&json(&home, &["prune", "--older", "90d", "--keep-pinned"])).is_empty());
    assert_eq!(gone(&json(&home, &["prune", "--older", "90d", "--with-pinned"])).len(), 1);
}

#[test]
fn sessions_of_folders_that_are_gone_go_but_not_those_of_folders_that_moved() {
    let home = home(["gemini/lines/tools"]);
    let plan = json(&home, &["prune", "--orphaned"]);
    assert_eq!(plan["sessions"][0]["id"], "8662c6d1-79eb-45ff-9a82-649436c92eda");
    let only = home.run(["prune", "--orphaned", "nothing-like-it"]);
    assert_eq!(only.code, Some(1), "{only}");
}

#[test]
fn damaged_sessions_are_not_empty() {
    let home = home(["gemini/damaged/empty-file"]);
    let output = home.run(["prune", "--empty"]);
    assert!(output.stderr.contains(": damaged, not empty"), "{output}");
}

#[test]
fn without_a_rule_nothing_is_pruned() {
    let home = untidy();
    insta::assert_snapshot!(home.run(["prune", "--yes"]), @r"
    ------- stderr -------
    error: no rule given
    hint: give one or more of --older 90d, --empty, --orphaned
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["prune", "--older", "soon"]), @r"
    ------- stderr -------
    error: --older soon: not a time
    hint: give a date (2026-09-02), a time (2026-09-02T08:00), `today`, or how long ago (12h, 7d)
    [exit 2]
    ");
}
