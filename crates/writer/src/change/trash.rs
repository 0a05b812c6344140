//! Copies that are kept for undo, and their deletion.

use super::ChangeLock;
use super::apply::{remove, remove_if_empty};
use super::journal::{JournalEnd, JournalEntry, Record};
use super::state::metadata;
use super::undo::History;
use crate::Error;

impl ChangeLock<'_> {
    /// Deletes the copies of some changes: they can no longer be undone.
    ///
    /// # Errors
    /// If a copy cannot be removed; the next run tries again.
    pub fn empty(&self, changes: &[JournalEntry]) -> Result<(), Error> {
        for entry in changes.iter().filter(|entry| entry.end == JournalEnd::Done && !entry.emptied)
        {
            self.journal().append(&entry.id, &Record::Emptied { time: self.now })?;
            self.forget_copies(&self.places(&entry.id))?;
        }
        Ok(())
    }

    /// Removes copies that are no longer needed: of restored files, and of emptied changes. A power cut may have brought
    /// some of them back.
    pub(crate) fn remove_unneeded_copies(&self) -> Result<(), Error> {
        let history = History::read(self.disk, self.data)?;
        for entry in history.changes() {
            let places = self.places(&entry.id);
            if metadata(self.disk, &places.folder())?.is_none() {
                continue;
            }
            match &entry.end {
                JournalEnd::Done if !entry.emptied => {}
                JournalEnd::TakenBack { left, .. } if !left.is_empty() => continue,
                JournalEnd::Begun | JournalEnd::Prepared => continue,
                JournalEnd::Done | JournalEnd::TakenBack { .. } => {
                    self.forget_copies(&places)?;
                    continue;
                }
            }
            let in_force = history.in_force(entry);
            for (number, step) in entry.plan.steps.iter().enumerate() {
                if step.before.is_some() && !in_force.contains(&number) {
                    remove(self.disk, &places.kept(number, step))?;
                }
            }
            remove_if_empty(self.disk, &places.folder())?;
        }
        Ok(())
    }
}
