//! Search with every key, for a view that stays open: index, rows and projects of a snapshot are kept between calls, so that a call
//! lists nothing and opens no more than the files of its hits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use recount_catalog::Catalog;
use recount_model::SessionFacts;
use recount_search::{Index, SearchQuery as Question, Searcher};

use crate::cache::remembered::{Places, Unplaced};
use crate::search::index::stale;
use crate::search::quick::Sessions;
use crate::search::{Ready, SearchPath, SearchRequest, SearchResults, bad, by_key};
use crate::snapshot::Snapshot;
use crate::snapshot::disk_scan::{DiskSnapshot, Progress};
use crate::{Engine, Error};

/// If more than this many bytes are not indexed, they are left to the background.
const SOON: u64 = 8 * 1000 * 1000;
/// While some of the sessions are not indexed, the index is looked at again this often.
const AGAIN: Duration = Duration::from_secs(1);

/// What the last search with every key was answered from.
pub(crate) type KeptSearcher = Mutex<Option<Arc<Kept>>>;

/// What searches of one snapshot are answered from.
#[derive(Debug)]
pub(crate) struct Kept {
    snapshot: Snapshot,
    index: Index,
    searcher: Searcher,
    sessions: Listed,
    /// Whether some of the sessions are not in the index as they are.
    is_behind: bool,
    made: Instant,
}

/// The sessions of a snapshot, and those that are gone.
#[derive(Debug)]
struct Listed {
    by_key: HashMap<u64, Arc<SessionFacts>>,
    places: Places,
    /// For sessions that are gone.
    catalog: Mutex<Catalog>,
    roots: u64,
    sources: recount_formats::Sources,
}

impl Sessions for Listed {
    fn session(&self, key: u64) -> Option<(Arc<SessionFacts>, bool)> {
        if let Some(facts) = self.by_key.get(&key) {
            return Some((Arc::clone(facts), false));
        }
        let catalog = self.catalog.lock().unwrap_or_else(PoisonError::into_inner);
        let row = catalog.listed(self.roots, key).ok()??;
        let facts = Unplaced::decode(&row.content, self.sources)?.place(&self.places);
        Some((facts, true))
    }
}

impl Engine {
    /// Searches with every key that is typed: for an engine that answers from a snapshot. What is not in the index yet is left out if
    /// `at_once` is set and indexing it would take long; then [`SearchResults::is_unindexed`] is set. `within` narrows the query, and
    /// is no part of it in messages about mistakes.
    ///
    /// # Errors
    /// As [`Engine::search`].
    pub fn search_typed(
        &self,
        asked: &SearchRequest,
        within: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<SearchResults, Error> {
        let own = Question::parse(&asked.query).map_err(|mistake| bad(&asked.query, mistake))?;
        let narrowed = within.map(|within| format!("({}) {within}", asked.query));
        let question = match &narrowed {
            None => own,
            Some(query) => Question::parse(query).map_err(|mistake| bad(query, mistake))?,
        };
        let Some(snapshot) = self.own_snapshot().cloned() else {
            let query = narrowed.unwrap_or_else(|| asked.query.clone());
            return self.search(&SearchRequest { query, ..asked.clone() }, progress);
        };
        let kept = match self.located(self.kept_searcher(&snapshot, asked.at_once)) {
            // Another run has just begun to build it.
            Err(error) if error.is_busy() => {
                let query = narrowed.unwrap_or_else(|| asked.query.clone());
                return self.scan(&SearchRequest { query, ..asked.clone() }, progress);
            }
            kept => kept?,
        };
        let mut failed = None;
        let plan = question.plan(&self.now_for(&question), &mut |leaf| {
            self.sessions_of(leaf, snapshot.sessions()).unwrap_or_else(|error| {
                failed.get_or_insert(error);
                Vec::new()
            })
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let first = kept.searcher.search(&plan, &self.first_options(asked, &plan))?;
        let (searcher, sessions) = (kept.searcher.clone(), &kept.sessions);
        let (notes, way) = (Vec::new(), SearchPath::Long);
        let ready = Ready { searcher, plan, first, sessions, notes, progress, way };
        let answer = self.ask(&ready, asked)?;
        Ok(SearchResults { is_unindexed: kept.is_behind, ..answer })
    }

    /// Closes what searches with every key are answered from: its files are mapped, and count as memory of this process. The next search
    /// opens it again.
    pub fn close_searcher(&self) {
        *self.searcher.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns what searches of a snapshot are answered from, made again when it is another.
    fn kept_searcher(&self, snapshot: &Snapshot, at_once: bool) -> Result<Arc<Kept>, Error> {
        let mut slot = self.searcher.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = &*slot
            && kept.snapshot.is_same(snapshot)
            && !(kept.is_behind && kept.made.elapsed() >= AGAIN)
        {
            return Ok(Arc::clone(kept));
        }
        let before = slot.take();
        let kept = match self.make_searcher(snapshot, before, at_once) {
            Err(Error::Index(error)) if error.is_damage() => {
                self.start_over(&mut self.needed_catalog()?)?;
                self.make_searcher(snapshot, None, at_once)?
            }
            made => made?,
        };
        let kept = Arc::new(kept);
        *slot = Some(Arc::clone(&kept));
        Ok(kept)
    }

    fn make_searcher(
        &self,
        snapshot: &Snapshot,
        before: Option<Arc<Kept>>,
        at_once: bool,
    ) -> Result<Kept, Error> {
        let mut catalog = self.needed_catalog()?;
        let index = match before {
            Some(before) => {
                before.index.reload()?;
                before.index.clone()
            }
            None => self.index_to_search(&mut catalog)?,
        };
        let disk = self.look();
        let mut kept = Found { searcher: index.searcher(), is_behind: false };
        if !self.is_indexed(&catalog, &disk) {
            kept = self.with_what_is_new(&index, &mut catalog, &disk, at_once)?;
        }
        let sessions = Listed {
            by_key: by_key(snapshot.sessions().to_vec()),
            places: Places::new(&disk, snapshot.resolved()),
            catalog: Mutex::new(catalog),
            roots: self.roots_key(),
            sources: self.sources,
        };
        let Found { searcher, is_behind } = kept;
        let (snapshot, made) = (snapshot.clone(), Instant::now());
        Ok(Kept { snapshot, index, searcher, sessions, is_behind, made })
    }

    /// Opens the index; while another run writes it, without a look at every byte.
    fn index_to_search(&self, catalog: &mut Catalog) -> Result<Index, Error> {
        if let Some(index) = self.trusted_index(catalog) {
            return Ok(index);
        }
        if self.index_progress().is_some()
            && let Ok(index) = Index::open(&self.index_folder()?)
            && index.mark().ok().flatten() == catalog.word(&self.word("index")).ok().flatten()
        {
            return Ok(index);
        }
        self.open_index(catalog)
    }

    /// Adds what is not in the index: a few messages beside it, a little to it, and much is left to the background.
    fn with_what_is_new(
        &self,
        index: &Index,
        catalog: &mut Catalog,
        disk: &DiskSnapshot,
        at_once: bool,
    ) -> Result<Found, Error> {
        // Nobody waits for less: the next key needs the same.
        let (_, digests) = self.digests(&())?;
        let known = catalog.indexed(self.roots_key())?;
        let stale = stale(&digests, &known, disk);
        let bytes: u64 = stale.iter().map(|stale| stale.digest.facts.bytes()).sum();
        let mut is_behind = false;
        let searcher = if stale.is_empty() {
            index.searcher()
        } else if let Some(searcher) = self.with_new_messages(index, catalog, disk, &digests)? {
            searcher
        } else if at_once && bytes > SOON {
            is_behind = true;
            index.searcher()
        } else {
            match self.searcher(index, catalog, disk, &digests, &()) {
                // While another run writes, its newest messages are missing.
                Ok((searcher, missing)) => {
                    is_behind = !missing.is_empty();
                    searcher
                }
                Err(error) if error.is_busy() => {
                    is_behind = true;
                    index.reload()?;
                    index.searcher()
                }
                Err(error) => return Err(error),
            }
        };
        Ok(Found { searcher, is_behind })
    }

    /// Whether the index has everything that was on disk at the moment of this engine.
    pub fn is_index_current(&self) -> bool {
        let disk = self.look();
        self.catalog().is_some_and(|catalog| self.is_indexed(&catalog, &disk))
    }
}

struct Found {
    searcher: Searcher,
    is_behind: bool,
}
