//! `recount sql`
#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

use std::io::Write as _;
use std::process::Stdio;

use recount_testkit::Home;
use serde_json::Value;

use crate::home;

fn document(home: &Home, statement: &str) -> Value {
    let output = home.run(["sql", statement, "--json"]);
    assert_eq!(output.stderr, "", "{statement}");
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn a_table_is_aligned_with_numbers_on_the_right() {
    let home = home(["gemini/lines/tools", "gemini/strings/plain"]);
    insta::assert_snapshot!(home.run(["sql", "SELECT id, project_name, messages, tokens_total, cost_usd, title FROM sessions ORDER BY started"]), @r"
    id                         project_name  messages  tokens_total  cost_usd  title
    8662c6d1-79eb-45ff-9a82-…  shop                10         59212  0.027811  Raise the tax rate to 25…
    117e505c-3d3a-4d21-bd60-…  shop                 2           821  0.001105  What does an apple cost?
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["sql", "SELECT name, status, key_arg, substr(time, 12, 8) AS at FROM tool_calls ORDER BY time"]), @r"
    name               status   key_arg                              at
    list_directory     success  /home/dev/code/shop                  18:13:52
    read_file          success  /home/dev/code/shop/prices.csv       18:13:52
    glob               success  **/*.md                              18:13:52
    grep_search        success  tax                                  18:13:52
    read_file          error    /home/dev/code/shop/missing.txt      18:13:52
    run_shell_command  success  echo hello; echo oops >&2            18:13:52
    run_shell_command  success  exit 3                               18:13:52
    write_file         success  /home/dev/code/shop/src/discount.js  18:13:52
    replace            success  /home/dev/code/shop/src/tax.js       18:13:52
    replace            error    /home/dev/code/shop/src/tax.js       18:13:52
    no_such_tool       error    1                                    18:13:53
    read_file          error                                         18:13:53
    run_shell_command  success  seq 1 12000                          18:13:53
    write_todos        error                                         18:13:53
    read_file          success  /home/dev/code/shop/README.md        18:13:53
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["sql", "SELECT tool, how, path FROM files_touched"]), @r"
    tool            how      path
    list_directory  named    /home/dev/code/shop
    read_file       read     /home/dev/code/shop/prices.csv
    read_file       named    /home/dev/code/shop/missing.txt
    write_file      written  /home/dev/code/shop/src/discount.js
    replace         written  /home/dev/code/shop/src/tax.js
    replace         named    /home/dev/code/shop/src/tax.js
    read_file       read     /home/dev/code/shop/README.md
    [exit 0]
    ");
}

#[test]
fn csv_has_a_heading_and_no_formulas() {
    let home = home(["gemini/lines/tools"]);
    let statement = "SELECT 1 AS n, -1.5 AS r, NULL AS empty, '=1+1' AS f, 'a,\"b\"' AS q, x'00ff' AS b, '@x' AS '=h'";
    let output = home.run(["sql", statement, "--csv"]);
    assert_eq!(output.stdout, "n,r,empty,f,q,b,'=h\r\n1,-1.5,,'=1+1,\"a,\"\"b\"\"\",00ff,'@x\r\n");
    let output =
        home.run(["sql", "SELECT kind, text FROM messages WHERE kind = 'prompt'", "--csv"]);
    assert!(output.stdout.starts_with("kind,text\r\nprompt,"), "{}", output.stdout);
    let both = home.run(["sql", "SELECT 1", "--csv", "--json"]);
    assert_eq!(both.code, Some(2));
}

#[test]
fn json_has_columns_and_rows_of_their_types() {
    let home = home(["gemini/lines/tools"]);
    let answer = document(
        &home,
        "SELECT 1 AS a, 2.5 AS b, 'c' AS c, NULL AS d, x'ff' AS e UNION ALL SELECT 2, 3.0, '', 4, 5",
    );
    assert_eq!(
        answer.to_string(),
        r#"{"schema":"recount.sql/1","columns":["a","b","c","d","e"],"rows":[[1,2.5,"c",null,"ff"],[2,3.0,"",4,5]]}"#
            .parse::<Value>()
            .unwrap()
            .to_string()
    );
    let list: Value = serde_json::from_str(&home.run(["list", "--json"]).stdout).unwrap();
    let session = &list["sessions"][0];
    let answer = document(
        &home,
        "SELECT id, messages, tokens_total, (SELECT sum(total) FROM requests) FROM sessions",
    );
    let row = &answer["rows"][0];
    assert_eq!(row[0], session["id"]);
    assert_eq!(row[1], session["messages"]);
    assert_eq!(row[2], session["tokens"]["total"]);
    assert_eq!(row[3], session["tokens"]["total"]);
    let empty = home.run(["sql", "SELECT * FROM messages WHERE 0", "--json", "-q"]);
    assert_eq!(empty.code, Some(1));
    let answer: Value = serde_json::from_str(&empty.stdout).unwrap();
    assert_eq!(answer["rows"], Value::Array(Vec::new()));
}

#[test]
fn text_is_what_show_prints() {
    let home = home(["gemini/lines/tools"]);
    let shown: Value =
        serde_json::from_str(&home.run(["show", "latest", "--json"]).stdout).unwrap();
    let answer = document(&home, "SELECT id, text, display_text FROM messages ORDER BY number");
    let messages = shown["messages"].as_array().unwrap();
    assert_eq!(answer["rows"].as_array().unwrap().len(), messages.len());
    for (row, message) in answer["rows"].as_array().unwrap().iter().zip(messages) {
        assert_eq!(row[0], message["id"]);
        assert_eq!(row[1], message["text"]);
        assert_eq!(row[2], message["display_text"]);
    }
}

#[test]
fn a_mistake_is_shown_with_its_spot_and_a_hint() {
    let home = home(["gemini/lines/plain"]);
    insta::assert_snapshot!(home.run(["sql", "SELECT models, time FROM requests"]), @r"
    ------- stderr -------
    error: no such column: models
      SELECT models, time FROM requests
             ^^^^^^
    hint: did you mean `model`?
    hint: columns of requests: session, source, message, number, time, model, fate, input, output, cached, cache_write, thoughts, tool, total, cost_usd
    hint: `recount sql --schema` shows every view and its columns
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["sql", "SELECT count(*)\nFROM message\nWHERE 1"]), @r"
    ------- stderr -------
    error: no such table: message
      FROM message
           ^^^^^^^
    hint: did you mean `messages`?
    hint: views are sessions, messages, tool_calls, requests, files_touched
    hint: `recount sql --schema` shows every view and its columns
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["sql", "SELECT * FORM sessions"]), @r#"
    ------- stderr -------
    error: near "FORM": syntax error
      SELECT * FORM sessions
               ^^^^
    hint: `recount sql --schema` shows every view and its columns
    [exit 2]
    "#);
    insta::assert_snapshot!(home.run(["sql", "SELECT 1; SELECT 2"]), @r"
    ------- stderr -------
    error: only one statement is allowed
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["sql", ""]), @"
    ------- stderr -------
    error: no statement given
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["sql", "SELECT sum(9223372036854775807) FROM (VALUES (1), (2))"]), @r"
    ------- stderr -------
    error: integer overflow
    [exit 2]
    ");
}

#[test]
fn what_would_change_something_is_refused() {
    let home = home(["gemini/lines/plain"]);
    insta::assert_snapshot!(home.run(["sql", "INSERT INTO sessions (id) VALUES (1)"]), @r"
    ------- stderr -------
    error: INSERT is refused: statements may only read
    hint: only SELECT is allowed; `recount sql --schema` lists the views
    [exit 3]
    ");
    for statement in [
        "UPDATE messages SET kind = 'x'",
        "WITH a AS (SELECT 1) DELETE FROM sessions",
        "DROP TABLE sessions",
        "ATTACH 'other.db' AS other",
        "PRAGMA writable_schema = ON",
        "PRAGMA query_only(0)",
        "VACUUM INTO 'copy.db'",
        "SELECT load_extension('./x')",
        "SELECT 1; DROP TABLE sessions",
    ] {
        let output = home.run(["sql", statement]);
        assert_eq!(output.code, Some(3), "{statement}: {}", output.stderr);
        assert_eq!(output.stdout, "");
    }
    assert!(!home.path().join("other.db").exists());
    assert!(!home.path().join("copy.db").exists());
}

#[test]
fn escapes_never_reach_the_terminal() {
    let home = home(["gemini/damaged/terminal-escapes"]);
    for flags in [[].as_slice(), &["--csv"], &["--json"]] {
        for statement in [
            "SELECT * FROM messages",
            "SELECT * FROM tool_calls",
            "SELECT * FROM sessions",
            "SELECT char(27) || ']0;pwn' || char(7) || char(8238)",
            "SELECT 1 AS \"\u{1b}[2J\"",
            "SELECT \u{1b}[2J",
        ] {
            let output = home.run([["sql", statement].as_slice(), flags].concat());
            for text in [&output.stdout, &output.stderr] {
                let bad = |c: char| {
                    (c.is_control() && !matches!(c, '\n' | '\t' | '\r')) || c == '\u{202e}'
                };
                assert_eq!(text.chars().find(|c| bad(*c)), None, "{statement} {flags:?}");
            }
        }
    }
}

#[test]
fn a_home_without_sessions_has_empty_views() {
    let home = home([]);
    insta::assert_snapshot!(home.run(["--home", ".", "sql", "SELECT count(*) AS messages FROM messages"]), @r"
    messages
           0
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["--home", ".", "sql", "SELECT * FROM sessions"]), @r"
    ------- stderr -------
    note: no rows
    [exit 1]
    ");
}

#[test]
fn a_statement_comes_from_standard_input_too() {
    let home = home(["gemini/lines/plain"]);
    for arguments in [["sql"].as_slice(), &["sql", "-"]] {
        let mut child =
            home.command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(b"-- how many?\nSELECT count(*) AS n\nFROM sessions;\n")
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "n\n1\n");
    }
}

#[test]
fn the_schema_names_every_column() {
    let home = home([]);
    let output = home.run(["sql", "--schema"]);
    assert_eq!(output.code, Some(0));
    insta::assert_snapshot!(output.stdout.split("\n\n").last().unwrap(), @r"
    files_touched  one row per file that a message sent along or a call named
      session  text     the session's id
      source   text     the agent that wrote it
      message  text     the id of the message
      number   integer  the place of that message in the session
      tool     text     the tool's name, or @file
      how      text     attached, read, written; named: looked at otherwise, or the call failed
      path     text     the path as written in the message
      time     text     when
    ");
    let answer: Value =
        serde_json::from_str(&home.run(["sql", "--schema", "--json"]).stdout).unwrap();
    assert_eq!(answer["schema"], "recount.sql-schema/1");
    for view in answer["views"].as_array().unwrap() {
        for column in view["columns"].as_array().unwrap() {
            assert!(output.stdout.contains(column["name"].as_str().unwrap()));
            assert!(["TEXT", "INTEGER", "REAL"].contains(&column["form"].as_str().unwrap()));
        }
    }
}

#[test]
fn every_column_is_in_the_documentation() {
    let page = include_str!("../../../../docs/sql.md");
    let answer: Value =
        serde_json::from_str(&home([]).run(["sql", "--schema", "--json"]).stdout).unwrap();
    for view in answer["views"].as_array().unwrap() {
        let heading = format!("### `{}`", view["name"].as_str().unwrap());
        let section = page.split(&heading).nth(1).unwrap().split("\n##").next().unwrap();
        for column in view["columns"].as_array().unwrap() {
            let row = format!("| `{}` | ", column["name"].as_str().unwrap());
            assert!(section.contains(&row), "{heading}: {row}");
        }
    }
}
