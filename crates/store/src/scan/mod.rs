//! Searches the disk for folders, in the background and within limits.
//!
//! Each place is searched breadth first by its own threads, so that an unresponsive disk does not delay others: the threads
//! are not joined. Links are not followed, and other file systems are skipped unless they are listed as places.

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
pub use places::{PlaceCheck, Seen, likely, look};
use queue::{Found, Queue};
pub use tree::{DiskTree, FolderTree};

/// Folders that contain no projects, but thousands of folders. They are candidates themselves.
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

/// What to look for.
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

    /// Returns the number of hashes to find.
    pub fn wanted(&self) -> usize {
        self.hashes.iter().map(|(_, hashes)| hashes.len()).sum()
    }
}

/// Where to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanRoot {
    /// The folder.
    pub path: PathBuf,
    /// The number of levels below it.
    pub depth: usize,
    /// The time limit.
    pub patience: Duration,
}

/// An event of a search.
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
    /// A folder with a wanted name, or a wanted repository.
    Likely(String),
    /// The number of further folders that were visited.
    Visited(u64),
    /// A place is finished.
    Finished {
        /// The place.
        place: PathBuf,
        /// The reason.
        end: ScanEnd,
    },
}

/// Why a place is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanEnd {
    /// Everything within its limits was searched.
    Searched,
    /// Everything was found.
    Found,
    /// It timed out.
    OutOfTime,
}

/// A running search.
#[derive(Debug)]
pub struct FolderScan {
    events: Receiver<ScanEvent>,
    /// Unfinished places, with their deadlines.
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

    /// Returns the next event, or `None` if there is none within `wait`, or the search is over.
    pub fn next(&mut self, wait: Duration) -> Option<ScanEvent> {
        let now = Instant::now();
        let given_up = self.open.iter().map(|(_, until)| *until).min()?;
        // A thread that hangs cannot report it; this is slightly later than its own check.
        let grace = Duration::from_millis(50);
        let patience = (given_up + grace).saturating_duration_since(now);
        match self.events.recv_timeout(wait.min(patience)) {
            Ok(event) => {
                if let ScanEvent::Finished { place, .. } = &event {
                    self.open.retain(|(open, _)| open != place);
                }
                Some(event)
            }
            Err(RecvTimeoutError::Timeout) if patience <= wait => {
                let at = self.open.iter().position(|(_, until)| *until == given_up)?;
                let (place, _) = self.open.remove(at);
                Some(ScanEvent::Finished { place, end: ScanEnd::OutOfTime })
            }
            Err(_) => None,
        }
    }

    /// Whether every place is finished.
    pub fn is_done(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests;
