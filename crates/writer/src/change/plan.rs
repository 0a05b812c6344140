//! What will change, file by file, before anything does.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::content::NewContent;
use super::disk::{Disk, FileKind};
use super::refusal::Refusal;
use super::state::{FileState, hash_file, look};
use crate::Error;

/// Every file that will change, before and after. Making one changes nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Plan {
    /// What was asked for, in one word.
    pub command: String,
    /// The sessions it is about.
    pub sessions: Vec<Subject>,
    /// The files, in the order in which they are changed.
    pub steps: Vec<Step>,
    /// Folders that are made for new files, the outer ones first.
    pub made: Vec<Folder>,
    /// Folders that are removed if nothing is left in them, the inner ones first.
    pub removed: Vec<Folder>,
    /// Folders of an agent: nothing outside of them is changed.
    pub roots: Vec<PathBuf>,
    /// Folders by whose existence an agent's processes take turns; they are made while files change.
    pub locks: Vec<PathBuf>,
    /// Files by whose locks an agent's processes take turns; those that are there are locked while files change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_locks: Vec<PathBuf>,
    /// The change that this one takes back.
    pub undoes: Option<Undoes>,
    /// The paths of all these.
    #[serde(skip)]
    pub(super) paths: StepPaths,
}

/// The paths of a plan's steps and removed folders, as far as they were met: found without a look at each.
#[derive(Clone, Debug, Default)]
pub(super) struct StepPaths {
    known: HashSet<PathBuf>,
    steps: usize,
    /// The folders that are removed.
    removed: HashSet<PathBuf>,
}

impl StepPaths {
    /// Adds the steps that are new. When others were taken away, it begins again.
    fn follow(&mut self, steps: &[Step]) {
        let last = self.steps.checked_sub(1);
        let is_there = last
            .is_none_or(|last| steps.get(last).is_some_and(|step| self.known.contains(&step.path)));
        if !is_there {
            (self.known, self.steps) = (HashSet::new(), 0);
        }
        let new = steps.get(self.steps..).unwrap_or_default();
        self.known.extend(new.iter().map(|step| step.path.clone()));
        self.steps = steps.len();
    }
}

/// A session that a plan is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The agent.
    pub source: String,
    /// The session's id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// The path of its project.
    pub project: Option<String>,
}

/// One file, before and after.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    /// Where it lies.
    pub path: PathBuf,
    /// What it is to the session, for people.
    pub what: String,
    /// The session it belongs to.
    pub session: Option<String>,
    /// What is there; nothing for a new file.
    pub before: Option<FileState>,
    /// What will be there; nothing for a file that goes to the trash.
    pub after: Option<FileState>,
    /// Where a file that goes away goes to, if it is moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<PathBuf>,
    /// What will be in it. Not written down: the file that is laid ready is.
    #[serde(skip)]
    pub(crate) content: Option<NewContent>,
}

/// A folder and its permissions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// Where it lies.
    pub path: PathBuf,
    /// Its permissions; the system's usual ones if it is not said.
    pub mode: Option<u32>,
}

/// Which steps of an earlier change are taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undoes {
    /// The receipt of that change.
    pub receipt: String,
    /// The numbers of its steps.
    pub steps: Vec<usize>,
}

/// What a step says about its file, beside where it lies.
#[derive(Clone, Copy, Debug)]
pub struct ChangeDetails<'a> {
    /// The session it belongs to.
    pub session: Option<&'a str>,
    /// What it is to the session, for people.
    pub what: &'a str,
}

impl Plan {
    /// A plan without steps, below these folders of agents.
    pub fn new(command: &str, roots: Vec<PathBuf>) -> Self {
        Self { command: command.to_owned(), roots, ..Self::default() }
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// How many bytes go away or are replaced.
    pub fn bytes_before(&self) -> u64 {
        self.steps.iter().filter_map(|step| step.before.as_ref()).map(|state| state.bytes).sum()
    }

    /// Puts the file at `path` into the trash. What is not there or in the plan already is left out.
    ///
    /// # Errors
    /// If it cannot be read, or is no regular file.
    pub fn remove(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        about: ChangeDetails<'_>,
    ) -> Result<(), Error> {
        if self.has(path) {
            return Ok(());
        }
        let Some(before) = FileState::of(disk, path)? else { return Ok(()) };
        self.push(path, about, (Some(before), None), None)
    }

    /// Puts the file at `path` into the trash, as [`Plan::remove`] does, but does not read it yet: a plan of thousands of files is
    /// made in no time, and [`Plan::complete`] reads them once it matters.
    ///
    /// # Errors
    /// If it cannot be looked at, or is no regular file.
    pub fn remove_unread(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        about: ChangeDetails<'_>,
    ) -> Result<(), Error> {
        if self.has(path) {
            return Ok(());
        }
        let Some(before) = FileState::seen(disk, path)? else { return Ok(()) };
        self.push(path, about, (Some(before), None), None)
    }

    /// Reads the files that were only looked at.
    ///
    /// # Errors
    /// If one has changed since, or cannot be read.
    pub fn complete(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        for step in &mut self.steps {
            let Some(before) = step.before.as_mut().filter(|before| before.hash.is_none()) else {
                continue;
            };
            let (bytes, hash) = hash_file(disk, &step.path)?;
            let is_same = look(disk, &step.path)?.is_some_and(|now| before.looks_like(&now));
            if !is_same || bytes != before.bytes {
                return Err(Refusal::Changed { path: step.path.clone() }.into());
            }
            before.hash = Some(hash);
        }
        Ok(())
    }

    /// Whether a step is about the file at `path`.
    pub fn has(&mut self, path: &Path) -> bool {
        self.paths.follow(&self.steps);
        self.paths.known.contains(path)
    }

    /// Makes a new file at `path`, with this time and these permissions.
    ///
    /// # Errors
    /// If there is something already, or what is to be in it cannot be read.
    pub fn create(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        content: NewContent,
        about: ChangeDetails<'_>,
        like: Option<&FileState>,
    ) -> Result<(), Error> {
        if look(disk, path)?.is_some() {
            return Err(Refusal::Occupied { path: path.to_owned() }.into());
        }
        let (bytes, hash) = content.measure(disk)?;
        let (modified, mode) = like.map_or((None, None), |like| (like.modified, like.mode));
        let after = FileState { bytes, hash: Some(hash), modified, mode };
        self.make_way(disk, path)?;
        self.push(path, about, (None, Some(after)), Some(content))
    }

    /// Puts other bytes into the file at `path`; its permissions and its time stay.
    ///
    /// # Errors
    /// If it is not there, or cannot be read.
    pub fn replace(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        content: NewContent,
        about: ChangeDetails<'_>,
    ) -> Result<(), Error> {
        let changed = || Error::from(Refusal::Changed { path: path.to_owned() });
        let before = FileState::of(disk, path)?.ok_or_else(changed)?;
        let (bytes, hash) = content.measure(disk)?;
        let FileState { modified, mode, .. } = before;
        let after = FileState { bytes, hash: Some(hash), modified, mode };
        self.push(path, about, (Some(before), Some(after)), Some(content))
    }

    /// Moves a file: a new one like it, and the old one to the trash.
    ///
    /// # Errors
    /// If one is not there, or the other is.
    pub fn move_file(
        &mut self,
        disk: &dyn Disk,
        from: &Path,
        to: &Path,
        about: ChangeDetails<'_>,
    ) -> Result<(), Error> {
        self.move_as(disk, from, to, NewContent::of_file(from), about)
    }

    /// Moves a file and puts other bytes into it on the way; its permissions and its time stay.
    ///
    /// # Errors
    /// If one is not there, or the other is.
    pub fn move_as(
        &mut self,
        disk: &dyn Disk,
        from: &Path,
        to: &Path,
        content: NewContent,
        about: ChangeDetails<'_>,
    ) -> Result<(), Error> {
        let changed = || Error::from(Refusal::Changed { path: from.to_owned() });
        let before = FileState::of(disk, from)?.ok_or_else(changed)?;
        self.create(disk, to, content, about, Some(&before))?;
        self.push(from, about, (Some(before), None), None)?;
        if let Some(step) = self.steps.last_mut() {
            step.moved_to = Some(to.to_owned());
        }
        Ok(())
    }

    /// Copies a file, with its permissions and its time.
    ///
    /// # Errors
    /// If one is not there, or the other is.
    pub fn copy_file(
        &mut self,
        disk: &dyn Disk,
        from: &Path,
        to: &Path,
        about: ChangeDetails<'_>,
    ) -> Result<(), Error> {
        let changed = || Error::from(Refusal::Changed { path: from.to_owned() });
        let before = FileState::of(disk, from)?.ok_or_else(changed)?;
        self.create(disk, to, NewContent::of_file(from), about, Some(&before))
    }

    /// Removes a folder, if nothing is left in it in the end.
    ///
    /// # Errors
    /// If it cannot be looked at.
    pub fn remove_folder(&mut self, disk: &dyn Disk, path: &Path) -> Result<(), Error> {
        if self.paths.removed.len() != self.removed.len() {
            self.paths.removed = self.removed.iter().map(|folder| folder.path.clone()).collect();
        }
        let known = self.paths.removed.contains(path);
        if let Some(found) =
            look(disk, path)?.filter(|look| look.kind == FileKind::Folder && !known)
        {
            // The inner ones first.
            let depth = path.components().count();
            let is_deeper = |known: &Folder| known.path.components().count() >= depth;
            let at = self.removed.partition_point(is_deeper);
            self.removed.insert(at, Folder { path: path.to_owned(), mode: found.mode });
            self.paths.removed.insert(path.to_owned());
        }
        Ok(())
    }

    fn push(
        &mut self,
        path: &Path,
        about: ChangeDetails<'_>,
        (before, after): (Option<FileState>, Option<FileState>),
        content: Option<NewContent>,
    ) -> Result<(), Error> {
        if path.to_str().is_none() {
            return Err(Refusal::NotText { path: path.to_owned() }.into());
        }
        let (what, session) = (about.what.to_owned(), about.session.map(str::to_owned));
        let path = path.to_owned();
        self.steps.push(Step { path, what, session, before, after, moved_to: None, content });
        Ok(())
    }

    /// Notes which folders must be made for a new file.
    pub(crate) fn make_way(&mut self, disk: &dyn Disk, path: &Path) -> Result<(), Error> {
        for folder in path.ancestors().skip(1) {
            if folder.as_os_str().is_empty() || look(disk, folder)?.is_some() {
                break;
            }
            if !self.made.iter().any(|known| known.path == folder) {
                self.made.push(Folder { path: folder.to_owned(), mode: None });
            }
        }
        self.made.sort_by_key(|folder| folder.path.components().count());
        Ok(())
    }
}
