//! Reads a hit of the index from its location.

use std::path::Path;
use std::sync::Arc;

use recount_formats::Source;
use recount_formats::source::{Detail, MessageRequest, OtherVersions};
use recount_model::{
    Message, OutputState, RecordLocation, SessionFacts, Span, ToolCall, timestamp,
};
use recount_search::{Hit, QueryPlan, Rows};

use crate::messages::View;
use crate::messages::records::Records;
use crate::search::Match;
use crate::search::index::{SPLIT, file_key, with_document};
use crate::search::quick::Sessions;
use crate::{Engine, Error};

/// Why a hit could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The message does not exist, or has changed.
    Changed,
    /// The index is not certain, and the text was deleted with the session.
    Gone,
}

/// The share of a score that depends on how close to each other the words are.
const CLOSENESS: f32 = 0.3;

/// What to find out about a hit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shown<'a> {
    /// The maximum width of the snippet; 0 for none.
    pub(crate) width: usize,
    /// How much each word is worth, to rank by how close they are; empty if that is not wanted.
    pub(crate) worth: &'a [f32],
}

/// A hit and its session.
#[derive(Debug)]
pub(crate) struct Pointed<'a> {
    hit: &'a Hit,
    session: Arc<SessionFacts>,
    is_gone: bool,
}

impl<'a> Pointed<'a> {
    /// Finds the session of a hit.
    pub(crate) fn new(hit: &'a Hit, sessions: &dyn Sessions) -> Option<Self> {
        let (session, is_gone) = sessions.session(hit.session)?;
        Some(Self { hit, session, is_gone })
    }
}

impl Engine {
    /// Reads the message of a hit. `None` if it is not confirmed. Without a width there is no snippet.
    pub(crate) fn read_hit(
        &self,
        pointed: Pointed<'_>,
        plan: &QueryPlan,
        rows: Option<&Rows>,
        shown: Shown<'_>,
        records: &mut Records,
    ) -> Result<Option<Match>, Lost> {
        let Pointed { hit, session, is_gone } = pointed;
        let Shown { width, worth } = shown;
        let mut score = hit.score;
        if is_gone {
            if hit.must_check {
                return Err(Lost::Gone);
            }
            let message = remains(hit, &session);
            return Ok(Some(Match { session, is_gone, message, score, snippet: None }));
        }
        let mut sources = self.roots.iter().map(|root| root.source);
        let source = sources.find(|source| source.name() == session.source).ok_or(Lost::Changed)?;
        let path = Path::new(path_of(hit, &session).ok_or(Lost::Changed)?);
        let record = records.read(path, hit.offset, hit.bytes & !SPLIT).ok_or(Lost::Changed)?;
        if hit.must_check
            && hit.bytes & SPLIT == 0
            // The title is elsewhere.
            && !hit.has_title
            && rows.is_some_and(|rows| !rows.may_contain(record) && !source.may_be_cut(record))
        {
            return Ok(None);
        }
        let message = self.message_of(hit, &session, source, record).ok_or(Lost::Changed)?;
        let title = session.title.as_deref().filter(|_| hit.has_title).unwrap_or_default();
        let (holds, snippet) = with_document(hit.session, title, &message, |document| {
            let holds = !hit.must_check || plan.holds(document);
            if holds && !worth.is_empty() {
                score *= 1.0 - CLOSENESS + CLOSENESS * plan.closeness(document, worth);
            }
            let is_shown = holds && width > 0;
            (holds, is_shown.then(|| plan.snippet(&document.text, width)).flatten())
        });
        Ok(holds.then_some(Match { session, is_gone, message, score, snippet }))
    }

    fn message_of(
        &self,
        hit: &Hit,
        facts: &SessionFacts,
        source: &dyn Source,
        record: &[u8],
    ) -> Option<Message> {
        let place = place(hit, path_of(hit, facts)?);
        if hit.bytes & SPLIT != 0 {
            return self.whole_message(&place, facts).ok().flatten();
        }
        let request = MessageRequest {
            bytes: record,
            pieces: &[],
            file: &place.file,
            span: Span { line: place.line, offset: hit.offset, bytes: hit.bytes },
            fate: hit.fate,
            entry: None,
            model: None,
            others: &Nothing,
            folder: None,
            detail: Detail::Whole,
        };
        let mut message = source.message(&request).ok()?;
        message.place = place;
        if message.tool_calls.iter().any(is_cut) {
            // The rest of it is in another version, or in a separate file.
            let whole = self.whole_message(&message.place, facts);
            message = whole.ok().flatten().unwrap_or(message);
        }
        Some(message)
    }

    fn whole_message(
        &self,
        place: &RecordLocation,
        facts: &SessionFacts,
    ) -> Result<Option<Message>, Error> {
        let opened = self.open_key(&facts.key(), &())?;
        let Some(mut messages) = opened.messages(View::Full) else { return Ok(None) };
        messages.keep_around(place, 0);
        Ok(messages.flatten().next())
    }
}

fn is_cut(call: &ToolCall) -> bool {
    matches!(call.output_state, OutputState::Truncated | OutputState::Masked)
}

fn path_of<'a>(hit: &Hit, facts: &'a SessionFacts) -> Option<&'a str> {
    let mut paths = facts.files.iter().map(|file| file.path.as_str());
    paths.find(|path| file_key(path) == hit.file)
}

fn place(hit: &Hit, path: &str) -> RecordLocation {
    let line = u32::try_from(hit.line).unwrap_or(u32::MAX);
    let bytes = hit.bytes & !SPLIT;
    RecordLocation { file: Arc::from(path), line, offset: hit.offset, bytes, pieces: Vec::new() }
}

/// Returns what is left of a message whose file was deleted.
fn remains(hit: &Hit, facts: &SessionFacts) -> Message {
    let place = place(hit, path_of(hit, facts).unwrap_or_default());
    Message { time: hit.time.and_then(timestamp), ..Message::at(place, hit.kind, hit.fate) }
}

/// No other versions.
#[derive(Debug)]
struct Nothing;

impl OtherVersions for Nothing {
    fn each(&self, _visit: &mut dyn FnMut(&[u8]) -> bool) {}
}
