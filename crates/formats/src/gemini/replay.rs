//! Applies records to an outline: the strict view exactly like the agent's loader, and everything that was ever recorded.
//!
//! The rules are those of `loadConversationRecord` in 0.47–0.61; FORMAT.md describes them.

use super::state::{Form, GeminiState, RetentionFacts};
use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use jiff::Timestamp;
use recount_model::{Fate, Grammar, MessageKind, Problem, Span, What};
use serde::{Deserialize, Serialize};

use super::calls::{Calls, runs_agent};
use super::facts::{Facts, Resumable, Role, lead};
use super::kind::kind;
use super::list_title::{Listing, RecordPosition, Title};
use super::metadata::Metadata;
use super::record::{Element, Fields};
use super::tool::calls;
use crate::json::{Scanner, Text};
use crate::outline::{
    AgentCall, Emptied, MessageEntry, Outline, PieceRange, Problems, ToolUse, Version,
    VisibleMessage,
};
use crate::source::Detail;

/// A typical number of messages of a session; memory for them is allocated at once.
const TYPICAL: usize = 64;

/// The position of an entry that is not in the strict view.
const NOWHERE: u32 = u32::MAX;

/// The state of a conversation while its records are read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Replay {
    #[serde(skip)]
    file: Arc<str>,
    entries: Vec<MessageEntry>,
    versions: Vec<Version>,
    /// Entries by id, each with a part of the id's hash: the table grows without a look at ids.
    #[serde(skip)]
    index: HashTable<(u32, u32)>,
    #[serde(skip)]
    hasher: RandomState,
    strict: Vec<VisibleMessage>,
    /// The position of each entry in `strict`.
    position: Vec<u32>,
    models: Vec<Box<str>>,
    tools: Vec<Box<str>>,
    agent_calls: Vec<AgentCall>,
    /// The positions of names and calls in their lists, once there are many.
    #[serde(skip)]
    places: Places,
    /// By entry, the hash of its content, if it is the first of its id in a document's list: one id may have two texts, and
    /// the agent shows both.
    #[serde(skip)]
    listed: Vec<Option<u64>>,
    /// By the hash of an id, its other entries in that list, with the hash of their content.
    #[serde(skip)]
    listed_again: HashMap<u64, Vec<(u64, u32)>, RandomState>,
    pub(crate) metadata: Metadata,
    listing: Listing,
    title: Title,
    /// A rewind was the last thing that happened to the list.
    after_rewind: bool,
    /// The session was resumed since the last message.
    after_resume: bool,
    problems: Problems,
}

/// What one message means for the view, besides its content.
#[derive(Clone, Copy)]
struct Judged {
    entry: u32,
    version: u32,
    resumable: Resumable,
}

/// An id with its hash, and its first entry.
#[derive(Clone, Copy)]
struct KnownId<'a> {
    id: Option<(&'a str, u64)>,
    entry: Option<u32>,
}

/// The entry that a version of a message belongs to.
#[derive(Clone, Copy)]
enum Target {
    /// The entry of its id, or a new one.
    SameId,
    /// This entry.
    Entry(u32),
    /// A new entry, whatever its id.
    New,
}

/// Whether the agent's loader reads a record too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It does.
    ByAgent,
    /// Only recount does: the line has a byte order mark.
    ByUsOnly,
}

impl Replay {
    pub(crate) fn new(file: Arc<str>) -> Self {
        let Emptied { mut entries, mut versions, mut strict } = Emptied::take();
        entries.reserve(TYPICAL);
        versions.reserve(TYPICAL);
        strict.reserve(TYPICAL);
        Self {
            file,
            entries,
            versions,
            index: HashTable::with_capacity(TYPICAL),
            hasher: RandomState::default(),
            strict,
            position: Vec::with_capacity(TYPICAL),
            models: Vec::new(),
            tools: Vec::new(),
            agent_calls: Vec::new(),
            places: Places::default(),
            listed: Vec::new(),
            listed_again: HashMap::default(),
            metadata: Metadata::default(),
            listing: Listing::new(),
            title: Title::default(),
            after_rewind: false,
            after_resume: false,
            problems: Problems::default(),
        }
    }

    /// Notes a problem of the file.
    pub(crate) fn problem(&mut self, what: What, span: Option<Span>, done: &'static str) {
        self.problems.note(Problem { file: Arc::clone(&self.file), span, what, done: done.into() });
    }

    /// Applies a message line: a new id goes to the end, a known one is replaced in its old position.
    pub(crate) fn message(&mut self, facts: &Facts<'_>, span: Span, seen: Seen) {
        let judged = self.upsert(facts, span);
        if seen == Seen::ByUsOnly {
            return;
        }
        if judged.resumable == Resumable::Throws {
            self.problem(What::RefusedRecord, Some(span), "kept in the full view only");
            return;
        }
        self.show(judged);
        self.listing.take(facts, judged.entry, judged.resumable, RecordPosition::Alone);
        self.after_rewind = false;
        self.after_resume = false;
    }

    /// Applies `$rewindTo`: that message and all later ones are removed. An unknown id empties the list.
    pub(crate) fn rewind(&mut self, id: Text<'_>, span: Span) {
        let id = id.decode();
        let entry = self.find((&id, self.hasher.hash_one(&*id)));
        let from = entry.and_then(|entry| self.position_of(entry));
        if from.is_none() {
            self.problem(
                What::UnknownRewind,
                Some(span),
                "all messages before it count as rewound",
            );
        }
        for shown in self.strict.split_off(from.unwrap_or(0)) {
            self.remove(shown.entry, Fate::Rewound);
        }
        self.listing.rewind(entry);
        self.after_rewind = true;
    }

    /// Applies `$set`: metadata, and with `messages` a checkpoint that replaces the whole list.
    pub(crate) fn set(&mut self, fields: Fields<'_>, base: Span, seen: Seen) {
        self.after_resume |= fields.session_id.is_some();
        if let Some(elements) = &fields.messages
            && !self.checkpoint(elements, base, seen)
        {
            // The loader threw in mid-list: what came before is kept, the metadata is not used.
            return;
        }
        self.metadata.merge(fields, seen);
    }

    /// Applies a metadata line; in one-line files of the JSON era with the messages.
    pub(crate) fn head(&mut self, fields: Fields<'_>, base: Span, seen: Seen) {
        self.after_resume |= !self.entries.is_empty();
        let elements = fields.messages.as_deref().unwrap_or_default();
        if fields.messages.is_some() && seen == Seen::ByAgent {
            self.listing.begin_list();
        }
        let span_of = |element: &Element<'_>| within(base, element);
        for element in elements.iter().filter(|element| element.facts.id.is_some()) {
            let judged = self.upsert(&element.facts, span_of(element));
            if judged.resumable == Resumable::Throws {
                break;
            }
            if seen == Seen::ByAgent {
                self.show(judged);
                let facts = &element.facts;
                self.listing.take(facts, judged.entry, judged.resumable, RecordPosition::InList);
            }
        }
        self.metadata.merge(fields, seen);
    }

    /// Applies one element of a document's `messages`: shown as it is, even twice, even without an id.
    pub(crate) fn element(&mut self, facts: &Facts<'_>, span: Span) -> Resumable {
        let id = facts.id.map(Text::decode);
        let known = self.known(id.as_deref());
        let content = self.hasher.hash_one(facts.content.raw());
        let target = self.target_in_list(&known, content);
        let judged = self.upsert_as(facts, span, &known, target);
        match (known.id, target) {
            (Some(_), Target::SameId) => {
                let entry = judged.entry as usize;
                if self.listed.len() <= entry {
                    self.listed.resize(entry + 1, None);
                }
                if let Some(listed) = self.listed.get_mut(entry) {
                    *listed = Some(content);
                }
            }
            (Some((_, hash)), Target::New) => {
                self.listed_again.entry(hash).or_default().push((content, judged.entry));
            }
            _ => {}
        }
        self.strict.push(VisibleMessage { entry: judged.entry, version: judged.version });
        self.keep(judged.entry);
        self.listing.take(facts, judged.entry, judged.resumable, RecordPosition::Alone);
        judged.resumable
    }

    /// Finds the entry that an element of a document's list belongs to.
    fn target_in_list(&self, known: &KnownId<'_>, content: u64) -> Target {
        let listed = |entry: u32| Some((entry, self.listed.get(entry as usize).copied()??));
        let Some((first, text)) = known.entry.and_then(listed) else { return Target::SameId };
        if text == content {
            return Target::Entry(first);
        }
        let others = known.id.and_then(|(_, hash)| self.listed_again.get(&hash));
        let same = others.and_then(|all| all.iter().find(|(text, _)| *text == content));
        same.map_or(Target::New, |(_, entry)| Target::Entry(*entry))
    }

    /// Applies a second `messages` in one document: only the last one counts.
    pub(crate) fn forget_elements(&mut self) {
        for shown in std::mem::take(&mut self.strict) {
            self.remove(shown.entry, Fate::Replaced);
        }
        self.listing = Listing::default();
        self.listed.clear();
        self.listed_again.clear();
    }

    /// Returns `false` if the agent's loader would have thrown on the way.
    fn checkpoint(&mut self, elements: &[Element<'_>], base: Span, seen: Seen) -> bool {
        let mut judged = Vec::with_capacity(elements.len());
        let mut summary = false;
        let mut whole = true;
        for element in elements.iter().filter(|element| element.facts.id.is_some()) {
            let known = self.entries.len();
            let one = self.upsert(&element.facts, within(base, element));
            let is_new = self.entries.len() > known;
            summary |= is_new && self.kind_of(one.entry) == Some(MessageKind::Summary);
            if one.resumable == Resumable::Throws {
                self.problem(
                    What::RefusedRecord,
                    Some(base),
                    "the rest of this checkpoint is ignored",
                );
                whole = false;
                break;
            }
            judged.push((one, &element.facts));
        }
        if seen == Seen::ByUsOnly {
            return whole;
        }
        let old = std::mem::take(&mut self.strict);
        for shown in &old {
            self.set_position(shown.entry, NOWHERE);
        }
        self.listing.clear();
        for (one, facts) in judged {
            self.show(one);
            self.listing.take(facts, one.entry, one.resumable, RecordPosition::InList);
        }
        self.decide_fates(&old, summary);
        whole
    }

    /// Sets the fates of the messages that a checkpoint dropped.
    fn decide_fates(&mut self, old: &[VisibleMessage], summary: bool) {
        let said = [MessageKind::Prompt, MessageKind::Nudge, MessageKind::Shell];
        let last_said = old
            .iter()
            .rposition(|shown| self.kind_of(shown.entry).is_some_and(|kind| said.contains(&kind)));
        let taken_back = last_said
            .filter(|_| !self.after_rewind && !self.after_resume)
            .filter(|&at| old.get(at).is_some_and(|shown| self.position_of(shown.entry).is_none()));
        for (at, shown) in old.iter().enumerate() {
            if self.position_of(shown.entry).is_none() {
                let fate = if summary {
                    Fate::Compressed
                } else if taken_back.is_some_and(|from| at >= from) {
                    Fate::Cancelled
                } else {
                    Fate::Replaced
                };
                self.remove(shown.entry, fate);
            }
        }
    }

    fn upsert(&mut self, facts: &Facts<'_>, span: Span) -> Judged {
        let id = facts.id.map(Text::decode);
        let known = self.known(id.as_deref());
        self.upsert_as(facts, span, &known, Target::SameId)
    }

    /// Finds the first entry of an id.
    fn known<'i>(&self, id: Option<&'i str>) -> KnownId<'i> {
        let id = id.map(|id| (id, self.hasher.hash_one(id)));
        KnownId { id, entry: id.and_then(|id| self.find(id)) }
    }

    /// Adds a version of a message to an entry.
    fn upsert_as(
        &mut self,
        facts: &Facts<'_>,
        span: Span,
        &KnownId { id, entry: first }: &KnownId<'_>,
        target: Target,
    ) -> Judged {
        let lead = lead(facts.role, facts.content);
        let resumable = facts.resumable(lead.as_deref());
        let kind = kind(facts, lead.as_deref());
        self.note_oddities(facts, span);
        let version = u32::try_from(self.versions.len()).unwrap_or(NOWHERE);
        let rank = facts.rank();
        let known = match target {
            Target::SameId => first,
            Target::Entry(entry) => Some(entry),
            Target::New => None,
        };
        let before = known.and_then(|entry| self.entries.get(entry as usize)).map(|e| e.last);
        self.versions.push(Version { span, before, rank });
        let entry = known.unwrap_or_else(|| self.add(id, kind, version, first.is_none()));
        // A request counts once, whatever its recorded answer.
        let is_paid = known.is_none() && first.is_some();
        let tokens = facts.tokens.filter(|_| !is_paid);
        self.title.offer(facts, kind);
        if facts.calls.agents > 0 {
            self.note_agents(facts.calls.raw());
        }
        let model = facts.model.map(|model| self.model(model));
        let best_rank = self
            .entries
            .get(entry as usize)
            .and_then(|entry| self.versions.get(entry.best as usize))
            .map_or(0, |best| best.rank);
        let tools = (rank >= best_rank).then(|| self.tools(&facts.calls));
        if let Some(entry) = self.entries.get_mut(entry as usize) {
            entry.last = version;
            entry.time = entry.time.or(facts.time);
            if let Some(tools) = tools {
                entry.best = version;
                entry.kind = kind;
                entry.tools = tools;
                entry.rounds = facts.calls.rounds;
                entry.calls = [facts.calls.total, facts.calls.failed, facts.calls.cancelled];
                entry.tokens = tokens.or(entry.tokens);
                entry.model = model.or(entry.model);
            } else {
                entry.tokens = entry.tokens.or(tokens);
                entry.model = entry.model.or(model);
            }
        }
        Judged { entry, version, resumable }
    }

    fn note_agents(&mut self, raw: &[u8]) {
        // The text was already scanned, so this cannot fail.
        let calls = calls(&mut Scanner::new(raw), Detail::Gist).unwrap_or_default();
        for call in calls {
            let Some(id) = call.id.filter(|_| call.agent_id.is_some() || runs_agent(&call.name))
            else {
                continue;
            };
            let known = self.places.agent(&self.agent_calls, &id);
            let known = known.and_then(|at| self.agent_calls.get_mut(at));
            let new = AgentCall {
                call: id.into(),
                agent: call.agent_id.map(Into::into),
                ended: call.time.map(Timestamp::as_millisecond),
            };
            match known {
                Some(known) => *known = new,
                None => self.agent_calls.push(new),
            }
        }
    }

    fn note_oddities(&mut self, facts: &Facts<'_>, span: Span) {
        if facts.bad_time {
            self.problem(What::BadTime, Some(span), "the message keeps its place");
        }
        if facts.role == Role::Unknown {
            self.problem(What::UnknownType, Some(span), "shown as a notice");
        }
        if facts.wrong_type {
            self.problem(What::WrongType, Some(span), "that field is left out");
        }
        if facts.unknown_field {
            self.problem(What::UnknownField, Some(span), "kept, see `show --raw`");
        }
    }

    /// Adds an entry; `is_first` if its id is new.
    fn add(
        &mut self,
        id: Option<(&str, u64)>,
        kind: MessageKind,
        version: u32,
        is_first: bool,
    ) -> u32 {
        let entry = u32::try_from(self.entries.len()).unwrap_or(NOWHERE);
        self.entries.push(MessageEntry {
            id: id.map(|(id, _)| id.into()),
            kind,
            // Until the agent's loader shows it.
            fate: Fate::Replaced,
            time: None,
            best: version,
            last: version,
            pieces: PieceRange::default(),
            tokens: None,
            model: None,
            calls: [0; 3],
            rounds: 0,
            tools: Box::default(),
        });
        self.position.push(NOWHERE);
        if let Some((_, hash)) = id.filter(|_| is_first) {
            self.insert(hash, entry);
        }
        entry
    }

    fn insert(&mut self, hash: u64, entry: u32) {
        let part = part(hash);
        self.index.insert_unique(spread(part), (entry, part), |&(_, part)| spread(part));
    }

    /// Restores a saved state.
    pub(crate) fn restore(&mut self, file: Arc<str>) {
        self.file = file;
        self.index = HashTable::with_capacity(self.entries.len());
        for number in 0..self.entries.len() {
            let id = self.entries.get(number).and_then(|entry| entry.id.as_deref());
            let Some(hash) = id.map(|id| self.hasher.hash_one(id)) else { continue };
            if let Ok(entry) = u32::try_from(number) {
                self.insert(hash, entry);
            }
        }
    }

    fn find(&self, (id, hash): (&str, u64)) -> Option<u32> {
        let part = part(hash);
        let same = |&(entry, known): &(u32, u32)| {
            let entry = self.entries.get(entry as usize).filter(|_| known == part);
            entry.is_some_and(|entry| entry.id.as_deref() == Some(id))
        };
        self.index.find(spread(part), same).map(|&(entry, _)| entry)
    }

    fn show(&mut self, judged: Judged) {
        let known = self.position_of(judged.entry).and_then(|at| self.strict.get_mut(at));
        if let Some(shown) = known {
            shown.version = judged.version;
        } else {
            let at = u32::try_from(self.strict.len()).unwrap_or(NOWHERE);
            self.set_position(judged.entry, at);
            self.strict.push(VisibleMessage { entry: judged.entry, version: judged.version });
        }
        self.keep(judged.entry);
    }

    fn keep(&mut self, entry: u32) {
        if let Some(entry) = self.entries.get_mut(entry as usize) {
            entry.fate = Fate::Kept;
        }
    }

    fn remove(&mut self, entry: u32, fate: Fate) {
        self.set_position(entry, NOWHERE);
        if let Some(entry) = self.entries.get_mut(entry as usize) {
            entry.fate = fate;
        }
    }

    fn position_of(&self, entry: u32) -> Option<usize> {
        self.position.get(entry as usize).filter(|&&at| at != NOWHERE).map(|&at| at as usize)
    }

    fn set_position(&mut self, entry: u32, at: u32) {
        if let Some(position) = self.position.get_mut(entry as usize) {
            *position = at;
        }
    }

    fn kind_of(&self, entry: u32) -> Option<MessageKind> {
        self.entries.get(entry as usize).map(|entry| entry.kind)
    }

    fn model(&mut self, name: Text<'_>) -> u16 {
        number(&mut self.models, &mut self.places.models, name)
    }

    fn tools(&mut self, calls: &Calls<'_>) -> Box<[ToolUse]> {
        let mut used = Vec::with_capacity(calls.total as usize);
        let (tools, places) = (&mut self.tools, &mut self.places.tools);
        calls.each(|name, end| used.push(ToolUse { tool: number(tools, places, name), end }));
        used.into()
    }

    /// Returns the outline.
    pub(crate) fn into_outline(self, grammar: Grammar, loadable: bool, form: Form) -> Outline {
        let head = self.metadata.head();
        let retention = RetentionFacts {
            id: head.session_id.clone(),
            loadable,
            first_id: form.first_id,
            is_document: form.is_document,
            has_messages: form.has_messages,
            ..self.metadata.retention(self.listing.retention())
        };
        let (has_conversation, resumable) =
            (self.listing.has_conversation(), self.listing.is_resumable());
        let (first_prompt, last_prompt) = self.title.texts();
        let state = GeminiState { listing: self.listing.into_titles(), retention }.encode();
        Outline {
            grammar,
            head,
            loadable,
            entries: self.entries,
            versions: self.versions,
            pieces: Vec::new(),
            strict: if loadable { self.strict } else { Vec::new() },
            models: self.models,
            tools: self.tools,
            agent_calls: self.agent_calls,
            first_prompt,
            last_prompt,
            has_conversation,
            resumable,
            state,
            problems: self.problems,
            others: Vec::new(),
        }
    }
}

/// Returns the part of an id's hash that is kept.
fn part(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or_default()
}

/// Spreads it over the bits that the table uses.
fn spread(part: u32) -> u64 {
    u64::from(part).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Up to this number of names a linear search is fastest; above it, a table is used.
const FEW_NAMES: usize = 16;

/// The positions of names in a list.
type NamePlaces = HashMap<Box<str>, usize, RandomState>;

/// The positions of names and calls in their lists. Empty until there are many, and rebuilt if it does not match its list.
#[derive(Clone, Debug, Default)]
struct Places {
    models: NamePlaces,
    tools: NamePlaces,
    agents: NamePlaces,
}

impl Places {
    /// Returns the position of the call with an id.
    fn agent(&mut self, calls: &[AgentCall], id: &str) -> Option<usize> {
        find(calls, &mut self.agents, |call| &call.call, |call| *call.call == *id, || id.into())
    }
}

/// Returns a position in a list.
fn find<T>(
    list: &[T],
    places: &mut NamePlaces,
    name: impl Fn(&T) -> &str,
    is_it: impl Fn(&T) -> bool,
    wanted: impl FnOnce() -> Box<str>,
) -> Option<usize> {
    if list.len() <= FEW_NAMES {
        return list.iter().position(is_it);
    }
    for (at, one) in list.iter().enumerate().skip(places.len()) {
        places.insert(name(one).into(), at);
    }
    places.get(&wanted()).copied()
}

/// Returns the number of a name in a list of known ones.
fn number(names: &mut Vec<Box<str>>, places: &mut NamePlaces, name: Text<'_>) -> u16 {
    let known = find(names, places, |known| known, |known| name.is(known), || name.decode().into());
    let at = known.unwrap_or_else(|| {
        names.push(name.decode().into());
        names.len() - 1
    });
    u16::try_from(at).unwrap_or(u16::MAX)
}

/// Returns the span of an element within a record that begins at `base`.
fn within(base: Span, element: &Element<'_>) -> Span {
    Span {
        line: base.line,
        offset: base.offset + element.range.start as u64,
        bytes: element.range.len() as u64,
    }
}
