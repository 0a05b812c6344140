//! `recount testbed`

use serde_json::Value;

use crate::home;

#[test]
fn a_demo_home_can_be_listed() {
    let home = home([]);
    let made = home.run(["testbed", "--demo", "try"]);
    assert_eq!(made.code, Some(0), "{made}");
    assert!(made.stdout.starts_with("try: 29 sessions of 5 projects, "), "{made}");
    assert!(made.stderr.contains("to read it: recount --home try list --all"), "{made}");
    insta::assert_snapshot!(home.run(["--home", "try", "list", "--all", "--source", "gemini", "--kind", "main", "-n", "6"]), @r"
    #  ID        USED     PROJECT        PROMPTS  TOOLS  TOKENS    COST  NOTES      TITLE
    1  7f07c6a1  36m ago  release-tools        3      1     16k  ≥$0.02  1 undone   Draft the notes for…
    2  82e5e803  4h ago   shop                 4      3     33k  ≥$0.03             Find where tax is c…
    3  cdb7efb6  1d ago   release-tools        4      4     33k  ≥$0.03  2 undone   Sign release tags
    4  a45ef3e4  2d ago   tinyparse            3      6     39k  ≥$0.04  10 undone  Decode \u escapes a…
    5  faefc8f3  2d ago   天気ノート           3      5     34k  ≥$0.04             修正气温图表的编码…
    6  279d2ba9  3d ago   shop                 4     11     71k  ≥$0.05  7 undone   Add a quantity disc…
    [exit 0]
    ");
}

#[test]
fn the_list_matches_the_manifest() {
    let home = home([]);
    let made = home.run([
        "testbed",
        "made",
        "--sessions",
        "30",
        "--megabytes",
        "0.5",
        "--projects",
        "4",
        "--json",
    ]);
    let made: Value = serde_json::from_str(&made.stdout).unwrap();
    assert_eq!(made["schema"], "recount.testbed/1");
    let listed = home.run(["--home", "made", "list", "--json", "--all"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let sessions = listed["sessions"].as_array().unwrap();
    let of_kind = |kind: &str| sessions.iter().filter(|session| session["kind"] == kind).count();
    assert_eq!(made["home"]["sessions"], of_kind("main"));
    assert_eq!(made["home"]["subagents"], of_kind("subagent"));
    let manifest: Value = serde_json::from_slice(&home.read("made/manifest.json")).unwrap();
    for expected in manifest["files"].as_array().unwrap() {
        let is_it = |session: &&Value| {
            session["source"] == expected["source"] && session["id"] == expected["sessionId"]
        };
        let kept = &sessions.iter().find(is_it).unwrap_or_else(|| panic!("{expected}"))["kept"];
        assert_eq!(kept["prompts"], expected["user"], "{expected}");
        assert_eq!(kept["tool_calls"], expected["toolCalls"], "{expected}");
        assert_eq!(kept["messages"], expected["messages"], "{expected}");
        assert_eq!(kept["tokens"]["total"], expected["tokens"], "{expected}");
    }
}

#[test]
fn a_folder_with_something_in_it_is_refused() {
    let home = home([]);
    home.write("full/note.txt", "mine");
    insta::assert_snapshot!(home.run(["testbed", "--demo", "full"]), @r"
    ------- stderr -------
    error: the folder full is not empty
    hint: give a folder that does not exist yet
    [exit 3]
    ");
    assert_eq!(home.read("full/note.txt"), b"mine");
    assert!(!home.path().join("full/.gemini").exists());
}

#[test]
fn a_demo_has_no_other_options() {
    let output = home([]).run(["testbed", "--demo", "try", "--sessions", "5"]);
    assert_eq!(output.code, Some(2));
}
