//! Messages that are not committed yet: a separate index in memory, searched together with the one on disk.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use tantivy::directory::RamDirectory;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::{Field as Handle, IndexRecordOption};
use tantivy::{
    DocSet as _, IndexSettings, ReloadPolicy, SingleSegmentIndexWriter, TERMINATED, TantivyError,
    Term,
};

use super::entry::Entry;
use super::schema;
use crate::neighbours::NeighbourPlugin;
use crate::{Document, Error};

/// Memory for the words of a few hundred messages; the engine allocates tables in proportion.
const MEMORY: usize = 3 << 20;

/// Messages that can be searched before they are committed.
#[derive(Clone)]
pub struct Overlay {
    /// `None` if there are no messages.
    pub(super) searcher: Option<tantivy::Searcher>,
}

impl std::fmt::Debug for Overlay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let messages = self.searcher.as_ref().map_or(0, tantivy::Searcher::num_docs);
        f.debug_struct("Overlay").field("messages", &messages).finish()
    }
}

/// Collects messages for an [`Overlay`]. Meant for a few hundred.
#[derive(Default)]
pub struct Drafts {
    /// `None` until there is a message: setting it up takes as long as indexing a hundred of them.
    writer: Option<SingleSegmentIndexWriter<Entry>>,
}

impl std::fmt::Debug for Drafts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drafts").finish_non_exhaustive()
    }
}

impl Drafts {
    /// Adds a message, on this thread.
    pub fn add(&mut self, document: &Document<'_>) -> Result<(), Error> {
        if self.writer.is_none() {
            self.writer = Some(begun().map_err(failed)?);
        }
        let added = self.writer.as_mut().map(|writer| writer.add_document(Entry::new(document)));
        added.unwrap_or(Ok(())).map_err(failed)
    }

    /// Makes them searchable.
    pub fn finish(self) -> Result<Overlay, Error> {
        let searcher = self.writer.map(ended).transpose().map_err(failed)?;
        Ok(Overlay { searcher })
    }
}

impl Overlay {
    /// Indexes messages in memory, on this thread. Meant for a few hundred.
    pub fn of(documents: &[Document<'_>]) -> Result<Self, Error> {
        let mut drafts = Drafts::default();
        documents.iter().try_for_each(|document| drafts.add(document))?;
        drafts.finish()
    }
}

fn failed(error: TantivyError) -> Error {
    Error::Write { folder: PathBuf::from("memory"), source: Box::new(error) }
}

fn begun() -> Result<SingleSegmentIndexWriter<Entry>, TantivyError> {
    let settings =
        IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
    tantivy::Index::builder()
        .schema(schema::schema())
        .settings(settings)
        .tokenizers(schema::tokenizers())
        .register_plugin(Arc::new(NeighbourPlugin))
        .single_segment_index_writer::<Entry>(RamDirectory::create(), MEMORY)
}

fn ended(writer: SingleSegmentIndexWriter<Entry>) -> Result<tantivy::Searcher, TantivyError> {
    let index = writer.finalize()?;
    let reader: tantivy::IndexReader =
        index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    Ok(reader.searcher())
}

/// Returns, per segment, the documents of these messages.
pub(super) fn documents_of(
    searcher: &tantivy::Searcher,
    messages: &[u64],
) -> Result<Vec<HashSet<u32>>, TantivyError> {
    let mut found = Vec::new();
    for segment in searcher.segment_readers() {
        let words = segment.inverted_index(schema::MESSAGE)?;
        let mut documents = HashSet::new();
        for &message in messages {
            let term = Term::from_field_u64(schema::MESSAGE, message);
            if let Some(mut postings) = words.read_postings(&term, IndexRecordOption::Basic)? {
                let mut document = postings.doc();
                while document != TERMINATED {
                    documents.insert(document);
                    document = postings.advance();
                }
            }
        }
        found.push(documents);
    }
    Ok(found)
}

/// Word frequencies on disk and in memory together, so that scores can be compared.
pub(super) struct CombinedStatistics<'s> {
    pub(super) disk: &'s tantivy::Searcher,
    pub(super) memory: Option<&'s tantivy::Searcher>,
}

impl CombinedStatistics<'_> {
    fn sum(
        &self,
        of: impl Fn(&dyn Bm25StatisticsProvider) -> Result<u64, TantivyError>,
    ) -> Result<u64, TantivyError> {
        let memory = self.memory.map_or(Ok(0), |memory| of(memory))?;
        Ok(of(self.disk)? + memory)
    }
}

impl Bm25StatisticsProvider for CombinedStatistics<'_> {
    fn total_num_tokens(&self, field: Handle) -> Result<u64, TantivyError> {
        self.sum(|one| one.total_num_tokens(field))
    }

    fn total_num_docs(&self) -> Result<u64, TantivyError> {
        self.sum(|one| one.total_num_docs())
    }

    fn doc_freq(&self, term: &Term) -> Result<u64, TantivyError> {
        self.sum(|one| one.doc_freq(term))
    }
}
