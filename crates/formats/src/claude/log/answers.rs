//! Answers of the service, their calls, and how those ended.

use std::borrow::Cow;

use super::super::content::{CallBlock, Content, ResultBlock};
use super::super::row::Row;
use super::super::state::{AgentLink, Answer, Call, CallResult, Facts};
use super::super::wording::LEAD;
use super::{Log, number};
use crate::id_index::{FEW, IdIndex};
use crate::json::Text;
use crate::outline::CallEnd;
use crate::source::{id_hash, stable_hash};

/// Message ids of the service are random and at least this long. Shorter ones come from gateways that may count them from one in every
/// session, so that only the request id identifies the answer.
const UNIQUE: usize = 24;

impl Log {
    pub(super) fn answer(&mut self, row: &Row<'_>, at: u32) {
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

    pub(super) fn results(&mut self, row: &Row<'_>, at: u32) {
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
