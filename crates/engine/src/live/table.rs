//! A process table from a file, for tests and for containers whose processes cannot be seen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use recount_formats::bytes::read_small;
use recount_model::LiveProcess;
use recount_platform::{ProcessQuery, Processes, Running};

/// Reads the processes in a file; `None` if it cannot be read.
pub(crate) fn read_table(path: &Path) -> Option<Vec<LiveProcess>> {
    serde_json::from_slice(&read_small(path).ok()?).ok()
}

/// The processes in a file.
#[derive(Clone, Debug)]
pub(crate) struct TableProcesses {
    path: PathBuf,
}

impl TableProcesses {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }
}

impl Processes for TableProcesses {
    fn sample(&self, _query: &ProcessQuery<'_>) -> Option<Vec<LiveProcess>> {
        read_table(&self.path)
    }

    fn running(&self, variables: &[&str]) -> Vec<Running> {
        let wanted = |env: BTreeMap<String, String>| {
            env.into_iter().filter(|(name, _)| variables.contains(&name.as_str())).collect()
        };
        let mut all: Vec<Running> = read_table(&self.path)
            .unwrap_or_default()
            .into_iter()
            .filter(|process| !process.is_zombie())
            .map(|process| Running {
                pid: process.pid,
                name: process.comm,
                args: process.args,
                folder: process.cwd.map(PathBuf::from),
                variables: wanted(process.env),
            })
            .collect();
        all.sort_by_key(|running| running.pid);
        all
    }
}
