//! What was changed and what is in the trash, told from the journals.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use recount_writer::change::{End, Entry, History, Subject};
use serde::Serialize;

use crate::guard::DEFUSED;
use crate::{Engine, Error};

/// One change that was made.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Its receipt.
    pub receipt: String,
    /// When.
    pub time: Timestamp,
    /// What was asked for.
    pub command: String,
    /// What has become of it.
    pub state: ChangeState,
    /// Whether it can be undone, as far as the journals tell.
    pub undoable: bool,
    /// The change that it took back.
    pub undoes: Option<String>,
    /// The sessions it was about.
    pub sessions: Vec<Subject>,
    /// How many files it changed.
    pub files: usize,
    /// How many bytes it removed or replaced.
    pub bytes: u64,
    /// Files that others had changed when it was taken back.
    pub left: Vec<PathBuf>,
}

/// What has become of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeState {
    /// It is in force.
    Done,
    /// Some of it was undone.
    PartlyUndone,
    /// It was undone.
    Undone,
    /// It failed, and was taken back.
    TakenBack,
    /// A crash has cut it short; the next change ends it.
    CutShort,
}

impl ChangeState {
    /// Returns it in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::PartlyUndone => "partly undone",
            Self::Undone => "undone",
            Self::TakenBack => "taken back",
            Self::CutShort => "cut short",
        }
    }
}

/// A session in the trash.
#[derive(Clone, Debug, Serialize)]
pub struct Trashed {
    /// The receipt of its deletion.
    pub receipt: String,
    /// When it was deleted.
    pub time: Timestamp,
    /// The session.
    pub session: Subject,
    /// Where its files were.
    pub files: Vec<PathBuf>,
    /// Their size.
    pub bytes: u64,
}

impl Engine {
    /// Lists what was changed, the newest first.
    ///
    /// # Errors
    /// If the journals cannot be read.
    pub fn history(&self) -> Result<Vec<Change>, Error> {
        let history = self.changes_made()?;
        let changes = history.changes().iter().rev().map(|entry| change(&history, entry));
        Ok(changes.collect())
    }

    /// Lists journals that are not understood, with the reason.
    ///
    /// # Errors
    /// If the journals cannot be read.
    pub fn damaged_journals(&self) -> Result<Vec<(PathBuf, String)>, Error> {
        Ok(self.changes_made()?.damaged().to_vec())
    }

    /// Lists the sessions in the trash, the last one first.
    ///
    /// # Errors
    /// If the journals cannot be read.
    pub fn trash(&self) -> Result<Vec<Trashed>, Error> {
        let history = self.changes_made()?;
        let mut trash = Vec::new();
        // What guard takes away is no session, but what lies beside one.
        let is_deletion = |entry: &&Entry| !entry.emptied && entry.plan.command != DEFUSED;
        for entry in history.changes().iter().rev().filter(is_deletion) {
            let mut gone: BTreeMap<&str, (Vec<PathBuf>, u64)> = BTreeMap::new();
            for number in history.in_force(entry) {
                let Some(step) = entry.plan.steps.get(number) else { continue };
                if let (Some(id), Some(before)) = (&step.session, &step.before) {
                    let (files, bytes) = gone.entry(id).or_default();
                    files.push(step.path.clone());
                    *bytes += before.bytes;
                }
            }
            // What was moved or rewritten is still there.
            for step in entry.plan.steps.iter().filter(|step| step.after.is_some()) {
                step.session.iter().for_each(|id| drop(gone.remove(id.as_str())));
            }
            for session in &entry.plan.sessions {
                if let Some((files, bytes)) = gone.remove(session.id.as_str()) {
                    let (receipt, time) = (entry.id.clone(), entry.time);
                    trash.push(Trashed { receipt, time, session: session.clone(), files, bytes });
                }
            }
        }
        Ok(trash)
    }
}

fn change(history: &History, entry: &Entry) -> Change {
    let in_force = history.in_force(entry).len();
    let mut left = Vec::new();
    let state = match &entry.end {
        End::Begun | End::Prepared => ChangeState::CutShort,
        End::TakenBack { left: theirs, .. } => {
            left.clone_from(theirs);
            ChangeState::TakenBack
        }
        End::Done if in_force == 0 => ChangeState::Undone,
        End::Done if in_force < entry.plan.steps.len() => ChangeState::PartlyUndone,
        End::Done => ChangeState::Done,
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
