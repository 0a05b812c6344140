//! Tests of whole reports, read back like a browser.

use jiff::civil::date;
use recount_model::Tokens;
use recount_testkit::Page;

use super::*;

fn figures(requests: u64, cost: Option<u128>) -> ReportFigures {
    let tokens = Tokens {
        input: 900,
        cached: 600,
        output: 60,
        thoughts: 40,
        tool: 0,
        total: 1000,
        ..Tokens::default()
    };
    ReportFigures {
        sessions: 1,
        requests,
        prompts: 1,
        tokens,
        cost: Cost { units: cost, is_lower_bound: cost.is_none() },
        tool_calls: 10,
        tools_failed: 2,
        tools_cancelled: 1,
        active_seconds: 3700,
    }
}

/// Returns a report with a number of models, each of which has its own day.
fn report(models: usize, cost: Option<u128>) -> UsageReport {
    let day = |number: usize| date(2026, 9, 1 + i8::try_from(number).unwrap());
    let row = |name: String| ReportRow { name, detail: String::new(), figures: figures(1, cost) };
    let share =
        |model| ModelDayUsage { day: day(model), model, cost: cost.unwrap_or(0), tokens: 1000 };
    UsageReport {
        made: date(2026, 10, 1).at(12, 0, 0, 0),
        time_zone: "UTC".to_owned(),
        gap_seconds: 1800,
        total: figures(models as u64, cost),
        days: (0..models).map(|number| (day(number), figures(1, cost))).collect(),
        months: vec![(date(2026, 9, 1), figures(models as u64, cost))],
        shares: (0..models).map(share).collect(),
        hours: vec![(9, figures(1, cost))],
        models: (0..models).map(|number| row(format!("model-{number}"))).collect(),
        projects: vec![row("shop".to_owned())],
        tools: vec![row("read".to_owned())],
        ..UsageReport::default()
    }
}

fn written(report: &UsageReport) -> Page {
    let mut out = Vec::new();
    write(report, &mut out).unwrap();
    Page::read(&String::from_utf8(out).unwrap())
}

fn rects<'a>(page: &'a Page, class: &str) -> Vec<&'a str> {
    let of = page.all("rect").filter(|rect| rect.get("class") == Some(class));
    of.filter_map(|rect| rect.get("height")).collect()
}

const DOLLAR: u128 = 1_000_000_000_000;

#[test]
fn each_model_has_its_part_and_the_last_ones_share_one() {
    let page = written(&report(6, Some(DOLLAR)));
    // A bar in the chart over time and one in the table.
    assert_eq!(rects(&page, "c4").len(), 2);
    assert_eq!(rects(&page, "c5").len(), 3, "and what was stopped of a tool");
    assert!(!page.text.contains("others"));
    let page = written(&report(9, Some(DOLLAR)));
    assert_eq!(rects(&page, "c4").len(), 2);
    assert_eq!(rects(&page, "c5").len(), 9);
    assert!(page.text.contains("4 others"), "{}", page.text);
    assert!(
        page.text.contains("Cost by day")
            && page
                .text
                .contains("Tue 2026-09-01\n$1.00 · 1,000 tokens · 1 requests\nmodel-0: $1.00"),
        "{}",
        page.text
    );
}

#[test]
fn heights_are_shares_of_the_scale() {
    let mut report = report(3, Some(DOLLAR));
    for (share, cost) in report.shares.iter_mut().zip([DOLLAR, 4 * DOLLAR, 1]) {
        share.cost = cost;
    }
    let page = written(&report);
    // The first of each colour is in the chart of money: marks at 1, 2, 3 and 4 dollars.
    let first = |class| rects(&page, class).first().copied();
    assert_eq!(first("c0"), Some("25.000%"));
    assert_eq!(first("c1"), Some("100.000%"));
    assert_eq!(first("c2"), Some("0.700%"), "what is there is seen");
    for mark in ["$0", "$1", "$2", "$3", "$4"] {
        assert!(page.text.contains(mark));
    }
}

#[test]
fn without_a_price_tokens_are_drawn() {
    let mut report = report(2, None);
    report.basis.unpriced =
        vec![UnpricedRow { model: Some("house".to_owned()), requests: 2, tokens: 2000 }];
    let page = written(&report);
    assert!(page.text.contains("Tokens by day") && !page.text.contains("Cost by day"));
    assert!(page.text.contains("No price is known of house: 2 requests, 2,000 tokens"));
    assert!(!page.text.contains("$0.00"), "no price is not nothing: {}", page.text);
}

#[test]
fn names_are_only_text() {
    let mut report = report(2, Some(DOLLAR));
    let evil = "</title></svg><script>pwned()</script>\" onload=\"x\u{202e}\n";
    let row = || ReportRow {
        name: evil.to_owned(),
        detail: evil.to_owned(),
        figures: figures(1, Some(1)),
    };
    report.models = vec![row(), row()];
    report.projects = vec![row()];
    report.tools = vec![row()];
    report.sessions = vec![row()];
    report.filters = vec![("project", evil.to_owned())];
    report.time_zone = evil.to_owned();
    report.errors = vec![Failure { tool: evil.to_owned(), error: evil.to_owned(), times: 1 }];
    report.files = vec![File { path: evil.to_owned(), sent: 1, ..File::default() }];
    report.basis.unpriced =
        vec![UnpricedRow { model: Some(evil.to_owned()), ..UnpricedRow::default() }];
    report.basis.prices =
        vec![Price { model: evil.to_owned(), source: Some(evil.to_owned()), ..Price::default() }];
    let page = written(&report);
    assert!(page.text.matches("<script>pwned()").count() >= 16, "{}", page.text);
}

#[test]
fn an_empty_report_says_so() {
    let page = written(&UsageReport::default());
    assert!(page.text.contains("Nothing to count"));
    assert_eq!(page.all("svg").count(), 0);
}

#[test]
fn rows_that_are_not_shown_are_summed() {
    let mut report = report(1, Some(DOLLAR));
    let row = |number: u64| ReportRow {
        name: format!("p{number}"),
        detail: String::new(),
        figures: figures(number, Some(DOLLAR)),
    };
    report.projects = (1..=30).map(row).collect();
    let page = written(&report);
    // 26 + … + 30 requests, and five dollars.
    assert!(
        page.text.contains("and 5 more514067%5,000$5.00"),
        "neither sessions nor time are added: {}",
        page.text
    );
}

#[test]
fn every_link_leads_to_an_existing_section() {
    for report in [report(3, Some(DOLLAR)), UsageReport::default()] {
        let page = written(&report);
        let ids: Vec<&str> = page.elements.iter().filter_map(|element| element.get("id")).collect();
        for link in page.all("a").filter_map(|a| a.get("href")) {
            assert!(ids.contains(&link.trim_start_matches('#')), "{link} in {ids:?}");
        }
        for svg in page.all("svg").filter_map(|svg| svg.get("aria-labelledby")) {
            assert!(ids.contains(&svg), "{svg}");
        }
        let mut once = ids.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), ids.len(), "{ids:?}");
    }
}
