//! Items: what the model saw and said.

use recount_model::{MessageKind, Span, What};

use crate::json::Text;
use crate::outline::{AgentCall, CallEnd, ToolUse};
use crate::source::id_hash;

use super::super::excerpt::{agent_in, end_of, folder_in};
use super::super::injected::{self, Parts};
use super::super::outputs::{Ending, ending};
use super::super::record::{Fields, is_item, string, text, word};
use super::{AT_ONCE, Replay, Standing, said};

impl Replay {
    pub(super) fn item(&mut self, fields: &Fields<'_>, span: Span, time: Option<i64>) {
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
                self.hear(draft, fields.content);
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
        let is_first = self.first_candidate.is_none() && !self.has_prompts;
        if let Some(picture) = self.picture.take().filter(|_| self.is_sent_at_once(parts, time)) {
            self.link(picture, span);
            self.candidate = Some(picture);
            (self.first_candidate, self.first_prompt) = (None, None);
        } else {
            let standing = if parts.told { Standing::Told } else { Standing::Perhaps };
            self.candidate = Some(self.context(span, time, standing));
        }
        self.close();
        if self.has_prompts {
            // Events decide what was typed.
            return;
        }
        let words = injected::words(fields.content, passthrough);
        self.picture = self.candidate.filter(|_| is_first && parts.images && words.is_empty());
        let hash = self.hash_of(words.as_bytes());
        if let Some(draft) = self.candidate.and_then(|draft| self.draft_mut(draft)) {
            draft.words = hash;
        }
        let words = said(&words, parts);
        self.first_candidate = self.first_candidate.take().or_else(|| words.clone());
        self.last_candidate = words.or(self.last_candidate.take());
    }

    /// Whether what is said are the words to the picture before. Releases to 0.3x sent the pictures of a command line first, and its words
    /// as soon as they had an answer to the pictures.
    fn is_sent_at_once(&self, parts: Parts, time: Option<i64>) -> bool {
        let pause = self.before.zip(time).map(|(before, now)| now.saturating_sub(before));
        !parts.images && pause.map_or(self.is_bare, |pause| pause < AT_ONCE)
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

    pub(super) fn begin_answer(&mut self, draft: u32) {
        (self.answer, self.is_closed) = (Some(draft), false);
        self.ending.clear();
        let model = self.model;
        let books = self.books();
        // Releases to 0.9x count before they record.
        let tokens = self.pending.take().map(|(tokens, ..)| tokens).filter(|_| books);
        if let Some(draft) = self.draft_mut(draft) {
            (draft.model, draft.tokens) = (model, tokens);
        }
    }

    fn call(&mut self, fields: &Fields<'_>, span: Span, time: Option<i64>) {
        let id = fields.call_id.or(fields.id);
        let draft = self.piece(fields.id.filter(|id| word(id).is_some()).or(id), span, time);
        self.hear(draft, id);
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

    pub(super) fn add_call(&mut self, draft: u32, name: &str, id: Option<&[u8]>, end: CallEnd) {
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

    pub(super) fn end_call(&mut self, draft: u32, number: u32, ending: Ending) {
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
}
