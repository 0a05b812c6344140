//! The events of `codex exec --json`, written as a rollout.
//!
//! The events name neither the prompt nor the model nor any time; the thread's id holds when it began. What is said to be used is the
//! sum of the whole thread, also in a run that resumes it.

use std::path::PathBuf;

use jiff::Timestamp;
use recount_model::{SessionKind, timestamp};
use serde_json::{Value, json};

use super::meta::uuid_time;
use super::native::Rollout;
use crate::native::NativeFormat as _;
use crate::stream::{
    Beginning, Keep, KeptRun, RunKey, StreamFile, StreamFormat, StreamKind, StreamSession, count,
    line, session_id, text, time_text,
};

/// The output of `codex exec --json`.
#[derive(Debug)]
pub(super) struct CodexStreams;

impl StreamFormat for CodexStreams {
    fn begins(&self, record: &Value, _before: Option<&RunKey>) -> Option<Beginning> {
        if text(record, "type") != Some("thread.started") {
            return None;
        }
        let session = session_id(record, "thread_id")?;
        let kind = StreamKind::StreamJson;
        Some(Beginning { kind, session, is_part: false, keep: Keep::All })
    }

    fn is_known(&self, _kind: StreamKind, record: &Value) -> bool {
        match text(record, "type") {
            Some("item.started" | "item.updated" | "item.completed") => {
                record.get("item").and_then(|item| text(item, "type")).is_some_and(is_item)
            }
            Some(kind) => matches!(
                kind,
                "thread.started" | "turn.started" | "turn.completed" | "turn.failed" | "error"
            ),
            None => false,
        }
    }

    fn files(&self, session: &StreamSession<'_>) -> Vec<StreamFile> {
        let mut runs: Vec<&KeptRun> = session.runs.iter().collect();
        // What a run says to be used contains all runs before it.
        runs.sort_by_key(|run| (used(run).map(|used| count(used, "input_tokens")), run.time));
        let born = uuid_time(session.id.as_str()).and_then(timestamp);
        let began = born.or_else(|| runs.iter().filter_map(|run| run.time).min());
        let began = began.unwrap_or(Timestamp::UNIX_EPOCH);
        let mut payload = json!({
            "id": session.id.as_str(),
            "timestamp": time_text(began),
            "originator": "codex_exec",
            "cli_version": "0.0.0",
            "source": "exec",
        });
        let project = runs.iter().find_map(|run| run.project.as_deref());
        if let (Some(project), Some(fields)) = (project, payload.as_object_mut()) {
            fields.insert("cwd".to_owned(), json!(project));
        }
        let mut rollout = Writer { bytes: Vec::new(), time: time_text(began), before: json!({}) };
        rollout.put("session_meta", &payload);
        for (number, run) in runs.iter().enumerate() {
            rollout.time = time_text(run.time.filter(|time| *time > began).unwrap_or(began));
            rollout.run(number + 1, run);
        }
        let day = began.strftime("%Y/%m/%d").to_string();
        let stem = Rollout.stem(session.id, SessionKind::Main, Some(began));
        let name = format!("{stem}.{}", Rollout.extension());
        let path: PathBuf = ["sessions", &day, &name].iter().collect();
        vec![StreamFile { path, bytes: rollout.bytes, is_session: true }]
    }
}

fn is_item(kind: &str) -> bool {
    matches!(
        kind,
        "agent_message"
            | "reasoning"
            | "command_execution"
            | "file_change"
            | "mcp_tool_call"
            | "collab_tool_call"
            | "web_search"
            | "todo_list"
            | "error"
    )
}

/// Returns what the last turn of a run says to be used.
fn used(run: &KeptRun) -> Option<&Value> {
    run.records.iter().rev().find_map(|record| record.get("usage"))
}

/// Writes a rollout.
struct Writer {
    bytes: Vec<u8>,
    time: String,
    /// What was used before.
    before: Value,
}

impl Writer {
    fn put(&mut self, tag: &str, payload: &Value) {
        let record = json!({"timestamp": self.time, "type": tag, "payload": payload});
        self.bytes.extend(line(&record));
    }

    fn item(&mut self, payload: &Value) {
        self.put("response_item", payload);
    }

    fn event(&mut self, payload: &Value) {
        self.put("event_msg", payload);
    }

    fn run(&mut self, number: usize, run: &KeptRun) {
        let turn = format!("run-{number}");
        self.event(&json!({"type": "task_started", "turn_id": turn}));
        if let Some(prompt) = &run.prompt {
            let content = json!([{"type": "input_text", "text": prompt}]);
            self.item(&json!({"type": "message", "role": "user", "content": content}));
            self.event(&json!({"type": "user_message", "message": prompt}));
        }
        // What has begun is repeated when it has ended.
        let ended: std::collections::HashSet<&str> = run
            .records
            .iter()
            .filter(|record| text(record, "type") == Some("item.completed"))
            .filter_map(|record| text(record.get("item")?, "id"))
            .collect();
        let mut open: Vec<(&str, &Value)> = Vec::new();
        let mut failed: Option<&str> = None;
        for record in &run.records {
            match text(record, "type") {
                Some("item.completed") => self.thread_item(number, record.get("item")),
                Some("item.started" | "item.updated") => {
                    let Some(item) = record.get("item") else { continue };
                    let id = text(item, "id").unwrap_or_default();
                    if !ended.contains(id) {
                        open.retain(|(known, _)| *known != id);
                        open.push((id, item));
                    }
                }
                Some("error") => {
                    failed = text(record, "message");
                    self.error(failed);
                }
                Some("turn.failed") => {
                    let said = record.get("error").and_then(|error| text(error, "message"));
                    // It repeats the error before it.
                    if said != failed {
                        self.error(said);
                    }
                }
                Some("turn.completed") => self.usage(record.get("usage")),
                Some("thread.started" | "turn.started") => {}
                _ => self.bytes.extend(line(&json!({"event": record}))),
            }
        }
        // The run was cut short before these ended.
        for (_, item) in open {
            self.thread_item(number, Some(item));
        }
        self.event(&json!({"type": "task_complete", "turn_id": turn}));
    }

    fn error(&mut self, said: Option<&str>) {
        self.event(&json!({"type": "error", "message": said.unwrap_or("error")}));
    }

    /// Notes what was used, as the sum of the thread and as what came since.
    fn usage(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let figures = |of: &dyn Fn(&str) -> u64| {
            let total = of("input_tokens").saturating_add(of("output_tokens"));
            json!({
                "input_tokens": of("input_tokens"),
                "cached_input_tokens": of("cached_input_tokens"),
                "cache_write_input_tokens": of("cache_write_input_tokens"),
                "output_tokens": of("output_tokens"),
                "reasoning_output_tokens": of("reasoning_output_tokens"),
                "total_tokens": total,
            })
        };
        let sum = figures(&|key| count(usage, key));
        let before = std::mem::replace(&mut self.before, sum.clone());
        let last = figures(&|key| count(usage, key).saturating_sub(count(&before, key)));
        let info = json!({"total_token_usage": sum, "last_token_usage": last});
        self.event(&json!({"type": "token_count", "info": info}));
    }

    fn thread_item(&mut self, run: usize, item: Option<&Value>) {
        let Some(item) = item else { return };
        let id = format!("run-{run}-{}", text(item, "id").unwrap_or_default());
        let said = text(item, "text").or_else(|| text(item, "message")).unwrap_or_default();
        match text(item, "type") {
            Some("agent_message") => {
                let content = json!([{"type": "output_text", "text": said}]);
                self.item(&json!({"type": "message", "role": "assistant", "content": content}));
            }
            Some("reasoning") => {
                let summary = json!([{"type": "summary_text", "text": said}]);
                self.item(&json!({"type": "reasoning", "id": id, "summary": summary}));
            }
            Some("error") => self.event(&json!({"type": "warning", "message": said})),
            Some("command_execution") => {
                let args = json!({"cmd": text(item, "command").unwrap_or_default()});
                self.call(&id, "exec_command", &args);
                if let Some(code) = item.get("exit_code").and_then(Value::as_i64) {
                    let output = text(item, "aggregated_output").unwrap_or_default();
                    self.output(&id, &format!("Exit code: {code}\nOutput:\n{output}"));
                } else if matches!(text(item, "status"), Some("failed" | "declined")) {
                    self.output(&id, "exec_command failed");
                }
            }
            Some("file_change") => {
                self.call(&id, "apply_patch", &json!({"changes": item.get("changes")}));
                self.ended(&id, item, "");
            }
            Some("mcp_tool_call") => {
                let part = |key| text(item, key).unwrap_or("unknown");
                let name = format!("mcp__{}__{}", part("server"), part("tool"));
                self.call(&id, &name, item.get("arguments").unwrap_or(&Value::Null));
                let error = item.get("error").and_then(|error| text(error, "message"));
                let result = item.get("result").filter(|result| !result.is_null());
                let result = result.map(Value::to_string).unwrap_or_default();
                self.ended(&id, item, error.unwrap_or(&result));
            }
            Some("collab_tool_call") => {
                let name = text(item, "tool").unwrap_or("collab_tool_call");
                self.call(&id, name, &json!({"prompt": item.get("prompt")}));
                self.ended(&id, item, "");
            }
            Some("web_search") => {
                let action = json!({"type": "search", "query": item.get("query")});
                let call = json!({"type": "web_search_call", "id": id, "status": "completed", "action": action});
                self.item(&call);
            }
            Some("todo_list") => {
                self.call(&id, "update_plan", &json!({"plan": item.get("items")}));
                self.output(&id, "Plan updated");
            }
            _ => self.bytes.extend(line(&json!({"event": item}))),
        }
    }

    fn call(&mut self, id: &str, name: &str, args: &Value) {
        let arguments = args.to_string();
        self.item(
            &json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments}),
        );
    }

    fn output(&mut self, id: &str, output: &str) {
        self.item(&json!({"type": "function_call_output", "call_id": id, "output": output}));
    }

    /// Notes how a call ended that has no exit code; nothing of one that has not ended.
    fn ended(&mut self, id: &str, item: &Value, output: &str) {
        match text(item, "status") {
            Some("completed") => self.output(id, &format!("Exit code: 0\nOutput:\n{output}")),
            Some("failed") => self.output(id, &format!("Exit code: 1\nOutput:\n{output}")),
            _ => {}
        }
    }
}
