//! What the system tells of changes in directories.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

/// What the thread that watches is told.
#[derive(Debug)]
pub(crate) enum Signal {
    /// Something happened at these paths.
    At(Vec<PathBuf>),
    /// Something happened, nobody knows where.
    Somewhere,
    /// Nobody listens any more.
    Stop,
}

/// The directories that the system watches for us.
#[derive(Debug)]
pub(crate) struct Signals {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
}

impl Signals {
    /// Starts, with nothing watched; `tell` is called with what happens. `None` where the system cannot.
    pub(crate) fn new(tell: impl Fn(Signal) + Send + 'static) -> Option<Self> {
        let tell = move |event: notify::Result<notify::Event>| {
            let signal = match event {
                // Reading a file changes nothing, and we read them ourselves.
                Ok(event) if event.kind.is_access() => return,
                Ok(event) if event.need_rescan() => Signal::Somewhere,
                Ok(event) => Signal::At(event.paths),
                Err(_) => Signal::Somewhere,
            };
            tell(signal);
        };
        let watcher = notify::recommended_watcher(tell).ok()?;
        Some(Self { watcher, watched: BTreeSet::new() })
    }

    /// Notes that something happened to directories themselves: one that went and came back is another one. Returns whether any of
    /// these was watched.
    pub(crate) fn forget(&mut self, paths: &HashSet<PathBuf>) -> bool {
        let before = self.watched.len();
        self.watched.retain(|path| !paths.contains(path));
        self.watched.len() < before
    }

    /// Watches these directories and no other, and returns those that are new. `None` when the system refuses.
    pub(crate) fn watch(&mut self, wanted: &BTreeSet<PathBuf>) -> Option<Vec<PathBuf>> {
        for gone in self.watched.difference(wanted) {
            // One that is gone watches itself no more.
            let _ended = self.watcher.unwatch(gone);
        }
        self.watched.retain(|path| wanted.contains(path));
        let mut new = Vec::new();
        for path in wanted.difference(&self.watched) {
            match self.watcher.watch(path, RecursiveMode::NonRecursive) {
                Ok(()) => new.push(path.clone()),
                // It went away since it was listed; its parent tells when it comes back.
                Err(_) if !path.exists() => {}
                Err(_) => return None,
            }
        }
        self.watched.extend(new.iter().cloned());
        Some(new)
    }
}

/// Returns the directories in which something would come, go or change.
pub(crate) fn directories<'a>(
    listed: impl Iterator<Item = &'a Path>,
    read: impl Iterator<Item = &'a Path>,
) -> BTreeSet<PathBuf> {
    // What is not there yet appears in the nearest directory that is.
    let nearest = |path: &Path| path.ancestors().find(|path| path.is_dir()).map(Path::to_owned);
    let around = read.filter_map(Path::parent).filter_map(nearest);
    listed.filter_map(nearest).chain(around).collect()
}
