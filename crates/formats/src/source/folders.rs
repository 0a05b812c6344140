//! What a source's data folder contains: project directories, and what the agent records of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{Problem, ProjectHash, RecordedPath, SessionId};

use super::FileAt;
use crate::folder::Linked;

/// Where a source's data is.
#[derive(Clone, Copy, Debug)]
pub struct DataFolders {
    /// Below the home, each a separate data folder.
    pub below_home: &'static [&'static str],
    /// An environment variable that replaces the home.
    pub home_variable: Option<&'static str>,
    /// An environment variable that names the data folder itself, or several, separated by commas.
    pub folder_variable: Option<&'static str>,
    /// An environment variable that names one more folder in the layout of the projects part.
    pub extra_variable: Option<&'static str>,
    /// What identifies a folder as the data folder itself.
    pub landmark: &'static str,
}

/// Which part of an agent's data a root is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootShape {
    /// The agent's whole data folder.
    Whole,
    /// Only the part with the projects.
    ProjectsOnly,
}

/// The contents of a data folder.
#[derive(Clone, Debug, Default)]
pub struct Located {
    /// One per project directory.
    pub folders: Vec<ProjectFolder>,
    /// Project paths that the agent has recorded, with the directory's name if available.
    pub registry: Vec<Registered>,
    /// Inconsistencies in the agent's record of projects.
    pub notes: Vec<RegistryNote>,
    /// Names that users gave to sessions, if the agent stores them beside its sessions.
    pub names: Vec<(SessionId, String)>,
    /// The problems.
    pub problems: Vec<Problem>,
    /// What this was built from.
    pub basis: Basis,
}

/// What a listing was built from: while none of it changes, and no session file does, another listing would be the same.
#[derive(Clone, Debug, Default)]
pub struct Basis {
    /// Directories that were listed.
    pub directories: Vec<PathBuf>,
    /// Other files that were read or looked up; they need not exist.
    pub files: Vec<PathBuf>,
}

/// An earlier listing of a data folder, and what has changed since.
#[derive(Clone, Copy, Debug)]
pub struct EarlierListing<'a> {
    /// Its project directories. The stamps of their files are current.
    pub folders: &'a [&'a ProjectFolder],
    /// What it was built from.
    pub basis: &'a Basis,
    /// Its problems.
    pub problems: &'a [Problem],
    /// The changed parts of its basis.
    pub changed: &'a [&'a Path],
}

impl Basis {
    /// Adds another one.
    pub fn extend(&mut self, other: Self) {
        self.directories.extend(other.directories);
        self.files.extend(other.files);
    }
}

/// An inconsistency in an agent's record of projects.
#[derive(Clone, Debug)]
pub struct RegistryNote {
    /// The directory it is about; all of them if `None`.
    pub slug: Option<String>,
    /// What it is.
    pub text: String,
}

/// A project path that an agent has recorded.
#[derive(Clone, Debug)]
pub struct Registered {
    /// The path.
    pub path: RecordedPath,
    /// The directory's name.
    pub slug: Option<String>,
    /// Where it is recorded.
    pub from: &'static str,
}

/// One project directory of an agent.
#[derive(Clone, Debug)]
pub struct ProjectFolder {
    /// The directory.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// Whether it belongs to one project. In others, such as folders of a day, each session records its own project.
    pub is_project: bool,
    /// The name as a hash, if it is one.
    pub hash: Option<ProjectHash>,
    /// Paths that markers in it name, and the locations of the markers.
    pub markers: Vec<(RecordedPath, &'static str)>,
    /// Session files.
    pub files: Vec<Arc<FileAt>>,
    /// What else in it an agent would find through links that lead out of its data folder.
    pub linked: Linked,
    /// All bytes in it that belong to sessions.
    pub bytes: u64,
    /// Unusual facts about it.
    pub notes: Vec<String>,
}

/// The location of a file in a project directory, which need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectLocation {
    /// The directory.
    pub folder: PathBuf,
    /// The path of the file in it.
    pub below: PathBuf,
    /// Whether the directory is named by a hash, and needs no marker.
    pub is_hashed: bool,
    /// The marker file of the directory, with the project's path as its text.
    pub marker: PathBuf,
}
