//! What the end of a session file says.

use std::path::Path;

use recount_model::{
    ContextUse, LiveRequest, LiveSession, LiveState, LiveSubagent, LiveTool, Tokens,
};
use serde_json::Value;

use crate::live::{Calls, DocumentParts, Known, Requests, text_of, time_of};

/// A sub-agent that has been silent for so long has finished.
const SUBAGENT: i64 = 3500;

/// What the last record that matters is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Last {
    #[default]
    Nothing,
    Prompt,
    /// Calls have finished: the next request follows at once.
    ToolResult,
    /// An answer without calls. Calls are recorded when they have finished.
    Answer {
        is_empty: bool,
    },
    Cancelled,
    Error,
}

/// One session file.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation {
    pub(super) id: Option<String>,
    pub(super) started: Option<i64>,
    /// When it was last written.
    pub(super) changed: i64,
    pub(super) last: Last,
    /// When the last record that matters came.
    pub(super) last_at: i64,
    pub(super) prompts: u32,
    /// When the last prompt came.
    pub(super) prompted: i64,
    pub(super) requests: Requests,
    calls: Calls,
    /// The message that the last record of a document was.
    last_message: Option<(String, usize)>,
    doing: Option<String>,
    is_compressed: bool,
}

impl Conversation {
    pub(super) fn restart(&mut self) {
        self.prompts = 0;
        self.requests.restart();
    }

    /// Takes one record of a log.
    pub(super) fn record(&mut self, at: i64, record: &Value) {
        self.metadata(record);
        self.changed = self.changed.max(at);
        if record.get("$rewindTo").is_some() {
            self.set(Last::Nothing, at);
        } else if record.get("type").is_some() {
            self.message(at, record);
        }
    }

    /// Takes a session file of the time when it was one document.
    pub(super) fn document(&mut self, at: i64, document: &DocumentParts<'_>) {
        let whole = match document.tail {
            None => serde_json::from_slice::<Value>(document.head).ok(),
            Some(_) => head_members(document.head),
        };
        let Some(whole) = whole else { return };
        self.metadata(&whole);
        let messages = match whole.get("messages").and_then(Value::as_array) {
            Some(messages) => messages.clone(),
            None => last_items(document, b"\n    {"),
        };
        let before = self.last_message.take();
        let known = before.as_ref().and_then(|(id, _)| {
            messages.iter().rposition(|one| one.get("id").and_then(Value::as_str) == Some(id))
        });
        let new =
            known.map_or(messages.as_slice(), |known| messages.get(known..).unwrap_or_default());
        if known.is_none() {
            self.restart();
        }
        for (nth, message) in new.iter().enumerate() {
            let mark = mark(message);
            if nth == 0 && known.is_some() && mark == before {
                self.last_message.clone_from(&before);
                continue;
            }
            self.changed = self.changed.max(at);
            self.message(at, message);
            self.last_message = mark;
        }
    }

    fn metadata(&mut self, record: &Value) {
        if let Some(id) = record.get("sessionId").and_then(Value::as_str) {
            self.id = Some(id.to_owned());
        }
        if let Some(started) = time_of(record, "startTime") {
            self.started = Some(self.started.map_or(started, |known| known.min(started)));
        }
    }

    fn set(&mut self, last: Last, at: i64) {
        self.last = last;
        self.last_at = at;
    }

    fn message(&mut self, at: i64, message: &Value) {
        let content = message.get("content").unwrap_or(&Value::Null);
        match message.get("type").and_then(Value::as_str) {
            Some("user") => {
                let is_result = content.as_array().is_some_and(|parts| {
                    parts.iter().any(|part| part.get("functionResponse").is_some())
                });
                if is_result {
                    if self.last != Last::Cancelled {
                        self.set(Last::ToolResult, at);
                    }
                } else {
                    self.prompts += 1;
                    self.prompted = at;
                    self.doing = Some(text_of(content));
                    self.set(Last::Prompt, at);
                }
            }
            Some("gemini") => self.answer(at, message, content),
            Some("info") if text_of(content).to_lowercase().contains("request cancelled") => {
                self.set(Last::Cancelled, at);
            }
            Some("error") => {
                self.doing = Some(text_of(content));
                self.set(Last::Error, at);
            }
            _ => {}
        }
    }

    fn answer(&mut self, at: i64, message: &Value, content: &Value) {
        let text = text_of(content);
        let calls = message.get("toolCalls").and_then(Value::as_array);
        let status = |call: &Value| call.get("status").and_then(Value::as_str).map(str::to_owned);
        match calls.filter(|calls| !calls.is_empty()) {
            Some(calls) => {
                for call in calls {
                    let name = call.get("name").and_then(Value::as_str).unwrap_or("tool");
                    let id = call.get("id").and_then(Value::as_str).unwrap_or(name);
                    self.calls.began(id, name, call.get("args").unwrap_or(&Value::Null), at);
                    self.calls.ended(id, call.get("result").unwrap_or(&Value::Null));
                }
                let is_cancelled =
                    calls.iter().any(|call| status(call).as_deref() == Some("cancelled"));
                self.set(if is_cancelled { Last::Cancelled } else { Last::ToolResult }, at);
            }
            None => self.set(Last::Answer { is_empty: text.is_empty() }, at),
        }
        if !text.is_empty() {
            self.doing = Some(text);
        }
        let Some(tokens) = message.get("tokens") else { return };
        let number = |name: &str| tokens.get(name).and_then(Value::as_u64).unwrap_or_default();
        let key = message.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let model = message.get("model").and_then(Value::as_str).map(str::to_owned);
        let tokens = Tokens {
            input: number("input"),
            output: number("output"),
            cached: number("cached"),
            thoughts: number("thoughts"),
            tool: number("tool"),
            total: number("total"),
            ..Tokens::default()
        };
        self.is_compressed = false;
        let time = time_of(message, "timestamp").unwrap_or(at);
        self.requests.add(LiveRequest { key, time, model, tokens });
    }

    /// Puts what is known besides the state into a row.
    pub(super) fn fill(&self, row: &mut LiveSession, known: &Known, now: i64) {
        row.doing.clone_from(&self.doing);
        row.usage = self.requests.usage(now);
        row.circling = self.calls.circling();
        if let Some(last) = self.requests.last() {
            row.model.clone_from(&last.model);
            let used = last.tokens.input + last.tokens.output;
            row.context = (!self.is_compressed).then_some(ContextUse { used, window: None });
        }
        if matches!(row.state, LiveState::Tool | LiveState::Approve) {
            // Which tool is only recorded when it has finished: the child says what runs.
            let child = known.tool_child(now, self.last_at - 2000);
            row.tool = child.map(|child| LiveTool {
                name: "shell".to_owned(),
                argument: command(&child.args),
                since: child.start_ms,
            });
        }
    }

    pub(super) fn as_subagent(&self, path: &Path, now: i64) -> LiveSubagent {
        let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        LiveSubagent {
            id: id.unwrap_or_default(),
            is_working: now - self.changed < SUBAGENT,
            changed: self.changed,
        }
    }
}

/// Whether a sub-agent that wrote at `changed` still works.
pub(super) fn is_subagent_working(changed: i64, now: i64) -> bool {
    now - changed < SUBAGENT
}

/// What tells that the last message of a document has changed.
fn mark(message: &Value) -> Option<(String, usize)> {
    let id = message.get("id").and_then(Value::as_str)?.to_owned();
    Some((id, message.to_string().len()))
}

/// Returns the shell command in the arguments of a shell, without what the agent puts around it.
fn command(args: &[String]) -> Option<String> {
    let line = args.iter().skip(1).find(|arg| !arg.starts_with('-'))?;
    let inner = line
        .split_once("(\n")
        .and_then(|(_, rest)| rest.rsplit_once("\n)"))
        .or_else(|| line.split_once("{ ").and_then(|(_, rest)| rest.split_once("; }")))
        .map_or(line.as_str(), |(inner, _)| inner);
    let inner =
        inner.lines().filter(|line| !line.trim_start().starts_with("trap ")).collect::<Vec<_>>();
    Some(
        inner
            .join(" ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(200)
            .collect(),
    )
}

/// Reads the members before the messages of a document of which only the beginning is known.
fn head_members(head: &[u8]) -> Option<Value> {
    let end = memchr::memmem::find(head, b"\"messages\"")?;
    let members = head.get(..end)?;
    let comma = memchr::memrchr(b',', members)?;
    let mut text = members.get(..comma)?.to_vec();
    text.push(b'}');
    serde_json::from_slice(&text).ok()
}

/// Returns the last items of the array that a document is or ends with. `start` is how an item begins in the agent's layout.
pub(super) fn last_items(document: &DocumentParts<'_>, start: &[u8]) -> Vec<Value> {
    let Some(tail) = document.tail else {
        return serde_json::from_slice::<Vec<Value>>(document.head).unwrap_or_default();
    };
    let mut items = Vec::new();
    let mut at = memchr::memmem::find(tail, start);
    while let Some(begin) = at {
        let Some(rest) = tail.get(begin..) else { break };
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { break };
        let used = values.byte_offset();
        items.push(value);
        let next = rest.get(used..).and_then(|rest| memchr::memmem::find(rest, start));
        at = next.map(|next| begin + used + next);
    }
    items
}
