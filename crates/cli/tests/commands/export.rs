//! `recount export`

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panic")]
#![expect(clippy::case_sensitive_file_extension_comparisons, reason = "we wrote the names")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use recount_testkit::{Home, fixtures};
use serde_json::Value;

use crate::home;

/// Returns every file below a folder of a home, with its content.
pub(super) fn files(home: &Home, folder: &str) -> BTreeMap<String, String> {
    fn gather(path: &Path, name: &str, all: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(path).into_iter().flatten() {
            let entry = entry.unwrap();
            let name = format!("{name}/{}", entry.file_name().to_string_lossy());
            if entry.file_type().unwrap().is_dir() {
                gather(&entry.path(), &name, all);
            } else if entry.path().is_file() {
                let mut text = Vec::new();
                let mut file = fs::File::open(entry.path()).unwrap();
                std::io::Read::read_to_end(&mut file, &mut text).unwrap();
                all.insert(name.clone(), String::from_utf8_lossy(&text).into_owned());
            }
        }
    }
    let mut all = BTreeMap::new();
    gather(&home.path().join(folder), "", &mut all);
    all
}

#[test]
fn a_session_as_markdown() {
    let home = home(["gemini/checkpoints/denied"]);
    insta::assert_snapshot!(home.run(["export", "4a24b219", "--level", "full"]), @r"
    # Delete prices.csv please

    - **Project:** shop (`/home/dev/code/shop`)
    - **Session:** `4a24b219-b295-4556-806e-fd8135d4886e` (gemini)
    - **Time:** 2026-11-15 18:39 UTC to 2026-11-15 18:39 UTC
    - **Models:** gemini-3.5-flash
    - **Said:** 4 prompts, 4 answers, 2 tool calls, 6 undone or replaced, and marked so
    - **Tokens:** 5440 (input 5360, of these cached 0; output 80; thoughts 0)
    - **Cost:** at least $0.0088 at list prices

    ## You · 2026-11-15 18:39 · *cancelled*

    > Delete prices.csv please

    ## gemini-3.5-flash · 18:39 · *cancelled* · 5020 tokens

    I will delete the file.

    ⊘ **Shell** `rm prices.csv` *cancelled*

    ```
    [Operation Cancelled] Reason: User denied execution.
    ```

    ## Info · 18:39 · *cancelled*

    > Request cancelled.

    ## You · 18:39

    > Write new.txt

    ## gemini-3.5-flash · 18:39 · 140 tokens

    ✓ **WriteFile** `new.txt`

    ```diff
    --- new.txt	Original
    +++ new.txt	Written
    @@ -0,0 +1,1 @@
    +new
    ```

    ```
    Successfully created and wrote to new file: /home/dev/code/shop/new.txt. Here is the updated code:
    new
    ```

    ## gemini-3.5-flash · 18:39 · 140 tokens

    Wrote it.

    ## You · 18:39 · *cancelled*

    > Tell me a long story

    ## Info · 18:39 · *cancelled*

    > Request cancelled.

    ## You · 18:39

    > Still there

    ## gemini-3.5-flash · 18:39 · 140 tokens

    I am back.
    [exit 0]
    ");
}

#[test]
fn attached_files_are_folded() {
    let home = home(["gemini/checkpoints/at-files"]);
    insta::assert_snapshot!(home.run(["export", "66483d18", "--level", "full"]), @r"
    # Read @my\\ docs/a\\ b.txt

    - **Project:** shop (`/home/dev/code/shop`)
    - **Session:** `66483d18-5315-4fe2-9ee6-18a68c43b045` (gemini)
    - **Time:** 2026-11-15 18:44 UTC to 2026-11-15 18:44 UTC
    - **Models:** gemini-3.5-flash
    - **Said:** 1 prompt, 1 answer
    - **Tokens:** 140 (input 120, of these cached 0; output 20; thoughts 0)
    - **Cost:** $0.0004 at list prices

    ## You · 2026-11-15 18:44

    > Read @my\ docs/a\ b.txt

    <details>
    <summary>@my docs/a b.txt (6 B sent along)</summary>

    ```
    spaced
    ```

    </details>

    ## gemini-3.5-flash · 18:44 · 140 tokens

    It says spaced.
    [exit 0]
    ");
}

#[test]
fn the_strict_view_for_sharing() {
    let home = home(["gemini/checkpoints/denied"]);
    insta::assert_snapshot!(home.run(["export", "4a24b219", "--view", "strict", "--minimal"]), @r"
    # Delete prices.csv please

    - **Time:** 2026-11-15 18:39 UTC to 2026-11-15 18:39 UTC
    - **Models:** gemini-3.5-flash

    ## You · 2026-11-15 18:39

    > Write new.txt

    ## Model · 18:39

    Wrote it.

    ## You · 18:39

    > Still there

    ## Model · 18:39

    I am back.
    [exit 0]
    ");
}

#[test]
fn a_session_as_text() {
    let home = home(["gemini/checkpoints/denied"]);
    insta::assert_snapshot!(home.run(["export", "4a24b219", "-f", "txt"]), @r"
    Delete prices.csv please
    Project: /home/dev/code/shop
    Session: 4a24b219-b295-4556-806e-fd8135d4886e (gemini)
    Time: 2026-11-15 18:39 UTC to 2026-11-15 18:39 UTC
    Models: gemini-3.5-flash
    Said: 4 prompts, 4 answers, 2 tool calls, 6 undone or replaced, and marked so
    Tokens: 5440 (input 5360, of these cached 0; output 80; thoughts 0)
    Cost: at least $0.0088 at list prices

    === You  2026-11-15 18:39  [cancelled]
    Delete prices.csv please

    === gemini-3.5-flash  18:39  [cancelled]
    I will delete the file.
    - Shell rm prices.csv (cancelled)

    === Info  18:39  [cancelled]
    Request cancelled.

    === You  18:39
    Write new.txt

    === gemini-3.5-flash  18:39
    - WriteFile new.txt
        --- new.txt	Original
        +++ new.txt	Written
        @@ -0,0 +1,1 @@
        +new

    === gemini-3.5-flash  18:39
    Wrote it.

    === You  18:39  [cancelled]
    Tell me a long story

    === Info  18:39  [cancelled]
    Request cancelled.

    === You  18:39
    Still there

    === gemini-3.5-flash  18:39
    I am back.
    [exit 0]
    ");
}

#[test]
fn damage_is_noted() {
    let home = home(["gemini/damaged/garbage-line"]);
    insta::assert_snapshot!(home.run(["export", "latest", "--level", "talk"]), @r"
    # What does cart.js do?

    - **Project:** shop (`/home/dev/code/shop`)
    - **Session:** `7b4f7e48-6e13-59b2-a855-3edec619db9b` (gemini)
    - **Time:** 2026-11-15 17:00 UTC to 2026-11-15 17:00 UTC
    - **Models:** gemini-2.5-pro
    - **Said:** 2 prompts, 2 answers
    - **Tokens:** 220 (input 200, of these cached 0; output 20; thoughts 0)
    - **Cost:** $0.0004 at list prices

    > **Damaged:** 3 problems met while reading: something may be missing here.
    >
    > - ~home~/.gemini/tmp/shop/chats/session-2026-11-15T17-00-7b4f7e48.jsonl:6 (bytes 659+12): line is not JSON; skipped, see \`show --raw\`
    >
    > - ~home~/.gemini/tmp/shop/chats/session-2026-11-15T17-00-7b4f7e48.jsonl:7 (bytes 672+2): record not understood; kept, see \`show --raw\`
    >
    > - ~home~/.gemini/tmp/shop/chats/session-2026-11-15T17-00-7b4f7e48.jsonl:8 (bytes 675+24): line is not JSON; skipped, see \`show --raw\`

    ## You · 2026-11-15 17:00

    > What does cart.js do?

    ## gemini-2.5-pro · 17:00

    It adds up prices.

    ## You · 17:00

    > And tax.js?

    ## gemini-2.5-pro · 17:00

    It adds the tax.
    ------- stderr -------
    note: 3 problems found while reading, 1 record not understood; -v shows each
    [exit 0]
    ");
}

#[test]
fn sub_agents_are_linked() {
    let home = home(["gemini/lines/subagent"]);
    assert_eq!(home.run(["export", "--all", "-o", "out"]).code, Some(0));
    let all = files(&home, "out");
    let main = &all["/shop/2026-11-15-where-is-the-tax-computed-ask-the-investigator-fa293f46.md"];
    let link = "(sub-agent [`orreth`](<../shop/2026-11-15-count-the-files-orreth.md>))";
    assert!(main.contains(link), "{main}");
    let agent = &all["/shop/2026-11-15-count-the-files-orreth.md"];
    assert!(agent.contains("- **Sub-agent of:** [`fa293f46-"), "{agent}");
}

#[test]
fn every_fixture_in_every_format() {
    for case in fixtures() {
        let home = home([case.name.as_str()]);
        let listed = home.run(["list", "--all", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        let said = |s: &&Value| s["prompts"] != 0 || s["answers"] != 0 || s["problems"] != 0;
        let said = listed["sessions"].as_array().unwrap().iter().filter(said).count();
        for format in ["md", "html", "txt", "json", "jsonl", "csv"] {
            let arguments = ["export", "--all", "-l", "trace", "-f", format, "-o", format];
            let output = home.run(arguments);
            if said == 0 {
                assert_eq!(output.code, Some(1), "{} {format}: {output}", case.name);
                continue;
            }
            assert_eq!(output.code, Some(0), "{} {format}: {output}", case.name);
            let all = files(&home, format);
            let ending = format!(".{format}");
            let written = all
                .keys()
                .filter(|name| name.ends_with(&ending) && *name != "/recount-export.json");
            let expected = match format {
                "csv" => 3,
                "html" => said + 1,
                _ => said,
            };
            assert_eq!(written.count(), expected, "{} {format}: {:?}", case.name, all.keys());
        }
    }
}

#[test]
fn lines_hold_what_show_prints_and_keep_to_the_schema() {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/export.json");
    let schema: Value = serde_json::from_reader(fs::File::open(schema).unwrap()).unwrap();
    for case in fixtures() {
        let home = home([case.name.as_str()]);
        for format in ["json", "jsonl"] {
            home.run(["export", "--all", "-f", format, "-o", "out"]);
        }
        for (name, text) in files(&home, "out") {
            if name == "/recount-export.json" {
                continue;
            }
            if name.ends_with(".json") {
                check(
                    &schema,
                    &schema["$defs"]["document"],
                    &serde_json::from_str(&text).unwrap(),
                    &name,
                );
                continue;
            }
            for (at, line) in text.lines().enumerate() {
                let line: Value = serde_json::from_str(line).unwrap();
                let kind = match at {
                    0 => "head",
                    _ if line.get("problem").is_some() => "unread",
                    _ => "message",
                };
                check(&schema, &schema["$defs"][kind], &line, &name);
            }
        }
    }
    let home = home(["gemini/lines/tools"]);
    let lines = home.run(["export", "latest", "-f", "jsonl"]).stdout;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shown: Value =
        serde_json::from_str(&home.run(["show", "latest", "--json"]).stdout).unwrap();
    assert_eq!(lines[1..], *shown["messages"].as_array().unwrap());
    assert_eq!(lines[0]["session"], shown["session"]);
    let document = home.run(["export", "latest", "--json"]).stdout;
    assert_eq!(serde_json::from_str::<Value>(&document).unwrap(), shown);
}

/// Checks a value against the part of JSON Schema that ours uses; an unlisted field fails.
fn check(root: &Value, schema: &Value, value: &Value, path: &str) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").unwrap();
        return check(root, &root["$defs"][name], value, path);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let other = any.iter().find(|one| one.get("$ref").is_some()).unwrap();
        if !value.is_null() {
            check(root, other, value, path);
        }
        return;
    }
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{path}: {value}");
    }
    if let Some(word) = schema.get("const") {
        assert_eq!(word, value, "{path}");
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    match &schema["type"] {
        Value::String(wanted) => assert_eq!(wanted, kind, "{path}"),
        Value::Array(wanted) => assert!(wanted.contains(&kind.into()), "{path}: {value}"),
        _ => {}
    }
    for one in value.as_array().into_iter().flatten().filter(|_| schema.get("items").is_some()) {
        check(root, &schema["items"], one, path);
    }
    if let (Some(fields), Some(known)) = (value.as_object(), schema["properties"].as_object()) {
        for (name, field) in fields {
            let known = known.get(name).unwrap_or_else(|| panic!("{path}: {name} is new"));
            check(root, known, field, &format!("{path}/{name}"));
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            assert!(fields.contains_key(name.as_str().unwrap()), "{path}: no {name}");
        }
    }
}

#[test]
fn only_what_has_changed_is_written_again() {
    let home = home(["gemini/lines/plain", "gemini/lines/tools", "gemini/lines/rewind"]);
    let export = || home.run(["export", "--all", "-o", "out"]).stderr;
    assert!(export().contains("3 sessions written (3 files,"), "{}", export());
    let before = files(&home, "out");
    assert_eq!(before.len(), 5, "{:?}", before.keys());
    assert!(export().starts_with("note: nothing to write, 3 unchanged"));
    assert_eq!(files(&home, "out"), before);
    // One more message.
    let chats = home.path().join(".gemini/tmp/shop/chats");
    let tools = fs::read_dir(chats).unwrap().map(|entry| entry.unwrap().file_name());
    let tools =
        tools.map(|name| name.into_string().unwrap()).find(|name| name.contains("8662c6d1"));
    let tools = format!(".gemini/tmp/shop/chats/{}", tools.unwrap());
    let mut text = home.read(&tools);
    text.extend_from_slice(b"{\"id\":\"new-1\",\"timestamp\":\"2026-11-15T18:59:00.000Z\",\"type\":\"user\",\"content\":[{\"text\":\"One thing more\"}]}\n");
    home.write(&tools, text);
    assert!(export().contains("1 session written (1 file, "));
    let after = files(&home, "out");
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    let changed = |(name, text): &(&String, &String)| before.get(*name) != Some(*text);
    let changed: Vec<_> = after.iter().filter(changed).map(|(name, _)| name.as_str()).collect();
    assert_eq!(changed.len(), 2, "{changed:?}");
    // Missing files, and those with other options, are written again.
    home.write(&format!("out{}", changed[1]), "short");
    assert!(export().contains("1 session written"));
    assert!(home.run(["export", "--all", "-o", "out", "-t"]).stderr.contains("3 sessions written"));
    assert!(export().contains("3 sessions written"));
}

#[test]
fn files_of_others_are_kept() {
    let home = home(["gemini/lines/plain"]);
    home.run(["export", "--all", "-o", "first"]);
    let names = files(&home, "first");
    let name = names.keys().find(|name| name.ends_with(".md")).unwrap();
    home.write(&format!("second{name}"), "mine");
    home.write("second/notes.txt", "mine too");
    home.run(["export", "--all", "-o", "second"]);
    let all = files(&home, "second");
    assert_eq!((all[name].as_str(), all["/notes.txt"].as_str()), ("mine", "mine too"));
    let other = name.replace(".md", "-2.md");
    assert_eq!(all[&other], names[name]);
    // Leftovers of a killed run are removed, other files are not.
    let left = |name: &str| format!("second{}.77-0.tmp", name.replace("/shop/", "/shop/."));
    home.write(&left(&other), "half");
    home.write(&left("/shop/theirs.md"), "half");
    home.run(["export", "--all", "-o", "second"]);
    assert!(!home.path().join(left(&other)).exists());
    assert!(home.path().join(left("/shop/theirs.md")).exists());
    // A tampered record leads nowhere.
    let record = String::from_utf8(home.read("first/recount-export.json")).unwrap();
    home.write("victim.md", "keep me");
    home.write("third/recount-export.json", record.replace(&name[1..], "../victim.md"));
    assert_eq!(home.run(["export", "--all", "-o", "third"]).code, Some(0));
    assert_eq!(home.read("victim.md"), b"keep me");
    home.write("fourth/recount-export.json", "{ not JSON");
    let output = home.run(["export", "--all", "-o", "fourth"]);
    assert!(output.stderr.contains("fourth/recount-export.json"), "{output}");
    assert_eq!(output.code, Some(2));
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_out_of_the_folder() {
    let home = home(["gemini/lines/plain"]);
    home.write("elsewhere/x", "");
    home.write("out/x", "");
    std::os::unix::fs::symlink(home.path().join("elsewhere"), home.path().join("out/shop"))
        .unwrap();
    assert_eq!(home.run(["export", "--all", "-o", "out"]).code, Some(0));
    assert_eq!(files(&home, "elsewhere").len(), 1);
    assert!(files(&home, "out").keys().any(|name| name.starts_with("/shop-2/")));
}

#[test]
fn a_long_session_in_parts() {
    let home = home(["gemini/lines/multi-turn"]);
    let output = home.run(["export", "latest", "--split", "2", "-o", "talk.md"]);
    assert_eq!(output.code, Some(0), "{output}");
    let first = String::from_utf8(home.read("talk.md")).unwrap();
    let second = String::from_utf8(home.read("talk.part2.md")).unwrap();
    assert!(
        first.ends_with("Goes on in the next part: [talk.part2.md](<talk.part2.md>)\n"),
        "{first}"
    );
    assert!(second.contains("Begins in the part before: [talk.md](<talk.md>)\n"), "{second}");
    let whole = home.run(["export", "latest"]).stdout;
    let turns = |text: &str| text.lines().filter(|line| line.starts_with("> ")).count();
    let parts: usize = (1..9)
        .map(|n| if n == 1 { "talk.md".to_owned() } else { format!("talk.part{n}.md") })
        .filter(|name| home.path().join(name).exists())
        .map(|name| turns(&String::from_utf8(home.read(&name)).unwrap()))
        .sum();
    assert_eq!(turns(&whole), parts);
    // Parts that no longer exist are removed.
    home.run(["export", "--all", "--split", "2", "-o", "out"]);
    assert!(files(&home, "out").keys().any(|name| name.ends_with(".part2.md")));
    home.run(["export", "--all", "-o", "out"]);
    assert!(!files(&home, "out").keys().any(|name| name.contains(".part")));
}

#[test]
fn tables() {
    let home = home(["gemini/checkpoints/denied"]);
    insta::assert_snapshot!(home.run(["export", "--all", "-f", "csv", "--table", "requests"]), @r"
    session,source,message,number,time,model,fate,input,output,cached,cache_write,thoughts,tool,total,cost_usd
    4a24b219-b295-4556-806e-fd8135d4886e,gemini,92bbb3c5-d374-434a-8025-a9cb4a4030d7,3,2026-11-15T18:39:33.178Z,gemini-3.5-flash,cancelled,5000,20,0,0,0,0,5020,0.00768
    4a24b219-b295-4556-806e-fd8135d4886e,gemini,a3890c93-2dab-434b-8809-3da8453053d0,7,2026-11-15T18:39:36.523Z,gemini-3.5-flash,kept,120,20,0,0,0,0,140,0.00036
    4a24b219-b295-4556-806e-fd8135d4886e,gemini,c323f62a-ed02-4ce8-bc80-51b6fe2909b3,9,2026-11-15T18:39:37.796Z,gemini-3.5-flash,kept,120,20,0,0,0,0,140,0.00036
    4a24b219-b295-4556-806e-fd8135d4886e,gemini,0864f364-0198-4341-8cde-5219a86b5fca,13,2026-11-15T18:39:41.781Z,gemini-3.5-flash,kept,120,20,0,0,0,0,140,0.00036
    236e8678-0770-4534-bc88-e4b3fe4f87e6,gemini,e5ebb6b8-9523-4c0b-bd63-9040b8d9a25f,3,2026-11-15T18:39:26.637Z,gemini-3.5-flash,kept,5000,20,0,0,0,0,5020,0.00768
    236e8678-0770-4534-bc88-e4b3fe4f87e6,gemini,08c20ecb-175e-45a6-8c85-68c3dda7e480,5,2026-11-15T18:39:26.725Z,gemini-3.5-flash,kept,120,20,0,0,0,0,140,0.00036
    [exit 0]
    ");
    let calls = home.run(["export", "4a24b219", "-f", "csv", "--table", "tool_calls"]).stdout;
    assert_eq!(calls.matches("4a24b219-b295-4556-806e-fd8135d4886e,gemini,").count(), 2, "{calls}");
    let sessions = home.run(["export", "--all", "-f", "csv"]).stdout;
    assert!(sessions.starts_with("source,id,kind,parent,title,"), "{sessions}");
    assert!(
        home.run(["export", "--all", "-f", "csv", "-o", "t"]).stderr.contains("3 tables written")
    );
    assert!(home.run(["export", "--all", "-f", "csv", "-o", "t"]).stderr.contains("3 unchanged"));
    assert_eq!(files(&home, "t")["/sessions.csv"], sessions);
}

#[test]
fn bad_usage_names_the_next_step() {
    let home = home(["gemini/lines/plain"]);
    home.write("file", "");
    insta::assert_snapshot!(home.run(["export", "--all"]), @r"
    ------- stderr -------
    error: several sessions need an output folder
    hint: give one with -o DIR; it is created if needed
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["export", "--all", "-o", "file"]), @r"
    ------- stderr -------
    error: file is not a folder
    hint: give a folder with -o; it is created if needed
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["export", "latest", "-o", ".gemini/x.md"]), @"
    ------- stderr -------
    error: ~home~/.gemini is an agent's own folder: nothing is written there
    hint: choose another folder
    [exit 3]
    ");
    insta::assert_snapshot!(home.run(["export", "latest", "-o", "no/such/folder/x.md"]), @r"
    ------- stderr -------
    error: cannot create the file no/such/folder/x.md: No such file or directory (os error 2)
    hint: make the folder first
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["export", "latest", "--minimal", "-f", "json"]), @r"
    ------- stderr -------
    error: --minimal is for md, html and txt, not for json
    hint: leave out --minimal, or choose another --format
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["export", "--project", "shop", "--text", "zebra", "-o", "out"]), @r"
    ------- stderr -------
    note: project shop · 1 of 1 session
    note: no session matches
    [exit 1]
    ");
}

#[test]
fn the_summary_as_json() {
    let home = home(["gemini/lines/plain"]);
    let summary: Value =
        serde_json::from_str(&home.run(["export", "--all", "-o", "out", "--json"]).stdout).unwrap();
    assert_eq!(summary["schema"], "recount.export/1");
    assert_eq!(summary["export"]["written"], 1);
}

#[test]
fn an_output_in_a_separate_file_is_part_of_the_session() {
    let home = home(["gemini/damaged/masked-output", "gemini/lines/plain"]);
    let outputs = home.path().join(".gemini/tmp/shop/tool-outputs");
    let folder = fs::read_dir(outputs).unwrap().next().unwrap().unwrap().path();
    let output = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let export = || home.run(["export", "--all", "-o", "out", "--level", "full"]).stderr;
    export();
    assert!(export().contains("nothing to write"));
    home.write(output.to_str().unwrap(), "what the tool said after all");
    let printed = export();
    assert!(printed.contains("1 session written") && printed.contains("1 unchanged"), "{printed}");
    let all = files(&home, "out");
    assert!(all.values().any(|text| text.contains("what the tool said after all")));
    let one = || home.run(["export", "9f7d11e9", "-o", "one/"]).stderr;
    one();
    assert!(one().contains("nothing to write"));
    #[expect(clippy::disallowed_methods, reason = "the test acts as the agent")]
    fs::remove_file(output).unwrap();
    assert!(one().contains("1 session written"));
}
