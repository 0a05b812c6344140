//! Adds and removes messages, and commits.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, MergeCandidate, MergePolicy};
use tantivy::schema::document::Document as Storable;
use tantivy::{IndexReader, IndexWriter, SegmentMeta, TantivyError, Term};

use super::entry::{Entry, EntryValue, EntryValues};
use super::schema;
use crate::{Document, Error};

/// The maximum size of text in the queue, in bytes. The engine only limits the number of queued messages, and ten thousand
/// of them can be a gigabyte.
const MAX_WAITING: usize = 24 << 20;
/// The engine's minimum per thread.
const MIN_MEMORY: usize = 15 << 20;
/// If more than this share of messages is removed, a segment is rewritten.
const REMOVED_SHARE: f32 = 0.3;
/// Segments up to this number of messages are of one level: as soon as there are eight of them, they are merged.
const SMALL: u32 = 500;
/// The most messages that a short merge writes, which takes a fraction of a second.
const SHORT: u32 = 20_000;

/// The only writer of an index. Dropping it without a commit keeps the last one.
pub struct Writer {
    engine: IndexWriter<Queued>,
    reader: IndexReader,
    waiting: Arc<QueuedBytes>,
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
        let engine: IndexWriter<Queued> = index.writer_with_options(options)?;
        engine.set_merge_policy(Box::new(merging()));
        Ok(Self {
            engine,
            reader: reader.clone(),
            waiting: Arc::default(),
            mark: mark.to_owned(),
            folder: folder.to_owned(),
        })
    }

    /// Adds a message. May be called from several threads; waits while too much text is queued.
    pub fn add(&self, document: &Document<'_>) -> Result<(), Error> {
        let entry = Entry::new(document);
        let place = QueuedBytes::enter(&self.waiting, entry.bytes());
        self.engine
            .add_document(Queued { entry, place })
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

    /// Commits all additions and removals, and makes them visible to new searchers of this process.
    pub fn commit(&mut self) -> Result<(), Error> {
        let mut commit =
            self.engine.prepare_commit().map_err(|error| failed(&self.folder, error))?;
        commit.set_payload(&self.mark);
        commit.commit().map_err(|error| failed(&self.folder, error))?;
        self.reader.reload().map_err(|error| self.failed(error))
    }

    /// From now on, only merges that take a fraction of a second are begun.
    pub fn merge_shortly(&self) {
        let mut short = merging();
        short.set_min_layer_size(SMALL);
        self.engine.set_merge_policy(Box::new(ShortMerges(short)));
    }

    /// Commits, and waits for merges.
    pub fn finish(mut self) -> Result<(), Error> {
        self.commit()?;
        self.settle()
    }

    /// Waits for the merges that commits have begun. Those of a writer that is dropped are lost: if all were, each update would leave one
    /// more segment.
    pub fn settle(self) -> Result<(), Error> {
        let Self { engine, reader, folder, .. } = self;
        engine.wait_merging_threads().map_err(|error| failed(&folder, error))?;
        reader.reload().map_err(|error| failed(&folder, error))
    }

    fn failed(&self, error: TantivyError) -> Error {
        failed(&self.folder, error)
    }
}

fn merging() -> LogMergePolicy {
    let mut merging = LogMergePolicy::default();
    merging.set_del_docs_ratio_before_merge(REMOVED_SHARE);
    merging
}

/// Leaves out merges that take long.
#[derive(Debug)]
struct ShortMerges(LogMergePolicy);

impl MergePolicy for ShortMerges {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let mut candidates = self.0.compute_merge_candidates(segments);
        candidates.retain(|MergeCandidate(ids)| {
            let merged = segments.iter().filter(|segment| ids.contains(&segment.id()));
            merged.map(|segment| u64::from(segment.num_docs())).sum::<u64>() <= u64::from(SHORT)
        });
        candidates
    }
}

fn failed(folder: &Path, error: TantivyError) -> Error {
    Error::Write { folder: folder.to_owned(), source: Box::new(error) }
}

/// The number of queued bytes of text.
#[derive(Debug, Default)]
struct QueuedBytes {
    bytes: Mutex<usize>,
    left: Condvar,
}

/// A reservation in the queue, released when the message has been indexed or dropped.
#[derive(Debug)]
struct Reservation {
    line: Arc<QueuedBytes>,
    bytes: usize,
}

impl QueuedBytes {
    /// Waits for space. A message that is larger than the queue is accepted when the queue is empty.
    fn enter(line: &Arc<Self>, bytes: usize) -> Reservation {
        let mut waiting = line.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while *waiting > 0 && *waiting + bytes > MAX_WAITING {
            // Checked again periodically: a thread that died notifies nobody.
            let waited = line.left.wait_timeout(waiting, Duration::from_millis(100));
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *waiting += bytes;
        drop(waiting);
        Reservation { line: Arc::clone(line), bytes }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut waiting = self.line.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = waiting.saturating_sub(self.bytes);
        let is_low = *waiting <= MAX_WAITING / 2;
        drop(waiting);
        // Not for every message: two threads would wake each other a hundred thousand times.
        if is_low {
            self.line.left.notify_all();
        }
    }
}

/// A queued message.
#[derive(Debug)]
struct Queued {
    entry: Entry,
    #[expect(dead_code, reason = "held until the message has been indexed")]
    place: Reservation,
}

impl Storable for Queued {
    type Value<'a> = EntryValue<'a>;
    type FieldsValuesIter<'a> = EntryValues<'a>;

    fn iter_fields_and_values(&self) -> EntryValues<'_> {
        self.entry.iter_fields_and_values()
    }
}
