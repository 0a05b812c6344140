//! Changes to an agent's own files, as byte edits: unchanged bytes are copied, never rewritten.
//!
//! Nothing here writes. Files are read to describe a change; the caller carries it out.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use recount_model::{Grammar, RecordedPath, SessionId};

use crate::bytes::Buffer;
use crate::source::{Artifacts, ProjectFolder, RootShape};

/// Knows which bytes change when a session is renamed or moved.
pub trait Editor: Debug + Sync {
    /// Returns a title as the agent would show it: on one line, without characters that control a terminal.
    fn title(&self, text: &str) -> String;

    /// Returns the changes that set session-level fields in one of its files. `None` if the file is too damaged for that.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn amend(
        &self,
        file: &Path,
        grammar: Grammar,
        said: Amendment<'_>,
        buffer: &mut Buffer,
    ) -> io::Result<Option<Vec<Patch>>>;

    /// Returns what is written when a session gets or loses a title, for an agent that stores titles beside its sessions;
    /// `None` for others, which store them in the session.
    fn name_beside(
        &self,
        _root: &Path,
        _id: &SessionId,
        _title: Option<&str>,
        _now: Timestamp,
    ) -> Option<io::Result<RegistryEntry>> {
        None
    }

    /// Returns the file that the agent's processes lock to change the titles beside sessions.
    fn names_lock(&self, _root: &Path) -> Option<PathBuf> {
        None
    }

    /// Returns a note about titles beside sessions, if the agent does not show all of them.
    fn names_note(&self, _root: &Path) -> Option<&'static str> {
        None
    }

    /// Returns the file beside a session's in which the agent stores its title again, with the new one; `None` if there is
    /// none.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn title_copy(&self, _file: &Path, _title: Option<&str>) -> io::Result<Option<RegistryEntry>> {
        Ok(None)
    }

    /// Returns the folder for a session that began at a time, for an agent that sorts sessions by time; `None` for others,
    /// which sort them by project.
    fn folder_at(&self, _root: &Path, _began: Option<Timestamp>) -> Option<PathBuf> {
        None
    }

    /// Returns what changes in which files when sessions that record the folder `old` are assigned to another one, for an
    /// agent that sorts sessions by time.
    ///
    /// # Errors
    /// A message, if it is not possible.
    fn refoldered(
        &self,
        _root: &Path,
        _files: &[PathBuf],
        _old: &str,
        _new: &str,
    ) -> Result<Vec<(PathBuf, Vec<Patch>)>, String> {
        Ok(Vec::new())
    }

    /// Returns where the agent keeps the project at `path` below one of its data folders, or would keep it.
    ///
    /// # Errors
    /// A message, if its record of projects is damaged.
    fn place(
        &self,
        root: &Path,
        shape: RootShape,
        path: &RecordedPath,
    ) -> Result<ProjectDirectory, String>;

    /// Returns what must change below a data folder when a project's folder has moved; `None` if nothing is recorded for
    /// it.
    ///
    /// # Errors
    /// A message, if its record of projects is damaged.
    fn relocation(
        &self,
        root: &Path,
        shape: RootShape,
        old: &RecordedPath,
        new: &RecordedPath,
    ) -> Result<Option<Relocation>, String>;

    /// Lists everything in a project directory.
    fn contents(&self, folder: &Path) -> Artifacts;

    /// Returns what happens to a file when two project directories that both have it are merged. `name` is its path within
    /// them.
    fn meet(&self, name: &Path, here: &Path, there: &Path) -> Meeting;

    /// Whether a folder is one in which the agent looks for sessions.
    fn is_sessions_folder(&self, folder: &Path) -> bool;

    /// Returns the part of a session file's name by which the agent decides which files to delete together.
    fn group<'a>(&self, name: &'a str) -> &'a str;

    /// Returns alternative names for a file of a session, one per attempt, all in one group other than its own.
    fn names_apart(&self, name: &str, id: &SessionId, attempt: usize) -> String;

    /// Returns alternative names for a file of a session, one per attempt, in its own group.
    fn names_beside(&self, name: &str, attempt: usize) -> String;

    /// Lists the files in a project directory that belong to deleted sessions. `is_there` returns whether an id exists;
    /// `sessions` are the files of existing ones.
    fn orphans(
        &self,
        folder: &ProjectFolder,
        is_there: &dyn Fn(&str) -> bool,
        sessions: &[PathBuf],
    ) -> Artifacts;
}

/// Where an agent keeps a project, or would keep it.
#[derive(Clone, Debug, Default)]
pub struct ProjectDirectory {
    /// The directory that current releases use.
    pub folder: PathBuf,
    /// The directory that old releases use.
    pub old_folder: PathBuf,
    /// What must be written so that the agent uses it.
    pub writes: Vec<RegistryEntry>,
    /// The lock folder of the agent's processes for these.
    pub lock: Option<PathBuf>,
    /// Files in the old directory that the agent copies to the new one at its next start, unless that is not empty.
    pub inherited: Vec<PathBuf>,
}

/// A small file that is written, replacing its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryEntry {
    /// Its path.
    pub path: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
    /// What it is, for people.
    pub what: &'static str,
}

/// What must change when a project's folder has moved.
#[derive(Clone, Debug, Default)]
pub struct Relocation {
    /// Files to write.
    pub writes: Vec<RegistryEntry>,
    /// Files to remove.
    pub removes: Vec<RegistryEntry>,
    /// Directories whose sessions now belong to the new folder.
    pub stays: Vec<PathBuf>,
    /// Directories whose content is moved to another one.
    pub goes: Vec<(PathBuf, PathBuf)>,
    /// Files that the agent would copy at its next start, and their destinations.
    pub inherited: Vec<(PathBuf, PathBuf)>,
    /// The lock folder of the agent's processes.
    pub lock: Option<PathBuf>,
    /// Notes for people.
    pub notes: Vec<String>,
}

/// What happens to a file that two directories have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// It identifies its directory, and is not needed in the other.
    Dropped,
    /// Both are merged.
    United(Vec<u8>),
    /// It is kept under another name.
    Apart,
}

/// Session-level fields.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amendment<'a> {
    /// Its title, or that it has none of its own.
    pub title: Option<Title<'a>>,
    /// The hash of the project's path.
    pub project_hash: Option<&'a str>,
    /// The project's path, for agents that record it in the session.
    pub folder: Option<&'a str>,
}

/// The new title of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Title<'a> {
    /// This title.
    Is(&'a str),
    /// No title of its own.
    None,
}

/// A replacement of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The offset.
    pub at: u64,
    /// The number of replaced bytes.
    pub bytes: u64,
    /// The new bytes.
    pub with: Vec<u8>,
}
