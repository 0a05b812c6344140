//! A position in a conversation, from which pages are read in both directions, for sessions and saved chats.

use std::sync::Arc;

use recount_formats::source::SessionFile;
use recount_model::{Message, Problem, RecordLocation};

use crate::messages::{Bound, Kept, Messages, Pending, View, pending};
use crate::sessions::open::Opened;

/// A position in the conversation of one session, or of a saved chat. It owns its data and can be kept as long as a view
/// shows the conversation.
#[derive(Debug)]
pub struct MessageCursor {
    pub(crate) opened: Arc<Opened>,
    pub(super) rows: Rows,
    at: usize,
    kept: Kept,
}

/// What to read.
#[derive(Debug)]
pub(super) enum Rows {
    /// Messages in the session's files.
    Files(Vec<Pending>),
    /// Messages of a saved chat, from this one on: it was read at once.
    Saved { first: usize, many: usize },
}

/// A position in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// Before the message with this number, from 0; the end if there are fewer.
    Index(usize),
    /// Before the message whose id has this prefix.
    Id(String),
    /// Before the message in this file that ends after this byte.
    Byte {
        /// The file, as messages name it.
        file: String,
        /// The byte.
        offset: u64,
    },
}

impl MessageCursor {
    /// Starts at the first message.
    pub fn new(opened: Arc<Opened>, view: View) -> Self {
        let rows = if opened.is_saved() {
            Rows::Saved { first: 0, many: opened.saved().len() }
        } else {
            Rows::Files(pending(opened.session_files(), view))
        };
        Self { opened, rows, at: 0, kept: Kept::default() }
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::Files(pending) => pending.len(),
            Rows::Saved { many, .. } => *many,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of messages before it.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Drops everything before `from` and after `to`, goes to the first message, and returns the number of messages dropped
    /// before it. If nothing is left, the bound that caused it is the error.
    pub fn keep_between(
        &mut self,
        from: Option<&Bound>,
        to: Option<&Bound>,
    ) -> Result<usize, Bound> {
        self.at = 0;
        match &mut self.rows {
            Rows::Files(pending) => {
                let mut messages = self.opened.read(std::mem::take(pending));
                let skipped = messages.between(from, to)?;
                *pending = messages.into_pending();
                Ok(skipped)
            }
            Rows::Saved { first, many } => {
                let all = self.opened.saved();
                let (start, end) = saved_between(all, from, to).unwrap_or_default();
                (*first, *many) = (start, end.saturating_sub(start));
                match from.or(to).filter(|_| start >= end) {
                    Some(bound) => Err(bound.clone()),
                    None => Ok(start),
                }
            }
        }
    }

    /// Goes to a position. Returns whether it exists; if not, nothing changes.
    pub fn seek(&mut self, position: &Position) -> bool {
        let found = match position {
            Position::Index(index) => Some((*index).min(self.len())),
            Position::Id(start) => self
                .find(|cursor, at| cursor.id(at).is_some_and(|id| id.starts_with(start.as_str()))),
            Position::Byte { file, offset } => {
                self.find(|cursor, at| cursor.reaches(at, file, *offset))
            }
        };
        self.at = found.unwrap_or(self.at);
        found.is_some()
    }

    /// Reads at most `many` messages from here on, and advances. Empty at the end.
    pub fn next_page(&mut self, many: usize) -> Vec<Result<Message, Problem>> {
        let end = self.at.saturating_add(many).min(self.len());
        let page = self.read(self.at, end);
        self.at = end;
        page
    }

    /// Reads at most `many` messages before here, in order, and goes back. Empty at the start.
    pub fn previous_page(&mut self, many: usize) -> Vec<Result<Message, Problem>> {
        let start = self.at.saturating_sub(many);
        let page = self.read(start, self.at);
        self.at = start;
        page
    }

    /// Returns the number of the message that begins at a place, from 0.
    pub(crate) fn index_of(&self, place: &RecordLocation) -> Option<usize> {
        match &self.rows {
            Rows::Files(pending) => {
                let files = &self.opened.session_files().files;
                let is_file =
                    |file: &SessionFile| file.file.at.path.to_string_lossy() == *place.file;
                let file = files.iter().position(is_file)?;
                let is_it =
                    |one: &Pending| one.session_file == file && one.span.offset == place.offset;
                pending.iter().position(is_it)
            }
            Rows::Saved { .. } => {
                self.find(|cursor, at| cursor.saved(at).is_some_and(|one| one.place == *place))
            }
        }
    }

    /// Returns the number of bytes of each message; of one in several records, those of the first.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        match &self.rows {
            Rows::Files(pending) => pending.iter().map(|one| one.span.bytes).collect(),
            Rows::Saved { many, .. } => {
                (0..*many).map(|at| self.saved(at).map_or(0, |one| one.place.bytes)).collect()
            }
        }
    }

    fn find(&self, is_it: impl Fn(&Self, usize) -> bool) -> Option<usize> {
        (0..self.len()).find(|at| is_it(self, *at))
    }

    fn saved(&self, at: usize) -> Option<&Message> {
        match &self.rows {
            Rows::Saved { first, many } if at < *many => self.opened.saved().get(first + at),
            _ => None,
        }
    }

    fn id(&self, at: usize) -> Option<&str> {
        match &self.rows {
            Rows::Files(pending) => {
                let pending = pending.get(at)?;
                let outline =
                    &self.opened.session_files().files.get(pending.session_file)?.file.outline;
                outline.entries.get(pending.entry)?.id.as_deref()
            }
            Rows::Saved { .. } => self.saved(at)?.id.as_ref().map(recount_model::MessageId::as_str),
        }
    }

    fn reaches(&self, at: usize, file: &str, offset: u64) -> bool {
        match &self.rows {
            Rows::Files(pending) => pending.get(at).is_some_and(|pending| {
                let session_file = self.opened.session_files().files.get(pending.session_file);
                pending.span.offset + pending.span.bytes > offset
                    && session_file.is_some_and(|m| m.file.at.path.to_string_lossy() == file)
            }),
            Rows::Saved { .. } => self.saved(at).is_some_and(|message| {
                let place = &message.place;
                place.offset + place.bytes > offset && *place.file == *file
            }),
        }
    }

    fn read(&mut self, start: usize, end: usize) -> Vec<Result<Message, Problem>> {
        let pending = match &self.rows {
            Rows::Files(pending) => pending.get(start..end).unwrap_or_default().to_vec(),
            Rows::Saved { first, .. } => {
                let page = self.opened.saved().get(first + start..first + end);
                return page.unwrap_or_default().iter().cloned().map(Ok).collect();
            }
        };
        let mut messages = self.opened.read(pending);
        // Files stay open from page to page, and line counting continues.
        messages.kept = std::mem::take(&mut self.kept);
        let page = messages.by_ref().collect();
        self.kept = messages.kept;
        page
    }
}

/// Messages of a saved chat have no ids and often no times: numbers are used.
fn saved_between(
    all: &[Message],
    from: Option<&Bound>,
    to: Option<&Bound>,
) -> Option<(usize, usize)> {
    let place = |bound: &Bound| match bound {
        Bound::Number(number) if *number > 0 => usize::try_from(number - 1).ok(),
        Bound::Number(number) => {
            usize::try_from(number.unsigned_abs()).ok().map(|back| all.len().saturating_sub(back))
        }
        Bound::Time(time) => all.iter().position(|message| message.time >= Some(*time)),
        Bound::Id(_) => None,
    };
    let start = from.map_or(Some(0), place)?;
    let end = to.map_or(Some(all.len()), |to| place(to).map(|at| (at + 1).min(all.len())))?;
    Some((start, end.min(all.len())))
}

impl Opened {
    /// Reads these messages of its files.
    fn read(&self, pending: Vec<Pending>) -> Messages<'_> {
        Messages::over(self.source(), self.session_files(), self.folder(), pending)
    }
}
