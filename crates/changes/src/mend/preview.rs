//! What a file says, whether it is there or would be written: compared before a change is offered.
//!
//! Nothing is written for it. What would be written is made twice: once for the reader, once to look at each record.

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

/// Bytes are handed to the reader in pieces of at least this size.
const PIECE: usize = 256 * 1024;

/// What a file says.
#[derive(Debug)]
pub(crate) struct Preview {
    /// Whether the agent's loader takes it.
    pub(crate) loadable: bool,
    /// What it says of the session as a whole, without white space.
    pub(crate) fields: Vec<(String, Vec<u8>)>,
    /// The agent's own view.
    pub(crate) strict: Vec<Record>,
    /// Everything that was ever said.
    pub(crate) full: Vec<Said>,
    /// What the agent's list takes for a title.
    pub(crate) titles: Vec<Option<String>>,
    pub(crate) outline: Outline,
}

/// A record: its id, and a number that is equal for equal records.
pub(crate) type Record = (Option<Box<str>>, u64);

/// A message of the full view.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) richest: Record,
    pub(crate) kind: MessageKind,
    pub(crate) fate: Fate,
    pub(crate) time: Option<i64>,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) calls: [u32; 3],
    /// Where an output of the richest version is cut: the other versions.
    pub(crate) others: Vec<u64>,
}

impl Preview {
    /// Looks at a file that is there.
    pub(crate) fn of_file(
        rewriter: &'static dyn Rewriter,
        grammar: Grammar,
        path: &Path,
    ) -> io::Result<Self> {
        Self::of(rewriter, grammar, &Revision::as_it_is(rewriter, path)?)
    }

    /// Looks at what would be written.
    pub(crate) fn of(
        rewriter: &dyn Rewriter,
        grammar: Grammar,
        maker: &dyn Make,
    ) -> io::Result<Self> {
        let reader = rewriter.reader(grammar, &Arc::from(""));
        let mut feeding = Feeding { reader, waiting: Vec::new(), fed: 0 };
        maker.make(&mut feeding)?;
        let outline = feeding.end();
        let spans: Vec<Span> = outline.versions.iter().map(|version| version.span).collect();
        let mut prints = vec![(0, false); spans.len()];
        each_record(maker, &spans, &mut |number, bytes| {
            let mut hasher = DefaultHasher::new();
            compact_bytes(bytes).hash(&mut hasher);
            if let Some(print) = prints.get_mut(number) {
                *print = (hasher.finish(), rewriter.may_be_cut(bytes));
            }
        })?;
        Ok(Self::new(rewriter, outline, &prints))
    }

    fn new(rewriter: &dyn Rewriter, outline: Outline, prints: &[(u64, bool)]) -> Self {
        let print = |version: u32| prints.get(version as usize).copied().unwrap_or_default();
        let shown = |shown: &VisibleMessage| {
            let entry = outline.entries.get(shown.entry as usize)?;
            Some((entry.id.clone(), print(shown.version).0))
        };
        let said = |entry: &MessageEntry| {
            let (richest, is_cut) = print(entry.best);
            let mut others = if is_cut { whole(&outline, entry, prints) } else { Vec::new() };
            others.sort_unstable();
            others.dedup();
            Said {
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

    /// Whether the agent and people see the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.is_same_talk(other) && self.titles == other.titles && self.fields == other.fields
    }

    /// Whether the same was said, and the agent loads the same.
    pub(crate) fn is_same_talk(&self, other: &Self) -> bool {
        self.loadable == other.loadable && self.strict == other.strict && self.full == other.full
    }
}

/// Versions of a message in which no output is cut.
fn whole(outline: &Outline, entry: &MessageEntry, prints: &[(u64, bool)]) -> Vec<u64> {
    let mut found = Vec::new();
    let mut next = Some(entry.last);
    while let Some(number) = next {
        let number = number as usize;
        found.extend(prints.get(number).filter(|(_, cut)| !cut).map(|(print, _)| *print));
        next = outline.versions.get(number).and_then(|version| version.before);
    }
    found
}

/// Fields in the order of their names.
fn fields(fields: Option<&Fields>) -> Vec<(String, Vec<u8>)> {
    let all = fields.into_iter().flat_map(Fields::iter).filter(|(key, _)| *key != "messages");
    let mut all: Vec<_> = all.map(|(key, value)| (key.to_owned(), compact_bytes(value))).collect();
    all.sort();
    all
}

/// Calls `visit` with each of some records in what would be written, by their number, in the order in which they stand.
pub(crate) fn each_record(
    maker: &dyn Make,
    spans: &[Span],
    visit: &mut dyn FnMut(usize, &[u8]),
) -> io::Result<()> {
    let mut spans: Vec<(usize, Span)> = spans.iter().copied().enumerate().collect();
    spans.sort_by_key(|(_, span)| span.offset);
    maker.make(&mut Picking { spans: &spans, at: 0, current: Vec::new(), visit })
}

/// Hands on what is written to a reader.
struct Feeding {
    reader: Box<dyn Reader>,
    waiting: Vec<u8>,
    /// How much of what waits the reader could not use alone.
    fed: usize,
}

impl Feeding {
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

impl Write for Feeding {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        // One long record comes in many pieces: it is not looked at again for each.
        if self.waiting.len() >= PIECE.max(2 * self.fed) {
            self.feed();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Picks records out of what is written, in the order in which they stand.
struct Picking<'a> {
    spans: &'a [(usize, Span)],
    at: u64,
    current: Vec<u8>,
    visit: &'a mut dyn FnMut(usize, &[u8]),
}

impl Write for Picking<'_> {
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
