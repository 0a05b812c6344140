//! Ranking: scores, with a bonus for recent messages, in a stable order.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::Arc;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::{Column, ColumnValues};
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader, TantivyError};

use super::search::{HitOrder, SearchOptions};

/// The bonus of the newest message.
const RECENCY_BOOST: f32 = 0.2;
/// The time in milliseconds after which half of the bonus is left: thirty days.
const HALF_LIFE: f64 = 30.0 * 86_400_000.0;
/// Scores are rounded to this fraction: sums of the same numbers in another order are equal.
const GRAIN: f32 = 1024.0;
/// The time of a message without one: before all others.
pub(super) const NO_TIME: i64 = i64::MIN;

/// A found message, before its location is looked up. Greater is better.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranked {
    pub(super) score: f32,
    pub(super) time: i64,
    pub(super) session: u64,
    pub(super) message: u64,
    pub(super) segment: SegmentOrdinal,
    pub(super) document: DocId,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let keys = |one: &Self| (one.session, one.message);
        self.score
            .total_cmp(&other.score)
            .then_with(|| self.time.cmp(&other.time))
            .then_with(|| keys(other).cmp(&keys(self)))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

/// The intermediate result of a search.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// The number of matching messages.
    pub(super) total: usize,
    /// The best message of each matching session; without message keys unless they are needed.
    pub(super) sessions: HashMap<u64, Ranked, ByKey>,
    /// The best messages; empty if only one per session was requested.
    pub(super) best: Vec<Ranked>,
}

/// One multiplication distributes the keys well enough.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ByKey;

/// The state of [`ByKey`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyHasher(u64);

impl BuildHasher for ByKey {
    type Hasher = KeyHasher;

    fn build_hasher(&self) -> KeyHasher {
        KeyHasher(0)
    }
}

impl std::hash::Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        let mixed = (self.0 ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// Collects matches according to [`SearchOptions`].
pub(super) struct Ranking<'s> {
    pub(super) options: SearchOptions,
    /// Documents to hide, per segment.
    pub(super) hidden: &'s [HashSet<DocId>],
}

impl Collector for Ranking<'_> {
    type Fruit = Collected;
    type Child = SegmentRanking;

    fn for_segment(
        &self,
        segment: SegmentOrdinal,
        reader: &SegmentReader,
    ) -> Result<SegmentRanking, TantivyError> {
        let columns = reader.fast_fields();
        Ok(SegmentRanking {
            options: self.options.clone(),
            hidden: self.hidden.get(segment as usize).cloned().unwrap_or_default(),
            segment,
            time: columns.i64("time")?,
            session: columns.column_first_or_default("session")?,
            message: columns.column_first_or_default("message")?,
            limit: self.options.offset.saturating_add(self.options.limit),
            total: 0,
            sessions: HashMap::default(),
            best: BinaryHeap::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        self.options.sort == HitOrder::Relevance
    }

    fn merge_fruits(&self, kept: Vec<Collected>) -> Result<Collected, TantivyError> {
        Ok(kept.into_iter().reduce(merged).unwrap_or_default())
    }
}

/// Merges the intermediate results of two parts of an index.
pub(super) fn merged(mut one: Collected, other: Collected) -> Collected {
    one.total += other.total;
    one.best.extend(other.best);
    #[expect(clippy::iter_over_hash_type, reason = "the best of two does not depend on the order")]
    for (session, ranked) in other.sessions {
        let best = one.sessions.entry(session).or_insert(ranked);
        *best = ranked.max(*best);
    }
    one
}

/// Collects matches of one segment.
pub(super) struct SegmentRanking {
    options: SearchOptions,
    hidden: HashSet<DocId>,
    segment: SegmentOrdinal,
    time: Column<i64>,
    session: Arc<dyn ColumnValues<u64>>,
    message: Arc<dyn ColumnValues<u64>>,
    limit: usize,
    total: usize,
    sessions: HashMap<u64, Ranked, ByKey>,
    best: BinaryHeap<Reverse<Ranked>>,
}

impl SegmentCollector for SegmentRanking {
    type Fruit = Collected;

    fn collect(&mut self, document: DocId, score: Score) {
        if self.hidden.contains(&document) {
            return;
        }
        self.total += 1;
        let time = self.time.first(document).unwrap_or(NO_TIME);
        let session = self.session.get_val(document);
        let score = self.boosted(score, time);
        let segment = self.segment;
        let mut ranked = Ranked { score, time, session, message: 0, segment, document };
        if self.options.one_per_session {
            self.keep_of_session(ranked);
            return;
        }
        self.sessions.entry(session).or_insert(ranked);
        let is_full = self.best.len() >= self.limit;
        if is_full && self.best.peek().is_none_or(|Reverse(worst)| ranked < *worst) {
            return;
        }
        ranked.message = self.message.get_val(document);
        self.best.push(Reverse(ranked));
        if is_full {
            self.best.pop();
        }
    }

    fn harvest(self) -> Collected {
        let best = self.best.into_iter().map(|Reverse(ranked)| ranked).collect();
        Collected { total: self.total, sessions: self.sessions, best }
    }
}

impl SegmentRanking {
    fn keep_of_session(&mut self, mut ranked: Ranked) {
        let message = &self.message;
        self.sessions
            .entry(ranked.session)
            .and_modify(|best| {
                if (ranked.score, ranked.time) >= (best.score, best.time) {
                    ranked.message = message.get_val(ranked.document);
                    *best = ranked.max(*best);
                }
            })
            .or_insert_with(|| {
                ranked.message = message.get_val(ranked.document);
                ranked
            });
    }

    /// Adds the bonus for recent messages: age decides between equals, never against a better match.
    fn boosted(&self, score: f32, time: i64) -> f32 {
        if self.options.sort == HitOrder::Time {
            return 0.0;
        }
        boosted(score, RECENCY_BOOST, self.options.now, time)
    }
}

/// Adds a bonus for recent messages, and rounds.
pub(super) fn boosted(score: f32, bonus: f32, now: i64, time: i64) -> f32 {
    let lift = if time == NO_TIME { 0.0 } else { bonus * freshness(now, time) };
    (score * (1.0 + lift) * GRAIN).round() / GRAIN
}

/// Returns 1 for a message of this moment, halved for each half-life that has passed.
fn freshness(now: i64, time: i64) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "an age needs no exact milliseconds")]
    let age = now.saturating_sub(time).max(0) as f64;
    #[expect(clippy::cast_possible_truncation, reason = "between nought and one")]
    let fresh = (-age / HALF_LIFE).exp2() as f32;
    fresh
}
