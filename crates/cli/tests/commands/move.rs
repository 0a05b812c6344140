//! Tests of moving sessions to other projects: completely, under the same id, and back byte for byte.

use std::collections::BTreeSet;

use super::changing::{change, folder, json, log, names, said, session, sessions, tree, undo};
use crate::home;

#[test]
fn every_session_of_every_fixture_moves_completely_and_back_byte_for_byte() {
    let mut moved = 0;
    for case in [
        "gemini/strings/plain",
        "gemini/strings/tools",
        "gemini/lines/migration",
        "gemini/lines/subagent",
        "gemini/lines/tools",
        "gemini/checkpoints/resume-stub",
        "gemini/checkpoints/subagent",
        "gemini/damaged/same-start",
        "gemini/damaged/split-by-clear",
        "gemini/damaged/subagent-with-kind",
        "gemini/damaged/subagent-without-kind",
        "gemini/damaged/masked-output",
        "gemini/damaged/truncated-output",
        "gemini/damaged/torn-tail",
        "gemini/damaged/unreadable-aside",
        "gemini/damaged/truncated-document",
        "gemini/damaged/no-metadata",
    ] {
        let home = home([case]);
        let store = folder(&home, "code/store");
        let before = tree(&home);
        let all = sessions(&home);
        for old in all.iter().filter(|session| session["kind"] == "main") {
            let id = old["id"].as_str().unwrap();
            let words = said(&home, id);
            let made = change(&home, &["move", id, "--to", &store]);
            let new = session(&home, id);
            assert_eq!(new["project"]["path"], store, "{case}: {id}");
            assert_eq!(said(&home, id), words, "{case}: {id}");
            for field in ["messages", "undone", "title", "started", "updated", "tokens", "parent"] {
                assert_eq!(new[field], old[field], "{case}: {id}: {field}");
            }
            let roles = |session: &serde_json::Value| -> Vec<String> {
                let files = session["files"].as_array().unwrap().iter();
                let mut roles: Vec<_> = files.map(|file| file["role"].to_string()).collect();
                roles.sort();
                roles
            };
            assert_eq!(roles(&new), roles(old), "{case}: {id}");
            assert_eq!(sessions(&home).len(), all.len(), "{case}: {id}");
            for agent in sessions(&home).iter().filter(|session| session["parent"] == id) {
                assert_eq!(agent["project"]["path"], store, "{case}: {id}");
            }
            moved += 1;
            undo(&home, &made, &before);
        }
    }
    assert!(moved > 20, "{moved}");
}

#[test]
fn all_that_belongs_to_it_goes_and_nothing_else() {
    let home = home(["gemini/lines/subagent"]);
    let id = "fa293f46-f175-4caf-8daa-a46248fa4b4c";
    let its = [
        format!("tool-outputs/session-{id}/read_file_1.txt"),
        "tool-outputs/session-e76q7e/read_file_2.txt".to_owned(),
        format!("{id}/tasks/deep/er/1.json"),
        format!("logs/session-{id}.jsonl"),
        format!("chats/{id}/orreth.jsonl"),
    ];
    for path in its.iter().take(4) {
        home.write(&format!(".gemini/tmp/shop/{path}"), "[]");
    }
    home.write(".gemini/tmp/shop/logs.json", format!(r#"[{{"sessionId":"{id}","messageId":0,"type":"user","message":"x","timestamp":"2026-11-15T18:16:00.000Z"}}]"#));
    let store = folder(&home, "code/store");
    let before = tree(&home);
    let made = change(&home, &["move", "fa29", "--to", &store]);
    for path in &its {
        let at = |project: &str| home.path().join(".gemini/tmp").join(project).join(path);
        assert!(!at("shop").exists() && at("store").exists(), "{path}");
    }
    assert!(home.path().join(".gemini/tmp/shop/logs.json").exists());
    assert!(!home.path().join(".gemini/tmp/shop").join(id).exists());
    let notes = made["notes"].to_string();
    assert!(
        notes.contains("still has 1 prompt of fa293f46") && notes.contains("refers to tool output"),
        "{notes}"
    );
    assert_eq!(home.read(".gemini/tmp/store/.project_root"), store.as_bytes());
    assert_eq!(home.read(".gemini/history/store/.project_root"), store.as_bytes());
    let register: serde_json::Value =
        serde_json::from_slice(&home.read(".gemini/projects.json")).unwrap();
    assert_eq!(register["projects"][&store], "store");
    assert_eq!(register["projects"]["/home/dev/code/shop"], "shop");
    assert!(!home.path().join(".gemini/projects.json.lock").exists());
    undo(&home, &made, &before);
}

#[test]
fn full_outputs_are_found_in_the_new_place_and_in_the_old() {
    let home = home(["gemini/damaged/truncated-output"]);
    let store = folder(&home, "code/store");
    // Outputs of old releases are in the project's directory itself and belong to no session.
    let output = "Tool output was too large and has been truncated. The full output has been saved to: /home/dev/.gemini/tmp/shop/run-1.output\n... [CONTENT TRUNCATED] ...";
    home.write(".gemini/tmp/shop/run-1.output", "all of it");
    let call = format!(
        r#"{{"id":"m9","timestamp":"2026-11-15T17:30:00.000Z","type":"gemini","content":"","toolCalls":[{{"id":"run-1","name":"run_shell_command","args":{{}},"result":[{{"functionResponse":{{"id":"run-1","name":"run_shell_command","response":{{"output":{}}}}}}}],"status":"success"}}]}}"#,
        serde_json::to_string(output).unwrap()
    );
    let file = ".gemini/tmp/shop/chats/session-2026-11-15T17-00-b47ffb28.jsonl";
    let log = [home.read(file), call.into_bytes(), b"\n".to_vec()].concat();
    home.write(file, log);
    let words = said(&home, "b47f");
    assert_eq!(words.last().unwrap()["tool_calls"][0]["output"], "all of it");
    change(&home, &["move", "b47f", "--to", &store]);
    assert_eq!(said(&home, "b47f"), words);
}

#[test]
fn a_name_that_would_meet_another_is_changed_and_the_id_is_not() {
    let home = home([]);
    let (one, two) =
        ("aaaaaaaa-1111-4111-8111-111111111111", "aaaaaaaa-2222-4222-8222-222222222222");
    let store = folder(&home, "code/store");
    home.write(".gemini/tmp/store/.project_root", &store);
    let name = "session-2026-11-15T08-00-aaaaaaaa.jsonl";
    home.write(&format!(".gemini/tmp/store/chats/{name}"), log(one, "plums"));
    home.write(".gemini/tmp/shop/.project_root", "/home/dev/code/shop");
    home.write(&format!(".gemini/tmp/shop/chats/{name}"), log(two, "pears"));
    home.write(
        ".gemini/tmp/shop/chats/session-2026-11-15T08-30-aaaaaaaa.jsonl",
        log(two, "pears").lines().next().unwrap(),
    );
    let before = tree(&home);
    let made = change(&home, &["move", two, "--to", "store"]);
    let names = names(&home, "tmp/store/chats");
    assert_eq!(
        names,
        [
            name,
            "session-2026-11-15T08-00-22224222.jsonl",
            "session-2026-11-15T08-30-22224222.jsonl"
        ]
        .into_iter()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
    );
    assert_eq!(session(&home, two)["project"]["path"], store);
    assert_eq!(session(&home, one)["files"].as_array().unwrap().len(), 1);
    undo(&home, &made, &before);
}

#[test]
fn a_project_of_old_releases_loses_nothing_by_it() {
    // At its next start the agent would copy the hash directory, but not if the other is not empty.
    let home = home(["gemini/lines/tools"]);
    let store = folder(&home, "code/store");
    let made = change(&home, &["move", "8662", "--to", &store]);
    let hash = session(&home, "8662c6d1-79eb-45ff-9a82-649436c92eda")["project"]["hash"].clone();
    let hash = hash.as_str().unwrap();
    assert_eq!(home.run(["undo", made["receipt"].as_str().unwrap(), "--yes"]).code, Some(0));
    let old = "bbbbbbbb-1111-4111-8111-111111111111";
    home.write(
        &format!(".gemini/tmp/{hash}/chats/session-2026-11-15T08-00-bbbbbbbb.jsonl"),
        log(old, "plums"),
    );
    home.write(&format!(".gemini/tmp/{hash}/logs.json"), "[]");
    let before = tree(&home);
    let made = change(&home, &["move", "8662", "--to", &store]);
    assert_eq!(names(&home, "tmp/store/chats").len(), 2);
    assert_eq!(names(&home, "tmp/store"), [".project_root", "chats", "logs.json", "tool-outputs"]);
    assert!(!session(&home, old)["agent_index"].is_null());
    assert!(made["notes"].to_string().contains("only old releases look"), "{made}");
    undo(&home, &made, &before);
}

#[test]
fn impossible_changes_are_refused_and_change_nothing() {
    let home = home(["gemini/lines/subagent"]);
    let store = folder(&home, "code/store");
    let before = tree(&home);
    insta::assert_snapshot!(home.run(["move", "fa29", "--to", "/home/dev/nowhere", "--yes"]), @r"
    ------- stderr -------
    error: /home/dev/nowhere does not exist: sessions can only be moved to existing folders
    [exit 3]
    ");
    insta::assert_snapshot!(home.run(["move", "fa29", "--to", "shop", "--yes"]), @r"
    ------- stderr -------
    error: /home/dev/code/shop does not exist: sessions can only be moved to existing folders
    [exit 3]
    ");
    insta::assert_snapshot!(home.run(["move", "e76q7e", "--to", &store, "--yes"]), @r"
    ------- stderr -------
    error: e76q7e is a sub-agent, which cannot be moved on its own: it belongs to the session fa293f46 that ran it
    [exit 3]
    ");
    let unasked = home.run(["move", "fa29", "--to", &store]);
    assert_eq!(unasked.code, Some(3), "{unasked}");
    assert!(unasked.stderr.contains("confirmation needs a terminal"), "{unasked}");
    let count = |word: &str| unasked.stdout.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!((count("change "), count("new "), count("moved ")), (1, 5, 3), "{unasked}");
    let dry = json(&home, &["move", "fa29", "--to", &store, "--dry-run"]);
    assert!(dry["receipt"].is_null() && dry["schema"] == "recount.move/1", "{dry}");
    assert!(dry["files"].as_array().unwrap().iter().any(|file| file["moved_to"].is_string()));
    assert_eq!(tree(&home), before);
    home.write(".gemini/projects.json", "{\"projects\": {\"/a\": ");
    insta::assert_snapshot!(home.run(["move", "fa29", "--to", &store, "--yes"]), @r"
    ------- stderr -------
    error: ~home~/.gemini/projects.json is damaged: it is not a JSON object
    [exit 3]
    ");
}

#[test]
fn to_the_project_that_it_is_in_there_is_nothing_to_do() {
    let home = home([]);
    let store = folder(&home, "code/store");
    home.write(".gemini/tmp/store/.project_root", &store);
    home.write(
        ".gemini/tmp/store/chats/session-2026-11-15T08-00-aaaaaaaa.jsonl",
        log("aaaaaaaa-1111-4111-8111-111111111111", "plums"),
    );
    let before = tree(&home);
    insta::assert_snapshot!(home.run(["move", "aaaa", "--to", &store, "--yes"]), @"
    ------- stderr -------
    note: aaaaaaaa is in ~home~/code/store already
    note: nothing to change
    [exit 0]
    ");
    assert_eq!(tree(&home), before);
}
