//! Lists a `.gemini` folder again: only changed project directories are read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use recount_model::Problem;

use super::locate::Met;
use super::project::marker_file;
use crate::source::{Basis, EarlierListing, ProjectFolder};

/// The known project directories, by path.
pub(crate) struct Before<'a> {
    known: &'a EarlierListing<'a>,
    folders: HashMap<&'a Path, &'a ProjectFolder>,
    basis: HashMap<PathBuf, Basis>,
    problems: HashMap<PathBuf, Vec<Problem>>,
    history: PathBuf,
}

impl<'a> Before<'a> {
    pub(crate) fn new(known: &'a EarlierListing<'a>, projects: &Path, history: &Path) -> Self {
        let directory_of = |path: &Path| {
            let below = path.strip_prefix(projects).or_else(|_| path.strip_prefix(history)).ok()?;
            Some(projects.join(below.components().next()?))
        };
        let mut basis: HashMap<PathBuf, Basis> = HashMap::new();
        for path in &known.basis.directories {
            if let Some(project) = directory_of(path) {
                basis.entry(project).or_default().directories.push(path.clone());
            }
        }
        for path in &known.basis.files {
            if let Some(project) = directory_of(path) {
                basis.entry(project).or_default().files.push(path.clone());
            }
        }
        let mut problems: HashMap<PathBuf, Vec<Problem>> = HashMap::new();
        for problem in known.problems {
            if let Some(project) = directory_of(Path::new(&*problem.file)) {
                problems.entry(project).or_default().push(problem.clone());
            }
        }
        let folders = known.folders.iter().map(|folder| (&*folder.path, *folder)).collect();
        Self { known, folders, basis, problems, history: history.to_owned() }
    }

    /// Returns the known contents of a project directory, if nothing has changed there.
    pub(crate) fn unchanged(
        &self,
        path: &Path,
        name: &str,
    ) -> Option<(Option<ProjectFolder>, Met)> {
        let basis = self.basis.get(path)?;
        let marker = marker_file(&self.history.join(name));
        let is_its = |changed: &&Path| changed.starts_with(path) || **changed == *marker;
        if self.known.changed.iter().any(is_its) {
            return None;
        }
        let problems = self.problems.get(path).cloned().unwrap_or_default();
        let folder = self.folders.get(path).map(|folder| (*folder).clone());
        Some((folder, Met { problems, basis: basis.clone() }))
    }
}
