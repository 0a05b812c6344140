//! Sessions in the trash: listed, brought back, thrown away.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::Timestamp;
use recount_engine::disk::SHORTEST;
use recount_writer::change::{ChangeLock, JournalEntry, Plan, Step, Subject};
use recount_writer::{Error as WriteError, RealDisk};
use serde::Serialize;

use crate::guard::fix::DEFUSED;
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
    pub files: Vec<PathBuf>,
    /// Their size.
    pub bytes: u64,
}

impl Changes<'_> {
    /// Lists the sessions in the trash, the last one first.
    ///
    /// # Errors
    /// If the journals cannot be read.
    pub fn trash(self) -> Result<Vec<Trashed>, Error> {
        let history = self.changes_made()?;
        let mut trash = Vec::new();
        // What guard takes away is no session, but what lies beside one.
        let is_deletion = |entry: &&JournalEntry| !entry.emptied && entry.plan.command != DEFUSED;
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

    /// Plans to bring a session back from the trash: the last one that was deleted if none is named.
    ///
    /// # Errors
    /// If there is none, or several, or something lies in its place.
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

    /// Throws away what is in the trash, or what of it was there before a moment. Returns how many changes cannot be undone
    /// any more.
    ///
    /// # Errors
    /// If something cannot be removed.
    pub fn empty_trash(self, before: Option<Timestamp>) -> Result<usize, Error> {
        let change_lock = ChangeLock::open(&RealDisk, self.data()?, self.engine.clock().now())?;
        let history = self.changes_made()?;
        let is_old = |time| before.is_none_or(|before| time < before);
        let old = |entry: &&JournalEntry| {
            let keeps = |number: &usize| {
                entry.plan.steps.get(*number).is_some_and(|step| step.before.is_some())
            };
            is_old(entry.time) && !entry.emptied && history.in_force(entry).iter().any(keeps)
        };
        let entries: Vec<_> = history.changes().iter().filter(old).cloned().collect();
        change_lock.empty(&entries)?;
        Ok(entries.len())
    }
}

/// Finds the one of some ids that begins like this.
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
