//! Paths of the files of one change: copies of old files, and staged new ones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::plan::{Plan, Step};

/// Longer names are not included in the names of copies.
const LONGEST: usize = 200;

/// The paths of one change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'a> {
    pub(crate) data: &'a Path,
    pub(crate) id: &'a str,
}

impl Places<'_> {
    /// Returns the folder of all copies.
    pub(crate) fn trash(&self) -> PathBuf {
        self.data.join("trash")
    }

    /// Returns the folder of this change's copies.
    pub(crate) fn folder(&self) -> PathBuf {
        self.trash().join(self.id)
    }

    /// Returns the path of the copy of the old file of step `number`.
    pub(crate) fn kept(&self, number: usize, step: &Step) -> PathBuf {
        let name = step.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = if name.len() > LONGEST { "" } else { name };
        self.folder().join(format!("{number:04}-{name}"))
    }

    /// Returns the path of the staged new file of step `number`: beside its destination, so that it can be renamed
    /// atomically.
    pub(crate) fn ready(&self, number: usize, step: &Step) -> PathBuf {
        step.path.with_file_name(format!(".recount-{}-{number}.tmp", self.id))
    }
}

/// Returns the folders in which names change.
pub(crate) fn folders(plan: &Plan) -> BTreeSet<PathBuf> {
    let files = plan.steps.iter().map(|step| step.path.as_path());
    let folders = plan.made.iter().chain(&plan.removed).map(|folder| folder.path.as_path());
    files.chain(folders).filter_map(Path::parent).map(Path::to_owned).collect()
}
