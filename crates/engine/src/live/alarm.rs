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
#[derive(Clone, Debug, PartialEq)]
pub struct LiveAlarm {
    /// The key of the row that it is about; `None` for the budget.
    pub row: Option<String>,
    /// Why it is raised.
    pub reason: AlarmReason,
}

/// A reason for an alarm. Reasons about a session carry a name: its folder's, else its agent's.
#[derive(Clone, Debug, PartialEq)]
pub enum AlarmReason {
    /// It waits for the user's approval.
    Approve(String),
    /// It has finished a long turn.
    Yours(String),
    /// It failed.
    Failed(String),
    /// It ended in the middle of a turn.
    Gone(String),
    /// Its context is nearly full.
    Context(String),
    /// It repeats the same call.
    Circling(String),
    /// A budget is used up.
    Budget {
        /// What the budget is for.
        period: BudgetPeriod,
        /// What was spent, in dollars.
        spent_usd: f64,
        /// The budget, in dollars.
        limit_usd: f64,
    },
}

impl AlarmReason {
    /// Returns the name of the rule, which never changes, unlike the words.
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::Approve(_) => "approve",
            Self::Yours(_) => "yours",
            Self::Failed(_) => "failed",
            Self::Gone(_) => "gone",
            Self::Context(_) => "context",
            Self::Circling(_) => "circling",
            Self::Budget { .. } => "budget",
        }
    }
}

/// A period with a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetPeriod {
    /// Today.
    Day,
    /// This month.
    Month,
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
        if let Some(reason) = over_budget(rows, spending, now) {
            let key = (String::new(), reason.rule());
            if self.raised.get(&key).is_none_or(|last| now - last >= BUDGET_AGAIN) {
                self.raised.insert(key, now);
                alarms.push(LiveAlarm { row: None, reason });
            }
        }
        for row in rows {
            let key = row.key();
            for reason in self.reasons(row, &key, now) {
                let raised = (key.clone(), reason.rule());
                let last = self.raised.get(&raised);
                if last.is_some_and(|last| now - last < COOL_DOWN) {
                    continue;
                }
                self.raised.insert(raised, now);
                alarms.push(LiveAlarm { row: Some(key.clone()), reason });
            }
        }
        alarms
    }

    fn reasons(&mut self, row: &LiveRow, key: &str, now: i64) -> Vec<AlarmReason> {
        let folder = row.session.folder.as_deref().and_then(|path| path.rsplit('/').next());
        let name = || folder.unwrap_or(row.session.source.as_str()).to_owned();
        let mut reasons = Vec::new();
        let began = self.working.get(key).copied();
        match row.state {
            LiveState::Approve if now - row.since >= APPROVE_AFTER => {
                reasons.push(AlarmReason::Approve(name()));
            }
            LiveState::Yours if began.is_some_and(|began| row.since - began >= LONG_TURN) => {
                reasons.push(AlarmReason::Yours(name()));
            }
            LiveState::Failed => reasons.push(AlarmReason::Failed(name())),
            LiveState::Gone => reasons.push(AlarmReason::Gone(name())),
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
            reasons.push(AlarmReason::Context(name()));
        }
        if row.session.circling.is_some() {
            reasons.push(AlarmReason::Circling(name()));
        }
        reasons
    }
}

/// Returns the budget that is used up, if one is.
fn over_budget(rows: &[LiveRow], spending: Option<&Spending>, now: i64) -> Option<AlarmReason> {
    let (spending, per_minute) = (spending?, dollars_per_minute(rows));
    let periods = [
        (BudgetPeriod::Day, spending.today(per_minute, now)),
        (BudgetPeriod::Month, spending.month(per_minute, now)),
    ];
    periods.into_iter().find_map(|(period, one)| {
        let limit_usd = one.limit_usd.filter(|limit| one.spent_usd >= *limit)?;
        Some(AlarmReason::Budget { period, spent_usd: one.spent_usd, limit_usd })
    })
}
