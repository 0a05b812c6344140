//! A transcript read line by line, whole or as it grows.

mod answers;
mod parse;
mod prompts;

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use memchr::memmem;
use recount_model::{MessageKind, Problem, Span, What};
use serde::{Deserialize, Serialize};

use super::build;
use super::kind::kind_of;
use super::known;
use super::lookup::Lookup;
use super::packed;
use super::row::Row;
use super::state::{Facts, LeafPointer, Parent, Preserved, RowId, RowKind, TreeRow};
use crate::bytes::feed_lines;
use crate::id_index::IdIndex;
use crate::json::{ScanError, Scanner, Text};
use crate::outline::{Outline, Problems};
use crate::source::{Reader, ReaderState};

use parse::{Fault, ParsedLines, parse, parse_lines, whole_lines};

/// The number of places in a broken line at which a record is tried.
const TRIES: usize = 64;

/// The number of rows of a usual session; memory for them is reserved at once.
const TYPICAL: usize = 128;

/// Reads a transcript.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Log {
    #[serde(skip, default = "no_file")]
    file: Arc<str>,
    /// The offset of the next byte in the file.
    offset: u64,
    line: u32,
    facts: Facts,
    problems: Problems,
    #[serde(skip)]
    may_share: bool,
    /// Rows by id.
    #[serde(skip)]
    rows: Lookup<RowId>,
    /// Answers by a hash of their ids.
    #[serde(skip)]
    answers: Lookup<u64>,
    /// The answer of the last row that belongs to one, and the request id there, as it is written.
    #[serde(skip, default = "no_answer")]
    last_answer: u32,
    #[serde(skip)]
    last_request: Vec<u8>,
    /// Calls that ran sub-agents, by their id.
    #[serde(skip)]
    agents: HashMap<u64, u32, RandomState>,
    #[serde(skip)]
    models: IdIndex,
    #[serde(skip)]
    tools: IdIndex,
}

fn no_file() -> Arc<str> {
    Arc::from("")
}

fn no_answer() -> u32 {
    u32::MAX
}

/// Whether a line ended, or the file did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    ByNewline,
    ByEndOfFile,
}

impl Log {
    pub(crate) fn new(file: Arc<str>) -> Self {
        Self {
            file,
            offset: 0,
            line: 0,
            facts: Facts {
                rows: Vec::with_capacity(TYPICAL),
                ids: Vec::with_capacity(TYPICAL),
                answers: Vec::with_capacity(TYPICAL / 2),
                ..Facts::default()
            },
            problems: Problems::default(),
            may_share: false,
            rows: Lookup::default(),
            answers: Lookup::default(),
            last_answer: no_answer(),
            last_request: Vec::new(),
            agents: HashMap::default(),
            models: IdIndex::default(),
            tools: IdIndex::default(),
        }
    }

    /// Continues a saved reader; `None` if its state cannot be decoded.
    pub(crate) fn resume(state: &[u8], file: &Arc<str>) -> Option<Self> {
        let (mut log, rest): (Self, _) = postcard::take_from_bytes(state).ok()?;
        log.file = Arc::clone(file);
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let (ids, rows) = rest.split_at_checked(count.checked_mul(16)?)?;
        let (ids, _) = ids.as_chunks::<16>();
        log.facts.ids = ids.iter().copied().map(RowId::from_bytes).collect();
        log.facts.rows = packed::unpack(rows, count)?;
        for (number, link) in log.facts.agents.iter().enumerate() {
            log.agents.insert(link.hash, u32::try_from(number).ok()?);
        }
        Some(log)
    }

    /// The offset of the next byte in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    fn problem(&mut self, what: What, span: Span, done: &'static str) {
        let file = Arc::clone(&self.file);
        self.problems.note(Problem { file, span: Some(span), what, done: done.into() });
    }

    /// Reads and applies a line, which with what ends it is `length` bytes long.
    fn take<'a>(&mut self, text: &'a [u8], length: usize, row: &mut Row<'a>, ended: Ended) {
        self.line = self.line.saturating_add(1);
        let fault = parse(text, row, |row, at, bytes| {
            self.apply(row, self.span(at, bytes));
            true
        });
        self.end_line(text, length, fault, ended);
    }

    /// Applies lines that were parsed ahead, and returns their length.
    fn take_parsed(&mut self, parsed: &ParsedLines<'_>) -> usize {
        let mut records = parsed.records.iter();
        let (mut taken, mut bytes) = (0, 0);
        for (text, length, end, fault) in &parsed.lines {
            self.line = self.line.saturating_add(1);
            for (row, at, bytes) in records.by_ref().take(end.saturating_sub(taken)) {
                self.apply(row, self.span(*at, *bytes));
            }
            taken = *end;
            bytes += length;
            self.end_line(text, *length, *fault, Ended::ByNewline);
        }
        bytes
    }

    fn end_line(&mut self, text: &[u8], length: usize, fault: Option<Fault>, ended: Ended) {
        if let Some((at, fault)) = fault {
            let span = self.span(at, text.len().saturating_sub(at));
            self.broken(text.get(at..).unwrap_or_default(), span, ended, fault);
        }
        self.offset += length as u64;
    }

    /// Returns the span of some bytes of the line that is being read.
    fn span(&self, at: usize, bytes: usize) -> Span {
        Span { line: self.line, offset: self.offset + at as u64, bytes: bytes as u64 }
    }

    /// After a torn write, the next record is appended to the fragment: that one can still be read.
    fn broken(&mut self, text: &[u8], span: Span, ended: Ended, fault: ScanError) {
        for at in memmem::find_iter(text, b"{\"").filter(|at| *at > 0).take(TRIES) {
            let mut scanner = Scanner::new(text.get(at..).unwrap_or_default());
            let Ok(row) = Row::read(&mut scanner) else { continue };
            if scanner.end().is_ok()
                && row.kind.is_some()
                && (row.is_tree() || row.session.is_some())
            {
                self.problem(What::BrokenLine, span, "the whole record at its end is read");
                let bytes = scanner.offset() as u64;
                self.apply(&row, Span { offset: span.offset + at as u64, bytes, ..span });
                return;
            }
        }
        let what = match (ended, fault) {
            (Ended::ByEndOfFile, ScanError::Incomplete) => What::TornTail,
            _ => What::BrokenLine,
        };
        self.problem(what, span, "skipped, see `show --raw`");
    }

    fn apply(&mut self, row: &Row<'_>, span: Span) {
        let kind = row.kind.map(Text::name);
        let kind = kind.as_deref().unwrap_or_default();
        match kind {
            b"user" | b"assistant" | b"system" | b"attachment" | b"progress" if row.is_tree() => {
                self.session_facts(row);
                self.tree(row, kind, span);
            }
            _ if known::is_side_row(kind) => self.side(row, kind, span),
            _ => {
                self.problem(What::UnknownRecord, span, "kept, see `show --raw`");
                if row.is_tree() && (row.parent.is_some() || row.session.is_some()) {
                    // Whatever it is, others continue it.
                    self.session_facts(row);
                    self.push(row, kind_of(row), span);
                }
            }
        }
    }

    /// Reads facts about the session as a whole from a row.
    fn session_facts(&mut self, row: &Row<'_>) {
        let session = &mut self.facts.session;
        let first = |slot: &mut Option<Box<str>>, text: Option<Text<'_>>| {
            if slot.is_none() {
                *slot = text.filter(|text| !text.raw().is_empty()).map(|text| text.decode().into());
            }
        };
        first(&mut session.id, row.session);
        let is_other = |text: &Text<'_>| !session.id.as_deref().is_some_and(|known| text.is(known));
        if let Some(other) = row.session.filter(is_other) {
            session.last_id = Some(other.decode().into());
        }
        first(&mut session.cwd, row.cwd);
        first(&mut session.branch, row.branch);
        first(&mut session.entrypoint, row.entrypoint);
        let is_news =
            |text: &Text<'_>| !session.version.as_deref().is_some_and(|known| text.is(known));
        if let Some(version) = row.version.filter(is_news) {
            session.version = Some(version.decode().into());
        }
    }

    fn side(&mut self, row: &Row<'_>, kind: &[u8], span: Span) {
        let title = || row.title.map(|title| title.decode().trim().to_owned());
        let said = || title().filter(|title| !title.is_empty());
        let is_first = self.line == 1;
        let session = &mut self.facts.session;
        match kind {
            b"agent-name" => session.agent_name = said(),
            b"custom-title" => session.custom_title = said(),
            b"ai-title" => session.ai_title = said(),
            b"summary" => {
                if let (Some(leaf), Some(title)) =
                    (row.leaf, said().filter(|title| !is_failure(title)))
                {
                    session.summaries.push((RowId::of(leaf).0, title));
                }
            }
            b"relocated" => session.relocated = row.relocated.map(|path| path.decode().into()),
            b"queue-operation" => {
                session.begins_queued |= is_first;
                self.facts.queue.record(row, span, number(self.facts.rows.len()));
            }
            b"file-history-snapshot" => session.has_file_history = true,
            b"last-prompt" => {
                if let Some(leaf) = row.leaf {
                    self.facts.leaf = Some(LeafPointer {
                        row: RowId::of(leaf).0,
                        is_explicit: row.marks.is_explicit,
                        after: number(self.facts.rows.len()),
                    });
                }
            }
            _ => {}
        }
    }

    fn tree(&mut self, row: &Row<'_>, kind: &[u8], span: Span) {
        self.note_oddities(row, kind, span);
        let what = kind_of(row);
        let Some(at) = self.push(row, what, span) else { return };
        match what {
            RowKind::Answer => {
                self.answer(row, at);
                if self.facts.queue.is_open() && !row.marks.is_sidechain {
                    self.facts.queue.settle();
                }
            }
            RowKind::Results | RowKind::ResultsAndPrompt => self.results(row, at),
            RowKind::Boundary => {
                self.preserve(row, at);
                // What it pointed to is not loaded any more.
                self.facts.leaf = self.facts.leaf.filter(|_| row.marks.is_sidechain);
            }
            RowKind::Message(_) | RowKind::Notice(_) | RowKind::Hidden => {}
        }
        match what {
            RowKind::Message(MessageKind::Prompt) | RowKind::ResultsAndPrompt => {
                self.prompt(row, at);
            }
            RowKind::Notice(_) if !row.marks.is_sidechain => self.command(row),
            RowKind::Message(_)
            | RowKind::Notice(_)
            | RowKind::Answer
            | RowKind::Results
            | RowKind::Boundary
            | RowKind::Hidden => {}
        }
    }

    fn note_oddities(&mut self, row: &Row<'_>, kind: &[u8], span: Span) {
        if row.bad_time {
            self.problem(What::BadTime, span, "the row keeps its place");
        }
        if row.message.content.unknown_block {
            self.problem(What::UnknownPart, span, "kept, see `show --raw`");
        }
        let name = |text: Option<Text<'_>>, known: fn(&[u8]) -> bool| {
            text.is_none_or(|text| !known(&text.name()))
        };
        let is_unknown = match kind {
            b"system" => name(row.subtype, known::is_subtype),
            b"attachment" => name(row.attachment.kind, known::is_attachment),
            _ => false,
        };
        if is_unknown {
            self.problem(What::UnknownType, span, "kept, see `show --raw`");
        }
        if let Some(field) = row.unknown_field
            && self.facts.unknown.insert(field.decode().into())
        {
            self.problem(What::UnknownField, span, "kept, see `show --raw`");
        }
    }

    /// Adds a row to the tree. Of rows with the same id the first one counts.
    fn push(&mut self, row: &Row<'_>, what: RowKind, span: Span) -> Option<u32> {
        let text = row.uuid?;
        let (id, is_uuid) = RowId::of(text);
        let at = number(self.facts.rows.len());
        if self.row_number(id).is_some() {
            return None;
        }
        self.rows.add(id, at);
        if !is_uuid {
            self.facts.odd_ids.insert(id, text.decode().into());
        }
        let parent = match (row.parent, row.logical_parent) {
            (Some(parent), _) => {
                let parent = RowId::of(parent).0;
                let row = match self.facts.ids.last() {
                    _ if parent == id => Some(at),
                    // Usually it is the row before.
                    Some(last) if *last == parent => at.checked_sub(1),
                    _ => self.row_number(parent),
                };
                row.map_or(Parent::Id(parent), Parent::Row)
            }
            (None, Some(before)) => Parent::Before(RowId::of(before).0),
            (None, None) => Parent::None,
        };
        self.facts.ids.push(id);
        self.facts.rows.push(TreeRow {
            parent,
            time: row.time,
            span,
            what,
            is_sidechain: row.marks.is_sidechain,
            answer: None,
            block: row.block_index,
            results: (0, 0),
        });
        Some(at)
    }

    fn row_number(&mut self, id: RowId) -> Option<u32> {
        let ids = &self.facts.ids;
        self.rows.find(id, ids.len(), |number| ids.get(number).copied())
    }

    fn preserve(&mut self, row: &Row<'_>, at: u32) {
        let id = |text: Text<'_>| RowId::of(text).0;
        let preserved = Preserved {
            rows: row.preserved.iter().copied().map(id).collect(),
            ends: row.preserved_ends.map(|(head, tail)| (id(head), id(tail))),
            anchor: row.anchor.map(id),
        };
        self.facts.preserved.insert(at, preserved);
    }
}

/// Whether a file is a sub-agent's, by its name.
pub(crate) fn is_agent_file(path: &str) -> bool {
    path.rsplit(['/', '\\']).next().is_some_and(|name| name.starts_with("agent-"))
}

/// How a title begins that is no title: when the request for one failed, 1.0 kept what the service said.
const FAILURES: [&str; 5] = [
    "Invalid API key",
    "API Error",
    "Credit balance is too low",
    "Prompt is too long",
    "OAuth token",
];

fn is_failure(title: &str) -> bool {
    FAILURES.iter().any(|words| title.starts_with(words))
}

impl Reader for Log {
    fn feed(&mut self, bytes: &[u8]) -> usize {
        let start = self.offset;
        let mut row = Row::default();
        // Parsing is most of the work and needs no order.
        feed_lines(bytes, self.may_share, &parse_lines, |part, parsed: ParsedLines<'_>| {
            let taken = self.take_parsed(&parsed);
            for (text, length) in whole_lines(part.get(taken..).unwrap_or_default()) {
                self.take(text, length, &mut row, Ended::ByNewline);
            }
        });
        usize::try_from(self.offset - start).unwrap_or(usize::MAX)
    }

    fn may_share(&mut self, is_core_idle: bool) {
        self.may_share = is_core_idle;
    }

    fn finish(&mut self, rest: &[u8]) {
        if !rest.is_empty() {
            self.take(rest, rest.len(), &mut Row::default(), Ended::ByEndOfFile);
        }
    }

    fn save(&self) -> Option<ReaderState> {
        let room = 1024 + self.facts.answers.len() * 64 + self.facts.calls.len() * 32;
        let mut state = postcard::to_extend(self, Vec::with_capacity(room)).ok()?;
        let count = u32::try_from(self.facts.rows.len()).ok()?;
        state.extend_from_slice(&count.to_le_bytes());
        let rows = packed::pack(&self.facts.rows);
        state.reserve_exact(self.facts.ids.len() * 16 + rows.len());
        for id in &self.facts.ids {
            state.extend_from_slice(id.bytes());
        }
        state.extend_from_slice(&rows);
        Some(ReaderState { offset: self.offset, state })
    }

    fn outline(&self) -> Outline {
        build::outline(&self.facts, &self.file, self.problems.clone())
    }

    fn into_outline(self: Box<Self>) -> Outline {
        build::outline(&self.facts, &self.file, self.problems)
    }
}

/// Puts a text on one line.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
