//! What the end of a rollout says.

use recount_model::{ContextUse, LiveRequest, Tokens};
use serde_json::Value;

use crate::live::{Calls, Requests, text_of, time_of};

/// The outcome of the last turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Turn {
    #[default]
    None,
    Open,
    Complete,
    Failed,
    Aborted,
}

/// One rollout.
#[derive(Clone, Debug, Default)]
pub(super) struct Rollout {
    pub(super) id: Option<String>,
    pub(super) folder: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) started: Option<i64>,
    /// When it was last written.
    pub(super) changed: i64,
    pub(super) turn: Turn,
    /// When the turn began or ended.
    pub(super) turn_at: i64,
    /// Whether the agent asks nobody.
    pub(super) never_asks: bool,
    pub(super) calls: Calls,
    pub(super) requests: Requests,
    pub(super) model: Option<String>,
    pub(super) context: Option<ContextUse>,
    pub(super) doing: Option<String>,
}

impl Rollout {
    pub(super) fn record(&mut self, at: i64, record: &Value) {
        let time = time_of(record, "timestamp");
        self.changed = self.changed.max(at);
        let Some(payload) = record.get("payload") else { return };
        match record.get("type").and_then(Value::as_str) {
            // A fork repeats the metadata of its origin.
            Some("session_meta") if self.id.is_none() => self.metadata(payload),
            Some("turn_context") => {
                let policy = payload.get("approval_policy").and_then(Value::as_str);
                self.never_asks = policy == Some("never");
                if let Some(model) = payload.get("model").and_then(Value::as_str) {
                    self.model = Some(model.to_owned());
                }
            }
            Some("event_msg") => self.event(at, time.unwrap_or(at), payload),
            Some("response_item") => self.item(at, payload),
            _ => {}
        }
    }

    fn metadata(&mut self, payload: &Value) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        self.id = text(payload.get("id"));
        self.folder = text(payload.get("cwd"));
        self.started = time_of(payload, "timestamp");
        let spawned = payload.pointer("/source/subagent/thread_spawn/parent_thread_id");
        self.parent =
            text(payload.get("parent_thread_id")).or_else(|| text(spawned)).or_else(|| {
                // A sub-agent whose parent is not named belongs to nobody that we know.
                payload.pointer("/source/subagent").map(|_| String::new())
            });
    }

    fn turn(&mut self, turn: Turn, at: i64) {
        self.turn = turn;
        self.turn_at = at;
        self.calls.abandon();
    }

    fn event(&mut self, at: i64, time: i64, payload: &Value) {
        match payload.get("type").and_then(Value::as_str) {
            Some("task_started" | "turn_started") => {
                self.turn(Turn::Open, at);
                if let Some(window) = payload.get("model_context_window").and_then(Value::as_u64)
                    && let Some(context) = &mut self.context
                {
                    context.window = Some(window);
                }
            }
            Some("task_complete" | "turn_complete") => {
                let said = payload.get("last_agent_message").is_some_and(|said| !said.is_null());
                let failed = payload.get("error").is_some_and(|error| !error.is_null());
                let is_failed = failed || (!said && payload.get("last_agent_message").is_some());
                self.turn(if is_failed { Turn::Failed } else { Turn::Complete }, at);
            }
            Some("turn_aborted") => self.turn(Turn::Aborted, at),
            Some("user_message") => {
                self.doing = payload.get("message").map(text_of);
                if self.turn != Turn::Open {
                    self.turn(Turn::Open, at);
                }
            }
            Some("agent_message") => self.doing = payload.get("message").map(text_of),
            Some("token_count") => self.tokens(time, payload),
            _ => {}
        }
    }

    fn item(&mut self, at: i64, payload: &Value) {
        let text = |name: &str| payload.get(name).and_then(Value::as_str);
        match text("type") {
            Some("function_call" | "custom_tool_call" | "local_shell_call") => {
                let Some(id) = text("call_id") else { return };
                let name = text("name").unwrap_or("shell");
                let arguments =
                    ["arguments", "input", "action"].iter().find_map(|one| payload.get(*one));
                self.calls.began(id, name, arguments.unwrap_or(&Value::Null), at);
            }
            Some(
                "function_call_output" | "custom_tool_call_output" | "local_shell_call_output",
            ) => {
                if let Some(id) = text("call_id") {
                    self.calls.ended(id, payload.get("output").unwrap_or(&Value::Null));
                }
            }
            _ => {}
        }
    }

    fn tokens(&mut self, time: i64, payload: &Value) {
        let Some(info) = payload.get("info") else { return };
        let Some(last) = info.get("last_token_usage") else { return };
        let number = |name: &str| last.get(name).and_then(Value::as_u64).unwrap_or_default();
        let window = info.get("model_context_window").and_then(Value::as_u64);
        let total = number("total_tokens");
        self.context = Some(ContextUse { used: total, window });
        let thoughts = number("reasoning_output_tokens");
        let tokens = Tokens {
            input: number("input_tokens"),
            cached: number("cached_input_tokens"),
            output: number("output_tokens").saturating_sub(thoughts),
            thoughts,
            total,
            ..Tokens::default()
        };
        // The same figures may be written again; the running total tells.
        let key = info.pointer("/total_token_usage/total_tokens").map(ToString::to_string);
        let key = format!("{}:{}", self.id.as_deref().unwrap_or_default(), key.unwrap_or_default());
        self.requests.add(LiveRequest { key, time, model: self.model.clone(), tokens });
    }
}
