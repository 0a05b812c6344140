//! Alarms: on a change only, and not again for a while.

use std::io::{self, Write as _};

use recount_display::live::notification;
use recount_documents::live_session;
use recount_engine::Engine;
use recount_engine::live::{AlarmReason, LiveAlarms, LiveFacts, LiveRow};
use recount_platform::notify_program;
use serde_json::json;

use crate::context::Context;
use crate::output::sanitize::single_line;
use crate::words;

/// Raises alarms.
#[derive(Debug)]
pub(super) struct Alarms {
    is_on: bool,
    program: Vec<String>,
    due: LiveAlarms,
}

impl Alarms {
    pub(super) fn new(engine: &Engine, is_on: bool) -> Self {
        Self { is_on, program: engine.alarm_program().to_vec(), due: LiveAlarms::default() }
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
        for alarm in self.due.check(rows, facts.spending(), now) {
            let row = rows.iter().find(|row| Some(row.key()) == alarm.row);
            self.raise(row, facts, &alarm.reason, now, context);
        }
    }

    fn raise(
        &self,
        row: Option<&LiveRow>,
        facts: &LiveFacts,
        reason: &AlarmReason,
        now: i64,
        context: &Context,
    ) {
        let words = single_line(&words::alarm(reason));
        if context.on_terminal() {
            let term = context.env.text("TERM").unwrap_or_default();
            // Nobody is left to tell when the terminal is gone.
            let _rung = write!(io::stderr(), "{}", notification(term, &words));
        } else {
            Context::say(&format!("alarm: {words}"));
        }
        if let Some((program, args)) = self.program.split_first() {
            let document = json!({
                "schema": "recount.alarm/1",
                "rule": reason.rule(),
                "text": words,
                "session": row.map(|row| live_session(row, facts, now)),
            });
            if let Err(error) = notify_program(program, args, document.to_string().as_bytes()) {
                context.warn(&format!("the alarm program {program} cannot be started: {error}"));
            }
        }
    }
}
