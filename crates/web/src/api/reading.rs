//! Sessions that are open: who reads a session asks for page after page of it.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use recount_blocks::Level;
use recount_engine::{Cancel, Engine, MessageCursor, MessageMark, Opened, Position, View};
use recount_model::{Fate, Message, SessionFacts, SessionKey};
use sha2::{Digest as _, Sha256};

use crate::assets::hex;
use crate::failure::ApiError;

/// Maximum number of sessions that stay open.
const OPEN: usize = 4;
/// Maximum number of their messages together, about 400 bytes each; at least one session stays open.
const MESSAGES: u64 = 30_000;

/// Sessions that are open, the one that was used last at the end.
#[derive(Debug, Default)]
pub(crate) struct Readings(Mutex<Vec<Arc<Reading>>>);

/// An open session.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) opened: Arc<Opened>,
    /// Changes when a file of the session does.
    pub(crate) version: String,
    full: OnceLock<Arc<Text>>,
    strict: OnceLock<Arc<Text>>,
}

/// An open session in one of its views.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) view: View,
    /// What is known about each message.
    pub(crate) marks: Vec<MessageMark>,
    cursor: Mutex<MessageCursor>,
}

impl Readings {
    /// Closes all.
    pub(crate) fn clear(&self, engine: &Engine) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.clear();
        engine.follow_files(std::iter::empty());
    }

    /// Returns an open session, opened again if it has changed.
    pub(crate) fn open(
        &self,
        key: &SessionKey,
        row: Option<&SessionFacts>,
        engine: &Engine,
        cancel: &Cancel,
    ) -> Result<Arc<Reading>, ApiError> {
        let is_it = |one: &Arc<Reading>| one.opened.facts.key() == *key;
        let known = {
            let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let known = open.iter().position(is_it).map(|at| open.remove(at));
            // One that has changed is closed before it is opened again: it may be large.
            let known = known.filter(|one| one.is_current(row));
            open.extend(known.clone());
            known
        };
        if let Some(known) = known {
            return Ok(known);
        }
        // Before it is read: what is appended meanwhile may be missing, and is read next time.
        let before = row.map(|row| (paths(row), version(row)));
        let opened = engine.open_key(key, cancel)?;
        let version = match before {
            Some((files, version)) if files == paths(&opened.facts) => version,
            _ => version(&opened.facts),
        };
        let reading = Arc::new(Reading {
            opened: Arc::new(opened),
            version,
            full: OnceLock::new(),
            strict: OnceLock::new(),
        });
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|one| !is_it(one));
        open.push(Arc::clone(&reading));
        let many = |open: &[Arc<Reading>]| {
            open.iter().map(|one| one.opened.facts.counts.messages).sum::<u64>()
        };
        while open.len() > 1 && (open.len() > OPEN || many(&open) > MESSAGES) {
            open.remove(0);
        }
        let files = open.iter().flat_map(|one| &one.opened.facts.files);
        engine.follow_files(files.map(|file| Path::new(&file.path)));
        Ok(reading)
    }
}

impl Reading {
    /// Whether its files are as they were when it was opened.
    fn is_current(&self, row: Option<&SessionFacts>) -> bool {
        let own = &self.opened.facts;
        let is_same = |row: &SessionFacts| {
            row.files.len() == own.files.len()
                && row.files.iter().zip(&own.files).all(|(one, other)| one.path == other.path)
        };
        row.is_none_or(is_same) && version(own) == self.version
    }

    /// Returns the session in a view.
    pub(crate) fn text(&self, view: View, engine: &Engine) -> &Arc<Text> {
        let slot = if view == View::Strict { &self.strict } else { &self.full };
        slot.get_or_init(|| {
            let cursor = MessageCursor::new(Arc::clone(&self.opened), view);
            let marks = cursor.marks(engine);
            Arc::new(Text { view, marks, cursor: Mutex::new(cursor) })
        })
    }
}

fn paths(facts: &SessionFacts) -> Vec<String> {
    facts.files.iter().map(|file| file.path.clone()).collect()
}

/// Returns what changes when a file does.
pub(crate) fn version(facts: &SessionFacts) -> String {
    let mut hash = Sha256::new();
    for file in &facts.files {
        hash.update(file.path.as_bytes());
        hash.update([0]);
        if let Ok(metadata) = std::fs::metadata(&file.path) {
            hash.update(metadata.len().to_le_bytes());
            let modified = metadata.modified().ok();
            let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
            hash.update(since.map_or(0, |since| since.as_nanos()).to_le_bytes());
        }
    }
    hex(&hash.finalize(), 8)
}

impl Text {
    /// Reads a message, or says why it cannot be read. `None` if there is no such message.
    pub(crate) fn read(&self, at: usize) -> Option<Result<Message, String>> {
        let mut cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        if cursor.position() != at {
            cursor.seek(&Position::Index(at));
        }
        let read = cursor.next_page(1).into_iter().next()?;
        Some(read.map_err(|problem| problem.to_string()))
    }

    /// Returns the number of the message at a position.
    pub(crate) fn find(&self, position: &Position) -> Option<usize> {
        let mut cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        cursor.seek(position).then(|| cursor.position()).filter(|at| *at < self.marks.len())
    }

    /// Returns the messages that a level may show. Some of them may turn out to be empty.
    pub(crate) fn shown(&self, level: Level, with_undone: bool) -> Vec<usize> {
        let is_shown = |mark: &MessageMark| {
            level.may_show(mark.kind) && (with_undone || mark.fate == Fate::Kept)
        };
        let marks = self.marks.iter().enumerate();
        marks.filter(|(_, mark)| is_shown(mark)).map(|(at, _)| at).collect()
    }
}
