//! `recount stats` and `recount prices`
#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

use recount_testkit::Home;
use serde_json::Value;

use crate::{has, home};

/// Sessions of two eras, with a sub-agent, failed tools and a project whose name takes two columns per character.
fn busy() -> Home {
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

/// Runs at so many columns.
fn at(home: &Home, columns: &str, arguments: &[&str]) -> String {
    let output = home.run_with(["stats", "--all", "-q"].iter().chain(arguments), |command| {
        command.env("COLUMNS", columns);
    });
    assert_eq!(output.stderr, "");
    output.stdout
}

#[test]
fn one_screen_says_it_all() {
    let home = busy();
    insta::assert_snapshot!(home.run(["stats", "--all"]), @"");
}

#[test]
fn tables_fit_the_page_and_names_of_any_script_are_aligned() {
    let home = busy();
    insta::assert_snapshot!(at(&home, "60", &["--by", "project"]), @"");
    insta::assert_snapshot!(at(&home, "80", &["--by", "project"]), @"");
    insta::assert_snapshot!(at(&home, "120", &["--by", "project"]), @"");
    insta::assert_snapshot!(at(&home, "200", &["--by", "project"]), @"");
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
    insta::assert_snapshot!(at(&home, "100", &["--by", "tool", "--errors"]), @"");
}

#[test]
fn charts_are_drawn_with_blocks() {
    let home = busy();
    insta::assert_snapshot!(at(&home, "60", &["--by", "hour", "--chart"]), @"");
    insta::assert_snapshot!(at(&home, "60", &["--by", "model", "--chart"]), @"");
}

#[test]
fn the_working_is_shown_to_the_millionth() {
    let home = busy();
    insta::assert_snapshot!(at(&home, "120", &["--explain", "5eed0001"]), @"");
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
    insta::assert_snapshot!(working, @"");
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
fn a_budget_that_is_passed_is_told_by_the_exit_code() {
    let home = busy();
    let check = || home.run(["stats", "--check-budget"]);
    insta::assert_snapshot!(check(), @"");
    home.write(".config/recount/config.toml", "[budget]\ndaily = 0.5\nmonthly = 1000\n");
    insta::assert_snapshot!(check(), @"");
    home.write(".config/recount/config.toml", "[budget]\ndaily = 1\n");
    insta::assert_snapshot!(check(), @"");
    home.write(".config/recount/config.toml", "[budget]\ndaily = -1\n");
    insta::assert_snapshot!(check(), @"");
}

#[test]
fn one_line_is_one_line() {
    let home = busy();
    insta::assert_snapshot!(home.run(["stats", "--line"]), @"");
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
    insta::assert_snapshot!(home.run(["stats", "--all", "--compare", "theirs.json"]), @"");
    home.write("bad.json", "[]");
    insta::assert_snapshot!(home.run(["stats", "--all", "--compare", "bad.json"]), @"");
}

#[test]
fn prices_of_the_user_come_first_and_are_shown() {
    let home = busy();
    home.write(
        ".config/recount/config.toml",
        "[prices.\"gemini-3.1-pro-preview\"]\ninput = 1\noutput = \"2.5\"\n",
    );
    insta::assert_snapshot!(home.run(["prices", "gemini-3.1-pro"]), @"");
    let json = document(&home, &["--explain", "5eed0001"]);
    assert_eq!(json["total"]["cost_usd"], 0.253_75);
    home.write(".config/recount/config.toml", "[prices.x]\ninput = \"cheap\"\noutput = 1\n");
    insta::assert_snapshot!(home.run(["prices"]), @"");
}

#[test]
fn what_filled_the_context_is_shown() {
    let home = home(["gemini/checkpoints/at-files"]);
    insta::assert_snapshot!(home.run(["stats", "--all", "--context"]), @"");
}

#[test]
fn nothing_to_count_is_an_exit_code() {
    let home = busy();
    let output = home.run(["stats", "--all", "--since", "2027-01-01"]);
    assert_eq!(output.code, 1, "{output}");
    insta::assert_snapshot!(home.run(["stats", "--gap", "soon"]), @"");
}
