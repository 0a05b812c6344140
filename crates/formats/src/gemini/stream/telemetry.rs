//! A log of telemetry: records of many sessions, spans and metrics, one behind the other.

use serde_json::{Value, json};

use super::write::{Call, Writer};
use crate::json::JsonTree;
use crate::stream::{Beginning, Keep, KeptRun, StreamKind, count, is_session_id, text, value};
use recount_model::SessionId;

/// The program, as its records name it.
const PROGRAM: &str = "gemini-cli";

/// Words of a request after which its folder stands, by release.
const FOLDER_MARKS: [&str; 2] =
    ["I'm currently working in the directory: ", "**Workspace Directories:**\n  - "];

/// Attributes of an event that are kept, with the name of the event.
const KEPT: &[(&str, &[&str])] = &[
    ("gemini_cli.config", &["model"]),
    ("gemini_cli.user_prompt", &["prompt", "prompt_length", "prompt_id"]),
    (
        "gemini_cli.api_response",
        &[
            "model",
            "role",
            "input_token_count",
            "output_token_count",
            "cached_content_token_count",
            "thoughts_token_count",
            "tool_token_count",
            "total_token_count",
            "response_text",
        ],
    ),
    (
        "gemini_cli.api_error",
        &["model", "role", "error", "error.message", "error_message", "status_code"],
    ),
    ("gemini_cli.tool_call", &["function_name", "function_args", "success", "decision", "error"]),
];

/// Recognizes a record of telemetry, whose session it tells, and reduces it to what is not said elsewhere.
pub(super) fn begins(record: &Value) -> Option<Beginning> {
    let is_one = record.get("instrumentationScope").is_some()
        || record.get("scopeMetrics").is_some()
        || record.get("_spanContext").is_some();
    let resource = record.get("resource").filter(|_| is_one)?;
    if resource_attribute(resource, "service.name").and_then(Value::as_str) != Some(PROGRAM) {
        return None;
    }
    let attributes = record.get("attributes");
    let own = attributes.and_then(|attributes| text(attributes, "session.id"));
    let id = own.or_else(|| resource_attribute(resource, "session.id")?.as_str())?;
    let session = SessionId::new(Some(id).filter(|id| is_session_id(id))?);
    let pid = resource_attribute(resource, "process.pid").cloned();
    let keep = attributes.and_then(|attributes| reduced(attributes, pid));
    let keep = keep.map_or(Keep::Nothing, Keep::Part);
    Some(Beginning { kind: StreamKind::Telemetry, session, is_part: true, keep })
}

fn resource_attribute<'a>(resource: &'a Value, key: &str) -> Option<&'a Value> {
    if let Some(found) = resource.get("attributes").and_then(|all| all.get(key)) {
        return Some(found);
    }
    let all = resource.get("_rawAttributes").and_then(Value::as_array)?;
    all.iter().find_map(|pair| {
        let pair = pair.as_array()?;
        (pair.first()?.as_str()? == key).then(|| pair.get(1))?
    })
}

fn reduced(attributes: &Value, pid: Option<Value>) -> Option<Value> {
    let event = text(attributes, "event.name")?;
    let mut kept = json!({"event": event, "time": attributes.get("event.timestamp")});
    let fields = kept.as_object_mut()?;
    if event == "gemini_cli.api_request" {
        // Each request repeats the whole conversation: only its end is new.
        if text(attributes, "role").is_some_and(|role| role != "main") {
            return None;
        }
        let contents = parsed(text(attributes, "request_text")?)?;
        let turns = contents.as_array()?;
        let parts = turns.last().and_then(|turn| turn.get("parts")).and_then(Value::as_array);
        let outputs: Vec<&Value> =
            parts.into_iter().flatten().filter_map(|part| part.get("functionResponse")).collect();
        fields.insert("outputs".to_owned(), json!(outputs));
        fields.insert("folder".to_owned(), json!(folder_in(turns)));
        return Some(kept);
    }
    let (_, wanted) = KEPT.iter().find(|(name, _)| *name == event)?;
    for key in *wanted {
        if let Some(value) = attributes.get(key) {
            fields.insert((*key).to_owned(), value.clone());
        }
    }
    if let Some(pid) = pid.filter(|_| event == "gemini_cli.config") {
        fields.insert("pid".to_owned(), pid);
    }
    Some(kept)
}

fn parsed(text: &str) -> Option<Value> {
    JsonTree::parse(text.as_bytes()).ok().map(value)
}

/// Finds the folder in what the model is told of its surroundings, which is how a conversation begins.
fn folder_in(turns: &[Value]) -> Option<&str> {
    let parts = turns.first()?.get("parts")?.as_array()?;
    parts.iter().filter_map(|part| text(part, "text")).find_map(|said| {
        let after =
            FOLDER_MARKS.iter().find_map(|mark| said.split_once(mark).map(|(_, rest)| rest))?;
        let path = after.lines().next()?.trim();
        std::path::Path::new(path).is_absolute().then_some(path)
    })
}

/// Returns the folder that a run tells.
pub(super) fn folder(records: &[Value]) -> Option<String> {
    records.iter().find_map(|record| text(record, "folder")).map(str::to_owned)
}

/// Joins all logs of a session in the order of time: a log may be cut in two, or kept twice.
pub(super) fn joined(runs: &[KeptRun]) -> Option<KeptRun> {
    let mut logs = runs.iter().filter(|run| run.kind == StreamKind::Telemetry);
    let mut all = logs.next()?.clone();
    let mut seen: std::collections::HashSet<String> =
        all.records.iter().map(Value::to_string).collect();
    for log in logs {
        all.project = all.project.or_else(|| log.project.clone());
        let fresh = log.records.iter().filter(|record| seen.insert(record.to_string()));
        all.records.extend(fresh.cloned());
    }
    all.records.sort_by(|one, next| text(one, "time").cmp(&text(next, "time")));
    Some(all)
}

/// Writes what the events tell.
pub(super) fn write(run: &KeptRun, out: &mut Writer) {
    for record in &run.records {
        let time = text(record, "time").map(str::to_owned);
        match text(record, "event") {
            Some("gemini_cli.user_prompt") => {
                let unsaid = format!("[{} characters, not logged]", count(record, "prompt_length"));
                out.prompt(Some(text(record, "prompt").unwrap_or(&unsaid)), time);
            }
            Some("gemini_cli.api_request") => outputs(record, out),
            Some("gemini_cli.api_response") => response(record, out, time),
            Some("gemini_cli.api_error") => {
                let said = ["error.message", "error_message", "error"]
                    .iter()
                    .find_map(|key| text(record, key));
                out.notice("error", said.unwrap_or("The request failed."), time);
            }
            Some("gemini_cli.tool_call") => tool_call(record, out, time),
            _ => {}
        }
    }
}

fn outputs(record: &Value, out: &mut Writer) {
    for part in record.get("outputs").and_then(Value::as_array).into_iter().flatten() {
        let response = part.get("response");
        let said = response
            .and_then(|response| text(response, "output").or_else(|| text(response, "error")));
        let said =
            said.map_or_else(|| response.map(Value::to_string), |said| Some(said.to_owned()));
        if let Some(said) = said {
            out.output(text(part, "id"), text(part, "name").unwrap_or_default(), &said);
        }
    }
}

fn response(record: &Value, out: &mut Writer, time: Option<String>) {
    let tokens = json!({
        "input": count(record, "input_token_count"),
        "output": count(record, "output_token_count"),
        "cached": count(record, "cached_content_token_count"),
        "thoughts": count(record, "thoughts_token_count"),
        "tool": count(record, "tool_token_count"),
        "total": count(record, "total_token_count"),
    });
    let model = text(record, "model").unwrap_or_default();
    // Releases before 0.30 do not say what a request was for.
    if text(record, "role").is_some_and(|role| role != "main") {
        return out.side_request(model, tokens, time);
    }
    out.end_answer();
    out.tokens(model, tokens, time.clone());
    let chunks = text(record, "response_text").and_then(parsed).unwrap_or(Value::Null);
    let chunks = chunks.as_array().map_or(std::slice::from_ref(&chunks), Vec::as_slice);
    let mut number = 0;
    for chunk in chunks {
        let candidate =
            chunk.get("candidates").and_then(Value::as_array).and_then(|all| all.first());
        let content = candidate.and_then(|candidate| candidate.get("content"));
        let parts = content.and_then(|content| content.get("parts")).and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            if let Some(call) = part.get("functionCall") {
                number += 1;
                let made_up = format!("call-{}-{number}", time.as_deref().unwrap_or_default());
                let id = text(call, "id").unwrap_or(&made_up);
                let args = call.get("args").cloned().unwrap_or_else(|| json!({}));
                out.call(
                    Call::new(id, text(call, "name").unwrap_or("unknown"), args),
                    time.clone(),
                );
            } else if let Some(said) = text(part, "text") {
                if part.get("thought") == Some(&Value::Bool(true)) {
                    out.thought(said, time.clone());
                } else {
                    out.words(said, time.clone());
                }
            }
        }
    }
}

fn tool_call(record: &Value, out: &mut Writer, time: Option<String>) {
    let name = text(record, "function_name").unwrap_or("unknown");
    let args = text(record, "function_args").and_then(parsed);
    let status = match (record.get("success"), text(record, "decision")) {
        (_, Some("reject")) => "cancelled",
        (Some(Value::Bool(false)), _) => "error",
        _ => "success",
    };
    let known = out.open_call(name, args.as_ref());
    let id = known.unwrap_or_else(|| {
        // The reply that asked for it is not in the log.
        let id = format!("call-{}-{name}", time.as_deref().unwrap_or_default());
        out.call(Call::new(&id, name, args.unwrap_or_else(|| json!({}))), time);
        id
    });
    out.result(Some(&id), status, text(record, "error"));
}
