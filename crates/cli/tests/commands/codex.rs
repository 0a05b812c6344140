//! Tests with threads of Codex: every command on every era.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "test setup must succeed")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use recount_testkit::Home;
use serde_json::Value;

use super::changing::{change, files, folder, json, session, sessions};
use crate::home;

const CASES: [&str; 12] = [
    "codex/json/tools",
    "codex/bare/copied",
    "codex/bare/plain",
    "codex/tagged/tools",
    "codex/tagged/rollback",
    "codex/tagged/compact",
    "codex/tagged/subagent",
    "codex/paginated/reverted",
    "codex/paginated/fork",
    "codex/paginated/script",
    "codex/paginated/subagent",
    "codex/paginated/archived",
];

#[track_caller]
fn undo(home: &Home, change: &Value, before: &BTreeMap<PathBuf, Vec<u8>>) {
    let undone = home.run(["undo", change["receipt"].as_str().unwrap(), "--yes"]);
    assert_eq!(undone.code, Some(0), "{undone}");
    assert!(files(home, ".codex") == *before, "not as it was");
}

fn main_sessions(home: &Home) -> Vec<Value> {
    let is_main = |session: &Value| session["kind"] == "main";
    sessions(home).into_iter().filter(is_main).collect()
}

/// Returns the messages with speaker and fate.
fn said(home: &Home, id: &str) -> Vec<(String, String, String)> {
    let shown = json(home, &["show", id]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = shown["messages"].as_array().unwrap().iter();
    messages.map(|one| (text(&one["kind"]), text(&one["fate"]), text(&one["text"]))).collect()
}

#[test]
fn names_are_set_and_removed() {
    for case in CASES {
        let home = home([case]);
        let before = files(&home, ".codex");
        for old in main_sessions(&home) {
            let id = old["id"].as_str().unwrap();
            let made = change(&home, &["rename", id, "Größe – 会话 \"x\""]);
            let new = session(&home, id);
            assert_eq!(
                (&new["title"], &new["title_from"]),
                (&"Größe – 会话 \"x\"".into(), &"name".into()),
                "{case}"
            );
            undo(&home, &made, &before);
            assert_eq!(session(&home, id)["title"], old["title"], "{case}");
        }
    }
}

#[test]
fn threads_go_to_other_folders_with_all_that_points_to_them() {
    for case in CASES.into_iter().filter(|case| !case.contains("json/") && !case.contains("bare/"))
    {
        let home = home([case]);
        let store = folder(&home, "code/a-store-with-a-longer-name");
        let before = files(&home, ".codex");
        for old in main_sessions(&home) {
            let id = old["id"].as_str().unwrap();
            let words = said(&home, id);
            let others: Vec<Value> =
                main_sessions(&home).into_iter().filter(|one| one["id"] != id).collect();
            let made = change(&home, &["move", id, "--to", &store]);
            let new = session(&home, id);
            assert_eq!(new["project"]["path"], store, "{case}");
            assert_eq!(said(&home, id), words, "{case}");
            for field in ["messages", "undone", "title", "started", "updated", "tokens", "problems"]
            {
                assert_eq!(new[field], old[field], "{case}: {field}");
            }
            for other in others {
                let now = session(&home, other["id"].as_str().unwrap());
                assert_eq!(
                    (&now["messages"], &now["tokens"]),
                    (&other["messages"], &other["tokens"]),
                    "{case}"
                );
            }
            undo(&home, &made, &before);
        }
    }
    let home = home(["codex/bare/plain"]);
    let store = folder(&home, "code/store");
    let id = main_sessions(&home)[0]["id"].as_str().unwrap().to_owned();
    let refused = home.run(["move", &id, "--to", &store, "--yes"]);
    assert_ne!(refused.code, Some(0), "{refused}");
    assert!(refused.stderr.contains("records no folder"), "{refused}");
}

#[test]
fn a_moved_project_keeps_its_threads() {
    let home = home(["codex/paginated/fork"]);
    let store = folder(&home, "code/store");
    let before = files(&home, ".codex");
    let made = change(&home, &["relocate", "/home/dev/code/shop", &store]);
    for new in main_sessions(&home) {
        assert_eq!(new["project"]["path"], store);
        assert_eq!(new["problems"], 0);
    }
    undo(&home, &made, &before);
}

#[test]
fn a_fork_and_an_export_have_the_kept_messages() {
    for case in CASES {
        let home = home([case]);
        let before = files(&home, ".codex");
        for old in main_sessions(&home) {
            let id = old["id"].as_str().unwrap();
            let is_said = |one: &(String, String, String)| {
                matches!(one.0.as_str(), "prompt" | "answer")
                    && one.1 == "kept"
                    && !one.2.is_empty()
            };
            let words: Vec<_> = said(&home, id).into_iter().filter(is_said).collect();
            let made = change(&home, &["fork", id]);
            let known: Vec<Value> = main_sessions(&home);
            let fork = known
                .iter()
                .find(|one| one["title"].as_str().is_some_and(|title| title.ends_with("(fork)")));
            let fork = fork.unwrap_or_else(|| panic!("{case}: {known:?}"));
            assert_eq!(fork["problems"], 0, "{case}");
            let forked: Vec<_> =
                said(&home, fork["id"].as_str().unwrap()).into_iter().filter(is_said).collect();
            assert_eq!(forked, words, "{case}");
            undo(&home, &made, &before);
            let output = home.run(["export", id, "--format", "codex", "-o", "-"]);
            assert_eq!(output.code, Some(0), "{output}");
            home.write("exported/rollout-2026-11-15T18-00-00-x.jsonl", output.stdout.as_bytes());
            let path = home.at("exported/rollout-2026-11-15T18-00-00-x.jsonl");
            let exported: Vec<_> = said(&home, &path).into_iter().filter(is_said).collect();
            assert_eq!(exported, words, "{case}");
        }
    }
}

#[test]
fn threads_are_deleted_and_restored_unless_another_begins_with_them() {
    for case in CASES {
        let home = home([case]);
        let before = files(&home, ".codex");
        for old in main_sessions(&home) {
            let id = old["id"].as_str().unwrap();
            let paths = |session: &Value, is_base: bool| -> Vec<Value> {
                let files = session["files"].as_array().unwrap().iter();
                files
                    .filter(|file| (file["role"] == "base") == is_base)
                    .map(|file| file["path"].clone())
                    .collect()
            };
            let own = paths(&old, false);
            let is_base = sessions(&home)
                .iter()
                .any(|other| paths(other, true).iter().any(|path| own.contains(path)));
            if is_base {
                assert_ne!(home.run(["delete", id, "--yes"]).code, Some(0), "{case}");
                continue;
            }
            let made = change(&home, &["delete", id]);
            assert!(sessions(&home).iter().all(|one| one["id"] != id), "{case}");
            undo(&home, &made, &before);
        }
    }
}

#[test]
fn every_question_has_an_answer() {
    for case in CASES.into_iter().chain(["codex/paginated/compressed"]) {
        let home = home([case]);
        for one in sessions(&home) {
            let id = one["id"].as_str().unwrap();
            for arguments in [
                vec!["show", id],
                vec!["show", id, "--view", "strict"],
                vec!["story", id],
                vec!["show", id, "--raw"],
            ] {
                let output = home.run(&arguments);
                assert_eq!(output.code, Some(0), "{case}: {output}");
            }
            for format in ["md", "html", "json", "jsonl", "txt", "csv"] {
                let output = home.run(["export", id, "--format", format, "-o", "-"]);
                assert_eq!(output.code, Some(0), "{case}: {format}: {output}");
            }
        }
        for arguments in [
            vec!["stats"],
            vec!["projects"],
            vec!["doctor"],
            vec!["guard"],
            vec!["search", "the"],
            vec!["sql", "SELECT count(*) FROM messages"],
        ] {
            let output = home.run(&arguments);
            assert!(matches!(output.code, Some(0 | 1)), "{case}: {output}");
        }
    }
}

#[test]
fn tokens_in_stats_are_those_of_the_list_once() {
    let home = home([
        "codex/tagged/rollback",
        "codex/paginated/fork",
        "codex/paginated/reverted",
        "codex/bare/copied",
    ]);
    let listed: u64 =
        sessions(&home).iter().map(|one| one["tokens"]["total"].as_u64().unwrap()).sum();
    let stats = json(&home, &["stats", "--all"]);
    assert_eq!(stats["total"]["tokens"]["total"].as_u64(), Some(listed));
}

/// The agent's own protocol: its processes lock this file to change names.
#[test]
fn a_name_waits_until_the_agent_has_written_its_own() {
    let home = home(["codex/paginated/fork"]);
    home.write(".codex/session_index.jsonl.lock", "");
    let lock = std::fs::File::options()
        .write(true)
        .open(home.path().join(".codex/session_index.jsonl.lock"))
        .unwrap();
    lock.lock().unwrap();
    let id = main_sessions(&home)[0]["id"].as_str().unwrap().to_owned();
    std::thread::scope(|scope| {
        let renamed = scope.spawn(|| home.run(["rename", &id, "Late", "--yes"]));
        std::thread::sleep(std::time::Duration::from_millis(500));
        assert_ne!(session(&home, &id)["title"], "Late");
        lock.unlock().unwrap();
        assert_eq!(renamed.join().unwrap().code, Some(0));
    });
    assert_eq!(session(&home, &id)["title"], "Late");
}

#[test]
fn the_program_resumes_a_thread_in_its_folder_and_home() {
    let home = home(["codex/tagged/tools"]);
    let shop = folder(&home, "code/shop");
    let id = main_sessions(&home)[0]["id"].as_str().unwrap().to_owned();
    change(&home, &["move", &id, "--to", &shop]);
    let output = home.run(["resume", &id, "--print"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(output.stdout, format!("cd {shop} && codex resume {id}\n"));
    let other = home.at("elsewhere");
    std::fs::rename(home.path().join(".codex"), home.path().join("elsewhere")).unwrap();
    let output = home.run_with(["resume", &id, "--print"], |command| {
        command.env("CODEX_HOME", &other);
    });
    assert_eq!(output.code, Some(0), "{output}");
    // The variable is already set, and the program inherits it.
    assert_eq!(output.stdout, format!("cd {shop} && codex resume {id}\n"));
    let output = home.run(["--home", &other, "resume", &id, "--print"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(output.stdout, format!("cd {shop} && CODEX_HOME={other} codex resume {id}\n"));
}

#[test]
fn copies_are_kept_and_restored() {
    for case in
        ["codex/paginated/reverted", "codex/paginated/archived", "codex/paginated/compressed"]
    {
        let home = home([case]);
        let before = files(&home, ".codex");
        let kept = home.run(["guard", "--keep", "--yes"]);
        assert_eq!(kept.code, Some(0), "{case}: {kept}");
        for path in before.keys().filter(|path| path.to_string_lossy().contains("rollout-")) {
            std::fs::remove_file(path).unwrap();
        }
        let verified = home.run(["vault", "verify"]);
        assert_eq!(verified.code, Some(0), "{case}: {verified}");
        let held = json(&home, &["vault", "list"]);
        for one in held["sessions"].as_array().unwrap() {
            let id = one["session"]["id"].as_str().or(one["id"].as_str()).unwrap();
            let restored = home.run(["restore", id, "--yes"]);
            assert_eq!(restored.code, Some(0), "{case}: {restored}");
        }
        assert!(files(&home, ".codex") == before, "{case}");
    }
}

/// Releases with this database list names from another one.
#[test]
fn an_unlisted_name_is_reported() {
    let home = home(["codex/paginated/fork"]);
    let id = main_sessions(&home)[0]["id"].as_str().unwrap().to_owned();
    let plain = home.run(["rename", &id, "One", "--yes"]);
    assert!(!plain.stderr.contains("codex resume NAME"), "{plain}");
    home.write(".codex/thread_history_1.sqlite", "");
    let second = home.run(["rename", &id, "Two", "--yes"]);
    assert_eq!(second.code, Some(0), "{second}");
    assert!(second.stderr.contains("`codex resume NAME` finds the new one"), "{second}");
    let cleared = home.run(["rename", &id, "--clear", "--yes"]);
    assert!(!cleared.stderr.contains("codex resume NAME"), "{cleared}");
}
