//! Changes as they happen.

use std::fs;
use std::time::{Duration, Instant};

use recount_engine::{Subscription, WatchEvent, WatchMode};

use super::{Place, add_beside, append};

const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for a change that is looked for.
#[expect(clippy::panic, reason = "a test may fail by panic")]
fn wait(subscription: &Subscription, is_it: impl Fn(&WatchEvent) -> bool) -> WatchEvent {
    let end = Instant::now() + PATIENCE;
    while let Some(event) = subscription.next(end.saturating_duration_since(Instant::now())) {
        if is_it(&event) {
            return event;
        }
    }
    panic!("not told within {PATIENCE:?}");
}

fn follow(mode: WatchMode) {
    let place = Place::new(6, 0.3);
    let engine = place.engine("data");
    let (first, second) = (engine.watch(mode).unwrap(), engine.watch(mode).unwrap());
    let log = place.log();
    append(&log, 1);
    for subscription in [&first, &second] {
        let event = wait(subscription, |event| matches!(event, WatchEvent::Changed(_)));
        let WatchEvent::Changed(change) = event else { unreachable!() };
        assert_eq!(change.appended.map(|appended| appended.messages), Some(1));
    }
    let new = add_beside(&log, 99);
    let added = wait(&first, |event| matches!(event, WatchEvent::Added(_)));
    assert!(matches!(added, WatchEvent::Added(facts) if facts.id.as_str().starts_with("00000063")));
    fs::remove_file(new).unwrap();
    let gone = wait(&first, |event| matches!(event, WatchEvent::Gone(_)));
    assert!(matches!(gone, WatchEvent::Gone(facts) if facts.id.as_str().starts_with("00000063")));
    let fresh = place.engine("fresh").snapshot(&()).unwrap();
    let newest = first.snapshot();
    let ids = |snapshot: &recount_engine::Snapshot| -> Vec<String> {
        snapshot.sessions().iter().map(|facts| facts.id.to_string()).collect()
    };
    assert_eq!(ids(&newest), ids(&fresh));
}

#[test]
fn changes_are_told_as_the_system_tells_them() {
    follow(WatchMode::Events);
}

#[test]
fn changes_are_told_where_the_system_cannot_tell() {
    follow(WatchMode::Polling(Duration::from_millis(50)));
}

#[test]
fn nothing_runs_while_nobody_listens() {
    let place = Place::new(3, 0.1);
    let engine = place.engine("data");
    let threads = || fs::read_dir("/proc/self/task").map(Iterator::count).unwrap_or_default();
    let subscription = engine.watch(WatchMode::Events).unwrap();
    assert_eq!(subscription.mode(), WatchMode::Events);
    drop(subscription);
    // Another test of this process may start threads meanwhile: what counts is that ours can be started again.
    let again = engine.watch(WatchMode::Polling(Duration::from_millis(50))).unwrap();
    assert_eq!(again.mode(), WatchMode::Polling(Duration::from_millis(50)), "{}", threads());
}
