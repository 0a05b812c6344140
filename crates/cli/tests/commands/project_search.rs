//! `recount projects`: searched folders, missing folders, and settings.
#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

use recount_testkit::{Home, Output};
use serde_json::{Value, json};

use crate::{has, home};

fn projects(output: &Output) -> Vec<Value> {
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["schema"], "recount.projects/1");
    document["projects"].as_array().unwrap().clone()
}

/// Returns the hash of a path, as the program reports it for a directory with a marker.
fn hash(path: &str) -> String {
    let probe = home([]);
    probe.write(".gemini/tmp/probe/.project_root", path);
    let rows = projects(&probe.run(["projects", "--json"]));
    rows[0]["hash"].as_str().unwrap().to_owned()
}

/// Writes a directory that identifies its folder only by the hash.
fn write_hash_directory(home: &Home, path: &str) -> String {
    let hash = hash(path);
    let id = hash.get(..8).unwrap();
    let head = json!({"sessionId": id, "projectHash": hash, "startTime": "2026-11-15T08:00:00.000Z",
        "lastUpdated": "2026-11-15T08:00:01.000Z", "kind": "main"});
    let message = json!({"id": "1", "timestamp": "2026-11-15T08:00:01.000Z", "type": "user",
        "content": [{"text": "hello"}]});
    let file = format!(".gemini/tmp/{hash}/chats/session-2026-11-15T08-00-{id}.jsonl");
    home.write(&file, format!("{head}\n{message}\n"));
    hash
}

/// Returns a home with a folder deeper than the default search.
fn deep() -> (Home, String) {
    let home = home([]);
    home.write("disk/1/2/3/4/5/shop/README.md", "");
    let hash = write_hash_directory(&home, &home.at("disk/1/2/3/4/5/shop"));
    (home, hash)
}

fn state(output: &Output) -> (Value, Value) {
    let row = projects(output).swap_remove(0);
    (row["path"].clone(), row["state"].clone())
}

#[test]
fn a_folder_is_searched_as_deep_as_asked() {
    let (home, _) = deep();
    let shop = home.at("disk/1/2/3/4/5/shop");
    let unknown = (Value::Null, json!("unknown"));
    assert_eq!(state(&home.run(["projects", "--json"])), unknown);
    assert_eq!(state(&home.run(["projects", "--json", "--scan"])), unknown);
    assert_eq!(state(&home.run(["projects", "--json", "--scan", "disk", "--depth", "5"])), unknown);
    assert_eq!(state(&home.run(["projects", "--json", "--scan", "code", "src"])), unknown);
    let found = (json!(shop), json!("present"));
    assert_eq!(state(&home.run(["projects", "--json", "--scan", "code", "disk"])), found);
    assert_eq!(state(&home.run(["projects", "--json"])), found, "remembered");
}

#[test]
fn a_search_shows_what_it_found_and_how() {
    let (home, _) = deep();
    insta::assert_snapshot!(home.run(["projects", "--evidence", "--scan", "disk", "nowhere"]), @r"
    PROJECT  PATH                   STATE    SESSIONS  PROMPTS  TOKENS   SIZE  USED     AGENTS
    shop     ~/disk/1/2/3/4/5/shop  present         1        1       –  293 B  15h ago  gemini

    shop  ~/disk/1/2/3/4/5/shop
      100 proves   scan           found below ~/disk
      100 proves   session hash   session files carry the SHA-256 of the path
    ------- stderr -------
    note: no such folder to search: ~home~/nowhere
    [exit 0]
    ");
}

#[test]
fn a_depth_belongs_to_a_search() {
    let output = home([]).run(["projects", "--depth", "3"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("--scan"), "{output}");
}

#[test]
fn what_was_found_can_be_forgotten() {
    let (home, _) = deep();
    home.run(["projects", "--scan", "disk"]);
    insta::assert_snapshot!(home.run(["projects", "--forget"]), @r"
    ------- stderr -------
    note: 1 learned folder forgotten
    [exit 0]
    ");
    assert_eq!(state(&home.run(["projects", "--json"])).1, "unknown");
    home.run(["projects", "--scan", "disk"]);
    assert_eq!(state(&home.run(["projects", "--json"])).1, "present");
}

#[test]
fn only_projects_without_a_folder_are_shown_on_request() {
    let (home, hash) = deep();
    home.write(".gemini/tmp/tea/.project_root", "/srv/tea");
    let all = projects(&home.run(["projects", "--json"]));
    assert_eq!(all.len(), 2);
    let unresolved = projects(&home.run(["projects", "--json", "--unresolved"]));
    assert_eq!(unresolved.len(), 1);
    assert_eq!(unresolved[0]["hash"], json!(hash));
    let by_hash = projects(&home.run(["projects", "--json", hash.get(..6).unwrap()]));
    assert_eq!(by_hash, unresolved);
}

#[test]
fn a_folder_that_is_gone_is_shown_with_where_it_went() {
    let home = home([]);
    home.write(".gemini/tmp/shop/.project_root", home.at("code/my shop"));
    let said =
        format!("see {0}/src/cart.js {0}/src/tax.js {0}/prices.csv", home.at("code/my shop"));
    let lines = [
        json!({"sessionId": "aaaa0001", "projectHash": "h", "startTime": "2026-11-15T08:00:00.000Z",
            "lastUpdated": "2026-11-15T08:00:01.000Z", "kind": "main"}),
        json!({"id": "1", "timestamp": "2026-11-15T08:00:01.000Z", "type": "user", "content": [{"text": said}]}),
    ];
    let text = format!("{}\n{}\n", lines[0], lines[1]);
    home.write(".gemini/tmp/shop/chats/session-2026-11-15T08-00-aaaa0001.jsonl", &text);
    for file in ["src/cart.js", "src/tax.js", "prices.csv"] {
        home.write(&format!("code/store/{file}"), "");
    }
    let output = home.run(["projects"]);
    let (_, proposal) = output.stdout.split_once("\n\n").unwrap();
    let proposal = proposal.replace(home.path().to_str().unwrap(), "~home~");
    insta::assert_snapshot!(proposal, @r"
    ~/code/my shop is gone, likely moved to ~/code/store
      3 of 3 files that sessions touched are there; in the same folder as the old place
      recount relocate '~home~/code/my shop' ~home~/code/store
    ");
    let evidence = home.run(["projects", "--evidence"]).stdout;
    assert!(evidence.contains("60 suggests files"), "{evidence}");
    let row = projects(&home.run(["projects", "--json"])).swap_remove(0);
    has(&row["moved_to"], "path likely evidence command");
    has(&row["moved_to"]["evidence"][0], "clue detail proves weight");
}

#[test]
fn every_field_is_there_known_or_not() {
    let (home, _) = deep();
    home.write(".gemini/tmp/tea/.project_root", "/srv/tea");
    for row in projects(&home.run(["projects", "--json"])) {
        has(&row, "path state slug hash sources sessions bytes tokens last_used evidence");
        has(&row, "name alias prompts began moved_to parts");
        has(&row["parts"][0], "directory source path state files bytes");
    }
    let listed: Value = serde_json::from_str(&home.run(["list", "--json"]).stdout).unwrap();
    has(&listed["sessions"][0]["project"], "path state slug hash alias evidence");
}

#[test]
fn what_the_user_has_set_is_honoured() {
    let (home, _) = deep();
    let set = |text: &str| home.write(".config/recount/config.toml", text);
    let found = || state(&home.run(["projects", "--json"])).1 == "present";
    set("[projects]\nroots = [\"~/disk\"]\ndepth = 5\n");
    assert!(!found());
    set("[projects]\nroots = [\"~/disk\"]\ndepth = 6\nscan = false\n");
    assert!(!found());
    set("[projects]\nroots = [\"~/disk\"]\ndepth = 6\n");
    assert!(found());
}

#[test]
fn settings_that_are_not_understood_are_reported_with_file_and_line() {
    let (home, _) = deep();
    home.write(".config/recount/config.toml", "# mine\n[projects]\ndeep = 6\n");
    insta::assert_snapshot!(home.run(["list"]), @r"
    ------- stderr -------
    error: ~home~/.config/recount/config.toml: line 3: unknown field `deep`, expected one of `scan`, `roots`, `depth`, `patience_ms`
    hint: fix or remove the file
    [exit 2]
    ");
    for text in
        ["[projects", "[projects]\ndepth = -1\n", "[projects]\nroots = \"~/code\"\n", "\u{feff}x"]
    {
        home.write(".config/recount/config.toml", text);
        let output = home.run(["projects"]);
        assert_eq!(output.code, Some(2));
        assert!(output.stderr.contains("config.toml: line "), "{}", output.stderr);
    }
    home.write(".config/recount/config.toml", b"\xff\xfe");
    assert!(home.run(["projects"]).stderr.contains("config.toml: not UTF-8"));
    let folder = crate::home([]);
    folder.write(".config/recount/config.toml/x", "");
    assert_eq!(
        folder.run(["projects"]).code,
        Some(2),
        "what cannot be read is not as if it were not there"
    );
}
