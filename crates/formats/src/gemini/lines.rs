//! The log grammar: one record per line (0.39 and later).

use super::state::Form;
use std::sync::Arc;

use memchr::{memchr, memchr2_iter, memmem};
use recount_model::{Grammar, SessionId, Span, What};
use serde::{Deserialize, Serialize};

use super::facts::string;
use super::record::{Fields, Loose, Record};
use super::replay::{Replay, Seen};
use crate::bytes::{RECORD, RECORDS, feed_lines};
use crate::json::{ScanError, Scanner};
use crate::outline::Outline;
use crate::source::{Reader, ReaderState};

/// Reads a log, at once or as it grows.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Lines {
    replay: Replay,
    /// The offset of the next bytes in the file.
    offset: u64,
    line: u32,
    first: First,
    #[serde(skip)]
    may_share: bool,
}

/// What the start of the file shows about its session: a cleanup reads nothing else.
#[derive(Debug, Default, Serialize, Deserialize)]
struct First {
    /// The id that a cleanup finds before the first line feed.
    id: Option<SessionId>,
    /// The id in the first line. A cleanup that found none reads the file as one document.
    in_line: Option<SessionId>,
    /// Whether all messages are in that line.
    has_messages: bool,
}

/// How much of a file a cleanup reads to find its id, in bytes.
const CLEAN_UP_READS: usize = 4096;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The maximum number of positions in a broken line that are tried for a complete record.
const TRIES: usize = 64;

impl Lines {
    pub(crate) fn new(file: Arc<str>) -> Self {
        Self {
            replay: Replay::new(file),
            offset: 0,
            line: 0,
            first: First::default(),
            may_share: false,
        }
    }

    /// Keeps the raw session-level fields.
    pub(crate) fn keeping_fields(mut self) -> Self {
        self.replay.metadata.keep_fields();
        self
    }

    /// Continues from a saved reader state; `None` if it is invalid.
    pub(crate) fn resume(state: &[u8], file: &Arc<str>) -> Option<Self> {
        let mut lines: Self = postcard::from_bytes(state).ok()?;
        lines.replay.restore(Arc::clone(file));
        Some(lines)
    }

    /// Returns the offset of the next bytes in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether the agent's loader finds an id and a hash line by line.
    pub(crate) fn suffices(&self) -> bool {
        self.replay.metadata.suffices()
    }

    /// Returns the facts in the first line.
    fn form(first: &First, lines: u32) -> Form {
        let is_document = lines == 1 && first.in_line.is_some();
        let first_id = first.id.clone().or_else(|| first.in_line.clone().filter(|_| is_document));
        Form { first_id, is_document, has_messages: first.has_messages }
    }

    /// Adds one line, which is `length` bytes long including its line ending.
    fn take(&mut self, text: &[u8], length: usize, parsed: Parsed<'_>, ended: Ended) {
        self.line = self.line.saturating_add(1);
        let span = Span { line: self.line, offset: self.offset, bytes: text.len() as u64 };
        if let (1, Parsed::Whole(Record::Head(fields))) = (self.line, &parsed) {
            let id = fields.session_id.and_then(Loose::text).filter(|id| !id.is_empty());
            self.first.in_line = id.map(SessionId::new);
            self.first.has_messages = fields.messages.is_some();
        }
        match parsed {
            Parsed::Blank => {}
            Parsed::Whole(record) => self.apply(record, span, Seen::ByAgent),
            Parsed::Broken(fault) => self.broken(text, span, ended, fault),
            Parsed::Marked(record) => {
                let done = "read, though the agent drops this line";
                self.replay.problem(What::ByteOrderMark, Some(span), done);
                if let Some(record) = record {
                    self.apply(record, behind(span, BYTE_ORDER_MARK.len()), Seen::ByUsOnly);
                }
            }
        }
        self.offset += length as u64;
    }

    fn apply(&mut self, record: Record<'_>, span: Span, seen: Seen) {
        match record {
            Record::Message(facts) => self.replay.message(&facts, span, seen),
            Record::Set(fields) => {
                self.note_unknown(&fields, span);
                self.replay.set(fields, span, seen);
            }
            Record::Head(fields) => {
                self.note_unknown(&fields, span);
                self.replay.head(fields, span, seen);
            }
            Record::Rewind(id) if seen == Seen::ByAgent => self.replay.rewind(id, span),
            Record::Rewind(_) => {}
            Record::Unknown => {
                self.replay.problem(What::UnknownRecord, Some(span), "kept, see `show --raw`");
            }
        }
    }

    fn note_unknown(&mut self, fields: &Fields<'_>, span: Span) {
        if fields.unknown_field {
            self.replay.problem(What::UnknownField, Some(span), "kept, see `show --raw`");
        }
    }

    /// The agent drops a broken line. If its last write was torn, the next record follows the fragment on the same line:
    /// that record can still be read.
    fn broken(&mut self, line: &[u8], span: Span, ended: Ended, fault: ScanError) {
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
            (Ended::ByEndOfFile, ScanError::Incomplete) => What::TornTail,
            _ => What::BrokenLine,
        };
        self.replay.problem(what, Some(span), "skipped, see `show --raw`");
    }
}

/// Returns the id that a cleanup finds at the start of a file: in the record before the first line feed, whatever else it
/// has. For a cleanup, a carriage return alone does not end a line.
fn first_id(bytes: &[u8]) -> Option<SessionId> {
    let bytes = bytes.get(..CLEAN_UP_READS).unwrap_or(bytes);
    let line = memchr(b'\n', bytes).and_then(|end| bytes.get(..end)).unwrap_or(bytes);
    let mut scanner = Scanner::new(line);
    let mut id = None;
    if scanner.peek().ok()? != b'{' {
        return None;
    }
    let walked = scanner.object(|scanner, key| {
        if key.is("sessionId") {
            id = string(scanner)?.map(|id| id.decode().into_owned());
            return Ok(());
        }
        scanner.skip()
    });
    walked.and_then(|()| scanner.end()).ok()?;
    id.filter(|id| !id.is_empty()).map(SessionId::new)
}

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    ByNewline,
    ByEndOfFile,
}

/// Returns the span from `by` bytes on.
fn behind(span: Span, by: usize) -> Span {
    Span { offset: span.offset + by as u64, bytes: span.bytes - by as u64, ..span }
}

/// A parsed line that is not applied yet.
#[derive(Debug)]
enum Parsed<'a> {
    Blank,
    Whole(Record<'a>),
    Broken(ScanError),
    /// After a byte order mark.
    Marked(Option<Record<'a>>),
}

impl<'a> Parsed<'a> {
    fn of(text: &'a [u8]) -> Self {
        if text.iter().all(u8::is_ascii_whitespace) {
            return Self::Blank;
        }
        if let Some(marked) = text.strip_prefix(BYTE_ORDER_MARK) {
            return Self::Marked(Record::read(marked).ok());
        }
        Record::read(text).map_or_else(Self::Broken, Self::Whole)
    }

    /// Returns the number of messages in lists.
    fn messages(&self) -> usize {
        match self {
            Self::Whole(Record::Set(fields) | Record::Head(fields))
            | Self::Marked(Some(Record::Set(fields) | Record::Head(fields))) => {
                fields.messages.as_ref().map_or(0, Vec::len)
            }
            Self::Blank | Self::Whole(_) | Self::Broken(_) | Self::Marked(_) => 0,
        }
    }
}

/// Lists the lines in `bytes` that are complete, ended by a line feed, a carriage return or both: their text, and their
/// length with the line ending.
pub(crate) fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    let mut ends = memchr2_iter(b'\n', b'\r', bytes);
    let mut start = 0;
    std::iter::from_fn(move || {
        // Skips the second half of a line break.
        let end = ends.find(|&end| end >= start)?;
        let length = match bytes.get(end..)? {
            // The other half of the line break may follow.
            [b'\r'] => return None,
            [b'\r', b'\n', ..] => end + 2 - start,
            _ => end + 1 - start,
        };
        let text = bytes.get(start..end)?;
        start += length;
        Some((text, length))
    })
}

/// Parses the first complete lines, with their text and length: as many as may be parsed ahead.
fn parse_lines(bytes: &[u8]) -> Vec<(&[u8], usize, Parsed<'_>)> {
    let mut lines = Vec::new();
    let (mut read, mut messages) = (0, 0);
    for (text, length) in whole_lines(bytes).take(RECORDS) {
        let parsed = Parsed::of(text);
        read += length;
        messages += parsed.messages();
        // Messages in a list take memory, too. Usual ones are longer.
        if messages > RECORDS.max(read / RECORD) {
            break;
        }
        lines.push((text, length, parsed));
    }
    lines
}

impl Reader for Lines {
    fn feed(&mut self, bytes: &[u8]) -> usize {
        let mut used = 0;
        if self.offset == 0 {
            self.first.id = first_id(bytes);
        }
        // Parsing lines is most of the work and can be done in any order.
        feed_lines(bytes, self.may_share, &parse_lines, |part, lines| {
            let start = used;
            for (text, length, parsed) in lines {
                self.take(text, length, parsed, Ended::ByNewline);
                used += length;
            }
            for (text, length) in whole_lines(part.get(used - start..).unwrap_or_default()) {
                self.take(text, length, Parsed::of(text), Ended::ByNewline);
                used += length;
            }
        });
        used
    }

    fn may_share(&mut self, is_core_idle: bool) {
        self.may_share = is_core_idle;
    }

    fn finish(&mut self, rest: &[u8]) {
        if !rest.is_empty() {
            if self.offset == 0 {
                self.first.id = first_id(rest);
            }
            let text = rest.strip_suffix(b"\r").unwrap_or(rest);
            self.take(text, rest.len(), Parsed::of(text), Ended::ByEndOfFile);
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

    fn save(&self) -> Option<ReaderState> {
        // A file that must be read twice is read from the start.
        let state = self.suffices().then(|| postcard::to_allocvec(self).ok()).flatten()?;
        Some(ReaderState { offset: self.offset, state })
    }

    fn outline(&self) -> Outline {
        let form = Self::form(&self.first, self.line);
        self.replay.clone().into_outline(Grammar::Jsonl, self.suffices(), form)
    }

    fn into_outline(self: Box<Self>) -> Outline {
        let (loadable, first, line) = (self.suffices(), self.first, self.line);
        self.replay.into_outline(Grammar::Jsonl, loadable, Self::form(&first, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_many_short_messages_are_not_parsed_ahead() {
        let list = |message: &str, many: usize| {
            let messages = vec![message; many].join(",");
            format!("{{\"$set\":{{\"messages\":[{messages}]}}}}\n")
        };
        let parsed = |text: &str| parse_lines(text.as_bytes()).len();
        let usual = format!("{{\"id\":\"{}\"}}", "x".repeat(RECORD));
        assert_eq!(parsed(&[list(&usual, 2 * RECORDS), list("{}", 9)].concat()), 2);
        assert_eq!(parsed(&[list("{}", 9), list("{}", 2 * RECORDS), list("{}", 9)].concat()), 1);
        // Each line is short enough, and all of them are too many.
        assert_eq!(parsed(&list("{}", RECORDS / 3).repeat(10)), 3);
        assert_eq!(parsed(&["\u{feff}", &list("{}", 2 * RECORDS)].concat()), 0);
        assert_eq!(parsed(&"\n".repeat(2 * RECORDS)), RECORDS);
    }
}
