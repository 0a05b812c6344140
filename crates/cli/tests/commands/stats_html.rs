//! `recount stats --html`: the report, read back as a browser would.
#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

use recount_testkit::{Home, Page};
use serde_json::Value;

use super::stats::busy;
use crate::home;

fn page(home: &Home, arguments: &[&str]) -> Page {
    let output = home.run(["stats", "--html", "-"].iter().chain(arguments));
    assert_eq!(output.code, Some(0), "{output}");
    Page::read(&output.stdout)
}

fn json(home: &Home, arguments: &[&str]) -> Value {
    let output = home.run(["stats", "--json"].iter().chain(arguments));
    serde_json::from_str(&output.stdout).unwrap()
}

fn grouped(number: &Value) -> String {
    let digits = number.as_u64().unwrap().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn money(figures: &Value) -> String {
    let dollars = figures["cost_usd"].as_f64().unwrap();
    let is_small = dollars > 0.0 && dollars < 0.995;
    let money = if is_small { format!("${dollars:.4}") } else { format!("${dollars:.2}") };
    if figures["cost_is_lower_bound"] == true { format!("≥ {money}") } else { money }
}

/// Whether a line with these cells stands in a table of the page.
fn has_line(page: &Page, cells: &[&str]) -> bool {
    page.text.lines().any(|line| {
        let mut rest = line;
        cells.iter().all(|cell| match rest.split_once(cell) {
            Some((_, behind)) => {
                rest = behind;
                true
            }
            None => false,
        })
    })
}

#[test]
fn its_sums_are_those_of_json() {
    let home = busy();
    for filters in [
        &["--all"][..],
        &["--all", "--utc"],
        &["--all", "--since", "2026-11-15"],
        &["--all", "--model", "flash"],
        &["天気ノート"],
    ] {
        let page = page(&home, filters);
        let total = &json(&home, filters)["total"];
        for (name, value) in [
            ("Cost", money(total)),
            ("Requests", grouped(&total["requests"])),
            ("Sessions", grouped(&total["sessions"])),
            ("Prompts", grouped(&total["prompts"])),
            ("Tool calls", grouped(&total["tool_calls"])),
        ] {
            assert!(
                page.text.contains(&format!("{name}{value}")),
                "{filters:?}: {name} {value}: {}",
                page.text
            );
        }
        assert!(page.text.contains(&grouped(&total["tokens"]["total"])));
        for by in ["day", "hour", "project", "model"] {
            let rows = json(&home, &[filters, &["--by", by]].concat());
            for row in rows["rows"].as_array().unwrap() {
                let name = row["name"].as_str().or(row["key"].as_str()).unwrap();
                let cells = [
                    name,
                    &grouped(&row["requests"]),
                    &grouped(&row["tokens"]["total"]),
                    &money(row),
                ];
                assert!(has_line(&page, &cells), "{filters:?} {by}: {cells:?} in {}", page.text);
            }
        }
        let tools = json(&home, &[filters, &["--by", "tool"]].concat());
        for row in tools["rows"].as_array().unwrap() {
            let cells = [
                row["key"].as_str().unwrap(),
                &grouped(&row["tool_calls"]),
                &grouped(&row["tools_failed"]),
            ];
            assert!(has_line(&page, &cells), "{cells:?}");
        }
    }
}

#[test]
fn markup_in_sessions_is_only_text() {
    let home = home(["gemini/checkpoints/markup"]);
    let page = page(&home, &["--all"]);
    for place in ["title", "project", "model", "file", "path", "failure"] {
        assert!(
            page.text.contains(&format!("pwned('{place}")),
            "{place} is not told: {}",
            page.text
        );
    }
}

#[test]
fn it_says_how_it_was_counted() {
    let home = busy();
    let page = page(&home, &["--all", "--gap", "5m", "--kind", "main"]);
    for words in [
        "within 5m of each other",
        "What ≥ stands for",
        "Last seen",
        "kind main",
        "東京の予報を読む",
        "/home/dev/code/天気ノート",
    ] {
        assert!(page.text.contains(words), "{words}: {}", page.text);
    }
}

#[test]
fn it_is_written_to_a_file_and_never_among_an_agent_s_own() {
    let home = busy();
    let output = home.run(["stats", "--all", "--html", "report.html"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("report written ("), "{output}");
    Page::read(&String::from_utf8(home.read("report.html")).unwrap());
    let output = home.run(["stats", "--all", "--html", ".gemini/tmp/report.html"]);
    assert_eq!(output.code, Some(3), "{output}");
    assert!(output.stderr.contains("is an agent's own folder"), "{output}");
}

#[test]
fn it_stands_alone() {
    let home = busy();
    for other in ["--csv", "--json", "--line", "--chart", "--context", "--check-budget"] {
        let output = home.run(["stats", "--all", "--html", "-", other]);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains("cannot be used with"), "{output}");
        assert_eq!(output.stdout, "");
    }
}

#[test]
fn nothing_to_count_is_said() {
    let home = busy();
    let output = home.run(["stats", "--all", "--since", "2030-01-01", "--html", "-"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(Page::read(&output.stdout).text.contains("Nothing to count"));
}
