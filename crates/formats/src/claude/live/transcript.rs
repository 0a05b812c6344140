//! What the end of a transcript says.

use recount_model::{LiveRequest, Tokens};
use serde_json::Value;

use crate::live::{Calls, Requests, text_of, time_of};

/// How the agent records that the user stopped it.
const INTERRUPTED: &str = "[Request interrupted by user";
/// How user records begin that nobody typed to the model.
const LOCAL: &[&str] = &["<command-", "<local-command", "<bash-", "Caveat: The messages below"];

/// What the last record that matters is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Last {
    #[default]
    Nothing,
    Prompt,
    ToolResult,
    /// A request was sent.
    Request,
    /// Part of an answer; more of it or a call follows.
    Partial,
    /// The turn is over.
    Answer,
    Interrupted,
    Error,
}

/// One transcript.
#[derive(Clone, Debug, Default)]
pub(super) struct Transcript {
    pub(super) folder: Option<String>,
    /// When it was last written.
    pub(super) changed: i64,
    pub(super) last: Last,
    /// When the last record that matters came.
    pub(super) last_at: i64,
    /// When the last prompt came.
    pub(super) prompted: i64,
    pub(super) calls: Calls,
    pub(super) requests: Requests,
    pub(super) doing: Option<String>,
}

impl Transcript {
    pub(super) fn record(&mut self, at: i64, record: &Value, is_subagent: bool) {
        self.changed = self.changed.max(at);
        if self.folder.is_none() {
            self.folder = record.get("cwd").and_then(Value::as_str).map(str::to_owned);
        }
        let flag = |name: &str| record.get(name).and_then(Value::as_bool) == Some(true);
        if flag("isSidechain") && !is_subagent {
            return;
        }
        match record.get("type").and_then(Value::as_str) {
            Some("user") if !flag("isMeta") && !flag("isCompactSummary") => self.user(at, record),
            Some("assistant") => self.assistant(at, record, flag("isApiErrorMessage")),
            Some("system") => {
                let subtype = record.get("subtype").and_then(Value::as_str);
                if subtype == Some("turn_duration") && self.last != Last::Error {
                    self.set(Last::Answer, at);
                }
            }
            Some("api-request") => {
                let from = record.get("querySource").and_then(Value::as_str);
                if from.is_some_and(|from| from.starts_with("repl_main_thread")) {
                    self.set(Last::Request, at);
                }
            }
            _ => {}
        }
    }

    /// Whether the turn is over.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.last, Last::Answer | Last::Interrupted | Last::Error)
    }

    fn set(&mut self, last: Last, at: i64) {
        self.last = last;
        self.last_at = at;
    }

    fn user(&mut self, at: i64, record: &Value) {
        let content = record.pointer("/message/content").unwrap_or(&Value::Null);
        let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut is_result = false;
        for block in blocks {
            if block.get("type").and_then(Value::as_str) == Some("tool_result") {
                is_result = true;
                if let Some(id) = block.get("tool_use_id").and_then(Value::as_str) {
                    self.calls.ended(id, block.get("content").unwrap_or(&Value::Null));
                }
            }
        }
        let text = text_of(content);
        if text.contains(INTERRUPTED) {
            self.calls.abandon();
            self.set(Last::Interrupted, at);
        } else if is_result {
            self.set(Last::ToolResult, at);
        } else if !LOCAL.iter().any(|local| text.starts_with(local)) {
            self.doing = Some(text);
            self.prompted = at;
            self.calls.abandon();
            self.set(Last::Prompt, at);
        }
    }

    fn assistant(&mut self, at: i64, record: &Value, is_error: bool) {
        let Some(message) = record.get("message") else { return };
        let content = message.get("content").unwrap_or(&Value::Null);
        let text = text_of(content);
        if !text.is_empty() {
            self.doing = Some(text);
        }
        let model = message.get("model").and_then(Value::as_str);
        if is_error {
            self.calls.abandon();
            return self.set(Last::Error, at);
        }
        let mut is_text = content.is_string();
        for block in content.as_array().map(Vec::as_slice).unwrap_or_default() {
            match block.get("type").and_then(Value::as_str) {
                Some("text") => is_text = true,
                Some("tool_use") => {
                    is_text = false;
                    let name = block.get("name").and_then(Value::as_str).unwrap_or("tool");
                    let id = block.get("id").and_then(Value::as_str).unwrap_or(name);
                    self.calls.began(id, name, block.get("input").unwrap_or(&Value::Null), at);
                }
                _ => {}
            }
        }
        let stop = message.get("stop_reason").and_then(Value::as_str);
        let is_last = is_text && stop != Some("tool_use") && stop != Some("pause_turn");
        self.set(if is_last { Last::Answer } else { Last::Partial }, at);
        if model == Some("<synthetic>") {
            return;
        }
        let Some(usage) = message.get("usage") else { return };
        let number = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
        let (cached, cache_write) =
            (number("cache_read_input_tokens"), number("cache_creation_input_tokens"));
        let long =
            usage.pointer("/cache_creation/ephemeral_1h_input_tokens").and_then(Value::as_u64);
        let input = number("input_tokens").saturating_add(cached).saturating_add(cache_write);
        let output = number("output_tokens");
        let tokens = Tokens {
            input,
            output,
            cached,
            cache_write,
            cache_write_1h: long.unwrap_or_default(),
            thoughts: 0,
            tool: 0,
            total: input.saturating_add(output),
        };
        let key = message.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let time = time_of(record, "timestamp").unwrap_or(at);
        self.requests.add(LiveRequest { key, time, model: model.map(str::to_owned), tokens });
    }
}
