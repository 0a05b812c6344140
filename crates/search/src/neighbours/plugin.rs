//! The filters of a segment as separate files, written, merged and read with the rest of it.
//!
//! Each file has the filters of a share of the messages one after the other, then for each message the end of its filter (in
//! pieces, four bytes), then the number of messages (four bytes). What is looked at counts as memory of this process until
//! its file is closed: a phrase of common words looks at all of them, one file after the other.

use std::any::Any;
use std::io::Write as _;

use tantivy::directory::{OwnedBytes, TerminatingWrite as _, WritePtr};
use tantivy::index::SegmentComponent;
use tantivy::indexer::DocIdMapping;
use tantivy::schema::Schema;
use tantivy::schema::document::ErasedDocument;
use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, Segment, SegmentPlugin,
    SegmentReader, TantivyError,
};

use super::filter::{self, FilterMaker, PIECE};
use super::{Pair, recorder};

/// The file extensions; part of the index format on disk.
const EXTENSIONS: [&str; 4] = ["near", "near2", "near3", "near4"];
/// The least number of messages in the first file: small segments need no more than that.
const LEAST: usize = 4096;
/// Bytes of a number in the file.
const NUMBER: usize = 4;

/// Registers the file with the index engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeighbourPlugin;

impl SegmentPlugin for NeighbourPlugin {
    fn extensions(&self) -> &[&str] {
        &EXTENSIONS
    }

    fn create_writer(
        &self,
        _: &PluginWriterContext<'_>,
    ) -> Result<Box<dyn PluginWriter>, TantivyError> {
        Ok(Box::new(FilterWriter::default()))
    }

    fn merge(&self, context: PluginMergeContext<'_>) -> Result<(), TantivyError> {
        // Messages are never reordered: a merged segment has those of its sources in sequence.
        let messages = context.readers.iter().map(|reader| reader.num_docs() as usize).sum();
        let mut shares = ShareWriter::new(context.target_segment, messages)?;
        for reader in context.readers {
            let mut filters = Filters::open(reader)?;
            for document in reader.doc_ids_alive() {
                shares.add(filters.of(document)?)?;
            }
        }
        shares.finish()
    }
}

/// Returns the number of messages in each file of a segment, except for the last ones.
fn share(messages: usize) -> usize {
    messages.div_ceil(EXTENSIONS.len()).max(LEAST)
}

fn component(extension: &str) -> SegmentComponent {
    SegmentComponent::Custom(extension.to_owned())
}

/// Writes the files of a segment.
struct ShareWriter<'s> {
    segment: &'s Segment,
    share: usize,
    file: WritePtr,
    /// The extensions of the files to come.
    later: std::slice::Iter<'static, &'static str>,
    ends: Vec<u32>,
    end: u32,
}

impl<'s> ShareWriter<'s> {
    fn new(segment: &'s Segment, messages: usize) -> Result<Self, TantivyError> {
        let [first, later @ ..] = &EXTENSIONS;
        let file = segment.open_write(component(first))?;
        let (ends, later) = (Vec::new(), later.iter());
        Ok(Self { segment, share: share(messages), file, later, ends, end: 0 })
    }

    /// Adds the filter of the next message.
    fn add(&mut self, filter: &[u8]) -> Result<(), TantivyError> {
        if self.ends.len() >= self.share
            && let Some(extension) = self.later.next()
        {
            self.begin(extension)?;
        }
        self.end = later(self.end, filter.len())?;
        self.file.write_all(filter)?;
        self.ends.push(self.end);
        Ok(())
    }

    /// Ends a file, and begins the next.
    fn begin(&mut self, extension: &str) -> Result<(), TantivyError> {
        let next = self.segment.open_write(component(extension))?;
        let mut file = std::mem::replace(&mut self.file, next);
        write_ends(&mut file, &self.ends)?;
        file.terminate()?;
        self.ends.clear();
        self.end = 0;
        Ok(())
    }

    /// Ends the last file. All of them exist, whether there are messages for them or not.
    fn finish(mut self) -> Result<(), TantivyError> {
        while let Some(extension) = self.later.next() {
            self.begin(extension)?;
        }
        write_ends(&mut self.file, &self.ends)?;
        Ok(self.file.terminate()?)
    }
}

/// Advances an end by a filter of the given number of bytes.
fn later(end: u32, bytes: usize) -> Result<u32, TantivyError> {
    let pieces = u32::try_from(bytes / PIECE).ok();
    pieces.and_then(|pieces| end.checked_add(pieces)).ok_or_else(|| {
        TantivyError::InvalidArgument("a part of the index would be too large".to_owned())
    })
}

fn write_ends(file: &mut impl std::io::Write, ends: &[u32]) -> std::io::Result<()> {
    for end in ends {
        file.write_all(&end.to_le_bytes())?;
    }
    let messages = u32::try_from(ends.len()).unwrap_or(u32::MAX);
    file.write_all(&messages.to_le_bytes())
}

/// Collects the filters of a new segment.
#[derive(Debug, Default)]
struct FilterWriter {
    maker: FilterMaker,
    filters: Vec<u8>,
    ends: Vec<u32>,
}

impl PluginWriter for FilterWriter {
    fn add_document(
        &mut self,
        _: DocId,
        _: &dyn ErasedDocument,
        _: &Schema,
    ) -> Result<(), TantivyError> {
        recorder::with_pairs(|pairs| self.maker.append(pairs, &mut self.filters));
        self.ends.push(later(0, self.filters.len())?);
        Ok(())
    }

    fn serialize(
        self: Box<Self>,
        segment: &Segment,
        _: Option<&DocIdMapping>,
    ) -> Result<(), TantivyError> {
        let mut shares = ShareWriter::new(segment, self.ends.len())?;
        let mut start = 0;
        for &end in &self.ends {
            let end = end as usize * PIECE;
            shares.add(self.filters.get(start..end).unwrap_or_default())?;
            start = end;
        }
        shares.finish()
    }

    fn mem_usage(&self) -> usize {
        self.filters.len() + self.ends.len() * NUMBER
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// The filters of one segment. They should be read in sequence: one file is open at a time.
#[derive(Clone)]
pub(super) struct Filters {
    reader: SegmentReader,
    share: usize,
    /// The open file, and its number.
    open: (usize, Share),
}

impl Filters {
    /// Opens the first file of a segment. Its bytes are only read when needed.
    pub(super) fn open(reader: &SegmentReader) -> Result<Self, TantivyError> {
        let share = share(reader.max_doc() as usize);
        Ok(Self { reader: reader.clone(), share, open: (0, Share::open(reader, 0)?) })
    }

    /// Whether a message may have all of these pairs. Always so if that cannot be read.
    pub(super) fn may_have(&mut self, document: DocId, pairs: &[Pair]) -> bool {
        self.of(document).map_or(true, |filter| filter::may_have(filter, pairs))
    }

    /// Returns the filter of a message.
    fn of(&mut self, document: DocId) -> Result<&[u8], TantivyError> {
        let document = document as usize;
        let number = (document / self.share).min(EXTENSIONS.len() - 1);
        if number != self.open.0 {
            self.open = (number, Share::open(&self.reader, number)?);
        }
        Ok(self.open.1.of(document - number * self.share))
    }
}

/// The filters in one file.
#[derive(Clone)]
struct Share {
    filters: OwnedBytes,
    ends: OwnedBytes,
}

impl Share {
    fn open(reader: &SegmentReader, number: usize) -> Result<Self, TantivyError> {
        let damaged = || TantivyError::InternalError("the filters of words are damaged".to_owned());
        let extension = EXTENSIONS.get(number).ok_or_else(damaged)?;
        let file = reader.open_read(component(extension))?.read_bytes()?;
        let rest = file.len().checked_sub(NUMBER).ok_or_else(damaged)?;
        let (file, count) = file.split(rest);
        let count = number_at(&count, 0).ok_or_else(damaged)? as usize;
        let messages = reader.max_doc() as usize;
        let share = share(messages);
        let expected = messages.saturating_sub(number * share).min(share);
        let ends = count.checked_mul(NUMBER).filter(|_| count == expected);
        let start = ends.and_then(|ends| rest.checked_sub(ends)).ok_or_else(damaged)?;
        let (filters, ends) = file.split(start);
        Ok(Self { filters, ends })
    }

    fn of(&self, at: usize) -> &[u8] {
        let end_of = |at: usize| number_at(&self.ends, at).map_or(0, |end| end as usize * PIECE);
        let start = at.checked_sub(1).map_or(0, end_of);
        self.filters.get(start..end_of(at)).unwrap_or_default()
    }
}

fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    let start = at.checked_mul(NUMBER)?;
    let number = bytes.get(start..start.checked_add(NUMBER)?)?;
    number.try_into().ok().map(u32::from_le_bytes)
}
