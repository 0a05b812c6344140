//! Pages of a session, in both directions.

use recount_blocks::{Block, BlockOptions, Body, Gap, Level, blocks};
use recount_engine::{MessageMark, Position, View};
use recount_model::{Fate, Message, MessageKind, Tokens};
use serde::Serialize;
use serde_json::{Value, json};

use super::outline::{context, sum, view_name};
use super::reading::{Reading, Text};
use super::{cut, images, session};
use crate::failure::ApiError;
use crate::params::Params;
use crate::router::{Answer, Asked};

/// The largest page.
const MOST: usize = 400;
/// A page without a number.
const FORWARD: usize = 200;
const BEFORE: usize = 24;
/// A page ends after this size on disk, but has at least one message.
const PAGE_BYTES: u64 = 4 * 1024 * 1024;

const LEVELS: &[(&str, Level)] = &[
    ("talk", Level::Talk),
    ("actions", Level::Actions),
    ("full", Level::Full),
    ("details", Level::Full),
    ("trace", Level::Trace),
];

/// Returns the level that is asked for.
pub(crate) fn level(params: &Params) -> Result<Level, ApiError> {
    Ok(params.choice("level", LEVELS)?.unwrap_or(Level::Actions))
}

/// Whether undone messages are asked for.
pub(crate) fn with_undone(params: &Params) -> bool {
    !matches!(params.get("undone"), Some("0" | "false" | "no"))
}

fn level_name(level: Level) -> &'static str {
    LEVELS.iter().find(|(_, own)| *own == level).map_or("actions", |(name, _)| name)
}

/// What is asked for.
#[derive(Clone, Debug)]
struct Wanted {
    level: Level,
    thoughts: bool,
    with_undone: bool,
    /// Whether long texts are sent whole.
    whole: bool,
}

/// A page, and the range of messages that it covers.
struct Page {
    from: usize,
    to: usize,
    messages: Vec<Value>,
}

/// Answers with a page of messages.
pub(crate) fn answer(asked: &Asked<'_>) -> Result<Answer, ApiError> {
    let params = asked.params;
    let wanted_level = level(params)?;
    let (engine, reading, text) = session::open_text(asked)?;
    let number = |name: &str, default: usize| {
        Ok::<usize, ApiError>(params.number(name)?.unwrap_or(default).min(MOST))
    };
    let mut wanted = Wanted {
        level: wanted_level,
        thoughts: params.flag("thoughts"),
        with_undone: with_undone(params),
        whole: params.flag("whole"),
    };
    let mut at = None;
    let page = if let Some(place) = params.get("at") {
        at = find(place, params, &text, &reading)?;
        let middle = at.unwrap_or(0);
        let (before, after) = (number("before", BEFORE)?, number("after", FORWARD - BEFORE)?);
        wanted.raise(&text, at);
        Pages::new(&text, &reading, &wanted).around(middle, before, after)
    } else if let Some(before) = params.number("before")? {
        Pages::new(&text, &reading, &wanted).before(before, number("count", FORWARD)?)
    } else {
        let from = params.number("from")?.unwrap_or(0);
        Pages::new(&text, &reading, &wanted).after(from, number("count", FORWARD)?)
    };
    let raised = (wanted.level != wanted_level).then(|| level_name(wanted.level));
    let facts = &reading.opened.facts;
    // New messages come at the end of the full view.
    let new = engine.read_marks().new_messages(facts);
    let new = usize::try_from(new).ok().filter(|new| *new > 0 && text.view == View::Full);
    let document = json!({
        "schema": "recount.messages/1",
        "version": reading.version,
        "view": view_name(text.view),
        "level": level_name(wanted.level),
        "total": text.marks.len(),
        "from": page.from,
        "to": page.to,
        "at": at,
        "raised": raised,
        "counted": facts.counts.messages,
        "new_from": new.map(|new| text.marks.len().saturating_sub(new)),
        "messages": page.messages,
    });
    let mut text = Vec::new();
    recount_documents::whole(&mut text, &document)?;
    Ok(Answer::Json(text))
}

impl Wanted {
    /// Shows more, until something of a message that was asked for is shown.
    fn raise(&mut self, text: &Text, at: Option<usize>) {
        let Some((at, mark)) = at.and_then(|at| Some((at, text.marks.get(at)?))) else { return };
        self.with_undone |= mark.fate != Fate::Kept;
        let read = text.read(at).and_then(Result::ok);
        let (own, thoughts) = (self.level, self.thoughts);
        let is_shown = |level: &Level| match &read {
            Some(message) => level.shows(message, thoughts),
            None => level.may_show(mark.kind),
        };
        let levels = [own, Level::Actions, Level::Full, Level::Trace];
        let enough = levels.into_iter().filter(|level| *level >= own).find(is_shown);
        self.level = enough.unwrap_or(Level::Trace);
    }
}

/// Returns the number of the message that `at` names.
fn find(
    place: &str,
    params: &Params,
    text: &Text,
    reading: &Reading,
) -> Result<Option<usize>, ApiError> {
    let last = text.marks.len().checked_sub(1);
    if let Some(id) = place.strip_prefix("id:") {
        return Ok(text.find(&Position::Id(id.to_owned())).filter(|_| !id.is_empty()));
    }
    if let Some(key) = place.strip_prefix("key:") {
        let parts = key.split_once('-');
        let entry = parts.and_then(|(file, entry)| Some((file.parse().ok()?, entry.parse().ok()?)));
        return Ok(text.marks.iter().position(|mark| Some(mark.entry) == entry));
    }
    if let Some(offset) = place.strip_prefix("byte:") {
        let offset = offset.parse().map_err(|_| ApiError::bad("at=byte: not a number"))?;
        let files = &reading.opened.facts.files;
        let only = params.number("file")?;
        let files = files.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at));
        let found = files
            .filter_map(|(_, file)| text.find(&Position::Byte { file: file.path.clone(), offset }));
        return Ok(found.into_iter().next());
    }
    match place {
        "start" => Ok(last.map(|_| 0)),
        "end" => Ok(last),
        number => {
            let number: usize = number.parse().map_err(|_| {
                ApiError::bad(format!("at={number}: unknown"))
                    .hint("start, end, a number, id:…, key:…, byte:…")
            })?;
            Ok(last.filter(|last| number <= *last).map(|_| number))
        }
    }
}

/// Reads pages.
struct Pages<'a> {
    text: &'a Text,
    reading: &'a Reading,
    wanted: &'a Wanted,
    shown: Vec<usize>,
    bytes: u64,
}

impl<'a> Pages<'a> {
    fn new(text: &'a Text, reading: &'a Reading, wanted: &'a Wanted) -> Self {
        let shown = text.shown(wanted.level, wanted.with_undone);
        Self { text, reading, wanted, shown, bytes: 0 }
    }

    /// Returns the messages from one on.
    fn after(&mut self, from: usize, many: usize) -> Page {
        let start = self.shown.partition_point(|at| *at < from);
        let mut page = Page { from, to: self.text.marks.len(), messages: Vec::new() };
        for place in start..self.shown.len() {
            let Some(at) = self.shown.get(place).copied() else { break };
            if page.messages.len() >= many || self.is_full(at, page.messages.is_empty()) {
                page.to = at;
                break;
            }
            page.messages.extend(self.message(place, at));
        }
        page.from = page.from.min(page.to);
        page
    }

    /// Returns the messages before one.
    fn before(&mut self, to: usize, many: usize) -> Page {
        let to = to.min(self.text.marks.len());
        let end = self.shown.partition_point(|at| *at < to);
        let mut page = Page { from: 0, to, messages: Vec::new() };
        for place in (0..end).rev() {
            let Some(at) = self.shown.get(place).copied() else { break };
            if page.messages.len() >= many || self.is_full(at, page.messages.is_empty()) {
                page.from = at + 1;
                break;
            }
            page.messages.extend(self.message(place, at));
        }
        page.messages.reverse();
        page
    }

    fn around(&mut self, middle: usize, before: usize, after: usize) -> Page {
        let later = self.after(middle, after.max(1));
        let mut page = self.before(middle, before);
        page.to = later.to;
        page.messages.extend(later.messages);
        page
    }

    /// Whether a page is too large for another message.
    fn is_full(&mut self, at: usize, is_empty: bool) -> bool {
        self.bytes += self.text.marks.get(at).map_or(0, |mark| mark.bytes);
        self.bytes > PAGE_BYTES && !is_empty
    }

    /// Returns a message, unless the level shows nothing of it.
    fn message(&self, place: usize, at: usize) -> Option<Value> {
        let mark = self.text.marks.get(at)?;
        let before = place.checked_sub(1).and_then(|place| self.shown.get(place));
        let before = before.and_then(|at| self.text.marks.get(*at)).and_then(|mark| mark.time);
        let gap = mark.time.and_then(|time| Gap::between(before, time)).map(|gap| gap.seconds);
        match self.text.read(at)? {
            Ok(mut message) => {
                let Wanted { level, thoughts, .. } = *self.wanted;
                if !level.shows(&message, thoughts) {
                    return None;
                }
                let cut = cut::cut(&mut message, self.wanted.whole);
                let project = self.reading.opened.facts.project.path.as_ref();
                let options = BlockOptions {
                    level,
                    thoughts,
                    body: if level >= Level::Trace { Body::Both } else { Body::Displayed },
                    markdown_summaries: true,
                    project: project.map_or("", |path| path.as_str()),
                };
                let shown =
                    ShownMessage::new(at, mark, gap, &message, blocks(&message, &options), cut);
                // Only what is in memory is serialized: it cannot fail.
                serde_json::to_value(shown).ok()
            }
            Err(error) => Some(json!({
                "at": at,
                "key": key(mark),
                "kind": mark.kind,
                "fate": mark.fate,
                "time": mark.time.map(jiff::Timestamp::as_millisecond),
                "error": error,
            })),
        }
    }
}

fn key(mark: &MessageMark) -> String {
    format!("{}-{}", mark.entry.0, mark.entry.1)
}

#[derive(Serialize)]
struct ShownMessage<'a> {
    at: usize,
    key: String,
    id: Option<&'a str>,
    kind: MessageKind,
    fate: Fate,
    time: Option<i64>,
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<i64>,
    sum: Option<f64>,
    context: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Tokens>,
    bytes: u64,
    line: u32,
    blocks: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    media: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cut: Vec<Value>,
}

impl<'a> ShownMessage<'a> {
    fn new(
        at: usize,
        mark: &MessageMark,
        gap: Option<i64>,
        message: &'a Message,
        blocks: Vec<Block<'a>>,
        cut: Vec<Value>,
    ) -> Self {
        let media = images::all_media(message).map(|(call, media)| {
            json!({
                "call": call,
                "mime": media.mime,
                "bytes": media.bytes,
                "hash": images::image_hash(media),
            })
        });
        Self {
            at,
            key: key(mark),
            id: message.id.as_ref().map(recount_model::MessageId::as_str),
            kind: message.kind,
            fate: message.fate,
            time: message.time.map(jiff::Timestamp::as_millisecond),
            model: message.model.as_deref(),
            gap,
            sum: sum(mark),
            context: context(mark),
            tokens: message.tokens,
            bytes: mark.bytes,
            line: message.place.line,
            blocks,
            media: media.collect(),
            cut,
        }
    }
}
