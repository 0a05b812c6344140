//! Sessions written as an agent itself keeps them, so that it can go on with them.

pub(crate) mod walk;

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use recount_model::{FileRole, SessionId, SessionKind, SourceName};

use crate::bytes::Buffer;
use crate::recovery::Remark;

/// The form in which an agent keeps its sessions: a head, then one record per message.
///
/// What is written comes from the bytes that the agent wrote, not from what we understand of them: a field that nobody
/// knows is carried along. Bytes in, bytes out; only [`fields`](Self::fields) opens a file.
pub trait NativeFormat: Debug + Sync {
    /// Whose form it is.
    fn source(&self) -> SourceName;

    /// Returns how names of such files end.
    fn extension(&self) -> &'static str;

    /// Returns the folder of a project directory in which its sessions are.
    fn sessions_folder(&self, project: &Path) -> PathBuf;

    /// Says what it is, for people.
    fn about(&self) -> &'static str;

    /// Returns the name that the agent would give to the file, without its ending.
    fn stem(&self, id: &SessionId, kind: SessionKind, began: Option<Timestamp>) -> String;

    /// Returns an id for a conversation that has none, the same for the same name.
    fn made_up_id(&self, name: &str) -> SessionId;

    /// Reads what a file says of the session as a whole.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn fields(&self, path: &Path, buffer: &mut Buffer) -> io::Result<Fields>;

    /// Unites what is known of a session as a whole.
    fn united(&self, head: &HeadRequest<'_>) -> Fields;

    /// Writes what stands above the records, line by line.
    fn head(&self, head: &HeadRequest<'_>) -> Vec<Vec<u8>>;

    /// Writes the record of a message, under another id if one is given; `None` when it cannot be one.
    fn record(&self, record: &[u8], id: Option<&str>) -> Option<Vec<u8>>;

    /// Returns a line as it stands behind another one, for formats in which records name the one that they continue.
    fn behind(&self, line: Vec<u8>, _before: Option<&[u8]>) -> Vec<u8> {
        line
    }

    /// Writes the records of a conversation that is not a session file; `None` when there is none in `bytes`.
    fn saved(&self, bytes: &[u8], time: Option<Timestamp>) -> Option<Vec<Vec<u8>>>;

    /// Writes a prompt or a notice of our own as a record.
    fn remark(&self, remark: &Remark<'_>) -> Vec<u8>;

    /// Replaces texts in a line that was written here. What is none, such as an id, and the data of media stay.
    /// `None` when it is not such a line.
    fn replace(&self, line: &[u8], texts: &mut dyn NativeTexts) -> Option<Vec<u8>>;
}

/// Who looks at the texts of a line.
pub trait NativeTexts {
    /// Returns what stands in the place of a text, or `None` if it stays. `key` is what it is called, where that may tell
    /// what it is.
    fn text(&mut self, key: Option<&str>, text: &str) -> Option<String>;

    /// Returns what stands in the place of a name that programs go by, such as a model or an id, or `None` if it stays.
    fn name(&mut self, _name: &str) -> Option<String> {
        None
    }

    /// Returns what stands in the place of the key of an object, or `None` if it stays.
    fn key(&mut self, _key: &str) -> Option<String> {
        None
    }

    /// Returns what stands in the place of texts that are seen as one, piece by piece, or `None` if all of them stay.
    /// Between two lines there is a piece with a line break, which stays.
    fn pieces(&mut self, _pieces: &[String]) -> Option<Vec<String>> {
        None
    }

    /// Returns what stands in the place of the hash of a path, or `None` if it stays.
    fn path_hash(&mut self) -> Option<String>;

    /// Is told of data that nobody looks into.
    fn media(&mut self);
}

/// What is known of a session as a whole.
#[derive(Debug)]
pub struct HeadRequest<'a> {
    /// What its files say, in the order of the conversation.
    pub files: &'a [(FileRole, Fields)],
    /// The session's id, if no file records it.
    pub id: &'a SessionId,
    /// The hash of the project's path, if no file records it.
    pub project_hash: Option<&'a str>,
    /// When it began, if no file records it.
    pub started: Option<Timestamp>,
    /// When it was last used, if no file records it.
    pub updated: Option<Timestamp>,
    /// What is to be said, whatever the files say.
    pub overrides: HeaderOverrides<'a>,
}

/// What of a session as a whole is said anew when it is written down once more.
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

/// Where in a document its fields stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Where each value begins and ends; of equal keys the last one counts.
    values: Vec<(Box<str>, u64, u64)>,
    /// Where the last of all values ends, if the document is whole.
    end: Option<u64>,
}

impl Layout {
    /// Notes where a value begins and ends.
    pub(crate) fn put(&mut self, key: &[u8], begin: u64, end: u64) {
        self.values.push((String::from_utf8_lossy(key).into(), begin, end));
    }

    /// Notes that the document is whole, and where its last value ends.
    pub(crate) fn close(&mut self, end: u64) {
        self.end = Some(end);
    }

    /// Returns where a value begins and ends.
    pub fn of(&self, key: &str) -> Option<(u64, u64)> {
        let found = self.values.iter().rev().find(|(known, ..)| **known == *key);
        found.map(|(_, begin, end)| (*begin, *end))
    }

    /// Returns where the last of all values ends, if the document is whole.
    pub fn end(&self) -> Option<u64> {
        self.end
    }
}

impl Fields {
    /// Returns where the fields stand; empty if they are not those of a document.
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

    /// Puts a field in the place of the one of that name, or behind all others.
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
