//! Tests of homes that no release creates by itself: renamed files, links, several homes, files of other tools.

use recount_testkit::Home;
use serde_json::{Value, json};

use crate::home;

const SHOP: &str = ".gemini/tmp/shop/chats";

/// Returns a session of one prompt, as a log.
fn session(id: &str, prompt: &str) -> String {
    let head = json!({"sessionId": id, "projectHash": "h", "startTime": "2026-11-15T08:00:00.000Z",
        "lastUpdated": "2026-11-15T08:00:01.000Z", "kind": "main"});
    let message = json!({"id": format!("{id}-{prompt}"), "timestamp": "2026-11-15T08:00:01.000Z", "type": "user",
        "content": [{"text": prompt}]});
    format!("{head}\n{message}\n")
}

fn document(home: &Home, arguments: &[&str]) -> Value {
    serde_json::from_str(&home.run(arguments).stdout).unwrap_or_default()
}

fn count(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

#[test]
fn files_under_free_names_are_one_session_in_list_and_show() {
    let home = home([]);
    home.write(
        &format!("{SHOP}/session-2026-11-15T08-00-aaaa1111.jsonl"),
        session("aaaa1111-x", "one"),
    );
    home.write(&format!("{SHOP}/session-renamed.jsonl"), session("aaaa1111-x", "two"));
    let listed = document(&home, &["list", "--all", "--json"]);
    assert_eq!((count(&listed["sessions"]), &listed["sessions"][0]["messages"]), (1, &json!(2)));
    let shown = document(&home, &["show", "aaaa1111", "--json"]);
    assert_eq!(count(&shown["messages"]), 2);
    let nothing = document(&home, &["list", "--all", "--json", "--text", "no such words"]);
    assert_eq!(count(&nothing["sessions"]), 0);
}

#[test]
fn a_filter_does_not_leave_the_project_one_is_in() {
    let home = home([]);
    for name in ["one", "two"] {
        home.write(&format!("code/{name}/README.md"), "");
        home.write(&format!(".gemini/tmp/{name}/.project_root"), home.at(&format!("code/{name}")));
        let file =
            format!(".gemini/tmp/{name}/chats/session-2026-11-15T08-00-{name}{name}00.jsonl");
        home.write(&file, session(&format!("{name}{name}00-x"), name));
    }
    let inside = |arguments: &[&str]| {
        let output = home.run_with(arguments, |command| {
            command.current_dir(home.path().join("code/one"));
        });
        let document: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
        count(&document["sessions"])
    };
    assert_eq!(inside(&["list", "--json"]), 1);
    assert_eq!(inside(&["list", "--json", "--text", "two"]), 0);
    assert_eq!(inside(&["list", "--json", "--all", "--text", "two"]), 1);
    assert_eq!(inside(&["list", "--json", "../two"]), 1);
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_reported_and_not_followed() {
    let outside = home([]);
    outside.write("chats/session-2026-11-15T08-00-bbbb1111.jsonl", session("bbbb1111-x", "secret"));
    let home = home([]);
    home.write(
        &format!("{SHOP}/session-2026-11-15T08-00-aaaa1111.jsonl"),
        session("aaaa1111-x", "one"),
    );
    home.write(".gemini/tmp/other/logs.json", "[]");
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(outside.path().join(target), home.path().join(name)).is_ok()
    };
    assert!(link("chats", ".gemini/tmp/other/chats") && link("", ".gemini/tmp/linked"));
    let listed = document(&home, &["list", "--all", "--json"]);
    assert_eq!(count(&listed["sessions"]), 1);
    let reported = listed["problems"].as_array().into_iter().flatten();
    assert_eq!(reported.filter(|problem| problem["what"] == "link-not-followed").count(), 2);
}

#[test]
fn each_home_has_its_own_registry() {
    let homes = ["a", "b"].map(|name| {
        let home = home([]);
        home.write(
            &format!("{SHOP}/session-2026-11-15T08-00-{name}0000000.jsonl"),
            session(&format!("{name}0000000-x"), "hi"),
        );
        home.write(
            ".gemini/projects.json",
            json!({"projects": {(format!("/home/{name}/shop")): "shop"}}).to_string(),
        );
        home
    });
    let [one, two] = homes.each_ref().map(|home| home.path().to_string_lossy().into_owned());
    let listed = document(&homes[0], &["--home", &one, "--home", &two, "list", "--all", "--json"]);
    let mut paths: Vec<&str> = listed["sessions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|s| s["project"]["path"].as_str())
        .collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/home/a/shop", "/home/b/shop"]);
}

#[test]
fn a_wrapper_with_a_session_id_is_still_a_saved_chat() {
    let home = home([]);
    let chat = json!({"sessionId": "x", "messages": [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"text": "ho"}], "usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 7}},
    ]});
    home.write("chat.json", chat.to_string());
    let shown = document(&home, &["show", "chat.json", "--json"]);
    assert_eq!(
        (&shown["session"]["prompts"], &shown["session"]["tokens"]["total"]),
        (&json!(1), &json!(7))
    );
}

#[test]
fn fields_of_a_future_release_are_reported() {
    let home = home([]);
    let future = "{\"$set\":{\"futureState\":{}}}\n";
    let file = format!("{SHOP}/session-2026-11-15T08-00-aaaa1111.jsonl");
    home.write(&file, session("aaaa1111-x", "one") + future);
    let listed = document(&home, &["list", "--all", "--json"]);
    assert_eq!(listed["problems"][0]["what"], "unknown-field");
    assert_eq!(home.run(["list", "--all", "--strict"]).code, Some(2));
}

#[test]
fn huge_token_counts_do_not_overflow() {
    let home = home([]);
    let answer = format!(
        r#"{{"id":"m","timestamp":"2026-11-15T08:00:02.000Z","type":"gemini","content":"x","tokens":{{"input":{0},"output":{0}}}}}"#,
        u64::MAX
    );
    let file = format!("{SHOP}/session-2026-11-15T08-00-aaaa1111.jsonl");
    home.write(&file, session("aaaa1111-x", "one") + &answer + "\n");
    let listed = document(&home, &["list", "--all", "--json"]);
    assert_eq!(listed["sessions"][0]["tokens"]["total"], json!(u64::MAX));
}

#[test]
fn a_projects_folder_in_the_home_is_no_data_of_an_agent() {
    let home = home(["gemini/lines/plain"]);
    home.write("projects/shop/README.md", "");
    home.write("tmp/notes.txt", "");
    let output = home.run(["delete", "latest", "--yes"]);
    assert_eq!(output.code, Some(0), "{output}");
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::disallowed_methods, reason = "only the system can write such a name")]
fn names_that_are_not_unicode_break_no_document_and_are_not_passed_over() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let home = home([]);
    home.write(
        &format!("{SHOP}/session-2026-11-15T08-00-bbbb1111.jsonl"),
        session("bbbb1111-x", "b"),
    );
    let chats = home.path().join(".gemini/tmp").join(OsStr::from_bytes(b"n\xffn")).join("chats");
    std::fs::create_dir_all(&chats).unwrap();
    let file = chats.join("session-2026-11-15T08-00-aaaa1111.jsonl");
    std::fs::write(&file, session("aaaa1111-x", "one")).unwrap();
    for command in ["list", "projects", "guard", "doctor", "stats"] {
        let output = home.run([command, "--json"]);
        assert!(serde_json::from_str::<Value>(&output.stdout).is_ok(), "{command}: {output}");
    }
    let deleted = home.run(["delete", "aaaa1111", "--yes"]);
    assert_eq!(deleted.code, Some(3), "{deleted}");
    assert!(deleted.stderr.contains("is not valid UTF-8"), "{deleted}");
    assert!(file.exists());
    let kept = home.run(["guard", "--keep"]);
    assert_eq!(kept.code, Some(2), "{kept}");
    assert!(kept.stderr.contains("not kept: ") && kept.stderr.contains("1 file"), "{kept}");
}
