//! Calls of tools: what was asked, what came back, what it changed.

use recount_model::{Message, RawJson, ToolCall, ToolStatus};

use crate::id_index::IdIndex;
use crate::json::{JsonTree, compact};
use crate::source::Detail;

use super::outputs::{Ending, ending, unwrapped};
use super::patch;

/// Reads a call as the model made it.
pub(super) fn call(kind: &str, item: &JsonTree, detail: Detail) -> ToolCall {
    let name = item.text("name").unwrap_or_else(|| kind.trim_end_matches("_call"));
    let given = item.text("arguments").or_else(|| item.text("input"));
    let args = match (given, item.get("action")) {
        (Some(given), _)
            if item.text("arguments").is_some() && JsonTree::parse(given.as_bytes()).is_ok() =>
        {
            compact(given.as_bytes())
        }
        (Some(given), _) => format!("{{\"input\":{}}}", quoted(given)),
        (None, Some(action)) => written(action),
        (None, None) => "null".to_owned(),
    };
    let mut call = ToolCall {
        id: item.text("call_id").or_else(|| item.text("id")).map(str::to_owned),
        key_arg: key_arg(name, &args),
        status: match item.text("status") {
            Some("failed") => ToolStatus::Error,
            // Calls of the service itself have no output of their own.
            Some("completed") if matches!(kind, "web_search_call" | "image_generation_call") => {
                ToolStatus::Success
            }
            _ => ToolStatus::Other(String::new()),
        },
        diff: patch_of(name, &args).and_then(|text| patch::diff(&text)),
        ..ToolCall::named(name)
    };
    call.output = item.text("revised_prompt").map(str::to_owned);
    if detail == Detail::Whole {
        call.args = RawJson::new(args);
    }
    call
}

/// Returns the patch that a call applies, which may be in a shell command.
pub(super) fn patch_of(name: &str, args: &str) -> Option<String> {
    if !args.contains("*** Begin Patch") {
        return None;
    }
    let tree = JsonTree::parse(args.as_bytes()).ok()?;
    let text = if name == "apply_patch" {
        tree.text("input").map(str::to_owned)
    } else {
        let command = tree.get("command").or_else(|| tree.get("cmd"));
        let words = command
            .and_then(JsonTree::as_array)
            .unwrap_or_default()
            .iter()
            .filter_map(JsonTree::as_str);
        let patch = words.into_iter().find(|word| word.contains("*** Begin Patch"));
        patch.or_else(|| command.and_then(JsonTree::as_str)).map(str::to_owned)
    }?;
    let from = text.find("*** Begin Patch")?;
    text.get(from..).map(str::to_owned)
}

/// Gives an output to its call.
pub(super) fn add_output(
    message: &mut Message,
    index: &mut IdIndex,
    item: &JsonTree,
    detail: Detail,
) {
    let id = item.text("call_id");
    let (text, media) = match item.get("output") {
        Some(JsonTree::Array(parts)) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.text("text")).collect();
            let media =
                parts.iter().filter_map(|part| super::body::data_url(part.text("image_url")?));
            (texts.join("\n"), media.collect())
        }
        Some(JsonTree::String(text)) => (text.clone(), Vec::new()),
        Some(other) => {
            (other.text("content").map_or_else(|| written(other), str::to_owned), Vec::new())
        }
        None => (String::new(), Vec::new()),
    };
    let raw = quoted(&text);
    let known = index.find(&message.tool_calls, |call| call.id.as_deref(), id);
    let at = known.unwrap_or_else(|| {
        message
            .tool_calls
            .push(ToolCall { id: id.map(str::to_owned), ..ToolCall::named("unknown") });
        message.tool_calls.len() - 1
    });
    let Some(call) = message.tool_calls.get_mut(at) else { return };
    let failed_before = call.status == ToolStatus::Error;
    call.status = match ending(Some(raw.as_bytes())) {
        Ending::Cancelled => ToolStatus::Cancelled,
        Ending::Failed => ToolStatus::Error,
        Ending::Unknown if failed_before => ToolStatus::Error,
        Ending::Fine | Ending::Unknown => ToolStatus::Success,
    };
    if call.name == "spawn_agent"
        && let Ok(tree) = JsonTree::parse(text.as_bytes())
    {
        call.agent_id = tree.text("agent_id").map(str::to_owned);
    }
    if detail == Detail::Whole || call.status != ToolStatus::Success {
        call.output = Some(unwrapped(&text));
    }
    call.media = media;
}

/// Adds what an event records of a call: how it ended, what it changed. An unknown call is a step of a script.
pub(super) fn add_detail(
    message: &mut Message,
    index: &mut IdIndex,
    item: &JsonTree,
    id: Option<&str>,
    detail: Detail,
) {
    let known =
        id.and_then(|id| index.find(&message.tool_calls, |call| call.id.as_deref(), Some(id)));
    let at = known.unwrap_or_else(|| {
        message.tool_calls.push(step(item, id, detail));
        message.tool_calls.len() - 1
    });
    let Some(call) = message.tool_calls.get_mut(at) else { return };
    let code = item.get("exit_code").is_some_and(|code| {
        !matches!(code, JsonTree::Null) && *code != JsonTree::Number("0".into())
    });
    let status = item.text("status").unwrap_or_default();
    if code
        || matches!(status, "failed" | "declined")
        || item.get("success") == Some(&JsonTree::Bool(false))
    {
        call.status = ToolStatus::Error;
    } else if known.is_none() {
        call.status = ToolStatus::Success;
    }
    if let Some(changes) = item.get("changes").and_then(JsonTree::as_object) {
        call.diff =
            Some(patch::of_changes(changes)).filter(|diff| !diff.is_empty()).or(call.diff.take());
    }
    if let Some(agent) =
        item.get("receiver_thread_ids").and_then(JsonTree::as_array).and_then(|all| all.first())
    {
        call.agent_id = call.agent_id.take().or_else(|| agent.as_str().map(str::to_owned));
    }
}

/// A step of a script, which is known by its event alone.
fn step(item: &JsonTree, id: Option<&str>, detail: Detail) -> ToolCall {
    let name = step_name(item.text("type").unwrap_or_default().as_bytes());
    let command = item.get("command").map(command_line);
    let paths = item.get("changes").and_then(JsonTree::as_object).unwrap_or_default();
    let paths: Vec<&str> = paths.iter().map(|(path, _)| path.as_str()).collect();
    let args = match &command {
        Some(command) => format!("{{\"cmd\":{}}}", quoted(command)),
        None if !paths.is_empty() => {
            let all: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
            format!("{{\"paths\":[{}]}}", all.join(","))
        }
        None => item
            .get("arguments")
            .or_else(|| item.get("invocation"))
            .map_or_else(|| "null".to_owned(), written),
    };
    let output = item.text("aggregated_output").or_else(|| item.text("stdout"));
    ToolCall {
        id: id.map(str::to_owned),
        key_arg: command.or_else(|| paths.first().map(|path| (*path).to_owned())),
        args: if detail == Detail::Whole { RawJson::new(args) } else { RawJson::default() },
        output: output.filter(|_| detail == Detail::Whole).map(str::to_owned),
        ..ToolCall::named(name)
    }
}

/// The name of a step, by the type of its event.
pub(super) fn step_name(kind: &[u8]) -> &'static str {
    match kind {
        b"CommandExecution" | b"exec_command_end" => "exec_command",
        b"FileChange" | b"patch_apply_end" => "apply_patch",
        b"McpToolCall" | b"mcp_tool_call_end" => "mcp",
        _ => "tool",
    }
}

/// Returns the threads that a call to another agent reached.
pub(super) fn receivers(item: &[u8]) -> Option<Vec<Box<str>>> {
    let tree = JsonTree::parse(item).ok()?;
    let all = tree.get("receiver_thread_ids")?.as_array()?;
    Some(all.iter().filter_map(JsonTree::as_str).map(Into::into).collect())
}

/// Returns a command as it would be typed.
pub(super) fn command(value: Option<&JsonTree>) -> String {
    value.map(command_line).unwrap_or_default()
}

/// Of `bash -lc "…"` only the script is returned.
fn command_line(value: &JsonTree) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    let words: Vec<&str> =
        value.as_array().unwrap_or_default().iter().filter_map(JsonTree::as_str).collect();
    match words.as_slice() {
        [shell, flag, script]
            if flag.starts_with('-') && flag.ends_with('c') && shell.ends_with("sh") =>
        {
            (*script).to_owned()
        }
        _ => words.join(" "),
    }
}

/// Returns the most important argument.
fn key_arg(name: &str, args: &str) -> Option<String> {
    if let Some(patch) = patch_of(name, args) {
        return patch::paths(&patch).into_iter().next().map(|(path, _)| path);
    }
    let tree = JsonTree::parse(args.as_bytes()).ok()?;
    let command = tree.get("command").or_else(|| tree.get("cmd"));
    if let Some(command) = command {
        return Some(command_line(command)).filter(|line| !line.is_empty());
    }
    let telling = [
        "path",
        "file_path",
        "query",
        "pattern",
        "url",
        "message",
        "input",
        "task",
        "prompt",
        "name",
        "id",
    ];
    let known = telling.iter().find_map(|key| tree.text(key));
    let any = || tree.as_object()?.iter().find_map(|(_, value)| value.as_str());
    known.or_else(any).map(str::to_owned)
}

/// Writes text as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Writes a value as JSON.
fn written(value: &JsonTree) -> String {
    match value {
        JsonTree::Null => "null".to_owned(),
        JsonTree::Bool(is) => is.to_string(),
        JsonTree::Number(number) => number.clone(),
        JsonTree::String(text) => quoted(text),
        JsonTree::Array(all) => {
            format!("[{}]", all.iter().map(written).collect::<Vec<_>>().join(","))
        }
        JsonTree::Object(fields) => {
            let field =
                |(key, value): &(String, JsonTree)| format!("{}:{}", quoted(key), written(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
        }
        JsonTree::Deep(text) => text.clone(),
    }
}
