//! Records folded into an outline. FORMAT.md has the rules in words.
//!
//! The spine are the items that the model saw; events add what only they know: which text was typed, what was undone, what was
//! used, how a command ended. A message is one prompt, or one response of the model with its thoughts, calls and their outputs.

mod copies;
mod drafts;
mod events;
mod items;
mod usage;

use std::collections::BTreeMap;
use std::sync::Arc;

use recount_model::{Fate, MessageKind, Problem, Span, Tokens, What};
use serde::{Deserialize, Serialize};

use crate::id_index::IdIndex;
use crate::json::Text;
use crate::outline::{AgentCall, Problems, ToolUse, Version};

use super::agent_index::AgentIndex;
use super::injected::{self, Parts};
use super::meta::{Meta, uuid_time};
use super::record::{Fields, Record, Tag, string, text};
use super::tokens::Counter;

/// How many messages a session has without being unusual; room for them is taken at once.
const TYPICAL: usize = 64;

/// No human types the next prompt within this time, in milliseconds.
const AT_ONCE: i64 = 500;

/// The start of ids that are only unique in one file.
pub(super) const MADE_UP: &str = "line-";

/// A message while its records are read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Draft {
    pub(super) id: Box<str>,
    pub(super) kind: MessageKind,
    pub(super) fate: Fate,
    pub(super) time: Option<i64>,
    /// Its first piece.
    pub(super) version: u32,
    pub(super) tokens: Option<Tokens>,
    pub(super) model: Option<u16>,
    pub(super) tools: Vec<ToolUse>,
    pub(super) standing: Standing,
    /// A hash of what was said, where no turn has an id: copies of the message are found by it.
    pub(super) words: u64,
}

/// How sure it is what a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Standing {
    /// It is what it says.
    Sure,
    /// A user's message that may have been typed: events decide, in files that have them.
    Perhaps,
    /// The record itself says that it was typed.
    Told,
    /// An answer of which only an event was read; the item follows, if the file has items.
    Shadow,
}

/// A call of a tool that is known: the message, and which of its calls.
type Called = (u32, u32);

/// The state of a thread while its records are read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is one fact of the file so far")]
pub(super) struct Replay {
    #[serde(skip, default = "no_file")]
    file: Arc<str>,
    pub(super) meta: Meta,
    pub(super) drafts: Vec<Draft>,
    pub(super) versions: Vec<Version>,
    /// Pieces after the first: which message, which version.
    pub(super) links: Vec<(u32, u32)>,
    /// Messages that were not undone, in order.
    pub(super) alive: Vec<u32>,
    /// Where in `alive` the turns of the user begin.
    turns: Vec<u32>,
    pub(super) models: Vec<Box<str>>,
    pub(super) tools: Vec<Box<str>>,
    pub(super) agent_calls: Vec<AgentCall>,
    #[serde(skip)]
    model_index: IdIndex,
    #[serde(skip)]
    tool_index: IdIndex,
    #[serde(skip)]
    agent_index: AgentIndex,
    /// By a hash of their ids.
    calls: BTreeMap<u64, Called>,
    counter: Counter,
    /// What was used by a request whose answer has not been seen.
    pending: Option<(Tokens, Span, Option<i64>)>,
    /// The review that is going on.
    review: Option<Review>,
    model: Option<u16>,
    turn: Option<Box<str>>,
    /// When the turn began, if its id tells.
    turn_began: Option<i64>,
    /// How many messages with a synthetic id the turn has.
    in_turn: u32,
    /// Whether records are the thread's own, and not copies of another's.
    own: bool,
    /// How many messages were copied, once the own part has begun.
    copied: u32,
    /// When the last record was copied.
    copied_at: Option<i64>,
    has_turn_ids: bool,
    /// Whether records have no tags, as in the first releases.
    is_bare: bool,
    /// Whether something was said outside of turns with ids.
    pub(super) is_without_turns: bool,
    answer: Option<u32>,
    /// Whether the answer takes no more items.
    is_closed: bool,
    /// The end of the answer's text, if it has nothing but text.
    ending: Vec<u8>,
    /// A user's message for which no event has come yet.
    candidate: Option<u32>,
    /// The last prompt.
    asked: Option<u32>,
    /// The first prompt, if it is pictures without words and nothing was said since.
    picture: Option<u32>,
    /// The time of the record before, while a picture waits for its words.
    before: Option<i64>,
    pub(super) has_prompts: bool,
    pub(super) has_answers: bool,
    pub(super) first_prompt: Option<String>,
    pub(super) last_prompt: Option<String>,
    /// The last prompt as it was typed, if its title has not been made yet: only that of the last one is needed.
    last_words: Option<String>,
    pub(super) first_candidate: Option<String>,
    pub(super) last_candidate: Option<String>,
    pub(super) goal: Option<String>,
    pub(super) updated: Option<i64>,
    pub(super) problems: Problems,
    /// Memory for ids.
    #[serde(skip)]
    scratch: String,
}

/// A review that another thread makes for this one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Review {
    Entered,
    /// With the hash of its prompt.
    Asked(u64),
    /// The prompt was repeated.
    AskedAgain,
}

fn no_file() -> Arc<str> {
    Arc::from("")
}

impl Replay {
    pub(super) fn new(file: Arc<str>) -> Self {
        Self {
            file,
            own: true,
            drafts: Vec::with_capacity(TYPICAL),
            versions: Vec::with_capacity(TYPICAL),
            links: Vec::with_capacity(TYPICAL),
            alive: Vec::with_capacity(TYPICAL),
            ..Self::default()
        }
    }

    /// Makes a saved state usable again.
    pub(super) fn take_up(&mut self, file: Arc<str>) {
        self.file = file;
        self.agent_index = AgentIndex::new(&self.agent_calls);
    }

    /// Estimates how many bytes it takes to keep.
    pub(super) fn likely_state(&self) -> usize {
        1024 + self.drafts.len() * 96 + self.versions.len() * 16 + self.links.len() * 6
    }

    /// Notes a problem of the file.
    pub(super) fn problem(&mut self, what: What, span: Option<Span>, done: &'static str) {
        self.problems.note(Problem { file: Arc::clone(&self.file), span, what, done: done.into() });
    }

    /// Takes one record.
    pub(super) fn take(&mut self, record: &Record<'_>, span: Span) {
        if self.picture.is_some() {
            self.before = self.updated;
        }
        if record.time > self.updated {
            self.updated = record.time;
        }
        if record.bad_time && record.tag != Tag::Unknown {
            self.problem(What::BadTime, Some(span), "the record keeps its place");
        }
        if record.unknown_field {
            self.problem(What::UnknownField, Some(span), "kept, see `show --raw`");
        }
        if let Some(from) = self.meta.own_from
            && let Some(ordinal) = record.ordinal
        {
            self.own = ordinal >= from;
            self.pending = self.pending.take().filter(|_| self.own);
        }
        if self.meta.first_ordinal.is_none() {
            self.meta.first_ordinal = record.ordinal;
        }
        if !self.own {
            self.watch_copies(record);
        }
        // Copied lines have the time of the copy; the id of their turn has that of the original, which is earlier.
        let is_earlier = |began: &i64| record.time.is_none_or(|copied| *began <= copied);
        let copied_from = self.turn_began.filter(|_| !self.own).filter(is_earlier);
        self.meta.has_copies |= copied_from.is_some();
        let (fields, time) = (&record.fields, copied_from.or(record.time));
        match record.tag {
            Tag::Meta => self.session_meta(fields),
            Tag::Header => {
                if self.meta.id.is_none() {
                    self.meta.take_header(fields);
                    self.is_bare = true;
                }
            }
            Tag::Item => self.item(fields, span, time),
            Tag::Event => self.event(fields, span, time),
            Tag::TurnContext => self.turn_context(fields),
            Tag::Compacted => self.compacted(fields, span, time),
            Tag::Usage => {
                let thread = text(fields.thread_id).map(Text::decode);
                let is_own = thread.is_none_or(|id| self.meta.id.as_deref() == Some(&*id));
                if is_own
                    && let Some(tokens) = self.counter.record(
                        fields.usage,
                        fields.thread_token_usage,
                        fields.response_id,
                    )
                {
                    self.book(tokens, span, record.time);
                }
            }
            Tag::Skipped => {}
            Tag::Unknown => {
                self.problem(What::UnknownRecord, Some(span), "kept, see `show --raw`");
            }
        }
    }

    /// The first one is the thread's own; later ones were copied with what follows them.
    fn session_meta(&mut self, fields: &Fields<'_>) {
        if self.meta.id.is_none() {
            return self.meta.take(fields);
        }
        let id = string(fields.id);
        if id.is_some() && id.as_deref() != self.meta.id.as_deref() && self.meta.own_from.is_none()
        {
            self.own = false;
            // The last one is that of the thread in which the conversation began.
            self.meta.root = id.map(Into::into);
        }
    }

    fn turn_context(&mut self, fields: &Fields<'_>) {
        self.enter_turn(fields.turn_id);
        self.answers_with(fields.model);
    }

    /// Notes the model that answers from now on.
    fn answers_with(&mut self, model: Option<&[u8]>) {
        if let Some(model) = text(model).map(Text::decode).filter(|model| !model.is_empty()) {
            self.model = Some(self.model_index.number(&mut self.models, &model));
        }
    }

    /// Begins another turn, whose id shows whether it was copied.
    fn enter_turn(&mut self, id: Option<&[u8]>) {
        let Some(id) = text(id) else { return };
        if self.turn.as_deref().is_some_and(|turn| id.is(turn)) {
            return;
        }
        let id = id.decode();
        self.flush();
        let began = uuid_time(&id);
        self.has_turn_ids |= began.is_some();
        self.turn_began = began;
        if let Some(began) = began.filter(|_| self.meta.root.is_some()) {
            let born = self.meta.id.as_deref().and_then(uuid_time).or(self.meta.start);
            let was_own = std::mem::replace(&mut self.own, born.is_some_and(|born| began >= born));
            if self.own && !was_own {
                self.begin_own_part(self.next_draft());
            }
        }
        self.turn = Some(id.into());
        self.in_turn = 0;
        self.answer = None;
        self.candidate = None;
    }

    /// Ends reading.
    pub(super) fn finish(&mut self) {
        self.flush();
        let last = self.last_words.take().and_then(|words| injected::title(&words));
        self.last_prompt = last.or(self.last_prompt.take());
    }
}

/// Returns a prompt as a title; one of pictures alone says so.
fn said(words: &str, parts: Parts) -> Option<String> {
    injected::title(words).or_else(|| parts.images.then(|| "[Image]".to_owned()))
}
