//! Text that is not kept but read from where it stands: the one function that views call.

use std::path::Path;
use std::sync::Mutex;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};

use crate::unsigned;

/// Where a message stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLocation {
    /// The agent that wrote it.
    pub source: String,
    /// The agent's directory of its project.
    pub folder: Option<String>,
    /// The file.
    pub path: String,
    /// Its first byte.
    pub offset: u64,
    /// How many bytes it takes.
    pub bytes: u64,
    /// Where its other versions stand, newest first.
    pub versions: Vec<(u64, u64)>,
    /// Where its pieces after the first are.
    pub pieces: Vec<(u64, u64)>,
}

/// A part of a message that is text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPart {
    /// What was sent.
    Text,
    /// What was typed, or what the agent would show.
    DisplayText,
    /// The model's thoughts.
    Thoughts,
    /// The arguments of its n-th call, from 0.
    Args(usize),
    /// What its n-th call gave back.
    Output(usize),
    /// The change that its n-th call made.
    Diff(usize),
}

/// Reads messages from where they stand.
pub trait TextSource: Send {
    /// Returns a part of a message, unless there is none or it cannot be read.
    fn text(&mut self, place: &TextLocation, part: TextPart) -> Option<String>;
}

/// Reads nothing.
impl TextSource for () {
    fn text(&mut self, _place: &TextLocation, _part: TextPart) -> Option<String> {
        None
    }
}

/// Looks places up on a connection of its own: the one that calls is in the middle of its statement.
struct Reader {
    db: Option<Connection>,
    texts: Box<dyn TextSource>,
    /// The message that was looked up last: one row often asks for several parts of it.
    last: Option<((i64, i64), TextLocation)>,
}

/// Adds the function. Only the key of a session and the number of a message can be given to it, so that no statement reaches any other file.
pub(super) fn register(
    db: &Connection,
    facts: Option<&Path>,
    texts: Box<dyn TextSource>,
) -> rusqlite::Result<()> {
    let own = facts.map(|path| {
        Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )
    });
    let reader = Mutex::new(Reader { db: own.transpose()?, texts, last: None });
    db.create_scalar_function("recount_said", 4, FunctionFlags::SQLITE_UTF8, move |context| {
        let Ok(mut reader) = reader.lock() else { return Ok(None) };
        reader.said(context)
    })
}

impl Reader {
    fn said(&mut self, context: &Context<'_>) -> rusqlite::Result<Option<String>> {
        let number = |at| context.get_raw(at).as_i64().ok();
        let (Some(session), Some(message)) = (number(0), number(1)) else { return Ok(None) };
        let call = number(2).and_then(|call| usize::try_from(call).ok()?.checked_sub(1));
        let part = match (context.get_raw(3).as_str().unwrap_or_default(), call) {
            ("text", _) => TextPart::Text,
            ("display_text", _) => TextPart::DisplayText,
            ("thoughts", _) => TextPart::Thoughts,
            ("args", Some(call)) => TextPart::Args(call),
            ("output", Some(call)) => TextPart::Output(call),
            ("diff", Some(call)) => TextPart::Diff(call),
            _ => return Ok(None),
        };
        let wanted = (session, message);
        if self.last.as_ref().is_none_or(|(known, _)| *known != wanted) {
            self.last = self.place(wanted)?.map(|place| (wanted, place));
        }
        let Some((_, place)) = &self.last else { return Ok(None) };
        Ok(self.texts.text(place, part))
    }

    fn place(&self, (session, message): (i64, i64)) -> rusqlite::Result<Option<TextLocation>> {
        let Some(db) = &self.db else { return Ok(None) };
        let mut select = db.prepare_cached(
            "SELECT s.source, s.folder, f.path, m.offset, m.bytes FROM kept_messages m
             JOIN kept_sessions s ON s.key = m.session
             JOIN kept_files f ON f.session = m.session AND f.number = m.file
             WHERE m.session = ?1 AND m.number = ?2",
        )?;
        let found = select.query_row([session, message], |row| {
            Ok(TextLocation {
                source: row.get(0)?,
                folder: row.get(1)?,
                path: row.get(2)?,
                offset: unsigned(row.get(3)?),
                bytes: unsigned(row.get(4)?),
                versions: Vec::new(),
                pieces: Vec::new(),
            })
        });
        let Some(mut place) = found.optional()? else { return Ok(None) };
        let stretches = |table: &str| {
            let mut select = db.prepare_cached(&format!(
                "SELECT offset, bytes FROM {table} WHERE session = ?1 AND number = ?2 ORDER BY place"
            ))?;
            let rows = select.query_map([session, message], |row| {
                Ok((unsigned(row.get(0)?), unsigned(row.get(1)?)))
            })?;
            rows.collect::<Result<_, _>>()
        };
        place.versions = stretches("kept_versions")?;
        place.pieces = stretches("kept_pieces")?;
        Ok(Some(place))
    }
}
