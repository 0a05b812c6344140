//! The live board, with rows of recordings.

use std::path::Path;
use std::sync::Arc;

use recount_engine::live::{AlarmReason, LiveAlarm, LiveRow};
use recount_model::{LiveState, LiveSubagent};

use super::{Driver, now};
use crate::effect::{Answer, Event};
use crate::keys::Place;
use crate::work::{Alarmed, LiveNews, Slot};

/// Plays a recording until a row is in a state.
fn recorded(app: &Driver, recording: &str, state: LiveState) -> LiveRow {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recordings").join(recording);
    let mut replay = app.engine.replay(&path.join("timeline.jsonl")).unwrap();
    while let Some(step) = replay.step() {
        if let Some(row) = step.rows.into_iter().find(|row| row.state == state) {
            return row;
        }
    }
    panic!("{recording} has no {state:?}");
}

/// A row in a folder, in its state for some seconds.
fn row(app: &Driver, recording: &str, state: LiveState, folder: &str, seconds: i64) -> LiveRow {
    let mut row = recorded(app, recording, state);
    row.session.folder = Some(format!("/home/u/code/{folder}"));
    row.session.key = folder.to_owned();
    row.since = now().as_millisecond() - seconds * 1000;
    row
}

pub(super) fn news(app: &mut Driver, rows: Vec<LiveRow>) {
    let news = LiveNews(Arc::new(rows));
    app.event(Event::Answer(Answer::new(Slot::Feed, 0, Box::new(news))));
}

/// Four agents: one waits, one runs a tool, one is idle, one has failed.
pub(super) fn agents(app: &Driver) -> Vec<LiveRow> {
    let mut waits = row(app, "gemini-cli/0.60.0/c-approval", LiveState::Approve, "shop", 14);
    waits.context = Some((71_000, Some(1_000_000)));
    waits.rates[0] = recount_engine::live::LiveRate { tokens: 4100, usd: 0.03 };
    let mut tool = row(app, "codex/0.144.6/c-approval", LiveState::Tool, "tinyparse", 151);
    tool.context = Some((380_000, Some(1_000_000)));
    tool.rates = [recount_engine::live::LiveRate { tokens: 90_000, usd: 0.21 }; 2];
    tool.session.certain = false;
    tool.session.subagents = vec![LiveSubagent {
        id: "investigator".to_owned(),
        is_working: true,
        changed: now().as_millisecond() - 40_000,
    }];
    let mut idle =
        row(app, "gemini-cli/0.60.0/c-approval", LiveState::Yours, "release-tools", 2460);
    idle.state = LiveState::Idle;
    let mut ended = row(app, "gemini-cli/0.60.0/c-approval", LiveState::Yours, "weather", 192);
    ended.state = LiveState::Failed;
    ended.session.headless = true;
    vec![waits, tool, idle, ended]
}

fn board(width: u16, height: u16) -> Driver {
    let mut app = Driver::demo(width, height);
    app.press("3");
    let rows = agents(&app);
    news(&mut app, rows);
    app
}

#[test]
fn nobody_runs() {
    let mut app = Driver::demo(80, 24);
    app.press("3");
    insta::assert_snapshot!(app.screen());
    assert!(!app.app.has_clock());
}

#[test]
fn agents_are_shown_in_their_sections() {
    insta::assert_snapshot!(board(80, 24).screen());
    insta::assert_snapshot!(board(140, 40).screen());
    insta::assert_snapshot!(board(40, 12).screen());
}

#[test]
fn the_cursor_stays_on_its_row() {
    let mut app = board(80, 24);
    app.press("j");
    let rows = agents(&app);
    let selected = |app: &mut Driver| {
        let buffer = app.cells();
        let is_on = |y: &u16| {
            let cell = buffer.cell((2, *y)).unwrap();
            cell.modifier.contains(ratatui::style::Modifier::REVERSED)
        };
        let y = (0..24).find(is_on).unwrap();
        app.screen().lines().nth(usize::from(y)).unwrap().to_owned()
    };
    assert!(selected(&mut app).contains("tinyparse"));
    let [mut waits, mut tool, idle, ended] = <[LiveRow; 4]>::try_from(rows).unwrap();
    tool.state = LiveState::Approve;
    waits.state = LiveState::Working;
    news(&mut app, vec![tool, waits, idle, ended]);
    assert!(selected(&mut app).contains("tinyparse"), "{}", app.screen());
    app.press("j");
    assert!(selected(&mut app).contains("shop"), "{}", app.screen());
    app.press("G");
    assert!(selected(&mut app).contains("weather"), "{}", app.screen());
    app.press("g");
    assert!(selected(&mut app).contains("tinyparse"), "{}", app.screen());
}

#[test]
fn what_was_acknowledged_is_quiet_until_it_changes() {
    let mut app = board(80, 24);
    assert_eq!(app.app.shared.waiting(), 1);
    app.press("a");
    assert_eq!(app.app.shared.waiting(), 0);
    let screen = app.screen();
    assert!(screen.contains("NEEDS YOU 0") && screen.contains("IDLE 2"), "{screen}");
    let rows = agents(&app);
    let mut changed = rows.clone();
    changed.iter_mut().take(1).for_each(|row| row.state = LiveState::Working);
    news(&mut app, changed);
    news(&mut app, rows);
    assert_eq!(app.app.shared.waiting(), 1, "it changed");
}

#[test]
fn only_what_needs_me_and_units() {
    let mut app = board(80, 24);
    app.press("!");
    let screen = app.screen();
    assert!(screen.contains("shop") && !screen.contains("tinyparse"), "{screen}");
    app.press("! b");
    assert!(app.screen().contains("$1.80/h"), "{}", app.screen());
    app.press("b");
    assert!(app.screen().contains("4.1k/min"), "{}", app.screen());
    assert!(app.app.has_clock());
    app.press("1");
    app.app.notice = None;
    assert!(!app.app.has_clock(), "time is not shown elsewhere");
}

#[test]
fn alarms_ring_unless_they_are_off() {
    let mut app = board(80, 24);
    let ring = |app: &mut Driver| {
        let alarm = LiveAlarm { row: None, reason: AlarmReason::Approve("shop".to_owned()) };
        app.event(Event::Answer(Answer::new(Slot::Feed, 0, Box::new(Alarmed(alarm)))));
        app.done.iter().filter(|done| done.starts_with("Alarm")).count()
    };
    assert_eq!(ring(&mut app), 1);
    app.press(", m");
    assert_eq!(ring(&mut app), 1);
}

#[test]
fn a_running_session_is_gone_to_and_not_resumed() {
    let mut app = board(80, 24);
    app.press("o");
    assert!(app.done.last().unwrap().starts_with("Jump("), "{:?}", app.done);
    app.press("enter");
    // Its session is read, or nothing is known of it yet.
    assert!(app.app.top().place() == Place::Reader || app.app.notice.is_some());
}
