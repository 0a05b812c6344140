//! Statistics.

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use recount_display::number::count;
use recount_display::usage::cost;
use recount_engine::ListQuery;
use recount_engine::stats::{By, StatsRequest};

use super::Driver;

fn stats(width: u16, height: u16) -> Driver {
    let mut app = Driver::demo(width, height);
    app.press("5");
    app
}

#[test]
fn totals_chart_and_table_are_shown() {
    insta::assert_snapshot!(stats(80, 24).screen());
    insta::assert_snapshot!(stats(140, 40).screen());
    insta::assert_snapshot!(stats(40, 12).screen());
}

#[test]
fn every_dimension_has_the_figures_of_the_command() {
    let mut app = stats(200, 60);
    let dimensions = [By::Day, By::Week, By::Month, By::Project, By::Model, By::Tool, By::Source];
    for by in dimensions {
        let asked = StatsRequest {
            sessions: ListQuery::default(),
            zone: TimeZone::system(),
            gap: SignedDuration::from_mins(30),
        };
        let report = app.engine.stats(&asked, by, &()).unwrap();
        let screen = app.exact_screen();
        for row in &report.rows {
            let name = row.name.as_deref().unwrap_or(&row.key);
            let line = screen.lines().find(|line| line.trim_start().starts_with(name));
            let line = line.unwrap_or_else(|| panic!("{by:?} {name}:\n{screen}"));
            let figure = if by == By::Tool {
                count(row.figures.tool_calls)
            } else {
                count(row.figures.tokens.total)
            };
            assert!(line.contains(&figure), "{by:?} {name} {figure}: {line}");
        }
        if by != By::Tool {
            assert!(screen.contains(&cost(&report.total)), "{by:?}:\n{screen}");
        }
        app.press("b");
    }
    assert!(app.screen().contains("[day]"), "{}", app.screen());
}

#[test]
fn periods_go_back_and_forth() {
    let mut app = stats(80, 24);
    app.press("<");
    assert!(app.screen().contains("November 2026"), "{}", app.screen());
    insta::assert_snapshot!(app.screen());
    app.press("< < <");
    assert!(app.screen().contains("August 2026"), "{}", app.screen());
    app.press("> > > >");
    assert!(app.screen().contains("all time"), "{}", app.screen());
    app.press("< y c");
    let copied = app.done.last().unwrap();
    assert!(copied.contains("--by day --all --since 2026-11-01 --until 2026-11-30"), "{copied}");
}

#[test]
fn enter_shows_the_sessions_of_a_row() {
    let mut app = stats(80, 24);
    app.press("b b b");
    assert!(app.screen().contains("[project]"), "{}", app.screen());
    app.press("enter");
    assert_eq!(app.app.tab, crate::Tab::Sessions);
    let mut app = stats(80, 24);
    app.press("enter");
    let screen = app.exact_screen();
    assert!(
        screen.contains("before:2026-11-16") && !screen.contains("no session matches"),
        "{screen}"
    );
}
