//! Finds messages with words that contain given letters anywhere: one scan of the dictionary.
//!
//! The engine's own regex query compiles its expression for every field, which alone takes longer than a search may, and
//! scans once for each sequence of letters.

use std::sync::Arc;

use memchr::memmem::Finder;
use tantivy::index::InvertedIndexReader;
use tantivy::postings::TermInfo;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::schema::{Field as Handle, IndexRecordOption};
use tantivy::{BitSet, DocId, DocSet as _, Score, SegmentReader, TantivyError};

use crate::token::CUT;

/// Messages with a word for each sequence of letters that contains it, or of which the index is incomplete.
#[derive(Clone, Debug)]
pub(super) struct WordsContaining {
    field: Handle,
    rows: Arc<[Finder<'static>]>,
}

impl WordsContaining {
    pub(super) fn new<'r>(field: Handle, rows: impl Iterator<Item = &'r str>) -> Self {
        let finders = rows.map(|letters| Finder::new(letters.as_bytes()).into_owned());
        Self { field, rows: finders.collect() }
    }
}

impl Query for WordsContaining {
    fn weight(&self, _: EnableScoring<'_>) -> Result<Box<dyn Weight>, TantivyError> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for WordsContaining {
    fn scorer(
        &self,
        reader: &SegmentReader,
        boost: Score,
    ) -> Result<Box<dyn Scorer>, TantivyError> {
        let words = reader.inverted_index(self.field)?;
        let none = || BitSet::with_max_value(reader.max_doc());
        let mut found: Vec<BitSet> = self.rows.iter().map(|_| none()).collect();
        let mut stream = words.terms().stream()?;
        while stream.advance() {
            let word = stream.key();
            let is_cut = word == CUT.as_bytes();
            for (row, documents) in self.rows.iter().zip(&mut found) {
                if is_cut || row.find(word).is_some() {
                    insert(&words, stream.value(), documents)?;
                }
            }
        }
        let all = found.into_iter().reduce(|mut all, documents| {
            all.intersect_update(&(&documents).into());
            all
        });
        Ok(match all {
            Some(all) => Box::new(ConstScorer::new(BitSetDocSet::from(all), boost)),
            None => Box::new(EmptyScorer),
        })
    }

    fn explain(
        &self,
        reader: &SegmentReader,
        document: DocId,
    ) -> Result<Explanation, TantivyError> {
        let is_there = self.scorer(reader, 1.0)?.seek(document) == document;
        Ok(Explanation::new("letters within words", if is_there { 1.0 } else { 0.0 }))
    }
}

/// Adds the documents of a word.
fn insert(
    words: &InvertedIndexReader,
    word: &TermInfo,
    documents: &mut BitSet,
) -> Result<(), TantivyError> {
    let mut blocks = words.read_block_postings_from_terminfo(word, IndexRecordOption::Basic)?;
    while !blocks.docs().is_empty() {
        for &document in blocks.docs() {
            documents.insert(document);
        }
        blocks.advance();
    }
    Ok(())
}
