//! After a crash: each change that was begun and not ended is finished or taken back.
//!
//! What was done is not remembered but seen: a file holds what it held before, what it should hold after, or something that
//! somebody else wrote, which is never touched.

use std::path::{Path, PathBuf};

use super::ChangeLock;
use super::apply::{lay_down, remove, remove_if_empty};
use super::content::NewContent;
use super::journal::{JournalEnd, JournalEntry, Record};
use super::places::Places;
use super::plan::{Plan, Step};
use super::state::{FileState, look};
use super::turns::Turns;
use crate::Error;

/// The outcome of a change that a crash had interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Its receipt.
    pub id: String,
    /// What was asked for.
    pub command: String,
    /// Whether it was finished, rather than taken back.
    pub finished: bool,
    /// Files that others had changed meanwhile, and that were left alone.
    pub left: Vec<PathBuf>,
}

impl ChangeLock<'_> {
    /// Finishes or takes back what a crash has cut short. Where `is_live` says that somebody works in its sessions, it is
    /// taken back.
    ///
    /// # Errors
    /// If that does not work; the next run tries again.
    pub fn recover(&self, is_live: &dyn Fn(&Plan) -> bool) -> Result<Vec<Recovered>, Error> {
        let entries = self.journal().entries()?;
        for path in &entries.stillborn {
            remove(self.disk, path)?;
        }
        let mut recovered = Vec::new();
        for entry in &entries.known {
            let why = "it was cut short";
            let mut left = Vec::new();
            let mut finished = false;
            match entry.end {
                JournalEnd::Done | JournalEnd::TakenBack { .. } => continue,
                JournalEnd::Begun => self.clear_away(&entry.id, &entry.plan, why)?,
                JournalEnd::Prepared if !is_live(&entry.plan) && self.can_finish(entry)? => {
                    self.finish(entry)?;
                    finished = true;
                }
                JournalEnd::Prepared => left = self.take_back(&entry.id, &entry.plan, why)?,
            }
            let (id, command) = (entry.id.clone(), entry.plan.command.clone());
            recovered.push(Recovered { id, command, finished, left });
        }
        self.sweep()?;
        Ok(recovered)
    }

    /// Whether every file is before or after its step, and all that is needed to go on is whole.
    fn can_finish(&self, entry: &JournalEntry) -> Result<bool, Error> {
        let places = self.places(&entry.id);
        for (number, step) in entry.plan.steps.iter().enumerate() {
            let now = Found::at(self, &step.path)?;
            let kept = || self.is_whole(&places.kept(number, step), step.before.as_ref());
            let ready = || self.is_whole(&places.ready(number, step), step.after.as_ref());
            let can = now.is(step.after.as_ref())
                || (now.is(step.before.as_ref()) && kept()? && ready()?);
            if !can {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn finish(&self, entry: &JournalEntry) -> Result<(), Error> {
        let places = self.places(&entry.id);
        let mut open = Vec::new();
        for (number, step) in entry.plan.steps.iter().enumerate() {
            if !Found::at(self, &step.path)?.is(step.after.as_ref()) {
                open.push((number, step));
            } else if step.after.is_some() {
                remove(self.disk, &places.ready(number, step))?;
            }
        }
        let mut turns = Turns::take(self.disk, &entry.plan)?;
        for (number, step) in open {
            turns.refresh()?;
            match step.after {
                Some(_) => self
                    .disk
                    .rename(&places.ready(number, step), &step.path)
                    .map_err(|source| Error::ReplaceFile { path: step.path.clone(), source })?,
                None => remove(self.disk, &step.path)?,
            }
        }
        for folder in &entry.plan.removed {
            remove_if_empty(self.disk, &folder.path)?;
        }
        self.sync_all(&entry.plan)?;
        self.journal().append(&entry.id, &Record::Done { time: self.now })
    }

    /// Brings every file back to what it was. Returns those that somebody else has changed meanwhile: they are left alone,
    /// and what they were is kept in the trash.
    pub(crate) fn take_back(
        &self,
        id: &str,
        plan: &Plan,
        why: &str,
    ) -> Result<Vec<PathBuf>, Error> {
        let places = self.places(id);
        let mut turns = Turns::take(self.disk, plan)?;
        for folder in plan.removed.iter().rev() {
            if look(self.disk, &folder.path)?.is_none() && needs(plan, &folder.path) {
                self.disk
                    .make_folder(&folder.path, folder.mode)
                    .map_err(|source| Error::CreateFolder { path: folder.path.clone(), source })?;
            }
        }
        let mut left = Vec::new();
        for (number, step) in plan.steps.iter().enumerate().rev() {
            turns.refresh()?;
            let now = Found::at(self, &step.path)?;
            if now.is(step.before.as_ref()) {
                // It was not touched, or is back already.
            } else if now.is(step.after.as_ref()) {
                self.bring_back(&places, number, step)?;
            } else {
                left.push(step.path.clone());
            }
        }
        // First all is back for certain, then copies go.
        self.sync_all(plan)?;
        self.tidy(&places, plan, why, &left)?;
        Ok(left)
    }

    /// Removes what was laid ready for a change of which nothing was carried out.
    pub(crate) fn clear_away(&self, id: &str, plan: &Plan, why: &str) -> Result<(), Error> {
        self.tidy(&self.places(id), plan, why, &[])
    }

    fn tidy(
        &self,
        places: &Places<'_>,
        plan: &Plan,
        why: &str,
        left: &[PathBuf],
    ) -> Result<(), Error> {
        for (number, step) in plan.steps.iter().enumerate().filter(|(_, s)| s.after.is_some()) {
            remove(self.disk, &places.ready(number, step))?;
        }
        for folder in plan.made.iter().rev() {
            remove_if_empty(self.disk, &folder.path)?;
        }
        if left.is_empty() {
            self.forget_copies(places)?;
        }
        self.sync_all(plan)?;
        let (time, why, left) = (self.now, why.to_owned(), left.to_owned());
        self.journal().append(places.id, &Record::TakenBack { time, why, left })
    }

    fn bring_back(&self, places: &Places<'_>, number: usize, step: &Step) -> Result<(), Error> {
        let Some(before) = &step.before else { return remove(self.disk, &step.path) };
        let kept = places.kept(number, step);
        if !self.is_whole(&kept, Some(before))? {
            return Err(Error::NotAsWritten { path: kept });
        }
        // On the same disk the copy itself goes back, which takes no room.
        if self.disk.rename(&kept, &step.path).is_ok() {
            return Ok(());
        }
        let ready = places.ready(number, step);
        remove(self.disk, &ready)?;
        lay_down(self.disk, &NewContent::of_file(&kept), &ready, before, &kept)?;
        self.disk
            .rename(&ready, &step.path)
            .map_err(|source| Error::ReplaceFile { path: step.path.clone(), source })
    }

    /// Whether a file of ours holds what it should; nothing need be there when there was nothing.
    fn is_whole(&self, path: &Path, state: Option<&FileState>) -> Result<bool, Error> {
        Ok(state.is_none() || Found::at(self, path)?.is(state))
    }

    /// Removes all copies of a change.
    pub(crate) fn forget_copies(&self, places: &Places<'_>) -> Result<(), Error> {
        let folder = places.folder();
        if look(self.disk, &folder)?.is_none() {
            return Ok(());
        }
        let unread = |source| Error::ReadFile { path: folder.clone(), source };
        for path in self.disk.list(&folder).map_err(unread)? {
            remove(self.disk, &path)?;
        }
        remove_if_empty(self.disk, &folder)
    }

    /// Returns where the files of a change lie.
    pub(crate) fn places<'a>(&'a self, id: &'a str) -> Places<'a> {
        Places { data: self.data, id }
    }
}

/// Whether a file that may have to come back lies in a folder.
fn needs(plan: &Plan, folder: &Path) -> bool {
    plan.steps.iter().any(|step| step.before.is_some() && step.path.starts_with(folder))
}

/// What lies at a path.
enum Found {
    Nothing,
    File(FileState),
    /// No file, so not ours.
    Other,
}

impl Found {
    fn at(change_lock: &ChangeLock<'_>, path: &Path) -> Result<Self, Error> {
        match FileState::of(change_lock.disk, path) {
            Ok(Some(state)) => Ok(Self::File(state)),
            Ok(None) => Ok(Self::Nothing),
            Err(Error::Refused(_)) => Ok(Self::Other),
            Err(error) => Err(error),
        }
    }

    fn is(&self, state: Option<&FileState>) -> bool {
        match (self, state) {
            (Self::Nothing, None) => true,
            (Self::File(now), Some(state)) => now.same_bytes(state),
            _ => false,
        }
    }
}
