//! The watchers: rows as they change, and what runs. They work only while somebody listens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use recount_display::project_names::ProjectNames;
use recount_display::words;
use recount_documents::{live_board, live_title};
use recount_engine::live::{LiveAlarm, LiveAlarms, LiveFacts, LiveRow};
use recount_engine::{Snapshot, WatchEvent, WatchMode};
use recount_model::{Clock, SessionFacts, SessionKey};
use serde_json::{Value, json};

use super::Watcher;
use crate::api::reading::version;
use crate::api::rows::{Beside, ShortRows, key_text};
use crate::app::App;

/// Changes that wait already are sent in one event, but none waits longer than this.
const LONGEST: Duration = Duration::from_millis(60);
/// How often a watcher looks whether somebody still listens.
const LOOK: Duration = Duration::from_secs(1);
/// What is at risk is looked up again at most this often.
const RISK: Duration = Duration::from_secs(30);
/// While a session works, its rates are looked at this often.
const RATES: Duration = Duration::from_secs(2);
/// While none does.
const NOBODY: Duration = Duration::from_secs(5);
/// The shortest time between two events with the board.
const BOARD: Duration = Duration::from_millis(100);
/// With more rows than these, a reset is sent, and readers ask for all.
const ROWS: usize = 500;

const POLLING: &str = "the system does not report file changes here; files are checked each second";
const BLIND: &str = "processes cannot be listed here, so no session is seen to run";

impl App {
    fn tell(&self, name: &'static str, slot: Option<String>, mut data: Value) {
        self.mask.value(&mut data);
        self.hub.tell(name, slot, &data);
    }

    fn tell_problem(&self, message: &str) {
        self.tell("problem", None, json!({"message": message}));
    }
}

/// Sends rows as they change. `known` is the snapshot that readers may have rows of.
pub(super) fn watch_rows(app: &Arc<App>, known: Option<Snapshot>) {
    let watched = app.snapshot(&()).and_then(|first| {
        let subscription = app.engine.watch_from(&first, WatchMode::Events)?;
        Ok((subscription, known.unwrap_or(first).number()))
    });
    let (subscription, known) = match watched {
        Ok(watched) => watched,
        Err(error) => {
            app.tell_problem(&error.full_message());
            return app.hub.ended(Watcher::Rows);
        }
    };
    let first = subscription.snapshot();
    // No event tells how this one differs.
    let is_newer = known < first.number();
    app.publish(first);
    app.is_watched.store(true, Ordering::Release);
    if is_newer {
        app.tell("reset", None, json!({}));
    }
    let mut risk = Risk::default();
    let mut is_polling = false;
    while app.hub.goes_on(Watcher::Rows) {
        if !is_polling && matches!(subscription.mode(), WatchMode::Polling(_)) {
            is_polling = true;
            app.tell_problem(POLLING);
        }
        let Some(event) = subscription.next(LOOK) else { continue };
        let mut events = vec![event];
        let begun = Instant::now();
        while begun.elapsed() < LONGEST
            && let Some(event) = subscription.next(Duration::ZERO)
        {
            events.push(event);
        }
        let snapshot = subscription.snapshot();
        app.publish(snapshot.clone());
        tell_changes(app, events, &snapshot, &mut risk);
    }
    app.is_watched.store(false, Ordering::Release);
}

/// What is at risk, and when that was looked up.
#[derive(Debug, Default)]
struct Risk {
    beside: Beside,
    at: Option<Instant>,
}

fn tell_changes(app: &App, events: Vec<WatchEvent>, snapshot: &Snapshot, risk: &mut Risk) {
    let mut changed: BTreeMap<SessionKey, Arc<SessionFacts>> = BTreeMap::new();
    let mut gone: BTreeSet<SessionKey> = BTreeSet::new();
    let mut grown: BTreeSet<SessionKey> = BTreeSet::new();
    for event in events {
        match event {
            WatchEvent::Added(facts) => {
                gone.remove(&facts.key());
                changed.insert(facts.key(), facts);
            }
            WatchEvent::Changed(change) => {
                grown.insert(change.after.key());
                changed.insert(change.after.key(), change.after);
            }
            WatchEvent::Gone(facts) => {
                changed.remove(&facts.key());
                grown.remove(&facts.key());
                gone.insert(facts.key());
            }
            WatchEvent::Problems(problems) => {
                for problem in problems.iter().take(10) {
                    app.tell_problem(&problem.to_string());
                }
            }
            WatchEvent::Project(_) => {}
            WatchEvent::Reset => return app.tell("reset", None, json!({})),
        }
    }
    if changed.len() > ROWS {
        return app.tell("reset", None, json!({}));
    }
    for key in &grown {
        if let Some(facts) = changed.get(key) {
            let text = key_text(key);
            let data =
                json!({"key": text, "version": version(facts), "total": facts.counts.messages});
            app.tell("tail", Some(format!("tail {text}")), data);
        }
    }
    let engine = app.engine.at(snapshot);
    if risk.at.is_none_or(|at| at.elapsed() > RISK) {
        risk.at = Some(Instant::now());
        risk.beside.at_risk = Arc::new(engine.at_risk(&()).unwrap_or_default());
    }
    risk.beside.read = engine.read_marks();
    risk.beside.labels = engine.labels_by_session().unwrap_or_default();
    let mut sessions: Vec<Arc<SessionFacts>> =
        changed.into_values().filter(|facts| !facts.is_background).collect();
    engine.price(&mut sessions, &());
    if sessions.is_empty() && gone.is_empty() {
        return;
    }
    let names = ProjectNames::of(snapshot.sessions().iter().map(|session| &*session.project));
    let rows = ShortRows::new(&sessions, &names, &risk.beside);
    let gone: Vec<String> = gone.iter().map(key_text).collect();
    // A later event with the same single row replaces it.
    let slot = match sessions.as_slice() {
        [one] if gone.is_empty() => Some(format!("row {}", key_text(&one.key()))),
        _ => None,
    };
    let data = json!({
        "number": snapshot.number(),
        "projects": rows.projects,
        "rows": rows.rows,
        "gone": gone,
    });
    app.tell("rows", slot, data);
}

/// Sends the live board as it changes.
pub(super) fn watch_live(app: &Arc<App>) {
    let mut watch = app.engine.watch_live();
    let mut facts = app.engine.live_facts();
    let mut alarms = LiveAlarms::default();
    let mut rows = watch.rows();
    facts.update(&rows, true);
    // What is so from the start is seen, and no change.
    alarms.check(&rows, None, now());
    tell_board(app, &rows, &facts);
    let (mut is_polling, mut is_blind) = (false, false);
    while app.hub.goes_on(Watcher::Live) {
        let is_open = rows.iter().any(|row| row.state.is_open());
        let begun = Instant::now();
        let Ok((new, events)) = watch.next(if is_open { RATES } else { NOBODY }) else { break };
        if !std::mem::replace(&mut is_polling, !watch.is_told()) && is_polling {
            app.tell_problem(POLLING);
        }
        if !std::mem::replace(&mut is_blind, watch.is_blind()) && is_blind {
            app.tell_problem(BLIND);
        }
        let has_facts = facts.update(&new, !events.is_empty());
        for alarm in alarms.check(&new, facts.spending(), now()) {
            tell_alarm(app, &alarm, &new, &facts);
        }
        let rates = |rows: &[LiveRow]| rows.iter().map(|row| row.rates).collect::<Vec<_>>();
        let is_other = !events.is_empty() || has_facts || rates(&new) != rates(&rows);
        rows = new;
        if is_other {
            tell_board(app, &rows, &facts);
            std::thread::sleep(BOARD.saturating_sub(begun.elapsed()));
        }
    }
    app.hub.set_board(None);
    app.hub.ended(Watcher::Live);
}

fn now() -> i64 {
    Clock::system().now().as_millisecond()
}

fn tell_board(app: &App, rows: &[LiveRow], facts: &LiveFacts) {
    let mut board = live_board(rows, facts, now());
    app.mask.value(&mut board);
    let board = Arc::new(board);
    app.hub.set_board(Some(Arc::clone(&board)));
    app.hub.tell("live", Some("live".to_owned()), &board);
}

fn tell_alarm(app: &App, alarm: &LiveAlarm, rows: &[LiveRow], facts: &LiveFacts) {
    let row = alarm.row.as_ref().and_then(|key| rows.iter().find(|row| row.key() == *key));
    let id = row.and_then(|row| row.session.id.as_ref().map(|id| (row.session.source, id)));
    app.tell(
        "alarm",
        None,
        json!({
            "key": id.map(|(source, id)| format!("{source}/{id}")),
            "rule": alarm.reason.rule(),
            "title": row.and_then(|row| live_title(row, facts)),
            "text": words::alarm(&alarm.reason),
        }),
    );
}
