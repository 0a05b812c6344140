//! Which project directories are meant.

use std::collections::BTreeSet;
use std::path::Path;

use recount_model::Project;

use crate::projects::matching::matching;
use crate::projects::passport::Passports;
use crate::snapshot::survey::Ground;
use crate::{Engine, Error};

/// Which project directories are meant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope<'a> {
    All,
    /// Those of a project, as people call it.
    Project(&'a str),
    /// This one.
    Folder(&'a Path),
}

impl Engine {
    /// Returns the numbers of the directories that are meant; `None` means all.
    pub(crate) fn within(
        &self,
        scope: Scope<'_>,
        ground: &Ground,
        passports: &Passports,
    ) -> Result<Option<BTreeSet<usize>>, Error> {
        match scope {
            Scope::All => Ok(None),
            Scope::Project(wanted) => {
                let projects: Vec<&Project> = passports.projects.iter().map(|p| &**p).collect();
                Ok(Some(matching(&projects, wanted, &self.folders)?))
            }
            Scope::Folder(wanted) => {
                let folders = ground.folders.iter().enumerate();
                let own = folders.filter(|(_, folder)| is_same(&folder.at.path, wanted));
                Ok(Some(own.map(|(number, _)| number).collect()))
            }
        }
    }
}

/// Whether two paths lead to the same place.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one == other || real(one).is_some_and(|one| real(other) == Some(one))
}
