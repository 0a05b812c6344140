//! Holds back states that may last for a moment only.
//!
//! Between an answer and the call it asks for, between a process that ended and its last record, the signals of a moment look like the
//! end of a turn. A state that calls somebody must last before it is shown; all others are shown at once.

use std::collections::BTreeMap;

use recount_model::{LiveSession, LiveSignal, LiveState};

/// A turn that is said to be over must be over for this time.
const OVER: i64 = 500;
/// The same if that is only inferred.
const OVER_INFERRED: i64 = 1000;
/// A process that vanished must be gone for this time.
const GONE: i64 = 500;

/// What is shown of each session.
#[derive(Debug, Default)]
pub(crate) struct Steady {
    by_key: BTreeMap<String, Shown>,
}

#[derive(Debug)]
struct Shown {
    state: LiveState,
    certain: bool,
    signals: Vec<LiveSignal>,
    /// What is to be shown next, and since when.
    next: Option<(LiveState, i64)>,
}

fn delay(session: &LiveSession) -> i64 {
    match session.state {
        LiveState::Yours if session.certain => OVER,
        LiveState::Yours => OVER_INFERRED,
        LiveState::Gone => GONE,
        LiveState::Approve
        | LiveState::Tool
        | LiveState::Working
        | LiveState::Idle
        | LiveState::Failed
        | LiveState::Done => 0,
    }
}

impl Steady {
    /// Replaces states that have not lasted long enough by what was shown before. What is seen for the first time is shown as it is.
    pub(crate) fn apply(&mut self, sessions: &mut [LiveSession], now: i64) {
        let mut before = std::mem::take(&mut self.by_key);
        for session in sessions {
            let key = format!("{}:{}", session.source, session.key);
            let held = before.remove(&key).and_then(|shown| hold(shown, session, now));
            let shown = held.unwrap_or_else(|| Shown {
                state: session.state,
                certain: session.certain,
                signals: session.signals.clone(),
                next: None,
            });
            self.by_key.insert(key, shown);
        }
    }
}

/// Puts what was shown before into a session whose state is too young. Returns it, if that is so.
fn hold(mut shown: Shown, session: &mut LiveSession, now: i64) -> Option<Shown> {
    let delay = delay(session);
    if shown.state == session.state || delay == 0 {
        return None;
    }
    let since = shown.next.filter(|(state, _)| *state == session.state).map_or(now, |(_, at)| at);
    // A clock that was set back starts again.
    let since = since.min(now);
    if now - since >= delay {
        return None;
    }
    shown.next = Some((session.state, since));
    session.state = shown.state;
    session.certain = shown.certain;
    session.signals.clone_from(&shown.signals);
    Some(shown)
}

#[cfg(test)]
mod tests {
    use recount_model::{LiveTerminal, LiveUsage, SourceName};

    use super::*;

    fn session(state: LiveState, certain: bool) -> LiveSession {
        let signals = vec![LiveSignal { from: "records", says: state.as_str().to_owned(), at: 1 }];
        LiveSession {
            source: SourceName::new("toy"),
            key: "7".to_owned(),
            id: None,
            process: Some(7),
            started: None,
            folder: None,
            headless: false,
            state,
            certain,
            signals,
            tool: None,
            doing: None,
            context: None,
            model: None,
            usage: LiveUsage::default(),
            subagents: Vec::new(),
            terminal: LiveTerminal::default(),
            circling: None,
        }
    }

    /// Plays states at their times, and returns what is shown at each.
    fn play(states: &[(i64, LiveState, bool)]) -> Vec<LiveState> {
        let mut steady = Steady::default();
        let shown = states.iter().map(|&(now, state, certain)| {
            let mut all = [session(state, certain)];
            steady.apply(&mut all, now);
            let [one] = all;
            assert_eq!(
                one.signals[0].says,
                one.state.as_str(),
                "the reasons are those of the state"
            );
            one.state
        });
        shown.collect()
    }

    #[test]
    fn only_what_lasts_calls_somebody() {
        use LiveState::{Approve, Gone, Tool, Working, Yours};
        assert_eq!(play(&[(0, Yours, false)]), [Yours], "nothing else is known");
        let flicker =
            [(0, Working, true), (100, Yours, true), (400, Tool, true), (500, Yours, true)];
        assert_eq!(play(&flicker), [Working, Working, Tool, Tool]);
        let over = [(0, Tool, true), (100, Yours, true), (599, Yours, true), (600, Yours, true)];
        assert_eq!(play(&over), [Tool, Tool, Tool, Yours]);
        let inferred =
            [(0, Tool, true), (100, Yours, false), (1000, Yours, false), (1100, Yours, false)];
        assert_eq!(play(&inferred), [Tool, Tool, Tool, Yours]);
        let told = [(0, Working, true), (100, Yours, false), (650, Yours, true)];
        assert_eq!(
            play(&told),
            [Working, Working, Yours],
            "what is told later counts from the guess on"
        );
        let gone = [
            (0, Working, true),
            (100, Gone, true),
            (300, Working, true),
            (400, Gone, true),
            (900, Gone, true),
        ];
        assert_eq!(play(&gone), [Working, Working, Working, Working, Gone]);
        assert_eq!(play(&[(0, Yours, true), (10, Approve, false)]), [Yours, Approve]);
        let back =
            [(9000, Tool, true), (9100, Yours, true), (100, Yours, true), (600, Yours, true)];
        assert_eq!(play(&back), [Tool, Tool, Tool, Yours], "the clock was set back");
    }
}
