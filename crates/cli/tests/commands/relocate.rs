//! Tests of projects whose folder was moved or renamed.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "test setup must succeed")]

use recount_testkit::Home;
use serde_json::Value;

use super::changing::{change, folder, json, log, names, said, session, sessions, tree, undo};
use crate::home;

fn register(home: &Home) -> Value {
    serde_json::from_slice(&home.read(".gemini/projects.json")).unwrap()
}

#[test]
fn every_session_is_found_under_the_new_folder_and_nothing_else_changes() {
    for case in [
        "gemini/lines/tools",
        "gemini/lines/subagent",
        "gemini/lines/migration",
        "gemini/checkpoints/resume-stub",
        "gemini/checkpoints/renamed-folder",
        "gemini/damaged/same-start",
        "gemini/strings/plain",
        "gemini/strings/tools",
    ] {
        let home = home([case]);
        let new = folder(&home, "work/shop");
        let all = sessions(&home);
        // For a folder that is only known by its hash, the user knows the path, and recount does not.
        let hash = "52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee";
        let is_its = |session: &&Value| session["project"]["hash"] == hash;
        let before = tree(&home);
        let old: Vec<(Value, Vec<Value>)> = all
            .iter()
            .filter(is_its)
            .map(|session| (session.clone(), said(&home, session["id"].as_str().unwrap())))
            .collect();
        assert!(!old.is_empty(), "{case}");
        let made = change(&home, &["relocate", "/home/dev/code/shop", &new]);
        for (old, words) in &old {
            let id = old["id"].as_str().unwrap();
            let now = session(&home, id);
            assert_eq!(now["project"]["path"], new, "{case}: {id}");
            assert_ne!(now["project"]["hash"], old["project"]["hash"], "{case}: {id}");
            assert_eq!(&said(&home, id), words, "{case}: {id}");
            for field in ["messages", "undone", "title", "started", "updated", "agent_title"] {
                assert_eq!(now[field], old[field], "{case}: {id}: {field}");
            }
            let against = now["project"]["evidence"].as_array().unwrap();
            assert!(against.iter().all(|clue| clue.get("names").is_none()), "{case}: {against:?}");
        }
        assert_eq!(sessions(&home).len(), all.len(), "{case}");
        assert!(register(&home)["projects"].get("/home/dev/code/shop").is_none(), "{case}");
        assert!(register(&home)["projects"].get(&new).is_some(), "{case}");
        undo(&home, &made, &before);
    }
}

#[test]
fn the_name_stays_and_register_and_markers_follow() {
    let home = home(["gemini/lines/tools"]);
    let new = folder(&home, "work/store");
    home.write(".gemini/trustedFolders.json", r#"{"/home/dev/code/shop": "TRUST_FOLDER"}"#);
    let made = change(&home, &["relocate", "/home/dev/code/shop/", &new]);
    assert_eq!(register(&home), serde_json::json!({"projects": {&new: "shop"}}));
    assert_eq!(home.read(".gemini/tmp/shop/.project_root"), new.as_bytes());
    assert_eq!(home.read(".gemini/history/shop/.project_root"), new.as_bytes());
    assert!(
        made["notes"].to_string().contains("trustedFolders.json still names the old"),
        "{made}"
    );
    let log = home.read(".gemini/tmp/shop/chats/session-2026-11-15T18-13-8662c6d1.jsonl");
    let hash = session(&home, "8662c6d1-79eb-45ff-9a82-649436c92eda")["project"]["hash"].clone();
    let line = format!("{{\"$set\":{{\"projectHash\":{hash}}}}}\n");
    assert!(log.ends_with(line.as_bytes()));
    let again = home.run(["relocate", "/home/dev/code/shop", &new, "--yes"]);
    assert_eq!(again.code, Some(1), "{again}");
}

/// Returns two projects with files of the same names.
fn two() -> (Home, String) {
    let home = home([]);
    let new = folder(&home, "work/store");
    let (a, b) = ("aaaaaaaa-1111-4111-8111-111111111111", "aaaaaaaa-2222-4222-8222-222222222222");
    for (slug, path, id, words) in
        [("shop", "/home/dev/code/shop", a, "plums"), ("store", new.as_str(), b, "pears")]
    {
        let at = |below: &str| format!(".gemini/tmp/{slug}/{below}");
        home.write(&at(".project_root"), path);
        home.write(&format!(".gemini/history/{slug}/.project_root"), path);
        home.write(&at("chats/session-2026-11-15T08-00-aaaaaaaa.jsonl"), log(id, words));
        home.write(&at("logs.json"), format!("[\n  {{\"sessionId\": \"{id}\", \"messageId\": 0, \"type\": \"user\", \"message\": \"{words}\", \"timestamp\": \"2026-11-15T08:00:00.000Z\"}}\n]"));
        home.write(&at("shell_history"), words);
        home.write(&at("checkpoint-tag.json"), "[]");
        home.write(&at("checkpoint-other.json"), format!("[\"{words}\"]"));
        home.write(&at(&format!("tool-outputs/session-{id}/a.txt")), words);
    }
    let register = serde_json::json!({"projects": {"/home/dev/code/shop": "shop", &new: "store"}});
    home.write(".gemini/projects.json", serde_json::to_string_pretty(&register).unwrap());
    (home, new)
}

#[test]
fn a_folder_that_has_sessions_already_takes_in_the_others() {
    let (home, new) = two();
    let before = tree(&home);
    let made = change(&home, &["relocate", "/home/dev/code/shop", &new]);
    assert!(!home.path().join(".gemini/tmp/shop").exists());
    assert!(!home.path().join(".gemini/history/shop").exists());
    assert_eq!(register(&home), serde_json::json!({"projects": {&new: "store"}}));
    assert_eq!(
        names(&home, "tmp/store/chats"),
        ["session-2026-11-15T08-00-11114111.jsonl", "session-2026-11-15T08-00-aaaaaaaa.jsonl"]
    );
    assert_eq!(
        names(&home, "tmp/store"),
        [
            ".project_root",
            "chats",
            "checkpoint-other-1.json",
            "checkpoint-other.json",
            "checkpoint-tag.json",
            "logs.json",
            "shell_history",
            "shell_history-1",
            "tool-outputs"
        ]
    );
    let prompts: Value = serde_json::from_slice(&home.read(".gemini/tmp/store/logs.json")).unwrap();
    assert_eq!(prompts.as_array().unwrap().len(), 2);
    assert_eq!(names(&home, "tmp/store/tool-outputs").len(), 2);
    for session in sessions(&home) {
        assert_eq!(session["project"]["path"], new);
        assert!(!session["agent_index"].is_null());
    }
    undo(&home, &made, &before);
}

#[test]
fn what_cannot_become_one_is_kept_apart() {
    let (home, new) = two();
    home.write(".gemini/tmp/store/logs.json", "{}");
    home.write(".gemini/history/shop/.git/HEAD", "ref");
    let made = change(&home, &["relocate", "/home/dev/code/shop", &new]);
    assert_eq!(home.read(".gemini/tmp/store/logs.json"), b"{}");
    assert!(home.path().join(".gemini/tmp/store/logs-1.json").exists());
    assert!(home.path().join(".gemini/history/shop/.git/HEAD").exists());
    assert!(made["notes"].to_string().contains("history/shop stays"), "{made}");
}

#[test]
fn a_project_of_old_releases_gets_a_name() {
    let home = home(["gemini/strings/plain", "gemini/strings/logs-only"]);
    let new = folder(&home, "work/shop");
    let before = tree(&home);
    let made = change(&home, &["relocate", "/home/dev/code/shop", &new]);
    assert_eq!(register(&home), serde_json::json!({"projects": {&new: "shop"}}));
    assert_eq!(names(&home, "tmp"), ["shop"]);
    assert_eq!(names(&home, "tmp/shop"), [".project_root", "chats", "logs.json", "shell_history"]);
    assert_eq!(home.read(".gemini/history/shop/.project_root"), new.as_bytes());
    assert!(!sessions(&home)[0]["agent_index"].is_null());
    undo(&home, &made, &before);
}

#[test]
fn without_a_new_folder_the_likely_one_is_taken() {
    let home = home([]);
    let old = home.at("code/shop");
    let new = folder(&home, "code/shop-renamed");
    for file in ["src/cart.js", "src/tax.js", "docs/guide.md", "docs/notes.md", "prices.csv"] {
        home.write(&format!("code/shop-renamed/{file}"), "");
    }
    home.write(".gemini/tmp/shop/.project_root", &old);
    let id = "aaaaaaaa-1111-4111-8111-111111111111";
    let words = format!(
        "look at {old}/src/cart.js and {old}/src/tax.js and {old}/docs/guide.md and {old}/docs/notes.md and {old}/prices.csv "
    );
    home.write(".gemini/tmp/shop/chats/session-2026-11-15T08-00-aaaaaaaa.jsonl", log(id, &words));
    let projects = json(&home, &["projects"]);
    let proposal = &projects["projects"][0]["moved_to"];
    assert_eq!(proposal["command"], format!("recount relocate {old} {new}"), "{projects}");
    let output = home.run(["relocate", &old, "--yes"]);
    assert_eq!(proposal["likely"], true, "{projects}");
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(session(&home, id)["project"]["path"], new);
    std::fs::remove_dir_all(&new).unwrap();
    let nowhere = home.run(["relocate", "shop", "--yes"]);
    assert_eq!(nowhere.code, Some(3), "{nowhere}");
}

#[test]
fn impossible_changes_are_refused_and_change_nothing() {
    let home = home(["gemini/lines/tools"]);
    let new = folder(&home, "work/shop");
    let before = tree(&home);
    insta::assert_snapshot!(home.run(["relocate", "/home/dev/code/none", &new, "--yes"]), @"
    ------- stderr -------
    error: no project matches '/home/dev/code/none'
    hint: `recount projects` shows every project
    [exit 1]
    ");
    insta::assert_snapshot!(home.run(["relocate", "shop", "/home/dev/nowhere", "--yes"]), @r"
    ------- stderr -------
    error: /home/dev/nowhere does not exist: sessions can only be moved to existing folders
    [exit 3]
    ");
    insta::assert_snapshot!(home.run(["relocate", "shop", "--yes"]), @"
    ------- stderr -------
    error: the new folder of /home/dev/code/shop is not known: give it as the second argument
    [exit 3]
    ");
    let unasked = home.run(["relocate", "shop", &new]);
    assert_eq!(unasked.code, Some(3), "{unasked}");
    let dry = json(&home, &["relocate", "shop", &new, "--dry-run"]);
    assert!(dry["receipt"].is_null() && dry["schema"] == "recount.relocate/1", "{dry}");
    assert_eq!(tree(&home), before);
    home.write(".gemini/projects.json", "{}");
    insta::assert_snapshot!(home.run(["relocate", "shop", &new, "--yes"]), @r#"
    ------- stderr -------
    error: ~home~/.gemini/projects.json is damaged: it has no "projects"
    [exit 3]
    "#);
}

#[cfg(target_os = "linux")]
#[test]
fn while_an_agent_works_in_either_folder_nothing_changes() {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    let (home, new) = two();
    let mut agent = Command::new("sleep")
        .arg0("gemini")
        .arg("60")
        .current_dir(&new)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let before = tree(&home);
    let refused = home.run(["relocate", "/home/dev/code/shop", &new, "--yes"]);
    let kept = tree(&home);
    agent.kill().unwrap();
    agent.wait().unwrap();
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("aaaaaaaa-2222-4222-8222-222222222222 is in use"), "{refused}");
    assert_eq!(kept, before);
    assert_eq!(home.run(["relocate", "/home/dev/code/shop", &new, "--yes"]).code, Some(0));
}
