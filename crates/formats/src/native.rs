//! Writes sessions in an agent's native format, so that it can continue them.

pub(crate) mod walk;

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use recount_model::{FileRole, SessionId, SessionKind, SourceName};

use crate::bytes::Buffer;
use crate::handover::HandoverFormat;
use crate::recovery::Remark;

/// The format in which an agent stores its sessions: a header, then one record per message.
///
/// Records are copied from the bytes that the agent wrote, not rebuilt from what recount parsed: unknown fields are kept.
/// Bytes in, bytes out; only [`fields`](Self::fields) opens a file.
pub trait NativeFormat: Debug + Sync {
    /// Returns the agent.
    fn source(&self) -> SourceName;

    /// Returns the file extension.
    fn extension(&self) -> &'static str;

    /// Returns the folder with the sessions of a project directory.
    fn sessions_folder(&self, project: &Path) -> PathBuf;

    /// Returns a description for people.
    fn about(&self) -> &'static str;

    /// Returns the file name that the agent would use, without its extension.
    fn stem(&self, id: &SessionId, kind: SessionKind, began: Option<Timestamp>) -> String;

    /// Returns an id for a conversation that has none, the same for the same name.
    fn made_up_id(&self, name: &str) -> SessionId;

    /// Reads the session-level fields of a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn fields(&self, path: &Path, buffer: &mut Buffer) -> io::Result<Fields>;

    /// Merges what is known about a session as a whole.
    fn united(&self, head: &HeadRequest<'_>) -> Fields;

    /// Writes the header, line by line.
    fn head(&self, head: &HeadRequest<'_>) -> Vec<Vec<u8>>;

    /// Writes the record of a message, under another id if one is given; `None` if that is not possible.
    fn record(&self, record: &[u8], id: Option<&str>) -> Option<Vec<u8>>;

    /// Returns a line as it is written after another one, for formats in which records name the one that they continue.
    fn behind(&self, line: Vec<u8>, _before: Option<&[u8]>) -> Vec<u8> {
        line
    }

    /// Writes the records of a conversation that is not a session file; `None` if there is none in `bytes`.
    fn saved(&self, bytes: &[u8], time: Option<Timestamp>) -> Option<Vec<Vec<u8>>>;

    /// Writes a prompt or a notice of recount as a record.
    fn remark(&self, remark: &Remark<'_>) -> Vec<u8>;

    /// Returns how conversations of other agents are written in this format, if that is supported.
    fn handover(&self) -> Option<&'static dyn HandoverFormat> {
        None
    }

    /// Replaces texts in a line that was written here. Anything else, such as an id, and the data of media are kept. `None`
    /// if it is not such a line.
    fn replace(&self, line: &[u8], texts: &mut dyn NativeTexts) -> Option<Vec<u8>>;
}

/// Receives the texts of a line.
pub trait NativeTexts {
    /// Returns the replacement of a text, or `None` to keep it. `key` is its key, if that may indicate what it is.
    fn text(&mut self, key: Option<&str>, text: &str) -> Option<String>;

    /// Returns the replacement of a name that programs use, such as a model or an id, or `None` to keep it.
    fn name(&mut self, _name: &str) -> Option<String> {
        None
    }

    /// Returns the replacement of the key of an object, or `None` to keep it.
    fn key(&mut self, _key: &str) -> Option<String> {
        None
    }

    /// Returns the replacements of texts that are displayed as one, piece by piece, or `None` to keep all of them. Between
    /// two lines there is a piece with a line break, which is kept.
    fn pieces(&mut self, _pieces: &[String]) -> Option<Vec<String>> {
        None
    }

    /// Returns the replacement of the hash of a path, or `None` to keep it.
    fn path_hash(&mut self) -> Option<String>;

    /// Is called for data that is not inspected.
    fn media(&mut self);
}

/// What is known about a session as a whole.
#[derive(Debug)]
pub struct HeadRequest<'a> {
    /// The fields of its files, in the order of the conversation.
    pub files: &'a [(FileRole, Fields)],
    /// The session's id, if no file records it.
    pub id: &'a SessionId,
    /// The hash of the project's path, if no file records it.
    pub project_hash: Option<&'a str>,
    /// When it began, if no file records it.
    pub started: Option<Timestamp>,
    /// When it was last used, if no file records it.
    pub updated: Option<Timestamp>,
    /// Values that override those of the files.
    pub overrides: HeaderOverrides<'a>,
}

/// Session-level values that are replaced when a session is rewritten.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeaderOverrides<'a> {
    /// Another id.
    pub id: Option<&'a SessionId>,
    /// The hash of another project's path.
    pub project_hash: Option<&'a str>,
    /// Another folder, where sessions record theirs.
    pub cwd: Option<&'a str>,
    /// Another title.
    pub title: Option<&'a str>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// When it was last used.
    pub updated: Option<Timestamp>,
    /// The path of another project.
    pub folder: Option<&'a str>,
}

/// Fields of a record as raw JSON, in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    known: Vec<(Box<str>, Box<[u8]>)>,
    layout: Layout,
}

/// The positions of a document's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The range of each value; of duplicate keys the last one counts.
    values: Vec<(Box<str>, u64, u64)>,
    /// The end of the last value, if the document is complete.
    end: Option<u64>,
}

impl Layout {
    /// Records the range of a value.
    pub(crate) fn put(&mut self, key: &[u8], begin: u64, end: u64) {
        self.values.push((String::from_utf8_lossy(key).into(), begin, end));
    }

    /// Records that the document is complete, and the end of its last value.
    pub(crate) fn close(&mut self, end: u64) {
        self.end = Some(end);
    }

    /// Returns the range of a value.
    pub fn of(&self, key: &str) -> Option<(u64, u64)> {
        let found = self.values.iter().rev().find(|(known, ..)| **known == *key);
        found.map(|(_, begin, end)| (*begin, *end))
    }

    /// Returns the end of the last value, if the document is complete.
    pub fn end(&self) -> Option<u64> {
        self.end
    }
}

impl Fields {
    /// Returns the positions of the fields; empty if they are not those of a document.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn layout_mut(&mut self) -> &mut Layout {
        &mut self.layout
    }

    /// Returns the raw value of a field.
    pub fn get(&self, key: &str) -> Option<&[u8]> {
        self.known.iter().find(|(known, _)| **known == *key).map(|(_, value)| value.as_ref())
    }

    /// Sets a field: replaces the one of that name, or adds it after all others.
    pub fn set(&mut self, key: &str, value: &[u8]) {
        match self.known.iter_mut().find(|(known, _)| **known == *key) {
            Some((_, old)) => *old = value.into(),
            None => self.known.push((key.into(), value.into())),
        }
    }

    /// Lists the fields.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.known.iter().map(|(key, value)| (key.as_ref(), value.as_ref()))
    }
}
