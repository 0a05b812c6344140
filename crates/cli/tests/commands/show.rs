//! `recount show`

use recount_testkit::{Home, fixture};
use serde_json::Value;

use crate::{has, home};

const REWIND: &str = "09502e04";
const LOG: &str = ".gemini/tmp/shop/chats/session-2026-11-15T18-32-09502e04.jsonl";

fn rewind() -> Home {
    home(["gemini/lines/rewind"])
}

#[test]
fn actions_are_shown_with_their_diffs() {
    insta::assert_snapshot!(rewind().run(["show", REWIND]), @r"
    Question one
    /home/dev/code/shop · gemini · 09502e04-146e-4a20-908d-b2d38cf0da98
    2026-11-15 18:32, 14 s · 4 prompts · 5 answers · 1 tool call · 700 tokens · gemini-3-flash-preview
    5 undone or replaced messages are marked; --view strict leaves them out

    you  18:32
    > Question one

    gemini-3-flash-preview  18:32
      Answer one.

    you  18:32  [rewound]
    > Question two, write a file

    gemini-3-flash-preview  18:32  [rewound]
      ● WriteFile two.txt
        --- two.txt Original
        +++ two.txt Written
        @@ -0,0 +1,1 @@
        +two
      Answer two.

    you  18:32  [rewound]
    > Question three

    gemini-3-flash-preview  18:32  [rewound]
      Answer three.

    you  18:32
    > Question four

    gemini-3-flash-preview  18:32
      Answer four, after the rewind.
    [exit 0]
    ");
}

/// Returns the difference between the transcript at a level and at the default one.
fn besides_actions(level: &str) -> String {
    let home = rewind();
    let usual = home.run(["show", REWIND]).to_string();
    differences(&usual, &home.run(["show", REWIND, "--level", level]).to_string())
}

/// Returns the lines that only one of two texts has, in order.
fn differences(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    // The length of the longest common rest, from any line of either.
    let mut common = vec![vec![0; new.len() + 1]; old.len() + 1];
    for (i, line) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            common[i][j] = if line == other {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut all) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            all.push(format!("-{}", old[i]));
            i += 1;
        } else {
            all.push(format!("+{}", new[j]));
            j += 1;
        }
    }
    all.join("\n")
}

#[test]
fn talk_is_prompts_and_answers() {
    insta::assert_snapshot!(besides_actions("talk"), @r"
    -  ● WriteFile two.txt
    -    --- two.txt Original
    -    +++ two.txt Written
    -    @@ -0,0 +1,1 @@
    -    +two
    ");
}

#[test]
fn full_has_outputs_and_tokens() {
    insta::assert_snapshot!(besides_actions("full"), @r"
    -gemini-3-flash-preview  18:32
    +gemini-3-flash-preview  18:32  140 tokens
    -gemini-3-flash-preview  18:32  [rewound]
    +gemini-3-flash-preview  18:32  [rewound]  140 tokens
    +    Successfully created and wrote to new file: /home/dev/code/shop/two.txt. Here is the updated
    +    code:
    +    two
    +
    +gemini-3-flash-preview  18:32  [rewound]  140 tokens
    -gemini-3-flash-preview  18:32  [rewound]
    +gemini-3-flash-preview  18:32  [rewound]  140 tokens
    -gemini-3-flash-preview  18:32
    +gemini-3-flash-preview  18:32  140 tokens
    ");
}

#[test]
fn trace_has_everything_with_its_place_on_disk() {
    insta::assert_snapshot!(rewind().run(["show", REWIND, "--level", "trace", "--to", "4"]), @r#"
    Question one
    /home/dev/code/shop · gemini · 09502e04-146e-4a20-908d-b2d38cf0da98
    2026-11-15 18:32, 14 s · 4 prompts · 5 answers · 1 tool call · 700 tokens · gemini-3-flash-preview
    5 undone or replaced messages are marked; --view strict leaves them out

    you  18:32  #1 28a7da1b-38bd-4471-a9ae-3bff24b3882f ~home~/.gemini/tmp/shop/chats/session-2026-11-15T18-32-09502e04.jsonl:2 +134
    > Question one

    gemini-3-flash-preview  18:32  #2 cb2afabf-db30-4126-bb2d-47fd32ba6fb5 ~home~/.gemini/tmp/shop/chats/session-2026-11-15T18-32-09502e04.jsonl:4 +251  140 tokens
      Answer one.

    you  18:32  [rewound]  #3 a0dad1b6-c9db-4fdb-b445-a060100a2bab ~home~/.gemini/tmp/shop/chats/session-2026-11-15T18-32-09502e04.jsonl:6 +148
    > Question two, write a file

    gemini-3-flash-preview  18:32  [rewound]  #4 bdbcf2e3-446a-4fa2-8dfc-a2a49008ab18 ~home~/.gemini/tmp/shop/chats/session-2026-11-15T18-32-09502e04.jsonl:10 +1245  140 tokens
      ● WriteFile
        ── json
          {"file_path":"/home/dev/code/shop/two.txt","content":"two\n"}
        --- two.txt Original
        +++ two.txt Written
        @@ -0,0 +1,1 @@
        +two
        Successfully created and wrote to new file: /home/dev/code/shop/two.txt. Here is the updated
        code:
        two
    [exit 0]
    "#);
}

#[test]
fn thoughts_are_shown_when_asked_for() {
    let home = home(["gemini/lines/multi-turn"]);
    insta::assert_snapshot!(home.run(["show", "5f4230ca", "--thoughts"]), @r"
    What do an apple and a pear cost together
    /home/dev/code/shop · gemini · 5f4230ca-4413-4dc5-bcfe-9d3bad3e0283
    2026-11-15 18:37, 5 s · 3 prompts · 3 answers · 15k tokens · gemini-3-flash-preview

    you  18:37
    > What do an apple and a pear cost together

    gemini-3-flash-preview  18:37
      Looking at prices
      I need the price list.
      Adding up
      Three plus four is seven.
      Seven coins in all.

    you  18:37
    > And with tax

    gemini-3-flash-preview  18:37
      Tax rules
      A rate of 20 percent.
      With tax it is 8.4 coins.

      ── js
        tax(7)

    you  18:37
    > Thanks.

    gemini-3-flash-preview  18:37
      You are welcome.
    [exit 0]
    ");
}

#[test]
fn the_strict_view_has_only_what_the_agent_would_load() {
    insta::assert_snapshot!(rewind().run(["show", REWIND, "--view", "strict"]), @r"
    Question one
    /home/dev/code/shop · gemini · 09502e04-146e-4a20-908d-b2d38cf0da98
    2026-11-15 18:32, 14 s · 2 prompts · 2 answers · 280 tokens · gemini-3-flash-preview

    you  18:32
    > Question one

    gemini-3-flash-preview  18:32
      Answer one.

    you  18:32
    > Question four

    gemini-3-flash-preview  18:32
      Answer four, after the rewind.
    [exit 0]
    ");
}

#[test]
fn what_the_agent_cannot_load_is_empty_in_the_strict_view() {
    let home = home(["gemini/damaged/bom"]);
    insta::assert_snapshot!(home.run(["show", "latest", "--view", "strict"]), @r"
    What does cart.js do?
    /home/dev/code/shop · gemini · 54c8a907-266e-5c57-8e6b-e0f43dab6045
    2026-11-15 17:00, 12 s · 2 prompts · 2 answers · 220 tokens · gemini-2.5-pro
    ------- stderr -------
    note: the agent cannot load this session: its strict view is empty
    note: 2 problems found while reading; -v shows each
    [exit 0]
    ");
}

#[test]
fn compressed_cancelled_and_denied_messages_are_marked() {
    let home = home(["gemini/checkpoints/compress", "gemini/checkpoints/denied"]);
    let compressed = |from: &str, to: &str| {
        home.run(["show", "120ab6a7", "--level", "full", "--from", from, "--to", to])
    };
    insta::assert_snapshot!(compressed("4", "4"), @r"
    Tell me about the shop
    /home/dev/code/shop · gemini · 120ab6a7-67a2-4228-a435-4b5882a19bac
    2026-11-15 18:18, 10 s · 3 prompts · 4 answers · 25k tokens · gemini-3.5-flash
    4 undone or replaced messages are marked; --view strict leaves them out

    you  18:18  [compressed]
    > Tell me more
    [exit 0]
    ");
    insta::assert_snapshot!(compressed("6", "-1"), @r"
    Tell me about the shop
    /home/dev/code/shop · gemini · 120ab6a7-67a2-4228-a435-4b5882a19bac
    2026-11-15 18:18, 10 s · 3 prompts · 4 answers · 25k tokens · gemini-3.5-flash
    4 undone or replaced messages are marked; --view strict leaves them out

    summary  18:18
    · <state_snapshot>
    · <overall_goal>Know the shop.</overall_goal>
    · <key_knowledge>Apples cost 3.</key_knowledge>
    · </state_snapshot>

    model  18:18
      Got it. Thanks for the additional context!

    you  18:18
    > What does an apple cost

    gemini-3.5-flash  18:18  2.0k tokens
      After the compression: 3 coins.
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["show", "4a24b219"]), @r"
    Delete prices.csv please
    /home/dev/code/shop · gemini · 4a24b219-b295-4556-806e-fd8135d4886e
    2026-11-15 18:39, 10 s · 4 prompts · 4 answers · 2 tool calls · 5.4k tokens · gemini-3.5-flash
    6 undone or replaced messages are marked; --view strict leaves them out

    you  18:39  [cancelled]
    > Delete prices.csv please

    gemini-3.5-flash  18:39  [cancelled]
      I will delete the file.
      ⊘ Shell rm prices.csv  cancelled

    info  18:39  [cancelled]
    · Request cancelled.

    you  18:39
    > Write new.txt

    gemini-3.5-flash  18:39
      ● WriteFile new.txt
        --- new.txt Original
        +++ new.txt Written
        @@ -0,0 +1,1 @@
        +new
      Wrote it.

    you  18:39  [cancelled]
    > Tell me a long story

    info  18:39  [cancelled]
    · Request cancelled.

    you  18:39
    > Still there

    gemini-3.5-flash  18:39
      I am back.
    [exit 0]
    ");
}

#[test]
fn attached_files_are_named() {
    let home = home(["gemini/checkpoints/at-files"]);
    insta::assert_snapshot!(home.run(["show", "83648991"]), @r"
    Describe @src/
    /home/dev/code/shop · gemini · 83648991-c354-44de-875b-85e53af08d98
    2026-11-15 18:44, 1 s · 1 prompt · 1 answer · 140 tokens · gemini-3.5-flash

    you  18:44
    > Describe @src/
    > @src/cart.js (71 B sent along)
    > @src/tax.js (34 B sent along)

    gemini-3.5-flash  18:44
      Two source files.
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["show", "83648991", "--level", "full", "-q"]), @r"
    Describe @src/
    /home/dev/code/shop · gemini · 83648991-c354-44de-875b-85e53af08d98
    2026-11-15 18:44, 1 s · 1 prompt · 1 answer · 140 tokens · gemini-3.5-flash

    you  18:44
    > Describe @src/
    > @src/cart.js (71 B sent along)
    > @src/tax.js (34 B sent along)

    gemini-3.5-flash  18:44  140 tokens
      Two source files.
    [exit 0]
    ");
}

#[test]
fn raw_is_the_file_as_it_is() {
    let home = rewind();
    let output = home.run(["show", REWIND, "--raw"]);
    assert_eq!(output.stdout.as_bytes(), home.read(LOG));
    assert_eq!((output.stderr.as_str(), output.code), ("", Some(0)));
}

#[test]
fn raw_has_every_file_of_the_session() {
    let home = home(["gemini/lines/migration"]);
    let output = home.run(["show", "83bb9fd9", "--raw"]);
    let listed: Value =
        serde_json::from_str(&home.run(["show", "83bb9fd9", "--json"]).stdout).unwrap();
    let files = listed["session"]["files"].as_array().unwrap();
    let bytes: u64 = files.iter().filter_map(|file| file["bytes"].as_u64()).sum();
    assert_eq!(output.stdout.len() as u64, bytes);
    assert_eq!(output.stderr.lines().count(), files.len());
}

#[test]
fn a_stretch_is_bound_by_numbers_ids_and_times() {
    let home = rewind();
    let shown = |bounds: &[&str]| {
        let output = home.run(["show", REWIND, "--json"].iter().chain(bounds));
        let document: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
        let messages = document["messages"].as_array().cloned().unwrap_or_default();
        let id = |message: &Value| message["id"].as_str().map(|id| id[..8].to_owned());
        messages.iter().filter_map(id).collect::<Vec<_>>()
    };
    assert_eq!(shown(&[]).len(), 9);
    assert_eq!(shown(&["--to", "2"]), ["28a7da1b", "cb2afabf"]);
    assert_eq!(shown(&["--from", "-2"]), ["44ad496f", "3e4b9805"]);
    assert_eq!(shown(&["--from", "3", "--to", "3"]), ["a0dad1b6"]);
    assert_eq!(shown(&["--from", "ac51", "--to", "e5f0"]), ["ac51410b", "e5f06254"]);
    assert_eq!(shown(&["--from", "2026-11-15T18:32:58Z"]), ["44ad496f", "3e4b9805"]);
    assert_eq!(shown(&["--from", "5", "--to", "2"]), [""; 0]);
    assert_eq!(shown(&["--from", "99"]), [""; 0]);
}

#[test]
fn bounds_that_no_message_has_are_named() {
    let home = rewind();
    insta::assert_snapshot!(home.run(["show", REWIND, "--from", "0"]), @r"
    ------- stderr -------
    error: messages are counted from 1
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["show", REWIND, "--to", "nobody"]).stderr, @r"
    error: no message 'nobody' in this session
    hint: `--level trace` shows message ids
    ");
}

#[test]
fn a_session_is_named_in_many_ways() {
    let home = rewind();
    let whole = home.run(["show", "09502e04-146e-4a20-908d-b2d38cf0da98"]).to_string();
    assert!(whole.ends_with("[exit 0]"), "{whole}");
    assert_eq!(home.run(["list"]).code, Some(0));
    for name in ["0950", REWIND, "latest", "@1"] {
        assert_eq!(home.run(["show", name]).to_string(), whole, "{name}");
    }
    assert_eq!(home.run(["cat", "latest"]).to_string(), whole);
}

#[test]
fn rows_of_the_last_list_are_those_that_were_shown() {
    let home = home(["gemini/checkpoints/renamed-folder"]);
    home.run(["list", "/home/dev/code/shop"]);
    let second = home.run(["show", "@2", "--json"]);
    let document: Value = serde_json::from_str(&second.stdout).unwrap();
    assert_eq!(document["session"]["title"], "Question before the rename");
    insta::assert_snapshot!(home.run(["show", "@3"]), @r"
    ------- stderr -------
    error: the last list has no row 3
    hint: `recount list --all` shows every session with its id
    [exit 1]
    ");
    insta::assert_snapshot!(home.run(["show", "@x"]), @r"
    ------- stderr -------
    error: the last list has no row x
    hint: `recount list --all` shows every session with its id
    [exit 1]
    ");
}

#[test]
fn a_start_that_several_ids_have_lists_them() {
    let home = home(["gemini/damaged/same-start"]);
    insta::assert_snapshot!(home.run(["show", "5a5a5a5a"]), @"
    ------- stderr -------
    error: '5a5a5a5a' matches 2 sessions
    hint: 5a5a5a5a-1111-4000-8000-000000000001 What does cart.js do?
    hint: 5a5a5a5a-2222-4000-8000-000000000002 And tax.js?
    hint: give more characters of the id
    [exit 2]
    ");
    assert_eq!(home.run(["show", "5a5a5a5a-1"]).code, Some(0));
}

#[test]
fn an_unknown_id_is_nothing_found() {
    insta::assert_snapshot!(rewind().run(["show", "ffff"]), @"
    ------- stderr -------
    error: no session matches 'ffff'
    hint: `recount list --all` shows every session with its id
    [exit 1]
    ");
    insta::assert_snapshot!(home([]).run(["--home", ".", "show", "latest", "--json"]), @r"
    ------- stderr -------
    error: no sessions found
    hint: `recount testbed --demo DIR` creates a demo home
    [exit 1]
    ");
}

#[test]
fn an_id_of_three_characters_is_too_short() {
    insta::assert_snapshot!(rewind().run(["show", "095"]), @r"
    ------- stderr -------
    error: '095' is too short: give at least 4 characters of the session's id
    hint: `recount list --all` shows every session with its id
    [exit 2]
    ");
}

#[test]
fn a_session_file_is_shown_by_its_path() {
    let home = rewind();
    home.write("copy/renamed.jsonl", home.read(LOG));
    let output = home.run(["show", "copy/renamed.jsonl", "--level", "talk", "--from", "-2"]);
    insta::assert_snapshot!(output, @r"
    Question one
    ? · gemini · 09502e04-146e-4a20-908d-b2d38cf0da98
    2026-11-15 18:32, 14 s · 4 prompts · 5 answers · 1 tool call · 700 tokens · gemini-3-flash-preview
    5 undone or replaced messages are marked; --view strict leaves them out

    you  18:32
    > Question four

    gemini-3-flash-preview  18:32
      Answer four, after the rewind.
    [exit 0]
    ");
}

#[test]
fn a_sub_agents_file_is_shown_by_its_path() {
    let home = home(["gemini/lines/subagent"]);
    let path = ".gemini/tmp/shop/chats/fa293f46-f175-4caf-8daa-a46248fa4b4c/orreth.jsonl";
    insta::assert_snapshot!(home.run(["show", path]), @r"
    Count the files.
    /home/dev/code/shop · gemini · orreth · sub-agent of fa293f46
    2026-11-15 18:16, 0 s · 1 prompt · 2 answers · 2 tool calls · 6.4k tokens · gemini-3-flash-preview

    you  18:16
    > Count the files.

    gemini-3-flash-preview  18:16
      ● ReadFolder /home/dev/code/shop
      ● Complete Task
    [exit 0]
    ");
}

#[test]
fn saved_and_shared_chats_are_shown_by_their_path() {
    let home = home(["gemini/lines/saved-chats", "gemini/strings/saved-chats"]);
    let saved = ".gemini/tmp/shop/checkpoint-a%2Fb%20%E6%B5%8B%E8%AF%95.json";
    insta::assert_snapshot!(home.run(["show", saved]), @r"
    What does an apple cost
    /home/dev/code/shop · gemini · checkpoint-a%2Fb%20%E6%B5%8B%E8%AF%95
    2 prompts · 3 answers · 1 tool call · 0 tokens

    you
    > What does an apple cost

    model
      Three coins.

    you
    > And a pear

    model
      ● read_file prices.csv
      Four coins.
    [exit 0]
    ");
    let folder = "52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee";
    let old = format!(".gemini/tmp/{folder}/checkpoint-before-change.json");
    let output = home.run(["show", &old, "--level", "talk"]);
    assert!(output.stdout.ends_with(
        "\nyou\n> What does an apple cost?\n\nmodel\n  Three coins.\n\nyou\n> And a pear?\n\nmodel\n  Four coins.\n"
    ));
    let shared = fixture("gemini/lines/saved-chats/files");
    let read = |name: &str| -> Value {
        let path = shared.join(name);
        let output = home.run(["show", &path.to_string_lossy(), "--json"]);
        serde_json::from_str(&output.stdout).unwrap()
    };
    let session = &read("chat.json")["session"];
    assert_eq!(session["title"], "What does an apple cost");
    assert_eq!((&session["prompts"], &session["tool_calls"]["total"]), (&2.into(), &1.into()));
    let messages = &read("chat.md")["messages"];
    assert_eq!(messages[1]["display_text"], "What does an apple cost");
    assert_eq!(messages[2]["display_text"], "Three coins.");
}

#[test]
fn a_file_that_is_no_session_is_refused() {
    let home = rewind();
    home.write("notes.json", r#"{"shopping":["milk"]}"#);
    home.write("notes.txt", "milk\n");
    home.write("empty.jsonl", "");
    insta::assert_snapshot!(home.run(["show", "notes.json"]), @r"
    ------- stderr -------
    error: not a session: notes.json
    hint: session files, saved chats and exports of an agent can be shown
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["show", "./notes.txt"]), @r"
    ------- stderr -------
    error: not a session: ./notes.txt
    hint: session files, saved chats and exports of an agent can be shown
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["show", "empty.jsonl"]), @r"
    ------- stderr -------
    error: not a session: empty.jsonl
    hint: session files, saved chats and exports of an agent can be shown
    [exit 2]
    ");
}

#[test]
fn a_file_that_is_not_there_or_a_folder_is_refused() {
    let home = rewind();
    insta::assert_snapshot!(home.run(["show", "no/such.jsonl"]), @r"
    ------- stderr -------
    error: no such file: no/such.jsonl
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["show", "./.gemini"]), @r"
    ------- stderr -------
    error: not a session: ./.gemini
    hint: session files, saved chats and exports of an agent can be shown
    [exit 2]
    ");
}

#[test]
fn every_documented_field_is_in_the_json() {
    let home = home(["gemini/checkpoints/at-files", "gemini/checkpoints/subagent"]);
    let read = |id: &str| -> Value {
        serde_json::from_str(&home.run(["show", id, "--json"]).stdout).unwrap()
    };
    let document = read("8c6c4609");
    assert_eq!(document["schema"], "recount.show/1");
    assert_eq!(document["session"]["id"], "8c6c4609-3378-4a83-acc3-4e687ba70861");
    assert_eq!(document["session"]["agent_index"], 6);
    let messages = document["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 7);
    for message in messages {
        has(
            message,
            "id kind fate time text display_text files thoughts tool_calls tokens model where",
        );
        has(&message["where"], "file line offset bytes");
    }
    let answer = &messages[2];
    has(&answer["thoughts"][0], "subject description time");
    has(&answer["tool_calls"][0], "id name display_name args status time output diff agent_id");
    assert_eq!(answer["tool_calls"][0]["agent_id"], "23214a90-00ec-4f7f-838d-a77b9e3848a4");
    let prompt = &read("83648991")["messages"][1];
    assert_eq!(prompt["display_text"], "Describe @src/");
    assert_eq!(prompt["files"][1]["path"], "src/tax.js");
    has(&prompt["files"][0], "path bytes");
}

#[test]
fn the_strict_view_leaves_out_all_but_kept_in_the_json() {
    let output = rewind().run(["show", REWIND, "--json", "--view", "strict"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let messages = document["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 4);
    assert!(messages.iter().all(|message| message["fate"] == "kept"));
}

#[test]
fn the_place_of_a_message_is_where_its_bytes_are() {
    for (case, id) in [("gemini/lines/rewind", REWIND), ("gemini/parts/plain", "a5a60e3f")] {
        let home = home([case]);
        let output = home.run(["show", id, "--json"]);
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        for message in document["messages"].as_array().unwrap() {
            let place = &message["where"];
            let bytes = home.read(place["file"].as_str().unwrap());
            let number = |name: &str| usize::try_from(place[name].as_u64().unwrap()).unwrap();
            let (from, line) = (number("offset"), number("line"));
            let record: Value =
                serde_json::from_slice(&bytes[from..from + number("bytes")]).unwrap();
            assert_eq!(record["id"], message["id"]);
            assert_eq!(bytes[..from].split(|&byte| byte == b'\n').count(), line);
        }
    }
}

#[test]
fn cut_outputs_are_whole_again_where_the_rest_was_found() {
    let home = home(["gemini/damaged/truncated-output", "gemini/damaged/masked-output"]);
    let outputs = |id: &str| {
        let output = home.run(["show", id, "--json"]);
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        let messages = document["messages"].as_array().unwrap().iter();
        let calls = messages.flat_map(|message| message["tool_calls"].as_array().unwrap().clone());
        let facts = |call: Value| {
            let lines = call["output"].as_str().unwrap().lines().count();
            (call["output_state"].as_str().unwrap().to_owned(), lines)
        };
        calls.map(facts).collect::<Vec<_>>()
    };
    let states = |all: &[(&str, usize)]| {
        all.iter().map(|&(state, lines)| (state.to_owned(), lines)).collect::<Vec<_>>()
    };
    assert_eq!(outputs("b47ffb28"), states(&[("recovered", 40), ("truncated", 7)]));
    assert_eq!(outputs("9f7d11e9"), states(&[("recovered", 40), ("recovered", 40), ("masked", 9)]));
    let shown = home.run(["show", "b47ffb28", "--level", "full"]).stdout;
    assert!(shown.contains("(the agent cut this output; the rest is gone)"), "{shown}");
}

#[test]
fn a_bound_that_no_message_has_prints_nothing() {
    let home = home(["gemini/lines/rewind"]);
    for arguments in [
        vec!["show", "latest", "--to", "nobody"],
        vec!["show", "latest", "--to", "nobody", "--json"],
    ] {
        let output = home.run(arguments);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{output}");
    }
}

#[test]
fn a_saved_chat_can_be_shown_in_part() {
    let home = home([]);
    let path = fixture("gemini/lines/saved-chats/files/chat.json");
    let shown = |arguments: &[&str]| {
        let path = path.to_string_lossy();
        let output = home.run([&["show", &path, "--json"], arguments].concat());
        let document: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
        document["messages"].as_array().map_or(0, Vec::len)
    };
    let all = shown(&[]);
    assert!(all > 3, "{all}");
    assert_eq!(shown(&["--from", "3"]), all - 2);
    assert_eq!(shown(&["--from", "-2"]), 2);
    assert_eq!(shown(&["--from", "2", "--to", "3"]), 2);
}
