//! Rollouts that are one JSON document: `{"session": {…}, "items": […]}`, as the first releases wrote them.

use std::sync::Arc;

use recount_model::{Grammar, Span, What};

use crate::json::{ScanError, Scanner};
use crate::outline::Outline;
use crate::source::Reader;

use super::build;
use super::record::{Fields, Record};
use super::replay::Replay;

/// Reads a document, item by item.
#[derive(Debug)]
pub(super) struct Document {
    replay: Replay,
    offset: u64,
    at: At,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// The bracket that everything is in.
    Start,
    /// A member of the document.
    Member,
    /// An item.
    Item,
    /// Nothing.
    End,
    /// Something that is not JSON.
    Broken,
}

impl Document {
    pub(super) fn new(file: Arc<str>) -> Self {
        Self { replay: Replay::new(file), offset: 0, at: At::Start }
    }

    /// Takes one step; returns how many bytes it used.
    fn step(&mut self, bytes: &[u8]) -> Result<usize, ScanError> {
        let mut scanner = Scanner::new(bytes);
        match self.at {
            At::Start => {
                scanner.expect(b'{')?;
                self.at = At::Member;
            }
            At::Member => match scanner.peek()? {
                b',' => scanner.expect(b',')?,
                b'}' => {
                    scanner.expect(b'}')?;
                    self.at = At::End;
                }
                _ => {
                    let key = scanner.key()?;
                    if key.is("items") && scanner.peek()? == b'[' {
                        scanner.expect(b'[')?;
                        self.at = At::Item;
                    } else {
                        let value = scanner.value()?;
                        // A number may continue.
                        scanner.peek()?;
                        if key.is("session")
                            && let Ok(fields) = Fields::read(value)
                        {
                            self.replay.meta.take_header(&fields);
                        }
                    }
                }
            },
            At::Item => match scanner.peek()? {
                b',' => scanner.expect(b',')?,
                b']' => {
                    scanner.expect(b']')?;
                    self.at = At::Member;
                }
                _ => {
                    let start = scanner.offset();
                    let value = scanner.value()?;
                    scanner.peek()?;
                    let offset = self.offset + start as u64;
                    let span = Span { line: 0, offset, bytes: value.len() as u64 };
                    let record = Record::read(value)?;
                    self.replay.take(&record, span);
                }
            },
            At::End | At::Broken => return Ok(bytes.len()),
        }
        Ok(scanner.offset())
    }
}

impl Reader for Document {
    fn feed(&mut self, bytes: &[u8]) -> usize {
        let mut used = 0;
        while let Some(rest) = bytes.get(used..).filter(|rest| !rest.is_empty()) {
            match self.step(rest) {
                Ok(count) => {
                    used += count;
                    self.offset += count as u64;
                }
                Err(ScanError::Incomplete) => break,
                Err(ScanError::Syntax) => {
                    self.at = At::Broken;
                    let span = Span { line: 0, offset: self.offset, bytes: 0 };
                    let done = "what comes before is read";
                    self.replay.problem(What::BrokenDocument, Some(span), done);
                }
            }
        }
        used
    }

    fn finish(&mut self, rest: &[u8]) {
        if !matches!(self.at, At::End | At::Broken) {
            let span = Span { line: 0, offset: self.offset, bytes: rest.len() as u64 };
            let done = "what comes before is read";
            self.replay.problem(What::BrokenDocument, Some(span), done);
        }
        if self.replay.meta.id.is_none() {
            self.replay.problem(What::NoHead, None, "the id comes from the file's name");
        }
    }

    fn outline(&self) -> Outline {
        build::outline(self.replay.clone(), Grammar::Json)
    }

    fn into_outline(self: Box<Self>) -> Outline {
        build::outline(self.replay, Grammar::Json)
    }
}
