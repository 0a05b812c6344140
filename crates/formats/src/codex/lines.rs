//! Rollouts with one record per line: all releases but the first ones.

use std::sync::Arc;

use recount_model::{Grammar, Span, What};
use serde::{Deserialize, Serialize};

use crate::json::ScanError;
use crate::outline::Outline;
use crate::source::{Reader, ReaderState};

use super::build;
use super::record::Record;
use super::replay::Replay;

/// Reads a rollout, whole or as it grows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Lines {
    replay: Replay,
    /// The offset of the next byte in the file.
    offset: u64,
    line: u32,
}

impl Lines {
    pub(super) fn new(file: Arc<str>) -> Self {
        Self { replay: Replay::new(file), offset: 0, line: 0 }
    }

    /// Continues a saved reader; `None` if its state cannot be decoded.
    pub(super) fn resume(state: &[u8], file: &Arc<str>) -> Option<Self> {
        let mut lines: Self = postcard::from_bytes(state).ok()?;
        lines.replay.take_up(Arc::clone(file));
        Some(lines)
    }

    /// The offset of the next byte in the file.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes one line, which with what ends it is `length` bytes long, by way of `record`.
    fn take<'a>(&mut self, text: &'a [u8], length: usize, is_last: bool, record: &mut Record<'a>) {
        self.line = self.line.saturating_add(1);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let span = Span { line: self.line, offset: self.offset, bytes: text.len() as u64 };
        self.offset += length as u64;
        if text.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match record.fill(text) {
            Ok(()) => self.replay.take(record, span),
            Err(fault) => {
                let torn = is_last && fault == ScanError::Incomplete;
                let what = if torn { What::TornTail } else { What::BrokenLine };
                self.replay.problem(what, Some(span), "skipped, see `show --raw`");
            }
        }
    }
}

impl Reader for Lines {
    fn feed(&mut self, bytes: &[u8]) -> usize {
        let (mut used, mut record) = (0, Record::default());
        for end in memchr::memchr_iter(b'\n', bytes) {
            let Some(text) = bytes.get(used..end) else { break };
            self.take(text, end + 1 - used, false, &mut record);
            used = end + 1;
        }
        used
    }

    fn finish(&mut self, rest: &[u8]) {
        if !rest.is_empty() {
            self.take(rest, rest.len(), true, &mut Record::default());
        }
        if self.replay.meta.id.is_none() {
            self.replay.problem(What::NoHead, None, "the id comes from the file's name");
        }
    }

    fn outline(&self) -> Outline {
        build::outline(self.replay.clone(), Grammar::Jsonl)
    }

    fn save(&self) -> Option<ReaderState> {
        let room = Vec::with_capacity(self.replay.likely_state());
        let state = postcard::to_extend(self, room).ok()?;
        Some(ReaderState { offset: self.offset, state })
    }

    fn into_outline(self: Box<Self>) -> Outline {
        build::outline(self.replay, Grammar::Jsonl)
    }
}
