//! Requests for messages, and what a source knows of a message beside its text.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use recount_model::{Message, Problem, What};
use serde::{Deserialize, Serialize};

use crate::outline::MessageEntry;

/// A piece of a message: some agents write one record per block, or results as separate records.
#[derive(Clone, Copy, Debug)]
pub struct PieceBytes<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Where they are.
    pub span: recount_model::Span,
}

/// A request for one message in full.
#[derive(Debug)]
pub struct MessageRequest<'a> {
    /// The bytes of the version to show; for a message in pieces, of the first one.
    pub bytes: &'a [u8],
    /// The other pieces, in order.
    pub pieces: &'a [PieceBytes<'a>],
    /// Its file.
    pub file: &'a Arc<str>,
    /// Its location there.
    pub span: recount_model::Span,
    /// Its fate.
    pub fate: recount_model::Fate,
    /// Its entry in the outline; `None` if only its bytes are available.
    pub entry: Option<&'a MessageEntry>,
    /// The model in the outline.
    pub model: Option<&'a str>,
    /// Other versions, for what this one lacks.
    pub others: &'a dyn OtherVersions,
    /// The project directory, which may have full tool outputs.
    pub folder: Option<&'a Path>,
    /// How much of it to read.
    pub detail: Detail,
}

impl MessageRequest<'_> {
    /// Returns a problem with the requested message.
    pub fn problem(&self, what: What, done: &'static str) -> Problem {
        Problem { file: Arc::clone(self.file), span: Some(self.span), what, done: done.into() }
    }
}

/// How much of a message to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// All of it.
    #[default]
    Whole,
    /// Without the arguments of tool calls, and without the results of successful ones.
    Gist,
}

/// The other versions of a message, read only when needed.
pub trait OtherVersions: Debug {
    /// Calls `visit` with each until it returns `false`.
    fn each(&self, visit: &mut dyn FnMut(&[u8]) -> bool);
}

/// What was billed for a message but not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unrecorded {
    /// Requests whose replies were merged into this record, with the figures of one of them.
    pub rounds: u32,
    /// Whether the figures may be those of the first piece of the reply, rather than of all of it.
    pub first_figures: bool,
    /// Whether a model replied, and no figures are recorded.
    pub no_figures: bool,
    /// Additional requests: by tools, for a summary.
    pub side_calls: u32,
}

/// A file that a tool call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTouch {
    /// Its path, as in the call.
    pub path: String,
    /// How it is touched.
    pub how: FileAccess,
}

/// How a tool call touches a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAccess {
    /// It read the file.
    Read,
    /// It wrote the file.
    Written,
    /// It names the file, whatever the outcome.
    Named,
}

/// A conversation that is not a session file.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// What it is, for people.
    pub form: &'static str,
    /// Its messages.
    pub messages: Vec<Message>,
}
