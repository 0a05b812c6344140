//! The queue of folders of one place, shared by its threads.

use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use recount_model::ProjectHash;
use recount_platform::Lister;

use super::{FolderTree, SKIPPED, ScanEnd, ScanEvent, ScanRoot, Search};
use crate::clues::git;

/// The number of folders a thread takes at once.
const BATCH: usize = 32;

/// The folders of one place that are still to be searched.
#[derive(Debug)]
pub(super) struct Queue {
    place: ScanRoot,
    deadline: Instant,
    /// Places that are searched separately.
    others: Arc<HashSet<String>>,
    /// The folders that they are in.
    others_below: HashSet<String>,
    found: Arc<Found>,
    state: Mutex<State>,
    more: Condvar,
}

/// The context of a thread.
struct WorkerContext<'a> {
    search: &'a Search,
    tree: &'a dyn FolderTree,
    lister: Lister,
    events: &'a Sender<ScanEvent>,
}

/// The hashes found so far, in all places: two places may lead to the same folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    hashes: Mutex<HashSet<ProjectHash>>,
    count: AtomicUsize,
}

impl Found {
    /// Adds one and returns whether it is new.
    fn insert(&self, hash: &ProjectHash) -> bool {
        let new = self.hashes.lock().is_ok_and(|mut hashes| hashes.insert(hash.clone()));
        self.count.fetch_add(usize::from(new), Ordering::Relaxed);
        new
    }

    /// Whether nothing is left to find.
    fn is_all(&self, search: &Search) -> bool {
        search.names.is_empty()
            && search.repositories.is_empty()
            && self.count.load(Ordering::Relaxed) >= search.wanted()
    }
}

#[derive(Debug)]
struct State {
    /// Each with the number of levels to search below it.
    folders: VecDeque<(String, usize)>,
    /// Threads that are searching, and may find more.
    busy: usize,
    end: Option<ScanEnd>,
}

impl Queue {
    pub(super) fn new(
        place: ScanRoot,
        deadline: Instant,
        others: &Arc<HashSet<String>>,
        found: Arc<Found>,
    ) -> Self {
        let first = place.path.to_str().map(|path| (path.to_owned(), place.depth));
        let state = State { folders: first.into_iter().collect(), busy: 0, end: None };
        let above = |path: &String| Path::new(path).parent()?.to_str().map(str::to_owned);
        let others_below = others.iter().filter_map(above).collect();
        let others = Arc::clone(others);
        Self {
            place,
            deadline,
            others,
            others_below,
            found,
            state: Mutex::new(state),
            more: Condvar::new(),
        }
    }

    /// Searches folders until none is left, or the time is up.
    pub(super) fn work(&self, search: &Search, tree: &dyn FolderTree, events: &Sender<ScanEvent>) {
        let mut looked = 0;
        let lister = tree.lister(&self.place.path);
        while let Some(batch) = self.take() {
            let mut below = Vec::new();
            for (folder, depth) in batch {
                if Instant::now() >= self.deadline {
                    self.end(ScanEnd::OutOfTime);
                    break;
                }
                looked += 1;
                self.look(
                    &folder,
                    depth,
                    &WorkerContext { search, tree, lister, events },
                    &mut below,
                );
            }
            if looked >= 1000 {
                let _heard = events.send(ScanEvent::Visited(looked));
                looked = 0;
            }
            if self.found.is_all(search) {
                self.end(ScanEnd::Found);
            }
            self.give(below, events);
        }
        let _heard = events.send(ScanEvent::Visited(looked));
    }

    /// Takes some folders, or `None` if the place is finished.
    fn take(&self) -> Option<Vec<(String, usize)>> {
        let mut state = self.state.lock().ok()?;
        loop {
            if state.end.is_some() {
                return None;
            }
            if !state.folders.is_empty() {
                // Leaves some for the others.
                let count = (state.folders.len() / 2).clamp(1, BATCH);
                state.busy += 1;
                return Some(state.folders.drain(..count).collect());
            }
            if state.busy == 0 {
                return None;
            }
            state = self.more.wait(state).ok()?;
        }
    }

    /// Adds the folders found below, and reports when nothing is left.
    fn give(&self, below: Vec<(String, usize)>, events: &Sender<ScanEvent>) {
        let Ok(mut state) = self.state.lock() else { return };
        state.busy -= 1;
        state.folders.extend(below);
        let done = state.busy == 0 && (state.folders.is_empty() || state.end.is_some());
        if done {
            let end = *state.end.get_or_insert(ScanEnd::Searched);
            let _heard = events.send(ScanEvent::Finished { place: self.place.path.clone(), end });
        }
        drop(state);
        self.more.notify_all();
    }

    fn end(&self, end: ScanEnd) {
        if let Ok(mut state) = self.state.lock() {
            state.end.get_or_insert(end);
        }
    }

    /// Searches the folders in one folder.
    fn look(
        &self,
        folder: &str,
        depth: usize,
        looking: &WorkerContext<'_>,
        below: &mut Vec<(String, usize)>,
    ) {
        let WorkerContext { search, events, .. } = *looking;
        let may_be_place = self.others_below.contains(folder);
        let separator = if folder.ends_with('/') { "" } else { "/" };
        let mut is_repository = false;
        if Path::new(folder) == self.place.path {
            self.judge(folder, search, events);
            let name = Path::new(folder).file_name().and_then(|name| name.to_str());
            if name.is_some_and(|name| search.names.contains(name)) {
                let _heard = events.send(ScanEvent::Likely(folder.to_owned()));
            }
        }
        // A folder that cannot be listed is skipped.
        let _listed = looking.tree.folders(Path::new(folder), looking.lister, &mut |entry| {
            let name = entry.name;
            let path = format!("{folder}{separator}{name}");
            self.judge(&path, search, events);
            if search.names.contains(name) {
                let _heard = events.send(ScanEvent::Likely(path.clone()));
            }
            is_repository |= name == ".git";
            let is_place = may_be_place && self.others.contains(&path);
            let is_skipped = name.starts_with('.') || SKIPPED.contains(&name) || is_place;
            if depth > 1 && !is_skipped && !entry.is_leaf() {
                below.push((path, depth - 1));
            }
        });
        if is_repository {
            self.repository(folder, search, events);
        }
    }

    /// Compares the hash of a path with the wanted ones.
    fn judge(&self, path: &str, search: &Search, events: &Sender<ScanEvent>) {
        for (source, hashes) in &search.hashes {
            let Some(hash) = source.project_hash(path) else { continue };
            if hashes.contains(&hash) && self.found.insert(&hash) {
                let below = self.place.path.clone();
                let _heard = events.send(ScanEvent::Found { hash, path: path.to_owned(), below });
            }
        }
    }

    /// Reports a repository, which may have worktrees elsewhere or may have moved.
    fn repository(&self, folder: &str, search: &Search, events: &Sender<ScanEvent>) {
        for worktree in git::worktrees(Path::new(folder)) {
            if let Some(path) = worktree.to_str().filter(|path| *path != folder) {
                self.judge(path, search, events);
            }
        }
        if !search.repositories.is_empty()
            && git::identity(Path::new(folder))
                .is_some_and(|own| search.repositories.iter().any(|wanted| wanted.is_same(&own)))
        {
            let _heard = events.send(ScanEvent::Likely(folder.to_owned()));
        }
    }
}
