//! Problems: what could not be used, where it is, and what was done about it. Never silent.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Something in a file that could not be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The file.
    pub file: Arc<str>,
    /// Where in the file, if it is about a part of it.
    pub span: Option<Span>,
    /// What was wrong.
    pub what: What,
    /// What was done about it, for people.
    pub done: Cow<'static, str>,
}

/// A byte range of a file. Lines count from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The line on which it begins.
    pub line: u32,
    /// Its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Kinds of problems, from the file as a whole down to one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum What {
    /// The file could not be opened or read.
    Unreadable,
    /// The name is that of a session file, but it is a folder, a pipe or another special file.
    NotAFile,
    /// A link that leads out of the home, or nowhere.
    LinkNotFollowed,
    /// The file has no bytes.
    Empty,
    /// The file begins with a byte order mark; the agent itself loses the first line to it.
    ByteOrderMark,
    /// A line is not JSON.
    BrokenLine,
    /// The last line is incomplete.
    TornTail,
    /// A single JSON document is incomplete or damaged.
    BrokenDocument,
    /// There is no session id in the file.
    NoHead,
    /// Valid JSON of a kind we do not know.
    UnknownRecord,
    /// A record that the agent's own loader fails on.
    RefusedRecord,
    /// A rewind to a message that is not there; it empties the conversation.
    UnknownRewind,
    /// A field has a type we do not know.
    WrongType,
    /// A message type we do not know.
    UnknownType,
    /// A message has a field we do not know.
    UnknownField,
    /// A time that cannot be read.
    BadTime,
    /// Bytes that are not UTF-8, shown as U+FFFD.
    NotUtf8,
    /// A part of a message is of a kind we do not know.
    UnknownPart,
    /// An image or another binary part whose data is not base64.
    BrokenMedia,
    /// A tool's output was cut or masked and its full text is lost.
    OutputGone,
    /// The agent's own loader would show nothing of a session that has messages.
    Buried,
    /// A session of another agent than the one asked for.
    OtherAgent,
    /// The session whose start this one begins with is missing.
    BaseMissing,
    /// A row continues one that is not in the file.
    BrokenChain,
}

impl What {
    /// Returns a phrase for people, in lower case.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Unreadable => "cannot be read",
            Self::NotAFile => "not a regular file",
            Self::LinkNotFollowed => "link not followed",
            Self::Empty => "empty file",
            Self::ByteOrderMark => "begins with a byte order mark",
            Self::BrokenLine => "line is not JSON",
            Self::TornTail => "cut short",
            Self::BrokenDocument => "document is damaged",
            Self::NoHead => "no session id",
            Self::UnknownRecord => "record not understood",
            Self::RefusedRecord => "record the agent's own loader refuses",
            Self::UnknownRewind => "rewind to an unknown message",
            Self::WrongType => "field of an unexpected type",
            Self::UnknownType => "unknown message type",
            Self::UnknownField => "unknown field",
            Self::BadTime => "time cannot be read",
            Self::NotUtf8 => "not UTF-8",
            Self::UnknownPart => "part not understood",
            Self::BrokenMedia => "broken binary data",
            Self::OutputGone => "full tool output is gone",
            Self::Buried => "the agent itself would load nothing of it",
            Self::OtherAgent => "session of another agent",
            Self::BaseMissing => "the session it begins with is missing",
            Self::BrokenChain => "continues a row that is missing",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(span) = self.span {
            write!(f, ":{} (bytes {}+{})", span.line, span.offset, span.bytes)?;
        }
        write!(f, ": {}; {}", self.what.phrase(), self.done)
    }
}
