//! `recount guard --fix`: the files that cause deletions are removed, and come back byte for byte.

#![expect(clippy::unwrap_used, reason = "what a test needs it must have")]

use recount_testkit::Home;
use serde_json::{Value, json};

use super::changing::{json as run_json, tree};
use crate::home;

const BELOW: &str = ".gemini/tmp/shop";

/// A record of a log.
fn head(id: &str, day: &str) -> Value {
    let time = format!("{day}T08:00:00.000Z");
    json!({"sessionId": id, "projectHash": "ab", "startTime": time, "lastUpdated": time, "kind": "main"})
}

fn asked(id: &str, day: &str, text: &str) -> Value {
    let time = format!("{day}T08:00:00.000Z");
    json!({"id": id, "timestamp": time, "type": "user", "content": [{"text": text}]})
}

fn log(home: &Home, name: &str, records: &[Value]) {
    let lines: Vec<String> = records.iter().map(ToString::to_string).collect();
    home.write(&format!("{BELOW}/chats/session-{name}"), lines.join("\n") + "\n");
}

fn shop() -> Home {
    let home = home([]);
    home.write(&format!("{BELOW}/.project_root"), "/home/dev/code/shop");
    home
}

/// The ids that `guard` says would lose words.
fn doomed(home: &Home) -> Vec<String> {
    let report = run_json(home, &["guard", "--release", "0.60.0"]);
    let projects = report["projects"].as_array().unwrap().iter();
    let sessions = projects.flat_map(|project| project["sessions"].as_array().unwrap());
    let lost = sessions.filter(|session| session["lost"] != "spare");
    lost.map(|session| session["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_stub_is_removed_and_the_conversation_stays() {
    let home = home(["gemini/lines/resume-stub"]);
    let before = tree(&home);
    insta::assert_snapshot!(home.run(["guard", "--fix", "--release", "0.60.0", "--dry-run"]), @"
    798f2624  Another session  /home/dev/code/shop
    CHANGE  WHAT  BEFORE  AFTER  FILE
    remove  stub   228 B      -  ~/.gemini/tmp/shop/chats/session-2026-11-15T18-29-798f2624.jsonl
    ------- stderr -------
    note: nothing was changed (--dry-run)
    [exit 0]
    ");
    assert_eq!(tree(&home), before);
    let refused = home.run(["guard", "--fix", "--release", "0.60.0"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    insta::assert_snapshot!(home.run(["guard", "--fix", "--release", "0.60.0", "--yes"]), @"
    798f2624  Another session  /home/dev/code/shop
    CHANGE  WHAT  BEFORE  AFTER  FILE
    remove  stub   228 B      -  ~/.gemini/tmp/shop/chats/session-2026-11-15T18-29-798f2624.jsonl
    ------- stderr -------
    note: fixed: 1 file; `recount undo 20261116-000000` reverts it
    [exit 0]
    ");
    let calm = home.run(["guard", "--release", "0.60.0"]);
    assert_eq!(calm.code, Some(0), "{calm}");
    // The session is not in the trash; its stub is undo data.
    let trash = home.run(["trash"]);
    assert!(trash.stderr.contains("no deleted sessions"), "{trash}");
    insta::assert_snapshot!(home.run(["guard", "--fix", "--release", "0.60.0", "--yes"]), @"
    ------- stderr -------
    note: nothing to fix
    [exit 0]
    ");
    let undone = home.run(["undo", "--yes"]);
    assert_eq!(undone.code, Some(0), "{undone}");
    assert_eq!(tree(&home), before);
}

#[test]
fn every_trap_of_every_fixture_is_disarmed_and_restored() {
    let mut disarmed = 0;
    for case in [
        "gemini/checkpoints/resume-lost",
        "gemini/checkpoints/resume-stub",
        "gemini/damaged/same-start",
        "gemini/damaged/split-by-clear",
        "gemini/damaged/split-by-compress",
        "gemini/damaged/subagent-with-kind",
        "gemini/damaged/subagent-without-kind",
        "gemini/damaged/unreadable-aside",
        "gemini/lines/migration",
        "gemini/lines/resume-stub",
    ] {
        let home = home([case]);
        let before = tree(&home);
        let listed = run_json(&home, &["list", "--all"]);
        let fixed = run_json(&home, &["guard", "--fix", "--release", "0.60.0", "--yes"]);
        let Some(receipt) = fixed["receipt"].as_str() else { continue };
        disarmed += 1;
        let report = run_json(&home, &["guard", "--release", "0.60.0"]);
        let text = report.to_string();
        assert!(!text.contains("\"same-name\"") && !text.contains("\"stub\""), "{case}: {text}");
        let titles = |listed: &Value| {
            let sessions = listed["sessions"].as_array().unwrap().iter();
            let mut rows: Vec<String> = sessions
                .map(|row| {
                    format!("{} {} {} {}", row["id"], row["title"], row["messages"], row["tokens"])
                })
                .collect();
            rows.sort();
            rows
        };
        let now = run_json(&home, &["list", "--all"]);
        assert_eq!(titles(&now), titles(&listed), "{case}");
        let undone = home.run(["undo", receipt, "--yes"]);
        assert_eq!(undone.code, Some(0), "{case}: {undone}");
        assert_eq!(tree(&home), before, "{case}");
    }
    assert!(disarmed >= 4, "{disarmed}");
}

#[test]
fn a_twin_is_archived_only_when_its_log_holds_all_of_it() {
    let id = "3d2f9a10-5c1b-4a5e-9f60-0b1c2d3e4f50";
    let (old, new) = ("2026-09-02", "2026-11-10");
    let document = |ids: &[&str]| {
        let mut whole = head(id, old);
        whole["messages"] = ids.iter().map(|id| asked(id, old, "What does it cost?")).collect();
        serde_json::to_string_pretty(&whole).unwrap()
    };
    let name = "session-2026-09-02T08-00-3d2f9a10";
    let case = |ids: &[&str]| {
        let home = shop();
        home.write(&format!("{BELOW}/chats/{name}.json"), document(ids));
        let records =
            [head(id, new), asked("1", old, "What does it cost?"), asked("2", new, "And now?")];
        log(&home, "2026-09-02T08-00-3d2f9a10.jsonl", &records);
        assert_eq!(doomed(&home), [id]);
        let fixed = run_json(&home, &["guard", "--fix", "--release", "0.60.0", "--yes"]);
        let files = fixed["files"].as_array().unwrap().clone();
        (home, files.len(), fixed["notes"].clone())
    };
    let (home, files, notes) = case(&["1"]);
    assert_eq!((files, notes, doomed(&home).len()), (1, json!([]), 0));
    // Something in it is nowhere else: it keeps its bytes, goes alone, and that is report.
    let (home, files, notes) = case(&["1", "only here"]);
    assert_eq!(files, 2);
    assert!(notes[0].as_str().unwrap().contains("`recount guard --keep`"), "{notes}");
    assert!(home.path().join(format!("{BELOW}/chats/session-2026-09-02T08-00-{id}.json")).exists());
    let output = home.run(["guard", "--release", "0.60.0", "--json"]);
    assert!(!output.stdout.contains("same-name"), "{output}");
}

#[test]
fn files_with_the_same_name_are_renamed_and_keep_their_artifacts() {
    let [old, new] =
        ["3d2f9a10-0000-4000-8000-00000000000a", "3d2f9a10-1111-4111-8111-11111111111b"];
    let home = shop();
    let (then, now) = ("2026-09-02", "2026-11-10");
    log(&home, "2026-09-02T08-00-3d2f9a10.jsonl", &[head(old, then), asked("1", then, "Old?")]);
    log(&home, "2026-11-10T08-00-3d2f9a10.jsonl", &[head(new, now), asked("2", now, "New?")]);
    home.write(&format!("{BELOW}/tool-outputs/session-{new}/list.txt"), "apples");
    let before = tree(&home);
    assert_eq!(doomed(&home), [new, old]);
    let output = home.run(["guard", "--fix", "--release", "0.60.0", "--yes"]);
    insta::assert_snapshot!(output, @r"
    3d2f9a10  Old?  /home/dev/code/shop
    CHANGE  BEFORE  AFTER  FILE
    new          -  258 B  …/chats/session-2026-09-02T08-00-3d2f9a10-0000-4000-8000-00000000000a.jsonl
    moved    258 B      -  ~/.gemini/tmp/shop/chats/session-2026-09-02T08-00-3d2f9a10.jsonl
    ------- stderr -------
    note: 1 session will still be deleted by age or number: `recount guard --retention off` prevents that, `recount guard --keep` keeps copies
    note: fixed: 2 files; `recount undo 20261116-000000` reverts it
    [exit 1]
    ");
    // The old one is past its time, and does not take the new one along any more.
    assert_eq!(doomed(&home), [old]);
    assert_eq!(run_json(&home, &["show", old])["session"]["id"], old);
    assert_eq!(home.run(["undo", "--yes"]).code, Some(0));
    assert_eq!(tree(&home), before);
}
