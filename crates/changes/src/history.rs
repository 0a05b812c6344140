//! The history of changes, from the journals.

use std::path::PathBuf;

use jiff::Timestamp;
use recount_writer::change::{History, JournalEnd, JournalEntry, Plan, Subject};
use serde::Serialize;

use crate::{Changes, Error};

/// One change that was made.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Its receipt.
    pub receipt: String,
    /// When.
    pub time: Timestamp,
    /// The command.
    pub command: String,
    /// Its current state.
    pub state: ChangeState,
    /// Whether it can be undone, as far as the journals show.
    pub undoable: bool,
    /// The change that it undid.
    pub undoes: Option<String>,
    /// The sessions it was about.
    pub sessions: Vec<Subject>,
    /// The number of files it changed.
    pub files: usize,
    /// The number of bytes it removed or replaced.
    pub bytes: u64,
    /// Files that others had changed when it was rolled back.
    pub left: Vec<PathBuf>,
}

/// The state of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeState {
    /// It is in force.
    Done,
    /// Some of it was undone.
    PartlyUndone,
    /// It was undone.
    Undone,
    /// It failed, and was rolled back.
    TakenBack,
    /// It was interrupted by a crash; the next change finishes it or rolls it back.
    CutShort,
}

impl Changes<'_> {
    /// Lists the changes, newest first.
    ///
    /// # Errors
    /// If the journals cannot be read.
    pub fn history(self) -> Result<Vec<Change>, Error> {
        let history = self.changes_made()?;
        let changes = history.changes().iter().rev().map(|entry| change(&history, entry));
        Ok(changes.collect())
    }

    /// Returns the plan of a change that was made: each file before and after.
    ///
    /// # Errors
    /// If the journals cannot be read, or there is no such change.
    pub fn plan_of(self, receipt: &str) -> Result<Plan, Error> {
        Ok(self.changes_made()?.find(Some(receipt))?.plan.clone())
    }

    /// Lists invalid journals, with the reason.
    ///
    /// # Errors
    /// If the journals cannot be read.
    pub fn damaged_journals(self) -> Result<Vec<(PathBuf, String)>, Error> {
        Ok(self.changes_made()?.damaged().to_vec())
    }
}

fn change(history: &History, entry: &JournalEntry) -> Change {
    let in_force = history.in_force(entry).len();
    let mut left = Vec::new();
    let state = match &entry.end {
        JournalEnd::Begun | JournalEnd::Prepared => ChangeState::CutShort,
        JournalEnd::TakenBack { left: theirs, .. } => {
            left.clone_from(theirs);
            ChangeState::TakenBack
        }
        JournalEnd::Done if in_force == 0 => ChangeState::Undone,
        JournalEnd::Done if in_force < entry.plan.steps.len() => ChangeState::PartlyUndone,
        JournalEnd::Done => ChangeState::Done,
    };
    Change {
        receipt: entry.id.clone(),
        time: entry.time,
        command: entry.plan.command.clone(),
        state,
        undoable: in_force > 0 && !entry.emptied,
        undoes: entry.plan.undoes.as_ref().map(|undoes| undoes.receipt.clone()),
        sessions: entry.plan.sessions.clone(),
        files: entry.plan.steps.len(),
        bytes: entry.plan.bytes_before(),
        left,
    }
}
