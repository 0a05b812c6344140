//! Alarms: on a change only, and not again for a while.

use std::collections::BTreeMap;

use recount_model::LiveState;

use super::{LiveRow, Spending};

/// The same alarm is not raised again within this time.
const COOL_DOWN: i64 = 5 * 60 * 1000;
/// A permission that is given within this time needs no alarm.
const APPROVE_AFTER: i64 = 10 * 1000;
/// The end of a turn that took at least this long is worth an alarm.
const LONG_TURN: i64 = 2 * 60 * 1000;
/// So full a context is worth an alarm, in percent.
const FULL: u64 = 85;
/// A budget that is used up is said again after so long.
const BUDGET_AGAIN: i64 = 24 * 60 * 60 * 1000;

/// An alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveAlarm {
    /// The key of the row that it is about; `None` for the budget.
    pub row: Option<String>,
    /// The rule: `approve`, `yours`, `failed`, `gone`, `context`, `circling` or `budget`.
    pub rule: &'static str,
    /// What it says.
    pub words: String,
}

/// Decides which alarms are due.
#[derive(Debug, Default)]
pub struct LiveAlarms {
    raised: BTreeMap<(String, &'static str), i64>,
    /// When each session began to work.
    working: BTreeMap<String, i64>,
}

impl LiveRow {
    /// Returns what tells the row from all others.
    pub fn key(&self) -> String {
        format!("{}:{}", self.session.source, self.session.key)
    }

    /// Whether the run is over.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, LiveState::Done | LiveState::Gone)
            || (self.state == LiveState::Failed && self.session.headless)
    }
}

/// Returns the dollars a minute of all sessions, over the last ten minutes.
pub fn dollars_per_minute(rows: &[LiveRow]) -> f64 {
    rows.iter().map(|row| row.rates[1].usd).sum()
}

impl LiveAlarms {
    /// Returns the alarms that rows give reason for at a moment, each once.
    pub fn check(
        &mut self,
        rows: &[LiveRow],
        spending: Option<&Spending>,
        now: i64,
    ) -> Vec<LiveAlarm> {
        let mut alarms = Vec::new();
        // What was raised long ago, and rows that are gone, are forgotten.
        self.raised.retain(|_, last| now - *last < BUDGET_AGAIN);
        let keys: Vec<String> = rows.iter().map(LiveRow::key).collect();
        self.working.retain(|key, _| keys.contains(key));
        if let Some(words) = over_budget(rows, spending, now) {
            let key = (String::new(), "budget");
            if self.raised.get(&key).is_none_or(|last| now - last >= BUDGET_AGAIN) {
                self.raised.insert(key, now);
                alarms.push(LiveAlarm { row: None, rule: "budget", words });
            }
        }
        for row in rows {
            let key = row.key();
            for (rule, words) in self.reasons(row, &key, now) {
                let last = self.raised.get(&(key.clone(), rule));
                if last.is_some_and(|last| now - last < COOL_DOWN) {
                    continue;
                }
                self.raised.insert((key.clone(), rule), now);
                alarms.push(LiveAlarm { row: Some(key.clone()), rule, words });
            }
        }
        alarms
    }

    fn reasons(&mut self, row: &LiveRow, key: &str, now: i64) -> Vec<(&'static str, String)> {
        let folder = row.session.folder.as_deref().and_then(|path| path.rsplit('/').next());
        let name = folder.unwrap_or(row.session.source.as_str());
        let mut reasons = Vec::new();
        let began = self.working.get(key).copied();
        match row.state {
            LiveState::Approve if now - row.since >= APPROVE_AFTER => {
                reasons.push(("approve", format!("{name} waits for your approval")));
            }
            LiveState::Yours if began.is_some_and(|began| row.since - began >= LONG_TURN) => {
                reasons.push(("yours", format!("{name} has finished its turn")));
            }
            LiveState::Failed => reasons.push(("failed", format!("{name} failed"))),
            LiveState::Gone => {
                reasons.push(("gone", format!("{name} ended in the middle of a turn")));
            }
            LiveState::Approve
            | LiveState::Yours
            | LiveState::Tool
            | LiveState::Working
            | LiveState::Idle
            | LiveState::Done => {}
        }
        if row.state.is_open() {
            self.working.entry(key.to_owned()).or_insert(row.since);
        } else {
            self.working.remove(key);
        }
        if let Some((used, Some(window))) = row.context
            && used.saturating_mul(100) >= window.saturating_mul(FULL)
        {
            reasons.push(("context", format!("the context of {name} is nearly full")));
        }
        if row.session.circling.is_some() {
            reasons.push(("circling", format!("{name} repeats the same call")));
        }
        reasons
    }
}

/// Says that a budget is used up, if one is.
fn over_budget(rows: &[LiveRow], spending: Option<&Spending>, now: i64) -> Option<String> {
    let (spending, per_minute) = (spending?, dollars_per_minute(rows));
    let periods =
        [("day", spending.today(per_minute, now)), ("month", spending.month(per_minute, now))];
    periods.into_iter().find_map(|(name, one)| {
        let limit = one.limit_usd.filter(|limit| one.spent_usd >= *limit)?;
        Some(format!("the budget of the {name} is used up: ${:.2} of ${limit:.2}", one.spent_usd))
    })
}
