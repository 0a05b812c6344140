//! What all screens share.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use recount_engine::ReadMarks;
use recount_engine::live::LiveRow;
use recount_model::{LiveState, SessionFacts, SessionKey};
use recount_platform::Folders;

use crate::rows::Rows;
use crate::settings::AppSettings;

/// What all screens share. It changes only between updates.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The moment of this update.
    pub(crate) now: Timestamp,
    /// The size of the terminal.
    pub(crate) size: (u16, u16),
    /// The user's folders.
    pub(crate) folders: Folders,
    /// The folder that the app was started in.
    pub(crate) here: Option<PathBuf>,
    /// What the user has set.
    pub(crate) settings: AppSettings,
    /// All sessions.
    pub(crate) rows: Arc<Rows>,
    /// How much has been read, while reading.
    pub(crate) reading: Option<(u64, u64)>,
    /// What runs now.
    pub(crate) live: Arc<Vec<LiveRow>>,
    /// The state of each session that runs.
    pub(crate) states: HashMap<SessionKey, LiveState>,
    /// Rows of the board that were acknowledged, with the state that they were in.
    pub(crate) quiet: HashMap<String, LiveState>,
    /// Whether alarms are off.
    pub(crate) is_muted: bool,
    /// Sessions that their agent's next start deletes.
    pub(crate) at_risk: HashSet<SessionKey>,
    /// How far sessions were read, here or in the browser.
    pub(crate) read: Arc<ReadMarks>,
    /// The number of problems that the tab shows.
    pub(crate) problems: usize,
    /// Whether the data is made up.
    pub(crate) is_demo: bool,
    /// The folders that are read.
    pub(crate) roots: Vec<PathBuf>,
}

impl Shared {
    /// Returns a session.
    pub(crate) fn session(&self, key: &SessionKey) -> Option<&Arc<SessionFacts>> {
        self.rows.get(key)
    }

    /// Returns the number of running sessions that wait for the user.
    pub(crate) fn waiting(&self) -> usize {
        self.live.iter().filter(|row| self.needs_you(row)).count()
    }

    /// Whether a session waits for the user, who has not acknowledged it.
    pub(crate) fn needs_you(&self, row: &LiveRow) -> bool {
        matches!(row.state, LiveState::Approve | LiveState::Yours | LiveState::Failed)
            && !row.has_ended()
            && self.quiet.get(&row.key()) != Some(&row.state)
    }
}
