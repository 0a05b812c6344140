//! Where agents keep their data, and whether they run.

use std::path::PathBuf;

use recount_formats::Source;
use recount_formats::source::RootShape;

use crate::Engine;

impl Engine {
    /// Returns the folder in which an agent keeps its data; it need not exist. `None` without a home.
    pub fn agent_folder(&self, source: &dyn Source) -> Option<PathBuf> {
        let is_own = |root: &&recount_store::Root| {
            let is_whole = root.shape == RootShape::Whole && !root.is_ingested;
            is_whole && root.source.name() == source.name()
        };
        if let Some(root) = self.roots.iter().find(is_own) {
            return Some(root.path.clone());
        }
        let folders = source.folders();
        let below = folders.below_home.first()?;
        if let Some(home) = self.given.first() {
            return std::path::absolute(home.join(below)).ok();
        }
        if let Some(named) = folders.folder_variable.and_then(|name| self.env.path(name)) {
            let first = named.to_str().and_then(|list| list.split(',').next().map(str::trim));
            return first.map(PathBuf::from);
        }
        let own = folders.home_variable.and_then(|name| self.env.path(name));
        Some(own.or_else(|| self.folders.home.clone())?.join(below))
    }

    /// Returns a process of an agent that runs with the same home.
    pub fn running_agent(&self, source: &dyn Source) -> Option<u32> {
        let home = self.first_home();
        let is_ours = |process: &&recount_platform::Running| {
            let own = process.variables.get("HOME").map(PathBuf::from);
            source.is_running(&process.args) && (own.is_none() || own == home)
        };
        self.processes.running(&["HOME"]).iter().find(is_ours).map(|process| process.pid)
    }
}
