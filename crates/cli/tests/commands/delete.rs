//! Tests of deleting and restoring sessions: all of a session and nothing else, byte for byte.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "test setup must succeed")]

use std::fs;
use std::path::Path;

use recount_testkit::Home;

use super::changing::{json, tree};
use crate::{has, home};

/// Returns the ids of all sessions, including sub-agents.
fn ids(home: &Home) -> Vec<String> {
    let listed = json(home, &["list", "--all"]);
    let sessions = listed["sessions"].as_array().unwrap().iter();
    let mut ids: Vec<String> = sessions.map(|s| s["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

#[test]
fn every_session_of_every_fixture_is_deleted_and_restored_byte_for_byte() {
    let mut files = 0;
    for case in [
        "gemini/checkpoints/resume-lost",
        "gemini/checkpoints/resume-stub",
        "gemini/checkpoints/subagent",
        "gemini/damaged/same-start",
        "gemini/damaged/split-by-clear",
        "gemini/damaged/split-by-compress",
        "gemini/damaged/subagent-with-kind",
        "gemini/damaged/subagent-without-kind",
        "gemini/damaged/unreadable-aside",
        "gemini/damaged/masked-output",
        "gemini/lines/migration",
        "gemini/lines/subagent",
        "gemini/lines/tools",
    ] {
        let home = home([case]);
        let before = tree(&home);
        for id in ids(&home) {
            let deleted = json(&home, &["delete", &id, "--yes"]);
            let gone = deleted["files"].as_array().unwrap();
            files += gone.len();
            assert!(!ids(&home).contains(&id), "{case}: {id} is still there");
            let paths: Vec<&Path> =
                gone.iter().map(|file| Path::new(file["path"].as_str().unwrap())).collect();
            for (path, known) in &before {
                let is_gone = paths.contains(&path.as_path());
                assert!(known.is_none() || path.exists() != is_gone, "{case}: {}", path.display());
            }
            let receipt = deleted["receipt"].as_str().unwrap();
            let undone = home.run(["undo", receipt, "--yes"]);
            assert_eq!(undone.code, Some(0), "{undone}");
            assert_eq!(tree(&home), before, "{case}: {id}");
        }
    }
    assert!(files > 40, "{files}");
}

#[test]
fn sub_agents_and_artifacts_are_deleted_with_their_session() {
    let home = home(["gemini/lines/subagent"]);
    let id = "fa293f46-f175-4caf-8daa-a46248fa4b4c";
    let hash = "52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee";
    let its = [
        format!("shop/tool-outputs/session-{id}/read_file_1.txt"),
        "shop/tool-outputs/session-e76q7e/read_file_2.txt".to_owned(),
        format!("shop/{id}/plans/plan.md"),
        format!("shop/{id}/tasks/deep/er/1.json"),
        "shop/orreth/tracker/x.json".to_owned(),
        format!("shop/logs/session-{id}.jsonl"),
        format!("{hash}/tool-outputs/session-{id}/old.txt"),
    ];
    let others = [
        "shop/tool-outputs/session-fa293f46-0000-4caf-8daa-a46248fa4b4c/other.txt".to_owned(),
        "shop/logs.json".to_owned(),
        "shop/checkpoint-fa293f46.json".to_owned(),
        format!("{hash}/logs.json"),
    ];
    for path in its.iter().chain(&others) {
        home.write(&format!(".gemini/tmp/{path}"), "[]");
    }
    let before = tree(&home);
    let output = home.run(["delete", "fa29", "--yes"]);
    assert_eq!(output.code, Some(0), "{output}");
    let at = |path: &String| home.path().join(".gemini/tmp").join(path);
    for path in &its {
        assert!(!at(path).exists(), "{path} is still there");
    }
    for path in &others {
        assert!(at(path).exists(), "{path} is gone");
    }
    for folder in [format!("shop/{id}"), format!("shop/chats/{id}"), "shop/orreth".to_owned()] {
        assert!(!at(&folder).exists(), "{folder} is left, empty");
    }
    assert_eq!(home.run(["undo", "--yes"]).code, Some(0));
    assert_eq!(tree(&home), before);
}

#[test]
fn a_chosen_id_means_only_its_own_project() {
    let home = home([]);
    let head = |project: &str| {
        format!(
            "{{\"sessionId\":\"my-task\",\"projectHash\":\"{project}\"}}\n{{\"id\":\"1\",\"type\":\"user\",\"content\":\"hello\"}}\n"
        )
    };
    home.write(".gemini/tmp/a/.project_root", "/home/dev/code/a");
    home.write(".gemini/tmp/a/chats/session-2026-11-15T08-00-my-task.jsonl", head("a"));
    home.write(".gemini/tmp/a/my-task/plans/plan.md", "mine");
    home.write(".gemini/tmp/b/.project_root", "/home/dev/code/b");
    home.write(".gemini/tmp/b/my-task/plans/plan.md", "another's");
    assert_eq!(home.run(["delete", "my-task", "--yes"]).code, Some(0));
    assert!(!home.path().join(".gemini/tmp/a/my-task").exists());
    assert!(home.path().join(".gemini/tmp/b/my-task/plans/plan.md").exists());
}

#[test]
fn the_plan_is_shown_and_without_a_yes_nothing_happens() {
    let home = home(["gemini/lines/subagent"]);
    let before = tree(&home);
    insta::assert_snapshot!(home.run(["delete", "fa29"]), @r"
    fa293f46  Where is the tax computed? Ask the investigator.  /home/dev/code/shop
    CHANGE    BEFORE  AFTER  FILE
    to trash  5.5 KB      -  ~/.gemini/tmp/shop/chats/session-2026-11-15T18-16-fa293f46.jsonl
    to trash  2.6 KB      -  ~/.gemini/tmp/shop/chats/fa293f46-f175-4caf-8daa-a46248fa4b4c/orreth.jsonl
    to trash  3.8 KB      -  ~/.gemini/tmp/shop/chats/fa293f46-f175-4caf-8daa-a46248fa4b4c/e76q7e.jsonl
    ------- stderr -------
    error: nothing was changed: confirmation needs a terminal
    hint: add --yes to confirm, or --dry-run to see the plan only
    [exit 3]
    ");
    let dry = home.run(["delete", "fa29", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{dry}");
    assert!(dry.stderr.contains("nothing was changed (--dry-run)"), "{dry}");
    assert_eq!(tree(&home), before);
    assert!(!home.path().join(".local/share/recount/journal").exists());
    let document = json(&home, &["delete", "fa29", "--dry-run"]);
    assert_eq!(document["schema"], "recount.delete/1");
    assert!(document["receipt"].is_null());
    has(&document["files"][0], "path what session before after");
    has(&document["files"][0]["before"], "bytes sha256 modified");
}

#[test]
fn history_and_trash_list_the_changes() {
    let home = home(["gemini/lines/subagent", "gemini/lines/tools"]);
    let before = tree(&home);
    insta::assert_snapshot!(home.run(["history"]), @r"
    ------- stderr -------
    note: no changes yet
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["delete", "fa29", "8662", "--yes"]), @r"
    fa293f46  Where is the tax computed? Ask the investigator.  /home/dev/code/shop
    8662c6d1  Raise the tax rate to 25 percent and add a discount.  /home/dev/code/shop
    CHANGE    BEFORE  AFTER  FILE
    to trash  5.5 KB      -  ~/.gemini/tmp/shop/chats/session-2026-11-15T18-16-fa293f46.jsonl
    to trash  2.6 KB      -  ~/.gemini/tmp/shop/chats/fa293f46-f175-4caf-8daa-a46248fa4b4c/orreth.jsonl
    to trash  3.8 KB      -  ~/.gemini/tmp/shop/chats/fa293f46-f175-4caf-8daa-a46248fa4b4c/e76q7e.jsonl
    to trash  482 KB      -  ~/.gemini/tmp/shop/chats/session-2026-11-15T18-13-8662c6d1.jsonl
    to trash   50 KB      -  …/run_shell_command__run_shell_command_1794766432990_2.txt
    ------- stderr -------
    note: 2 sessions in the trash: 5 files, 544 KB; `recount undo 20261116-000000` reverts it
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["trash"]), @r"
    ID        DELETED  FILES    SIZE  PROJECT              TITLE
    fa293f46  now          3   12 KB  /home/dev/code/shop  Where is the tax computed? Ask the investiga…
    8662c6d1  now          2  532 KB  /home/dev/code/shop  Raise the tax rate to 25 percent and add a d…
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["restore", "8662", "--yes"]), @r"
    8662c6d1  Raise the tax rate to 25 percent and add a discount.  /home/dev/code/shop
    CHANGE  BEFORE   AFTER  FILE
    back         -   50 KB  …/run_shell_command__run_shell_command_1794766432990_2.txt
    back         -  482 KB  ~/.gemini/tmp/shop/chats/session-2026-11-15T18-13-8662c6d1.jsonl
    ------- stderr -------
    note: 1 session back in place: 2 files; `recount undo 20261116-000000-2` reverts it
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["history"]), @r"
    RECEIPT            WHEN  CHANGE   STATE          FILES    SIZE  SESSIONS
    20261116-000000-2  now   restore  done               2     0 B  8662c6d1 Raise the tax rate to 25 p…
    20261116-000000    now   delete   partly undone      5  544 KB  fa293f46 Where is the tax computed?…
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["restore", "8662", "--yes"]), @"
    ------- stderr -------
    error: no session '8662' in the trash or in the vault
    hint: `recount trash` and `recount vault` list what can be restored; --from DIR restores from a backup
    [exit 1]
    ");
    insta::assert_snapshot!(home.run(["restore", "--yes"]), @r"
    fa293f46  Where is the tax computed? Ask the investigator.  /home/dev/code/shop
    CHANGE  BEFORE   AFTER  FILE
    back         -  3.8 KB  ~/.gemini/tmp/shop/chats/fa293f46-f175-4caf-8daa-a46248fa4b4c/e76q7e.jsonl
    back         -  2.6 KB  ~/.gemini/tmp/shop/chats/fa293f46-f175-4caf-8daa-a46248fa4b4c/orreth.jsonl
    back         -  5.5 KB  ~/.gemini/tmp/shop/chats/session-2026-11-15T18-16-fa293f46.jsonl
    ------- stderr -------
    note: 1 session back in place: 3 files; `recount undo 20261116-000000-3` reverts it
    [exit 0]
    ");
    assert_eq!(tree(&home), before);
    insta::assert_snapshot!(home.run(["trash"]), @r"
    ------- stderr -------
    note: the trash is empty: there are no deleted sessions
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["undo", "--yes"]), @r"
    ------- stderr -------
    error: there is nothing to undo
    [exit 1]
    ");
    let history = json(&home, &["history"]);
    assert_eq!(history["schema"], "recount.history/1");
    has(&history["changes"][0], "receipt time command state undoable undoes sessions files bytes");
}

#[test]
fn an_undo_can_be_undone() {
    let home = home(["gemini/lines/tools"]);
    let before = tree(&home);
    home.run(["delete", "8662", "--yes"]);
    let after = tree(&home);
    let undone = json(&home, &["undo", "--yes"]);
    assert_eq!(tree(&home), before);
    let again = home.run(["undo", undone["receipt"].as_str().unwrap(), "--yes"]);
    assert_eq!(again.code, Some(0), "{again}");
    assert_eq!(tree(&home), after);
    assert_eq!(home.run(["restore", "8662", "--yes"]).code, Some(0));
    assert_eq!(tree(&home), before);
}

#[test]
fn emptied_trash_cannot_be_restored() {
    let home = home(["gemini/lines/tools"]);
    home.run(["delete", "8662", "--yes"]);
    insta::assert_snapshot!(home.run(["trash", "empty"]), @r"
    ------- stderr -------
    error: nothing was changed: confirmation needs a terminal
    hint: add --yes to confirm, or --dry-run to see the plan only
    [exit 3]
    ");
    insta::assert_snapshot!(home.run(["trash", "empty", "--before", "1d", "--yes"]), @"
    ------- stderr -------
    note: nothing to remove
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["trash", "empty", "--yes"]), @r"
    ------- stderr -------
    note: removed for good: 1 deleted session, 532 KB; 1 change can no longer be undone
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["undo", "20261116-000000", "--yes"]), @r"
    ------- stderr -------
    error: change 20261116-000000 cannot be undone: its undo data was removed
    hint: `recount history` shows what has become of it
    [exit 3]
    ");
    insta::assert_snapshot!(home.run(["restore", "8662", "--yes"]), @"
    ------- stderr -------
    error: no session '8662' in the trash or in the vault
    hint: `recount trash` and `recount vault` list what can be restored; --from DIR restores from a backup
    [exit 1]
    ");
    let left = fs::read_dir(home.path().join(".local/share/recount/trash")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn a_file_in_its_place_is_not_overwritten() {
    let home = home(["gemini/lines/tools"]);
    home.run(["delete", "8662", "--yes"]);
    let file = ".gemini/tmp/shop/chats/session-2026-11-15T18-13-8662c6d1.jsonl";
    home.write(file, "new");
    insta::assert_snapshot!(home.run(["undo", "--yes"]), @r"
    ------- stderr -------
    error: ~home~/.gemini/tmp/shop/chats/session-2026-11-15T18-13-8662c6d1.jsonl is there already
    hint: move the existing file away, then try again
    [exit 3]
    ");
    assert_eq!(home.read(file), b"new");
}

#[test]
fn an_interrupted_change_is_finished_by_the_next_one_and_reported() {
    let home = home(["gemini/lines/tools", "gemini/lines/plain"]);
    home.run(["delete", "8662", "--yes"]);
    let after = tree(&home);
    let journal = ".local/share/recount/journal/20261116-000000.jsonl";
    let text = String::from_utf8(home.read(journal)).unwrap();
    let prepared = text.split_once("{\"record\":\"done\"").unwrap().0.to_owned();
    // As if the process had died after removing one of two files.
    let copies = home.path().join(".local/share/recount/trash/20261116-000000");
    let name = "session-2026-11-15T18-13-8662c6d1.jsonl";
    let bytes = fs::read(copies.join(format!("0000-{name}"))).unwrap();
    home.write(&format!(".gemini/tmp/shop/chats/{name}"), bytes);
    home.write(journal, prepared);
    assert_eq!(json(&home, &["history"])["changes"][0]["state"], "cut-short");
    insta::assert_snapshot!(home.run(["undo", "--yes"]).stderr, @"
    note: an earlier delete (20261116-000000) was interrupted and is now finished
    note: 20261116-000000 undone: 2 files; `recount undo 20261116-000000-2` reverts it
    ");
    home.run(["undo", "20261116-000000-2", "--yes"]);
    assert_eq!(tree(&home), after);
}

#[test]
fn a_missing_session_cannot_be_deleted() {
    let home = home(["gemini/lines/tools"]);
    insta::assert_snapshot!(home.run(["delete", "ffff", "--yes"]), @"
    ------- stderr -------
    error: no session matches 'ffff'
    hint: `recount list --all` shows every session with its id
    [exit 1]
    ");
    insta::assert_snapshot!(home.run(["undo", "--yes"]), @r"
    ------- stderr -------
    error: there is nothing to undo
    [exit 1]
    ");
    insta::assert_snapshot!(home.run(["undo", "2020", "--yes"]), @r"
    ------- stderr -------
    error: no change '2020'
    hint: `recount history` lists all changes with their receipts
    [exit 1]
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_that_an_agent_works_in_is_refused() {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    let home = home([]);
    home.write("code/shop/main.c", "");
    home.write(".gemini/tmp/shop/.project_root", home.at("code/shop"));
    for (minute, id) in [("00", "aaaa0001"), ("10", "aaaa0002")] {
        let session = format!(
            "{{\"sessionId\":\"{id}\",\"projectHash\":\"h\",\"startTime\":\"2026-11-15T08:{minute}:00.000Z\",\
            \"lastUpdated\":\"2026-11-15T08:{minute}:00.000Z\"}}\n{{\"id\":\"1\",\"type\":\"user\",\"content\":\"hello\"}}\n"
        );
        let name = format!(".gemini/tmp/shop/chats/session-2026-11-15T08-{minute}-{id}.jsonl");
        home.write(&name, session);
    }
    let mut agent = Command::new("sleep")
        .arg0("gemini")
        .arg("60")
        .current_dir(home.path().join("code/shop"))
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let before = tree(&home);
    let refused = home.run(["delete", "aaaa0002", "--yes"]);
    let kept = tree(&home);
    agent.kill().unwrap();
    agent.wait().unwrap();
    assert_eq!(refused.code, Some(3), "{refused}");
    let words = format!("error: session aaaa0002 is in use by process {}", agent.id());
    assert!(refused.stderr.contains(&words), "{refused}");
    assert_eq!(kept, before);
    assert_eq!(home.run(["delete", "aaaa0002", "--yes"]).code, Some(0));
}
