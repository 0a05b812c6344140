//! Reads one message in full from its byte range.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use recount_model::{
    Fate, Media, MediaData, Message, MessageId, MessageKind, NoticeLevel, RecordLocation, Span,
    Thought, What, parse_millis, timestamp,
};

use super::content::{Content, Piece};
use super::facts::{Facts, Role, lead};
use super::files::{attached_to, typed};
use super::kind::kind;
use super::part::{Part, field};
use super::tool::calls;
use crate::json::{JsonScan, JsonTree, Scanner};
use crate::source::Detail;

/// Reads the message in `bytes`, which are at `span` of `file`.
pub(crate) fn message(
    bytes: &[u8],
    file: &Arc<str>,
    span: Span,
    fate: Fate,
    detail: Detail,
) -> JsonScan<Message> {
    let mut facts = Facts::default();
    let mut thoughts = Vec::new();
    let mut tool_calls = Vec::new();
    if Scanner::new(bytes).peek()? != b'{' {
        return Ok(odd(bytes, file, span, fate));
    }
    Scanner::new(bytes).object(|scanner, key| {
        match key.name().as_ref() {
            b"thoughts" => thoughts = recorded_thoughts(&JsonTree::read(scanner)?),
            b"toolCalls" => tool_calls = calls(scanner, detail)?,
            name => facts.field(scanner, name)?,
        }
        Ok(())
    })?;
    let mut message = assemble(&facts, file, span, fate);
    if !thoughts.is_empty() {
        // After a checkpoint they are among the parts instead.
        message.thoughts = thoughts;
    }
    message.tool_calls = tool_calls;
    if simdutf8::basic::from_utf8(bytes).is_err() {
        message.problems.push(What::NotUtf8);
    }
    Ok(message)
}

/// Builds a message from its facts and its content.
pub(crate) fn assemble(facts: &Facts<'_>, file: &Arc<str>, span: Span, fate: Fate) -> Message {
    let kind = kind(facts, lead(facts.role, facts.content).as_deref());
    let text = facts.content.text();
    let mut message = Message {
        id: facts.id.map(|id| MessageId::new(id.decode())),
        time: facts.time.and_then(timestamp),
        display_text: display_text(kind, &text, facts.display),
        text,
        tokens: facts.tokens,
        model: facts.model.map(|model| model.decode().into_owned()),
        level: level(facts.role),
        ..Message::at(place(file, span), kind, fate)
    };
    if kind == MessageKind::Prompt {
        message.files = attached_to(facts.content, &message.text);
    }
    let mut unknown = false;
    facts.content.each(|piece| {
        if let Piece::Part(part) = piece {
            message.media.extend(binary(&part));
            message.thoughts.extend(part.is_thought().then(|| part_thought(&part)));
            unknown |= part.is_unknown();
        }
    });
    if unknown {
        message.problems.push(What::UnknownPart);
    }
    message
}

fn place(file: &Arc<str>, span: Span) -> RecordLocation {
    RecordLocation {
        file: Arc::clone(file),
        line: span.line,
        offset: span.offset,
        bytes: span.bytes,
        pieces: Vec::new(),
    }
}

/// Returns a message for an element of the list that is not one.
fn odd(bytes: &[u8], file: &Arc<str>, span: Span, fate: Fate) -> Message {
    Message {
        display_text: String::from_utf8_lossy(bytes).into_owned(),
        level: Some(NoticeLevel::Info),
        ..Message::at(place(file, span), MessageKind::Notice, fate)
    }
}

fn display_text(kind: MessageKind, text: &str, display: Content<'_>) -> String {
    let shown = display.text();
    // A nudge repeats the display text of the prompt before it.
    if !shown.is_empty() && kind != MessageKind::Nudge {
        return shown;
    }
    if kind == MessageKind::Prompt { typed(text).to_owned() } else { text.to_owned() }
}

fn level(role: Role) -> Option<NoticeLevel> {
    match role {
        Role::User | Role::Gemini => None,
        Role::Info | Role::Unknown => Some(NoticeLevel::Info),
        Role::Warning => Some(NoticeLevel::Warning),
        Role::Error => Some(NoticeLevel::Error),
    }
}

fn recorded_thoughts(tree: &JsonTree) -> Vec<Thought> {
    let thought = |tree: &JsonTree| Thought {
        subject: tree.text("subject").unwrap_or_default().to_owned(),
        description: tree.text("description").unwrap_or_default().to_owned(),
        time: tree.text("timestamp").and_then(time),
    };
    tree.as_array().unwrap_or_default().iter().map(thought).collect()
}

/// Returns a thought among the parts: its subject is between the first pair of `**`.
fn part_thought(part: &Part<'_>) -> Thought {
    let text = part.text.map(|text| text.decode().into_owned()).unwrap_or_default();
    let split = text.split_once("**").and_then(|(before, rest)| {
        let (subject, after) = rest.split_once("**")?;
        Some((subject.trim().to_owned(), format!("{before}{after}").trim().to_owned()))
    });
    let (subject, description) = split.unwrap_or_else(|| (String::new(), text.trim().to_owned()));
    Thought { subject, description, time: None }
}

/// Returns the binary data of a part, without decoding it.
fn binary(part: &Part<'_>) -> Option<Media> {
    if let Some(raw) = part.inline {
        let mime = field(raw, "mimeType").unwrap_or_default().into_owned();
        return Some(inline(mime, field(raw, "data").map(Cow::into_owned)));
    }
    let mime = field(part.file?, "mimeType").unwrap_or_default().into_owned();
    Some(Media { mime, bytes: 0, held: MediaData::Elsewhere })
}

/// Returns a binary part whose data is in the message, in base64.
pub(crate) fn inline(mime: String, data: Option<String>) -> Media {
    let data = data.unwrap_or_default();
    let bytes = data.trim_end_matches('=').len() as u64 * 3 / 4;
    Media { mime, bytes, held: MediaData::Base64(data) }
}

/// Reads a time in the agent's format.
pub(crate) fn time(text: &str) -> Option<Timestamp> {
    parse_millis(text.as_bytes()).and_then(timestamp)
}
