//! Carries out a plan: writes the journal, copies the old files, stages the new ones, and only then changes a file.
//!
//! Until everything is staged, a crash means that nothing happened. From then on each file is renamed into place or
//! removed, and the progress can be determined from the files themselves.

use std::path::Path;

use super::ChangeLock;
use super::agent_locks::AgentLocks;
use super::approve::Approved;
use super::content::NewContent;
use super::disk::Disk;
use super::journal::{Record, make_private, sync};
use super::late::{LateWrite, OpenFiles};
use super::places::{Places, folders};
use super::plan::{Plan, Step};
use super::refusal::Refusal;
use super::state::{FileState, hash_file, metadata};
use crate::Error;

impl ChangeLock<'_> {
    /// Carries out a plan and returns the id of its receipt.
    ///
    /// # Errors
    /// If something fails, everything is rolled back, and the error has the cause. [`Error::Unfinished`] if the rollback
    /// failed too: the next run tries again.
    pub fn apply(&self, approved: &Approved) -> Result<String, Error> {
        let plan = approved.plan();
        let id = self.journal().begin(plan, self.now)?;
        let prepared = self.prepare(&id, plan);
        let prepared = prepared.and_then(|()| self.journal().append(&id, &Record::Prepared));
        if let Err(error) = prepared {
            let cleared = self.discard_staged(&id, plan, &error.full_message());
            return Err(unless(cleared.is_ok(), id, error));
        }
        let mut late = Vec::new();
        if let Err(error) = self.execute(&id, plan, &mut late) {
            let back = self.roll_back(&id, plan, &error.full_message());
            let back = back.and_then(|_| self.move_late_writes(&late));
            return Err(unless(back.is_ok(), id, error));
        }
        // If this fails, the change is still made, and the next run reports it.
        if let Err(error) = self.journal().append(&id, &Record::Done { time: self.now }) {
            return Err(Error::Unfinished { id, source: Box::new(error) });
        }
        // Copies kept for an undo that has happened are no longer needed; if they stay, the next run removes them.
        let _swept = self.remove_unneeded_copies();
        Ok(id)
    }

    fn prepare(&self, id: &str, plan: &Plan) -> Result<(), Error> {
        let places = self.places(id);
        if metadata(self.disk, &places.trash())?.is_none() {
            make_private(self.disk, &places.trash())?;
            sync(self.disk, self.data)?;
        }
        make_private(self.disk, &places.folder())?;
        for folder in &plan.made {
            if metadata(self.disk, &folder.path)?.is_none() {
                self.disk
                    .make_folder(&folder.path, folder.mode)
                    .map_err(|source| Error::CreateFolder { path: folder.path.clone(), source })?;
            }
        }
        for (number, step) in plan.steps.iter().enumerate() {
            if let Some(before) = &step.before {
                let kept = places.kept(number, step);
                // The copy keeps the permissions, so that it can be restored as it was; only its folder is private.
                write_verified(
                    self.disk,
                    &NewContent::of_file(&step.path),
                    &kept,
                    before,
                    &step.path,
                )?;
            }
            if let Some(after) = &step.after {
                let content = step.content.clone().unwrap_or_default();
                write_verified(
                    self.disk,
                    &content,
                    &places.ready(number, step),
                    after,
                    &step.path,
                )?;
            }
        }
        sync(self.disk, &places.folder())?;
        sync(self.disk, &places.trash())?;
        // Without this, a power cut would only cause a rollback.
        self.sync_all(plan)
    }

    /// Puts every file into place. Fails if another process has written to one meanwhile; `late` has what was written.
    fn execute(&self, id: &str, plan: &Plan, late: &mut Vec<LateWrite>) -> Result<(), Error> {
        let mut comers = OpenFiles::default();
        let done = self.execute_steps(id, plan, &mut comers);
        *late = comers.all()?;
        done?;
        match late.first() {
            Some(late) => Err(Refusal::Changed { path: late.path().to_owned() }.into()),
            None => Ok(()),
        }
    }

    fn execute_steps<'p>(
        &'p self,
        id: &str,
        plan: &'p Plan,
        comers: &mut OpenFiles<'p>,
    ) -> Result<(), Error> {
        let places = self.places(id);
        let mut locks = AgentLocks::take(self.disk, plan)?;
        for (number, step) in plan.steps.iter().enumerate() {
            locks.refresh()?;
            comers.hold(self.disk, step)?;
            self.execute_step(&places, number, step)?;
        }
        for folder in &plan.removed {
            remove_if_empty(self.disk, &folder.path)?;
        }
        self.sync_all(plan)
    }

    fn execute_step(&self, places: &Places<'_>, number: usize, step: &Step) -> Result<(), Error> {
        match (metadata(self.disk, &step.path)?, &step.before) {
            (None, None) => {}
            (Some(now), Some(before)) if before.matches_metadata(&now) => {}
            _ => return Err(Refusal::Changed { path: step.path.clone() }.into()),
        }
        if step.after.is_some() {
            let ready = places.ready(number, step);
            return self
                .disk
                .rename(&ready, &step.path)
                .map_err(|source| Error::ReplaceFile { path: step.path.clone(), source });
        }
        remove(self.disk, &step.path)
    }

    /// Syncs all folders in which names changed.
    pub(crate) fn sync_all(&self, plan: &Plan) -> Result<(), Error> {
        for folder in folders(plan) {
            if metadata(self.disk, &folder)?.is_some() {
                sync(self.disk, &folder)?;
            }
        }
        Ok(())
    }
}

/// Returns the cause; if the rollback failed too, [`Error::Unfinished`].
fn unless(is_back: bool, id: String, error: Error) -> Error {
    if is_back { error } else { Error::Unfinished { id, source: Box::new(error) } }
}

/// Writes `content` to a new file at `to` and reads it back: it must match `state`, which was measured for `of`.
pub(crate) fn write_verified(
    disk: &dyn Disk,
    content: &NewContent,
    to: &Path,
    state: &FileState,
    of: &Path,
) -> Result<(), Error> {
    let mut file =
        disk.create(to).map_err(|source| Error::CreateFile { path: to.to_owned(), source })?;
    let (_, hash) = content.write(disk, &mut *file, to)?;
    if Some(hash) != state.hash {
        return Err(Refusal::Changed { path: of.to_owned() }.into());
    }
    file.finish(state.modified, state.mode)
        .map_err(|source| Error::SyncFile { path: to.to_owned(), source })?;
    let (_, written) = hash_file(disk, to)?;
    if Some(written) != state.hash {
        return Err(Error::NotAsWritten { path: to.to_owned() });
    }
    Ok(())
}

/// Removes a file, if it exists.
pub(crate) fn remove(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    match disk.remove(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::RemoveFile { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Removes a folder, if it exists and is empty.
pub(crate) fn remove_if_empty(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    use std::io::ErrorKind::{DirectoryNotEmpty, NotFound};
    match disk.remove_folder(path) {
        Err(source) if !matches!(source.kind(), DirectoryNotEmpty | NotFound) => {
            Err(Error::RemoveFile { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
