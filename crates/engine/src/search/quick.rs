//! The fast path to an answer if nothing has changed since the index was updated: every file's stamp is read, no file is
//! opened, and only rows of found sessions are loaded.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use recount_catalog::Catalog;
use recount_model::SessionFacts;
use recount_search::Index;

use crate::Engine;
use crate::cache::remembered::{Places, Unchanged, Unplaced};
use crate::projects::resolve::Effort;
use crate::snapshot::disk_scan::DiskSnapshot;

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

/// Sessions loaded from the catalog on demand.
#[derive(Debug)]
pub(crate) struct Quick<'a> {
    engine: &'a Engine,
    pub(crate) index: Index,
    unchanged: Unchanged,
    places: OnceCell<Places>,
    /// Those that were already loaded.
    known: RefCell<HashMap<u64, (Arc<SessionFacts>, bool)>>,
}

impl Engine {
    /// Takes the fast path, if nothing has changed since the index was updated. `ask` runs while the files are still being
    /// checked: usually nothing has changed.
    pub(crate) fn quick<T: Send>(
        &self,
        ask: impl FnOnce(&Index) -> T + Send,
    ) -> Option<(Quick<'_>, T)> {
        let (unchanged, (mark, index)) = self.unchanged(|catalog| {
            let index = self.trusted_index(catalog).map(|index| {
                let answer = ask(&index);
                (index, answer)
            });
            (catalog.word(&self.word("indexed")).ok().flatten(), index)
        })?;
        match index {
            Some((index, answer)) if mark.as_deref() == Some(&shape(&unchanged.disk)) => {
                let (places, known) = (OnceCell::new(), RefCell::default());
                Some((Quick { engine: self, index, unchanged, places, known }, answer))
            }
            _ => None,
        }
    }

    /// Whether the index is known to be up to date with the disk.
    pub(crate) fn is_indexed(&self, catalog: &Catalog, disk: &DiskSnapshot) -> bool {
        let mark = catalog.word(&self.word("indexed")).ok().flatten();
        mark.as_deref() == Some(&shape(disk))
    }

    /// Records that the index is up to date with the disk.
    pub(crate) fn mark_indexed(&self, catalog: &Catalog, disk: &DiskSnapshot) {
        if !disk.is_racy() {
            // If it cannot be stored, the disk is checked again.
            let _kept = catalog.set_word(&self.word("indexed"), &shape(disk));
        }
    }
}

fn shape(disk: &DiskSnapshot) -> String {
    format!("{:016x}", disk.shape())
}

impl Quick<'_> {
    /// Resolves the projects on first use.
    fn places(&self) -> &Places {
        self.places.get_or_init(|| {
            let effort = Effort::Single(usize::MAX);
            let resolved = self.unchanged.resolve_projects(self.engine, &effort, &());
            Places::new(&self.unchanged.disk, &resolved)
        })
    }
}

impl Sessions for Quick<'_> {
    fn session(&self, wanted: u64) -> Option<(Arc<SessionFacts>, bool)> {
        if let Some(known) = self.known.borrow().get(&wanted) {
            return Some(known.clone());
        }
        let row = self.unchanged.catalog.listed(self.engine.roots_key(), wanted).ok()??;
        let facts = Unplaced::decode(&row.content, self.engine.sources)?.place(self.places());
        let session = (facts, row.gone);
        self.known.borrow_mut().insert(wanted, session.clone());
        Some(session)
    }
}
