//! Recovery after a crash: each unfinished change is finished or rolled back.
//!
//! Progress is not recorded but determined from the files: a file has its old content, its new content, or content that
//! another process wrote, which is never touched.

use std::path::{Path, PathBuf};

use super::ChangeLock;
use super::agent_locks::AgentLocks;
use super::apply::{remove, remove_if_empty, write_verified};
use super::content::NewContent;
use super::journal::{JournalEnd, JournalEntry, Record};
use super::places::Places;
use super::plan::{Plan, Step};
use super::state::{FileState, metadata};
use crate::Error;

/// The outcome of an interrupted change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Its receipt.
    pub id: String,
    /// The command.
    pub command: String,
    /// Whether it was finished, rather than rolled back.
    pub finished: bool,
    /// Files that others had changed meanwhile, and that were not touched.
    pub left: Vec<PathBuf>,
}

impl ChangeLock<'_> {
    /// Finishes or rolls back interrupted changes. A change is rolled back if `is_live` reports that somebody uses its
    /// sessions.
    ///
    /// # Errors
    /// If that fails; the next run tries again.
    pub fn recover(&self, is_live: &dyn Fn(&Plan) -> bool) -> Result<Vec<Recovered>, Error> {
        let entries = self.journal().entries()?;
        for path in &entries.incomplete {
            remove(self.disk, path)?;
        }
        let mut recovered = Vec::new();
        for entry in &entries.known {
            let why = "it was cut short";
            let mut left = Vec::new();
            let mut finished = false;
            match entry.end {
                JournalEnd::Done | JournalEnd::TakenBack { .. } => continue,
                JournalEnd::Begun => self.discard_staged(&entry.id, &entry.plan, why)?,
                JournalEnd::Prepared if !is_live(&entry.plan) && self.can_finish(entry)? => {
                    self.finish(entry)?;
                    finished = true;
                }
                JournalEnd::Prepared => left = self.roll_back(&entry.id, &entry.plan, why)?,
            }
            let (id, command) = (entry.id.clone(), entry.plan.command.clone());
            recovered.push(Recovered { id, command, finished, left });
        }
        self.remove_unneeded_copies()?;
        Ok(recovered)
    }

    /// Whether every file is in its old or new state, and everything needed to continue is intact.
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
        let mut turns = AgentLocks::take(self.disk, &entry.plan)?;
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

    /// Restores every file to its old state. Returns those that another process has changed meanwhile: they are not
    /// touched, and copies of their old state are kept in the trash.
    pub(crate) fn roll_back(
        &self,
        id: &str,
        plan: &Plan,
        why: &str,
    ) -> Result<Vec<PathBuf>, Error> {
        let places = self.places(id);
        let mut turns = AgentLocks::take(self.disk, plan)?;
        for folder in plan.removed.iter().rev() {
            if metadata(self.disk, &folder.path)?.is_none() && needs(plan, &folder.path) {
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
                // It was not changed, or is already restored.
            } else if now.is(step.after.as_ref()) {
                self.bring_back(&places, number, step)?;
            } else {
                left.push(step.path.clone());
            }
        }
        // Copies are deleted only after everything is restored and synced.
        self.sync_all(plan)?;
        self.tidy(&places, plan, why, &left)?;
        Ok(left)
    }

    /// Removes the staged files of a change of which nothing was carried out.
    pub(crate) fn discard_staged(&self, id: &str, plan: &Plan, why: &str) -> Result<(), Error> {
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
        // On the same disk the copy itself is moved back, which takes no space.
        if self.disk.rename(&kept, &step.path).is_ok() {
            return Ok(());
        }
        let ready = places.ready(number, step);
        remove(self.disk, &ready)?;
        write_verified(self.disk, &NewContent::of_file(&kept), &ready, before, &kept)?;
        self.disk
            .rename(&ready, &step.path)
            .map_err(|source| Error::ReplaceFile { path: step.path.clone(), source })
    }

    /// Whether a file of recount's own has the expected content; none need exist if there was none.
    fn is_whole(&self, path: &Path, state: Option<&FileState>) -> Result<bool, Error> {
        Ok(state.is_none() || Found::at(self, path)?.is(state))
    }

    /// Removes all copies of a change.
    pub(crate) fn forget_copies(&self, places: &Places<'_>) -> Result<(), Error> {
        let folder = places.folder();
        if metadata(self.disk, &folder)?.is_none() {
            return Ok(());
        }
        let unread = |source| Error::ReadFile { path: folder.clone(), source };
        for path in self.disk.list(&folder).map_err(unread)? {
            remove(self.disk, &path)?;
        }
        remove_if_empty(self.disk, &folder)
    }

    /// Returns the paths of a change.
    pub(crate) fn places<'a>(&'a self, id: &'a str) -> Places<'a> {
        Places { data: self.data, id }
    }
}

/// Whether a folder contains a file that may have to be restored.
fn needs(plan: &Plan, folder: &Path) -> bool {
    plan.steps.iter().any(|step| step.before.is_some() && step.path.starts_with(folder))
}

/// What exists at a path.
enum Found {
    Nothing,
    File(FileState),
    /// Not a file, so not recount's.
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
