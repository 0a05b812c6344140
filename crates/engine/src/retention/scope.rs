//! Selects project directories and their sessions.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use recount_model::{FileRole, Project, SessionFacts};
use recount_platform::is_same_place;

use crate::disk::Survey;
use crate::projects::matching::matching;
use crate::{Engine, Error};

/// Which project directories to include.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    /// All of them.
    All,
    /// Those of a project, by its display name or another match.
    Project(&'a str),
    /// This one.
    Folder(&'a Path),
}

/// What a scope contains. The directories of some agents hold sessions of several projects, so each session is asked, too.
#[derive(Clone, Debug, Default)]
pub struct Selected {
    /// The numbers of the directories; `None` means all.
    folders: Option<BTreeSet<usize>>,
    /// The keys of the projects; `None` means those of the directories.
    projects: Option<BTreeSet<String>>,
}

impl Selected {
    /// Whether the directory of this number is selected.
    pub fn has_folder(&self, number: usize) -> bool {
        self.folders.as_ref().is_none_or(|all| all.contains(&number))
    }

    /// Whether a session of a selected directory is selected.
    pub fn has_session(&self, session: &SessionFacts) -> bool {
        self.projects.as_ref().is_none_or(|all| all.contains(&session.project.key()))
    }
}

impl Engine {
    /// Returns what a scope contains.
    ///
    /// # Errors
    /// If the project is unknown or ambiguous.
    pub fn within(&self, scope: Scope<'_>, survey: &Survey) -> Result<Selected, Error> {
        match scope {
            Scope::All => Ok(Selected::default()),
            Scope::Project(wanted) => self.of_project(wanted, survey),
            Scope::Folder(wanted) => {
                let folders = survey.disk.folders.iter().enumerate();
                let own = folders.filter(|(_, folder)| is_same_place(&folder.at.path, wanted));
                let numbers = own.map(|(number, _)| number).collect();
                Ok(Selected { folders: Some(numbers), projects: None })
            }
        }
    }

    fn of_project(&self, wanted: &str, survey: &Survey) -> Result<Selected, Error> {
        let Survey { listing, disk, projects, recorded } = survey;
        let all: Vec<&Project> =
            projects.iter().chain(recorded).map(|project| &**project).collect();
        let found = matching(&all, wanted, &self.folders)?;
        let keys = found.iter().filter_map(|at| all.get(*at)).map(|project| project.key());
        let selected = Selected { folders: None, projects: Some(keys.collect()) };
        // A directory whose name does not tell its project has those of its sessions.
        let is_unnamed = |number: usize| {
            let project = projects.get(number);
            project.is_none_or(|project| project.path.is_none() && project.hash.is_none())
        };
        let numbers: HashMap<&Path, usize> = disk
            .folders
            .iter()
            .enumerate()
            .filter(|(number, _)| is_unnamed(*number))
            .map(|(number, folder)| (&*folder.at.path, number))
            .collect();
        let sessions = listing.sessions.iter().filter(|session| selected.has_session(session));
        let unnamed = sessions.filter_map(|session| folder_of(session, &numbers));
        let named = found.iter().copied().filter(|number| *number < projects.len());
        Ok(Selected { folders: Some(named.chain(unnamed).collect()), ..selected })
    }
}

/// Returns the number of the directory that a session is in.
pub(super) fn folder_of(session: &SessionFacts, numbers: &HashMap<&Path, usize>) -> Option<usize> {
    let main = session.files.iter().find(|file| file.role == FileRole::Main);
    let file = main.or_else(|| session.files.first())?;
    Path::new(&file.path).ancestors().find_map(|above| numbers.get(above)).copied()
}
