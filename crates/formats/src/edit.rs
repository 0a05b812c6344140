//! Changes to an agent's own files, as byte edits: what is not meant to change is copied, never rewritten.
//!
//! Nothing here writes. Files are looked at to say what a change would be; who carries it out is not our business.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use recount_model::{Grammar, RecordedPath, SessionId};

use crate::bytes::Buffer;
use crate::source::{Artifacts, ProjectFolder, RootShape};

/// Knows which bytes change when a session is renamed or goes elsewhere.
pub trait Editor: Debug + Sync {
    /// Returns a title as the agent would show it: on one line, without characters that control a terminal.
    fn title(&self, text: &str) -> String;

    /// Says something of the session as a whole in one of its files. `None` when the file is damaged so that it cannot be said
    /// there.
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

    /// Tells what is written when a session gets a title, or loses it, by an agent that keeps these beside its sessions; `None` for
    /// others, which keep them in the session.
    fn name_beside(
        &self,
        _root: &Path,
        _id: &SessionId,
        _title: Option<&str>,
        _now: Timestamp,
    ) -> Option<io::Result<RegistryEntry>> {
        None
    }

    /// Returns the file by whose lock the agent's processes take turns at the titles beside sessions.
    fn names_lock(&self, _root: &Path) -> Option<PathBuf> {
        None
    }

    /// Returns what people should know of titles beside sessions, where the agent does not show all of them.
    fn names_note(&self, _root: &Path) -> Option<&'static str> {
        None
    }

    /// Returns the file beside a session's in which the agent keeps its title once more, with the new one; `None` where there is none.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn title_copy(&self, _file: &Path, _title: Option<&str>) -> io::Result<Option<RegistryEntry>> {
        Ok(None)
    }

    /// Returns the folder for a session that began at a time, by an agent that sorts sessions by time; `None` for others, which sort
    /// them by project.
    fn folder_at(&self, _root: &Path, _began: Option<Timestamp>) -> Option<PathBuf> {
        None
    }

    /// Tells what changes in which files when sessions that record the folder `old` belong to another one, by an agent that sorts
    /// sessions by time.
    ///
    /// # Errors
    /// In words, when it cannot be done.
    fn refoldered(
        &self,
        _root: &Path,
        _files: &[PathBuf],
        _old: &str,
        _new: &str,
    ) -> Result<Vec<(PathBuf, Vec<Patch>)>, String> {
        Ok(Vec::new())
    }

    /// Finds where the agent keeps the project at `path` below one of its data folders, or would.
    ///
    /// # Errors
    /// In words, when its record of projects is damaged.
    fn place(
        &self,
        root: &Path,
        shape: RootShape,
        path: &RecordedPath,
    ) -> Result<ProjectDirectory, String>;

    /// Tells what must change below a data folder when a project's folder has become another; `None` when there is nothing of
    /// it.
    ///
    /// # Errors
    /// In words, when its record of projects is damaged.
    fn relocation(
        &self,
        root: &Path,
        shape: RootShape,
        old: &RecordedPath,
        new: &RecordedPath,
    ) -> Result<Option<Relocation>, String>;

    /// Lists all that lies in a project directory.
    fn contents(&self, folder: &Path) -> Artifacts;

    /// Tells what becomes of a file when two project directories become one and both have it. `name` is its path within them.
    fn meet(&self, name: &Path, here: &Path, there: &Path) -> Meeting;

    /// Whether a folder is one in which the agent looks for sessions.
    fn is_sessions_folder(&self, folder: &Path) -> bool;

    /// Returns what of the name of a session's file says to the agent which files it deletes together.
    fn group<'a>(&self, name: &'a str) -> &'a str;

    /// Returns other names for a file of a session, by and by, all of one group that is not the one it has.
    fn names_apart(&self, name: &str, id: &SessionId, attempt: usize) -> String;

    /// Returns other names for a file of a session, by and by, in the group that it has.
    fn names_beside(&self, name: &str, attempt: usize) -> String;

    /// Lists what lies in a project directory for sessions that are gone. `is_there` knows the ids of those that are not, whose
    /// files are `sessions`.
    fn orphans(
        &self,
        folder: &ProjectFolder,
        is_there: &dyn Fn(&str) -> bool,
        sessions: &[PathBuf],
    ) -> Artifacts;
}

/// Where an agent keeps a project, or would.
#[derive(Clone, Debug, Default)]
pub struct ProjectDirectory {
    /// The directory in which its releases of today look.
    pub folder: PathBuf,
    /// The one in which old releases look.
    pub old_folder: PathBuf,
    /// What must be written so that it looks there.
    pub writes: Vec<RegistryEntry>,
    /// The folder by which the agent's processes take turns at these.
    pub lock: Option<PathBuf>,
    /// Files in the old directory that the agent copies to the new one at its next start, but not when anything is in there.
    pub inherited: Vec<PathBuf>,
}

/// A small file that is written, whatever it held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryEntry {
    /// Where it lies.
    pub path: PathBuf,
    /// What will be in it.
    pub bytes: Vec<u8>,
    /// What it is, for people.
    pub what: &'static str,
}

/// What must change when a project's folder has become another.
#[derive(Clone, Debug, Default)]
pub struct Relocation {
    /// What is written.
    pub writes: Vec<RegistryEntry>,
    /// What is removed.
    pub removes: Vec<RegistryEntry>,
    /// Directories whose sessions are those of the new folder now.
    pub stays: Vec<PathBuf>,
    /// Directories whose content goes to another one.
    pub goes: Vec<(PathBuf, PathBuf)>,
    /// Files that the agent would copy at its next start, and to where.
    pub inherited: Vec<(PathBuf, PathBuf)>,
    /// The folder by which the agent's processes take turns.
    pub lock: Option<PathBuf>,
    /// What people should know.
    pub notes: Vec<String>,
}

/// What becomes of a file that two directories have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// It says where its directory belongs, and is not needed in the other.
    Dropped,
    /// Both become one.
    United(Vec<u8>),
    /// It is kept under another name.
    Apart,
}

/// What is said of a session as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amendment<'a> {
    /// Its title, or that it has none of its own.
    pub title: Option<Title<'a>>,
    /// The hash of the project's path.
    pub project_hash: Option<&'a str>,
    /// The project's path, for agents that record it in the session.
    pub folder: Option<&'a str>,
}

/// The title that a session gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Title<'a> {
    /// This one.
    Is(&'a str),
    /// None of its own.
    None,
}

/// Bytes in the place of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Where.
    pub at: u64,
    /// How many bytes go.
    pub bytes: u64,
    /// What stands there instead.
    pub with: Vec<u8>,
}
