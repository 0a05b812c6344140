//! `recount testbed`

use serde_json::Value;

use crate::home;

#[test]
fn a_demo_home_can_be_listed() {
    let home = home([]);
    insta::assert_snapshot!(home.run(["testbed", "--demo", "try"]), @r"
    try: 15 sessions of 5 projects, 168 messages, 276 KB
    ------- stderr -------
    note: look at it with: recount --home try list --all
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["--home", "try", "list", "--all"]), @r"
     #  ID        USED        PROJECT        PROMPTS  TOOLS  TOKENS    SIZE  NOTES      TITLE
     1  7f07c6a1  36m ago     release-tools        3      1     15k  8.5 KB  1 undone   Draft the notes…
     2  82e5e803  4h ago      shop                 4      3     32k   10 KB             Find where tax…
     3  cdb7efb6  1d ago      release-tools        4      4     32k   28 KB  2 undone   Sign release ta…
     4  a45ef3e4  2d ago      tinyparse            3      6     38k   17 KB  10 undone  Decode \u escap…
     5  faefc8f3  2d ago      天気ノート           3      5     33k   12 KB             修正气温图表的…
     6  279d2ba9  3d ago      shop                 4     11     71k   49 KB  7 undone   Add a quantity…
     7  3517ab84  2026-05-24  order-import         2      4     21k   10 KB             Read dates of t…
     8  31b4a154  2026-05-20  release-tools        3      7     44k   15 KB  2 undone   release.sh shou…
     9  087dd619  2026-05-10  tinyparse            3      7     45k   16 KB  4 undone   Stop deeply nes…
    10  04d211ef  2026-04-15  天気ノート           3      4     27k   11 KB             東京の予報を読…
    11  db2e95be  2026-04-09  tinyparse            2      2     22k  9.6 KB             Support all str…
    12  7996a9d2  2026-03-28  shop                 3      4     33k   16 KB             Fix page number…
    13  25a182a1  2026-02-01  shop                 2      5     22k   20 KB             Write a functio…
    14  1b741add  2026-01-19  shop                 2      3     21k   11 KB             What do three a…
    15  91eb5ee3  2026-01-10  order-import         3      6     32k   11 KB             The import has…
    ------- stderr -------
    note: 2 sub-agent sessions not shown (--kind main,subagent)
    [exit 0]
    ");
}

#[test]
fn what_is_read_is_what_the_manifest_says() {
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
}

#[test]
fn a_folder_with_something_in_it_is_refused() {
    let home = home([]);
    home.write("full/note.txt", "mine");
    insta::assert_snapshot!(home.run(["testbed", "--demo", "full"]), @r"
    ------- stderr -------
    error: the folder full is not empty
    hint: name a folder that does not exist yet
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
