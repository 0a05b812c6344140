//! Session files rewritten: what an agent could have left out, in another grammar, or whole again.

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

/// How the files of an agent are rewritten.
///
/// What is told are pieces: stretches of files that are there, and bytes between them. Who writes them streams; nothing here
/// holds more than one record, and nothing here writes.
pub trait Rewriter: Debug + Sync {
    /// Returns a reader that also keeps what is said of the session as a whole, to look at what would be written.
    fn reader(&self, grammar: Grammar, file: &Arc<str>) -> Box<dyn Reader>;

    /// Writes a record in another shape; `None` when it cannot be a message there.
    fn shape(&self, record: &[u8], shape: &Shape) -> Option<Vec<u8>>;

    /// Returns a log without what later lines repeat. `None` when nothing can be left out, or it is no log.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn compacted(&self, path: &Path, care: Care) -> io::Result<Option<Vec<Piece>>>;

    /// Returns what stands around the records of a document: what comes before the first, between two, and behind the
    /// last.
    fn document(&self, fields: &Fields) -> Frame;

    /// Returns what is damaged in the lines of a log, and the log without the damage.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn repaired(
        &self,
        path: &Path,
        outline: &Outline,
        known: &KnownMetadata<'_>,
    ) -> io::Result<(Vec<Flaw>, Vec<Piece>)>;

    /// Tells who speaks in a record, what is called and what came back; `None` for what is not a message.
    fn exchange(&self, record: &[u8]) -> Option<Exchange>;

    /// Writes a record so that calls and responses match.
    fn rewritten(&self, record: &[u8], rewrite: &Rewrite) -> Option<Vec<u8>>;

    /// Returns what stands around the records of a line that replaces the whole list of messages.
    fn list(&self) -> Frame;

    /// Writes a line that takes back a message and all later ones.
    fn rewind(&self, id: &str) -> Vec<u8>;

    /// Says what a document must say of its session and does not, from what else is known. Returns whether the id was missing.
    fn complete(&self, fields: &mut Fields, outline: &Outline, known: &KnownMetadata<'_>) -> bool;

    /// Whether a field says something of the session; some were put into files by mistake.
    fn is_meant(&self, key: &str) -> bool;

    /// Returns where a file lay that the agent put aside.
    fn place_of(&self, aside: &Path) -> Option<PathBuf>;

    /// Whether a release of the agent knows lines that replace the whole list of messages; the newest if none is told.
    fn knows_lists(&self, release: Option<&str>) -> bool;

    /// Returns what the agent's list would take as a title, by the rules of all releases.
    fn list_titles(&self, outline: &Outline) -> Vec<Option<String>>;

    /// Whether a log is a whole document on its one line.
    fn is_document_on_one_line(&self, outline: &Outline) -> bool;

    /// Whether the bytes of a record may hold an output of which the whole stands in another version.
    fn may_be_cut(&self, record: &[u8]) -> bool;
}

/// How much is left out of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Versions that a later one repeats, and lists that repeat what stands.
    Usual,
    /// Only versions that the next line of the same message repeats.
    Greater,
}

/// A piece of a file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A stretch of one of the files that it is made of, as it stands.
    Kept {
        /// Which file.
        file: usize,
        /// Where it begins.
        offset: u64,
        /// How long it is.
        bytes: u64,
    },
    /// Bytes of ours.
    New(Vec<u8>),
    /// A record of one of the files, in another shape.
    Record {
        /// Which file.
        file: usize,
        /// Where it stands.
        span: Span,
        /// In which shape it is written.
        shape: Shape,
    },
}

impl Piece {
    /// A stretch of the first file.
    pub fn kept(offset: u64, bytes: u64) -> Self {
        Self::Kept { file: 0, offset, bytes }
    }
}

/// In which shape a record is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// On one line, without the line break; under another id if one is given.
    Line(Option<String>),
    /// As an element of a document, indented.
    Element(Option<String>),
}

/// What stands around the records of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Before the first record.
    pub open: Vec<u8>,
    /// Between two records.
    pub between: Vec<u8>,
    /// Behind the last record.
    pub close: Vec<u8>,
    /// All of it when there is no record.
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

/// Something in a file that keeps the agent from loading all of it, or from going on with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Flaw {
    /// It cannot be read, so that nobody knows.
    Unread,
    /// A mark in front of a line, which makes the agent drop it.
    ByteOrderMark,
    /// The last record was not written to its end.
    TornTail {
        /// What there is of it.
        bytes: u64,
    },
    /// The last line does not end, so that the agent would write into it.
    NoLineEnd,
    /// A record that was put behind a torn one.
    WeldedLine {
        /// What there is of the torn one.
        bytes: u64,
    },
    /// Nothing says whose session it is.
    NoHead,
    /// A document that is not valid.
    Broken,
    /// A document on one line, which some releases do not read.
    OneLine,
    /// A rewind to a message that is not there, which empties the session.
    UnknownRewind,
    /// Calls of tools without a response: the service refuses the session.
    Unanswered {
        /// How many.
        calls: usize,
    },
    /// Responses without a call: the service refuses the session.
    Unasked {
        /// How many.
        answers: usize,
    },
    /// The agent would show nothing, although something was said.
    Buried {
        /// How many messages come back.
        messages: usize,
    },
    /// A file that the agent put aside holds more than the one in its place.
    PutAside {
        /// How many messages it adds.
        messages: usize,
    },
}

/// What is known of a session from elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct KnownMetadata<'a> {
    /// Its id.
    pub id: &'a str,
    /// The hash of its project's path.
    pub project_hash: &'a str,
    /// Whether another session ran it.
    pub is_subagent: bool,
}

/// Who speaks in a record, and what goes to and fro between the model and its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Who speaks.
    pub speaker: Speaker,
    /// What the model calls.
    pub calls: Vec<RecordedCall>,
    /// What came back.
    pub answers: Vec<RecordedCall>,
}

/// Who speaks in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The human, or a tool in the human's place.
    Human,
    /// The model.
    Model,
    /// It is not sent to the model.
    Nobody,
}

/// A call of a tool, or a response to one.
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
    /// Whether a response is to this call: by id, where both have one, else by the tool.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.id, &other.id) {
            (Some(own), Some(other)) => own == other,
            _ => self.name == other.name,
        }
    }
}

/// Calls or responses, to find those that are the same as others ([`RecordedCall::is_same`]) without a look at each.
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

/// What is done to a record so that calls and responses match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rewrite {
    /// These calls get a response that says theirs was lost.
    Answer(Vec<RecordedCall>),
    /// These responses are no longer sent.
    Drop(Vec<RecordedCall>),
}

/// Finds what does not match in the records that an agent loads, by their number.
pub fn unpaired(exchanges: &[Exchange]) -> Vec<(usize, Rewrite)> {
    let mut rewrites = Vec::new();
    // The last turn of the model, with the calls that nobody has answered yet, and all of them.
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
                    // What comes behind a prompt answers nothing before it.
                    end(model.take(), &mut rewrites);
                }
            }
        }
    }
    end(model, &mut rewrites);
    rewrites.sort_by_key(|(number, _)| *number);
    rewrites
}
