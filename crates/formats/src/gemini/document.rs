//! The document grammar: one JSON object per file (0.4–0.38, and exports).
//!
//! The object is parsed as it is read: at most its largest message is in memory.

use super::state::Form;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memchr::memmem;
use recount_model::{Grammar, Span, What};

use super::facts::Resumable;
use super::record::{Element, Fields};
use super::replay::{Replay, Seen};
use crate::bytes::{PART, RECORDS, WORTH_SHARING, in_order};
use crate::json::{JsonScan, ScanError, Scanner};
use crate::outline::Outline;
use crate::source::Reader;

/// Reads a document, whole or in pieces.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing the loader checks")]
pub(crate) struct Document {
    replay: Replay,
    state: State,
    offset: u64,
    /// Where the last field's value ends.
    value_end: u64,
    has_session_id: bool,
    has_messages: bool,
    /// Whether the last `messages` is an array.
    has_list: bool,
    /// Whether it is not valid JSON.
    broken: bool,
    /// Whether the agent's loader would succeed: everything valid, and no message it throws on.
    sound: bool,
    resumable: bool,
    may_share: bool,
}

/// The next expected token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    FirstKey,
    Key,
    AfterValue,
    FirstElement,
    Element,
    AfterElement,
    End,
    /// Damage: searching for the next line that begins a message.
    Lost,
}

/// The lines of a document are counted only when needed: see [`crate::bytes::LineCounter`].
const UNCOUNTED: u32 = 0;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The start of a message in a document indented by two.
const MESSAGE: &[u8] = b"\n    {";

impl Document {
    pub(crate) fn new(file: Arc<str>) -> Self {
        Self {
            replay: Replay::new(file),
            state: State::Start,
            offset: 0,
            value_end: 0,
            has_session_id: false,
            has_messages: false,
            has_list: false,
            broken: false,
            sound: true,
            resumable: false,
            may_share: false,
        }
    }

    /// Keeps the raw session-level fields.
    pub(crate) fn keeping_fields(mut self) -> Self {
        self.replay.metadata.keep_fields();
        self
    }

    /// Whether the agent's loader accepts the document.
    pub(crate) fn loadable(&self) -> bool {
        self.sound && self.state == State::End && self.has_session_id
    }

    /// Reads one token or one whole value from the start of `bytes` and returns its length.
    fn step(&mut self, bytes: &[u8]) -> JsonScan<usize> {
        let mut scanner = Scanner::new(bytes);
        let next = scanner.peek()?;
        self.state = match (self.state, next) {
            (State::Start, b'{') => advance(&mut scanner, State::FirstKey)?,
            (State::FirstKey | State::AfterValue, b'}') => advance(&mut scanner, State::End)?,
            (State::FirstKey | State::Key, b'"') => self.field(&mut scanner, bytes)?,
            (State::AfterValue, b',') => advance(&mut scanner, State::Key)?,
            (State::FirstElement | State::AfterElement, b']') => {
                advance(&mut scanner, State::AfterValue)?
            }
            (State::FirstElement | State::Element, _) => self.message(&mut scanner, bytes)?,
            (State::AfterElement, b',') => advance(&mut scanner, State::Element)?,
            _ => return Err(ScanError::Syntax),
        };
        if self.state == State::AfterValue {
            self.value_end = self.offset + scanner.offset() as u64;
        }
        Ok(scanner.offset())
    }

    fn field(&mut self, scanner: &mut Scanner<'_>, bytes: &[u8]) -> JsonScan<State> {
        let key = scanner.key()?;
        let name = key.name();
        let first = scanner.peek()?;
        if name.as_ref() == b"messages" {
            if self.has_messages {
                self.replay.forget_elements();
            }
            self.has_messages = true;
            self.has_list = first == b'[';
            if first == b'[' {
                return advance(scanner, State::FirstElement);
            }
        }
        let start = scanner.offset();
        let mut fields = Fields::default();
        let known = fields.field(scanner, &name)?;
        if !known {
            scanner.skip()?;
        }
        if scanner.offset() == bytes.len() && first != b'"' {
            // A number may continue in the next piece.
            return Err(ScanError::Incomplete);
        }
        // The loader calls array methods on `messages`, whatever its type.
        self.sound &= name.as_ref() != b"messages" || bytes.get(start..start + 4) == Some(b"null");
        if !known {
            let span = Span { line: UNCOUNTED, offset: self.offset + start as u64, bytes: 0 };
            self.replay.problem(What::UnknownField, Some(span), "kept, see `show --raw`");
        }
        self.has_session_id |= name.as_ref() == b"sessionId";
        self.replay.metadata.merge(fields, Seen::ByAgent);
        self.replay.metadata.keep(&name, scanner.since(start));
        if let Some(layout) = self.replay.metadata.layout() {
            let at = |offset: usize| self.offset + offset as u64;
            layout.put(&name, at(start), at(scanner.offset()));
        }
        Ok(State::AfterValue)
    }

    fn message(&mut self, scanner: &mut Scanner<'_>, bytes: &[u8]) -> JsonScan<State> {
        let mut element = Element::default();
        element.fill(scanner)?;
        if scanner.offset() == bytes.len() && !element.is_object {
            return Err(ScanError::Incomplete);
        }
        let is_null = bytes.get(element.range.start) == Some(&b'n');
        self.note(&element, self.offset, is_null);
        Ok(State::AfterElement)
    }

    /// Adds a message that was read from bytes at `base`.
    fn note(&mut self, element: &Element<'_>, base: u64, is_null: bool) {
        let span = Span {
            line: UNCOUNTED,
            offset: base + element.range.start as u64,
            bytes: element.range.len() as u64,
        };
        // `null` has no type to check, so the loader throws; other values pass.
        self.sound &= !is_null;
        match self.replay.element(&element.facts, span) {
            Resumable::Yes => self.resumable = true,
            // The loader stops at the first resumable message, so later ones do no harm.
            Resumable::Throws if !self.resumable => self.sound = false,
            Resumable::Throws | Resumable::No => {}
        }
    }

    /// Reads `bytes` on two cores, if they are large enough and look like a document indented by two: while the first part is read, the
    /// messages of later ones are parsed. They are used only if the sequential reader arrives exactly where they begin. Returns the
    /// number of bytes used.
    fn feed_in_parts(&mut self, bytes: &[u8]) -> usize {
        if !self.may_share || bytes.len() < WORTH_SHARING {
            return 0;
        }
        let starts = message_parts(bytes);
        let start = |number: usize| starts.get(number).copied().unwrap_or(bytes.len());
        let is_guess_wrong = AtomicBool::new(false);
        let parse = |number: usize| match start(number) {
            _ if is_guess_wrong.load(Ordering::Relaxed) => Vec::new(),
            0 => Vec::new(),
            from => elements(bytes.get(from..start(number + 1)).unwrap_or_default()),
        };
        let (base, mut used, mut is_stuck) = (self.offset, 0, false);
        in_order(starts.len(), &parse, |number, ahead| {
            let (from, to) = (start(number), start(number + 1));
            if used == from && self.state == State::Element {
                for element in &ahead {
                    self.note(element, base + from as u64, false);
                }
                if let Some(last) = ahead.last() {
                    used += last.range.end;
                    self.offset = base + used as u64;
                    self.state = State::AfterElement;
                }
            } else if number > 0 {
                is_guess_wrong.store(true, Ordering::Relaxed);
            }
            while used < to && !is_stuck {
                let step = self.step(bytes.get(used..).unwrap_or_default());
                is_stuck = step.is_err();
                used += step.unwrap_or_default();
                self.offset = base + used as u64;
            }
        });
        used
    }

    /// Skips to the next line that looks like the start of a message.
    fn find_message(&mut self, bytes: &[u8]) -> usize {
        match memmem::find(bytes, MESSAGE) {
            Some(at) => {
                self.state = State::Element;
                at + 1
            }
            None => bytes.len().saturating_sub(MESSAGE.len()),
        }
    }

    fn damaged(&mut self, at: u64) {
        if self.sound {
            let span = Span { line: UNCOUNTED, offset: at, bytes: 0 };
            self.replay.problem(
                What::BrokenDocument,
                Some(span),
                "every complete message is read, though the agent cannot load the file",
            );
        }
        self.sound = false;
        self.broken = true;
    }

    /// Returns the facts that only a document has.
    fn form(&self) -> Form {
        let first_id = self.replay.metadata.id().filter(|_| !self.broken);
        Form { first_id, is_document: !self.broken, has_messages: self.has_list }
    }
}

/// Returns where parts begin: the first one at the start, others after the comma before what seems to be a message.
fn message_parts(bytes: &[u8]) -> Vec<usize> {
    let mut starts = vec![0];
    let mut from = PART;
    while let Some(at) = bytes.get(from..).and_then(|rest| memmem::find(rest, MESSAGE)) {
        let start = from + at;
        let is_after_return = bytes.get(..start).is_some_and(|before| before.ends_with(b"\r"));
        starts.push(start - usize::from(is_after_return));
        from = start + PART;
    }
    starts
}

/// Reads objects and the commas between them, as far as possible: as many as may be parsed ahead.
fn elements(bytes: &[u8]) -> Vec<Element<'_>> {
    let mut scanner = Scanner::new(bytes);
    let mut all = Vec::new();
    while all.len() < RECORDS
        && scanner.peek() == Ok(b'{')
        && let Ok(element) = Element::read(&mut scanner)
    {
        all.push(element);
        if scanner.expect(b',').is_err() {
            break;
        }
    }
    all
}

fn advance(scanner: &mut Scanner<'_>, state: State) -> JsonScan<State> {
    let next = scanner.peek()?;
    scanner.expect(next)?;
    Ok(state)
}

impl Reader for Document {
    fn feed(&mut self, bytes: &[u8]) -> usize {
        let mut used = 0;
        if self.offset == 0
            && bytes.len() < BYTE_ORDER_MARK.len()
            && BYTE_ORDER_MARK.starts_with(bytes)
        {
            return 0;
        }
        if self.offset == 0 && bytes.starts_with(BYTE_ORDER_MARK) {
            self.replay.problem(
                What::ByteOrderMark,
                None,
                "read, though the agent cannot load the file",
            );
            self.sound = false;
            self.broken = true;
            used = BYTE_ORDER_MARK.len();
            self.offset = used as u64;
        }
        let mut is_tried = false;
        while let Some(rest) = bytes.get(used..).filter(|rest| !rest.is_empty()) {
            if !is_tried && matches!(self.state, State::Element | State::AfterElement) {
                is_tried = true;
                used += self.feed_in_parts(rest);
                continue;
            }
            let step = if self.state == State::Lost {
                match self.find_message(rest) {
                    0 => break,
                    skipped => skipped,
                }
            } else {
                match self.step(rest) {
                    Ok(step) => step,
                    Err(ScanError::Incomplete) => break,
                    Err(ScanError::Syntax) => {
                        self.damaged(self.offset);
                        self.state = State::Lost;
                        1
                    }
                }
            };
            let step = step.min(rest.len());
            self.offset += step as u64;
            used += step;
        }
        used
    }

    fn may_share(&mut self, is_core_idle: bool) {
        self.may_share = is_core_idle;
    }

    fn finish(&mut self, rest: &[u8]) {
        let blank = rest.iter().all(u8::is_ascii_whitespace);
        if self.state != State::End || !blank {
            self.damaged(self.offset);
        }
        if !self.broken
            && let Some(layout) = self.replay.metadata.layout()
        {
            layout.close(self.value_end);
        }
        if !self.replay.metadata.has_id() {
            self.replay.problem(What::NoHead, None, "the id comes from the file's name");
        }
    }

    fn outline(&self) -> Outline {
        self.replay.clone().into_outline(Grammar::Json, self.loadable(), self.form())
    }

    fn into_outline(self: Box<Self>) -> Outline {
        let (loadable, form) = (self.loadable(), self.form());
        self.replay.into_outline(Grammar::Json, loadable, form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An indented document with messages of `length` bytes, up to one that follows a comma.
    fn messages(length: usize, end_of_line: &str) -> Vec<u8> {
        let text = "x".repeat(length);
        let message =
            format!("    {{\n      \"id\": \"a\",\n      \"content\": \"{text}\"\n    }},\n");
        let head = "{\n  \"sessionId\": \"s\",\n  \"messages\": [\n";
        let all = [head, &message.repeat(2 * WORTH_SHARING / message.len())].concat();
        all.replace('\n', end_of_line).into_bytes()
    }

    #[test]
    fn the_sequential_reader_arrives_where_parts_begin() {
        for end_of_line in ["\n", "\r\n"] {
            let bytes = messages(1000, end_of_line);
            let mut document = Document::new(Arc::from("x"));
            let mut used = 0;
            let starts = message_parts(&bytes);
            assert!(starts.len() > 10, "{end_of_line:?}");
            for start in starts {
                used += document.feed(&bytes[used..start]);
                let is_right = start == 0 || document.state == State::Element;
                assert!(used == start && is_right, "{start} {end_of_line:?}");
            }
        }
    }

    #[test]
    fn only_so_many_messages_of_a_part_are_parsed_ahead() {
        let short = "{},".repeat(3 * RECORDS);
        assert_eq!(elements(short.as_bytes()).len(), RECORDS);
        assert_eq!(elements(&short.as_bytes()[..30]).len(), 10);
    }
}
