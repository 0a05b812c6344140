//! The content of an existing or future file, compared before a change is offered.
//!
//! Nothing is written for it. Future content is generated twice: once for the reader, once to examine each record.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use recount_formats::Rewriter;
use recount_formats::json::compact_bytes;
use recount_formats::native::Fields;
use recount_formats::outline::{MessageEntry, Outline, VisibleMessage};
use recount_formats::source::Reader;
use recount_model::{Fate, Grammar, MessageKind, Span, Tokens};
use recount_writer::change::Make;

use super::revision::Revision;

/// Bytes are passed to the reader in pieces of at least this size.
const PIECE: usize = 256 * 1024;

/// The content of a file.
#[derive(Debug)]
pub(crate) struct Preview {
    /// Whether the agent's loader accepts it.
    pub(crate) loadable: bool,
    /// The session-level fields, without white space.
    pub(crate) fields: Vec<(String, Vec<u8>)>,
    /// The strict view.
    pub(crate) strict: Vec<Record>,
    /// The full view.
    pub(crate) full: Vec<PreviewMessage>,
    /// The titles in the agent's list.
    pub(crate) titles: Vec<Option<String>>,
    pub(crate) outline: Outline,
}

/// A record: its id, and a fingerprint.
pub(crate) type Record = (Option<Box<str>>, u64);

/// A message of the full view.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PreviewMessage {
    pub(crate) richest: Record,
    pub(crate) kind: MessageKind,
    pub(crate) fate: Fate,
    pub(crate) time: Option<i64>,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) calls: [u32; 3],
    /// The other versions, if an output of the richest one is cut.
    pub(crate) others: Vec<u64>,
}

impl Preview {
    /// Reads an existing file.
    pub(crate) fn of_file(
        rewriter: &'static dyn Rewriter,
        grammar: Grammar,
        path: &Path,
    ) -> io::Result<Self> {
        Self::of(rewriter, grammar, &Revision::as_it_is(rewriter, path)?)
    }

    /// Reads future content.
    pub(crate) fn of(
        rewriter: &dyn Rewriter,
        grammar: Grammar,
        maker: &dyn Make,
    ) -> io::Result<Self> {
        let reader = rewriter.reader(grammar, &Arc::from(""));
        let mut feed = ReaderFeed { reader, waiting: Vec::new(), fed: 0 };
        maker.make(&mut feed)?;
        let outline = feed.end();
        let spans: Vec<Span> = outline.versions.iter().map(|version| version.span).collect();
        let mut fingerprints = vec![(0, false); spans.len()];
        each_record(maker, &spans, &mut |number, bytes| {
            let mut hasher = DefaultHasher::new();
            compact_bytes(bytes).hash(&mut hasher);
            if let Some(fingerprint) = fingerprints.get_mut(number) {
                *fingerprint = (hasher.finish(), rewriter.may_be_cut(bytes));
            }
        })?;
        Ok(Self::new(rewriter, outline, &fingerprints))
    }

    fn new(rewriter: &dyn Rewriter, outline: Outline, fingerprints: &[(u64, bool)]) -> Self {
        let fingerprint =
            |version: u32| fingerprints.get(version as usize).copied().unwrap_or_default();
        let shown = |shown: &VisibleMessage| {
            let entry = outline.entries.get(shown.entry as usize)?;
            Some((entry.id.clone(), fingerprint(shown.version).0))
        };
        let said = |entry: &MessageEntry| {
            let (richest, is_cut) = fingerprint(entry.best);
            let mut others = if is_cut { whole(&outline, entry, fingerprints) } else { Vec::new() };
            others.sort_unstable();
            others.dedup();
            PreviewMessage {
                richest: (entry.id.clone(), richest),
                kind: entry.kind,
                fate: entry.fate,
                time: entry.time,
                tokens: entry.tokens,
                calls: entry.calls,
                others,
            }
        };
        Self {
            loadable: outline.loadable,
            fields: fields(outline.head.fields.as_ref()),
            strict: outline.strict.iter().filter_map(shown).collect(),
            full: outline.entries.iter().map(said).collect(),
            titles: rewriter.list_titles(&outline),
            outline,
        }
    }

    /// Whether both views are the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.is_same_talk(other) && self.titles == other.titles && self.fields == other.fields
    }

    /// Whether the conversation is the same, and the agent loads the same.
    pub(crate) fn is_same_talk(&self, other: &Self) -> bool {
        self.loadable == other.loadable && self.strict == other.strict && self.full == other.full
    }
}

/// Returns the versions of a message in which no output is cut.
fn whole(outline: &Outline, entry: &MessageEntry, fingerprints: &[(u64, bool)]) -> Vec<u64> {
    let mut found = Vec::new();
    let mut next = Some(entry.last);
    while let Some(number) = next {
        let number = number as usize;
        found.extend(
            fingerprints.get(number).filter(|(_, cut)| !cut).map(|(fingerprint, _)| *fingerprint),
        );
        next = outline.versions.get(number).and_then(|version| version.before);
    }
    found
}

/// Returns fields in the order of their names.
fn fields(fields: Option<&Fields>) -> Vec<(String, Vec<u8>)> {
    let all = fields.into_iter().flat_map(Fields::iter).filter(|(key, _)| *key != "messages");
    let mut all: Vec<_> = all.map(|(key, value)| (key.to_owned(), compact_bytes(value))).collect();
    all.sort();
    all
}

/// Calls `visit` with each of some records in future content, by their number, in file order.
pub(crate) fn each_record(
    maker: &dyn Make,
    spans: &[Span],
    visit: &mut dyn FnMut(usize, &[u8]),
) -> io::Result<()> {
    let mut spans: Vec<(usize, Span)> = spans.iter().copied().enumerate().collect();
    spans.sort_by_key(|(_, span)| span.offset);
    maker.make(&mut RecordPicker { spans: &spans, at: 0, current: Vec::new(), visit })
}

/// Passes written bytes to a reader.
struct ReaderFeed {
    reader: Box<dyn Reader>,
    waiting: Vec<u8>,
    /// The length of the waiting bytes that the reader could not use on their own.
    fed: usize,
}

impl ReaderFeed {
    fn feed(&mut self) {
        let used = self.reader.feed(&self.waiting).min(self.waiting.len());
        self.waiting.drain(..used);
        self.fed = self.waiting.len();
    }

    fn end(mut self) -> Outline {
        self.feed();
        self.reader.finish(&self.waiting);
        self.reader.into_outline()
    }
}

impl Write for ReaderFeed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        // One long record comes in many pieces: it is not scanned again for each.
        if self.waiting.len() >= PIECE.max(2 * self.fed) {
            self.feed();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Selects records from written bytes, in file order.
struct RecordPicker<'a> {
    spans: &'a [(usize, Span)],
    at: u64,
    current: Vec<u8>,
    visit: &'a mut dyn FnMut(usize, &[u8]),
}

impl Write for RecordPicker<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = self.at + bytes.len() as u64;
        while let Some(((number, span), rest)) = self.spans.split_first() {
            let span_end = span.offset + span.bytes;
            if span.offset >= end {
                break;
            }
            let within = |offset: u64| usize::try_from(offset - self.at).unwrap_or(usize::MAX);
            let from = within(span.offset.max(self.at));
            let to = within(span_end.min(end));
            self.current.extend_from_slice(bytes.get(from..to).unwrap_or_default());
            if span_end > end {
                break;
            }
            (self.visit)(*number, &self.current);
            self.current.clear();
            self.spans = rest;
        }
        self.at = end;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
