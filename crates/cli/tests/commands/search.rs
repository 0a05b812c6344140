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

/// Returns the file of the session about apples.
fn apples(home: &recount_testkit::Home) -> std::path::PathBuf {
    let folder = home.path().join(".gemini/tmp/shop/chats");
    let mut files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    files.find(|path| path.to_str().unwrap().contains("d22642e2")).unwrap()
}

#[test]
fn later_messages_are_found() {
    let home = home(["gemini/lines/plain"]);
    assert_eq!(hits(&home.run(["search", "coins", "--json"]).stdout).len(), 1);
    assert!(hits(&home.run(["search", "zebras", "--json"]).stdout).is_empty());
    let log = apples(&home);
    let path = log.strip_prefix(home.path()).unwrap().to_str().unwrap();
    let mut text = home.read(path);
    text.extend_from_slice(
        b"{\"id\":\"late\",\"timestamp\":\"2026-11-15T19:00:00Z\",\"type\":\"user\",\"content\":[{\"text\":\"about zebras\"}]}\n",
    );
    home.write(path, &text);
    // Once beside the index, once in it, and then unchanged.
    for round in ["new", "indexed", "unchanged"] {
        let found = hits(&home.run(["search", "zebras", "--json"]).stdout);
        assert_eq!(found.len(), 1, "{round}");
        assert_eq!(found[0]["message_id"], "late", "{round}");
        assert_eq!(found[0]["snippet"], "about zebras", "{round}");
        assert_eq!(hits(&home.run(["search", "coins", "--json"]).stdout).len(), 1, "{round}");
        home.run(["index"]);
    }
}

#[test]
fn deleted_sessions_are_found_until_they_are_forgotten() {
    let home = home(["gemini/lines/plain", "gemini/lines/tools"]);
    assert_eq!(
        hits(&home.run(["search", "\"apple costs\"", "--json"]).stdout)[0]["session"]["gone"],
        false
    );
    #[expect(clippy::disallowed_methods, reason = "tests change their own files")]
    std::fs::remove_file(apples(&home)).unwrap();
    for _ in 0..3 {
        let found = hits(&home.run(["search", "\"apple costs\"", "--json"]).stdout);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["session"]["gone"], true);
        assert_eq!(found[0]["session"]["title"], "What does an apple cost?");
        assert_eq!(found[0]["snippet"], Value::Null);
    }
    insta::assert_snapshot!(home.run(["search", "\"apple costs\""]), @r"
    What does an apple cost?                                      shop  5h ago  d22642e2  gone
      1 18:32 answer  its file is gone, and the text with it
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["search", "\"apple costs\"", "--open", "1"]), @r"
    ------- stderr -------
    error: the files of that session are gone: only the index still knows it
    hint: recount index --forget forgets it, too
    [exit 1]
    ");
    let status = || {
        let status = home.run(["index", "status", "--json"]);
        let document: Value = serde_json::from_str(&status.stdout).unwrap();
        document["status"]["gone"].clone()
    };
    assert_eq!(status(), 1);
    insta::assert_snapshot!(home.run(["index", "--forget"]), @r"
    ------- stderr -------
    note: 1 session forgotten
    [exit 0]
    ");
    assert_eq!(status(), 0);
    assert!(hits(&home.run(["search", "\"apple costs\"", "--json"]).stdout).is_empty());
}

#[test]
fn a_hit_is_opened_at_its_location() {
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
fn the_index_can_be_built_and_rebuilt() {
    let home = home(["gemini/lines/plain", "gemini/strings/plain"]);
    insta::assert_snapshot!(home.run(["index"]), @r"
    ------- stderr -------
    note: 2 sessions indexed, 4 messages of 1.6 KB; 0 unchanged
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["index"]), @r"
    ------- stderr -------
    note: up to date: 2 sessions
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["index", "rebuild"]), @r"
    ------- stderr -------
    note: 2 sessions indexed, 4 messages of 1.6 KB; 0 unchanged
    [exit 0]
    ");
}

#[test]
fn messages_around_a_hit_are_shown_with_it() {
    let home = home(["gemini/lines/multi-turn"]);
    insta::assert_snapshot!(home.run(["search", "kind:answer", "-C", "1", "-n", "1"]), @r"
    What do an apple and a pear cost together                     shop  5h ago  5f4230ca
        18:37 prompt  Thanks.
      1 18:37 answer  You are welcome.
    ------- stderr -------
    note: 3 messages in 1 session (--all-hits shows all)
    [exit 0]
    ");
    let found = hits(&home.run(["search", "kind:answer", "-C", "2", "--json"]).stdout);
    let around = found[0]["context"].as_array().unwrap();
    assert!(around.iter().any(|message| message["id"] == found[0]["message_id"]));
    assert!(around.len() > 1 && around.len() <= 5);
}

#[test]
fn a_session_is_shown_where_something_is_found() {
    let home = home(["gemini/lines/plain"]);
    insta::assert_snapshot!(home.run(["show", "latest", "--find", "coins"]), @r"
    What does an apple cost?
    /home/dev/code/shop · gemini · d22642e2-6e3e-4d27-8e63-73c987642ace
    2026-11-15 18:32, 0 s · 1 prompt · 1 answer · 821 tokens · gemini-3-flash-preview

    gemini-3-flash-preview  18:32
      An apple costs 3 coins.
    [exit 0]
    ");
    let all = home.run(["show", "latest", "--find", "coins", "-C", "1"]);
    assert!(all.stdout.contains("What does an apple cost?"), "{}", all.stdout);
    assert!(all.stdout.contains("3 coins"), "{}", all.stdout);
    insta::assert_snapshot!(home.run(["show", "latest", "--find", "zebras"]), @"
    What does an apple cost?
    /home/dev/code/shop · gemini · d22642e2-6e3e-4d27-8e63-73c987642ace
    2026-11-15 18:32, 0 s · 1 prompt · 1 answer · 821 tokens · gemini-3-flash-preview
    ------- stderr -------
    note: no matches in this session
    [exit 1]
    ");
    insta::assert_snapshot!(home.run(["show", "latest", "--find", "(coins"]), @r"
    ------- stderr -------
    error: this bracket is never closed
      (coins
      ^
    hint: for example: (cart OR basket) tax
    [exit 2]
    ");
    let json = home.run(["show", "latest", "--find", "coins", "--json"]);
    let document: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(document["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn a_list_can_be_filtered_by_text() {
    let home = home(["gemini/lines/plain", "gemini/lines/tools"]);
    let listed = |query: &str| {
        let output = home.run(["list", "--all", "--json", "--text", query]);
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        let sessions = document["sessions"].as_array().unwrap().clone();
        sessions.iter().map(|s| s["id"].as_str().unwrap()[..8].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed("\"apple costs\""), ["d22642e2"]);
    assert_eq!(listed("coins -apple"), Vec::<String>::new());
    assert_eq!(listed("prices.csv"), ["8662c6d1"]);
    assert_eq!(listed("apple zebras"), Vec::<String>::new(), "no list is content with some words");
    assert!(listed("kind:prompt").len() == 2);
    insta::assert_snapshot!(home.run(["list", "--all", "--text", "(a"]), @r"
    ------- stderr -------
    error: this bracket is never closed
      (a
      ^
    hint: for example: (cart OR basket) tax
    [exit 2]
    ");
}

#[test]
fn hits_can_come_one_per_line() {
    let home = home(["gemini/lines/tools"]);
    let output = home.run(["search", "prices", "--stream", "--all-hits"]);
    let whole = hits(&home.run(["search", "prices", "--json", "--all-hits"]).stdout);
    let lines: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), whole.len());
    for (line, hit) in lines.iter().zip(&whole) {
        assert_eq!(line["schema"], "recount.search/1");
        assert_eq!(line["where"], hit["where"]);
        assert_eq!(line["snippet"], hit["snippet"]);
    }
}

#[test]
fn missing_facts_of_a_deleted_session_are_reported() {
    let home = home(["gemini/lines/plain", "gemini/lines/tools"]);
    let phrase = ["search", "in:output \"name price\""];
    let before = home.run(phrase);
    assert_eq!(before.code, Some(0), "{}", before.stderr);
    let folder = home.path().join(".gemini/tmp/shop/chats");
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.to_str().unwrap().contains("8662c6d1") {
            #[expect(clippy::disallowed_methods, reason = "tests change their own files")]
            std::fs::remove_file(path).unwrap();
        }
    }
    insta::assert_snapshot!(home.run(phrase), @r"
    ------- stderr -------
    note: 1 more may be in sessions that are gone: their text cannot be looked at
    note: nothing found
    [exit 1]
    ");
}

/// Returns a home with more bytes than are indexed before the first answer, most of them filler.
#[cfg(unix)]
fn large() -> recount_testkit::Home {
    let home = home(["gemini/lines/tools"]);
    let mut log = String::from(concat!(
        r#"{"sessionId":"1a46e000-0000-4000-8000-000000000001","projectHash":"x","startTime":"2026-11-15T08:00:00.000Z","lastUpdated":"2026-11-15T08:00:00.000Z","kind":"main"}"#,
        "\n",
        r#"{"id":"u1","timestamp":"2026-11-15T08:00:00.000Z","type":"user","content":[{"text":"What do quinces cost?"}]}"#,
        "\n"
    ));
    log.extend(std::iter::repeat_n(' ', 65_000_000));
    log.push('\n');
    home.write(".gemini/tmp/shop/chats/session-2026-11-15T08-00-1a46e000.jsonl", log);
    home
}

#[cfg(unix)]
fn found(output: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let hits = hits(output);
    hits.iter().map(|hit| (text(&hit["session"]["id"]), text(&hit["message_id"]))).collect()
}

#[cfg(unix)]
#[test]
fn the_first_search_is_answered_from_the_files_while_the_index_is_built() {
    const LATER: &str = "searched the files, newest first; the index is built in the background";
    let home = large();
    let indexed = || {
        let status = home.run(["index", "status", "--json"]);
        assert_eq!(status.code, Some(0), "{status}");
        let status: Value = serde_json::from_str(&status.stdout).unwrap();
        status["status"]["indexed"].as_u64().unwrap()
    };
    let expected = [("1a46e000-0000-4000-8000-000000000001".to_owned(), "u1".to_owned())];
    let first = home.run(["search", "quinces", "--json"]);
    assert!(first.stderr.contains(LATER), "{first}");
    assert_eq!(found(&first.stdout), expected);
    // Another process builds it: nobody waits, and no process is left when it is done.
    let begun = std::time::Instant::now();
    while indexed() < 2 {
        assert!(begun.elapsed().as_secs() < 600, "the index is never built");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    while home.run(["search", "quinces", "--json"]).stderr.contains(LATER) {
        assert!(begun.elapsed().as_secs() < 600, "the index is never used");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let later = home.run(["search", "quinces", "--json"]);
    assert_eq!(found(&later.stdout), expected);
}

#[cfg(unix)]
#[test]
fn without_background_processes_the_first_search_builds_the_index() {
    let home = large();
    let first = home.run_with(["search", "quinces", "--json"], |command| {
        command.env("RECOUNT_BACKGROUND", "0");
    });
    assert!(!first.stderr.contains("background"), "{first}");
    assert_eq!(found(&first.stdout).len(), 1);
    let status = home.run(["index", "status", "--json"]);
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["status"]["indexed"], 2, "{status}");
}
