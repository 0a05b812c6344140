//! Selects project directories.

use std::collections::BTreeSet;
use std::path::Path;

use recount_model::Project;
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

impl Engine {
    /// Returns the numbers of the selected directories; `None` means all.
    ///
    /// # Errors
    /// If the project is unknown or ambiguous.
    pub fn within(
        &self,
        scope: Scope<'_>,
        survey: &Survey,
    ) -> Result<Option<BTreeSet<usize>>, Error> {
        match scope {
            Scope::All => Ok(None),
            Scope::Project(wanted) => {
                let projects: Vec<&Project> = survey.projects.iter().map(|p| &**p).collect();
                Ok(Some(matching(&projects, wanted, &self.folders)?))
            }
            Scope::Folder(wanted) => {
                let folders = survey.disk.folders.iter().enumerate();
                let own = folders.filter(|(_, folder)| is_same_place(&folder.at.path, wanted));
                Ok(Some(own.map(|(number, _)| number).collect()))
            }
        }
    }
}
