//! Events: which text was typed, what was undone, how commands ended.

use recount_model::{Fate, MessageKind, Span, What};

use crate::json::Text;
use crate::outline::CallEnd;
use crate::source::{id_hash, stable_hash};

use super::super::injected::{self, Parts};
use super::super::outputs::Ending;
use super::super::record::{Fields, is_event, is_thread_item, number, string, text, word};
use super::super::tool;
use super::{Replay, Review, Standing, said};

impl Replay {
    pub(super) fn event(&mut self, fields: &Fields<'_>, span: Span, time: Option<i64>) {
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
                self.review = None;
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
                self.review = Some(Review::Entered);
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
    ///
    /// Any other prompt means that the review ended without a record: the program was killed, and the thread resumed.
    fn is_asked_again(&mut self, words: &str) -> bool {
        let Some(review) = &mut self.review else { return false };
        let asked = stable_hash(words);
        match review {
            Review::Entered => *review = Review::Asked(asked),
            Review::Asked(first) if *first == asked => {
                *review = Review::AskedAgain;
                return true;
            }
            Review::Asked(_) | Review::AskedAgain => self.review = None,
        }
        false
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
        let hash = self.hash_of(words.as_bytes());
        if let Some(draft) = self.draft_mut(draft).filter(|_| is_prompt) {
            draft.kind = MessageKind::Prompt;
            draft.standing = Standing::Sure;
            draft.id = id;
            draft.words = hash;
        }
        if !is_prompt {
            return;
        }
        self.asked = Some(draft);
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
        self.add_call(answer, tool::step_name(item.kind()), id, end);
    }

    fn collaboration(&mut self, item: &Fields<'_>, raw: Option<&[u8]>) {
        let agents = raw.and_then(tool::receivers).unwrap_or_default();
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
    pub(super) fn compacted(&mut self, fields: &Fields<'_>, span: Span, time: Option<i64>) {
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
            let books = self.books();
            let tokens = self.pending.take().map(|(tokens, ..)| tokens).filter(|_| books);
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
}
