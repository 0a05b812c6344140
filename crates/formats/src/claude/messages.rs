//! The messages of a conversation out of its rows.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use recount_model::{Fate, Grammar, MessageKind};

use super::build::row_id;
use super::queue::QueuedPrompt;
use super::state::{Answer, Call, CallResult, Facts, RowKind, TreeRow};
use super::tree::{Chain, Forest};
use crate::outline::{
    CallEnd, MessageEntry, Outline, PieceRange, ToolUse, Version, VisibleMessage,
};

/// No message, no row, no call.
const NONE: u32 = u32::MAX;

/// What the conversations of a file share: tables by row, answer and call. A row belongs to one conversation only; answers and
/// calls may be met in several, so what is known of them says of which.
#[derive(Debug)]
pub(super) struct Tables {
    conversations: u32,
    /// Per row its message.
    by_row: Vec<u32>,
    /// Per answer the conversation that met it last, and its message in that.
    by_answer: Vec<(u32, u32)>,
    /// The calls of each answer, one answer after the other.
    calls: Vec<u32>,
    /// Per answer where its calls begin.
    first_call: Vec<u32>,
    /// Per call and per result the number of its id.
    call_ids: Vec<u32>,
    result_ids: Vec<u32>,
    /// Per id of a call the conversation that met it last, and the message that made it.
    by_call: Vec<(u32, u32)>,
    /// Per id of a call the conversation that met its result last, and how it ended.
    ends: Vec<(u32, CallEnd)>,
}

impl Tables {
    pub(super) fn new(facts: &Facts) -> Self {
        let (calls, first_call) = calls_by_answer(facts);
        let mut ids: HashMap<u64, u32, RandomState> =
            HashMap::with_capacity_and_hasher(facts.calls.len(), RandomState::default());
        let mut number = |call: &Call| {
            let next = index(ids.len());
            *ids.entry(call.id).or_insert(next)
        };
        let call_ids = facts.calls.iter().map(&mut number).collect();
        let known = |result: &CallResult| ids.get(&result.call).copied().unwrap_or(NONE);
        Self {
            conversations: 0,
            by_row: vec![NONE; facts.rows.len()],
            by_answer: vec![(NONE, NONE); facts.answers.len()],
            calls,
            first_call,
            call_ids,
            result_ids: facts.results.iter().map(known).collect(),
            by_call: vec![(NONE, NONE); ids.len()],
            ends: vec![(NONE, CallEnd::Fine); ids.len()],
        }
    }

    /// Returns the calls of an answer, in order.
    fn calls_of(&self, answer: u32) -> &[u32] {
        let bound = |at: usize| self.first_call.get(at).copied().unwrap_or_default() as usize;
        let range = bound(answer as usize)..bound(answer as usize + 1);
        self.calls.get(range).unwrap_or_default()
    }
}

/// Sorts calls by their answers: usually they are in that order.
fn calls_by_answer(facts: &Facts) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0_u32; facts.answers.len() + 1];
    for call in &facts.calls {
        if let Some(count) = first.get_mut(call.answer as usize + 1) {
            *count += 1;
        }
    }
    let mut sum = 0;
    for count in &mut first {
        sum += *count;
        *count = sum;
    }
    let mut next = first.clone();
    let mut calls = vec![NONE; facts.calls.len()];
    for (number, call) in facts.calls.iter().enumerate() {
        let Some(next) = next.get_mut(call.answer as usize) else { continue };
        if let Some(slot) = calls.get_mut(*next as usize) {
            *slot = index(number);
        }
        *next += 1;
    }
    (calls, first)
}

/// A message while its rows are gathered.
#[derive(Clone, Copy, Debug)]
struct Draft {
    kind: MessageKind,
    /// The answer that it is.
    answer: Option<u32>,
    /// Its number among prompts that have no row.
    queued: Option<u32>,
    /// Its first and its last piece.
    first: u32,
    last: u32,
}

/// Gathers the messages of one conversation.
pub(super) struct Builder<'a> {
    facts: &'a Facts,
    forest: &'a Forest,
    tables: &'a mut Tables,
    conversation: u32,
    drafts: Vec<Draft>,
    /// Rows of messages, each with the next one of the same message.
    pieces: Vec<(u32, u32)>,
    /// The messages to which the results in a row belong.
    owners: Vec<u32>,
    /// Prompts that have no row, with the fate of what they were typed after.
    queued: Vec<(&'a QueuedPrompt, Fate)>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(facts: &'a Facts, forest: &'a Forest, tables: &'a mut Tables) -> Self {
        let conversation = tables.conversations;
        tables.conversations += 1;
        Self {
            facts,
            forest,
            tables,
            conversation,
            drafts: Vec::new(),
            pieces: Vec::new(),
            owners: Vec::new(),
            queued: Vec::new(),
        }
    }

    /// Makes the outline of some rows.
    pub(super) fn outline(mut self, rows: &[u32], chain: &Chain) -> Outline {
        self.drafts.reserve(rows.len());
        self.pieces.reserve(rows.len());
        self.take_results(rows);
        self.take_all(&chain.order);
        let mut outline = Outline::empty(Grammar::Jsonl);
        (outline.models, outline.tools) = (self.facts.models.clone(), self.facts.tools.clone());
        outline.entries.reserve_exact(self.drafts.len());
        outline.versions.reserve_exact(self.pieces.len());
        outline.pieces.reserve_exact(self.pieces.len().saturating_sub(self.drafts.len()));
        let mut rows = Vec::new();
        for draft in &self.drafts {
            self.rows_of(*draft, &mut rows);
            let entry = self.entry(&mut outline, *draft, &rows);
            outline.entries.push(entry);
        }
        outline.strict = self.strict(&outline, chain);
        let is_said =
            |entry: &MessageEntry| matches!(entry.kind, MessageKind::Prompt | MessageKind::Answer);
        outline.has_conversation = outline.entries.iter().any(is_said);
        outline.resumable = outline.has_conversation;
        outline.loadable = !self.facts.rows.is_empty();
        outline
    }

    fn row(&self, row: u32) -> Option<&'a TreeRow> {
        self.facts.rows.get(row as usize)
    }

    /// Returns the results in a row: the number of the call's id, and how it ended.
    fn results(&self, row: &TreeRow) -> impl Iterator<Item = (u32, CallEnd)> + use<'_, 'a> {
        let range = row.results.0 as usize..row.results.1 as usize;
        let results = self.facts.results.get(range.clone()).unwrap_or_default();
        let ids = self.tables.result_ids.get(range).unwrap_or_default();
        ids.iter().copied().zip(results.iter().map(|result| result.end))
    }

    /// Records how calls ended: results may come before their calls.
    fn take_results(&mut self, rows: &[u32]) {
        for row in rows {
            let Some(row) = self.facts.rows.get(*row as usize) else { continue };
            for at in row.results.0 as usize..row.results.1 as usize {
                let id = self.tables.result_ids.get(at).copied().unwrap_or(NONE);
                let end = self.facts.results.get(at).map(|result| result.end);
                if let (Some(slot), Some(end)) = (self.tables.ends.get_mut(id as usize), end)
                    && slot.0 != self.conversation
                {
                    *slot = (self.conversation, end);
                }
            }
        }
    }

    /// Takes rows, and prompts without one where they were passed on: those are of the file's own conversation.
    fn take_all(&mut self, rows: &[u32]) {
        let facts = self.facts;
        let is_own = self.conversation == 0;
        let mut queued = facts.queue.prompts().filter(|_| is_own).peekable();
        let mut fate = Fate::Kept;
        for row in rows {
            while let Some(prompt) = queued.next_if(|prompt| prompt.after <= *row) {
                self.add_queued(prompt, fate);
            }
            self.take(*row);
            if queued.peek().is_some() {
                fate = self.forest.fate(*row);
            }
        }
        for prompt in queued {
            self.add_queued(prompt, fate);
        }
    }

    fn add_queued(&mut self, prompt: &'a QueuedPrompt, fate: Fate) {
        let queued = Some(index(self.queued.len()));
        self.queued.push((prompt, fate));
        let kind = MessageKind::Prompt;
        self.drafts.push(Draft { kind, answer: None, queued, first: NONE, last: NONE });
    }

    fn take(&mut self, at: u32) {
        let Some(row) = self.row(at) else { return };
        match row.what {
            RowKind::Message(kind) => self.add(at, kind, None),
            RowKind::Notice(_) => self.add(at, MessageKind::Notice, None),
            RowKind::Answer => self.add_block(at, row.answer),
            RowKind::Results => self.add_results(at, row),
            RowKind::ResultsAndPrompt => {
                self.add_results(at, row);
                self.add(at, MessageKind::Prompt, None);
            }
            RowKind::Boundary | RowKind::Hidden => {}
        }
    }

    fn set_message(&mut self, row: u32, message: u32) {
        if let Some(slot) = self.tables.by_row.get_mut(row as usize) {
            *slot = message;
        }
    }

    fn add(&mut self, row: u32, kind: MessageKind, answer: Option<u32>) {
        let (message, piece) = (index(self.drafts.len()), index(self.pieces.len()));
        self.set_message(row, message);
        self.pieces.push((row, NONE));
        self.drafts.push(Draft { kind, answer, queued: None, first: piece, last: piece });
    }

    fn add_piece(&mut self, row: u32, message: u32) {
        let piece = index(self.pieces.len());
        let Some(draft) = self.drafts.get_mut(message as usize) else { return };
        let last = std::mem::replace(&mut draft.last, piece);
        if let Some((_, next)) = self.pieces.get_mut(last as usize) {
            *next = piece;
        }
        self.pieces.push((row, NONE));
    }

    fn add_block(&mut self, row: u32, answer: Option<u32>) {
        let known = answer.and_then(|answer| self.tables.by_answer.get(answer as usize));
        if let Some((_, message)) = known.copied().filter(|known| known.0 == self.conversation) {
            self.set_message(row, message);
            return self.add_piece(row, message);
        }
        let met = (self.conversation, index(self.drafts.len()));
        self.add(row, MessageKind::Answer, answer);
        let Some(number) = answer else { return };
        if let Some(slot) = self.tables.by_answer.get_mut(number as usize) {
            *slot = met;
        }
        let range = {
            let bound = |at: usize| self.tables.first_call.get(at).copied().unwrap_or_default();
            bound(number as usize)..bound(number as usize + 1)
        };
        for at in range {
            let call = self.tables.calls.get(at as usize).copied().unwrap_or(NONE);
            let id = self.tables.call_ids.get(call as usize).copied().unwrap_or(NONE);
            if let Some(slot) = self.tables.by_call.get_mut(id as usize) {
                *slot = met;
            }
        }
    }

    /// Results belong to the answer that made the calls.
    fn add_results(&mut self, at: u32, row: &TreeRow) {
        let mut owners = std::mem::take(&mut self.owners);
        owners.clear();
        let owner = |(id, _): (u32, CallEnd)| {
            let (conversation, message) = self.tables.by_call.get(id as usize)?;
            (*conversation == self.conversation).then_some(*message)
        };
        owners.extend(self.results(row).filter_map(owner));
        owners.dedup();
        if let Some(first) = owners.first() {
            self.set_message(at, *first);
            for owner in &owners {
                self.add_piece(at, *owner);
            }
        } else {
            self.add(at, MessageKind::ToolResult, None);
        }
        self.owners = owners;
    }

    /// Lists the rows of a message: blocks in the order of the answer, then results.
    fn rows_of(&self, draft: Draft, rows: &mut Vec<u32>) {
        rows.clear();
        let mut next = draft.first;
        while let Some((row, after)) = self.pieces.get(next as usize) {
            rows.push(*row);
            next = *after;
        }
        if rows.len() > 2 {
            rows.sort_by_key(|row| match self.row(*row) {
                Some(row) if row.what == RowKind::Answer => (0, row.block),
                _ => (1, 0),
            });
        }
    }

    fn queued_entry(&self, outline: &mut Outline, number: u32) -> Option<MessageEntry> {
        let (prompt, fate) = self.queued.get(number as usize)?;
        let (version, start) = (index(outline.versions.len()), index(outline.pieces.len()));
        let span = prompt.span;
        outline.versions.push(Version { span, before: None, rank: span.bytes });
        Some(MessageEntry {
            id: Some(prompt.id()),
            kind: MessageKind::Prompt,
            fate: *fate,
            time: prompt.time,
            best: version,
            last: version,
            pieces: PieceRange { start, count: 0 },
            tokens: None,
            model: None,
            calls: [0; 3],
            rounds: 0,
            tools: Box::default(),
        })
    }

    fn entry(&self, outline: &mut Outline, draft: Draft, rows: &[u32]) -> MessageEntry {
        if let Some(entry) = draft.queued.and_then(|queued| self.queued_entry(outline, queued)) {
            return entry;
        }
        let first = index(outline.versions.len());
        let spans = rows.iter().filter_map(|row| Some(self.row(*row)?.span));
        outline.versions.extend(spans.map(|span| Version { span, before: None, rank: span.bytes }));
        let end = index(outline.versions.len());
        let start = index(outline.pieces.len());
        outline.pieces.extend(first.saturating_add(1)..end);
        let count = end.saturating_sub(first).saturating_sub(1);
        let answer = draft.answer.and_then(|answer| self.facts.answers.get(answer as usize));
        let request = draft.answer.and_then(|answer| self.facts.requests.get(&answer));
        let head = rows.first().copied().unwrap_or_default();
        let (tools, calls) = self.tools(draft.answer);
        MessageEntry {
            id: Some(match (answer, request) {
                (Some(answer), Some(request)) => format!("{}:{request}", answer.id).into(),
                (Some(answer), None) => answer.id.clone(),
                (None, _) => row_id(self.facts, head),
            }),
            kind: draft.kind,
            fate: self.fate(rows),
            time: rows.iter().find_map(|row| self.row(*row)?.time),
            best: first,
            last: first,
            pieces: PieceRange { start, count },
            tokens: answer.and_then(|answer| answer.usage).map(super::row::Usage::tokens),
            model: answer.and_then(|answer| answer.model),
            calls,
            // Whether the figures may be those of the first piece of the reply.
            rounds: answer.map_or(0, |answer: &Answer| u32::from(!answer.is_final)),
            tools,
        }
    }

    fn tools(&self, answer: Option<u32>) -> (Box<[ToolUse]>, [u32; 3]) {
        let mut counts = [0_u32; 3];
        let calls = answer.map(|answer| self.tables.calls_of(answer)).unwrap_or_default();
        let used = calls.iter().map(|call| {
            let id = self.tables.call_ids.get(*call as usize).copied().unwrap_or(NONE);
            let end = self.tables.ends.get(id as usize).copied();
            let end =
                end.filter(|end| end.0 == self.conversation).map_or(CallEnd::Fine, |end| end.1);
            let [all, failed, cancelled] = &mut counts;
            *all += 1;
            *failed += u32::from(end == CallEnd::Failed);
            *cancelled += u32::from(end == CallEnd::Cancelled);
            let tool = self.facts.calls.get(*call as usize).map_or(u16::MAX, |call| call.tool);
            ToolUse { tool, end }
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
        rows.iter().map(|row| self.forest.fate(*row)).min_by_key(rank).unwrap_or_default()
    }

    fn strict(&self, outline: &Outline, chain: &Chain) -> Vec<VisibleMessage> {
        let mut is_shown = vec![false; outline.entries.len()];
        let mut strict = Vec::with_capacity(outline.entries.len());
        for row in &chain.shown {
            let Some(number) = self.tables.by_row.get(*row as usize).copied() else { continue };
            let Some(entry) = outline.entries.get(number as usize) else { continue };
            let Some(is_shown) = is_shown.get_mut(number as usize) else { continue };
            if !std::mem::replace(is_shown, true) {
                strict.push(VisibleMessage { entry: number, version: entry.best });
            }
        }
        strict
    }
}

fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
