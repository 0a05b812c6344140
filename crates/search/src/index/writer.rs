//! Adds messages, removes them, and makes it last.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::schema::document::Document as Storable;
use tantivy::{IndexReader, IndexWriter, TantivyDocument, TantivyError, Term};

use super::schema;
use crate::{Document, Error};

/// Text that may wait for a free thread, in bytes. The engine counts waiting messages only, and ten
/// thousand of them can be a gigabyte.
const MAX_WAITING: usize = 24 << 20;
/// What the engine wants at least for each thread.
const MIN_MEMORY: usize = 15 << 20;
/// A share of removed messages past which a part of the index is rewritten.
const REMOVED_SHARE: f32 = 0.3;

/// The one writer of an index. Dropped without a commit, it leaves the last one.
pub struct Writer {
    engine: IndexWriter<Entry>,
    reader: IndexReader,
    waiting: Arc<Waiting>,
    mark: String,
    folder: PathBuf,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl Writer {
    pub(super) fn new(
        index: &tantivy::Index,
        reader: &IndexReader,
        memory: usize,
        threads: usize,
        (mark, folder): (&str, &Path),
    ) -> Result<Self, TantivyError> {
        let threads = threads.clamp(1, 8);
        let options = IndexWriterOptions::builder()
            .num_worker_threads(threads)
            .memory_budget_per_thread((memory / threads).max(MIN_MEMORY))
            .num_merge_threads(1)
            .build();
        let engine: IndexWriter<Entry> = index.writer_with_options(options)?;
        let mut merging = LogMergePolicy::default();
        merging.set_del_docs_ratio_before_merge(REMOVED_SHARE);
        engine.set_merge_policy(Box::new(merging));
        Ok(Self {
            engine,
            reader: reader.clone(),
            waiting: Arc::default(),
            mark: mark.to_owned(),
            folder: folder.to_owned(),
        })
    }

    /// Adds a message. May be called from several threads; waits while too much text is in line.
    pub fn add(&self, document: &Document<'_>) -> Result<(), Error> {
        let entry = schema::entry(document);
        let bytes =
            crate::Field::ALL.iter().flat_map(|&field| document.values(field)).map(str::len).sum();
        let place = Waiting::enter(&self.waiting, bytes);
        self.engine
            .add_document(Entry { entry, place })
            .map(drop)
            .map_err(|error| self.failed(error))
    }

    /// Removes all messages of a session that were added before.
    pub fn delete_session(&self, session: u64) {
        self.engine.delete_term(Term::from_field_u64(schema::SESSION, session));
    }

    /// Removes a message that was added before.
    pub fn delete_message(&self, message: u64) {
        self.engine.delete_term(Term::from_field_u64(schema::MESSAGE, message));
    }

    /// Makes all that was added and removed last, and visible to new searchers of this process.
    pub fn commit(&mut self) -> Result<(), Error> {
        let mut commit =
            self.engine.prepare_commit().map_err(|error| failed(&self.folder, error))?;
        commit.set_payload(&self.mark);
        commit.commit().map_err(|error| failed(&self.folder, error))?;
        self.reader.reload().map_err(|error| self.failed(error))
    }

    /// Commits, and waits until small parts of the index have been made into larger ones.
    pub fn finish(mut self) -> Result<(), Error> {
        self.commit()?;
        let Self { engine, reader, folder, .. } = self;
        engine.wait_merging_threads().map_err(|error| failed(&folder, error))?;
        reader.reload().map_err(|error| failed(&folder, error))
    }

    fn failed(&self, error: TantivyError) -> Error {
        failed(&self.folder, error)
    }
}

fn failed(folder: &Path, error: TantivyError) -> Error {
    Error::Write { folder: folder.to_owned(), source: Box::new(error) }
}

/// How many bytes of text are in line.
#[derive(Debug, Default)]
struct Waiting {
    bytes: Mutex<usize>,
    left: Condvar,
}

/// A place in the line, given up when the message has been indexed or thrown away.
#[derive(Debug)]
struct InLine {
    line: Arc<Waiting>,
    bytes: usize,
}

impl Waiting {
    /// Waits for room. A message that is larger than the line goes in when the line is empty.
    fn enter(line: &Arc<Self>, bytes: usize) -> InLine {
        let mut waiting = line.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while *waiting > 0 && *waiting + bytes > MAX_WAITING {
            // Looked at again now and then: a thread that died tells nobody.
            let waited = line.left.wait_timeout(waiting, Duration::from_millis(100));
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *waiting += bytes;
        drop(waiting);
        InLine { line: Arc::clone(line), bytes }
    }
}

impl Drop for InLine {
    fn drop(&mut self) {
        let mut waiting = self.line.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = waiting.saturating_sub(self.bytes);
        drop(waiting);
        self.line.left.notify_one();
    }
}

/// A message on its way into the index.
#[derive(Debug)]
struct Entry {
    entry: TantivyDocument,
    #[expect(dead_code, reason = "held until the message has been indexed")]
    place: InLine,
}

impl Storable for Entry {
    type Value<'a> = <TantivyDocument as Storable>::Value<'a>;
    type FieldsValuesIter<'a> = <TantivyDocument as Storable>::FieldsValuesIter<'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.entry.iter_fields_and_values()
    }

    fn into_tantivy_document(self) -> TantivyDocument {
        self.entry
    }
}
