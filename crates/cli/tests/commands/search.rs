//! `recount search`, `recount index`
#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

use serde_json::Value;

use crate::{has, home};

fn hits(output: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(output).unwrap();
    assert_eq!(document["schema"], "recount.search/1");
    document["hits"].as_array().unwrap().clone()
}

#[test]
fn a_word_is_found_in_its_context() {
    let home = home(["gemini/lines/tools", "gemini/strings/plain"]);
    insta::assert_snapshot!(home.run(["search", "prices.csv", "OR", "apples"]), @r"
    Raise the tax rate to 25 percent and add a discount.          shop  5h ago  8662c6d1
      1 18:13 path    /home/dev/code/shop/prices.csv
    [exit 0]
    ");
}

#[test]
fn every_documented_field_is_in_the_json() {
    let home = home(["gemini/lines/tools"]);
    let output = home.run(["search", "prices", "--json", "--all-hits"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    has(&document, "schema total hits");
    assert!(!hits(&output.stdout).is_empty());
    for hit in hits(&output.stdout) {
        has(&hit, "session message_id kind score snippet highlights where");
        has(&hit["session"], "source id title project");
        has(&hit["where"], "file line offset bytes");
        let snippet = hit["snippet"].as_str().unwrap();
        for range in hit["highlights"].as_array().unwrap() {
            let (start, end) = (range[0].as_u64().unwrap(), range[1].as_u64().unwrap());
            let found = &snippet[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()];
            assert!(found.to_lowercase().contains("price"), "{found} in {snippet}");
        }
    }
}

#[test]
fn a_query_that_is_not_understood_shows_the_spot() {
    let home = home(["gemini/lines/plain"]);
    insta::assert_snapshot!(home.run(["search", "a AND (b"]), @r"
    ------- stderr -------
    error: this bracket is never closed
      a AND (b
            ^
    hint: for example: (cart OR basket) tax
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["search", "colour:red"]), @r#"
    ------- stderr -------
    error: there is no field `colour`; fields are in, project, source, model, tool, file, kind, fate, before, after, is; quote it to search for the words
      colour:red
      ^^^^^^^
    hint: for example: "note: check this"
    [exit 2]
    "#);
}

#[test]
fn nothing_found_is_not_an_error_of_ours() {
    insta::assert_snapshot!(home(["gemini/lines/plain"]).run(["search", "xyzzyplugh"]), @r"
    ------- stderr -------
    note: nothing found
    [exit 1]
    ");
}

#[test]
fn what_is_said_later_is_found_and_what_is_gone_is_not() {
    let home = home(["gemini/lines/plain"]);
    assert!(hits(&home.run(["search", "question", "--json"]).stdout).len() <= 20);
    let folder = home.path().join(".gemini/tmp/shop/chats");
    let log = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let path = log.strip_prefix(home.path()).unwrap().to_str().unwrap();
    let mut text = home.read(path);
    text.extend_from_slice(
        b"{\"id\":\"late\",\"timestamp\":\"2026-11-15T19:00:00Z\",\"type\":\"user\",\"content\":[{\"text\":\"about zebras\"}]}\n",
    );
    home.write(path, &text);
    let found = hits(&home.run(["search", "zebras", "--json"]).stdout);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["message_id"], "late");
    #[expect(clippy::disallowed_methods, reason = "a test changes what it looks at")]
    std::fs::remove_file(&log).unwrap();
    assert!(hits(&home.run(["search", "zebras", "--json"]).stdout).is_empty());
    let status = home.run(["index", "status", "--json"]);
    let document: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(document["status"]["gone"], 1);
    home.run(["index", "--forget"]);
    let status = home.run(["index", "status", "--json"]);
    let document: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(document["status"]["gone"], 0);
}

#[test]
fn a_hit_is_opened_where_it_stands() {
    let home = home(["gemini/lines/multi-turn"]);
    let found = hits(&home.run(["search", "kind:answer", "--json"]).stdout);
    assert!(!found.is_empty());
    let output = home.run(["search", "kind:answer", "--open", "1"]);
    assert!(output.stdout.contains("shop"), "{}", output.stdout);
    insta::assert_snapshot!(home.run(["search", "kind:answer", "--open", "99"]), @r"
    ------- stderr -------
    error: there is no hit 99: 1 hit found
    [exit 1]
    ");
}

#[test]
fn the_files_themselves_can_be_searched() {
    let home = home(["gemini/lines/tools", "gemini/strings/plain"]);
    insta::assert_snapshot!(home.run(["search", "--no-index", "prices.csv", "OR", "apples"]), @r"
    Raise the tax rate to 25 percent and add a discount.          shop  5h ago  8662c6d1
      1 18:13 path    /home/dev/code/shop/prices.csv
    [exit 0]
    ");
    assert!(!home.path().join(".local/share/recount/search").exists());
    insta::assert_snapshot!(home.run(["search", "--no-index", "xyzzyplugh"]), @r"
    ------- stderr -------
    note: nothing found
    [exit 1]
    ");
}

#[test]
fn the_index_can_be_made_beforehand_and_anew() {
    let home = home(["gemini/lines/plain", "gemini/strings/plain"]);
    insta::assert_snapshot!(home.run(["index"]), @r"
    ------- stderr -------
    note: 2 sessions indexed, 4 messages of 1.5 KB; 0 unchanged
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["index"]), @r"
    ------- stderr -------
    note: up to date: 2 sessions
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["index", "rebuild"]), @r"
    ------- stderr -------
    note: 2 sessions indexed, 4 messages of 1.5 KB; 0 unchanged
    [exit 0]
    ");
}
