//! Ranks the messages of a relaxed plan by evidence: how rare the words are that a message has, and those around it.
//!
//! The words of a question may be in a prompt and in the answer to it, so three sums count: the words in the message itself,
//! those in the messages next to it, and those in its session. Each word counts at most once in each, by its rarity, however
//! often it occurs: a message with most of the words comes before one that repeats one of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tantivy::columnar::{Column, ColumnValues};
use tantivy::query::{Bm25StatisticsProvider, EnableScoring, Query, Weight};
use tantivy::schema::Field as Handle;
use tantivy::{DocId, DocSet as _, SegmentReader, TERMINATED, TantivyError, Term};

use super::overlay::CombinedStatistics;
use super::rank::{ByKey, Collected, NO_TIME, Ranked, boosted};
use super::search::SearchOptions;
use crate::QueryPlan;
use crate::plan::{Bound, RelaxedParts, compiled_conditions, compiled_word};

/// The shares of the message itself, of the messages around it, and of its session.
const OWN: f32 = 0.45;
const NEAR: f32 = 0.35;
const SESSION: f32 = 0.2;
/// How far "around" reaches, in messages of the index: a turn with its tool calls.
const NEIGHBOURHOOD: u32 = 8;
/// The number of messages whose neighbourhood is looked at.
const CLOSER_LOOK: usize = 512;
/// A score at which a word counts half: repetitions, short texts and fields of more weight add less and less.
const HALF: f32 = 0.35;
/// The part of a score that depends on how many of the words are in the message or around it, whatever their fields.
const COVERAGE: f32 = 0.5;
/// The bonus of the newest message: age decides between equals.
const RECENCY: f32 = 0.03;
/// A message in which somebody wrote all of the words comes before all others.
const ALL_WORDS: f32 = 1000.0;

/// One segment of the index on disk or in memory.
pub(super) struct Part<'s> {
    pub(super) searcher: &'s tantivy::Searcher,
    pub(super) reader: &'s SegmentReader,
    pub(super) hidden: Option<&'s HashSet<DocId>>,
}

/// What is found, and how much each word is worth.
pub(super) struct Weighed {
    pub(super) kept: Collected,
    pub(super) worth: Vec<f32>,
}

/// The messages with a word, and their scores for it; sorted.
type Postings = Vec<(DocId, f32)>;

/// Ranks everything that has any of the words. `exact` is the query before it was relaxed.
pub(super) fn weigh(
    plan: &QueryPlan,
    exact: Option<&QueryPlan>,
    parts: &[Part<'_>],
    counts: &CombinedStatistics<'_>,
    options: &SearchOptions,
) -> Result<Option<Weighed>, TantivyError> {
    let Some(RelaxedParts { words, conditions, relaxation }) = plan.evidence() else {
        return Ok(None);
    };
    let flat = Flat(counts);
    let conditions = compiled_conditions(conditions);
    let mut postings: Vec<Vec<Postings>> = parts.iter().map(|_| Vec::new()).collect();
    let mut messages = vec![0_usize; words.len()];
    let permitted: Vec<Option<HashSet<DocId>>> = parts
        .iter()
        .map(|part| conditions.as_deref().map(|query| part.documents(query)).transpose())
        .collect::<Result<_, _>>()?;
    for (word, messages) in words.iter().zip(&mut messages) {
        let query = compiled_word(word);
        for ((part, permitted), postings) in parts.iter().zip(&permitted).zip(&mut postings) {
            let scoring = EnableScoring::enabled_from_statistics_provider(&flat, part.searcher);
            let weight = query.weight(scoring)?;
            let found = part.postings(&*weight, permitted.as_ref())?;
            *messages += found.len();
            postings.push(found);
        }
    }
    let all = counts.total_num_docs()?;
    let worth: Vec<f32> = messages
        .iter()
        .zip(&relaxation.weights)
        .map(|(&messages, weight)| {
            // A word that no message has tells nothing about any.
            if messages == 0 { 0.0 } else { rarity(messages as u64, all) * weight }
        })
        .collect();
    let mut sessions = Sessions::new(words.len());
    let mut segments = Vec::new();
    for (part, postings) in parts.iter().zip(postings) {
        let segment = Segment::of(part, postings)?;
        sessions.add(&segment, &worth);
        segments.push(segment);
    }
    let exact = exact.map(|plan| plan.spoken().compiled(Bound::Lower));
    let written: Vec<HashSet<DocId>> = parts
        .iter()
        .map(|part| exact.as_deref().map_or(Ok(HashSet::new()), |query| part.documents(query)))
        .collect::<Result<_, _>>()?;
    let candidates = candidates(&segments, &worth, &sessions);
    let kept = ranked(candidates, &segments, &written, &worth, options);
    Ok(Some(Weighed { kept, worth }))
}

/// How much a word says that this many of all messages have.
fn rarity(messages: u64, all: u64) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a logarithm needs no exact number")]
    let (messages, all) = (messages as f32, all.max(messages) as f32);
    (1.0 + (all - messages + 0.5) / (messages + 0.5)).ln()
}

/// Every word counts as equally rare: how rare it is in all of its forms is known only when all are found.
struct Flat<'c>(&'c CombinedStatistics<'c>);

impl Bm25StatisticsProvider for Flat<'_> {
    fn total_num_tokens(&self, field: Handle) -> Result<u64, TantivyError> {
        self.0.total_num_tokens(field)
    }

    fn total_num_docs(&self) -> Result<u64, TantivyError> {
        self.0.total_num_docs()
    }

    fn doc_freq(&self, _: &Term) -> Result<u64, TantivyError> {
        // The rarity of a word in about a third of the messages is one.
        Ok(self.0.total_num_docs()? / 3)
    }
}

impl Part<'_> {
    /// Returns the documents that match.
    fn documents(&self, query: &dyn Query) -> Result<HashSet<DocId>, TantivyError> {
        let weight = query.weight(EnableScoring::disabled_from_searcher(self.searcher))?;
        Ok(self.postings(&*weight, None)?.into_iter().map(|(document, _)| document).collect())
    }

    fn postings(
        &self,
        weight: &dyn Weight,
        permitted: Option<&HashSet<DocId>>,
    ) -> Result<Postings, TantivyError> {
        let alive = self.reader.alive_bitset();
        let mut scorer = weight.scorer(self.reader, 1.0)?;
        let room = match permitted {
            // A word in several fields is counted in each of them.
            None => scorer.size_hint().min(self.reader.max_doc()),
            Some(_) => 0,
        };
        let mut found = Vec::with_capacity(room as usize);
        let mut document = scorer.doc();
        while document != TERMINATED {
            if alive.is_none_or(|alive| alive.is_alive(document))
                && self.hidden.is_none_or(|hidden| !hidden.contains(&document))
                && permitted.is_none_or(|permitted| permitted.contains(&document))
            {
                found.push((document, scorer.score()));
            }
            document = scorer.advance();
        }
        found.shrink_to_fit();
        Ok(found)
    }
}

/// The postings of a segment, and what is needed to rank them.
struct Segment {
    postings: Vec<Postings>,
    session: Arc<dyn ColumnValues<u64>>,
    message: Arc<dyn ColumnValues<u64>>,
    time: Column<i64>,
}

impl Segment {
    fn of(part: &Part<'_>, postings: Vec<Postings>) -> Result<Self, TantivyError> {
        let columns = part.reader.fast_fields();
        Ok(Self {
            postings,
            session: columns.column_first_or_default("session")?,
            message: columns.column_first_or_default("message")?,
            time: columns.i64("time")?,
        })
    }

    /// Passes each document on, with the sum of its words.
    fn each_own(&self, worth: &[f32], mut visit: impl FnMut(DocId, f32)) {
        let mut lists: Vec<(&[(DocId, f32)], f32)> =
            self.postings.iter().map(Vec::as_slice).zip(worth.iter().copied()).collect();
        loop {
            let firsts = lists.iter().filter_map(|(list, _)| list.first());
            let Some(document) = firsts.map(|(document, _)| *document).min() else { return };
            let mut sum = 0.0;
            for (list, worth) in &mut lists {
                if let Some(((first, score), rest)) = list.split_first()
                    && *first == document
                {
                    sum += *worth * share(*score);
                    *list = rest;
                }
            }
            visit(document, sum);
        }
    }

    /// Returns the sum of the words in a document and those around it, of the same session; and what these words are worth.
    fn near(&self, document: DocId, worth: &[f32]) -> (f32, f32) {
        let session = self.session.get_val(document);
        let (from, to) =
            (document.saturating_sub(NEIGHBOURHOOD), document.saturating_add(NEIGHBOURHOOD));
        let best = |postings: &Postings| {
            let start = postings.partition_point(|(one, _)| *one < from);
            let around = postings.get(start..).unwrap_or_default();
            let around = around.iter().take_while(|(one, _)| *one <= to);
            let own = around.filter(|(one, _)| self.session.get_val(*one) == session);
            own.map(|(_, score)| share(*score)).fold(0.0, f32::max)
        };
        self.postings.iter().zip(worth).fold((0.0, 0.0), |(sum, covered), (postings, worth)| {
            let best = best(postings);
            (sum + worth * best, covered + if best > 0.0 { *worth } else { 0.0 })
        })
    }
}

/// Returns how much of a word's worth a score is, from 0 to 1.
fn share(score: f32) -> f32 {
    score / (score + HALF)
}

/// The best score of each word in each session.
struct Sessions {
    words: usize,
    numbers: HashMap<u64, usize, ByKey>,
    /// By number of the session, then by word.
    best: Vec<f32>,
}

impl Sessions {
    fn new(words: usize) -> Self {
        Self { words, numbers: HashMap::default(), best: Vec::new() }
    }

    fn add(&mut self, segment: &Segment, worth: &[f32]) {
        for (word, (postings, worth)) in segment.postings.iter().zip(worth).enumerate() {
            for &(document, score) in postings {
                let next = self.numbers.len();
                let session = segment.session.get_val(document);
                let number = *self.numbers.entry(session).or_insert(next);
                if number == next {
                    self.best.resize(self.best.len() + self.words, 0.0);
                }
                if let Some(best) = self.best.get_mut(number * self.words + word) {
                    *best = best.max(worth * share(score));
                }
            }
        }
    }

    fn sum(&self, session: u64) -> f32 {
        let number = self.numbers.get(&session).copied().unwrap_or(usize::MAX / (self.words + 1));
        let start = number * self.words;
        self.best.get(start..start + self.words).unwrap_or_default().iter().sum()
    }
}

/// A message that has any of the words.
struct Candidate {
    session: u64,
    segment: u32,
    document: DocId,
    own: f32,
    in_session: f32,
}

fn candidates(segments: &[Segment], worth: &[f32], sessions: &Sessions) -> Vec<Candidate> {
    let mut all = Vec::new();
    // The sum of a session is the same for all of its messages, which follow each other.
    let mut last = (0, 0.0);
    for (number, segment) in segments.iter().enumerate() {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        segment.each_own(worth, |document, own| {
            let session = segment.session.get_val(document);
            if last.0 != session || last.1 == 0.0 {
                last = (session, sessions.sum(session));
            }
            all.push(Candidate { segment: number, document, session, own, in_session: last.1 });
        });
    }
    all
}

/// Scores all candidates; those that may be best by their neighbourhood, too.
fn ranked(
    mut candidates: Vec<Candidate>,
    segments: &[Segment],
    written: &[HashSet<DocId>],
    worth: &[f32],
    options: &SearchOptions,
) -> Collected {
    let total = worth.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    // The words around a message are at most those of its session.
    let at_most = |one: &Candidate| OWN * one.own + (NEAR + SESSION) * one.in_session;
    if candidates.len() > CLOSER_LOOK {
        candidates.select_nth_unstable_by(CLOSER_LOOK, |a, b| at_most(b).total_cmp(&at_most(a)));
    }
    let mut kept = Collected { total: candidates.len(), ..Collected::default() };
    for (place, one) in candidates.iter().enumerate() {
        let Some(segment) = segments.get(one.segment as usize) else { continue };
        let is_close = place < CLOSER_LOOK;
        let (near, covered) =
            if is_close { segment.near(one.document, worth) } else { (one.own, one.own) };
        let time = segment.time.first(one.document).unwrap_or(NO_TIME);
        let sum = OWN * one.own + NEAR * near + SESSION * one.in_session;
        let sum = sum * (1.0 - COVERAGE + COVERAGE * covered / total);
        let written = written.get(one.segment as usize);
        let is_exact = written.is_some_and(|all| all.contains(&one.document));
        let score =
            boosted(sum, RECENCY, options.now, time) + if is_exact { ALL_WORDS } else { 0.0 };
        let ranked = Ranked {
            score,
            time,
            session: one.session,
            message: segment.message.get_val(one.document),
            segment: one.segment,
            document: one.document,
        };
        let best = kept.sessions.entry(one.session).or_insert(ranked);
        *best = ranked.max(*best);
        if !options.one_per_session {
            kept.best.push(ranked);
        }
    }
    kept
}
