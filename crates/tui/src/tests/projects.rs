//! Projects.

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use recount_display::number::price;
use recount_engine::ListQuery;
use recount_engine::stats::{By, Money, StatsRequest};

use super::Driver;

#[test]
fn projects_are_filtered_and_sorted() {
    let mut app = Driver::demo(140, 40);
    app.press("4");
    insta::assert_snapshot!("projects", app.screen());
    let names = |app: &mut Driver| -> Vec<String> {
        let screen = app.screen();
        let rows = screen.lines().skip(3).take_while(|line| !line.trim().is_empty());
        rows.map(|row| row.split_whitespace().nth(1).unwrap().to_owned()).collect()
    };
    let newest = names(&mut app);
    app.press("s s");
    let largest = names(&mut app);
    assert_eq!(largest.first().unwrap(), "shop");
    app.press("S");
    assert_eq!(names(&mut app), largest.iter().rev().cloned().collect::<Vec<_>>());
    app.press("s n");
    assert_eq!(names(&mut app).get(1).unwrap(), "order-import");
    app.press("s u");
    assert_eq!(names(&mut app), newest);
    app.press("/").type_text("unknown");
    assert_eq!(names(&mut app), ["?"]);
    app.press("esc");
    assert_eq!(names(&mut app), newest);
    app.press("/").type_text("nothing like it").press("enter");
    assert!(app.screen().contains("no project matches 'nothing like it'"), "{}", app.screen());
    app.press("esc");
    assert_eq!(names(&mut app), newest);
}

#[test]
fn a_project_costs_what_statistics_say() {
    let mut app = Driver::demo(140, 40);
    let asked = StatsRequest {
        sessions: ListQuery::default(),
        zone: TimeZone::UTC,
        gap: SignedDuration::from_mins(30),
    };
    let report = app.engine.stats(&asked, By::Project, &()).unwrap();
    assert!(report.basis.duplicates.elsewhere > 0, "a fork must hold copies");
    app.press("4");
    let screen = app.exact_screen();
    for row in &report.rows {
        let name = row.name.as_deref().unwrap();
        let line = screen.lines().find(|line| line.split_whitespace().any(|word| word == name));
        let line = line.unwrap_or_else(|| panic!("{name}:\n{screen}"));
        let dollars = row.figures.cost_usd.map(Money::dollars);
        let cost = price(dollars, row.figures.cost_is_lower_bound);
        assert!(line.split_whitespace().any(|word| word == cost), "{name} {cost}: {line}");
    }
}

#[test]
fn a_project_without_a_folder_says_what_to_do() {
    let mut app = Driver::demo(80, 24);
    app.press("4 G m");
    assert!(app.said().contains("recount projects --scan"), "{}", app.said());
    app.press("i");
    insta::assert_snapshot!("unlocated", app.screen());
}

#[test]
fn an_empty_home_has_no_projects_problems_or_changes() {
    let mut app = Driver::empty(80, 24);
    assert!(app.press("4").screen().contains("no projects found"));
    assert!(app.press("6").screen().contains("no problems found"));
    assert!(app.press("7").screen().contains("no changes yet"));
    app.press("l");
    assert!(app.screen().contains("the trash is empty"), "{}", app.screen());
    app.press("right");
    assert!(app.screen().contains("the vault is empty"), "{}", app.screen());
    app.press("a 7 z");
    assert!(!app.said().is_empty());
}
