//! Tests of copies: created, listed, verified, pruned, and restored.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "test setup must succeed")]

use std::fs;

use recount_testkit::Home;
use serde_json::{Value, json};

use super::changing::{json as run_json, tree};
use crate::{has, home};

const ID: &str = "3d2f9a10-5c1b-4a5e-9f60-0b1c2d3e4f50";
const BELOW: &str = ".gemini/tmp/shop";

/// Returns a session last used on a day, with all possible artifacts.
fn shop(day: &str) -> Home {
    let home = home([]);
    let time = format!("{day}T08:00:00.000Z");
    let head = json!({"sessionId": ID, "projectHash": "ab".repeat(32), "startTime": time, "lastUpdated": time, "kind": "main"});
    let asked = json!({"id": "1", "timestamp": time, "type": "user", "content": [{"text": "What does an apple cost?"}]});
    home.write(&format!("{BELOW}/.project_root"), "/home/dev/code/shop");
    home.write(&log(day), format!("{head}\n{asked}\n"));
    let agent = json!({"sessionId": "helper", "projectHash": "cd", "kind": "subagent"});
    home.write(&format!("{BELOW}/chats/{ID}/helper.jsonl"), format!("{agent}\n{asked}\n"));
    home.write(&format!("{BELOW}/tool-outputs/session-{ID}/list.txt"), "apples");
    home
}

fn log(day: &str) -> String {
    format!("{BELOW}/chats/session-{day}T08-00-3d2f9a10.jsonl")
}

fn append(home: &Home, path: &str, more: &str) {
    let mut bytes = home.read(path);
    bytes.extend_from_slice(more.as_bytes());
    fs::write(home.path().join(path), bytes).unwrap();
}

fn add(home: &Home, day: &str, id: &str) {
    let said = json!({"id": id, "timestamp": format!("{day}T09:00:00.000Z"), "type": "gemini", "content": "Three coins."});
    append(home, &log(day), &format!("{said}\n"));
}

/// Deletes what the agent's cleanup deletes.
fn sweep(home: &Home) {
    fs::remove_dir_all(home.path().join(BELOW).join("chats")).unwrap();
    fs::remove_dir_all(home.path().join(BELOW).join("tool-outputs")).unwrap();
}

#[test]
fn copies_are_restored_unchanged() {
    let day = "2026-11-10";
    let home = shop(day);
    insta::assert_snapshot!(home.run(["guard", "--keep"]), @"
    ------- stderr -------
    note: kept: 1 session, 3 files, 518 B (3 new); the vault takes 372 B
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["guard", "--keep"]), @"
    ------- stderr -------
    note: kept: 1 session, 3 files, 518 B (nothing new); the vault takes 372 B
    [exit 0]
    ");
    add(&home, day, "2");
    insta::assert_snapshot!(home.run(["guard", "--keep"]), @"
    ------- stderr -------
    note: kept: 1 session, 3 files, 609 B (1 grown); the vault takes 467 B
    [exit 0]
    ");
    let before = tree(&home);
    sweep(&home);
    insta::assert_snapshot!(home.run(["vault"]), @"
       ID        KEPT  FILES   SIZE  PACKED  PROJECT              TITLE
    +  3d2f9a10  now       3  609 B   467 B  /home/dev/code/shop  What does an apple cost?
    [exit 0]
    ");
    assert_eq!(home.run(["show", ID]).code, Some(1));
    insta::assert_snapshot!(home.run(["restore", "3d2f", "--dry-run"]), @r"
    3d2f9a10  What does an apple cost?  /home/dev/code/shop
    CHANGE  BEFORE  AFTER  FILE
    new          -  172 B  ~/.gemini/tmp/shop/chats/3d2f9a10-5c1b-4a5e-9f60-0b1c2d3e4f50/helper.jsonl
    new          -  431 B  ~/.gemini/tmp/shop/chats/session-2026-11-10T08-00-3d2f9a10.jsonl
    new          -    6 B  …/tmp/shop/tool-outputs/session-3d2f9a10-5c1b-4a5e-9f60-0b1c2d3e4f50/list.txt
    ------- stderr -------
    note: nothing was changed (--dry-run)
    [exit 0]
    ");
    let output = home.run(["restore", "3d2f", "--yes"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(tree(&home), before);
    insta::assert_snapshot!(home.run(["restore", "3d2f", "--yes"]), @"
    ------- stderr -------
    note: it is in its place already
    [exit 0]
    ");
    // Undone, it is as if nothing had been restored.
    assert_eq!(home.run(["undo", "--yes"]).code, Some(0));
    assert!(!home.path().join(log(day)).exists());
}

#[test]
fn an_old_session_is_marked_as_used_now() {
    let day = "2026-09-02";
    let home = shop(day);
    assert_eq!(home.run(["guard", "--keep", "-q"]).code, Some(0));
    let bytes = home.read(&log(day));
    sweep(&home);
    insta::assert_snapshot!(home.run(["restore", ID, "--yes"]), @r"
    3d2f9a10  What does an apple cost?  /home/dev/code/shop
    CHANGE  BEFORE  AFTER  FILE
    new          -  172 B  ~/.gemini/tmp/shop/chats/3d2f9a10-5c1b-4a5e-9f60-0b1c2d3e4f50/helper.jsonl
    new          -  392 B  ~/.gemini/tmp/shop/chats/session-2026-09-02T08-00-3d2f9a10.jsonl
    new          -    6 B  …/tmp/shop/tool-outputs/session-3d2f9a10-5c1b-4a5e-9f60-0b1c2d3e4f50/list.txt
    ------- stderr -------
    note: 3d2f9a10 is so old that the agent would delete it: it is marked as used now
    note: 1 session back in place: 3 files; `recount undo 20261116-000000` reverts it
    [exit 0]
    ");
    let mut wanted = bytes;
    wanted.extend_from_slice(b"{\"$set\":{\"lastUpdated\":\"2026-11-16T00:00:00.000Z\"}}\n");
    assert_eq!(home.read(&log(day)), wanted);
    let calm = home.run(["guard", "--release", "0.60.0"]);
    assert_eq!(calm.code, Some(0), "{calm}");
    let listed = run_json(&home, &["list", "--all"]);
    assert_eq!(listed["sessions"][0]["agent_index"], 1);
}

#[test]
fn nothing_is_put_over_something_else() {
    let day = "2026-11-10";
    let home = shop(day);
    assert_eq!(home.run(["guard", "--keep", "-q"]).code, Some(0));
    // It has grown since: that is kept.
    add(&home, day, "2");
    let grown = home.read(&log(day));
    insta::assert_snapshot!(home.run(["restore", ID, "--yes"]), @"
    ------- stderr -------
    note: ~/.gemini/tmp/shop/chats/session-2026-11-10T08-00-3d2f9a10.jsonl has more content than the copy and is kept
    note: it is in its place already
    [exit 0]
    ");
    assert_eq!(home.read(&log(day)), grown);
    // A part of it is left: it is completed.
    let whole = home.read(&log(day));
    assert_eq!(home.run(["guard", "--keep", "-q"]).code, Some(0));
    fs::write(home.path().join(log(day)), &whole[..20]).unwrap();
    assert_eq!(home.run(["restore", ID, "--yes"]).code, Some(0));
    assert_eq!(home.read(&log(day)), whole);
    // It is a different file.
    fs::write(home.path().join(log(day)), "another").unwrap();
    insta::assert_snapshot!(home.run(["restore", ID, "--yes"]), @"
    ------- stderr -------
    error: ~home~/.gemini/tmp/shop/chats/session-2026-11-10T08-00-3d2f9a10.jsonl is there already
    hint: move the existing file away, then try again
    [exit 3]
    ");
    assert_eq!(home.read(&log(day)), b"another");
}

#[test]
fn a_session_comes_from_a_backup_into_the_folder_its_project_has_today() {
    let day = "2026-09-02";
    let backup = shop(day);
    let home = home([]);
    home.write(".gemini/tmp/shop-1/.project_root", "/home/dev/code/shop");
    home.write(".gemini/tmp/shop-1/logs.json", "[]");
    let from = backup.path().to_string_lossy().into_owned();
    let output = home.run(["restore", "3d2f9a10", "--from", &from, "--yes", "--json"]);
    assert_eq!(output.code, Some(0), "{output}");
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    has(&document, "schema sessions files notes undoes receipt");
    assert_eq!(document["files"].as_array().unwrap().len(), 3);
    let chats = home.path().join(".gemini/tmp/shop-1/chats");
    assert!(chats.join(format!("session-{day}T08-00-3d2f9a10.jsonl")).exists());
    assert!(chats.join(ID).join("helper.jsonl").exists());
    assert_eq!(home.run(["guard", "--release", "0.60.0", "-q"]).code, Some(0));
    let listed = run_json(&home, &["list", "--all"]);
    assert_eq!(listed["sessions"][0]["project"]["path"], "/home/dev/code/shop");
    // Without a folder of the project, into its old one with the marker.
    let bare = crate::home([]);
    bare.write(".gemini/settings.json", "{}");
    assert_eq!(bare.run(["restore", "3d2f9a10", "--from", &from, "--yes"]).code, Some(0));
    assert_eq!(bare.read(".gemini/tmp/shop/.project_root"), b"/home/dev/code/shop");
}

#[test]
fn a_document_keeps_every_byte_but_its_time() {
    let home = home([]);
    let text = format!(
        "{{\n  \"sessionId\": \"{ID}\",\n  \"projectHash\": \"ab\",\n  \"startTime\": \"2026-01-02T08:00:00.000Z\",\n  \"lastUpdated\": \"2026-01-02T09:00:00.000Z\",\n  \"messages\": [\n    {{\"id\": \"1\", \"type\": \"user\", \"content\": \"hello\", \"timestamp\": \"2026-01-02T08:00:00.000Z\"}}\n  ],\n  \"odd\": 1.50\n}}"
    );
    let path = format!("{BELOW}/chats/session-2026-01-02T08-00-3d2f9a10.json");
    home.write(&format!("{BELOW}/.project_root"), "/home/dev/code/shop");
    home.write(&path, &text);
    assert_eq!(home.run(["guard", "--keep", "-q"]).code, Some(0));
    fs::remove_file(home.path().join(&path)).unwrap();
    assert_eq!(home.run(["restore", ID, "--yes", "-q"]).code, Some(0));
    let new = text.replace("2026-01-02T09:00:00.000Z", "2026-11-16T00:00:00.000Z");
    assert_eq!(String::from_utf8(home.read(&path)).unwrap(), new);
}

#[test]
fn the_vault_is_verified_and_pruned() {
    let day = "2026-11-10";
    let home = shop(day);
    assert_eq!(home.run(["vault"]).code, Some(0));
    assert_eq!(home.run(["guard", "--keep", "-q"]).code, Some(0));
    fs::write(home.path().join(log(day)), "another").unwrap();
    assert_eq!(home.run(["guard", "--keep", "-q"]).code, Some(0));
    insta::assert_snapshot!(home.run(["vault", "verify"]), @"
    ------- stderr -------
    note: 4 of 4 copies verified
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["vault", "prune", "--dry-run"]), @"
    ------- stderr -------
    note: nothing was changed (--dry-run): 1 copy, 200 B would be deleted
    [exit 0]
    ");
    assert_eq!(home.run(["vault", "prune"]).code, Some(3));
    insta::assert_snapshot!(home.run(["vault", "prune", "--yes"]), @"
    ------- stderr -------
    note: deleted 1 copy, 200 B for good
    [exit 0]
    ");
    assert_eq!(run_json(&home, &["vault", "verify"])["verified"]["copies"], 3);
    let held = run_json(&home, &["vault"]);
    has(&held["sessions"][0], "source id title project files bytes packed older kept gone");
    let kept = run_json(&home, &["guard", "--keep"]);
    has(&kept, "schema sessions files bytes new grown changed unchanged failed packed");
    let files = home.path().join(".local/share/recount/vault/files");
    for file in fs::read_dir(files).unwrap() {
        fs::write(file.unwrap().path(), "rotten").unwrap();
    }
    let output = home.run(["vault", "verify"]);
    assert_eq!(output.code, Some(2), "{output}");
}
