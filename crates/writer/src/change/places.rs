//! Where the files of one change lie: copies of what was, and what lies ready.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::plan::{Plan, Step};

/// Names longer than this are left out of the names of copies.
const LONGEST: usize = 200;

/// The places of one change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'a> {
    pub(crate) data: &'a Path,
    pub(crate) id: &'a str,
}

impl Places<'_> {
    /// The folder of all copies.
    pub(crate) fn trash(&self) -> PathBuf {
        self.data.join("trash")
    }

    /// The folder of this change's copies.
    pub(crate) fn folder(&self) -> PathBuf {
        self.trash().join(self.id)
    }

    /// Where what was there before step `number` is kept.
    pub(crate) fn kept(&self, number: usize, step: &Step) -> PathBuf {
        let name = step.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = if name.len() > LONGEST { "" } else { name };
        self.folder().join(format!("{number:04}-{name}"))
    }

    /// Where what will be there after step `number` lies ready: beside its place, so that it takes it in one step.
    pub(crate) fn ready(&self, number: usize, step: &Step) -> PathBuf {
        step.path.with_file_name(format!(".recount-{}-{number}.tmp", self.id))
    }
}

/// The folders in which names change.
pub(crate) fn folders(plan: &Plan) -> BTreeSet<PathBuf> {
    let files = plan.steps.iter().map(|step| step.path.as_path());
    let folders = plan.made.iter().chain(&plan.removed).map(|folder| folder.path.as_path());
    files.chain(folders).filter_map(Path::parent).map(Path::to_owned).collect()
}
