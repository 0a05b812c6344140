//! Queries the index, and verifies hits where it is not certain.

use std::borrow::Cow;
use std::collections::HashSet;
use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

use recount_search::{Found, Hit, QueryPlan, Relaxation, SearchOptions};

use crate::cancel::stop_if_cancelled;
use crate::messages::records::Records;
use crate::search::hits::{Lost, Pointed, Shown};
use crate::search::index::session_key;
use crate::search::{Match, Ready, RelaxedSearch, SearchNote, SearchRequest, SearchResults};
use crate::{Engine, Error};

/// The maximum number of messages verified for one answer; beyond it some may be missing, and the answer is marked.
const MOST_CHECKED: usize = 20_000;
/// The size of the first batch, and the factor by which each further batch grows.
const FIRST_CHECKED: usize = 64;
const MORE: usize = 4;
/// The number of times the first batch is fetched from the index with the first query: enough for three batches, as asking again takes
/// longer; for a relaxed plan enough for two.
const AHEAD: usize = 1 + MORE + MORE * MORE;
const AHEAD_IF_RELAXED: usize = 1 + MORE;
/// The maximum number of messages that are read at once: after each share, sessions that already have a hit are skipped.
const SHARE: usize = 256;
/// From this number of messages on, a second thread pays off.
const MANY: usize = 16;

impl SearchResults {
    fn lose(&mut self, lost: Lost) {
        match lost {
            Lost::Changed => self.lost += 1,
            Lost::Gone => self.unsure += 1,
        }
    }

    /// Whether it is certain that there are no hits.
    fn is_nothing(&self) -> bool {
        self.is_exact && self.total == 0 && self.lost == 0 && self.unsure == 0
    }
}

impl Engine {
    /// Queries the index, and reads the hits.
    pub(crate) fn ask(
        &self,
        ready: &Ready<'_>,
        asked: &SearchRequest,
    ) -> Result<SearchResults, Error> {
        let found = &ready.first;
        if found.relaxed {
            let plan = ready.plan.relaxed();
            return self.answer(ready, asked, plan.as_ref().unwrap_or(&ready.plan), found);
        }
        let answer = self.answer(ready, asked, &ready.plan, found)?;
        // No message that the index matched with all of the words was confirmed.
        if !found.is_exact
            && answer.is_nothing()
            && let Some(relaxed) = ready.plan.relaxed()
        {
            let found = ready.searcher.search(&relaxed, &self.first_options(asked, &relaxed))?;
            let second = self.answer(ready, asked, &relaxed, &found)?;
            return Ok(if second.total > 0 { second } else { answer });
        }
        Ok(answer)
    }

    /// Reads the hits of the index for a plan.
    fn answer(
        &self,
        ready: &Ready<'_>,
        asked: &SearchRequest,
        plan: &QueryPlan,
        found: &Found,
    ) -> Result<SearchResults, Error> {
        let mut answer = SearchResults {
            total: found.total,
            sessions: found.sessions,
            is_exact: found.is_exact,
            relaxed: found.relaxed,
            relaxation: plan
                .relaxation()
                .map(|relaxation| relaxed_search(relaxation, &found.worth)),
            hits: Vec::new(),
            notes: ready.notes.clone(),
            lost: 0,
            unsure: 0,
            is_unindexed: false,
        };
        if found.is_exact {
            let shown = Shown { width: asked.width, worth: &found.worth };
            for read in self.read(ready, &found.hits, plan, shown) {
                match read {
                    Ok(read) => answer.hits.extend(read),
                    Err(lost) => answer.lose(lost),
                }
            }
            if !found.worth.is_empty() {
                answer.hits.sort_by(|one, other| other.score.total_cmp(&one.score));
                answer.hits.truncate(asked.limit);
            }
        } else {
            self.check(ready, asked, plan, found, &mut answer)?;
        }
        if answer.lost > 0 {
            answer.notes.push(SearchNote::Unreadable(answer.lost));
        }
        if answer.unsure > 0 {
            answer.notes.push(SearchNote::Unverifiable(answer.unsure));
        }
        Ok(answer)
    }

    /// Verifies message after message, best first, until there are enough.
    fn check(
        &self,
        ready: &Ready<'_>,
        asked: &SearchRequest,
        plan: &QueryPlan,
        first: &Found,
        answer: &mut SearchResults,
    ) -> Result<(), Error> {
        let (mut checked, mut held) = (0, 0);
        let mut sessions = HashSet::new();
        // For a session that has a hit, others only matter for the exact number.
        let mut put_off: Vec<Hit> = Vec::new();
        let mut size = FIRST_CHECKED.max(asked.limit);
        loop {
            stop_if_cancelled(ready.progress)?;
            let hits = self.batch(ready, asked, plan, first, (checked, size))?;
            let is_last = hits.len() < size;
            let mut left = &*hits;
            let mut share_size = asked.limit.clamp(MANY, SHARE);
            while !left.is_empty() {
                let is_enough = answer.hits.len() >= asked.limit;
                if !is_last && is_enough {
                    break;
                }
                let (share, later) = left.split_at(share_size.min(left.len()));
                left = later;
                share_size = (share_size * 2).min(SHARE);
                // What is only counted needs no snippet.
                let width = if is_enough { 0 } else { asked.width };
                let shown = Shown { width, worth: &[] };
                let is_idle = |hit: &Hit| !asked.all_hits && sessions.contains(&hit.session);
                let (idle, share): (Vec<Hit>, Vec<Hit>) = share.iter().cloned().partition(is_idle);
                put_off.extend(idle);
                for read in self.read(ready, &share, plan, shown) {
                    let hit = match read {
                        Ok(Some(hit)) => hit,
                        Ok(None) => continue,
                        Err(lost) => {
                            answer.lose(lost);
                            continue;
                        }
                    };
                    held += 1;
                    let is_first = sessions.insert(session_key(&hit.session));
                    if (is_first || asked.all_hits) && answer.hits.len() < asked.limit {
                        answer.hits.push(hit);
                    }
                }
            }
            checked += hits.len();
            if is_last {
                // When all have been verified, it is known.
                for read in self.read(ready, &put_off, plan, Shown::default()) {
                    match read {
                        Ok(hit) => held += usize::from(hit.is_some()),
                        Err(lost) => answer.lose(lost),
                    }
                }
                (answer.total, answer.sessions) = (held, sessions.len());
                answer.is_exact = true;
                return Ok(());
            }
            if answer.hits.len() >= asked.limit {
                return Ok(());
            }
            if checked >= MOST_CHECKED {
                let left = answer.total.saturating_sub(checked);
                answer.notes.push(SearchNote::TooMany { checked, left });
                return Ok(());
            }
            size = (size * MORE).min(MOST_CHECKED - checked);
        }
    }

    /// Returns hits that are to be verified, from the first result as far as it goes.
    fn batch<'f>(
        &self,
        ready: &Ready<'_>,
        asked: &SearchRequest,
        plan: &QueryPlan,
        first: &'f Found,
        (offset, size): (usize, usize),
    ) -> Result<Cow<'f, [Hit]>, Error> {
        let known = first.hits.len();
        let options = self.first_options(asked, plan);
        let limit = if first.relaxed { options.relaxed_limit } else { options.limit };
        let is_all = known < limit;
        let end = offset.saturating_add(size);
        if is_all || end <= known {
            return Ok(first.hits.get(offset..end.min(known)).unwrap_or_default().into());
        }
        // A question that was relaxed by the search has to be asked the same way, for the same order.
        let is_relaxed_there = first.relaxed && std::ptr::eq(first, &raw const ready.first);
        let plan = if is_relaxed_there { &ready.plan } else { plan };
        let more = ready.searcher.search(plan, &self.options(asked, offset, size, false))?;
        Ok(more.hits.into())
    }

    /// Returns the options of the first query.
    pub(crate) fn first_options(&self, asked: &SearchRequest, plan: &QueryPlan) -> SearchOptions {
        if plan.is_exact() {
            self.options(asked, 0, asked.limit, !asked.all_hits)
        } else {
            // The best hit of a session may not be confirmed where another is.
            let first = FIRST_CHECKED.max(asked.limit);
            let relaxed_limit = first.saturating_mul(AHEAD_IF_RELAXED);
            let is_relaxed = plan.relaxation().is_some();
            let limit = if is_relaxed { relaxed_limit } else { first.saturating_mul(AHEAD) };
            SearchOptions { relaxed_limit, ..self.options(asked, 0, limit, false) }
        }
    }

    /// Returns the options of a query.
    pub(crate) fn options(
        &self,
        asked: &SearchRequest,
        offset: usize,
        limit: usize,
        one_per_session: bool,
    ) -> SearchOptions {
        let now = self.clock.now().as_millisecond();
        let (sort, may_relax, relaxed_limit) = (asked.sort, true, limit);
        SearchOptions { limit, relaxed_limit, offset, now, sort, one_per_session, may_relax }
    }

    /// Reads hits, on all cores, and returns them in order.
    pub(crate) fn read(
        &self,
        ready: &Ready<'_>,
        hits: &[Hit],
        plan: &QueryPlan,
        shown: Shown<'_>,
    ) -> Vec<Result<Option<Match>, Lost>> {
        let mut numbered: Vec<(usize, &Hit, Option<Pointed<'_>>)> = hits
            .iter()
            .enumerate()
            .map(|(number, hit)| (number, hit, Pointed::new(hit, ready.sessions)))
            .collect();
        let rows = plan.rows();
        let rows = rows.as_ref();
        let read_share = |share: Vec<(usize, &Hit, Option<Pointed<'_>>)>| {
            let mut records = Records::default();
            let mut one = |pointed| self.read_hit(pointed, plan, rows, shown, &mut records);
            let read = share
                .into_iter()
                .map(|(number, _, pointed)| (number, pointed.map_or(Err(Lost::Changed), &mut one)));
            read.collect::<Vec<_>>()
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        if hits.len() < MANY || threads < 2 {
            return read_share(numbered).into_iter().map(|(_, read)| read).collect();
        }
        // File by file, so that each is opened once.
        numbered.sort_by_key(|(_, hit, _)| (hit.file, hit.offset));
        let share = hits.len().div_ceil(threads);
        let mut numbered = numbered.into_iter();
        let shares = (0..threads).map(|_| numbered.by_ref().take(share).collect());
        let mut read = read_shares(shares, &read_share);
        read.sort_by_key(|(number, _)| *number);
        read.into_iter().map(|(_, read)| read).collect()
    }
}

/// Reads each share on its own thread. If one panics, so does this: without its hits, an answer would look as if it had all.
fn read_shares<S: Send, T: Send>(
    shares: impl Iterator<Item = Vec<S>>,
    read: &(dyn Fn(Vec<S>) -> Vec<T> + Sync),
) -> Vec<T> {
    std::thread::scope(|scope| {
        let spawned: Vec<_> = shares.map(|share| scope.spawn(move || read(share))).collect();
        let joined = spawned.into_iter().map(ScopedJoinHandle::join);
        joined.flat_map(|read| read.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Returns how a search was relaxed. `worth` is by word; empty if it is not known.
pub(crate) fn relaxed_search(relaxation: &Relaxation, worth: &[f32]) -> RelaxedSearch {
    let words = relaxation.words.iter();
    let not_found = words.zip(worth).filter(|(_, worth)| **worth <= 0.0);
    RelaxedSearch {
        words: relaxation.words.clone(),
        left_out: relaxation.left_out.clone(),
        not_found: not_found.map(|(word, _)| word.clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_in_order() {
        let shares = [vec![1, 2], vec![3], Vec::new(), vec![4]];
        assert_eq!(read_shares(shares.into_iter(), &|share| share), [1, 2, 3, 4]);
    }

    #[test]
    #[should_panic = "a bad hit"]
    fn a_share_that_cannot_be_read_is_not_left_out() {
        let read = |share: Vec<u8>| {
            assert_ne!(share, [2], "a bad hit");
            share
        };
        read_shares([vec![1], vec![2], vec![3]].into_iter(), &read);
    }
}
