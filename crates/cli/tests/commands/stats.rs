//! `recount stats` and `recount prices`
#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

use recount_testkit::Home;
use serde_json::Value;

use crate::{has, home};

/// Returns sessions of two eras, with a sub-agent, failed tools and a project with a double-width name.
pub(super) fn busy() -> Home {
    let home = home([
        "gemini/checkpoints/tools",
        "gemini/checkpoints/subagent",
        "gemini/checkpoints/rewind",
        "gemini/strings/tools",
    ]);
    let head = r#"{"sessionId":"5eed0001-0000-4000-8000-000000000001","projectHash":"x","startTime":"2026-11-15T23:50:00.000Z","lastUpdated":"2026-11-15T23:50:00.000Z","kind":"main"}"#;
    let prompt = r#"{"id":"a1","timestamp":"2026-11-15T23:50:00.000Z","type":"user","content":[{"text":"東京の予報を読む"}]}"#;
    let answer = r#"{"id":"a2","timestamp":"2026-11-16T00:00:00.000Z","type":"gemini","content":"晴れ","tokens":{"input":250000,"output":1000,"cached":50000,"thoughts":500,"tool":0,"total":251500},"model":"gemini-3.1-pro-preview"}"#;
    home.write(
        ".gemini/tmp/weather/chats/session-2026-11-15T23-50-5eed0001.jsonl",
        format!("{head}\n{prompt}\n{answer}\n"),
    );
    home.write(".gemini/tmp/weather/.project_root", "/home/dev/code/天気ノート");
    home
}

fn document(home: &Home, arguments: &[&str]) -> Value {
    let output = home.run(["stats", "--all", "--json"].iter().chain(arguments));
    serde_json::from_str(&output.stdout).unwrap()
}

/// Runs at the given width.
fn at(home: &Home, columns: &str, arguments: &[&str]) -> String {
    let output = home.run_with(["stats", "--all", "-q"].iter().chain(arguments), |command| {
        command.env("RECOUNT_WIDTH", columns);
    });
    assert_eq!(output.stderr, "");
    output.stdout
}

#[test]
fn the_overview_fits_on_one_screen() {
    let home = busy();
    insta::assert_snapshot!(home.run(["stats", "--all"]), @r"
                SESSIONS  PROMPTS  REQUESTS  TOOLS  CACHED  ACTIVE  TOKENS      COST
    today              1        0         1      0     20%     10m    252k   $0.8470
    this week          1        0         1      0     20%     10m    252k   $0.8470
    this month         5        8        24     38     18%     10m    356k  ≥$0.9769
    all                5        8        24     38     18%     10m    356k  ≥$0.9769

    last 30 days                              ▁█

    PROJECT     SESSIONS  REQUESTS  TOKENS      COST
    天気ノート         1         1    252k   $0.8470  ████████████████
    shop               4        23    105k  ≥$0.1299  ██▍

    MODEL                   SESSIONS  REQUESTS  TOKENS      COST
    gemini-3.1-pro-preview         1         1    252k   $0.8470  ████████████████
    gemini-3.5-flash               3        19     85k   $0.1241  ██▎
    gemini-3-flash-preview         1         2    6.4k   $0.0034  ▏
    gemini-2.5-flash               1         2     13k  ≥$0.0024  ▏
    ------- stderr -------
    note: ≥: some usage was not recorded (9 cases); --explain shows what
    [exit 0]
    ");
}

#[test]
fn tables_fit_the_page_and_names_of_any_script_are_aligned() {
    let home = busy();
    insta::assert_snapshot!(at(&home, "60", &["--by", "project"]), @r"
    PROJECT     REQUESTS  INPUT  OUTPUT  TOKENS      COST
    天気ノート         1   250k    1.0k    252k   $0.8470
    shop              23   104k     696    105k  ≥$0.1299
    total             24   354k    1.7k    356k  ≥$0.9769
    ");
    insta::assert_snapshot!(at(&home, "80", &["--by", "project"]), @r"
    PROJECT     SESSIONS  PROMPTS  REQUESTS  INPUT  CACHED  OUTPUT  TOKENS      COST
    天気ノート         1        1         1   250k     20%    1.0k    252k   $0.8470
    shop               4        7        23   104k     12%     696    105k  ≥$0.1299
    total              5        8        24   354k     18%    1.7k    356k  ≥$0.9769
    ");
    insta::assert_snapshot!(at(&home, "120", &["--by", "project"]), @r"
    PROJECT     SESSIONS  PROMPTS  REQUESTS  INPUT  CACHED  OUTPUT  THOUGHTS  TOOLS  ACTIVE  TOKENS      COST
    天気ノート         1        1         1   250k     20%    1.0k       500      0     10m    252k   $0.8470  ████████████
    shop               4        7        23   104k     12%     696        28     38     16s    105k  ≥$0.1299  █▊
    total              5        8        24   354k     18%    1.7k       528     38     10m    356k  ≥$0.9769
    ");
    insta::assert_snapshot!(at(&home, "200", &["--by", "project"]), @r"
    PROJECT     SESSIONS  PROMPTS  REQUESTS  INPUT  CACHED  OUTPUT  THOUGHTS  TOOLS  FAILED  ACTIVE  TOKENS      COST
    天気ノート         1        1         1   250k     20%    1.0k       500      0       0     10m    252k   $0.8470  ████████████
    shop               4        7        23   104k     12%     696        28     38       9     16s    105k  ≥$0.1299  █▊
    total              5        8        24   354k     18%    1.7k       528     38       9     10m    356k  ≥$0.9769
    ");
}

#[test]
fn every_view_has_a_total_and_fits() {
    let home = busy();
    for by in
        ["day", "week", "month", "hour", "project", "model", "session", "source", "tool", "agent"]
    {
        for columns in ["60", "80", "120", "200"] {
            let page = at(&home, columns, &["--by", by]);
            let wide = columns.parse::<usize>().unwrap();
            for line in page.lines() {
                let width = unicode_width::UnicodeWidthStr::width(line);
                assert!(width <= wide, "{by} at {columns}: {width} columns\n{page}");
            }
            assert!(page.lines().last().unwrap().starts_with("total"), "{page}");
        }
        let json = document(&home, &["--by", by]);
        assert_eq!(json["schema"], "recount.stats/1");
        assert_eq!(json["by"], by);
        has(&json["total"], "sessions requests tokens cost_usd tool_calls active_seconds");
        for row in json["rows"].as_array().unwrap() {
            has(row, "key sessions requests tokens cost_usd tool_calls active_seconds");
        }
    }
}

#[test]
fn tools_are_shown_with_their_failures_and_why() {
    let home = busy();
    insta::assert_snapshot!(at(&home, "100", &["--by", "tool", "--errors"]), @r#"
    TOOL                 SESSIONS  CALLS  FAILED  CANCELLED  RATE
    read_file                   3      8       4          0   50%  ████████████
    run_shell_command           2      6       0          0    0%  █████████
    replace                     2      4       2          0   50%  ██████
    list_directory              3      3       0          0    0%  ████▌
    write_file                  3      3       0          0    0%  ████▌
    complete_task               1      2       0          0    0%  ███
    glob                        2      2       0          0    0%  ███
    grep_search                 2      2       0          0    0%  ███
    invoke_agent                1      2       0          0    0%  ███
    no_such_tool                2      2       2          0  100%  ███
    write_todos                 2      2       1          0   50%  ███
    save_memory                 1      1       0          0    0%  █▌
    search_file_content         1      1       0          0    0%  █▌
    total                       5     38       9          0   24%

    TOOL          TIMES  ERROR
    read_file         2  File not found: /home/dev/code/shop/missing.txt
    read_file         2  params must have required property 'file_path'
    no_such_tool      1  Tool "no_such_tool" not found in registry. Tools must use the exact names that…
    no_such_tool      1  Tool "no_such_tool" not found. Did you mean one of: "update_topic", "list_dire…
    replace           1  Failed to edit, 0 occurrences found for old_string (no such text). Original ol…
    replace           1  Failed to edit, 0 occurrences found for old_string in /home/dev/code/shop/src/…
    write_todos       1  Tool "write_todos" not found. Did you mean one of: "write_file", "update_topic…
    "#);
}

#[test]
fn charts_are_drawn_with_blocks() {
    let home = busy();
    insta::assert_snapshot!(at(&home, "60", &["--by", "hour", "--chart"]), @r"
     $0.8470 █████
             █████
             █████
             █████
             █████
             █████
             █████
             █████
             █████ ▄▄▄▄▄
             █████ █████
           0 ──────────────────
             00:00        23:00

    HOUR   REQUESTS  INPUT  CACHED  OUTPUT  TOKENS      COST
    00:00         1   250k     20%    1.0k    252k   $0.8470
    18:00        23   104k     12%     696    105k  ≥$0.1299
    23:00         0      0               0       0     $0.00
    total        24   354k     18%    1.7k    356k  ≥$0.9769
    ");
    insta::assert_snapshot!(at(&home, "60", &["--by", "model", "--chart"]), @r"
    gemini-3.1-pro-pr…  ██████████████████████████████   $0.8470
    gemini-3.5-flash    ████▍                            $0.1241
    gemini-3-flash-pr…  ▏                                $0.0034
    gemini-2.5-flash    ▏                               ≥$0.0024

    MODEL                   REQUESTS  OUTPUT  TOKENS      COST
    gemini-3.1-pro-preview         1    1.0k    252k   $0.8470
    gemini-3.5-flash              19     584     85k   $0.1241
    gemini-3-flash-preview         2      60    6.4k   $0.0034
    gemini-2.5-flash               2      52     13k  ≥$0.0024
    total                         24    1.7k    356k  ≥$0.9769
    ");
}

#[test]
fn the_working_is_shown_to_the_millionth() {
    let home = busy();
    insta::assert_snapshot!(at(&home, "120", &["--explain", "5eed0001"]), @r"
    TIME                 MODEL                   NEW  IN $/M  CACHED  CACHE $/M  OUT+THOUGHTS  OUT $/M       COST        SUM
    2026-11-16 00:00:00  gemini-3.1-pro-pr…  200,000    4.00  50,000       0.40     1,000+500    18.00  $0.847000  $0.847000

    $0.847000 = 200,000 new + 50,000 cached + 1,000 out + 500 thoughts + 0 tool tokens in 1 request
    ");
    let json = document(&home, &["--explain", "5eed0001"]);
    // 200,000 new × $4 + 50,000 cached × $0.40 + 1,500 out × $18, per million: above 200,000 all of it costs more.
    assert_eq!(json["total"]["cost_usd"], 0.847);
    assert_eq!(json["requests"][0]["tier"], serde_json::json!({"above": 200_000}));
    assert_eq!(json["requests"][0]["sum_usd"], 0.847);
}

#[test]
fn the_working_names_what_was_counted_once_and_what_is_missing() {
    let home = busy();
    let page = at(&home, "100", &["--explain"]);
    let (_, working) = page.split_once("\n\n").unwrap();
    insta::assert_snapshot!(working, @r"
    $0.976860 = 291,850 new + 62,000 cached + 1,696 out + 528 thoughts + 0 tool tokens in 24 requests
    counted once:
           17  records were written again in the same file
    billed, but not on record:
            7  replies without text were merged into the record before them, which has the token counts of one reply
            2  requests may have only the token counts of the first chunk of the reply, as older releases recorded them
    counted all the same:
            2  requests whose answers were undone later: billed, and part of the sum
    ");
}

#[test]
fn days_begin_where_the_user_is() {
    let home = busy();
    let keys = |zone: &str, arguments: &[&str]| {
        let output =
            home.run_with(["stats", "--all", "--json"].iter().chain(arguments), |command| {
                command.env("TZ", zone);
            });
        let json: Value = serde_json::from_str(&output.stdout).unwrap();
        let rows = json["rows"].as_array().unwrap().clone();
        rows.last().unwrap()["key"].as_str().unwrap().to_owned()
    };
    assert_eq!(keys("America/New_York", &[]), "2026-11-15");
    assert_eq!(keys("Asia/Tokyo", &[]), "2026-11-16");
    assert_eq!(keys("America/New_York", &["--utc"]), "2026-11-16");
}

#[test]
fn an_exceeded_budget_is_reported_by_the_exit_code() {
    let home = busy();
    let check = || home.run(["stats", "--check-budget"]);
    insta::assert_snapshot!(check(), @r"
    ------- stderr -------
    note: no budget is set; write `[budget]` and `daily = 5` or `monthly = 80` in config.toml
    [exit 0]
    ");
    home.write(".config/recount/config.toml", "[budget]\ndaily = 0.5\nmonthly = 1000\n");
    insta::assert_snapshot!(check(), @r"
    ------- stderr -------
    note: over budget today: $0.8470 spent of $0.5000
    [exit 1]
    ");
    home.write(".config/recount/config.toml", "[budget]\ndaily = 1\n");
    insta::assert_snapshot!(check(), @r"
    [exit 0]
    ");
    home.write(".config/recount/config.toml", "[budget]\ndaily = -1\n");
    insta::assert_snapshot!(check(), @r"
    ------- stderr -------
    error: ~home~/.config/recount/config.toml: budget: `-1` is not a number of dollars
    hint: fix or remove the file
    [exit 2]
    ");
}

#[test]
fn one_line_is_one_line() {
    let home = busy();
    insta::assert_snapshot!(home.run(["stats", "--line"]), @r"
    252k tok $0.8470
    [exit 0]
    ");
}

#[test]
fn a_prompt_of_somebody_without_sessions_is_quiet() {
    let home = home([]);
    let output = home.run(["stats", "--line"]);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("0 tok $0.00\n", ""));
    assert!(!home.path().join(".local/share/recount/demo-home").exists());
}

#[test]
fn csv_has_the_rows_and_the_total() {
    let home = busy();
    let output = home.run(["stats", "--all", "--by", "model", "--csv", "-q"]);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert!(lines[0].starts_with("key,name,sessions,requests,"), "{}", lines[0]);
    assert!(lines.last().unwrap().starts_with("total,"));
    let columns = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == columns), "{lines:?}");
}

#[test]
fn another_tool_s_count_is_compared_day_by_day() {
    let home = busy();
    home.write(
        "theirs.json",
        r#"{"daily":[{"date":"2026-11-16","totalTokens":251500,"totalCost":0.5,"inputTokens":1}],"totals":{}}"#,
    );
    insta::assert_snapshot!(home.run(["stats", "--all", "--compare", "theirs.json"]), @r"
    DAY          TOKENS   THEIRS     COST   THEIRS  WHY
    2026-11-15  104,574        0  $0.1299  $0.0000  not in their report
    2026-11-16  251,500  251,500  $0.8470  $0.5000  they have other prices
    total       356,074  251,500  $0.9769  $0.5000  they count 104,574 tokens less
    [exit 0]
    ");
    home.write("bad.json", "[]");
    insta::assert_snapshot!(home.run(["stats", "--all", "--compare", "bad.json"]), @r"
    ------- stderr -------
    error: ~home~/bad.json: not a report by day in JSON
    hint: make one with `ccusage AGENT daily --json > FILE`
    [exit 2]
    ");
}

#[test]
fn prices_of_the_user_come_first_and_are_shown() {
    let home = busy();
    home.write(
        ".config/recount/config.toml",
        "[prices.\"gemini-3.1-pro-preview\"]\ninput = 1\noutput = \"2.5\"\n",
    );
    insta::assert_snapshot!(home.run(["prices", "gemini-3.1-pro"]), @r"
    MODEL                               PROMPTS  INPUT  CACHED  OUTPUT  FROM  SEEN        BY
    gemini-3.1-pro-preview                       $1.00   $1.00   $2.50                    config.toml
    gemini-3.1-pro-preview                       $2.00   $0.20  $12.00        2026-11-09  replaced
                                        > 200k   $4.00   $0.40  $18.00        2026-11-09  replaced
    gemini-3.1-pro-preview-customtools           $2.00   $0.20  $12.00        2026-11-09
                                        > 200k   $4.00   $0.40  $18.00        2026-11-09
    [exit 0]
    ");
    let json = document(&home, &["--explain", "5eed0001"]);
    assert_eq!(json["total"]["cost_usd"], 0.253_75);
    home.write(".config/recount/config.toml", "[prices.x]\ninput = \"cheap\"\noutput = 1\n");
    insta::assert_snapshot!(home.run(["prices"]), @r"
    ------- stderr -------
    error: ~home~/.config/recount/config.toml: prices of x: `cheap` is not dollars per million tokens, as in 1.25
    hint: fix or remove the file
    [exit 2]
    ");
}

#[test]
fn lists_say_what_sessions_cost_by_the_prices_of_today() {
    let home = busy();
    let costs = |home: &Home| {
        let listed: Value =
            serde_json::from_str(&home.run(["list", "--all", "--json"]).stdout).unwrap();
        let counted = document(home, &["--by", "session"]);
        let mut found = 0;
        for row in counted["rows"].as_array().unwrap() {
            let sessions = listed["sessions"].as_array().unwrap();
            let session = sessions.iter().find(|one| one["id"] == row["key"]).unwrap();
            if sessions.iter().all(|one| one["parent"] != row["key"]) {
                assert_eq!(session["cost_usd"], row["cost_usd"], "{row}");
                assert_eq!(session["cost_is_lower_bound"], row["cost_is_lower_bound"], "{row}");
                found += 1;
            }
        }
        assert!(found > 1, "{counted}");
        listed["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["cost_usd"].clone())
            .collect::<Vec<_>>()
    };
    let first = costs(&home);
    assert_eq!(costs(&home), first);
    // Rows are cached, but not with outdated prices.
    home.write(
        ".config/recount/config.toml",
        "[prices.\"gemini-*\"]\ninput = 1000\noutput = 1000\n",
    );
    let dearer = costs(&home);
    assert_ne!(dearer, first);
    assert_eq!(costs(&home), dearer);
    let sum = home.run(["sql", "--csv", "SELECT round(sum(cost_usd), 6) FROM sessions"]).stdout;
    let all: f64 = dearer.iter().filter_map(Value::as_f64).sum();
    let sum: f64 = sum.lines().nth(1).unwrap().parse().unwrap();
    assert!((sum - all).abs() < 1e-5, "{sum} {all}");
}

#[test]
fn what_filled_the_context_is_shown() {
    let home = home(["gemini/checkpoints/at-files"]);
    insta::assert_snapshot!(home.run(["stats", "--all", "--context"]), @r"
    CONTEXT  PIECES    TEXT  SHARE
    context       5  3.3 KB    79%  ████████████████████
    prompts       5   604 B    14%  ███▋
    files         6   175 B   4.2%  █
    answers       5    83 B   2.0%  ▌
    total        21  4.2 KB

    FILE             SENT  TEXT  WRITTEN  NAMED
    src/cart.js         1  71 B        0      0
    prices.csv          2  50 B        0      0
    src/tax.js          1  34 B        0      0
    **/*.md             1  14 B        0      0
    my docs/a b.txt     1   6 B        0      0
    [exit 0]
    ");
}

#[test]
fn nothing_to_count_is_an_exit_code() {
    let home = busy();
    let output = home.run(["stats", "--all", "--since", "2027-01-01"]);
    assert_eq!(output.code, Some(1), "{output}");
    insta::assert_snapshot!(home.run(["stats", "--gap", "soon"]), @r"
    ------- stderr -------
    error: --gap soon: not a duration
    hint: give a number and a unit: 90s, 30m, 2h
    [exit 2]
    ");
}

#[test]
fn active_time_by_model_adds_up() {
    let home = home([]);
    let mut lines = vec![r#"{"sessionId":"ac71ae00-0000-4000-8000-000000000001","projectHash":"x","startTime":"2026-11-15T08:00:00.000Z","lastUpdated":"2026-11-15T08:20:00.000Z","kind":"main"}"#.to_owned()];
    for (minute, model) in [
        (0, ""),
        (2, "gemini-3.5-flash"),
        (5, ""),
        (9, "gemini-3.1-pro-preview"),
        (14, ""),
        (20, ""),
    ] {
        let (kind, more) = match model {
            "" => ("user", String::new()),
            model => (
                "gemini",
                format!(r#","model":"{model}","tokens":{{"input":10,"output":1,"total":11}}"#),
            ),
        };
        lines.push(format!(
            r#"{{"id":"m{minute}","timestamp":"2026-11-15T08:{minute:02}:00.000Z","type":"{kind}","content":"Hm."{more}}}"#
        ));
    }
    home.write(
        ".gemini/tmp/shop/chats/session-2026-11-15T08-00-ac71ae00.jsonl",
        lines.join("\n") + "\n",
    );
    let document = document(&home, &["--by", "model"]);
    assert_eq!(document["total"]["active_seconds"], 20 * 60);
    // A human's thinking time counts for the model that answered, and the rest for the last one.
    let rows = document["rows"].as_array().unwrap().iter();
    let mut active: Vec<(&str, u64)> = rows
        .map(|row| (row["key"].as_str().unwrap(), row["active_seconds"].as_u64().unwrap() / 60))
        .collect();
    active.sort_unstable();
    assert_eq!(active, [("gemini-3.1-pro-preview", 18), ("gemini-3.5-flash", 2)]);
}

#[test]
fn projects_and_stats_count_the_same() {
    // The demo home has a fork, which copies requests.
    let home = home([]);
    let totals = |arguments: &[&str], list: &str| {
        let document: Value = serde_json::from_str(&home.run(arguments).stdout).unwrap();
        let rows = document[list].as_array().unwrap().iter();
        let figures = rows.map(|row| (row["tokens"]["total"].as_u64(), row["prompts"].as_u64()));
        let mut totals: Vec<_> = figures.filter(|(total, _)| *total > Some(0)).collect();
        totals.sort_unstable();
        totals
    };
    let projects = totals(&["projects", "--json"], "projects");
    assert_eq!(projects, totals(&["stats", "--all", "--by", "project", "--json"], "rows"));
    assert!(projects.len() > 3, "{projects:?}");
}

#[test]
fn a_lower_bound_is_marked_in_every_view_and_explained_only_there() {
    let home = busy();
    let noted = |arguments: &[&str]| {
        let output = home.run(["stats", "--all"].iter().chain(arguments));
        let note = output.stderr.lines().find(|line| line.contains("was not recorded"));
        (output.stdout.contains('≥'), note.map(|note| note.starts_with("note: ≥:")))
    };
    assert_eq!(noted(&[]), (true, Some(true)));
    assert_eq!(noted(&["--by", "project"]), (true, Some(true)));
    // No mark, no word about it.
    assert_eq!(noted(&["--by", "tool"]), (false, None));
    assert_eq!(noted(&["--explain"]), (false, None));
    assert_eq!(noted(&["--html", "report.html"]), (false, None));
    assert_eq!(noted(&["--csv"]), (false, Some(false)));
    // Every row of which something is missing is marked, as in JSON.
    let rows = document(&home, &["--by", "project"]);
    let page = at(&home, "120", &["--by", "project"]);
    let listed = home.run(["list", "--all", "-q"]).stdout;
    for row in rows["rows"].as_array().unwrap() {
        let name = row["name"].as_str().unwrap();
        let line = page.lines().find(|line| line.starts_with(name)).unwrap();
        assert_eq!(line.contains('≥'), row["cost_is_lower_bound"] == true, "{line}");
    }
    let sessions: Value =
        serde_json::from_str(&home.run(["list", "--all", "--json"]).stdout).unwrap();
    let mut marked = 0;
    for session in sessions["sessions"].as_array().unwrap() {
        let id = session["id"].as_str().unwrap().get(..8).unwrap();
        let Some(line) = listed.lines().find(|line| line.contains(id)) else { continue };
        let is_marked = line.contains('≥');
        assert_eq!(is_marked, session["cost_is_lower_bound"] == true, "{line}");
        marked += usize::from(is_marked);
    }
    assert!(marked > 0 && !listed.contains("≥<"), "{listed}");
}

#[test]
fn only_models_of_that_name_have_their_prices_shown() {
    let home = busy();
    let rows = home.run(["prices", "flash"]).stdout;
    let names: Vec<&str> =
        rows.lines().skip(1).filter_map(|row| row.split_whitespace().next()).collect();
    let models: Vec<&&str> = names.iter().filter(|name| name.contains("gemini")).collect();
    assert!(models.len() > 3 && models.iter().all(|name| name.contains("flash")), "{rows}");
    let output = home.run(["prices", "flash", "--json"]).stdout;
    let document: Value = serde_json::from_str(&output).unwrap();
    let entries = document["prices"].as_array().unwrap().iter();
    let mut names = entries.flat_map(|entry| entry["names"].as_array().unwrap());
    assert!(names.all(|name| name.as_str().unwrap().contains("flash")), "{output}");
}
