//! Tests of which project is meant: by folder, by name, by aliases.

use recount_testkit::{Home, Output};
use serde_json::{Value, json};

use crate::home;

/// Returns a session of one prompt.
fn session(id: &str, prompt: &str) -> String {
    let head = json!({"sessionId": id, "projectHash": "h", "startTime": "2026-11-15T08:00:00.000Z",
        "lastUpdated": "2026-11-15T08:00:01.000Z", "kind": "main"});
    let message = json!({"id": format!("{id}-1"), "timestamp": "2026-11-15T08:00:01.000Z", "type": "user",
        "content": [{"text": prompt}]});
    format!("{head}\n{message}\n")
}

/// Folders with a session each: the directory's name, the folder, the session.
const PROJECTS: &[(&str, &str, &str)] = &[
    ("shop", "code/shop", "aaaa0001"),
    ("shop-fix", "code/shop-fix", "aaaa0002"),
    ("ledger", "code/Ledger", "aaaa0003"),
    ("backup", "old/shop", "aaaa0004"),
];

/// Returns a home with these projects, all of which exist.
fn with_projects() -> Home {
    let home = home([]);
    for (slug, folder, id) in PROJECTS {
        home.write(&format!("{folder}/src/main.c"), "");
        home.write(&format!(".gemini/tmp/{slug}/.project_root"), home.at(folder));
        let file = format!(".gemini/tmp/{slug}/chats/session-2026-11-15T08-00-{id}.jsonl");
        home.write(&file, session(id, folder));
    }
    home
}

/// Returns the ids in a list, or the error.
fn ids(output: &Output) -> String {
    let document: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
    let sessions = document["sessions"].as_array().into_iter().flatten();
    let mut ids: Vec<&str> = sessions.filter_map(|session| session["id"].as_str()).collect();
    ids.sort_unstable();
    if ids.is_empty() { output.stderr.clone() } else { ids.join(" ") }
}

fn listed(home: &Home, project: &str) -> String {
    ids(&home.run(["list", project, "--json"]))
}

fn listed_in(home: &Home, folder: &str, arguments: &[&str]) -> String {
    let output = home.run_with(arguments, |command| {
        command.current_dir(home.path().join(folder));
    });
    ids(&output)
}

#[test]
fn in_a_projects_folder_and_below_it_that_project_is_listed() {
    let home = with_projects();
    for (folder, expected) in [
        ("code/shop", "aaaa0001"),
        ("code/shop/src", "aaaa0001"),
        ("code/shop-fix", "aaaa0002"),
        ("code", "aaaa0001 aaaa0002 aaaa0003 aaaa0004"),
    ] {
        assert_eq!(listed_in(&home, folder, &["list", "--json"]), expected, "{folder}");
    }
    let all = "aaaa0001 aaaa0002 aaaa0003 aaaa0004";
    assert_eq!(listed_in(&home, "code/shop", &["list", "--all", "--json"]), all);
    for here in [".", "./src", "../shop/src/.."] {
        assert_eq!(listed_in(&home, "code/shop", &["list", here, "--json"]), "aaaa0001", "{here}");
    }
    assert_eq!(listed_in(&home, "code/shop/src", &["list", ".", "--json"]), "aaaa0001");
}

#[test]
fn a_project_is_meant_by_path_slug_name_or_part_of_it() {
    let home = with_projects();
    for (wanted, expected) in [
        (&*home.at("code/shop"), "aaaa0001"),
        (&*home.at("code/shop/"), "aaaa0001"),
        ("~/code/shop-fix", "aaaa0002"),
        ("backup", "aaaa0004"),
        ("Ledger", "aaaa0003"),
        ("LEDGER", "aaaa0003"),
        ("edge", "aaaa0003"),
        ("lgr", "aaaa0003"),
        ("old/shop", "aaaa0004"),
        ("fix", "aaaa0002"),
    ] {
        assert_eq!(listed(&home, wanted), expected, "{wanted}");
    }
}

#[test]
fn several_matches_are_shown_with_how_to_choose() {
    let home = with_projects();
    insta::assert_snapshot!(home.run(["list", "op"]), @"
    ------- stderr -------
    error: 'op' matches 3 projects
    hint: ~/code/shop
    hint: ~/code/shop-fix
    hint: ~/old/shop
    hint: give the full path, or assign a name: `recount projects alias NAME PATH`
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["projects", "nothing-like-it"]), @"
    ------- stderr -------
    error: no project matches 'nothing-like-it'
    hint: `recount projects` shows every project
    [exit 1]
    ");
}

#[test]
fn folders_under_one_name_are_one_project() {
    let home = with_projects();
    insta::assert_snapshot!(home.run(["projects", "alias", "tea", "~/code/shop", "fix", "./old/shop"]), @r"
    tea
      ~/code/shop
      ~/code/shop-fix
      ~/old/shop
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["projects", "tea", "--parts"]), @r"
    PROJECT  PATH                    STATE    SESSIONS  PROMPTS  TOKENS   SIZE  USED     AGENTS
    tea      ~/code/shop and 2 more  present         3        3       –  732 B  15h ago  gemini

    tea  ~/code/shop
      ~/.gemini/tmp/backup  1 file, 242 B, ~/old/shop present
      ~/.gemini/tmp/shop  1 file, 243 B
      ~/.gemini/tmp/shop-fix  1 file, 247 B, ~/code/shop-fix present
    [exit 0]
    ");
    assert_eq!(listed(&home, "tea"), "aaaa0001 aaaa0002 aaaa0004");
    assert_eq!(
        listed_in(&home, "code/shop/src", &["list", "--json"]),
        "aaaa0001 aaaa0002 aaaa0004"
    );
    assert_eq!(listed(&home, "~/code/shop-fix"), "aaaa0002", "a path still means the one folder");
    let document: Value =
        serde_json::from_str(&home.run(["projects", "tea", "--json"]).stdout).unwrap();
    assert_eq!(document["projects"][0]["alias"], "tea");
    assert_eq!(document["projects"][0]["parts"].as_array().unwrap().len(), 3);
}

#[test]
fn names_are_shown_exported_imported_and_removed() {
    let home = with_projects();
    home.run(["projects", "alias", "tea", "~/code/shop", "~/code/shop-fix"]);
    home.run(["projects", "alias", "books", "ledger", "/Users/me/ledger", r"C:\work\ledger"]);
    let exported = home.run(["projects", "alias", "--export"]);
    insta::assert_snapshot!(exported, @r#"
    # Names for projects. Each stands for one or more folders, or hashes of folders.

    [projects]
    books = [
        "/Users/me/ledger",
        "~home~/code/Ledger",
        'C:\work\ledger',
    ]
    tea = [
        "~home~/code/shop",
        "~home~/code/shop-fix",
    ]
    [exit 0]
    "#);
    let other = with_projects();
    other.write("names.toml", &exported.stdout);
    assert_eq!(other.run(["projects", "alias", "--import", "names.toml"]).code, Some(0));
    assert_eq!(other.run(["projects", "alias", "--export"]).stdout, exported.stdout);
    assert_eq!(home.run(["projects", "alias", "--import", "-"]).code, Some(0), "nothing to add");
    let removed = |arguments: &[&str]| {
        let arguments: Vec<&str> = ["projects", "alias"].iter().chain(arguments).copied().collect();
        home.run(arguments).code
    };
    assert_eq!(removed(&["books", "--remove", "~/code/shop"]), Some(1), "it has another name");
    assert_eq!(removed(&["tea", "--remove", "~/code/shop"]), Some(0));
    assert_eq!(listed(&home, "tea"), "aaaa0002");
    assert_eq!(removed(&["tea", "--remove"]), Some(0));
    insta::assert_snapshot!(home.run(["projects", "alias", "tea"]), @r"
    ------- stderr -------
    note: no project has the name 'tea'
    [exit 1]
    ");
    let shown = home.run(["projects", "alias", "--json"]);
    let document: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(document["schema"], "recount.aliases/1");
    assert_eq!(document["aliases"][0]["name"], "books");
    assert_eq!(document["aliases"][0]["folders"].as_array().unwrap().len(), 3);
}

#[test]
fn a_project_without_sessions_can_be_named() {
    let home = with_projects();
    home.write(".gemini/tmp/quiet/.project_root", "/srv/quiet");
    insta::assert_snapshot!(home.run(["projects", "alias", "hush", "quiet"]), @r"
    hush
      /srv/quiet
    [exit 0]
    ");
}

#[test]
fn names_that_were_written_by_hand_may_have_the_home_written_short() {
    let home = with_projects();
    home.write(".local/share/recount/projects.toml", "[projects]\ntea = [\"~/code/shop\"]\n");
    assert_eq!(listed(&home, "tea"), "aaaa0001");
    let removed = home.run(["projects", "alias", "tea", "--remove", "~/code/shop"]);
    assert_eq!(removed.code, Some(0), "{removed}");
    assert_eq!(home.run(["projects", "alias", "tea"]).code, Some(1));
}

#[test]
fn a_folder_that_gets_a_second_name_loses_the_first() {
    let home = with_projects();
    home.run(["projects", "alias", "tea", "~/code/shop", "~/code/shop-fix"]);
    home.run(["projects", "alias", "wine", "~/code/shop"]);
    assert_eq!(
        (listed(&home, "tea"), listed(&home, "wine")),
        ("aaaa0002".into(), "aaaa0001".into())
    );
}

#[test]
fn a_project_without_a_folder_is_named_by_its_hash() {
    let home = home(["gemini/strings/plain"]);
    home.run(["projects", "alias", "first", "52efbb07"]);
    insta::assert_snapshot!(home.run(["projects", "first"]), @r"
    PROJECT  PATH                              STATE    SESSIONS  PROMPTS  TOKENS   SIZE  USED    AGENTS
    first    …0d5e245fdc6ce54f5682353f3246bee  unknown         1        1     821  816 B  5h ago  gemini
    ------- stderr -------
    note: 1 project not known (--scan DIR searches a folder)
    [exit 0]
    ");
}

#[test]
fn names_that_cannot_be_read_are_reported_with_their_line() {
    let home = with_projects();
    home.write("names.toml", "[projects]\nshop = [\"/a\"]\ntea = 3\n");
    insta::assert_snapshot!(home.run(["projects", "alias", "--import", "names.toml"]), @r"
    ------- stderr -------
    error: names.toml: line 3: invalid type: integer `3`, expected a sequence
    hint: `recount projects alias --export` shows the format
    [exit 2]
    ");
    assert_eq!(home.run(["projects", "alias"]).code, Some(1), "none was taken over");
    let ours = ".local/share/recount/projects.toml";
    home.write(ours, "[projects]\nshop = [\n");
    for arguments in [&["list"] as &[&str], &["projects"], &["projects", "alias", "x", "/a"]] {
        let output = home.run(arguments);
        assert_eq!(output.code, Some(2));
        assert!(output.stderr.contains("projects.toml: line "), "{}", output.stderr);
    }
    assert_eq!(
        home.read(ours),
        b"[projects]\nshop = [\n",
        "what is not understood is not replaced"
    );
    let latin = b"[projects]\ncaf\xe9 = [\"/a\"]\n";
    home.write(ours, latin);
    assert_eq!(home.run(["projects", "alias", "x", "/b"]).code, Some(2));
    assert_eq!(home.read(ours), latin);
}
