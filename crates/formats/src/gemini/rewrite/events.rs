//! The lines of a log as events, without their text.

use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use foldhash::fast::FixedState;
use recount_model::MessageKind;

use crate::bytes;
use crate::gemini::facts::{Facts, Resumable, lead};
use crate::gemini::full_output::may_be_cut;
use crate::gemini::kind::kind;
use crate::gemini::lines::whole_lines;
use crate::gemini::record::{Element, Fields, Record};
use crate::json::{Scanner, Text, compact_bytes};

/// One line.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// The offset of the line.
    pub(super) offset: u64,
    /// Its length, with its line ending.
    pub(super) length: u64,
    /// Whether it ends with a line break.
    pub(super) ended: bool,
    /// Its replacement.
    pub(super) instead: Option<Vec<u8>>,
    pub(super) what: What,
}

/// The effect of a line.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// Writes a message.
    Message(Version),
    /// Replaces the whole list.
    Checkpoint(Checkpoint),
    /// Records only when the session was last used.
    Touch,
    /// Undoes a message and all later ones; `None` if it is unknown.
    Rewind(Option<u32>),
    /// Anything else.
    Other {
        /// Whether it resumes the session.
        resumes: bool,
        /// Whether it records when the session was last used.
        touches: bool,
    },
}

/// A version of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    /// The message, by number.
    pub(super) id: u32,
    pub(super) rank: u64,
    pub(super) kind: MessageKind,
    /// Equal for equal records.
    pub(super) hash: u64,
    /// Whether an output in it is incomplete.
    pub(super) cut: bool,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// A line that replaces the whole list.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    pub(super) elements: Vec<Version>,
    /// Its other fields, as an object.
    pub(super) rest: Vec<u8>,
    /// Whether these are more than when the session was last used.
    pub(super) tells: bool,
    pub(super) resumes: bool,
    pub(super) touches: bool,
}

/// Reads the lines of a log; `None` if there is something in it that is not supported here.
pub(super) fn read(path: &Path) -> io::Result<Option<Vec<Event>>> {
    let mut input = BufReader::with_capacity(1 << 20, bytes::open(path)?);
    let mut ids = Ids::default();
    let mut events = Vec::new();
    let (mut offset, mut piece) = (0, Vec::new());
    loop {
        piece.clear();
        if input.read_until(b'\n', &mut piece)? == 0 {
            return Ok(Some(events));
        }
        let mut used = 0;
        for (text, length) in whole_lines(&piece) {
            let Some(event) = ids.event(text, offset, length, true) else { return Ok(None) };
            events.push(event);
            (offset, used) = (offset + length as u64, used + length);
        }
        let rest = piece.get(used..).unwrap_or_default();
        if !rest.is_empty() {
            let text = rest.strip_suffix(b"\r").unwrap_or(rest);
            let ended = text.len() < rest.len();
            let Some(event) = ids.event(text, offset, rest.len(), ended) else { return Ok(None) };
            events.push(event);
            offset += rest.len() as u64;
        }
    }
}

/// Numbers for ids.
#[derive(Default)]
struct Ids {
    known: HashMap<Box<str>, u32>,
}

impl Ids {
    fn event(&mut self, text: &[u8], offset: u64, length: usize, ended: bool) -> Option<Event> {
        let other = |resumes, touches| What::Other { resumes, touches };
        let what = match Record::read(text) {
            Ok(Record::Message(facts)) => match self.version(&facts, text, offset) {
                Some(version) => What::Message(version),
                None => other(false, false),
            },
            Ok(Record::Rewind(id)) => What::Rewind(self.known.get(&*id.decode()).copied()),
            Ok(Record::Set(fields)) => self.set(&fields, text, offset)?,
            // A document on one line has all messages in its header.
            Ok(Record::Head(fields)) if fields.messages.is_some() => return None,
            Ok(Record::Head(fields)) => other(!self.known.is_empty(), fields.updated.is_some()),
            Ok(Record::Unknown) | Err(_) => other(false, false),
        };
        Some(Event { offset, length: length as u64, ended, instead: None, what })
    }

    /// Returns `None` for a message that the loader drops.
    fn version(&mut self, facts: &Facts<'_>, raw: &[u8], offset: u64) -> Option<Version> {
        let lead = lead(facts.role, facts.content);
        if facts.resumable(lead.as_deref()) == Resumable::Throws {
            return None;
        }
        let id = facts.id.map(Text::decode)?;
        let next = u32::try_from(self.known.len()).ok()?;
        let id = match self.known.get(&*id) {
            Some(&id) => id,
            None => *self.known.entry(id.into()).or_insert(next),
        };
        Some(Version {
            id,
            rank: facts.rank(),
            kind: kind(facts, lead.as_deref()),
            hash: FixedState::with_seed(0).hash_one(compact_bytes(raw)),
            cut: may_be_cut(raw),
            offset,
            bytes: raw.len() as u64,
        })
    }

    /// Returns `None` if the loader would throw on it.
    fn set(&mut self, fields: &Fields<'_>, line: &[u8], offset: u64) -> Option<What> {
        let resumes = fields.session_id.is_some();
        let touches = fields.updated.is_some();
        let (rest, only_touches) = without_messages(fields.raw)?;
        let Some(elements) = &fields.messages else {
            let is_touch = touches && only_touches;
            return Some(if is_touch { What::Touch } else { What::Other { resumes, touches } });
        };
        let mut versions = Vec::with_capacity(elements.len());
        for Element { facts, range, .. } in elements {
            if facts.id.is_some() {
                let raw = line.get(range.clone())?;
                versions.push(self.version(facts, raw, offset + range.start as u64)?);
            }
        }
        let tells = !only_touches;
        Some(What::Checkpoint(Checkpoint { elements: versions, rest, tells, resumes, touches }))
    }
}

/// Returns the other fields of an update beside its messages, and whether that is only the last use.
fn without_messages(raw: &[u8]) -> Option<(Vec<u8>, bool)> {
    let mut object = crate::gemini::native::Object::default();
    let mut only = true;
    if raw.is_empty() {
        return Some((object.end(), false));
    }
    Scanner::new(raw)
        .object(|scanner, key| {
            let value = scanner.value()?;
            if !key.is("messages") {
                only &= key.is("lastUpdated");
                object.raw(key.raw(), value);
            }
            Ok(())
        })
        .ok()?;
    Some((object.end(), only))
}
