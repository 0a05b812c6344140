//! The log grammar: one record per line (0.39 and later).

use std::sync::Arc;

use memchr::{memchr2_iter, memmem};
use recount_model::{Grammar, Span, What};

use super::record::Record;
use super::replay::{Replay, Seen};
use crate::json::Fault;
use crate::outline::Outline;
use crate::source::Reader;

/// Reads a log, whole or as it grows.
#[derive(Debug)]
pub(crate) struct Lines {
    replay: Replay,
    /// Where the bytes that come next stand in the file.
    offset: u64,
    line: u32,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How many places in a broken line are tried for a whole record.
const TRIES: usize = 64;

impl Lines {
    pub(crate) fn new(file: Arc<str>) -> Self {
        Self { replay: Replay::new(file), offset: 0, line: 0 }
    }

    /// Whether the agent's loader finds an id and a hash line by line.
    pub(crate) fn suffices(&self) -> bool {
        self.replay.metadata.suffices()
    }

    /// Takes the line at the start of `bytes` that ends at `end`, and what ends it: a line feed, a carriage return
    /// or both.
    fn take_line(&mut self, bytes: &[u8], end: usize, ended: Ended) -> usize {
        self.line(bytes.get(..end).unwrap_or_default(), ended);
        let used = match bytes.get(end..).unwrap_or_default() {
            [b'\r', b'\n', ..] => end + 2,
            [_, ..] => end + 1,
            [] => end,
        };
        self.offset += used as u64;
        used
    }

    fn line(&mut self, line: &[u8], ended: Ended) {
        self.line = self.line.saturating_add(1);
        let span = Span { line: self.line, offset: self.offset, bytes: line.len() as u64 };
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        if let Some(marked) = line.strip_prefix(BYTE_ORDER_MARK) {
            self.replay.problem(
                What::ByteOrderMark,
                Some(span),
                "read, though the agent drops this line",
            );
            if let Ok(record) = Record::read(marked) {
                self.apply(record, behind(span, BYTE_ORDER_MARK.len()), Seen::ByUsOnly);
            }
            return;
        }
        match Record::read(line) {
            Ok(record) => self.apply(record, span, Seen::ByAgent),
            Err(fault) => self.broken(line, span, ended, fault),
        }
    }

    fn apply(&mut self, record: Record<'_>, span: Span, seen: Seen) {
        match record {
            Record::Message(facts) => self.replay.message(&facts, span, seen),
            Record::Set(fields) => self.replay.set(fields, span, seen),
            Record::Head(fields) => self.replay.head(fields, span, seen),
            Record::Rewind(id) if seen == Seen::ByAgent => self.replay.rewind(id, span),
            Record::Rewind(_) => {}
            Record::Unknown => {
                self.replay.problem(What::UnknownRecord, Some(span), "kept, see `show --raw`");
            }
        }
    }

    /// The agent drops a broken line. When its last write was torn, the next record is welded to the fragment:
    /// that one can still be read.
    fn broken(&mut self, line: &[u8], span: Span, ended: Ended, fault: Fault) {
        for at in memmem::find_iter(line, b"{\"").filter(|&at| at > 0).take(TRIES) {
            let Some(rest) = line.get(at..) else { break };
            if let Ok(record @ (Record::Message(_) | Record::Head(_))) = Record::read(rest) {
                self.replay.problem(
                    What::BrokenLine,
                    Some(span),
                    "the whole record at its end is read",
                );
                self.apply(record, behind(span, at), Seen::ByUsOnly);
                return;
            }
        }
        let what = match (ended, fault) {
            (Ended::ByEndOfFile, Fault::Incomplete) => What::TornTail,
            _ => What::BrokenLine,
        };
        self.replay.problem(what, Some(span), "skipped, see `show --raw`");
    }
}

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    ByNewline,
    ByEndOfFile,
}

/// The span from `by` bytes on.
fn behind(span: Span, by: usize) -> Span {
    Span { offset: span.offset + by as u64, bytes: span.bytes - by as u64, ..span }
}

impl Reader for Lines {
    fn feed(&mut self, bytes: &[u8]) -> usize {
        let mut used = 0;
        for end in memchr2_iter(b'\n', b'\r', bytes) {
            if end < used {
                // The second half of a line break.
                continue;
            }
            if end + 1 == bytes.len() && bytes.last() == Some(&b'\r') {
                // The other half of the line break may follow.
                break;
            }
            used +=
                self.take_line(bytes.get(used..).unwrap_or_default(), end - used, Ended::ByNewline);
        }
        used
    }

    fn finish(&mut self, rest: &[u8]) {
        if !rest.is_empty() {
            let end = rest.strip_suffix(b"\r").map_or(rest.len(), <[u8]>::len);
            self.take_line(rest, end, Ended::ByEndOfFile);
        }
        if !self.replay.metadata.suffices() {
            let done = if self.replay.metadata.has_id() {
                "read, though the agent cannot load it"
            } else {
                "messages are read; the id comes from the file's name"
            };
            self.replay.problem(What::NoHead, None, done);
        }
    }

    fn outline(&self) -> Outline {
        self.replay.clone().into_outline(Grammar::Jsonl, self.suffices())
    }

    fn into_outline(self: Box<Self>) -> Outline {
        let loadable = self.suffices();
        self.replay.into_outline(Grammar::Jsonl, loadable)
    }
}
