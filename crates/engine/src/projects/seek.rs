//! The search of the disk for folders that are not named anywhere.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use recount_formats::Source;
use recount_model::{ClueKind, ProjectHash, ProjectState, SourceName};
use recount_store::scan::{FolderScan, PlaceCheck, ScanEnd, ScanEvent, Search, Seen, likely, look};
use recount_store::{Searched, millis};

use crate::projects::resolve::{Effort, ResolveContext};
use crate::snapshot::disk_scan::Progress;

/// The timeout of a list.
const LIST: Duration = Duration::from_millis(150);
/// The timeout of a requested search without a place.
const ASKED: Duration = Duration::from_secs(30);
/// The timeout of a search in a folder that the user named.
const NAMED: Duration = Duration::from_secs(600);
/// Deeper than any path.
const DEEPEST: usize = 256;

/// A search that the user requested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seek {
    /// The places; the likely ones if empty.
    pub places: Vec<PathBuf>,
    /// The maximum depth; unlimited in named places.
    pub depth: Option<usize>,
}

/// What to search for, without what an earlier search did not find.
struct Wanted {
    search: Search,
    /// The keys under which the result is stored.
    keys: BTreeSet<String>,
}

impl ResolveContext<'_> {
    /// Searches the disk, and returns whether some place did not respond.
    pub(crate) fn seek(&mut self, effort: &Effort, progress: &dyn Progress) -> bool {
        if matches!(effort, Effort::Single(_))
            || (!self.engine.config.projects.scan && !is_asked(effort))
        {
            return false;
        }
        let wanted = self.wanted(effort);
        if wanted.search.is_empty() {
            return false;
        }
        let PlaceCheck { mut seen, silent } = self.places(effort);
        let now = self.engine.clock.now();
        if !is_asked(effort) {
            // A place is searched again if something wanted was not searched there.
            let is_new = |key: &String, seen: &Seen| {
                !self.learned.is_settled(key, &seen.place, &seen.shape, now)
            };
            seen.retain(|seen| wanted.keys.iter().any(|key| is_new(key, seen)));
        }
        if !seen.is_empty() {
            self.run(wanted, seen, progress);
        }
        silent
    }

    /// Returns what to search for.
    fn wanted(&self, effort: &Effort) -> Wanted {
        let mut by_source: BTreeMap<SourceName, (&'static dyn Source, HashSet<ProjectHash>)> =
            BTreeMap::new();
        let mut wanted = Wanted { search: Search::default(), keys: BTreeSet::new() };
        for (number, hash) in self.open() {
            let Some(folder) = self.disk.folders.get(number) else { continue };
            wanted.keys.insert(hash.as_str().to_owned());
            by_source
                .entry(folder.source.name())
                .or_insert((folder.source, HashSet::new()))
                .1
                .insert(hash);
        }
        wanted.search.hashes = by_source.into_values().collect();
        let gone = self.projects.iter().filter(|project| project.state == ProjectState::Missing);
        for path in
            gone.filter(|_| *effort != Effort::List).filter_map(|project| project.path.as_ref())
        {
            wanted.keys.insert(format!("name:{}", path.leaf()));
            wanted.search.names.insert(path.leaf().to_owned());
            let known = self.learned.repository(path.as_str());
            wanted.search.repositories.extend(known.cloned());
        }
        wanted
    }

    /// Returns the existing places to search.
    fn places(&self, effort: &Effort) -> PlaceCheck {
        let engine = self.engine;
        let settings = &engine.config.projects;
        let usual = || match &settings.roots {
            Some(roots) => roots.iter().map(|root| engine.folders.expand(root)).collect(),
            None => likely(&engine.homes(), !engine.given.is_empty()),
        };
        let (places, depth, patience) = match effort {
            Effort::Scan(seek) if !seek.places.is_empty() => {
                (seek.places.clone(), seek.depth.unwrap_or(DEEPEST), NAMED)
            }
            Effort::Scan(seek) => (usual(), seek.depth.unwrap_or(settings.depth), ASKED),
            Effort::List => (usual(), settings.depth, LIST.min(settings.patience())),
            _ => (usual(), settings.depth, settings.patience()),
        };
        look(places, depth, patience, &engine.tree)
    }

    /// Searches, uses what is found, and records what is not.
    fn run(&mut self, wanted: Wanted, seen: Vec<Seen>, progress: &dyn Progress) {
        let total = wanted.search.wanted();
        let places = seen.iter().map(|seen| seen.place.clone()).collect();
        let mut scan = FolderScan::start(wanted.search, places, &self.engine.tree);
        let (mut likely, mut found, mut folders) = (BTreeSet::new(), BTreeSet::new(), 0);
        let mut ends: BTreeMap<PathBuf, ScanEnd> = BTreeMap::new();
        let mut reported = Instant::now();
        while let Some(event) = scan.next(Duration::from_secs(3600)) {
            match event {
                ScanEvent::Found { hash, path, below } => {
                    let below = self.engine.folders.tilde(&below.to_string_lossy());
                    self.candidates.add(&path, ClueKind::Scan, &format!("found below {below}"));
                    found.insert(hash.as_str().to_owned());
                }
                ScanEvent::Likely(path) => {
                    likely.insert(path);
                }
                ScanEvent::Visited(more) => folders += more,
                ScanEvent::Finished { place, end } => {
                    ends.insert(place, end);
                }
            }
            if reported.elapsed() > Duration::from_millis(50) {
                reported = Instant::now();
                progress.search(folders, found.len(), total);
            }
        }
        let unfound: BTreeSet<String> = wanted.keys.difference(&found).cloned().collect();
        for Seen { place, shape } in seen {
            let end = ends.get(&place.path).copied().unwrap_or(ScanEnd::OutOfTime);
            if end == ScanEnd::Found {
                continue;
            }
            self.news.record_search(Searched {
                place: place.path.to_string_lossy().into_owned(),
                depth: place.depth,
                shape,
                finished: end == ScanEnd::Searched,
                patience: millis(place.patience),
                when: self.engine.clock.now(),
                unfound: unfound.clone(),
            });
        }
        self.news.record_spots(&likely);
        self.resolve();
        self.look_for_folders();
    }

    /// A folder that was not found before the timeout, or that may be on an unresponsive disk, is neither known nor
    /// unknown.
    pub(crate) fn mark_unfinished(&mut self, silent: bool) {
        let now = self.engine.clock.now();
        let mut learned = self.learned.clone();
        learned.absorb(self.news.clone());
        for (number, hash) in self.open() {
            let unfinished = silent || learned.is_unfinished(hash.as_str(), now);
            if let Some(project) = self.projects.get_mut(number).filter(|_| unfinished) {
                project.state = ProjectState::Scanning;
            }
        }
    }
}

fn is_asked(effort: &Effort) -> bool {
    matches!(effort, Effort::Scan(_))
}
