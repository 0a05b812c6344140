//! The messages of a session as rows: everything except their texts.

use std::path::Path;

use jiff::Timestamp;
use recount_catalog::facts::{CallRow, MessageRow, TouchRow};
use recount_formats::Source;
use recount_formats::outline::{MessageEntry, Outline};
use recount_formats::source::{FileAccess, SessionFiles};
use recount_model::{Fate, Message, OutputState, Problem, Span, Tokens, ToolCall, timestamp};

use crate::messages::{Messages, Upcoming, View};
use crate::stats::usage::said;

/// How much of an argument is stored.
const KEY_ARG: usize = 500;
/// The tool name for an attached file.
const SENT_ALONG: &str = "@file";

/// Formats a time for the tables: always with milliseconds, so that times sort as text.
pub(super) fn moment(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// Returns the paths of a session's files, and its messages in the order of the full view.
pub(super) fn rows(
    source: &'static dyn Source,
    session_files: &SessionFiles,
    folder: Option<&Path>,
    started: Option<Timestamp>,
) -> (Vec<String>, Vec<MessageRow>) {
    let file = |session_file: &recount_formats::source::SessionFile| {
        session_file.file.at.path.to_string_lossy().into_owned()
    };
    let files = session_files.files.iter().map(file).collect();
    let mut bodies = Messages::new(source, session_files, folder, View::Full);
    // Messages from a base are counted in its own session.
    bodies.keep_own();
    let mut messages = Vec::with_capacity(bodies.len());
    let mut times = CountedTimes::from(started);
    while let Some((mut row, body)) = next(&mut bodies, &mut times) {
        // A message that cannot be read in full still has a row, with less data.
        if let Ok(message) = body {
            fill_in(&mut row, &message, source);
        }
        messages.push(row);
    }
    (files, messages)
}

/// The times that the messages of a session count for, as in `stats`: each its own, else that of the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedTimes {
    last: Option<i64>,
}

impl CountedTimes {
    /// Begins with the start of a session.
    pub(crate) fn from(started: Option<Timestamp>) -> Self {
        Self { last: started.map(Timestamp::as_millisecond) }
    }

    /// Returns the time of the next message. Asked again for the same one, it is the same.
    pub(crate) fn at(&mut self, time: Option<i64>, counts: bool) -> Option<i64> {
        let at = time.or(self.last);
        if counts {
            self.last = at;
        }
        at
    }
}

/// Returns the row of the next message from the outline, and the message itself, which is not in the row yet.
pub(crate) fn next(
    bodies: &mut Messages<'_>,
    times: &mut CountedTimes,
) -> Option<(MessageRow, Result<Message, Problem>)> {
    let upcoming = bodies.upcoming();
    let body = bodies.next()?;
    let Some(Upcoming { session_file, outline, entry, span, fate, .. }) = upcoming else {
        return Some((MessageRow::default(), body));
    };
    let mut row = outlined(outline, entry, (session_file, span), fate);
    row.at = times.at(entry.time, said(entry).is_some());
    row.request = entry.tokens.and_then(|_| bodies.source().request_key(outline, entry));
    row.pieces = outline.pieces_of(entry).map(|v| (v.span.offset, v.span.bytes)).collect();
    if body.as_ref().is_ok_and(is_cut) {
        let others = outline.versions_of(entry).map(|version| version.span);
        let others = others.filter(|other| other.offset != span.offset);
        row.versions = others.map(|other| (other.offset, other.bytes)).collect();
    }
    Some((row, body))
}

/// Returns the row of a message that is in memory, and in no outline.
pub(crate) fn saved(message: &Message, times: &mut CountedTimes) -> MessageRow {
    let place = &message.place;
    let time = message.time.map(Timestamp::as_millisecond);
    MessageRow {
        id: message.id.as_ref().map(ToString::to_string),
        kind: message.kind.to_string(),
        fate: message.fate.to_string(),
        time: message.time.map(moment),
        model: message.model.clone(),
        tool_calls: message.tool_calls.len() as u64,
        tokens: message.tokens.map(numbers),
        cache_write_1h: message.tokens.unwrap_or_default().cache_write_1h,
        at: times.at(time, true),
        offset: place.offset,
        bytes: place.bytes,
        ..MessageRow::default()
    }
}

/// Returns the row from the outline: lists count the same data, so sums agree.
fn outlined(
    outline: &Outline,
    entry: &MessageEntry,
    (file, span): (usize, Span),
    fate: Fate,
) -> MessageRow {
    let model = entry.model.and_then(|model| outline.models.get(usize::from(model)));
    MessageRow {
        id: entry.id.as_deref().map(str::to_owned),
        kind: entry.kind.to_string(),
        fate: fate.to_string(),
        time: entry.time.and_then(timestamp).map(moment),
        model: model.map(ToString::to_string),
        characters: None,
        tool_calls: entry.calls.first().copied().map_or(0, u64::from),
        tokens: entry.tokens.map(numbers),
        cache_write_1h: entry.tokens.unwrap_or_default().cache_write_1h,
        file,
        line: Some(span.line).filter(|line| *line > 0),
        offset: span.offset,
        bytes: span.bytes,
        ..MessageRow::default()
    }
}

fn numbers(tokens: Tokens) -> [u64; 7] {
    let Tokens { input, output, cached, cache_write, thoughts, tool, total, .. } = tokens;
    [input, output, cached, cache_write, thoughts, tool, total]
}

/// Returns what was used, from the numbers of a row.
pub(crate) fn tokens(numbers: [u64; 7], cache_write_1h: u64) -> Tokens {
    let [input, output, cached, cache_write, thoughts, tool, total] = numbers;
    Tokens { input, output, cached, cache_write, cache_write_1h, thoughts, tool, total }
}

/// Adds what only the message itself has.
pub(crate) fn fill_in(row: &mut MessageRow, message: &Message, source: &dyn Source) {
    row.characters = Some(message.text.chars().count() as u64);
    row.line = Some(message.place.line).filter(|line| *line > 0);
    row.calls = message.tool_calls.iter().map(call).collect();
    row.touched.extend(message.files.iter().map(|file| TouchRow {
        tool: SENT_ALONG.to_owned(),
        how: "attached",
        path: file.path.clone(),
        time: row.time.clone(),
    }));
    for call in &message.tool_calls {
        let time = call.time.map(moment).or_else(|| row.time.clone());
        row.touched.extend(source.touched(call).into_iter().map(|touch| TouchRow {
            tool: call.name.clone(),
            how: match touch.how {
                FileAccess::Read => "read",
                FileAccess::Written => "written",
                FileAccess::Named => "named",
            },
            path: touch.path,
            time: time.clone(),
        }));
    }
}

fn call(call: &ToolCall) -> CallRow {
    let start = |text: &String| match text.char_indices().nth(KEY_ARG) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
        None => text.clone(),
    };
    CallRow {
        id: call.id.clone(),
        name: call.name.clone(),
        display_name: call.display_name.clone(),
        status: Some(call.status.as_str().to_owned()).filter(|word| !word.is_empty()),
        time: call.time.map(moment),
        key_arg: call.key_arg.as_ref().map(start),
        agent_id: call.agent_id.clone(),
        output_state: match call.output_state {
            OutputState::Whole => "whole",
            OutputState::Recovered => "recovered",
            OutputState::Truncated => "truncated",
            OutputState::Masked => "masked",
        },
    }
}

/// Whether another version may have what this one lacks.
fn is_cut(message: &Message) -> bool {
    message.tool_calls.iter().any(|call| call.output_state != OutputState::Whole)
}
