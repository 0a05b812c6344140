//! Records folded into an outline. FORMAT.md has the rules in words.
//!
//! The spine are the items that the model saw; events add what only they know: which text was typed, what was undone, what was
//! used, how a command ended. A message is one prompt, or one response of the model with its thoughts, calls and their outputs.

mod drafts;

use std::collections::BTreeMap;
use std::sync::Arc;

use recount_model::{Fate, MessageKind, Problem, Span, Tokens, What};
use serde::{Deserialize, Serialize};

use crate::id_index::IdIndex;
use crate::json::Text;
use crate::outline::{AgentCall, CallEnd, Problems, ToolUse, Version};
use crate::source::{id_hash, stable_hash};

use super::agent_index::AgentIndex;
use super::excerpt::{agent_in, end_of, folder_in};
use super::injected::{self, Parts};
use super::meta::{Meta, uuid_time};
use super::outputs::{Ending, ending};
use super::record::{
    Fields, Record, Tag, is_event, is_item, is_thread_item, number, string, text, word,
};
use super::tokens::Counter;

/// How many messages a session has without being unusual; room for them is taken at once.
const TYPICAL: usize = 64;

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
    has_turn_ids: bool,
    answer: Option<u32>,
    /// Whether the answer takes no more items.
    is_closed: bool,
    /// The end of the answer's text, if it has nothing but text.
    ending: Vec<u8>,
    /// A user's message for which no event has come yet.
    candidate: Option<u32>,
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
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Review {
    /// The hash of the last prompt in it.
    asked: Option<u64>,
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
        if !self.own && self.meta.own_from.is_none() {
            let born = self.meta.id.as_deref().and_then(uuid_time).or(self.meta.start);
            self.own = began.zip(born).is_some_and(|(turn, born)| turn >= born);
        }
        self.turn = Some(id.into());
        self.in_turn = 0;
        self.answer = None;
        self.candidate = None;
    }

    // --- Items ---

    fn item(&mut self, fields: &Fields<'_>, span: Span, time: Option<i64>) {
        let kind = fields.kind();
        match kind {
            b"message" => self.message(fields, span, time),
            b"reasoning" => {
                self.piece(fields.id, span, time);
                // The event of its text, which comes next, has an item too.
                self.has_answers = true;
            }
            b"function_call"
            | b"custom_tool_call"
            | b"local_shell_call"
            | b"web_search_call"
            | b"tool_search_call"
            | b"image_generation_call" => self.call(fields, span, time),
            b"function_call_output"
            | b"custom_tool_call_output"
            | b"local_shell_call_output"
            | b"tool_search_output" => self.output(fields, span, time),
            b"agent_message" => {
                self.context(span, time, Standing::Sure);
            }
            _ if is_item(kind) => {}
            _ => {
                self.problem(What::UnknownType, Some(span), "kept, see `show --raw`");
                self.notice(span, time);
            }
        }
    }

    fn message(&mut self, fields: &Fields<'_>, span: Span, time: Option<i64>) {
        match fields.role.and_then(word).unwrap_or_default() {
            b"assistant" => {
                let draft = self.piece(fields.id, span, time);
                let is_alone = self.draft(draft).is_some_and(|draft| draft.tools.is_empty());
                self.ending.clear();
                if is_alone {
                    end_of(fields.content, &mut self.ending);
                }
                self.has_answers = true;
            }
            b"user" => self.user_message(fields, span, time),
            _ => {
                self.context(span, time, Standing::Sure);
            }
        }
    }

    fn user_message(&mut self, fields: &Fields<'_>, span: Span, time: Option<i64>) {
        let passthrough = fields.internal_chat_message_metadata_passthrough;
        let parts = injected::parts(fields.content, passthrough);
        if self.meta.cwd.is_none() {
            self.meta.cwd = fields.content.and_then(folder_in);
        }
        if !parts.typed {
            self.context(span, time, Standing::Sure);
            return;
        }
        // The event came first.
        if let Some(prompt) = self.waiting_prompt() {
            return self.link(prompt, span);
        }
        let standing = if parts.told { Standing::Told } else { Standing::Perhaps };
        self.candidate = Some(self.context(span, time, standing));
        self.close();
        if self.has_prompts {
            // Events decide what was typed.
            return;
        }
        let words = injected::words(fields.content, passthrough);
        let words = said(&words, parts);
        self.first_candidate = self.first_candidate.take().or_else(|| words.clone());
        self.last_candidate = words.or(self.last_candidate.take());
    }

    /// Returns a prompt of which only an event was read, if nothing followed.
    fn waiting_prompt(&self) -> Option<u32> {
        let last = u32::try_from(self.drafts.len().checked_sub(1)?).ok()?;
        let draft = self.draft(last)?;
        let is_new = self.links.last().is_none_or(|(linked, _)| *linked != last);
        (draft.kind == MessageKind::Prompt && is_new && self.candidate.is_none()).then_some(last)
    }

    /// Adds a record to the answer that is being given, or begins one.
    fn piece(&mut self, id: Option<&[u8]>, span: Span, time: Option<i64>) -> u32 {
        if let Some(answer) = self.answer.filter(|_| !self.is_closed) {
            self.link(answer, span);
            return answer;
        }
        let id = string(id).filter(|id| !id.is_empty());
        self.forget_shadow();
        let draft = self.add(MessageKind::Answer, id, span, time);
        self.begin_answer(draft);
        self.candidate = None;
        draft
    }

    /// The item of an answer follows its event: its tokens belong to the item.
    fn forget_shadow(&mut self) {
        let shadow = self.answer.and_then(|answer| self.draft_mut(answer));
        let shadow = shadow.filter(|answer| answer.standing == Standing::Shadow);
        if let Some((tokens, version)) =
            shadow.and_then(|shadow| Some((shadow.tokens.take()?, shadow.version)))
        {
            let span = self
                .versions
                .get(version as usize)
                .map_or(Span { line: 0, offset: 0, bytes: 0 }, |version| version.span);
            self.pending = Some((tokens, span, None));
        }
    }

    fn begin_answer(&mut self, draft: u32) {
        (self.answer, self.is_closed) = (Some(draft), false);
        self.ending.clear();
        let model = self.model;
        let own = self.own;
        // Releases to 0.9x count before they record.
        let tokens = self.pending.take().map(|(tokens, ..)| tokens).filter(|_| own);
        if let Some(draft) = self.draft_mut(draft) {
            (draft.model, draft.tokens) = (model, tokens);
        }
    }

    fn call(&mut self, fields: &Fields<'_>, span: Span, time: Option<i64>) {
        let id = fields.call_id.or(fields.id);
        let draft = self.piece(fields.id.filter(|id| word(id).is_some()).or(id), span, time);
        self.has_answers = true;
        self.ending.clear();
        let name = text(fields.name).map_or_else(
            || String::from_utf8_lossy(fields.kind()).trim_end_matches("_call").to_owned().into(),
            Text::decode,
        );
        let end = match fields.status.and_then(word) {
            Some(b"failed") => CallEnd::Failed,
            _ => CallEnd::Fine,
        };
        self.add_call(draft, &name, id, end);
    }

    fn add_call(&mut self, draft: u32, name: &str, id: Option<&[u8]>, end: CallEnd) {
        let tool = self.tool_index.number(&mut self.tools, name);
        let Some(known) = self.draft_mut(draft) else { return };
        let number = u32::try_from(known.tools.len()).unwrap_or(u32::MAX);
        known.tools.push(ToolUse { tool, end });
        if let Some(id) = id {
            self.calls.insert(id_hash(id), (draft, number));
        }
        if name == "spawn_agent"
            && let Some(id) = string(id)
        {
            self.agent_index.add_call(&id, self.agent_calls.len());
            self.agent_calls.push(AgentCall { call: id.into(), agent: None, ended: None });
        }
    }

    fn output(&mut self, fields: &Fields<'_>, span: Span, time: Option<i64>) {
        self.close();
        let called = fields.call_id.and_then(|id| self.calls.get(&id_hash(id)).copied());
        let Some((draft, number)) = called else {
            // Its call was dropped by a compaction, or by another program.
            self.add(MessageKind::ToolResult, None, span, time);
            return;
        };
        self.link(draft, span);
        self.end_call(draft, number, ending(fields.output));
        let is_agents = self
            .agent_calls
            .last()
            .is_some_and(|call| text(fields.call_id).is_some_and(|id| id.is(&call.call)));
        if is_agents && let Some(call) = self.agent_calls.last_mut() {
            call.ended = time;
            call.agent = call.agent.take().or_else(|| agent_in(fields.output));
            self.agent_index.add_agent(call.agent.as_deref());
        }
    }

    fn end_call(&mut self, draft: u32, number: u32, ending: Ending) {
        let call = self.draft_mut(draft).and_then(|draft| draft.tools.get_mut(number as usize));
        if let Some(call) = call {
            call.end = match ending {
                Ending::Unknown => call.end,
                Ending::Fine => CallEnd::Fine,
                Ending::Failed => CallEnd::Failed,
                Ending::Cancelled => CallEnd::Cancelled,
            };
        }
    }

    // --- Events ---

    fn event(&mut self, fields: &Fields<'_>, span: Span, time: Option<i64>) {
        match fields.kind() {
            b"user_message" => {
                let has_images = [fields.images, fields.local_images]
                    .into_iter()
                    .flatten()
                    .any(|list| list.len() > 2 && list != b"null");
                let words = text(fields.message).map(|text| text.decode_start(injected::TITLE));
                let words = words.unwrap_or_default();
                // The first releases with events also wrote them for injected text.
                if injected::is_surroundings(&words) || self.is_asked_again(&words) {
                    return;
                }
                self.prompt(&words, has_images, span, time);
            }
            b"item_completed" => self.thread_item(fields, span, time),
            b"token_count" => {
                if let Some(tokens) = self.counter.event(fields.info, self.review.is_some()) {
                    self.book(tokens, span, time);
                }
            }
            b"task_started" | b"turn_started" => {
                self.enter_turn(fields.turn_id);
                self.close();
            }
            b"task_complete" | b"turn_complete" => {
                self.flush();
                self.close();
                if fields.error.is_some_and(|error| error != b"null") {
                    self.notice(span, time);
                }
                self.answer = None;
            }
            b"turn_aborted" => {
                self.flush();
                self.close();
                self.notice(span, time);
                self.answer = None;
            }
            b"thread_rolled_back" => self.roll_back(number(fields.num_turns).unwrap_or(0)),
            b"agent_message" => self.shadow(span, time),
            b"thread_settings_applied" => self.settings(fields),
            b"thread_name_updated" if self.own => {
                let name = string(fields.thread_name).filter(|name| !name.trim().is_empty());
                self.meta.name = name.map(Into::into);
            }
            b"thread_goal_updated" => self.goal_updated(fields),
            b"entered_review_mode" => {
                self.review = Some(Review::default());
                self.notice(span, time);
            }
            b"exited_review_mode" => {
                self.review = None;
                self.notice(span, time);
            }
            b"error" | b"stream_error" | b"warning" => {
                self.notice(span, time);
            }
            b"sub_agent_activity" => self.agent_activity(fields),
            b"patch_apply_end"
            | b"exec_command_end"
            | b"mcp_tool_call_end"
            | b"dynamic_tool_call_response" => self.detail(fields, fields.call_id, span, time),
            kind if is_event(kind) => {}
            _ => self.problem(What::UnknownType, Some(span), "kept, see `show --raw`"),
        }
    }

    fn thread_item(&mut self, outer: &Fields<'_>, span: Span, time: Option<i64>) {
        let Some(Ok(item)) = outer.item.map(Fields::read) else {
            return self.problem(What::WrongType, Some(span), "that field is left out");
        };
        match item.kind() {
            b"UserMessage" => {
                let words = injected::words(item.content, None);
                let images = item
                    .content
                    .is_some_and(|content| memchr::memmem::find(content, b"image").is_some());
                self.prompt(&words, images, span, time);
            }
            b"AgentMessage" => self.shadow(span, time),
            b"CommandExecution" | b"FileChange" | b"McpToolCall" | b"DynamicToolCall" => {
                self.detail(&item, item.id, span, time);
            }
            b"SubAgentActivity" => self.agent_activity(&item),
            b"CollabAgentToolCall" => self.collaboration(&item, outer.item),
            b"EnteredReviewMode" | b"ExitedReviewMode" => {
                self.notice(span, time);
            }
            kind if is_thread_item(kind) => {}
            _ => self.problem(What::UnknownType, Some(span), "kept, see `show --raw`"),
        }
    }

    /// Whether a prompt is that of the review once more: its own thread passes it on (0.77 to 0.136).
    fn is_asked_again(&mut self, words: &str) -> bool {
        let Some(review) = &mut self.review else { return false };
        let asked = stable_hash(words);
        review.asked.replace(asked) == Some(asked)
    }

    /// A prompt that was typed. The item with the same text comes just before or after it.
    fn prompt(&mut self, words: &str, has_images: bool, span: Span, time: Option<i64>) {
        self.has_prompts = true;
        self.flush();
        self.close();
        if self
            .answer
            .and_then(|answer| self.draft(answer))
            .is_some_and(|answer| answer.tokens.is_some())
        {
            self.answer = None;
        }
        if !self.own && !self.has_turn_ids && self.meta.own_from.is_none() {
            // Without turn ids, only the time shows what was copied: all of it at one moment.
            let copied = self.meta.start.zip(time).is_none_or(|(start, now)| now < start + 2000);
            self.own = !copied;
        }
        let draft = match self.candidate.take() {
            Some(draft) => {
                self.link(draft, span);
                draft
            }
            None => self.add(MessageKind::Context, None, span, time),
        };
        // A sub-agent that begins with its parent's conversation was not asked its questions.
        let is_prompt = self.own || self.meta.own_from.is_none();
        let id = self.made_up_id(span, 'p');
        if let Some(draft) = self.draft_mut(draft).filter(|_| is_prompt) {
            draft.kind = MessageKind::Prompt;
            draft.standing = Standing::Sure;
            draft.id = id;
        }
        if !is_prompt {
            return;
        }
        let at = self.alive.iter().rposition(|alive| *alive == draft);
        self.turns.extend(at.and_then(|at| u32::try_from(at).ok()));
        let is_blank = injected::typed(words).trim().is_empty();
        if self.first_prompt.is_some() && !is_blank {
            self.last_words = Some(words.to_owned());
            return;
        }
        let words = said(words, Parts { images: has_images, ..Parts::default() });
        if let Some(words) = words {
            self.first_prompt.get_or_insert_with(|| words.clone());
            (self.last_prompt, self.last_words) = (Some(words), None);
        }
    }

    /// An answer of which only the event is known so far.
    fn shadow(&mut self, span: Span, time: Option<i64>) {
        if self.has_answers || !self.own && self.meta.own_from.is_some() {
            return;
        }
        let draft = self.add(MessageKind::Answer, None, span, time);
        self.begin_answer(draft);
        self.is_closed = true;
        if let Some(draft) = self.draft_mut(draft) {
            draft.standing = Standing::Shadow;
        }
        // The figures belong to the item that follows, if it does.
    }

    /// Drops the last turns that are still there.
    fn roll_back(&mut self, turns: u64) {
        for _ in 0..turns.min(self.turns.len() as u64) {
            let Some(from) = self.turns.pop() else { break };
            for draft in self.alive.split_off((from as usize).min(self.alive.len())) {
                if let Some(draft) = self.draft_mut(draft) {
                    draft.fate = Fate::Rewound;
                }
            }
        }
        (self.answer, self.candidate) = (None, None);
    }

    /// How a command ended or what a file became: of a call that is known, or a step of a script.
    fn detail(&mut self, item: &Fields<'_>, id: Option<&[u8]>, span: Span, time: Option<i64>) {
        let failed = item.exit_code.is_some_and(|code| !matches!(code, b"0" | b"null"))
            || item
                .status
                .and_then(word)
                .is_some_and(|status| matches!(status, b"failed" | b"declined"))
            || item.success == Some(b"false");
        let end = if failed { Ending::Failed } else { Ending::Unknown };
        if let Some((draft, number)) = id.and_then(|id| self.calls.get(&id_hash(id)).copied()) {
            self.link(draft, span);
            return self.end_call(draft, number, end);
        }
        if item.source.and_then(word) == Some(b"user_shell") {
            self.add(MessageKind::Shell, None, span, time);
            return;
        }
        let Some(answer) = self
            .answer
            .filter(|answer| self.draft(*answer).is_some_and(|answer| !answer.tools.is_empty()))
        else {
            self.add(MessageKind::ToolResult, None, span, time);
            return;
        };
        self.link(answer, span);
        let end = if failed { CallEnd::Failed } else { CallEnd::Fine };
        self.add_call(answer, super::tool::step_name(item.kind()), id, end);
    }

    fn collaboration(&mut self, item: &Fields<'_>, raw: Option<&[u8]>) {
        let agents = raw.and_then(super::tool::receivers).unwrap_or_default();
        let call = text(item.id).map(Text::decode);
        let known = call.and_then(|call| self.agent_index.call(&call));
        let known = known.and_then(|at| self.agent_calls.get_mut(at));
        if let (Some(known), Some(agent)) = (known, agents.into_iter().next()) {
            self.agent_index.add_agent(Some(known.agent.get_or_insert(agent)));
        }
    }

    fn agent_activity(&mut self, fields: &Fields<'_>) {
        let Some(agent) = string(fields.agent_thread_id) else { return };
        if self.agent_index.has_agent(&agent) {
            return;
        }
        let at = self.agent_index.first_without(&self.agent_calls);
        if let Some(call) = at.and_then(|at| self.agent_calls.get_mut(at)) {
            self.agent_index.add_agent(Some(&agent));
            call.agent = Some(agent.into());
        }
    }

    fn settings(&mut self, fields: &Fields<'_>) {
        let Some(Ok(settings)) = fields.thread_settings.map(Fields::read) else { return };
        self.answers_with(settings.model);
    }

    fn goal_updated(&mut self, fields: &Fields<'_>) {
        let goal = fields.goal.and_then(|goal| crate::json::JsonTree::parse(goal).ok());
        let objective = goal.and_then(|goal| injected::title(goal.text("objective")?));
        self.goal = self.goal.take().or(objective);
    }

    /// The conversation went on from a summary.
    fn compacted(&mut self, fields: &Fields<'_>, span: Span, time: Option<i64>) {
        let summary = self.answer.filter(|_| {
            let message = fields.message.and_then(word).unwrap_or_default();
            !self.ending.is_empty() && message.ends_with(&self.ending)
        });
        let draft = if let Some(draft) = summary {
            // Newer releases record the answer that the summary is made of.
            self.link(draft, span);
            draft
        } else {
            let draft = self.add(MessageKind::Summary, None, span, time);
            let tokens = self.pending.take().map(|(tokens, ..)| tokens).filter(|_| self.own);
            let model = self.model.filter(|_| tokens.is_some());
            if let Some(draft) = self.draft_mut(draft) {
                (draft.tokens, draft.model) = (tokens, model);
            }
            draft
        };
        if let Some(draft) = self.draft_mut(draft) {
            draft.kind = MessageKind::Summary;
        }
        self.answer = None;
        self.close();
    }

    // --- What was used ---

    /// Books what a request used: for the answer that has no figures yet, else for the one that follows.
    fn book(&mut self, tokens: Tokens, span: Span, time: Option<i64>) {
        self.flush();
        let own = self.own;
        let open = self.answer.and_then(|answer| self.draft_mut(answer));
        match open.filter(|answer| answer.tokens.is_none()) {
            Some(answer) => {
                answer.tokens = Some(tokens).filter(|_| own);
                self.is_closed |= own;
            }
            None => self.pending = Some((tokens, span, time)),
        }
    }

    /// Adds a notice for figures without an answer.
    fn flush(&mut self) {
        let Some((tokens, span, time)) = self.pending.take().filter(|_| self.own) else { return };
        let draft = self.add(MessageKind::Notice, None, span, time);
        let model = self.model;
        if let Some(draft) = self.draft_mut(draft) {
            (draft.tokens, draft.model) = (Some(tokens), model);
        }
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
