//! A search of the disk for folders, in the background, within bounds.
//!
//! Each place is searched breadth first by threads of its own, so that a disk that never answers holds up nobody: the
//! threads are not waited for. Links are not followed, and other file systems are left alone unless they are asked for.

mod places;
mod queue;
mod tree;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use recount_formats::Source;
use recount_model::ProjectHash;

use crate::clues::git::GitIdentity;
pub use places::{Looked, Seen, likely, look};
use queue::{Found, Queue};
pub use tree::{DiskTree, FolderTree};

/// Folders that hold no projects of their own, but thousands of folders. They are candidates themselves.
pub(crate) const SKIPPED: &[&str] = &[
    "node_modules",
    "bower_components",
    "target",
    "__pycache__",
    "site-packages",
    "cache",
    "caches",
    "Cache",
    "Caches",
    "Library",
    "AppData",
    "snap",
];

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Hashes of paths, per source.
    pub hashes: Vec<(&'static dyn Source, HashSet<ProjectHash>)>,
    /// Names of folders.
    pub names: HashSet<String>,
    /// Repositories.
    pub repositories: Vec<GitIdentity>,
}

impl Search {
    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.wanted() == 0 && self.names.is_empty() && self.repositories.is_empty()
    }

    /// How many hashes are looked for.
    pub fn wanted(&self) -> usize {
        self.hashes.iter().map(|(_, hashes)| hashes.len()).sum()
    }
}

/// Where to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanRoot {
    /// The folder.
    pub path: PathBuf,
    /// How many levels below it.
    pub depth: usize,
    /// For how long.
    pub patience: Duration,
}

/// What a search tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanEvent {
    /// A folder whose path has a wanted hash.
    Found {
        /// The hash.
        hash: ProjectHash,
        /// The folder.
        path: String,
        /// The place it was found below.
        below: PathBuf,
    },
    /// A folder that has a wanted name, or is a wanted repository.
    Likely(String),
    /// Number of further folders that were visited.
    Looked(u64),
    /// A place is done with.
    Left {
        /// The place.
        place: PathBuf,
        /// Why.
        end: ScanEnd,
    },
}

/// Why a place is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanEnd {
    /// Everything within its bounds was looked at.
    Searched,
    /// Everything was found.
    Found,
    /// Its time ran out.
    OutOfTime,
}

/// A search that is going on.
#[derive(Debug)]
pub struct FolderScan {
    events: Receiver<ScanEvent>,
    /// Places that are not done with, with the moment at which they are given up.
    open: Vec<(PathBuf, Instant)>,
}

impl FolderScan {
    /// Starts to search `places`.
    pub fn start(search: Search, places: Vec<ScanRoot>, tree: &Arc<dyn FolderTree>) -> Self {
        let (sender, events) = mpsc::channel();
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        let search = Arc::new(search);
        let now = Instant::now();
        let until = |place: &ScanRoot| now.checked_add(place.patience).unwrap_or(now);
        let open = places.iter().map(|place| (place.path.clone(), until(place))).collect();
        let others = places.iter().filter_map(|place| place.path.to_str()).map(str::to_owned);
        let others: Arc<HashSet<String>> = Arc::new(others.collect());
        let found = Arc::new(Found::default());
        for place in places {
            let deadline = until(&place);
            let queue = Queue::new(place, deadline, &others, Arc::clone(&found));
            let queue = Arc::new(queue);
            for _ in 0..threads {
                let (queue, search) = (Arc::clone(&queue), Arc::clone(&search));
                let (tree, sender) = (Arc::clone(tree), sender.clone());
                // Never joined: it may hang in a system call.
                std::thread::spawn(move || queue.work(&search, &*tree, &sender));
            }
        }
        Self { events, open }
    }

    /// Returns what is reported next, or `None` when nothing is reported for as long as `wait`, or nothing is left.
    pub fn next(&mut self, wait: Duration) -> Option<ScanEvent> {
        let now = Instant::now();
        let given_up = self.open.iter().map(|(_, until)| *until).min()?;
        // A thread that hangs cannot say so; a little later than its own check.
        let grace = Duration::from_millis(50);
        let patience = (given_up + grace).saturating_duration_since(now);
        match self.events.recv_timeout(wait.min(patience)) {
            Ok(event) => {
                if let ScanEvent::Left { place, .. } = &event {
                    self.open.retain(|(open, _)| open != place);
                }
                Some(event)
            }
            Err(RecvTimeoutError::Timeout) if patience <= wait => {
                let at = self.open.iter().position(|(_, until)| *until == given_up)?;
                let (place, _) = self.open.remove(at);
                Some(ScanEvent::Left { place, end: ScanEnd::OutOfTime })
            }
            Err(_) => None,
        }
    }

    /// Whether every place is done with.
    pub fn is_done(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests;
