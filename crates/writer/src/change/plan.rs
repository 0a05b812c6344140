//! Plans: what will change, file by file, before anything does.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::content::NewContent;
use super::disk::{Disk, FileKind};
use super::refusal::Refusal;
use super::state::{FileState, hash_file, metadata};
use crate::Error;

/// Every file that will change, before and after. Creating a plan changes nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Plan {
    /// The command, in one word.
    pub command: String,
    /// The sessions it is about.
    pub sessions: Vec<Subject>,
    /// The files, in the order in which they are changed.
    pub steps: Vec<Step>,
    /// Folders to create for new files, outer ones first.
    pub made: Vec<Folder>,
    /// Folders to remove if they are empty at the end, inner ones first.
    pub removed: Vec<Folder>,
    /// Folders of an agent: nothing outside of them is changed.
    pub roots: Vec<PathBuf>,
    /// Folders that the agent's processes use as locks; they are created while files change.
    pub locks: Vec<PathBuf>,
    /// Files that the agent's processes lock; existing ones are locked while files change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_locks: Vec<PathBuf>,
    /// The change that this one undoes.
    pub undoes: Option<UndoneSteps>,
    /// The paths of all these.
    #[serde(skip)]
    pub(super) paths: StepPaths,
}

/// An index of the paths of a plan's steps and removed folders, as far as they were added.
#[derive(Clone, Debug, Default)]
pub(super) struct StepPaths {
    known: HashSet<PathBuf>,
    steps: usize,
    /// The folders that are removed.
    removed: HashSet<PathBuf>,
}

impl StepPaths {
    /// Adds new steps. If steps were removed, the index is rebuilt.
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
    /// Its path.
    pub path: PathBuf,
    /// Its role in the session, for people.
    pub what: String,
    /// The session it belongs to.
    pub session: Option<String>,
    /// Its old state; `None` for a new file.
    pub before: Option<FileState>,
    /// Its new state; `None` for a file that goes to the trash.
    pub after: Option<FileState>,
    /// The destination of a file that is moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<PathBuf>,
    /// Its new content. Not serialized: the staged file has it.
    #[serde(skip)]
    pub(crate) content: Option<NewContent>,
}

/// A folder and its permissions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// Its path.
    pub path: PathBuf,
    /// Its permissions; the system's default if `None`.
    pub mode: Option<u32>,
}

/// The steps of an earlier change that are undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoneSteps {
    /// The receipt of that change.
    pub receipt: String,
    /// The numbers of its steps.
    pub steps: Vec<usize>,
}

/// Details of a step, besides its path.
#[derive(Clone, Copy, Debug)]
pub struct ChangeDetails<'a> {
    /// The session it belongs to.
    pub session: Option<&'a str>,
    /// Its role in the session, for people.
    pub what: &'a str,
}

impl Plan {
    /// Returns a plan without steps, limited to these folders of agents.
    pub fn new(command: &str, roots: Vec<PathBuf>) -> Self {
        Self { command: command.to_owned(), roots, ..Self::default() }
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the number of bytes that are removed or replaced.
    pub fn bytes_before(&self) -> u64 {
        self.steps.iter().filter_map(|step| step.before.as_ref()).map(|state| state.bytes).sum()
    }

    /// Moves the file at `path` to the trash. Files that do not exist or are already in the plan are skipped.
    ///
    /// # Errors
    /// If it cannot be read, or is not a regular file.
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

    /// Moves the file at `path` to the trash, like [`Plan::remove`], but does not read it yet: a plan of thousands of files
    /// is made quickly, and [`Plan::complete`] reads them when needed.
    ///
    /// # Errors
    /// If its metadata cannot be read, or it is not a regular file.
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

    /// Reads the files of which only the metadata was read.
    ///
    /// # Errors
    /// If one has changed since, or cannot be read.
    pub fn complete(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        for step in &mut self.steps {
            let Some(before) = step.before.as_mut().filter(|before| before.hash.is_none()) else {
                continue;
            };
            let (bytes, hash) = hash_file(disk, &step.path)?;
            let is_same =
                metadata(disk, &step.path)?.is_some_and(|now| before.matches_metadata(&now));
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

    /// Creates a file at `path`, with this time and these permissions.
    ///
    /// # Errors
    /// If something exists already, or the content cannot be read.
    pub fn create(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        content: NewContent,
        about: ChangeDetails<'_>,
        like: Option<&FileState>,
    ) -> Result<(), Error> {
        if metadata(disk, path)?.is_some() {
            return Err(Refusal::Occupied { path: path.to_owned() }.into());
        }
        let (bytes, hash) = content.measure(disk)?;
        let (modified, mode) = like.map_or((None, None), |like| (like.modified, like.mode));
        let after = FileState { bytes, hash: Some(hash), modified, mode };
        self.add_parent_folders(disk, path)?;
        self.push(path, about, (None, Some(after)), Some(content))
    }

    /// Replaces the content of the file at `path`; its permissions and its time are kept.
    ///
    /// # Errors
    /// If it does not exist, or cannot be read.
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

    /// Moves a file: creates a copy, and moves the old one to the trash.
    ///
    /// # Errors
    /// If the file does not exist, or the destination does.
    pub fn move_file(
        &mut self,
        disk: &dyn Disk,
        from: &Path,
        to: &Path,
        about: ChangeDetails<'_>,
    ) -> Result<(), Error> {
        self.move_as(disk, from, to, NewContent::of_file(from), about)
    }

    /// Moves a file and replaces its content; its permissions and its time are kept.
    ///
    /// # Errors
    /// If the file does not exist, or the destination does.
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
    /// If the file does not exist, or the destination does.
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

    /// Removes a folder, if it is empty at the end.
    ///
    /// # Errors
    /// If it cannot be examined.
    pub fn remove_folder(&mut self, disk: &dyn Disk, path: &Path) -> Result<(), Error> {
        if self.paths.removed.len() != self.removed.len() {
            self.paths.removed = self.removed.iter().map(|folder| folder.path.clone()).collect();
        }
        let known = self.paths.removed.contains(path);
        if let Some(found) =
            metadata(disk, path)?.filter(|metadata| metadata.kind == FileKind::Folder && !known)
        {
            // Inner ones first.
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

    /// Adds the folders that must be created for a new file.
    pub(crate) fn add_parent_folders(&mut self, disk: &dyn Disk, path: &Path) -> Result<(), Error> {
        for folder in path.ancestors().skip(1) {
            if folder.as_os_str().is_empty() || metadata(disk, folder)?.is_some() {
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
