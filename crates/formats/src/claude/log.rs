//! A transcript read line by line, whole or as it grows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use memchr::{memchr, memchr_iter, memmem};
use recount_model::{MessageKind, Problem, Span, What};
use serde::{Deserialize, Serialize};

use super::build;
use super::content::{CallBlock, Content, ResultBlock};
use super::kind::kind_of;
use super::known;
use super::lookup::Lookup;
use super::packed;
use super::row::Row;
use super::state::{
    AgentLink, Answer, Call, CallResult, Facts, LeafPointer, Parent, Preserved, RowId, RowKind,
    TreeRow,
};
use super::wording::{LEAD, Wording, may_be_title, shown, wording};
use crate::bytes::WORTH_SHARING;
use crate::id_index::{FEW, IdIndex};
use crate::json::{JsonScan, ScanError, Scanner, Text};
use crate::outline::{CallEnd, Outline, Problems};
use crate::source::{Reader, ReaderState, id_hash, stable_hash};

/// The number of places in a broken line at which a record is tried.
const TRIES: usize = 64;

/// The number of rows of a usual session; memory for them is reserved at once.
const TYPICAL: usize = 128;

/// The number of bytes of a prompt that are kept for titles.
const PROMPT: usize = 1024;

/// Message ids of the service are random and at least this long. Shorter ones come from gateways that may count them from one in every
/// session, so that only the request id identifies the answer.
const UNIQUE: usize = 24;

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

/// A place in a line where no record begins, and why.
type Fault = (usize, ScanError);

/// The records of some lines, each with its place in its line, not yet applied.
#[derive(Default)]
struct ParsedLines<'a> {
    records: Vec<(Row<'a>, usize, usize)>,
    /// Per line its text, its length with what ends it, where its records end in the list, and what comes after them.
    lines: Vec<(&'a [u8], usize, usize, Option<Fault>)>,
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
        });
        self.end_line(text, length, fault, ended);
    }

    /// Applies lines that were read elsewhere.
    fn take_parsed(&mut self, parsed: &ParsedLines<'_>) {
        let mut records = parsed.records.iter();
        let mut taken = 0;
        for (text, length, end, fault) in &parsed.lines {
            self.line = self.line.saturating_add(1);
            for (row, at, bytes) in records.by_ref().take(end.saturating_sub(taken)) {
                self.apply(row, self.span(*at, *bytes));
            }
            taken = *end;
            self.end_line(text, *length, *fault, Ended::ByNewline);
        }
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

    fn answer(&mut self, row: &Row<'_>, at: u32) {
        let message = &row.message;
        let Some(id) = message.id.or(row.uuid) else { return };
        let number =
            self.answer_number(id, row.request.filter(|request| !request.raw().is_empty()));
        let model = message.model;
        let model = model.map(|model| number_of(&mut self.facts.models, &mut self.models, model));
        for call in &message.content.calls {
            if let Some((id, tool)) = self.call(call) {
                self.facts.calls.push(Call { id, tool, answer: number });
            }
        }
        self.facts.results_of_blocks(&message.content, at);
        if let Some(row) = self.facts.rows.get_mut(at as usize) {
            row.answer = Some(number);
        }
        let Some(answer) = self.facts.answers.get_mut(number as usize) else { return };
        answer.model = answer.model.or(model);
        answer.is_final |= message.has_stop && !row.marks.is_aborted;
        if let Some(usage) = message.usage {
            answer.usage.get_or_insert_default().raise(usage);
        }
    }

    /// Returns the number of the answer with a message id and a request id: usually the last one. A row without a request id belongs to
    /// the first answer with its message id.
    fn answer_number(&mut self, text: Text<'_>, request: Option<Text<'_>>) -> u32 {
        let is_same = request.is_none_or(|request| *request.raw() == *self.last_request);
        let last = self.facts.answers.get(self.last_answer as usize);
        // Without a request id it is the first one, whether or not a reader was saved in between.
        let may_be = |last: &Answer| text.is(&last.id) && !(request.is_none() && last.is_split);
        if is_same && last.is_some_and(may_be) {
            return self.last_answer;
        }
        self.last_request.clear();
        self.last_request.extend_from_slice(request.map(Text::raw).unwrap_or_default());
        self.last_answer = self.search_answer(&text.decode(), request.map(Text::decode));
        self.last_answer
    }

    fn search_answer(&mut self, id: &str, request: Option<Cow<'_, str>>) -> u32 {
        let hash = request.as_deref().map(short_hash);
        let key = stable_hash(id);
        let Some(first) = self.find_answer(key) else {
            return self.add_answer(key, id, request.as_deref(), false);
        };
        let answer = self.facts.answers.get_mut(first as usize);
        match (answer, request) {
            (Some(answer), Some(request)) if answer.request != hash => {
                if answer.request.is_none() {
                    answer.request = hash;
                    self.name_request(first, &request);
                    return first;
                }
                // Some gateways give all their answers the same message id.
                let key = stable_hash(&(id, &*request));
                let known = self.find_answer(key);
                known.unwrap_or_else(|| self.add_answer(key, id, Some(&request), true))
            }
            _ => first,
        }
    }

    fn find_answer(&mut self, key: u64) -> Option<u32> {
        let Facts { answers, requests, .. } = &self.facts;
        let key_of = |at: usize| {
            let answer = answers.get(at)?;
            let request = requests.get(&number(at)).filter(|_| answer.is_split);
            Some(request.map_or_else(
                || stable_hash(&*answer.id),
                |request| stable_hash(&(&*answer.id, &**request)),
            ))
        };
        self.answers.find(key, answers.len(), key_of)
    }

    fn add_answer(&mut self, key: u64, id: &str, request: Option<&str>, is_split: bool) -> u32 {
        let next = number(self.facts.answers.len());
        self.answers.add(key, next);
        self.facts.answers.push(Answer {
            id: id.into(),
            request: request.map(short_hash),
            is_split,
            model: None,
            usage: None,
            is_final: false,
        });
        if let Some(request) = request {
            self.name_request(next, request);
        }
        next
    }

    /// Keeps a request id where the message id alone does not identify the answer.
    fn name_request(&mut self, at: u32, request: &str) {
        let answer = self.facts.answers.get(at as usize);
        if answer.is_some_and(|answer| answer.is_split || answer.id.len() < UNIQUE) {
            self.facts.requests.insert(at, request.into());
        }
    }

    /// Notes a call. Returns the hash of its id, and its tool.
    fn call(&mut self, block: &CallBlock<'_>) -> Option<(u64, u16)> {
        let (id, name) = (block.id?, block.name?);
        let hash = id_hash(&id.name());
        let tool = number_of(&mut self.facts.tools, &mut self.tools, name);
        if is_agent_tool(name) {
            self.agents.insert(hash, number(self.facts.agents.len()));
            self.facts.agents.push(AgentLink {
                call: id.decode().into(),
                hash,
                prompt: block.prompt.map(|prompt| stable_hash(prompt.decode().trim())),
                agent: None,
                ended: None,
            });
        }
        Some((hash, tool))
    }

    fn results(&mut self, row: &Row<'_>, at: u32) {
        self.facts.results_of_blocks(&row.message.content, at);
        if self.agents.is_empty() && row.result_agent.is_none() {
            return;
        }
        for result in &row.message.content.results {
            let Some(call) = result.call else { continue };
            let hash = id_hash(&call.name());
            let known = self.agents.get(&hash).copied();
            let known = known.and_then(|known| self.facts.agents.get_mut(known as usize));
            match (known, row.result_agent) {
                (Some(link), agent) => {
                    link.ended = row.time;
                    link.agent = agent.map(|agent| agent.decode().into());
                }
                (None, Some(agent)) => self.facts.agents.push(AgentLink {
                    call: call.decode().into(),
                    hash,
                    prompt: None,
                    agent: Some(agent.decode().into()),
                    ended: row.time,
                }),
                (None, None) => {}
            }
        }
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

    fn prompt(&mut self, row: &Row<'_>, at: u32) {
        let content = &row.message.content;
        let text = content.typed.or(row.attachment.prompt).or(row.content);
        let Some(text) = text else { return };
        if self.facts.queue.is_open() {
            self.facts.queue.meet(text);
        }
        let start = text.decode_start(PROMPT);
        let session = &mut self.facts.session;
        let is_plain = session.first.is_some() && !row.marks.is_sidechain;
        if is_plain && wording(&start) == Wording::Typed && !start.trim().is_empty() {
            // Only the last one is shown, on one line.
            session.last = Some(start.into_owned());
            return;
        }
        let line = one_line(&shown(&start));
        if line.is_empty() {
            return;
        }
        if row.marks.is_sidechain {
            let whole = stable_hash(text.decode().trim());
            self.facts.asked.insert(at, (line.clone(), whole));
        }
        if row.marks.is_sidechain && !is_agent_file(&self.file) {
            return;
        }
        let session = &mut self.facts.session;
        if wording(&start) == Wording::Command || !may_be_title(&start) {
            session.command.get_or_insert_with(|| line.clone());
        } else if session.first.is_none() {
            session.first = Some(line.clone());
        }
        session.last = Some(line);
    }

    /// A command that the agent ran itself is the title of a session in which nothing else was typed.
    fn command(&mut self, row: &Row<'_>) {
        let session = &mut self.facts.session;
        if session.first.is_some() || session.command.is_some() {
            return;
        }
        let Some(text) = row.message.content.text.or(row.content) else { return };
        let start = text.decode_start(PROMPT);
        if wording(&start) == Wording::LocalCommand {
            session.command = Some(one_line(&shown(&start)));
        }
    }
}

impl Facts {
    /// Records how the calls ended whose results are in a row.
    fn results_of_blocks(&mut self, content: &Content<'_>, at: u32) {
        let start = number(self.results.len());
        let marks = content.results.iter().filter_map(|result| {
            Some(CallResult { call: id_hash(&result.call?.name()), end: end(result) })
        });
        self.results.extend(marks);
        let end = number(self.results.len());
        if let Some(row) = self.rows.get_mut(at as usize) {
            row.results = (start, end);
        }
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

/// Whether a tool runs sub-agents.
fn is_agent_tool(name: Text<'_>) -> bool {
    name.is("Task") || name.is("Agent")
}

/// How the refusal of a call begins.
const REFUSALS: [&str; 2] = ["The user doesn't want to", "[Request interrupted by user"];

fn end(result: &ResultBlock<'_>) -> CallEnd {
    if !result.is_error {
        return CallEnd::Fine;
    }
    let text = result.text.map(|text| text.decode_start(LEAD)).unwrap_or_default();
    let is_refusal = REFUSALS.iter().any(|words| text.starts_with(words));
    if is_refusal { CallEnd::Cancelled } else { CallEnd::Failed }
}

/// Reads the records of a line: usually one, after a torn write two. Each is read into `row` and given to `each` with its place in
/// the line and its length. Returns where no record begins.
fn parse<'a>(
    text: &'a [u8],
    row: &mut Row<'a>,
    mut each: impl FnMut(&Row<'a>, usize, usize),
) -> Option<Fault> {
    // A crash may leave NUL bytes in front.
    let blank = text.iter().take_while(|byte| **byte == 0 || byte.is_ascii_whitespace()).count();
    let mut scanner = Scanner::new(text.get(blank..).unwrap_or_default());
    loop {
        let start = match scanner.peek() {
            Ok(_) => scanner.offset(),
            Err(ScanError::Incomplete) => return None,
            Err(fault) => return Some((blank + scanner.offset(), fault)),
        };
        match record(&mut scanner, row) {
            Ok(()) => each(row, blank + start, scanner.offset() - start),
            Err(fault) => return Some((blank + start, fault)),
        }
    }
}

fn record<'a>(scanner: &mut Scanner<'a>, row: &mut Row<'a>) -> JsonScan<()> {
    if scanner.peek()? == b'{' {
        return row.fill(scanner);
    }
    // Valid JSON, and no record of any kind.
    *row = Row::default();
    scanner.skip()
}

/// Lists the lines in `bytes` that have ended: their text, and their length with what ends them.
fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    let mut start = 0;
    memchr_iter(b'\n', bytes).filter_map(move |end| {
        let text = bytes.get(start..end)?;
        let length = end + 1 - start;
        start = end + 1;
        Some((text.strip_suffix(b"\r").unwrap_or(text), length))
    })
}

/// Reads the lines of two stretches at the same time.
fn in_two<'a>(first: &'a [u8], second: &'a [u8]) -> [ParsedLines<'a>; 2] {
    let parse_all = |bytes: &'a [u8]| {
        let mut parsed = ParsedLines::default();
        for (text, length) in whole_lines(bytes) {
            let records = &mut parsed.records;
            let mut row = Row::default();
            let fault =
                parse(text, &mut row, |row, at, length| records.push((row.clone(), at, length)));
            parsed.lines.push((text, length, records.len(), fault));
        }
        parsed
    };
    std::thread::scope(|scope| {
        let two = scope.spawn(|| parse_all(second));
        [parse_all(first), two.join().unwrap_or_else(|_| parse_all(second))]
    })
}

impl Reader for Log {
    fn feed(&mut self, bytes: &[u8]) -> usize {
        let start = self.offset;
        let half = bytes.len() / 2;
        let middle = memchr(b'\n', bytes.get(half..).unwrap_or_default()).map(|at| half + at + 1);
        if let Some(middle) = middle.filter(|_| bytes.len() >= WORTH_SHARING) {
            // Parsing is most of the work and needs no order.
            let (first, second) = bytes.split_at(middle);
            for parsed in in_two(first, second) {
                self.take_parsed(&parsed);
            }
        } else {
            let mut row = Row::default();
            for (text, length) in whole_lines(bytes) {
                self.take(text, length, &mut row, Ended::ByNewline);
            }
        }
        usize::try_from(self.offset - start).unwrap_or(usize::MAX)
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

/// Returns a short hash (FNV-1a): it only has to distinguish requests with the same message id.
fn short_hash(text: &str) -> u32 {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, mix)
}

/// Returns the number of a name in a list of those that were met.
fn number_of(names: &mut Vec<Box<str>>, index: &mut IdIndex, name: Text<'_>) -> u16 {
    let known = if names.len() <= FEW {
        names.iter().position(|known| name.is(known))
    } else {
        index.find(names, |known| Some(known), Some(&name.decode()))
    };
    let at = known.unwrap_or_else(|| {
        names.push(name.decode().into());
        names.len() - 1
    });
    u16::try_from(at).unwrap_or(u16::MAX)
}
