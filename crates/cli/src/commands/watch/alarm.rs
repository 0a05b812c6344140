//! Alarms: on a change only, and not again for a while.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use recount_engine::Engine;
use recount_engine::live::{LiveFacts, LiveRow};
use recount_model::LiveState;
use recount_platform::notify_program;
use serde_json::json;

use super::document::{rate, session};
use crate::context::Context;
use crate::output::sanitize::single_line;

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

/// Says that a budget is used up, if one is.
fn over_budget(rows: &[LiveRow], facts: &LiveFacts, now: i64) -> Option<String> {
    let spending = facts.spending()?;
    let per_minute = rate(rows);
    let periods =
        [("day", spending.today(per_minute, now)), ("month", spending.month(per_minute, now))];
    periods.into_iter().find_map(|(name, one)| {
        let limit = one.limit_usd.filter(|limit| one.spent_usd >= *limit)?;
        Some(format!("the budget of the {name} is used up: ${:.2} of ${limit:.2}", one.spent_usd))
    })
}

/// Raises alarms.
#[derive(Debug)]
pub(super) struct Alarms {
    is_on: bool,
    program: Vec<String>,
    raised: BTreeMap<(String, &'static str), i64>,
    /// When each session began to work.
    working: BTreeMap<String, i64>,
}

impl Alarms {
    pub(super) fn new(engine: &Engine, is_on: bool) -> Self {
        let program = engine.alarm_program().to_vec();
        Self { is_on, program, raised: BTreeMap::new(), working: BTreeMap::new() }
    }

    /// Raises the alarms that rows give reason for.
    pub(super) fn check(
        &mut self,
        rows: &[LiveRow],
        facts: &LiveFacts,
        now: i64,
        context: &Context,
    ) {
        if !self.is_on {
            return;
        }
        if let Some(words) = over_budget(rows, facts, now) {
            let key = (String::new(), "budget");
            if self.raised.get(&key).is_none_or(|last| now - last >= BUDGET_AGAIN) {
                self.raised.insert(key, now);
                self.raise(None, facts, "budget", &words, now, context);
            }
        }
        self.raised.retain(|_, last| now - *last < BUDGET_AGAIN);
        let keys: Vec<String> =
            rows.iter().map(|row| format!("{}:{}", row.session.source, row.session.key)).collect();
        self.working.retain(|key, _| keys.contains(key));
        for row in rows {
            let key = format!("{}:{}", row.session.source, row.session.key);
            for (rule, words) in self.reasons(row, &key, now) {
                let last = self.raised.get(&(key.clone(), rule));
                if last.is_some_and(|last| now - last < COOL_DOWN) {
                    continue;
                }
                self.raised.insert((key.clone(), rule), now);
                self.raise(Some(row), facts, rule, &words, now, context);
            }
        }
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

    fn raise(
        &self,
        row: Option<&LiveRow>,
        facts: &LiveFacts,
        rule: &'static str,
        words: &str,
        now: i64,
        context: &Context,
    ) {
        let words = single_line(words);
        if context.on_terminal() {
            let term = context.env.text("TERM").unwrap_or_default();
            let note = if term.contains("kitty") {
                format!("\x1b]99;;{words}\x1b\\")
            } else if term.starts_with("rxvt") || term.starts_with("foot") {
                format!("\x1b]777;notify;recount;{words}\x1b\\")
            } else {
                format!("\x1b]9;{words}\x1b\\")
            };
            // Nobody is left to tell when the terminal is gone.
            let _rung = write!(io::stderr(), "\x07{note}");
        } else {
            Context::say(&format!("alarm: {words}"));
        }
        if let Some((program, args)) = self.program.split_first() {
            let document = json!({
                "schema": "recount.alarm/1",
                "rule": rule,
                "text": words,
                "session": row.map(|row| session(row, facts, now)),
            });
            if let Err(error) = notify_program(program, args, document.to_string().as_bytes()) {
                context.warn(&format!("the alarm program {program} cannot be started: {error}"));
            }
        }
    }
}
