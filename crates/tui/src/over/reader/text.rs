//! The session that is read: what is known of every message, and the messages themselves, a page at a time.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use recount_blocks::{Gap, Level, contains_text};
use recount_engine::{Finder, MessageCursor, MessageMark, Opened, Position, View};
use recount_model::{Fate, Message, NoticeLevel, SessionFacts, SessionKey, ToolStatus};

use crate::work::Work;

/// Number of messages that are read at once.
pub(super) const PAGE: usize = 64;
/// A page ends after this size, but has at least one message.
const PAGE_BYTES: u64 = 4 * 1024 * 1024;
/// The number of messages that a page around a message has before it.
const BEFORE: usize = 24;

/// A message, or why it cannot be read.
pub(super) type Read = Result<Message, String>;

/// An opened session in one of its views.
pub(super) struct Text {
    pub(super) opened: Arc<Opened>,
    pub(super) view: View,
    /// What is known about each message.
    pub(super) marks: Vec<MessageMark>,
    cursor: Mutex<MessageCursor>,
}

impl fmt::Debug for Text {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Text({} messages)", self.marks.len())
    }
}

impl Text {
    /// Reads these messages, each with its number, until enough bytes are read.
    pub(super) fn read(&self, wanted: &[usize]) -> Vec<(usize, Read)> {
        let mut cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut page, mut bytes) = (Vec::new(), 0);
        for at in wanted {
            bytes += self.marks.get(*at).map_or(0, |mark| mark.bytes);
            if bytes > PAGE_BYTES && !page.is_empty() {
                break;
            }
            page.extend(read(&mut cursor, *at).map(|read| (*at, read)));
        }
        page
    }

    /// Returns the messages that a level may show. Some of them may turn out to be empty.
    pub(super) fn shown(&self, level: Level, with_undone: bool) -> Vec<usize> {
        let is_shown = |mark: &MessageMark| {
            level.may_show(mark.kind) && (with_undone || mark.fate == Fate::Kept)
        };
        let marks = self.marks.iter().enumerate();
        marks.filter(|(_, mark)| is_shown(mark)).map(|(at, _)| at).collect()
    }

    /// Returns the pause before a message that is shown after another one.
    pub(super) fn gap(&self, before: Option<usize>, at: usize) -> Option<Gap> {
        let before = self.marks.get(before?)?.time;
        Gap::between(before, self.marks.get(at)?.time?)
    }
}

fn read(cursor: &mut MessageCursor, at: usize) -> Option<Read> {
    if cursor.position() != at {
        cursor.seek(&Position::Index(at));
    }
    let read = cursor.next_page(1).into_iter().next()?;
    Some(read.map_err(|problem| problem.to_string()))
}

/// Which message is wanted first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Start,
    End,
    At(Position),
    /// The message that is this entry; if it is gone, the one at this place.
    Entry((usize, usize), usize),
}

/// What of a session is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) level: Level,
    pub(super) with_undone: bool,
}

/// A session that was opened.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) key: SessionKey,
    pub(super) result: Result<Ready, String>,
}

/// An opened session with its first page.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) text: Arc<Text>,
    /// The message that was wanted.
    pub(super) at: usize,
    /// Whether it exists.
    pub(super) is_found: bool,
    /// How many messages came since the end was shown last.
    pub(super) new: usize,
    pub(super) page: Vec<(usize, Read)>,
}

/// What to open.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) key: SessionKey,
    /// The session, if it is open already and did not change.
    pub(super) opened: Option<Arc<Opened>>,
    /// The session as it is now.
    pub(super) facts: Option<Arc<SessionFacts>>,
    pub(super) view: View,
    pub(super) wanted: Wanted,
    pub(super) shown: Shown,
}

impl Open {
    /// Opens the session, and reads the first page.
    pub(super) fn run(self, work: &Work) -> Opening {
        let Self { key, opened, facts, view, wanted, shown } = self;
        let engine = work.engine();
        let opened = match opened {
            Some(opened) => Ok(opened),
            None => match facts.and_then(|facts| work.recent(&facts)) {
                Some(recent) => Ok(recent),
                None => work.open(&key),
            },
        };
        let result = opened.map_err(|error| error.full_message()).map(|opened| {
            let mut cursor = MessageCursor::new(Arc::clone(&opened), view);
            let marks = cursor.marks(&engine);
            let last = marks.len().saturating_sub(1);
            let (at, is_found) = match &wanted {
                Wanted::Start => (0, true),
                Wanted::End => (last, true),
                Wanted::At(position) => {
                    let is_found = cursor.seek(position);
                    (cursor.position(), is_found)
                }
                Wanted::Entry(entry, near) => {
                    let found = marks.iter().position(|mark| mark.entry == *entry);
                    (found.unwrap_or(*near), true)
                }
            };
            let new = engine.read_marks().new_messages(&opened.facts);
            let new = usize::try_from(new).unwrap_or_default();
            let text = Text { opened, view, marks, cursor: Mutex::new(cursor) };
            let page = text.read(&around(&text.shown(shown.level, shown.with_undone), at));
            Ready { text: Arc::new(text), at: at.min(last), is_found, new, page }
        });
        Opening { key, result }
    }
}

/// Returns a page of the shown messages around one, the nearest first.
pub(super) fn around(shown: &[usize], at: usize) -> Vec<usize> {
    let middle = shown.partition_point(|one| *one < at);
    let start = middle.saturating_sub(BEFORE);
    let end = (middle + PAGE - BEFORE).min(shown.len());
    let start = if end == shown.len() { end.saturating_sub(PAGE).min(start) } else { start };
    let mut page = shown.get(middle..end).unwrap_or_default().to_vec();
    page.extend(shown.get(start..middle).unwrap_or_default().iter().rev());
    page
}

/// What is looked for in messages.
#[derive(Clone, Debug)]
pub(super) enum Seek {
    /// A text, in lower case.
    Text(String),
    /// What a query matches.
    Query(String),
    /// Something that failed.
    Error,
    /// A change of a file.
    Change,
}

fn is_in(seek: &Seek, finder: Option<&Finder>, message: &Message, level: Level) -> bool {
    match seek {
        Seek::Text(text) => contains_text(message, text, level),
        Seek::Query(_) => finder.is_some_and(|finder| finder.finds(message)),
        Seek::Error => {
            message.level == Some(NoticeLevel::Error)
                || message.tool_calls.iter().any(|call| call.status == ToolStatus::Error)
        }
        Seek::Change => message.tool_calls.iter().any(|call| call.diff.is_some()),
    }
}

/// A search through messages.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) key: SessionKey,
    pub(super) text: Arc<Text>,
    pub(super) seek: Seek,
    /// The messages to look at, in this order.
    pub(super) candidates: Vec<usize>,
    pub(super) level: Level,
}

/// The first message that was looked for, or what is wrong with the query.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) key: SessionKey,
    pub(super) at: Result<Option<usize>, String>,
}

impl Scan {
    /// Looks at one message after the other, until one is found or nobody waits any more.
    pub(super) fn run(self, work: &Work) -> Found {
        let at = self.search(work);
        Found { key: self.key, at }
    }

    fn search(&self, work: &Work) -> Result<Option<usize>, String> {
        let finder = match &self.seek {
            Seek::Query(query) => {
                let finder = work.engine().finder(query, &self.text.opened.facts);
                Some(finder.map_err(|error| error.full_message())?)
            }
            _ => None,
        };
        let mut cursor = MessageCursor::new(Arc::clone(&self.text.opened), self.text.view);
        for at in &self.candidates {
            if work.progress().is_cancelled() {
                break;
            }
            if let Some(Ok(message)) = read(&mut cursor, *at)
                && is_in(&self.seek, finder.as_ref(), &message, self.level)
            {
                return Ok(Some(*at));
            }
        }
        Ok(None)
    }
}
