//! Runs a plan: finds the matches, ranks them, and looks up their locations.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use recount_model::{Fate, MessageKind};
use tantivy::columnar::Column;
use tantivy::query::EnableScoring;
use tantivy::{DocId, DocSet as _, TantivyError};

use super::evidence::{self, Part, Weighed};
use super::overlay::{self, CombinedStatistics, Overlay};
use super::rank::{self, Collected, Ranked, Ranking};
use super::schema;
use crate::plan::Bound;
use crate::{Error, QueryPlan};

/// Which matches to return.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// The maximum number of hits.
    pub limit: usize,
    /// The maximum number of hits if the words are relaxed: each of them costs more to look up.
    pub relaxed_limit: usize,
    /// The number of best hits to skip.
    pub offset: usize,
    /// The time from which age is counted, in milliseconds since 1970.
    pub now: i64,
    /// Which hits come first.
    pub sort: HitOrder,
    /// Whether to return only the best hit of each session.
    pub one_per_session: bool,
    /// Whether messages with some of the words, or other forms of them, are hits if none has all.
    pub may_relax: bool,
}

/// Which hits come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HitOrder {
    /// The best matches.
    #[default]
    Relevance,
    /// The newest.
    Time,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Found {
    /// The number of matching messages.
    pub total: usize,
    /// The number of their sessions.
    pub sessions: usize,
    /// Whether the two numbers are exact; otherwise they are upper bounds, as some hits must be checked.
    pub is_exact: bool,
    /// Whether these hits may have only some of the words: those of [`QueryPlan::relaxed`].
    pub relaxed: bool,
    /// How much each word of a relaxed plan is worth: the rarer, the more. Empty if it was not ranked by them.
    pub worth: Vec<f32>,
    /// The requested hits, best first. With `worth`, there are a few more than requested, to rank them by
    /// [`QueryPlan::closeness`].
    pub hits: Vec<Hit>,
}

/// The number of further hits of a relaxed plan.
const RERANKED: usize = 20;

/// A found message, and its location.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Key of the session.
    pub session: u64,
    /// Key of the message.
    pub message: u64,
    /// The caller's number of the file.
    pub file: u64,
    /// First byte of the record.
    pub offset: u64,
    /// Length of the record in bytes.
    pub bytes: u64,
    /// The line on which the record begins.
    pub line: u64,
    /// Its time.
    pub time: Option<i64>,
    /// What it is.
    pub kind: MessageKind,
    /// Its fate.
    pub fate: Fate,
    /// Whether the session's title was indexed with it.
    pub has_title: bool,
    /// Its score; 0 if sorted by time.
    pub score: f32,
    /// Whether the index is not certain: check it with [`QueryPlan::holds`].
    pub must_check: bool,
}

/// Searches one state of the index. Cheap to create, and not affected by later commits.
#[derive(Clone)]
pub struct Searcher {
    disk: tantivy::Searcher,
    memory: Option<tantivy::Searcher>,
    hidden: Vec<HashSet<DocId>>,
}

impl std::fmt::Debug for Searcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Searcher").field("messages", &self.messages()).finish_non_exhaustive()
    }
}

impl Searcher {
    pub(super) fn new(disk: tantivy::Searcher) -> Self {
        Self { disk, memory: None, hidden: Vec::new() }
    }

    /// Adds messages that are not committed yet; `hide` lists those on disk that they replace.
    pub fn with_overlay(self, overlay: Overlay, hide: &[u64]) -> Result<Self, Error> {
        let hidden = overlay::documents_of(&self.disk, hide).map_err(failed)?;
        Ok(Self { disk: self.disk, memory: overlay.searcher, hidden })
    }

    /// Returns the number of messages in the index, including hidden ones.
    pub fn messages(&self) -> u64 {
        self.disk.num_docs() + self.memory.as_ref().map_or(0, tantivy::Searcher::num_docs)
    }

    /// Runs a plan. If no message has all of its words, or if it is a question in a sentence, runs [`QueryPlan::relaxed`] and
    /// marks the result.
    pub fn search(&self, plan: &QueryPlan, options: &SearchOptions) -> Result<Found, Error> {
        let relaxed_options = SearchOptions { limit: options.relaxed_limit, ..options.clone() };
        if options.may_relax
            && plan.is_question()
            && let Some(relaxed) = plan.relaxed()
        {
            let found = self.guarded(&relaxed, Some(plan), &relaxed_options)?;
            if found.total > 0 {
                return Ok(found);
            }
        }
        let found = self.guarded(plan, None, options)?;
        if found.total > 0 || !options.may_relax {
            return Ok(found);
        }
        let Some(relaxed) = plan.relaxed() else { return Ok(found) };
        let second = self.guarded(&relaxed, None, &relaxed_options)?;
        Ok(if second.total > 0 { second } else { found })
    }

    /// The engine trusts its files: if a byte was changed it may panic, which is treated as damage.
    fn guarded(
        &self,
        plan: &QueryPlan,
        exact: Option<&QueryPlan>,
        options: &SearchOptions,
    ) -> Result<Found, Error> {
        let answer = AssertUnwindSafe(|| self.answer(plan, exact, options));
        catch_unwind(answer).map_err(|_| Error::Damaged)?.map_err(failed)
    }

    /// Runs a plan; `exact` is the query before it was relaxed.
    fn answer(
        &self,
        plan: &QueryPlan,
        exact: Option<&QueryPlan>,
        options: &SearchOptions,
    ) -> Result<Found, TantivyError> {
        let weighed = match options.sort {
            HitOrder::Relevance => self.weighed(plan, exact, options)?,
            HitOrder::Time => None,
        };
        let (kept, worth) = match weighed {
            Some(weighed) => (weighed.kept, weighed.worth),
            None => (self.collected(plan, options)?, Vec::new()),
        };
        let (total, sessions) = (kept.total, kept.sessions.len());
        let best = if worth.is_empty() || options.limit == 0 {
            page(kept, options)
        } else {
            let limit = options.limit.saturating_add(RERANKED);
            page(kept, &SearchOptions { limit, ..options.clone() })
        };
        let sure = if plan.is_exact() { None } else { Some(self.sure(plan, &best)?) };
        // Opening the columns of a segment costs as much as reading a hundred numbers.
        let mut columns: HashMap<u32, Columns> = HashMap::new();
        let hits = best.iter().map(|ranked| {
            let is_sure = sure.as_ref().is_none_or(|sure| sure.contains(&address(ranked)));
            let own = match columns.entry(ranked.segment) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(slot) => slot.insert(Columns::of(self.segment(ranked.segment)?)?),
            };
            Ok::<_, TantivyError>(own.hit(ranked, !is_sure))
        });
        Ok(Found {
            total,
            sessions,
            is_exact: sure.is_none(),
            relaxed: plan.relaxation().is_some(),
            worth,
            hits: hits.collect::<Result<_, _>>()?,
        })
    }

    /// Ranks the matches of a relaxed plan; `None` if it is not relaxed.
    fn weighed(
        &self,
        plan: &QueryPlan,
        exact: Option<&QueryPlan>,
        options: &SearchOptions,
    ) -> Result<Option<Weighed>, TantivyError> {
        let counts = CombinedStatistics { disk: &self.disk, memory: self.memory.as_ref() };
        let disk = self.disk.segment_readers().iter().enumerate().map(|(number, reader)| Part {
            searcher: &self.disk,
            reader,
            hidden: self.hidden.get(number),
        });
        let memory = self.memory.iter().flat_map(|searcher| {
            let readers = searcher.segment_readers().iter();
            readers.map(move |reader| Part { searcher, reader, hidden: None })
        });
        let parts: Vec<Part<'_>> = disk.chain(memory).collect();
        evidence::weigh(plan, exact, &parts, &counts, options)
    }

    /// Finds and scores the matches.
    fn collected(
        &self,
        plan: &QueryPlan,
        options: &SearchOptions,
    ) -> Result<Collected, TantivyError> {
        let query = plan.compiled(Bound::Upper);
        let counts = CombinedStatistics { disk: &self.disk, memory: self.memory.as_ref() };
        let ranking = |hidden| Ranking { options: options.clone(), hidden };
        let mut kept: Collected =
            self.disk.search_with_statistics_provider(&query, &ranking(&self.hidden), &counts)?;
        if let Some(memory) = &self.memory {
            let newer = memory.search_with_statistics_provider(&query, &ranking(&[]), &counts)?;
            kept = rank::merged(kept, shifted(newer, self.disk.segment_readers().len()));
        }
        Ok(kept)
    }

    /// Returns a segment of either index, numbered consecutively.
    fn segment(&self, at: u32) -> Result<&tantivy::SegmentReader, TantivyError> {
        let memory = self.memory.iter().flat_map(tantivy::Searcher::segment_readers);
        let segment = self.disk.segment_readers().iter().chain(memory).nth(at as usize);
        segment.ok_or_else(|| TantivyError::InternalError("no such segment".into()))
    }

    /// Returns which of these messages certainly match.
    fn sure(
        &self,
        plan: &QueryPlan,
        best: &[Ranked],
    ) -> Result<HashSet<(u32, DocId)>, TantivyError> {
        let query = plan.compiled(Bound::Lower);
        let weight = query.weight(EnableScoring::disabled_from_searcher(&self.disk))?;
        let mut wanted: Vec<(u32, DocId)> = best.iter().map(address).collect();
        wanted.sort_unstable();
        let mut sure = HashSet::new();
        for documents in wanted.chunk_by(|one, next| one.0 == next.0) {
            let Some((segment, _)) = documents.first() else { continue };
            let mut matches = weight.scorer(self.segment(*segment)?, 1.0)?;
            for &(ordinal, document) in documents {
                if matches.doc() < document {
                    matches.seek(document);
                }
                if matches.doc() == document {
                    sure.insert((ordinal, document));
                }
            }
        }
        Ok(sure)
    }
}

/// The locations of the messages of one segment.
struct Columns {
    numbers: [Column<u64>; 6],
    time: Column<i64>,
}

impl Columns {
    fn of(segment: &tantivy::SegmentReader) -> Result<Self, TantivyError> {
        let columns = segment.fast_fields();
        let number = |name: &str| columns.u64(name);
        Ok(Self {
            numbers: [
                number("message")?,
                number("file")?,
                number("offset")?,
                number("bytes")?,
                number("line")?,
                number("marks")?,
            ],
            time: columns.i64("time")?,
        })
    }

    fn hit(&self, ranked: &Ranked, must_check: bool) -> Hit {
        let number = |column: &Column<u64>| column.first(ranked.document).unwrap_or_default();
        let [message, file, offset, bytes, line, marks] = self.numbers.each_ref().map(number);
        let (kind, fate, has_title) = schema::unmarked(marks);
        Hit {
            session: ranked.session,
            message,
            file,
            offset,
            bytes,
            line,
            time: self.time.first(ranked.document),
            kind,
            fate,
            has_title,
            score: ranked.score,
            must_check,
        }
    }
}

fn failed(error: TantivyError) -> Error {
    Error::Search(Box::new(error))
}

fn address(ranked: &Ranked) -> (u32, DocId) {
    (ranked.segment, ranked.document)
}

/// Numbers the segments of the second index after those of the first.
fn shifted(mut kept: Collected, by: usize) -> Collected {
    let by = u32::try_from(by).unwrap_or(u32::MAX);
    kept.best.iter_mut().for_each(|ranked| ranked.segment += by);
    #[expect(clippy::iter_over_hash_type, reason = "each is changed alike")]
    for ranked in kept.sessions.values_mut() {
        ranked.segment += by;
    }
    kept
}

/// Returns the requested hits, best first.
fn page(kept: Collected, options: &SearchOptions) -> Vec<Ranked> {
    let mut best: Vec<Ranked> =
        if options.one_per_session { kept.sessions.into_values().collect() } else { kept.best };
    let wanted = options.offset.saturating_add(options.limit);
    if best.len() > wanted && wanted > 0 {
        best.select_nth_unstable_by(wanted - 1, |a, b| b.cmp(a));
        best.truncate(wanted);
    }
    best.sort_unstable_by(|a, b| b.cmp(a));
    best.into_iter().skip(options.offset).take(options.limit).collect()
}
