//! Cites: where exactly a message is, short enough to hand to a model, and safe to check later.
//!
//! A cite has a byte range and a checksum of the bytes, so that whoever has one can tell whether the text is still what it was. It has no path: paths
//! are long, and say more about a machine than a quote needs.

mod fold;
mod passages;
mod verify;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use recount_model::{Message, RecordLocation, SessionFacts, SessionId};
use sha2::{Digest as _, Sha256};

use crate::messages::View;
use crate::messages::cursor::{MessageCursor, Position};
use crate::sessions::open::Opened;
use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error};

pub use passages::passages;
pub use verify::{Verdict, Verification};

/// The version of the form.
const VERSION: &str = "r1";
/// How much of a message is covered by the checksum.
const COVERED: u64 = 64 * 1024 * 1024;

/// Where a message is: `r1:279d2ba9:14:646744+4457:9f3c`. Without byte range and checksum, `279d2ba9:14` names the message only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cite {
    /// The start of the session's id.
    pub session: String,
    /// The number of the message in the full view, from 1.
    pub message: usize,
    /// Its bytes; `None` if only the number is known.
    pub range: Option<CitedRange>,
}

/// The bytes of a cited message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CitedRange {
    /// The first byte.
    pub offset: u64,
    /// The number of bytes; of a message in several records, those of the first.
    pub bytes: u64,
    /// The first two bytes of the SHA-256 of all its bytes.
    pub check: u16,
}

impl fmt::Display for Cite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, message, range } = self;
        match range {
            None => write!(f, "{session}:{message}"),
            Some(CitedRange { offset, bytes, check }) => {
                write!(f, "{VERSION}:{session}:{message}:{offset}+{bytes}:{check:04x}")
            }
        }
    }
}

impl FromStr for Cite {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        read(text).ok_or_else(|| Error::NotACite(text.chars().take(80).collect()))
    }
}

fn read(text: &str) -> Option<Cite> {
    let Some(rest) = text.strip_prefix(VERSION).and_then(|rest| rest.strip_prefix(':')) else {
        let (session, message) = text.rsplit_once(':')?;
        let message = number(message)?;
        return is_name(session).then(|| Cite {
            session: session.to_owned(),
            message,
            range: None,
        });
    };
    let mut parts = rest.split(':');
    let (session, message) = (parts.next()?, number(parts.next()?)?);
    let (offset, bytes) = parts.next()?.split_once('+')?;
    let check = parts.next().filter(|check| check.len() == 4)?;
    let check = u16::from_str_radix(check, 16).ok()?;
    let range = CitedRange { offset: offset.parse().ok()?, bytes: bytes.parse().ok()?, check };
    let is_whole = parts.next().is_none() && is_name(session);
    is_whole.then(|| Cite { session: session.to_owned(), message, range: Some(range) })
}

fn number(text: &str) -> Option<usize> {
    text.parse().ok().filter(|number| *number > 0)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_plain)
}

fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || "-_.".contains(character)
}

/// Returns the start of an id as cites have it: ids come from files, and may contain anything.
fn name(id: &SessionId) -> String {
    id.prefix().chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}

impl Cite {
    /// Cites a message by its number alone.
    pub fn numbered(id: &SessionId, message: usize) -> Self {
        Self { session: name(id), message, range: None }
    }

    /// Whether a session may be the cited one.
    pub(crate) fn may_mean(&self, facts: &SessionFacts) -> bool {
        name(&facts.id) == self.session || facts.id.as_str().starts_with(&self.session)
    }
}

impl MessageCursor {
    /// Cites the message at a place. `None` if it is no longer there.
    pub fn cite(&self, place: &RecordLocation) -> Option<Cite> {
        let message = self.index_of(place)? + 1;
        let range = Some(self.opened.range_of(place)?);
        Some(Cite { session: name(&self.opened.facts.id), message, range })
    }
}

impl Opened {
    /// Returns the bytes of a message with their checksum.
    fn range_of(&self, place: &RecordLocation) -> Option<CitedRange> {
        let record = self.record(place, COVERED)?;
        let hash = Sha256::digest(&record);
        let check = u16::from_be_bytes([*hash.first()?, *hash.get(1)?]);
        Some(CitedRange { offset: place.offset, bytes: place.bytes, check })
    }
}

/// A cited message that was found.
#[derive(Debug)]
pub struct CitedMessage {
    /// Its session.
    pub opened: Arc<Opened>,
    /// Its number now, from 1.
    pub number: usize,
    /// The message.
    pub message: Message,
    /// Whether its bytes are those that were cited. A cite without a byte range is trusted.
    pub is_unchanged: bool,
}

impl Engine {
    /// Finds the message that a cite names. If its bytes are not there any more, the session is looked through for the same bytes elsewhere, and
    /// then the message with that number is taken, as changed. `None` if the session has no such message.
    ///
    /// # Errors
    /// If there is no such session.
    pub fn cited(
        &self,
        cite: &Cite,
        progress: &dyn Progress,
    ) -> Result<Option<CitedMessage>, Error> {
        let mut changed = None;
        for opened in self.open_cited(cite, progress)? {
            let opened = Arc::new(opened);
            match find(&opened, cite) {
                Some(found) if found.is_unchanged => return Ok(Some(found)),
                found => changed = changed.or(found),
            }
        }
        Ok(changed)
    }

    /// Opens the sessions that a cite may mean: mostly one.
    fn open_cited(&self, cite: &Cite, progress: &dyn Progress) -> Result<Vec<Opened>, Error> {
        let several = match self.open_id(&cite.session, None, progress) {
            Ok(opened) => return Ok(vec![opened]),
            Err(Error::Ambiguous { candidates, .. }) => candidates,
            // The id has characters that a cite does not have.
            Err(Error::NoSession(wanted)) if wanted.contains('_') => {
                let all = self.list(&crate::ListQuery::default(), progress)?.sessions;
                let found = all.iter().filter(|facts| cite.may_mean(facts));
                found.map(|facts| (**facts).clone()).collect()
            }
            Err(error) => return Err(error),
        };
        let opened = several.iter().filter_map(|facts| self.open_key(&facts.key(), progress).ok());
        let opened: Vec<Opened> = opened.collect();
        if opened.is_empty() { Err(Error::NoSession(cite.session.clone())) } else { Ok(opened) }
    }
}

/// Finds a cited message in a session.
fn find(opened: &Arc<Opened>, cite: &Cite) -> Option<CitedMessage> {
    let mut cursor = MessageCursor::new(Arc::clone(opened), View::Full);
    let made = |number: usize, message: Message, is_unchanged: bool| CitedMessage {
        opened: Arc::clone(opened),
        number,
        message,
        is_unchanged,
    };
    let is_it = |message: &Message, range: &CitedRange| {
        message.place.bytes == range.bytes
            && opened.range_of(&message.place).is_some_and(|own| own.check == range.check)
    };
    cursor.seek(&Position::Index(cite.message - 1));
    let numbered = cursor.next_page(1).into_iter().flatten().next();
    let Some(range) = &cite.range else {
        return numbered.map(|message| made(cite.message, message, true));
    };
    if let Some(message) = numbered
        .as_ref()
        .filter(|message| message.place.offset == range.offset && is_it(message, range))
    {
        return Some(made(cite.message, message.clone(), true));
    }
    // Other places with as many bytes: only those are read.
    for (at, _) in cursor.sizes().into_iter().enumerate().filter(|(_, bytes)| *bytes == range.bytes)
    {
        cursor.seek(&Position::Index(at));
        let message = cursor.next_page(1).into_iter().flatten().next();
        if let Some(message) = message.filter(|message| is_it(message, range)) {
            let is_there = message.place.offset == range.offset;
            return Some(made(at + 1, message, is_there));
        }
    }
    numbered.map(|message| made(cite.message, message, false))
}
