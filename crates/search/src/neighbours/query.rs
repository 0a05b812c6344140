//! A query whose messages must also have some pairs of adjacent words.

use std::sync::Arc;

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError, Term};

use super::Pair;
use super::plugin::Filters;

/// The messages of the inner query that may have all the pairs, with the same scores.
#[derive(Debug)]
pub(crate) struct Adjacent {
    inner: Box<dyn Query>,
    pairs: Arc<[Pair]>,
}

impl Adjacent {
    pub(crate) fn new(inner: Box<dyn Query>, pairs: Vec<Pair>) -> Self {
        Self { inner, pairs: pairs.into() }
    }
}

impl Clone for Adjacent {
    fn clone(&self) -> Self {
        Self { inner: self.inner.box_clone(), pairs: Arc::clone(&self.pairs) }
    }
}

impl Query for Adjacent {
    fn weight(&self, scoring: EnableScoring<'_>) -> Result<Box<dyn Weight>, TantivyError> {
        let inner = self.inner.weight(scoring)?;
        Ok(Box::new(AdjacentWeight { inner, pairs: Arc::clone(&self.pairs) }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.inner.query_terms(visitor);
    }
}

struct AdjacentWeight {
    inner: Box<dyn Weight>,
    pairs: Arc<[Pair]>,
}

impl Weight for AdjacentWeight {
    fn scorer(
        &self,
        reader: &SegmentReader,
        boost: Score,
    ) -> Result<Box<dyn Scorer>, TantivyError> {
        let inner = self.inner.scorer(reader, boost)?;
        let filters = Filters::open(reader)?;
        let mut scorer = AdjacentScorer { inner, filters, pairs: Arc::clone(&self.pairs) };
        scorer.settle(scorer.inner.doc());
        Ok(Box::new(scorer))
    }

    fn explain(
        &self,
        reader: &SegmentReader,
        document: DocId,
    ) -> Result<Explanation, TantivyError> {
        self.inner.explain(reader, document)
    }
}

struct AdjacentScorer {
    inner: Box<dyn Scorer>,
    filters: Filters,
    pairs: Arc<[Pair]>,
}

impl AdjacentScorer {
    /// Advances from a message to the first one that may have the pairs.
    fn settle(&mut self, mut document: DocId) -> DocId {
        while document != TERMINATED && !self.filters.may_have(document, &self.pairs) {
            document = self.inner.advance();
        }
        document
    }
}

impl DocSet for AdjacentScorer {
    fn advance(&mut self) -> DocId {
        let next = self.inner.advance();
        self.settle(next)
    }

    fn seek(&mut self, target: DocId) -> DocId {
        let next = self.inner.seek(target);
        self.settle(next)
    }

    fn doc(&self) -> DocId {
        self.inner.doc()
    }

    fn size_hint(&self) -> u32 {
        self.inner.size_hint()
    }

    fn cost(&self) -> u64 {
        self.inner.cost()
    }
}

impl Scorer for AdjacentScorer {
    fn score(&mut self) -> Score {
        self.inner.score()
    }
}
