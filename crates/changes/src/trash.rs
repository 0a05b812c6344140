//! Deleted sessions and undo data: listed, restored, deleted.
//!
//! Both are copies below `trash/`, by receipt. Only the copies of a deleted session are trash; the copies of any other
//! change are its undo data, and are never deleted unless explicitly requested.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::Timestamp;
use recount_engine::disk::SHORTEST;
use recount_writer::change::{ChangeLock, FileState, History, JournalEntry, Plan, Step, Subject};
use recount_writer::{Error as WriteError, RealDisk};
use serde::Serialize;

use crate::guard::fix::DISARM_COMMAND;
use crate::{Changes, Error};

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
    #[serde(serialize_with = "recount_model::path_text::paths")]
    pub files: Vec<PathBuf>,
    /// Their size.
    pub bytes: u64,
}

/// Undo data of a change that deleted no session: the originals of files that it replaced or removed.
#[derive(Clone, Debug, Serialize)]
pub struct UndoData {
    /// The receipt of the change.
    pub receipt: String,
    /// When it was made.
    pub time: Timestamp,
    /// The command.
    pub command: String,
    /// The sessions it was about.
    pub sessions: Vec<Subject>,
    /// The paths whose originals are kept.
    #[serde(serialize_with = "recount_model::path_text::paths")]
    pub files: Vec<PathBuf>,
    /// The size of the originals.
    pub bytes: u64,
}

/// All copies of users' files in recount's data folder: two different things, of which only the first is trash.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KeptCopies {
    /// Deleted sessions, last one first.
    pub sessions: Vec<Trashed>,
    /// Undo data of other changes, last one first.
    pub undo_data: Vec<UndoData>,
}

/// Which copies to delete permanently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emptying {
    /// Deleted sessions only.
    Sessions,
    /// Deleted sessions, and the undo data of all other changes.
    SessionsAndUndoData,
}

impl KeptCopies {
    /// Keeps only entries from before a time, if one is given.
    pub fn retain_before(&mut self, before: Option<Timestamp>) {
        let is_old = |time: Timestamp| before.is_none_or(|before| time < before);
        self.sessions.retain(|item| is_old(item.time));
        self.undo_data.retain(|item| is_old(item.time));
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.undo_data.is_empty()
    }
}

impl Changes<'_> {
    /// Lists the sessions in the trash, last one first.
    ///
    /// # Errors
    /// If the journals cannot be read.
    pub fn trash(self) -> Result<Vec<Trashed>, Error> {
        Ok(self.kept_copies()?.sessions)
    }

    /// Lists the copies of users' files: deleted sessions, and undo data of other changes.
    ///
    /// # Errors
    /// If the journals cannot be read.
    pub fn kept_copies(self) -> Result<KeptCopies, Error> {
        let history = self.changes_made()?;
        let mut kept = KeptCopies::default();
        for entry in history.changes().iter().rev().filter(|entry| !entry.emptied) {
            let copied = copied(&history, entry);
            let sessions = deleted_sessions(entry, &copied);
            if sessions.is_empty() && !copied.is_empty() {
                kept.undo_data.push(UndoData {
                    receipt: entry.id.clone(),
                    time: entry.time,
                    command: entry.plan.command.clone(),
                    sessions: entry.plan.sessions.clone(),
                    files: copied.iter().map(|(step, _)| step.path.clone()).collect(),
                    bytes: copied.iter().map(|(_, before)| before.bytes).sum(),
                });
            }
            kept.sessions.extend(sessions);
        }
        Ok(kept)
    }

    /// Plans to restore a session from the trash: the last one that was deleted if none is given.
    ///
    /// # Errors
    /// If there is none, or several, or something is in its place.
    pub(crate) fn untrash_plan(self, wanted: Option<&str>) -> Result<Plan, Error> {
        let trash = self.trash()?;
        let id = match wanted {
            Some(wanted) => pick(trash.iter().map(|item| item.session.id.as_str()), wanted)?
                .ok_or_else(|| Error::NotInTrash(wanted.to_owned()))?,
            None => trash.first().map(|last| last.session.id.clone()).ok_or(Error::EmptyTrash)?,
        };
        let receipt = trash.iter().find(|item| item.session.id == id).map(|item| &item.receipt);
        let history = self.changes_made()?;
        let entry = history.find(receipt.map(String::as_str))?;
        let is_its = |step: &Step| step.session.as_ref() == Some(&id);
        let mut plan = history.undo(&RealDisk, self.data()?, entry, is_its)?;
        "restore".clone_into(&mut plan.command);
        Ok(plan)
    }

    /// Deletes copies: all, or those from before a time. Returns the number of changes that can no longer be undone.
    ///
    /// # Errors
    /// If something cannot be removed.
    pub fn empty_trash(self, what: Emptying, before: Option<Timestamp>) -> Result<usize, Error> {
        let change_lock = ChangeLock::open(&RealDisk, self.data()?, self.engine.clock().now())?;
        let mut kept = self.kept_copies()?;
        kept.retain_before(before);
        let mut receipts: BTreeSet<String> =
            kept.sessions.into_iter().map(|item| item.receipt).collect();
        if what == Emptying::SessionsAndUndoData {
            receipts.extend(kept.undo_data.into_iter().map(|item| item.receipt));
        }
        let history = self.changes_made()?;
        let going = history.changes().iter().filter(|entry| receipts.contains(&entry.id));
        let entries: Vec<_> = going.cloned().collect();
        change_lock.empty(&entries)?;
        Ok(entries.len())
    }
}

/// Returns the steps of a change whose originals are stored, with the states of these.
fn copied<'e>(history: &History, entry: &'e JournalEntry) -> Vec<(&'e Step, &'e FileState)> {
    let in_force = history.in_force(entry);
    let steps = in_force.iter().filter_map(|number| entry.plan.steps.get(*number));
    steps.filter_map(|step| Some((step, step.before.as_ref()?))).collect()
}

/// Returns the sessions that a plan deletes, by id: its subjects of which it removes files and writes none.
pub fn deleted_ids(plan: &Plan) -> BTreeSet<&str> {
    // What guard removes is not a session, but a file beside one.
    if plan.command == DISARM_COMMAND {
        return BTreeSet::new();
    }
    let of = |steps: fn(&Step) -> bool| {
        let steps = plan.steps.iter().filter(move |step| steps(step));
        steps.filter_map(|step| step.session.as_deref()).collect::<BTreeSet<&str>>()
    };
    let gone = of(|step| step.before.is_some() && step.after.is_none());
    // A session with a moved or rewritten file still exists.
    let there = of(|step| step.after.is_some());
    let about: BTreeSet<&str> = plan.sessions.iter().map(|session| session.id.as_str()).collect();
    gone.difference(&there).copied().filter(|id| about.contains(id)).collect()
}

/// Returns the sessions that a change deleted and that are not restored.
fn deleted_sessions(entry: &JournalEntry, copied: &[(&Step, &FileState)]) -> Vec<Trashed> {
    let deleted = deleted_ids(&entry.plan);
    let mut gone: BTreeMap<&str, (Vec<PathBuf>, u64)> = BTreeMap::new();
    for (step, before) in copied {
        if let Some(id) = step.session.as_deref().filter(|id| deleted.contains(id)) {
            let (files, bytes) = gone.entry(id).or_default();
            files.push(step.path.clone());
            *bytes += before.bytes;
        }
    }
    let trashed = |session: &Subject| {
        let (files, bytes) = gone.remove(session.id.as_str())?;
        let (receipt, time) = (entry.id.clone(), entry.time);
        Some(Trashed { receipt, time, session: session.clone(), files, bytes })
    };
    entry.plan.sessions.iter().filter_map(trashed).collect()
}

/// Finds the only one of some ids with this prefix.
pub(crate) fn pick<'a>(
    ids: impl Iterator<Item = &'a str>,
    wanted: &str,
) -> Result<Option<String>, Error> {
    if wanted.chars().count() < SHORTEST {
        return Err(recount_engine::Error::TooShort(wanted.to_owned()).into());
    }
    let like: BTreeSet<&str> = ids.filter(|id| id.starts_with(wanted)).collect();
    let mut all = like.iter();
    match (like.get(wanted), all.next(), all.next()) {
        (Some(id), ..) | (None, Some(id), None) => Ok(Some((*id).to_owned())),
        (None, None, _) => Ok(None),
        (None, Some(_), Some(_)) => Err(Error::Write(WriteError::ManyReceipts(wanted.to_owned()))),
    }
}
