//! `recount guard`

use recount_testkit::Home;
use serde_json::{Value, json};

use crate::{has, home};

const ID: &str = "3d2f9a10-5c1b-4a5e-9f60-0b1c2d3e4f50";

/// A home with a session that was last used on a day, and what lies beside it.
fn used_on(day: &str) -> Home {
    let home = home([]);
    let time = format!("{day}T08:00:00.000Z");
    let head = json!({"sessionId": ID, "projectHash": "ab".repeat(32), "startTime": time, "lastUpdated": time, "kind": "main"});
    let asked = json!({"id": "1", "timestamp": time, "type": "user", "content": [{"text": "What does an apple cost?"}]});
    let below = ".gemini/tmp/shop";
    home.write(&format!("{below}/.project_root"), "/home/dev/code/shop");
    home.write(
        &format!("{below}/chats/session-{day}T08-00-3d2f9a10.jsonl"),
        format!("{head}\n{asked}\n"),
    );
    home.write(
        &format!("{below}/chats/{ID}/helper.jsonl"),
        format!(
            "{}\n{asked}\n",
            json!({"sessionId": "helper", "projectHash": "cd", "kind": "subagent"})
        ),
    );
    home.write(&format!("{below}/tool-outputs/session-{ID}/list.txt"), "apples");
    home.write(&format!("{below}/checkpoints/point.json"), "{}");
    home
}

#[test]
fn a_stub_causes_the_conversation_to_be_deleted() {
    let home = home(["gemini/lines/resume-stub"]);
    insta::assert_snapshot!(home.run(["guard", "--release", "0.60.0"]), @r#"
    At the next start of gemini 0.60.0 (as asked)
    1 of 2 sessions will be deleted on the next start

    shop  /home/dev/code/shop  sessions are kept for 30 days (by default)
      ID        USED      SIZE  LOST  WHY                                         TITLE
      798f2624  5h ago  1.5 KB  all   deleted together with the stub of a resume  Another session
      safe: 1 session, 1.4 KB
    ------- stderr -------
    note: `recount guard --retention off` keeps all sessions: "general": {"sessionRetention": {"enabled": false}} in ~/.gemini/settings.json
    note: `recount guard --fix` prevents what it can, `recount guard --keep` keeps copies
    [exit 1]
    "#);
    // That release takes the stub alone.
    insta::assert_snapshot!(home.run(["guard", "-q", "--release", "0.40.1"]), @r"
    At the next start of gemini 0.40.1 (as asked)

    shop  /home/dev/code/shop  sessions are kept for 30 days (by default)
      ID        USED     SIZE  LOST     WHY                        TITLE
      798f2624  5h ago  228 B  nothing  only the stub of a resume  Another session
      safe: 1 session, 1.4 KB
    [exit 1]
    ");
    insta::assert_snapshot!(home.run(["guard", "--release", "0.29.0"]), @"
    At the next start of gemini 0.29.0 (as asked)

    Nothing would be deleted (1 project, 2 sessions).
      1 project: sessions are never deleted: general.sessionRetention.enabled is off (as it is by
        default)
    [exit 0]
    ");
}

#[test]
fn an_old_session_is_deleted_with_its_artifacts() {
    let home = used_on("2026-09-02");
    insta::assert_snapshot!(home.run(["guard", "-q", "-v", "--release", "0.60.0"]), @r"
    At the next start of gemini 0.60.0 (as asked)
    1 of 1 session will be deleted on the next start

    shop  /home/dev/code/shop  sessions are kept for 30 days (by default)
      ID        USED         SIZE  LOST  WHY                             TITLE
      3d2f9a10  2026-09-02  346 B  all   not used for more than 30 days  What does an apple cost?
      ~/.gemini/tmp/shop/chats/session-2026-09-02T08-00-3d2f9a10.jsonl  340 B  not used for more than 30 days
      ~/.gemini/tmp/shop/tool-outputs/session-3d2f9a10-5c1b-4a5e-9f60-0b1c2d3e4f50/list.txt  6 B  belongs to a session that is deleted
      ~/.gemini/tmp/shop/chats/3d2f9a10-5c1b-4a5e-9f60-0b1c2d3e4f50/helper.jsonl  172 B  belongs to a session that is deleted
      ~/.gemini/tmp/shop/checkpoints/point.json  2 B  removed at every start
      also: 1 sub-agent session, 1 file beside them (6 B), 1 restore point, as at every start (2 B)
    [exit 1]
    ");
    home.write(
        ".gemini/settings.json",
        "{ // for ever\n \"general\": { \"sessionRetention\": { \"enabled\": false } } }",
    );
    // What is wiped at every start is nothing to warn of.
    insta::assert_snapshot!(home.run(["guard", "--release", "0.60.0"]), @"
    At the next start of gemini 0.60.0 (as asked)

    Nothing would be deleted (1 project, 1 session).
      1 project: sessions are never deleted: general.sessionRetention.enabled is off
    [exit 0]
    ");
}

#[test]
fn a_list_marks_sessions_at_risk() {
    let doomed = |home: &Home| {
        let output = home.run(["list", "--all", "--json"]);
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        let sessions = document["sessions"].as_array().unwrap().clone();
        sessions.iter().map(|session| session["doomed"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(doomed(&used_on("2026-09-02")), [true, true]);
    assert_eq!(doomed(&used_on("2026-11-10")), [false, false]);
}

#[test]
fn every_documented_field_is_in_the_json() {
    let home = used_on("2026-09-02");
    let output = home.run(["guard", "shop", "--release", "0.60.0", "--json"]);
    assert_eq!(output.code, Some(1));
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(
        (&document["schema"], &document["doomed"]),
        (&json!("recount.guard/1"), &json!(true))
    );
    has(
        &document["agents"][0],
        "source program release release_from installed newest_known remedy",
    );
    let project = &document["projects"][0];
    has(project, "project source directory retention sessions others safe");
    has(&project["retention"], "on off_because max_age max_count from notes");
    let session = &project["sessions"][0];
    has(session, "id kind parent title title_from updated prompts lost bytes files beside");
    has(&session["files"][0], "path bytes is_link why with with_why session");
    assert_eq!((&session["lost"], &session["files"][0]["why"]), (&json!("whole"), &json!("age")));
    assert_eq!(session["beside"][0]["why"], "beside");
}

#[test]
fn the_release_that_is_installed_is_found_without_running_it() {
    let home = home(["gemini/lines/resume-stub"]);
    let package = r#"{"name": "@google/gemini-cli", "version": "0.40.1"}"#;
    home.write("node/lib/node_modules/@google/gemini-cli/package.json", package);
    home.write("node/bin/gemini", "#!/bin/sh\nexit 7\n");
    let output = home.run_with(["guard"], |command| {
        command.env("PATH", home.path().join("node/bin"));
    });
    assert!(
        output.stdout.starts_with("At the next start of gemini 0.40.1 (installed)\n"),
        "{output}"
    );
    insta::assert_snapshot!(home.run(["guard", "--release", "newest"]), @"
    ------- stderr -------
    error: 'newest' is not a release
    hint: give it as the agent's --version prints it, for example 0.60.0
    [exit 2]
    ");
    let unknown = home.run(["guard", "--release", "7.0.0"]);
    assert!(unknown.stderr.contains("gemini 7.0.0 is not known yet"), "{unknown}");
    insta::assert_snapshot!(home.run(["guard", "nowhere"]), @"
    ------- stderr -------
    error: no project matches 'nowhere'
    hint: `recount projects` shows every project
    [exit 1]
    ");
}

#[test]
fn times_are_read_as_the_agent_reads_them() {
    for (last_updated, doomed) in [
        (json!("2026-10-07"), true),
        (json!("Oct 07, 2026"), true),
        (json!("10/07/2026"), true),
        (json!("2026"), true),
        (json!("0"), true),
        (json!("2026-02-31T00:00:00Z"), true),
        (json!(1_000), true),
        (json!(true), true),
        (json!(["2026-10-07"]), true),
        (json!("2026-11-10"), false),
        (json!("Nov 10, 2026"), false),
        (json!(1_794_000_000_000_i64), false),
        (json!("yesterday"), false),
        (json!({"at": 1}), false),
        // The agent takes what is missing for now.
        (json!(0), false),
        (json!(null), false),
    ] {
        let home = used_on("2026-11-10");
        let path = ".gemini/tmp/shop/chats/session-2026-11-10T08-00-3d2f9a10.jsonl";
        let text = String::from_utf8(home.read(path)).unwrap();
        let said = r#""lastUpdated":"2026-11-10T08:00:00.000Z""#;
        assert!(text.contains(said), "{text}");
        home.write(path, text.replace(said, &format!(r#""lastUpdated":{last_updated}"#)));
        let output = home.run(["guard", "--release", "0.60.0", "--json"]);
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(document["doomed"], doomed, "{last_updated}");
    }
}

#[test]
fn an_id_is_found_where_the_clean_up_looks_for_it() {
    type Change<'a> = &'a dyn Fn(&str) -> String;
    let path = ".gemini/tmp/shop/chats/session-2026-09-02T08-00-3d2f9a10.jsonl";
    let long = |length: usize| {
        move |text: &str| {
            let (first, rest) = text.split_once('\n').unwrap();
            let first = first.strip_suffix('}').unwrap();
            let more = length - first.len() - r#","x":""}"#.len();
            format!("{first},\"x\":\"{}\"}}\n{rest}", "x".repeat(more))
        }
    };
    let changes: [(&str, Change<'_>, bool); 9] = [
        ("CRLF", &|text| text.replace('\n', "\r\n"), true),
        ("CR alone", &|text| text.replace('\n', "\r"), false),
        ("the first CR alone", &|text| text.replacen('\n', "\r", 1), false),
        ("CR CR LF", &|text| text.replacen('\n', "\r\r\n", 1), true),
        ("CR first", &|text| format!("\r{text}"), true),
        ("LF first", &|text| format!("\n{text}"), false),
        (
            "a hash that is no string",
            &|text| text.replace(&format!("\"{}\"", "ab".repeat(32)), "5"),
            true,
        ),
        ("4096 bytes", &long(4096), true),
        ("4097 bytes", &long(4097), false),
    ];
    for (name, change, takes) in changes {
        let home = used_on("2026-09-02");
        let text = String::from_utf8(home.read(path)).unwrap();
        home.write(path, change(&text));
        let output = home.run(["guard", "--release", "0.60.0", "--json"]);
        assert!(output.stdout.contains(path), "{name}: {}", output.stdout);
        assert_eq!(output.stdout.contains("list.txt"), takes, "{name}: {}", output.stdout);
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_as_the_agent_follows_them() {
    let link = |target: String, path: String| std::os::unix::fs::symlink(target, path).unwrap();
    // Elsewhere: an old session, and a project directory.
    let elsewhere = used_on("2026-09-02");
    let chats = ".gemini/tmp/shop/chats";
    let old = "session-2026-09-02T08-00-3d2f9a10.jsonl";
    let home = used_on("2026-11-10");
    // A file, a folder of files, a project directory; and one that leads nowhere takes a whole session along.
    link(
        elsewhere.at(&format!("{chats}/{old}")),
        home.at(&format!("{chats}/session-linked.jsonl")),
    );
    link(home.at("nowhere"), home.at(&format!("{chats}/session-2026-11-11T08-00-3d2f9a10.jsonl")));
    home.write(".gemini/tmp/blog/.project_root", "/home/dev/code/blog");
    link(elsewhere.at(chats), home.at(".gemini/tmp/blog/chats"));
    link(elsewhere.at(".gemini/tmp/shop"), home.at(".gemini/tmp/news"));

    let output = home.run(["guard", "--release", "0.60.0", "--json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let projects = document["projects"].as_array().unwrap();
    let others = projects.iter().flat_map(|project| project["others"].as_array().unwrap());
    let root = home.at(".gemini/tmp/");
    let paths = others.map(|one| {
        let path = one["path"].as_str().unwrap().strip_prefix(&root).unwrap();
        format!("{path} {} {}", one["why"].as_str().unwrap(), one["is_link"])
    });
    let mut paths: Vec<String> = paths.filter(|one| one.contains("/chats/session-")).collect();
    paths.sort();
    assert_eq!(
        paths,
        [
            format!("blog/chats/{old} age false"),
            format!("news/chats/{old} age false"),
            "shop/chats/session-2026-11-11T08-00-3d2f9a10.jsonl unreadable true".to_owned(),
            "shop/chats/session-linked.jsonl age true".to_owned(),
        ]
    );
    let shop = projects.iter().find(|project| project["sessions"][0].is_object()).unwrap();
    assert_eq!(shop["sessions"][0]["files"][0]["why"], "same-name");

    let page = home.run(["guard", "-q", "--release", "0.60.0"]).stdout;
    for words in [
        "1 of 1 session and 2 session files in linked folders will be deleted on the next start",
        "1 session file in a linked folder (340 B)",
        "2 links to session files (the files stay)",
    ] {
        assert!(page.contains(words), "{words}\n{page}");
    }
    // Their text is nobody's.
    assert_eq!(page.matches("What does an apple cost?").count(), 1, "{page}");
}

#[cfg(unix)]
#[test]
#[expect(clippy::disallowed_methods, reason = "a test makes what it looks at")]
fn for_a_linked_session_within_the_home_only_the_link_is_deleted() {
    let home = used_on("2026-09-02");
    let chats = home.path().join(".gemini/tmp/shop/chats");
    let file = chats.join("session-2026-09-02T08-00-3d2f9a10.jsonl");
    let kept = home.path().join(".gemini/kept.jsonl");
    std::fs::rename(&file, &kept).unwrap();
    std::os::unix::fs::symlink(&kept, &file).unwrap();
    let page = home.run(["guard", "-q", "--release", "0.60.0"]).stdout;
    assert!(page.contains("nothing  only a link; the file stays"), "{page}");
    assert!(!page.contains("will be deleted"), "{page}");
}
