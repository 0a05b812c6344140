//! `recount stats --html`: the report, read back like a browser.
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
    if figures["cost_is_lower_bound"] == true { format!("≥{money}") } else { money }
}

/// Returns the cells of each row of the tables, by the caption of the table.
fn tables(markup: &str) -> Vec<(String, Vec<Vec<String>>)> {
    let text = |part: &str| {
        let mut text = String::new();
        for piece in part.split('<') {
            text.push_str(piece.split_once('>').map_or(piece, |(_, text)| text));
        }
        text
    };
    let table = |table: &str| {
        let caption = table.split_once("</caption>").unwrap().0.rsplit_once('>').unwrap().1;
        let line = |line: &str| {
            let line = line.replace("<span class=\"detail\">", "</th><td>");
            line.split("<t").skip(1).map(|cell| text(&format!("<t{cell}"))).collect()
        };
        let lines = table.lines().filter_map(|line| line.strip_prefix("<tr>"));
        (caption.to_owned(), lines.map(line).collect())
    };
    markup.split("<table").skip(1).map(table).collect()
}

fn has_line(tables: &[(String, Vec<Vec<String>>)], caption: &str, wanted: &[&str]) -> bool {
    let lines = tables.iter().filter(|(own, _)| own == caption).flat_map(|(_, lines)| lines);
    let is_it = |line: &&Vec<String>| {
        line.first().is_some_and(|name| name == wanted[0])
            && wanted.iter().all(|cell| line.iter().any(|own| own == cell))
    };
    lines.filter(is_it).count() == 1
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
        let markup = home.run(["stats", "--html", "-"].iter().chain(filters)).stdout;
        let (page, tables) = (Page::read(&markup), tables(&markup));
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
        for (by, caption) in [
            ("day", "By day"),
            ("hour", "By hour of the day"),
            ("project", "By project"),
            ("model", "By model"),
        ] {
            let rows = json(&home, &[filters, &["--by", by]].concat());
            for row in rows["rows"].as_array().unwrap() {
                let name = row["name"].as_str().or(row["key"].as_str()).unwrap();
                let name = if by == "hour" { format!("{name}:00") } else { name.to_owned() };
                let cells = [
                    name.as_str(),
                    &grouped(&row["requests"]),
                    &grouped(&row["tokens"]["total"]),
                    &money(row),
                ];
                assert!(
                    has_line(&tables, caption, &cells),
                    "{filters:?} {by}: {cells:?} in {tables:?}"
                );
            }
        }
        let tools = json(&home, &[filters, &["--by", "tool"]].concat());
        for row in tools["rows"].as_array().unwrap() {
            let cells = [
                row["key"].as_str().unwrap(),
                &grouped(&row["tool_calls"]),
                &grouped(&row["tools_failed"]),
            ];
            assert!(has_line(&tables, "By tool", &cells), "{cells:?}");
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
            "{place} is not shown: {}",
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
fn it_is_self_contained() {
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
