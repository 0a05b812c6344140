//! The fast path to an answer if nothing has changed since the index was updated: every file's stamp is read, no file is
//! opened, and only rows of found sessions are loaded.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use recount_catalog::Catalog;
use recount_model::SessionFacts;
use recount_search::Index;

use crate::cache::remembered::{Places, Unplaced};
use crate::projects::resolve::{Effort, ProjectHints};
use crate::search::index::session_key;
use crate::search::{SearchPath, SearchResults};
use crate::snapshot::disk_scan::DiskSnapshot;
use crate::{Engine, Error};

/// Sessions by their keys in the index.
pub(crate) trait Sessions {
    /// Returns one, and whether its files no longer exist.
    fn session(&self, key: u64) -> Option<(Arc<SessionFacts>, bool)>;
}

/// All of them, already listed; others no longer exist.
pub(crate) struct AllListed<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) catalog: &'a Catalog,
    pub(crate) listed: HashMap<u64, Arc<SessionFacts>>,
    pub(crate) places: Places,
}

impl Sessions for AllListed<'_> {
    fn session(&self, key: u64) -> Option<(Arc<SessionFacts>, bool)> {
        if let Some(facts) = self.listed.get(&key) {
            return Some((Arc::clone(facts), false));
        }
        let row = self.catalog.listed(self.engine.roots_key(), key).ok()??;
        let facts = Unplaced::decode(&row.content, self.engine.sources)?.place(&self.places);
        Some((facts, true))
    }
}

/// Sessions loaded from the catalog on demand, still without their projects: these take a listing of the disk, which is made at
/// the same time.
struct Unresolved<'a> {
    engine: &'a Engine,
    catalog: &'a Catalog,
    known: RefCell<HashMap<u64, (Arc<SessionFacts>, bool)>>,
    /// Their project directories.
    folders: RefCell<HashMap<u64, Box<str>>>,
}

impl Sessions for Unresolved<'_> {
    fn session(&self, wanted: u64) -> Option<(Arc<SessionFacts>, bool)> {
        if let Some(known) = self.known.borrow().get(&wanted) {
            return Some(known.clone());
        }
        let row = self.catalog.listed(self.engine.roots_key(), wanted).ok()??;
        let (facts, folder) = Unplaced::decode(&row.content, self.engine.sources)?.into_parts();
        let session = (facts, row.gone);
        self.known.borrow_mut().insert(wanted, session.clone());
        self.folders.borrow_mut().insert(wanted, folder);
        Some(session)
    }
}

/// An answer that may have sessions without their projects.
pub(crate) trait Answer: Send {
    /// Passes each session on, to add its project.
    fn each_session(&mut self, place: &mut dyn FnMut(&mut Arc<SessionFacts>));
}

impl Answer for HashSet<u64> {
    fn each_session(&mut self, _: &mut dyn FnMut(&mut Arc<SessionFacts>)) {}
}

impl Answer for (SearchResults, SearchPath) {
    fn each_session(&mut self, place: &mut dyn FnMut(&mut Arc<SessionFacts>)) {
        self.0.hits.iter_mut().for_each(|hit| place(&mut hit.session));
    }
}

impl Engine {
    /// Takes the fast path, if nothing has changed since the index was updated. `ask` runs while the files are still being
    /// checked: usually nothing has changed.
    pub(crate) fn quick<T: Answer>(
        &self,
        ask: impl FnOnce(&Index, &dyn Sessions) -> Result<T, Error> + Send,
    ) -> Option<Result<T, Error>> {
        let recall = |catalog: &Catalog, list: u64| {
            let mark = catalog.word(&self.word("indexed")).ok()??;
            // The last list, the index and the disk have to be of the same files.
            let index = Some(()).filter(|()| mark == shape(list));
            let index = index.and_then(|()| self.trusted_index(catalog))?;
            let (known, folders) = (RefCell::default(), RefCell::default());
            let sessions = Unresolved { engine: self, catalog, known, folders };
            let answer = ask(&index, &sessions);
            self.set_aside(index);
            Some((answer, sessions.folders.into_inner()))
        };
        let resolve = |disk: &DiskSnapshot, hints: &ProjectHints| {
            self.resolve_projects(disk, hints, &Effort::Single(usize::MAX), &())
        };
        let (unchanged, (answer, folders), resolved) = self.unchanged_and(recall, resolve)?;
        let places = OnceCell::new();
        let resolve = || {
            let effort = Effort::Single(usize::MAX);
            let resolved =
                resolved.unwrap_or_else(|| unchanged.resolve_projects(self, &effort, &()));
            Places::new(&unchanged.disk, &resolved)
        };
        let mut resolve = Some(resolve);
        Some(answer.map(|mut answer| {
            answer.each_session(&mut |facts| {
                let folder = folders.get(&session_key(facts));
                let made = || resolve.take().map(|resolve| resolve());
                if let (Some(folder), Some(places)) = (folder, places.get_or_init(made)) {
                    places.place(facts, folder);
                }
            });
            answer
        }))
    }

    /// Whether the index is known to be up to date with the disk.
    pub(crate) fn is_indexed(&self, catalog: &Catalog, disk: &DiskSnapshot) -> bool {
        let mark = catalog.word(&self.word("indexed")).ok().flatten();
        mark.as_deref() == Some(&shape(disk.shape()))
    }

    /// Records that the index is up to date with the disk.
    pub(crate) fn mark_indexed(&self, catalog: &Catalog, disk: &DiskSnapshot) {
        if !disk.is_racy() {
            // If it cannot be stored, the disk is checked again.
            let _kept = catalog.set_word(&self.word("indexed"), &shape(disk.shape()));
        }
    }
}

fn shape(shape: u64) -> String {
    format!("{shape:016x}")
}
