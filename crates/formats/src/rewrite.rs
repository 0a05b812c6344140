//! Rewrites session files: without repetitions, in another grammar, or repaired.

use std::collections::HashSet;
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{Grammar, Span};
use serde::{Deserialize, Serialize};

use crate::native::Fields;
use crate::outline::Outline;
use crate::source::Reader;

/// Rewrites the files of an agent.
///
/// The results are pieces: ranges of existing files, and bytes between them. The caller writes them as a stream; at most
/// one record is in memory here, and nothing here writes.
pub trait Rewriter: Debug + Sync {
    /// Returns a reader that also keeps session-level fields, to check what would be written.
    fn reader(&self, grammar: Grammar, file: &Arc<str>) -> Box<dyn Reader>;

    /// Writes a record in another shape; `None` if it cannot be a message there.
    fn shape(&self, record: &[u8], shape: &Shape) -> Option<Vec<u8>>;

    /// Returns a log without what later lines repeat. `None` if nothing can be dropped, or it is not a log.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn compacted(&self, path: &Path, mode: CompactMode) -> io::Result<Option<Vec<Piece>>>;

    /// Returns the parts around the records of a document: before the first, between two, and after the last.
    fn document(&self, fields: &Fields) -> Frame;

    /// Returns the damage in the lines of a log, and the repaired log.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn repaired(
        &self,
        path: &Path,
        outline: &Outline,
        known: &KnownMetadata<'_>,
    ) -> io::Result<(Vec<Flaw>, Vec<Piece>)>;

    /// Returns the speaker of a record, its calls and its responses; `None` if it is not a message.
    fn exchange(&self, record: &[u8]) -> Option<Exchange>;

    /// Writes a record so that calls and responses match.
    fn rewritten(&self, record: &[u8], rewrite: &Rewrite) -> Option<Vec<u8>>;

    /// Returns the parts around the records of a line that replaces the whole list of messages.
    fn list(&self) -> Frame;

    /// Writes a line that undoes a message and all later ones.
    fn rewind(&self, id: &str) -> Vec<u8>;

    /// Adds missing required fields of a document, from what else is known. Returns whether the id was missing.
    fn complete(&self, fields: &mut Fields, outline: &Outline, known: &KnownMetadata<'_>) -> bool;

    /// Whether a field is meaningful; some were written to files by mistake.
    fn is_meaningful(&self, key: &str) -> bool;

    /// Returns the original path of a file that the agent renamed.
    fn place_of(&self, aside: &Path) -> Option<PathBuf>;

    /// Whether a release of the agent supports lines that replace the whole list of messages; the newest by default.
    fn knows_lists(&self, release: Option<&str>) -> bool;

    /// Returns the titles in the agent's list, by the rules of all releases.
    fn list_titles(&self, outline: &Outline) -> Vec<Option<String>>;

    /// Whether a log is a complete document on one line.
    fn is_document_on_one_line(&self, outline: &Outline) -> bool;

    /// Whether the bytes of a record may have an output that is complete in another version.
    fn may_be_cut(&self, record: &[u8]) -> bool;
}

/// How much is dropped from a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactMode {
    /// Versions that a later one repeats, and lists that repeat current messages.
    Usual,
    /// Only versions that the next line of the same message repeats.
    Greater,
}

/// A piece of a file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A range of one of the source files, unchanged.
    Kept {
        /// Which file.
        file: usize,
        /// Its offset.
        offset: u64,
        /// Its length.
        bytes: u64,
    },
    /// Literal bytes.
    New(Vec<u8>),
    /// A record of one of the files, in another shape.
    Record {
        /// Which file.
        file: usize,
        /// Its location.
        span: Span,
        /// Its new shape.
        shape: Shape,
    },
}

impl Piece {
    /// Returns a range of the first file.
    pub fn kept(offset: u64, bytes: u64) -> Self {
        Self::Kept { file: 0, offset, bytes }
    }
}

/// The shape of a written record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// On one line, without the line break; under another id if one is given.
    Line(Option<String>),
    /// As an element of a document, indented.
    Element(Option<String>),
}

/// The parts around the records of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Before the first record.
    pub open: Vec<u8>,
    /// Between two records.
    pub between: Vec<u8>,
    /// After the last record.
    pub close: Vec<u8>,
    /// All of it if there is no record.
    pub empty: Vec<u8>,
}

impl Frame {
    /// Puts records into it.
    pub fn around(self, records: impl IntoIterator<Item = Piece>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for record in records {
            let lead = if pieces.is_empty() { &self.open } else { &self.between };
            pieces.push(Piece::New(lead.clone()));
            pieces.push(record);
        }
        pieces.push(Piece::New(if pieces.is_empty() { self.empty } else { self.close }));
        pieces
    }
}

/// Something in a file that keeps the agent from loading all of it, or from continuing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Flaw {
    /// It cannot be read, so its state is unknown.
    Unread,
    /// A byte order mark before a line, which makes the agent drop it.
    ByteOrderMark,
    /// The last record is incomplete.
    TornTail {
        /// Its size.
        bytes: u64,
    },
    /// The last line has no line ending, so that the agent would append to it.
    NoLineEnd,
    /// A record that follows a torn one on the same line.
    WeldedLine {
        /// The size of the torn one.
        bytes: u64,
    },
    /// There is no session id.
    NoHead,
    /// A document that is not valid.
    Broken,
    /// A document on one line, which some releases do not read.
    OneLine,
    /// A rewind to an unknown message, which empties the session.
    UnknownRewind,
    /// Tool calls without a response: the service refuses the session.
    Unanswered {
        /// Their number.
        calls: usize,
    },
    /// Responses without a call: the service refuses the session.
    Unasked {
        /// Their number.
        answers: usize,
    },
    /// The agent would show nothing, although there is a conversation.
    Buried {
        /// The number of restored messages.
        messages: usize,
    },
    /// A file that the agent renamed has more than the one in its place.
    PutAside {
        /// The number of additional messages.
        messages: usize,
    },
}

/// What is known about a session from other files.
#[derive(Clone, Copy, Debug)]
pub struct KnownMetadata<'a> {
    /// Its id.
    pub id: &'a str,
    /// The hash of its project's path.
    pub project_hash: &'a str,
    /// Whether another session ran it.
    pub is_subagent: bool,
}

/// The speaker of a record, and the calls and responses between the model and its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The speaker.
    pub speaker: Speaker,
    /// The calls of the model.
    pub calls: Vec<RecordedCall>,
    /// The responses.
    pub answers: Vec<RecordedCall>,
}

/// The speaker of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The human, or a tool in the human's place.
    Human,
    /// The model.
    Model,
    /// It is not sent to the model.
    Nobody,
}

/// A tool call, or a response to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// Its id.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments, raw.
    pub args: Vec<u8>,
}

impl RecordedCall {
    /// Whether a response belongs to this call: by id, if both have one, else by the tool.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.id, &other.id) {
            (Some(own), Some(other)) => own == other,
            _ => self.name == other.name,
        }
    }
}

/// Calls or responses, indexed to find those that match others ([`RecordedCall::is_same`]).
#[derive(Debug, Default)]
struct Counterparts<'a> {
    ids: HashSet<&'a str>,
    names: HashSet<&'a str>,
    /// The tools of those without an id.
    names_without_id: HashSet<&'a str>,
}

impl<'a> Counterparts<'a> {
    fn of(all: &'a [RecordedCall]) -> Self {
        let mut known = Self::default();
        for one in all {
            known.names.insert(&one.name);
            match &one.id {
                Some(id) => known.ids.insert(id),
                None => known.names_without_id.insert(&one.name),
            };
        }
        known
    }

    /// Whether one of them belongs to `other`.
    fn include(&self, other: &RecordedCall) -> bool {
        let name = other.name.as_str();
        match &other.id {
            Some(id) => self.ids.contains(id.as_str()) || self.names_without_id.contains(name),
            None => self.names.contains(name),
        }
    }
}

/// How a record is rewritten so that calls and responses match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rewrite {
    /// These calls get a response which says that theirs was lost.
    Answer(Vec<RecordedCall>),
    /// These responses are no longer sent.
    Drop(Vec<RecordedCall>),
}

/// Finds mismatches in the records that an agent loads, by their number.
pub fn unpaired(exchanges: &[Exchange]) -> Vec<(usize, Rewrite)> {
    let mut rewrites = Vec::new();
    // The last turn of the model, with its open calls, and all of them.
    let mut model: Option<(usize, Vec<RecordedCall>, &[RecordedCall])> = None;
    let end = |model: Option<(usize, Vec<RecordedCall>, &[RecordedCall])>, found: &mut Vec<_>| {
        if let Some((number, open, _)) = model.filter(|(_, open, _)| !open.is_empty()) {
            found.push((number, Rewrite::Answer(open)));
        }
    };
    for (number, exchange) in exchanges.iter().enumerate() {
        match exchange.speaker {
            Speaker::Nobody => {}
            Speaker::Model => {
                end(model.take(), &mut rewrites);
                let answers = Counterparts::of(&exchange.answers);
                let is_open = |call: &&RecordedCall| !answers.include(call);
                let open = exchange.calls.iter().filter(is_open).cloned().collect();
                model = Some((number, open, &exchange.calls));
            }
            Speaker::Human => {
                let asked = model.as_ref().map_or(&[][..], |(_, _, calls)| calls);
                let asked = Counterparts::of(asked);
                let is_asked = |answer: &RecordedCall| asked.include(answer);
                let unasked: Vec<RecordedCall> =
                    exchange.answers.iter().filter(|a| !is_asked(a)).cloned().collect();
                if !unasked.is_empty() {
                    rewrites.push((number, Rewrite::Drop(unasked)));
                }
                if let Some((_, open, _)) = &mut model {
                    let answers = Counterparts::of(&exchange.answers);
                    open.retain(|call| !answers.include(call));
                }
                let says_more = exchange.answers.is_empty();
                if says_more {
                    // Messages after a prompt answer nothing before it.
                    end(model.take(), &mut rewrites);
                }
            }
        }
    }
    end(model, &mut rewrites);
    rewrites.sort_by_key(|(number, _)| *number);
    rewrites
}
