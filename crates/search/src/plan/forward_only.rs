//! A query that is only ever sought forward.
//!
//! To exclude documents, tantivy 0.27 asks the excluded side for documents before its first one, which phrases do not allow
//! (`Exclude::new` against `PhraseScorer::seek_danger`). Such requests are answered from the current position of the
//! excluded side.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, TantivyError};

/// The same documents as the inner query, without a score.
#[derive(Debug)]
pub(super) struct ForwardOnly(pub(super) Box<dyn Query>);

impl Clone for ForwardOnly {
    fn clone(&self) -> Self {
        Self(self.0.box_clone())
    }
}

impl Query for ForwardOnly {
    fn weight(&self, scoring: EnableScoring<'_>) -> Result<Box<dyn Weight>, TantivyError> {
        let without = scoring.searcher().map(EnableScoring::disabled_from_searcher);
        let weight = self.0.weight(without.unwrap_or(scoring))?;
        Ok(Box::new(ForwardOnlyWeight(weight)))
    }
}

struct ForwardOnlyWeight(Box<dyn Weight>);

impl Weight for ForwardOnlyWeight {
    fn scorer(
        &self,
        reader: &SegmentReader,
        boost: Score,
    ) -> Result<Box<dyn Scorer>, TantivyError> {
        Ok(Box::new(ForwardOnlyScorer(self.0.scorer(reader, boost)?)))
    }

    fn explain(
        &self,
        reader: &SegmentReader,
        document: DocId,
    ) -> Result<Explanation, TantivyError> {
        self.0.explain(reader, document)
    }
}

struct ForwardOnlyScorer(Box<dyn Scorer>);

impl DocSet for ForwardOnlyScorer {
    fn advance(&mut self) -> DocId {
        self.0.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.0.seek(target)
    }

    fn doc(&self) -> DocId {
        self.0.doc()
    }

    fn size_hint(&self) -> u32 {
        self.0.size_hint()
    }

    fn cost(&self) -> u64 {
        self.0.cost()
    }
}

impl Scorer for ForwardOnlyScorer {
    fn score(&mut self) -> Score {
        0.0
    }
}
