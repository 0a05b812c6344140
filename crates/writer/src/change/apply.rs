//! Carrying out a plan: write it down, keep what was, lay ready what will be, and only then touch a file.
//!
//! Until everything lies ready a crash means that nothing happened; from then on each file is renamed into its place or
//! removed, and what is left of that can be told from the files themselves.

use std::path::Path;

use super::ChangeLock;
use super::approve::Approved;
use super::content::NewContent;
use super::disk::Disk;
use super::journal::{Record, make_private, sync};
use super::late::{Late, Latecomers};
use super::places::{Places, folders};
use super::plan::{Plan, Step};
use super::refusal::Refusal;
use super::state::{FileState, hash_file, look};
use super::turns::Turns;
use crate::Error;

impl ChangeLock<'_> {
    /// Carries out a plan and returns the id of its receipt.
    ///
    /// # Errors
    /// When something went wrong all is taken back, and the error says what. [`Error::Unfinished`] when that did not
    /// work either: the next run tries again.
    pub fn apply(&self, approved: &Approved) -> Result<String, Error> {
        let plan = approved.plan();
        let id = self.journal().begin(plan, self.now)?;
        let prepared = self.prepare(&id, plan);
        let prepared = prepared.and_then(|()| self.journal().append(&id, &Record::Prepared));
        if let Err(error) = prepared {
            let cleared = self.clear_away(&id, plan, &error.told());
            return Err(unless(cleared.is_ok(), id, error));
        }
        let mut late = Vec::new();
        if let Err(error) = self.execute(&id, plan, &mut late) {
            let back = self.take_back(&id, plan, &error.told());
            let back = back.and_then(|_| self.put_late(&late));
            return Err(unless(back.is_ok(), id, error));
        }
        // When this fails the change is made all the same, and the next run says so.
        if let Err(error) = self.journal().append(&id, &Record::Done { time: self.now }) {
            return Err(Error::Unfinished { id, source: Box::new(error) });
        }
        // What was kept for an undo that has happened is not needed any more; if it stays, the next run removes it.
        let _swept = self.sweep();
        Ok(id)
    }

    fn prepare(&self, id: &str, plan: &Plan) -> Result<(), Error> {
        let places = self.places(id);
        if look(self.disk, &places.trash())?.is_none() {
            make_private(self.disk, &places.trash())?;
            sync(self.disk, self.data)?;
        }
        make_private(self.disk, &places.folder())?;
        for folder in &plan.made {
            if look(self.disk, &folder.path)?.is_none() {
                self.disk
                    .make_folder(&folder.path, folder.mode)
                    .map_err(|source| Error::CreateFolder { path: folder.path.clone(), source })?;
            }
        }
        for (number, step) in plan.steps.iter().enumerate() {
            if let Some(before) = &step.before {
                let kept = places.kept(number, step);
                // The copy keeps the permissions, so that it comes back as it was; only its folder is private.
                lay_down(self.disk, &NewContent::of_file(&step.path), &kept, before, &step.path)?;
            }
            if let Some(after) = &step.after {
                let content = step.content.clone().unwrap_or_default();
                lay_down(self.disk, &content, &places.ready(number, step), after, &step.path)?;
            }
        }
        sync(self.disk, &places.folder())?;
        sync(self.disk, &places.trash())?;
        // Without this a power cut would only mean that all is taken back.
        self.sync_all(plan)
    }

    /// Puts every file into its place. It fails when somebody has written to one meanwhile; `late` is what.
    fn execute(&self, id: &str, plan: &Plan, late: &mut Vec<Late>) -> Result<(), Error> {
        let mut comers = Latecomers::default();
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
        comers: &mut Latecomers<'p>,
    ) -> Result<(), Error> {
        let places = self.places(id);
        let mut turns = Turns::take(self.disk, plan)?;
        for (number, step) in plan.steps.iter().enumerate() {
            turns.refresh()?;
            comers.hold(self.disk, step)?;
            self.execute_step(&places, number, step)?;
        }
        for folder in &plan.removed {
            remove_if_empty(self.disk, &folder.path)?;
        }
        self.sync_all(plan)
    }

    fn execute_step(&self, places: &Places<'_>, number: usize, step: &Step) -> Result<(), Error> {
        match (look(self.disk, &step.path)?, &step.before) {
            (None, None) => {}
            (Some(now), Some(before)) if before.looks_like(&now) => {}
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

    /// Makes sure that all names that changed are on disk.
    pub(crate) fn sync_all(&self, plan: &Plan) -> Result<(), Error> {
        for folder in folders(plan) {
            if look(self.disk, &folder)?.is_some() {
                sync(self.disk, &folder)?;
            }
        }
        Ok(())
    }
}

/// What went wrong; if it could not be taken back either, that too.
fn unless(is_back: bool, id: String, error: Error) -> Error {
    if is_back { error } else { Error::Unfinished { id, source: Box::new(error) } }
}

/// Writes `content` to a new file at `to` and reads it back: it must be what `state` says, as it was for `of`.
pub(crate) fn lay_down(
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

/// Removes a file; it is fine if there is none.
pub(crate) fn remove(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    match disk.remove(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::RemoveFile { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Removes a folder if it is there and nothing is in it.
pub(crate) fn remove_if_empty(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    use std::io::ErrorKind::{DirectoryNotEmpty, NotFound};
    match disk.remove_folder(path) {
        Err(source) if !matches!(source.kind(), DirectoryNotEmpty | NotFound) => {
            Err(Error::RemoveFile { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
