//! The filters of a segment as a separate file, written, merged and read with the rest of it.
//!
//! The file has the filters one after the other, then for each message the end of its filter (in pieces, four bytes), then
//! the number of messages (four bytes).

use std::any::Any;
use std::io::Write as _;

use tantivy::directory::{OwnedBytes, TerminatingWrite as _};
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

/// The file extension; part of the index format on disk.
const EXTENSION: &str = "near";
/// Bytes of a number in the file.
const NUMBER: usize = 4;

/// Registers the file with the index engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeighbourPlugin;

impl SegmentPlugin for NeighbourPlugin {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }

    fn create_writer(
        &self,
        _: &PluginWriterContext<'_>,
    ) -> Result<Box<dyn PluginWriter>, TantivyError> {
        Ok(Box::new(FilterWriter::default()))
    }

    fn merge(&self, context: PluginMergeContext<'_>) -> Result<(), TantivyError> {
        // Messages are never reordered: a merged segment has those of its sources in sequence.
        let mut file = context.target_segment.open_write(component())?;
        let mut ends = Vec::new();
        let mut end = 0_u32;
        for reader in context.readers {
            let filters = Filters::open(reader)?;
            for document in reader.doc_ids_alive() {
                let filter = filters.of(document);
                end = later(end, filter.len())?;
                file.write_all(filter)?;
                ends.push(end);
            }
        }
        write_ends(&mut file, &ends)?;
        Ok(file.terminate()?)
    }
}

fn component() -> SegmentComponent {
    SegmentComponent::Custom(EXTENSION.to_owned())
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
        let mut file = segment.open_write(component())?;
        file.write_all(&self.filters)?;
        write_ends(&mut file, &self.ends)?;
        Ok(file.terminate()?)
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

/// The filters of one segment.
#[derive(Clone)]
pub(super) struct Filters {
    filters: OwnedBytes,
    ends: OwnedBytes,
}

impl Filters {
    /// Opens the file of a segment. Its bytes are only read when needed.
    pub(super) fn open(reader: &SegmentReader) -> Result<Self, TantivyError> {
        let file = reader.open_read(component())?.read_bytes()?;
        let damaged = || TantivyError::InternalError("the filters of words are damaged".to_owned());
        let rest = file.len().checked_sub(NUMBER).ok_or_else(damaged)?;
        let (file, count) = file.split(rest);
        let count = number(&count, 0).ok_or_else(damaged)? as usize;
        let ends = count.checked_mul(NUMBER).filter(|_| count == reader.max_doc() as usize);
        let start = ends.and_then(|ends| rest.checked_sub(ends)).ok_or_else(damaged)?;
        let (filters, ends) = file.split(start);
        Ok(Self { filters, ends })
    }

    /// Whether a message may have all of these pairs.
    pub(super) fn may_have(&self, document: DocId, pairs: &[Pair]) -> bool {
        filter::may_have(self.of(document), pairs)
    }

    fn of(&self, document: DocId) -> &[u8] {
        let at = document as usize;
        let end_of = |at: usize| number(&self.ends, at).map_or(0, |end| end as usize * PIECE);
        let start = at.checked_sub(1).map_or(0, end_of);
        self.filters.get(start..end_of(at)).unwrap_or_default()
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let start = at.checked_mul(NUMBER)?;
    let number = bytes.get(start..start.checked_add(NUMBER)?)?;
    number.try_into().ok().map(u32::from_le_bytes)
}
