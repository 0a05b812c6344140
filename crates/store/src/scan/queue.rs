//! The folders of one place that are still to be looked into, shared by the threads that do so.

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

/// How many folders a thread takes at once.
const BATCH: usize = 32;

/// The folders of one place that are still to be looked into.
#[derive(Debug)]
pub(super) struct Queue {
    place: ScanRoot,
    deadline: Instant,
    /// Places that are searched for themselves.
    others: Arc<HashSet<String>>,
    /// The folders that they are in.
    others_below: HashSet<String>,
    found: Arc<Found>,
    state: Mutex<State>,
    more: Condvar,
}

/// What a thread works with.
struct Looking<'a> {
    search: &'a Search,
    tree: &'a dyn FolderTree,
    lister: Lister,
    told: &'a Sender<ScanEvent>,
}

/// The hashes that were found so far, in all places: two may lead to the same folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    hashes: Mutex<HashSet<ProjectHash>>,
    count: AtomicUsize,
}

impl Found {
    /// Adds one and says whether it is new.
    fn insert(&self, hash: &ProjectHash) -> bool {
        let new = self.hashes.lock().is_ok_and(|mut hashes| hashes.insert(hash.clone()));
        self.count.fetch_add(usize::from(new), Ordering::Relaxed);
        new
    }

    /// Whether nothing is left to look for.
    fn is_all(&self, search: &Search) -> bool {
        search.names.is_empty()
            && search.repositories.is_empty()
            && self.count.load(Ordering::Relaxed) >= search.wanted()
    }
}

#[derive(Debug)]
struct State {
    /// Each with how many levels below it are looked at.
    folders: VecDeque<(String, usize)>,
    /// Threads that are looking, and may find more.
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

    /// Looks into folders until none is left, or time is up.
    pub(super) fn work(&self, search: &Search, tree: &dyn FolderTree, told: &Sender<ScanEvent>) {
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
                self.look(&folder, depth, &Looking { search, tree, lister, told }, &mut below);
            }
            if looked >= 1000 {
                let _heard = told.send(ScanEvent::Looked(looked));
                looked = 0;
            }
            if self.found.is_all(search) {
                self.end(ScanEnd::Found);
            }
            self.give(below, told);
        }
        let _heard = told.send(ScanEvent::Looked(looked));
    }

    /// Takes some folders, or `None` when the place is done with.
    fn take(&self) -> Option<Vec<(String, usize)>> {
        let mut state = self.state.lock().ok()?;
        loop {
            if state.end.is_some() {
                return None;
            }
            if !state.folders.is_empty() {
                // Leave some for the others.
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

    /// Gives back what was found below, and says so when nothing is left.
    fn give(&self, below: Vec<(String, usize)>, told: &Sender<ScanEvent>) {
        let Ok(mut state) = self.state.lock() else { return };
        state.busy -= 1;
        state.folders.extend(below);
        let done = state.busy == 0 && (state.folders.is_empty() || state.end.is_some());
        if done {
            let end = *state.end.get_or_insert(ScanEnd::Searched);
            let _heard = told.send(ScanEvent::Left { place: self.place.path.clone(), end });
        }
        drop(state);
        self.more.notify_all();
    }

    fn end(&self, end: ScanEnd) {
        if let Ok(mut state) = self.state.lock() {
            state.end.get_or_insert(end);
        }
    }

    /// Looks at the folders in one folder.
    fn look(
        &self,
        folder: &str,
        depth: usize,
        looking: &Looking<'_>,
        below: &mut Vec<(String, usize)>,
    ) {
        let Looking { search, told, .. } = *looking;
        let may_be_place = self.others_below.contains(folder);
        let separator = if folder.ends_with('/') { "" } else { "/" };
        let mut is_repository = false;
        if Path::new(folder) == self.place.path {
            self.judge(folder, search, told);
            let name = Path::new(folder).file_name().and_then(|name| name.to_str());
            if name.is_some_and(|name| search.names.contains(name)) {
                let _heard = told.send(ScanEvent::Likely(folder.to_owned()));
            }
        }
        // What cannot be listed has nothing to tell.
        let _listed = looking.tree.folders(Path::new(folder), looking.lister, &mut |entry| {
            let name = entry.name;
            let path = format!("{folder}{separator}{name}");
            self.judge(&path, search, told);
            if search.names.contains(name) {
                let _heard = told.send(ScanEvent::Likely(path.clone()));
            }
            is_repository |= name == ".git";
            let is_place = may_be_place && self.others.contains(&path);
            let is_skipped = name.starts_with('.') || SKIPPED.contains(&name) || is_place;
            if depth > 1 && !is_skipped && !entry.is_leaf() {
                below.push((path, depth - 1));
            }
        });
        if is_repository {
            self.repository(folder, search, told);
        }
    }

    /// Compares the hash of a path with those that are looked for.
    fn judge(&self, path: &str, search: &Search, told: &Sender<ScanEvent>) {
        for (source, hashes) in &search.hashes {
            let Some(hash) = source.project_hash(path) else { continue };
            if hashes.contains(&hash) && self.found.insert(&hash) {
                let below = self.place.path.clone();
                let _heard = told.send(ScanEvent::Found { hash, path: path.to_owned(), below });
            }
        }
    }

    /// A repository may have worktrees elsewhere, and may be one that has moved.
    fn repository(&self, folder: &str, search: &Search, told: &Sender<ScanEvent>) {
        for worktree in git::worktrees(Path::new(folder)) {
            if let Some(path) = worktree.to_str().filter(|path| *path != folder) {
                self.judge(path, search, told);
            }
        }
        if !search.repositories.is_empty()
            && git::identity(Path::new(folder))
                .is_some_and(|own| search.repositories.iter().any(|wanted| wanted.is_same(&own)))
        {
            let _heard = told.send(ScanEvent::Likely(folder.to_owned()));
        }
    }
}
