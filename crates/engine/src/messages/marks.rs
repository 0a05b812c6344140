//! What is known about every message of a conversation without reading any.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use recount_model::{Fate, FileRole, Message, MessageKind, RecordLocation, Tokens, timestamp};
use recount_prices::{Money, Prices, context_window};

use crate::Engine;
use crate::messages::cursor::{MessageCursor, Rows};
use crate::messages::records::Records;
use crate::sessions::open::Opened;

/// What is known about a message without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageMark {
    /// What it is.
    pub kind: MessageKind,
    /// Its fate.
    pub fate: Fate,
    /// Its time.
    pub time: Option<Timestamp>,
    /// The number of tool calls.
    pub calls: u32,
    /// Of these, those that failed.
    pub failed: u32,
    /// Its size on disk.
    pub bytes: u64,
    /// The tokens of its request's prompt, and the context window of the model if it is known.
    pub context: Option<(u64, Option<u64>)>,
    /// What all requests up to and including this one cost. `None` before the first one that has a price.
    pub sum: Option<Money>,
    /// Its file and its number in that: the same in every view, and while the session grows.
    pub entry: (usize, usize),
}

/// Adds up the cost of requests.
struct Sum<'a> {
    prices: Option<&'a Prices>,
    sum: Option<Money>,
}

impl Sum<'_> {
    fn add(&mut self, model: Option<&str>, time: Option<Timestamp>, tokens: &Tokens) {
        let day = time.map_or(Date::MAX, |time| time.to_zoned(TimeZone::UTC).date());
        let quote =
            self.prices.zip(model).and_then(|(prices, model)| prices.quote(model, day, tokens));
        if let Some(quote) = quote {
            *self.sum.get_or_insert_default() += quote.cost;
        }
    }
}

impl MessageCursor {
    /// Returns what is known about each message without reading it, in order.
    pub fn marks(&self, engine: &Engine) -> Vec<MessageMark> {
        let mut sum = Sum { prices: engine.pricing().prices(), sum: None };
        match &self.rows {
            Rows::Saved { first, many } => {
                let saved = self.opened.saved().iter().skip(*first).take(*many);
                saved.enumerate().map(|(at, message)| saved_mark(at, message, &mut sum)).collect()
            }
            Rows::Files(pending) => {
                let files = &self.opened.session_files().files;
                let mark = |pending: &super::Pending| {
                    let file = files.get(pending.session_file)?;
                    let outline = &file.file.outline;
                    let entry = outline.entries.get(pending.entry)?;
                    let model = entry.model.and_then(|at| outline.models.get(usize::from(at)));
                    let time = entry.time.and_then(timestamp);
                    if let Some(tokens) = entry.tokens.filter(|_| file.role != FileRole::Base) {
                        sum.add(model.map(|model| &**model), time, &tokens);
                    }
                    let [calls, failed, _] = entry.calls;
                    Some(MessageMark {
                        kind: entry.kind,
                        fate: pending.fate,
                        time,
                        calls,
                        failed,
                        bytes: pending.span.bytes,
                        context: context(model.map(|model| &**model), entry.tokens.as_ref()),
                        sum: sum.sum,
                        entry: (pending.session_file, pending.entry),
                    })
                };
                let mut mark = mark;
                let unknown = MessageMark {
                    kind: MessageKind::Context,
                    fate: Fate::Kept,
                    time: None,
                    calls: 0,
                    failed: 0,
                    bytes: 0,
                    context: None,
                    sum: None,
                    entry: (usize::MAX, usize::MAX),
                };
                pending.iter().map(|pending| mark(pending).unwrap_or(unknown)).collect()
            }
        }
    }
}

fn saved_mark(at: usize, message: &Message, sum: &mut Sum<'_>) -> MessageMark {
    use recount_model::ToolStatus;
    let many = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
    let failed = message.tool_calls.iter().filter(|call| call.status == ToolStatus::Error).count();
    let model = message.model.as_deref();
    if let Some(tokens) = &message.tokens {
        sum.add(model, message.time, tokens);
    }
    MessageMark {
        kind: message.kind,
        fate: message.fate,
        time: message.time,
        calls: many(message.tool_calls.len()),
        failed: many(failed),
        bytes: message.place.bytes,
        context: context(model, message.tokens.as_ref()),
        sum: sum.sum,
        entry: (0, at),
    }
}

fn context(model: Option<&str>, tokens: Option<&Tokens>) -> Option<(u64, Option<u64>)> {
    let used = tokens.map(|tokens| tokens.input).filter(|used| *used > 0)?;
    Some((used, model.and_then(|model| context_window(model, used))))
}

impl Opened {
    /// Reads at most `most` bytes of the record at a place, exactly as they are on disk. `None` if the file cannot be read, or is
    /// none of the session's.
    pub fn record(&self, place: &RecordLocation, most: u64) -> Option<Vec<u8>> {
        let mut files = self.session_files().files.iter();
        let file = files.find(|file| file.file.at.path.to_string_lossy() == *place.file)?;
        let mut records = Records::default();
        let mut bytes = Vec::new();
        let pieces = place.pieces.iter().map(|piece| (piece.offset, piece.bytes));
        for (offset, length) in std::iter::once((place.offset, place.bytes)).chain(pieces) {
            let left = most.saturating_sub(bytes.len() as u64);
            if !bytes.is_empty() && bytes.last() != Some(&b'\n') {
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(records.read(&file.file.at.path, offset, length.min(left))?);
        }
        Some(bytes)
    }
}
