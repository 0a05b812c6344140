//! Tests of a new user's first steps: the demo home, the scope, pipes, row numbers, the pager, completions.

use std::process::Command;

use recount_testkit::{Home, Output};
use serde_json::Value;

use crate::home;

const DEMO: &str = "No sessions found; showing demo data (recount testbed --demo DIR to keep it)";

/// Returns a session of one prompt.
fn session(id: &str, time: &str, text: &str) -> String {
    format!(
        "{{\"sessionId\":\"{id}\",\"projectHash\":\"h\",\"startTime\":\"{time}\",\"lastUpdated\":\"{time}\",\"kind\":\"main\"}}\n\
         {{\"id\":\"p\",\"timestamp\":\"{time}\",\"type\":\"user\",\"content\":[{{\"text\":\"{text}\"}}]}}\n\
         {{\"id\":\"a\",\"timestamp\":\"{time}\",\"type\":\"gemini\",\"content\":\"answer to {text}\",\"model\":\"gemini-2.5-pro\",\
         \"tokens\":{{\"input\":15000,\"output\":952,\"cached\":0,\"thoughts\":0,\"tool\":0,\"total\":15952}}}}\n"
    )
}

/// Adds a project with one session.
fn project(home: &Home, slug: &str, folder: &str, id: &str, time: &str) {
    home.write(&format!("{folder}/.keep"), "");
    home.write(&format!(".gemini/tmp/{slug}/.project_root"), home.at(folder));
    let file = format!(".gemini/tmp/{slug}/chats/session-2026-11-15T08-00-{id}.jsonl");
    home.write(&file, session(&format!("{id}-1111-4111-8111-111111111111"), time, slug));
}

/// Returns a home with sessions in `$HOME` itself, and in two projects called `shop`.
fn three() -> Home {
    let home = home([]);
    project(&home, "home", ".", "aaaa1111", "2026-11-15T12:00:00.000Z");
    project(&home, "shop", "code/shop", "bbbb1111", "2026-11-15T10:00:00.000Z");
    project(&home, "shop-1", "old/shop", "cccc1111", "2026-11-15T08:00:00.000Z");
    home
}

fn inside(home: &Home, folder: &str, arguments: &[&str]) -> Output {
    home.write(&format!("{folder}/.keep"), "");
    home.run_with(arguments, |command: &mut Command| {
        command.current_dir(home.path().join(folder));
    })
}

/// Runs with the output in a pipe, as programs do.
fn piped(home: &Home, arguments: &[&str]) -> Output {
    home.run_with(arguments, |command: &mut Command| {
        command.env_remove("RECOUNT_WIDTH").env("COLUMNS", "40");
    })
}

fn ids(output: &Output) -> Vec<String> {
    let document: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
    let sessions = document["sessions"].as_array().cloned().unwrap_or_default();
    sessions.iter().filter_map(|session| session["id"].as_str().map(start)).collect()
}

fn start(id: &str) -> String {
    id.chars().take(8).collect()
}

#[test]
fn every_reading_command_shows_the_demo_home() {
    let home = home([]);
    let count = "SELECT count(*) FROM sessions";
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["list", "--csv"],
        &["show"],
        &["show", "latest", "--json"],
        &["story", "latest"],
        &["export", "latest"],
        &["export", "latest", "--json"],
        &["search", "discount"],
        &["search", "discount", "--json"],
        &["projects"],
        &["projects", "--json"],
        &["stats"],
        &["stats", "--json"],
        &["sql", count],
        &["sql", count, "--json"],
        &["guard"],
        &["guard", "--json"],
        &["doctor"],
        &["resume", "--print"],
    ] {
        let output = home.run(arguments);
        assert_eq!(output.stderr.matches(DEMO).count(), 1, "{arguments:?}: {output}");
        assert!(!output.stdout.is_empty() || output.code == Some(3), "{arguments:?}: {output}");
        assert!(output.code != Some(2), "{arguments:?}: {output}");
    }
    // An agent without sessions does not cause demo data.
    let home = three();
    let output = home.run(["list", "--source", "codex", "--json"]);
    assert!(!output.stderr.contains(DEMO), "{output}");
}

#[test]
fn a_session_in_the_home_does_not_claim_what_is_below() {
    let home = three();
    assert_eq!(ids(&inside(&home, "code/shop", &["list", "--json"])), ["bbbb1111"]);
    assert_eq!(ids(&inside(&home, "code/other", &["list", "--json"])).len(), 3);
    assert_eq!(ids(&inside(&home, ".", &["list", "--json"])), ["aaaa1111"]);
}

#[test]
fn the_scope_is_shown() {
    let home = three();
    let output = inside(&home, "code/shop", &["list"]);
    let line = "project shop · 1 of 3 sessions · --all shows all";
    assert!(output.stdout.starts_with(line), "{output}");
    for arguments in [&["list", "--json"][..], &["list", "--csv"], &["stats"], &["stats", "--json"]]
    {
        let output = inside(&home, "code/shop", arguments);
        assert!(output.stderr.contains(line), "{arguments:?}: {output}");
    }
    let output = inside(&home, "code/shop", &["export", "-o", "out"]);
    assert!(output.stderr.contains(line), "{output}");
    let named = home.run(["list", "shop-1"]);
    assert!(named.stdout.starts_with("project shop · 1 of 3 sessions\n"), "{named}");
    assert!(!home.run(["list", "--all"]).stdout.contains("·"));
}

#[test]
fn the_latest_is_the_latest_here() {
    let home = three();
    for arguments in [&["show", "latest", "--json"][..], &["show", "--json"]] {
        let output = inside(&home, "old/shop", arguments);
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(document["session"]["id"], "cccc1111-1111-4111-8111-111111111111");
    }
    let output = inside(&home, "code/shop", &["resume", "--print"]);
    assert!(output.stdout.contains("bbbb1111"), "{output}");
    let output = inside(&home, "code/shop", &["delete", "latest", "--dry-run"]);
    assert!(output.stdout.contains("bbbb1111"), "{output}");
    let output = inside(&home, "code", &["show", "--json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["session"]["id"], "aaaa1111-1111-4111-8111-111111111111");
}

#[test]
fn a_pipe_gets_whole_rows() {
    let home = three();
    insta::assert_snapshot!(piped(&home, &["list", "--all"]).stdout, @r"
    1	aaaa1111-1111-4111-8111-111111111111	2026-11-15T12:00:00Z	gemini	.	1	0	15952	0.02827	460			home
    2	bbbb1111-1111-4111-8111-111111111111	2026-11-15T10:00:00Z	gemini	code/shop	1	0	15952	0.02827	460			shop
    3	cccc1111-1111-4111-8111-111111111111	2026-11-15T08:00:00Z	gemini	old/shop	1	0	15952	0.02827	464			shop-1
    ");
    let rows = piped(&home, &["projects"]).stdout;
    assert!(rows.lines().all(|row| row.split('\t').count() == 9), "{rows}");
    assert!(rows.contains(&format!("\t{}\t", "~/code/shop")), "{rows}");
    let rows = piped(&home, &["sql", "SELECT id, title FROM sessions ORDER BY id"]).stdout;
    assert_eq!(rows.lines().next(), Some("aaaa1111-1111-4111-8111-111111111111\thome"));
    let rows = piped(&home, &["search", "answer"]).stdout;
    assert!(rows.lines().all(|row| row.split('\t').count() == 6), "{rows}");
    let rows = piped(&home, &["stats", "--all", "--by", "project"]).stdout;
    assert!(rows.starts_with("home\t1\t1\t1\t15000\t") || rows.contains("\t15000\t"), "{rows}");
    assert!(!rows.contains('█') && !rows.contains('≥'), "{rows}");
}

#[test]
fn the_agent_is_named_where_there_are_several() {
    let home = home([]);
    let heading = |args: &[&str]| {
        let shown = home.run(args.iter().copied()).stdout;
        shown.lines().next().unwrap_or_default().to_owned()
    };
    assert!(heading(&["list"]).contains("AGENT"), "{}", heading(&["list"]));
    assert!(!heading(&["list", "--source", "codex"]).contains("AGENT"));
}

#[test]
fn rows_can_be_had_as_csv() {
    let home = three();
    let rows = home.run(["list", "--all", "--csv"]).stdout;
    let mut rows = rows.lines();
    assert!(rows.next().unwrap().starts_with("source,id,kind,parent,title,project,path,started,"));
    assert!(rows.next().unwrap().starts_with("gemini,aaaa1111-1111-4111-8111-111111111111,main,,"));
    assert_eq!(rows.count(), 2);
}

#[test]
fn the_dearest_session_comes_first() {
    let home = three();
    let dear = session("dddd1111-1111-4111-8111-111111111111", "2026-11-14T08:00:00.000Z", "dear");
    home.write(
        ".gemini/tmp/shop/chats/session-2026-11-14T08-00-dddd1111.jsonl",
        dear.replace("\"input\":15000", "\"input\":150000"),
    );
    let rows = home.run(["list", "--all", "--sort", "cost"]).stdout;
    let first = rows.lines().nth(1).unwrap();
    assert!(first.contains("dddd1111") && first.contains('$'), "{rows}");
    assert!(rows.lines().next().unwrap().contains("COST"), "{rows}");
}

#[test]
fn projects_of_the_same_name_are_distinguished() {
    let home = three();
    for arguments in
        [&["list", "--all"][..], &["stats", "--all"], &["stats", "--all", "--by", "project"]]
    {
        let rows = home.run(arguments).stdout;
        assert!(rows.contains("code/shop") && rows.contains("old/shop"), "{rows}");
    }
}

#[test]
fn row_numbers_belong_to_a_home_and_a_terminal() {
    let home = three();
    let on = |terminal: &str, arguments: &[&str]| {
        home.run_with(arguments, |command: &mut Command| {
            command.env("RECOUNT_TERMINAL", terminal);
        })
    };
    let shown = |terminal: &str, row: &str| {
        let output = on(terminal, &["show", row, "--json"]);
        let document: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
        document["session"]["id"].as_str().map(start)
    };
    on("one", &["list", "--all"]);
    on("two", &["list", "--all", "--sort", "started", "-n", "1", "shop-1"]);
    on("two", &["list", "shop-1"]);
    assert_eq!(shown("one", "@1").as_deref(), Some("aaaa1111"));
    assert_eq!(shown("two", "@1").as_deref(), Some("cccc1111"));
    assert_eq!(shown("three", "@1"), None);
    // An empty list does not change the numbers.
    assert_eq!(on("one", &["list", "--all", "--since", "2027-01-01"]).code, Some(1));
    assert_eq!(shown("one", "@3").as_deref(), Some("cccc1111"));
    // A search does so with its hits.
    assert_eq!(on("one", &["search", "project:shop-1", "answer"]).code, Some(0));
    assert_eq!(shown("one", "@1").as_deref(), Some("cccc1111"));
}

#[test]
fn undoable_changes_need_no_confirmation() {
    let home = three();
    let output = home.run(["rename", "bbbb", "Tax rates"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.starts_with("shop → Tax rates\n"), "{output}");
    let output = home.run(["fork", "bbbb"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(home.run(["delete", "cccc"]).code, Some(3));
    assert_eq!(home.run(["delete", "cccc", "--yes"]).code, Some(0));
    assert_eq!(home.run(["restore", "cccc"]).code, Some(0));
    let output = home.run(["undo", "--dry-run"]);
    let line = output.stdout.lines().next().unwrap();
    assert!(line.starts_with("undo fork of "), "{output}");
    assert!(line.ends_with(", the last change that is not undone yet"), "{output}");
}

#[test]
fn an_empty_data_folder_is_not_an_error() {
    let home = three();
    for arguments in [&["trash"][..], &["vault"], &["history"], &["tag"]] {
        let output = home.run(arguments);
        assert_eq!(output.code, Some(0), "{arguments:?}: {output}");
    }
}

#[test]
fn guard_counts_the_sessions_at_risk() {
    let home = three();
    home.write(
        ".gemini/settings.json",
        r#"{"general":{"sessionRetention":{"enabled":true,"maxAge":"1d"}}}"#,
    );
    let output = home.run_with(["guard"], |command: &mut Command| {
        command.env("RECOUNT_NOW", "2026-12-24T00:00:00Z");
    });
    assert!(
        output.stdout.contains("3 of 3 sessions will be deleted on the next start"),
        "{output}"
    );
}

#[test]
fn sessions_and_projects_can_be_completed() {
    let home = three();
    let values = home.run(["complete-values", "sessions"]).stdout;
    assert!(values.starts_with("aaaa1111\t"), "{values}");
    assert!(values.lines().any(|line| line.starts_with("bbbb1111\tshop · shop")), "{values}");
    let values = home.run(["complete-values", "projects"]).stdout;
    assert!(values.lines().any(|line| line == "shop\t~/code/shop"), "{values}");
    for shell in ["bash", "zsh", "fish"] {
        let script = home.run(["completions", shell]).stdout;
        assert!(script.contains("recount complete-values"), "{shell}");
    }
    let zsh = home.run(["completions", "zsh"]).stdout;
    assert!(zsh.contains(":_recount_sessions'") && zsh.contains(":_recount_projects'"));
}

#[cfg(unix)]
#[test]
#[expect(clippy::disallowed_methods, reason = "the shell is what is tested")]
fn bash_completes_without_running_what_is_in_names() {
    let home = three();
    project(&home, "odd", "code/$(touch PWNED) x", "eeee1111", "2026-11-15T09:00:00.000Z");
    let program = env!("CARGO_BIN_EXE_recount");
    let folder = std::path::Path::new(program).parent().unwrap();
    let script = r#"
        source <(recount completions bash)
        COMP_WORDS=(recount show "bb"); COMP_CWORD=2; _recount_values recount bb show; echo "${COMPREPLY[*]}"
        COMPREPLY=(); COMP_WORDS=(recount list ""); COMP_CWORD=2; _recount_values recount "" list; printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let command = home.command(["-c", script]);
    let variables: Vec<_> =
        command.get_envs().map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned))).collect();
    let mut bash = Command::new("bash");
    bash.args(["-c", script]).current_dir(home.path()).env_clear();
    for (name, value) in variables {
        if let Some(value) = value {
            bash.env(name, value);
        }
    }
    let path = std::env::join_paths([folder, "/usr/bin".as_ref(), "/bin".as_ref()]).unwrap();
    let Ok(output) = bash.env("PATH", path).output() else { return };
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.lines().next().is_some_and(|line| line.contains("bbbb1111")), "{printed}");
    assert!(printed.contains(r"\$\(touch\ PWNED\)\ x"), "{printed}");
    assert!(!home.path().join("PWNED").exists());
}

#[test]
fn a_change_of_demo_data_is_explained() {
    let home = home([]);
    let output = home.run(["delete", "279d", "--yes"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("no session matches '279d'"), "{output}");
    assert!(output.stderr.contains("demo data, which cannot be changed"), "{output}");
    // With sessions, the usual hint.
    let output = three().run(["delete", "279d", "--yes"]);
    assert!(output.stderr.contains("`recount list --all`"), "{output}");
    assert!(!output.stderr.contains("demo"), "{output}");
}

#[test]
fn ids_that_begin_with_a_time_are_shown_longer() {
    let home = home([]);
    for (id, text) in
        [("01a1e05a-6189", "one"), ("01a1e05a-8f1c", "two"), ("77777777-1111", "three")]
    {
        let id = format!("{id}-7000-8000-000000000000");
        let time = "2026-11-15T08:00:00.000Z";
        let folder = ".codex/sessions/2026/11/15";
        home.write(
            &format!("{folder}/rollout-2026-11-15T08-00-00-{id}.jsonl"),
            format!(
                "{{\"timestamp\":\"{time}\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\"timestamp\":\"{time}\",\"cwd\":\"/x\",\"originator\":\"codex_cli_rs\",\"cli_version\":\"0.144.6\",\"source\":\"cli\"}}}}\n\
                 {{\"timestamp\":\"{time}\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"user_message\",\"message\":\"{text}\"}}}}\n"
            ),
        );
    }
    // Also where the rows do not show that there are others of the same minute.
    for limit in ["1", "3"] {
        for row in home.run(["list", "--all", "--limit", limit]).stdout.lines().skip(1) {
            let id = row.split_whitespace().nth(1).unwrap();
            assert_eq!(id.len(), 13, "{row}");
            assert_eq!(home.run(["show", id]).code, Some(0), "{row}");
        }
    }
}
