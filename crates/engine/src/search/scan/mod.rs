//! Search without an index: every file is scanned as raw bytes (`sift`), and only sessions whose bytes may match are read
//! (`hits`). The hits are those of the index; their order is not, as word frequencies are unknown: the newest come first.

mod hits;
mod sift;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hits::{Hits, Seen, Session};
use recount_formats::bytes::Buffer;
use recount_model::SessionFacts;
use recount_search::{QueryPlan, SearchQuery as Question};
use sift::ByteFilter;

use crate::cancel::stop_if_cancelled;
use crate::projects::resolve::{Effort, ProjectHints};
use crate::search::ask::relaxed_search;
use crate::search::index::with_document;
use crate::search::{Match, SearchRequest, SearchResults, bad};
use crate::snapshot::disk_scan::{DiskSnapshot, Group, Progress};
use crate::{Engine, Error};

impl Engine {
    /// Searches everything ever recorded, in the files themselves.
    ///
    /// # Errors
    /// If the query is invalid, or names a project that is unknown or ambiguous.
    pub(crate) fn scan(
        &self,
        asked: &SearchRequest,
        progress: &dyn Progress,
    ) -> Result<SearchResults, Error> {
        let plan = self.plan(&asked.query, progress)?;
        let disk = self.look();
        let is_question = plan.is_question();
        if !is_question {
            let answer = self.scan_for(&plan, &disk, asked, progress)?;
            if answer.total > 0 {
                return Ok(answer);
            }
        }
        if let Some(relaxed) = plan.relaxed() {
            let mut answer = self.scan_for(&relaxed, &disk, asked, progress)?;
            if answer.total > 0 {
                answer.relaxed = true;
                answer.relaxation = relaxed.relaxation().map(|one| relaxed_search(one, &[]));
                return Ok(answer);
            }
        }
        // Without any of the words that count, there may still be a message with all of them.
        if is_question {
            return self.scan_for(&plan, &disk, asked, progress);
        }
        Ok(SearchResults { is_exact: true, ..SearchResults::default() })
    }

    /// Searches for all of the words as they are.
    pub(crate) fn scan_strictly(
        &self,
        asked: &SearchRequest,
        progress: &dyn Progress,
    ) -> Result<SearchResults, Error> {
        let plan = self.plan(&asked.query, progress)?;
        self.scan_for(&plan, &self.look(), asked, progress)
    }

    /// Parses a query and resolves its sessions, which are only listed if it names any.
    fn plan(&self, query: &str, progress: &dyn Progress) -> Result<QueryPlan, Error> {
        let question = Question::parse(query).map_err(|mistake| bad(query, mistake))?;
        let mut sessions: Option<Vec<Arc<SessionFacts>>> = None;
        let mut failed = None;
        let plan = question.plan(&self.now_for(&question), &mut |leaf| {
            let mut list = || {
                if sessions.is_none() {
                    sessions = Some(self.scan_all(&Effort::List, progress)?.0.sessions);
                }
                self.sessions_of(leaf, sessions.as_deref().unwrap_or_default())
            };
            list().unwrap_or_else(|error| {
                failed.get_or_insert(error);
                Vec::new()
            })
        });
        failed.map_or(Ok(plan), Err)
    }

    fn scan_for(
        &self,
        plan: &QueryPlan,
        disk: &DiskSnapshot,
        asked: &SearchRequest,
        progress: &dyn Progress,
    ) -> Result<SearchResults, Error> {
        let sieve = ByteFilter::new(disk, plan.prefilter());
        let hits = Hits { plan, disk, sieve: &sieve, limit: asked.limit, all: asked.all_hits };
        let mut groups = disk.groups(|_, _| true);
        groups.sort_by_key(|group| {
            std::cmp::Reverse(group.files.iter().map(|(_, file)| file.stamp.nanos).max())
        });
        let mut seen = look_through(&groups, &hits, progress);
        stop_if_cancelled(progress)?;
        join_orphans(&groups, &hits, &mut seen);
        let total = seen.sessions.iter().map(|session| session.hits).sum();
        let sessions = seen.sessions.iter().filter(|session| session.hits > 0).count();
        let hits = self.matches(plan, disk, seen, asked.width);
        Ok(SearchResults { total, sessions, is_exact: true, hits, ..SearchResults::default() })
    }

    /// Builds the results from the best hits.
    fn matches(
        &self,
        plan: &QueryPlan,
        disk: &DiskSnapshot,
        seen: Seen,
        width: usize,
    ) -> Vec<Match> {
        if seen.best.is_empty() {
            return Vec::new();
        }
        let mut hints = ProjectHints::default();
        for found in seen.best.values() {
            found.session.add_hints(&mut hints);
        }
        let effort = Effort::Single(usize::MAX);
        let projects = self.resolve_projects(disk, &hints, &effort, &());
        let mut known: HashMap<u64, Arc<SessionFacts>> = HashMap::new();
        let found = seen.best.into_values().rev().map(|found| {
            let session = known.entry(found.session.key).or_insert_with(|| {
                let mut facts = found.session.facts.clone();
                facts.project = projects.project_of(found.session.folder, facts.cwd.as_ref());
                Arc::new(facts)
            });
            let title = session.title.as_deref().filter(|_| found.is_first).unwrap_or_default();
            let (key, message) = (found.session.key, found.message);
            let snippet =
                with_document(key, title, &message, |document| plan.snippet(&document.text, width));
            let session = Arc::clone(session);
            Match { session, is_gone: false, message, score: 0.0, snippet }
        });
        found.collect()
    }
}

/// Scans all groups, on all cores.
fn look_through(groups: &[Group], hits: &Hits<'_>, progress: &dyn Progress) -> Seen {
    let size = |group: &Group| group.files.iter().map(|(_, file)| file.bytes).sum::<u64>();
    let total = groups.iter().map(size).sum();
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let together = Mutex::new(Seen::default());
    let work = || {
        let mut own = Seen::default();
        let (mut piece, mut buffer) = (Vec::new(), Buffer::new());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(group) = groups.get(number).filter(|_| !progress.is_cancelled()) else {
                break;
            };
            if hits.sieve.may_hold(group, &mut piece) {
                hits.read(number, group, &mut buffer, &mut own);
            }
            let bytes = size(group);
            progress.advance(done.fetch_add(bytes, Ordering::Relaxed) + bytes, total);
        }
        if let Ok(mut together) = together.lock() {
            together.merge(own, hits.limit);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(groups.len());
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    together.into_inner().unwrap_or_default()
}

/// Files are grouped by the id in their names. If names are wrong, one session is in several groups: those are read again,
/// together.
fn join_orphans(groups: &[Group], hits: &Hits<'_>, seen: &mut Seen) {
    let mut by_key: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for Session { key, group, .. } in &seen.sessions {
        by_key.entry(*key).or_default().extend(group);
    }
    for numbers in by_key.values_mut() {
        numbers.sort_unstable();
        numbers.dedup();
    }
    by_key.retain(|_, numbers| numbers.len() > 1);
    let orphans: HashSet<u64> = by_key.keys().copied().collect();
    if orphans.is_empty() {
        return;
    }
    seen.forget(&orphans);
    let mut buffer = Buffer::new();
    for (key, numbers) in by_key {
        let mut members = numbers.iter().filter_map(|number| groups.get(*number));
        let Some(first) = members.next() else { continue };
        let mut joined = first.clone();
        joined.files.extend(members.flat_map(|group| group.files.iter().cloned()));
        hits.read_one(key, &joined, &mut buffer, seen);
    }
}
