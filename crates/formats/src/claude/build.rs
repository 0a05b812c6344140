//! The outline of a transcript out of its rows: one session, and the sub-agents that ran inside it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;
use recount_model::{
    Entrypoint, Fate, Grammar, MessageKind, Problem, RecordedPath, SessionId, What,
};

use super::log::is_agent_file;
use super::state::{Answer, ClaudeState, Facts, RowKind, Session, TreeRow};
use super::tree::{Chain, Place, parents, sidechains};
use crate::json::Scanner;
use crate::outline::{
    AgentCall, CallEnd, Head, MessageEntry, Outline, PieceRange, Problems, ToolUse, Version,
    VisibleMessage,
};

/// What an agent is asked at the start of a release that warms up its cache.
const WARM_UP: &str = "Warmup";

/// Makes the outline of a file.
pub(crate) fn outline(facts: &Facts, file: &Arc<str>, problems: Problems) -> Outline {
    let is_agent = is_agent_file(file);
    let links = parents(facts);
    let groups = sidechains(facts, &links, is_agent);
    let mut problems = problems;
    let main = Chain::of(facts, &links, &groups.main, facts.leaf);
    note_repairs(&mut problems, &main, facts, file);
    let mut outline = conversation(facts, &groups.main, &main);
    head(&mut outline, facts, file, is_agent);
    (outline.first_prompt, outline.last_prompt) = titles(&facts.session);
    outline.head.is_background = is_agent && facts.session.first.as_deref() == Some(WARM_UP);
    let state = ClaudeState {
        leaf: main.leaf().and_then(|row| facts.rows.get(row as usize)).map(|row| row.id),
        summaries: facts.session.summaries.clone(),
        version: facts.session.version.clone(),
        caller: None,
    };
    outline.state = state.encode();
    outline.agent_calls = agent_calls(facts, &groups.others);
    outline.problems = problems;
    let parent = outline.head.session_id.clone();
    for rows in &groups.others {
        outline.others.push(sidechain(facts, &links, rows, parent.clone(), &outline.head));
    }
    outline
}

fn note_repairs(problems: &mut Problems, chain: &Chain, facts: &Facts, file: &Arc<str>) {
    for row in &chain.repaired {
        let span = facts.rows.get(*row as usize).map(|row| row.span);
        problems.note(Problem {
            file: Arc::clone(file),
            span,
            what: What::BrokenChain,
            done: "continued from the row before it".into(),
        });
    }
}

/// A sub-agent that ran inside the file of its parent.
fn sidechain(
    facts: &Facts,
    links: &[Place],
    rows: &[u32],
    parent: Option<SessionId>,
    of_parent: &Head,
) -> Outline {
    let chain = Chain::of(facts, links, rows, None);
    let mut outline = conversation(facts, rows, &chain);
    let first = rows.first().copied().unwrap_or_default();
    let asked = |row: &&u32| facts.asked.get(row).map(|(text, _)| text.clone());
    outline.first_prompt = rows.iter().find_map(|row| asked(&row));
    outline.last_prompt = rows.iter().rev().find_map(|row| asked(&row));
    outline.head = Head {
        session_id: Some(SessionId::new(&*row_id(facts, first))),
        subagent: true,
        parent,
        cwd: of_parent.cwd.clone(),
        branch: of_parent.branch.clone(),
        entrypoint: of_parent.entrypoint,
        ..times(facts, rows)
    };
    outline
}

fn row_id(facts: &Facts, row: u32) -> Box<str> {
    let Some(row) = facts.rows.get(row as usize) else { return Box::default() };
    facts.odd_ids.get(&row.id).cloned().unwrap_or_else(|| row.id.text())
}

fn times(facts: &Facts, rows: &[u32]) -> Head {
    let times = rows.iter().filter_map(|row| facts.rows.get(*row as usize)?.time);
    Head { start: times.clone().min(), updated: times.max(), ..Head::default() }
}

/// The session's own words: the title that the agent itself would take, and the last prompt.
fn titles(session: &Session) -> (Option<String>, Option<String>) {
    let first = session.first.clone().or_else(|| session.command.clone());
    (first, session.last.clone())
}

fn head(outline: &mut Outline, facts: &Facts, file: &str, is_agent: bool) {
    let session = &facts.session;
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    let id = if is_agent { stem.strip_prefix("agent-").unwrap_or(stem) } else { stem };
    let own = session.id.as_deref().filter(|id| is_agent && !id.is_empty());
    let all: Vec<u32> = (0..u32::try_from(facts.rows.len()).unwrap_or(u32::MAX)).collect();
    outline.head = Head {
        session_id: Some(SessionId::new(id)).filter(|_| !id.is_empty()),
        subagent: is_agent,
        parent: own.map(SessionId::new),
        name: session.agent_name.clone().or_else(|| session.custom_title.clone()),
        summary: session.ai_title.clone(),
        cwd: session.relocated.as_deref().or(session.cwd.as_deref()).map(RecordedPath::new),
        branch: session.branch.clone(),
        entrypoint: entrypoint(session),
        ..times(facts, &all)
    };
}

/// How a session was started. Before releases recorded it, a terminal was told by copies of files, and a prompt on the command
/// line by the queue that it went through.
fn entrypoint(session: &Session) -> Option<Entrypoint> {
    match session.entrypoint.as_deref() {
        Some("cli") => Some(Entrypoint::Terminal),
        Some("sdk-cli") => Some(Entrypoint::Headless),
        Some(word) if word.starts_with("sdk-") => Some(Entrypoint::Sdk),
        Some(word) if word.contains("vscode") || word.contains("jetbrains") || word == "ide" => {
            Some(Entrypoint::Ide)
        }
        None if session.has_file_history => Some(Entrypoint::Terminal),
        None if session.begins_queued => Some(Entrypoint::Headless),
        Some(_) | None => None,
    }
}

/// Links calls to the agents that they ran. In old files only what both were asked tells which.
fn agent_calls(facts: &Facts, sidechains: &[Vec<u32>]) -> Vec<AgentCall> {
    let mut asked: HashMap<u64, Vec<u32>, RandomState> = HashMap::default();
    for root in sidechains.iter().filter_map(|rows| rows.first()).rev() {
        if let Some((_, hash)) = facts.asked.get(root) {
            asked.entry(*hash).or_default().push(*root);
        }
    }
    let call = |link: &super::state::AgentLink| {
        let inside = || {
            let root = asked.get_mut(&link.prompt?)?.pop()?;
            Some(row_id(facts, root))
        };
        let agent = link.agent.clone().or_else(inside);
        AgentCall { call: link.call.clone(), agent, ended: link.ended }
    };
    facts.agents.iter().map(call).collect()
}

/// The messages of some rows.
struct Builder<'a> {
    facts: &'a Facts,
    chain: &'a Chain,
    /// Per message its rows.
    pieces: Vec<Vec<u32>>,
    kinds: Vec<MessageKind>,
    /// Per message the answer that it is.
    answers: Vec<Option<u32>>,
    /// The message of each answer.
    by_answer: BTreeMap<u32, u32>,
    /// The message that made each call.
    by_call: HashMap<u64, u32, RandomState>,
    /// How calls ended.
    ends: HashMap<u64, CallEnd, RandomState>,
    /// Per row its message.
    by_row: HashMap<u32, u32, RandomState>,
}

fn conversation(facts: &Facts, rows: &[u32], chain: &Chain) -> Outline {
    let mut builder = Builder {
        facts,
        chain,
        pieces: Vec::with_capacity(rows.len()),
        kinds: Vec::with_capacity(rows.len()),
        answers: Vec::with_capacity(rows.len()),
        by_answer: BTreeMap::new(),
        by_call: HashMap::default(),
        ends: HashMap::default(),
        by_row: HashMap::default(),
    };
    builder.take_calls(rows);
    for row in &chain.order {
        builder.take(*row);
    }
    builder.outline()
}

impl Builder<'_> {
    fn row(&self, row: u32) -> Option<&TreeRow> {
        self.facts.rows.get(row as usize)
    }

    /// Learns how calls ended: results may stand before the call they belong to.
    fn take_calls(&mut self, rows: &[u32]) {
        for row in rows {
            let Some(row) = self.facts.rows.get(*row as usize) else { continue };
            for result in results(self.facts, row) {
                self.ends.entry(result.call).or_insert(result.end);
            }
        }
    }

    fn take(&mut self, at: u32) {
        let Some(row) = self.row(at) else { return };
        let (what, answer) = (row.what, row.answer);
        match what {
            RowKind::Message(kind) => self.add(at, kind, None),
            RowKind::Notice(_) => self.add(at, MessageKind::Notice, None),
            RowKind::Answer => self.add_block(at, answer),
            RowKind::Results => self.add_results(at),
            RowKind::ResultsAndPrompt => {
                self.add_results(at);
                self.by_row.remove(&at);
                self.add(at, MessageKind::Prompt, None);
            }
            RowKind::Boundary | RowKind::Hidden => {}
        }
    }

    fn add(&mut self, row: u32, kind: MessageKind, answer: Option<u32>) {
        let number = u32::try_from(self.pieces.len()).unwrap_or(u32::MAX);
        self.by_row.insert(row, number);
        self.pieces.push(vec![row]);
        self.kinds.push(kind);
        self.answers.push(answer);
    }

    fn add_block(&mut self, row: u32, answer: Option<u32>) {
        let known = answer.and_then(|answer| self.by_answer.get(&answer)).copied();
        if let Some(message) = known {
            self.by_row.insert(row, message);
            if let Some(pieces) = self.pieces.get_mut(message as usize) {
                pieces.push(row);
            }
            return;
        }
        let message = u32::try_from(self.pieces.len()).unwrap_or(u32::MAX);
        self.add(row, MessageKind::Answer, answer);
        let Some(number) = answer else { return };
        self.by_answer.insert(number, message);
        let calls = self.facts.answers.get(number as usize).map(|answer| &answer.calls);
        for call in calls.into_iter().flatten() {
            self.by_call.insert(call.id, message);
        }
    }

    /// Results belong to the answer that made the calls.
    fn add_results(&mut self, at: u32) {
        let Some(row) = self.facts.rows.get(at as usize) else { return };
        let mut owners: Vec<u32> = results(self.facts, row)
            .iter()
            .filter_map(|result| self.by_call.get(&result.call).copied())
            .collect();
        owners.dedup();
        let Some(first) = owners.first() else {
            self.add(at, MessageKind::ToolResult, None);
            return;
        };
        self.by_row.insert(at, *first);
        for owner in owners {
            if let Some(pieces) = self.pieces.get_mut(owner as usize) {
                pieces.push(at);
            }
        }
    }

    fn outline(mut self) -> Outline {
        let mut outline = Outline::empty(Grammar::Jsonl);
        (outline.models, outline.tools) = (self.facts.models.clone(), self.facts.tools.clone());
        let pieces = std::mem::take(&mut self.pieces);
        for (number, mut rows) in pieces.into_iter().enumerate() {
            self.sort_blocks(&mut rows);
            let entry = self.entry(&mut outline, number, &rows);
            outline.entries.push(entry);
        }
        outline.strict = self.strict(&outline);
        let is_said =
            |entry: &MessageEntry| matches!(entry.kind, MessageKind::Prompt | MessageKind::Answer);
        outline.has_conversation = outline.entries.iter().any(is_said);
        outline.resumable = outline.has_conversation;
        outline.loadable = !self.facts.rows.is_empty();
        outline
    }

    /// Blocks stand in the order of the answer, results behind them.
    fn sort_blocks(&self, rows: &mut [u32]) {
        if rows.len() > 2 {
            rows.sort_by_key(|row| match self.row(*row) {
                Some(row) if row.what == RowKind::Answer => (0, row.block),
                _ => (1, 0),
            });
        }
    }

    fn entry(&self, outline: &mut Outline, number: usize, rows: &[u32]) -> MessageEntry {
        let first = u32::try_from(outline.versions.len()).unwrap_or(u32::MAX);
        let spans = rows.iter().filter_map(|row| Some(self.row(*row)?.span));
        outline.versions.extend(spans.map(|span| Version { span, before: None, rank: span.bytes }));
        let end = u32::try_from(outline.versions.len()).unwrap_or(u32::MAX);
        let start = u32::try_from(outline.pieces.len()).unwrap_or(u32::MAX);
        outline.pieces.extend(first.saturating_add(1)..end);
        let count = end.saturating_sub(first).saturating_sub(1);
        let answer = self.answers.get(number).copied().flatten();
        let answer = answer.and_then(|answer| self.facts.answers.get(answer as usize));
        let head = rows.first().copied().unwrap_or_default();
        let (tools, calls) = self.tools(answer);
        MessageEntry {
            id: Some(answer.map_or_else(|| row_id(self.facts, head), |answer| answer.id.clone())),
            kind: self.kinds.get(number).copied().unwrap_or(MessageKind::Notice),
            fate: self.fate(rows),
            time: rows.iter().find_map(|row| self.row(*row)?.time),
            best: first,
            last: first,
            pieces: PieceRange { start, count },
            tokens: answer.and_then(|answer| answer.usage).map(super::row::Usage::tokens),
            model: answer.and_then(|answer| answer.model),
            calls,
            // Whether the figures may be those of the first piece of the reply.
            rounds: answer.map_or(0, |answer| u32::from(!answer.is_final)),
            tools,
        }
    }

    fn tools(&self, answer: Option<&Answer>) -> (Box<[ToolUse]>, [u32; 3]) {
        let mut counts = [0_u32; 3];
        let calls = answer.map(|answer| answer.calls.as_slice()).unwrap_or_default();
        let used = calls.iter().map(|call| {
            let end = self.ends.get(&call.id).copied().unwrap_or_default();
            let [all, failed, cancelled] = &mut counts;
            *all += 1;
            *failed += u32::from(end == CallEnd::Failed);
            *cancelled += u32::from(end == CallEnd::Cancelled);
            ToolUse { tool: call.tool, end }
        });
        (used.collect(), counts)
    }

    /// A message has the best fate of its rows.
    fn fate(&self, rows: &[u32]) -> Fate {
        let rank = |fate: &Fate| match fate {
            Fate::Kept => 0,
            Fate::Compressed => 1,
            Fate::Rewound | Fate::Cancelled | Fate::Replaced => 2,
        };
        rows.iter().map(|row| self.chain.fate(*row)).min_by_key(rank).unwrap_or_default()
    }

    fn strict(&self, outline: &Outline) -> Vec<VisibleMessage> {
        let mut is_shown = vec![false; outline.entries.len()];
        let mut strict = Vec::new();
        for row in &self.chain.shown {
            let Some(number) = self.by_row.get(row).copied() else { continue };
            let Some(entry) = outline.entries.get(number as usize) else { continue };
            let Some(is_shown) = is_shown.get_mut(number as usize) else { continue };
            if !std::mem::replace(is_shown, true) {
                strict.push(VisibleMessage { entry: number, version: entry.best });
            }
        }
        strict
    }
}

fn results<'a>(facts: &'a Facts, row: &TreeRow) -> &'a [super::state::CallResult] {
    let (start, end) = row.results;
    facts.results.get(start as usize..end as usize).unwrap_or_default()
}

/// Returns an object with a value in the place of that of a key, or behind all others; every other byte stays.
pub(crate) fn named(line: &[u8], wanted: &str, value: &[u8]) -> Vec<u8> {
    let mut place = None;
    let read = Scanner::new(line).object(|scanner, key| {
        scanner.peek()?;
        let start = scanner.offset();
        scanner.skip()?;
        if key.is(wanted) {
            place = Some((start, scanner.offset()));
        }
        Ok(())
    });
    let part = |from: usize, to: usize| line.get(from..to).unwrap_or_default();
    match (read, place) {
        (Ok(()), Some((start, end))) => [part(0, start), value, part(end, line.len())].concat(),
        (Ok(()), None) if line.len() > 2 => {
            let start = line.strip_suffix(b"}").unwrap_or(line);
            [start, b",\"", wanted.as_bytes(), b"\":", value, b"}"].concat()
        }
        _ => line.to_vec(),
    }
}
