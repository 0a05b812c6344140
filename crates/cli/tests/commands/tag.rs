//! Tests of tags and pins, which are never in an agent's file.

use super::changing::{change, folder, json, session, tree};
use crate::home;

const ID: &str = "8662c6d1-79eb-45ff-9a82-649436c92eda";

#[test]
fn tags_and_pins_are_shown_and_found() {
    let home = home(["gemini/lines/tools", "gemini/lines/subagent"]);
    let before = tree(&home);
    insta::assert_snapshot!(home.run(["tag"]), @r"
    ------- stderr -------
    note: no session has tags or a pin
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["list", "--all"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS   COST    SIZE  NOTES  TITLE
    1  fa293f46  5h ago  shop           1      2     19k  $0.01  5.5 KB         Where is the tax comput…
    2  8662c6d1  5h ago  shop           1     15     59k  $0.03  482 KB         Raise the tax rate to 2…
    ------- stderr -------
    note: 2 sub-agent sessions not shown (--kind main,subagent)
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["tag", "8662", "+tax", "#review", "größe"]), @r"
    ID        PIN  TAGS                 PROJECT              TITLE
    8662c6d1       #größe #review #tax  /home/dev/code/shop  Raise the tax rate to 25 percent and add a…
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["pin", "fa29"]), @r"
    ID        PIN  TAGS  PROJECT              TITLE
    fa293f46  *          /home/dev/code/shop  Where is the tax computed? Ask the investigator.
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["tag", "8662", "-r", "größe"]), @r"
    ID        PIN  TAGS          PROJECT              TITLE
    8662c6d1       #review #tax  /home/dev/code/shop  Raise the tax rate to 25 percent and add a discou…
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["list", "--all"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS   COST  NOTES  LABELS        TITLE
    1  fa293f46  5h ago  shop           1      2     19k  $0.01         *             Where is the tax…
    2  8662c6d1  5h ago  shop           1     15     59k  $0.03         #review #tax  Raise the tax rat…
    ------- stderr -------
    note: 2 sub-agent sessions not shown (--kind main,subagent)
    [exit 0]
    ");
    insta::assert_snapshot!(String::from_utf8(home.read(".local/share/recount/labels.toml")).unwrap(), @r#"
    # Tags and pins of sessions, by agent and session id.

    [gemini.8662c6d1-79eb-45ff-9a82-649436c92eda]
    tags = ["review", "tax"]

    [gemini.fa293f46-f175-4caf-8daa-a46248fa4b4c]
    pinned = true
    "#);
    let ids = |arguments: &[&str]| -> Vec<String> {
        let listed = json(&home, arguments);
        let ids = listed["sessions"].as_array().unwrap().iter();
        ids.map(|session| session["id"].as_str().unwrap()[..8].to_owned()).collect()
    };
    assert_eq!(ids(&["list", "--all", "--tag", "tax", "--tag", "#review"]), ["8662c6d1"]);
    assert_eq!(ids(&["list", "--all", "--tag", "tax", "--tag", "other"]), [""; 0]);
    assert_eq!(ids(&["list", "--all", "--pinned"]), ["fa293f46"]);
    let labelled = session(&home, ID);
    assert_eq!(labelled["tags"], serde_json::json!(["review", "tax"]));
    assert_eq!(labelled["pinned"], false);
    assert_eq!(json(&home, &["show", "fa29"])["session"]["pinned"], true);
    home.run(["unpin", "fa29"]);
    assert_eq!(ids(&["list", "--all", "--pinned"]), [""; 0]);
    assert_eq!(tree(&home), before);
}

#[test]
fn tags_stay_with_a_session_wherever_it_goes() {
    let home = home(["gemini/lines/tools"]);
    let store = folder(&home, "code/store");
    home.run(["tag", "8662", "tax"]);
    change(&home, &["move", "8662", "--to", &store]);
    assert_eq!(session(&home, ID)["tags"][0], "tax");
    change(&home, &["delete", "8662"]);
    let all = json(&home, &["tag"]);
    assert_eq!(
        (&all["sessions"][0]["gone"], &all["sessions"][0]["id"]),
        (&true.into(), &ID.into())
    );
    change(&home, &["restore", "8662"]);
    assert_eq!(session(&home, ID)["tags"][0], "tax");
}

#[test]
fn invalid_tags_are_reported() {
    let home = home(["gemini/lines/tools"]);
    insta::assert_snapshot!(home.run(["tag", "8662", "two words"]), @r"
    ------- stderr -------
    error: 'two words' is not a tag
    hint: a tag is one word: letters, digits, - _ . /
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["tag", "ffff", "x"]), @"
    ------- stderr -------
    error: no session matches 'ffff'
    hint: `recount list --all` shows every session with its id
    [exit 1]
    ");
    home.write(".local/share/recount/labels.toml", "[gemini.x]\ntags = 3\n");
    insta::assert_snapshot!(home.run(["list", "--all"]), @r"
    ------- stderr -------
    error: ~home~/.local/share/recount/labels.toml: line 2: invalid type: integer `3`, expected a sequence
    hint: fix or remove the file
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["pin", "8662"]), @r"
    ------- stderr -------
    error: ~home~/.local/share/recount/labels.toml: line 2: invalid type: integer `3`, expected a sequence
    hint: fix or remove the file
    [exit 2]
    ");
    assert_eq!(home.read(".local/share/recount/labels.toml"), b"[gemini.x]\ntags = 3\n");
}
