//! What every session on the machine is doing right now.
//!
//! Sources say what their files, processes and titles mean ([`recount_formats::live`]); here these come in, from the system or from a
//! recording, and become the rows of a board.

mod alarm;
mod board;
mod day;
mod facts;
mod folders;
mod hooks;
mod recorder;
mod replay;
mod spending;
mod table;
mod tail;
mod titles;
mod watcher;

pub use alarm::{AlarmReason, BudgetPeriod, LiveAlarm, LiveAlarms, dollars_per_minute};
pub use board::{LiveBoard, LiveEvent, LiveEventKind, LiveRate, LiveRow};
pub use facts::LiveFacts;
pub use hooks::hook_log;
pub use recorder::Recorder;
pub use replay::{Replay, ReplayStep};
pub use spending::{Projection, Spending};
pub(crate) use table::TableProcesses;
pub use watcher::LiveWatch;

use recount_model::{LiveState, SessionId, SourceName};

use crate::Engine;

/// A session that a process works in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveOwner {
    /// The agent.
    pub source: SourceName,
    /// The session.
    pub session: SessionId,
    /// The process.
    pub process: Option<u32>,
}

impl Engine {
    /// Returns the program that the user has set for alarms, with its arguments.
    pub fn alarm_program(&self) -> &[String] {
        &self.config.alarm.run
    }

    /// Returns which sessions processes work in now, by one look; `None` if the processes cannot be seen.
    pub fn live_owners(&self) -> Option<Vec<LiveOwner>> {
        let rows = LiveWatch::look(self)?.rows();
        let running =
            rows.into_iter().filter(|row| !matches!(row.state, LiveState::Done | LiveState::Gone));
        let owner = |row: LiveRow| {
            let session = row.session.id?;
            Some(LiveOwner { source: row.session.source, session, process: row.session.process })
        };
        Some(running.filter_map(owner).collect())
    }
}
