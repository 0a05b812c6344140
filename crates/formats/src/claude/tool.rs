//! Tool calls: what was asked, how it ended, what came back.

use std::fmt::Write as _;

use jiff::Timestamp;
use recount_model::{Media, OutputState, RawJson, ToolCall, ToolStatus};

use super::body::{add_text, media};
use crate::id_index::IdIndex;
use crate::json::JsonTree;
use crate::source::{Detail, FileAccess, FileTouch};

/// A call while it is read.
#[derive(Debug)]
pub(crate) struct CallBody {
    call: ToolCall,
    args: JsonTree,
}

/// Arguments, the most important first.
const TELLING: &[&str] = &[
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
    "skill",
    "subject",
    "name",
    "title",
    "question",
];

/// Reads a `tool_use` block.
pub(crate) fn call(block: &JsonTree, time: Option<Timestamp>, detail: Detail) -> CallBody {
    let name = block.text("name").unwrap_or_default();
    let args = block.get("input").cloned().unwrap_or(JsonTree::Null);
    let mut call = ToolCall::named(name);
    call.id = block.text("id").map(str::to_owned);
    call.time = time;
    call.key_arg = key_arg(&args);
    call.description = args.text("description").map(str::to_owned);
    if detail == Detail::Whole {
        call.args = RawJson::new(to_json(&args));
    }
    CallBody { call, args }
}

fn key_arg(args: &JsonTree) -> Option<String> {
    let told = TELLING.iter().find_map(|name| args.text(name));
    let any = || args.as_object().unwrap_or_default().iter().find_map(|(_, value)| value.as_str());
    told.or_else(any).map(str::to_owned)
}

/// Takes the results in a user row. The rich result is that of the row's only result.
pub(crate) fn results(
    calls: &mut [CallBody],
    index: &mut IdIndex,
    content: Option<&[u8]>,
    rich: Option<&[u8]>,
    detail: Detail,
) {
    let Some(content) = content.and_then(|raw| JsonTree::parse(raw).ok()) else { return };
    let blocks = content.as_array().unwrap_or_default();
    let is_result = |block: &&JsonTree| block.text("type") == Some("tool_result");
    let alone = blocks.iter().filter(is_result).count() == 1;
    let rich = rich.filter(|_| alone).and_then(|raw| JsonTree::parse(raw).ok());
    for block in blocks.iter().filter(is_result) {
        let id = block.text("tool_use_id");
        let known = index.find(calls, |body| body.call.id.as_deref(), id);
        let Some(body) = known.and_then(|at| calls.get_mut(at)) else { continue };
        let call = &mut body.call;
        let text = block.get("content").and_then(text_of);
        call.status = status(block, text.as_deref());
        let is_wanted = detail == Detail::Whole || call.status != ToolStatus::Success;
        if let Some(rich) = &rich {
            enrich(call, rich, is_wanted);
        }
        if is_wanted {
            call.output_state = text.as_deref().map_or(OutputState::Whole, cut_state);
            call.media = media_of(block.get("content"));
            call.output = text;
        }
    }
}

/// Takes the result of a tool that the service itself ran.
pub(crate) fn server_result(calls: &mut [CallBody], index: &mut IdIndex, block: &JsonTree) {
    let id = block.text("tool_use_id");
    let known = index.find(calls, |body| body.call.id.as_deref(), id);
    let Some(body) = known.and_then(|at| calls.get_mut(at)) else { return };
    let content = block.get("content");
    let failed = content.and_then(|content| content.get("error_code")).is_some();
    body.call.status = if failed { ToolStatus::Error } else { ToolStatus::Success };
    body.call.output = content.map(|content| text_of(content).unwrap_or_else(|| to_json(content)));
}

fn status(block: &JsonTree, text: Option<&str>) -> ToolStatus {
    if block.get("is_error") != Some(&JsonTree::Bool(true)) {
        return ToolStatus::Success;
    }
    let text = text.unwrap_or_default();
    if text.starts_with("The user doesn't want to") || text.starts_with("[Request interrupted") {
        ToolStatus::Cancelled
    } else {
        ToolStatus::Error
    }
}

/// Returns whether an output was cut: its file has the rest, or nothing has.
fn cut_state(text: &str) -> OutputState {
    if text.starts_with("<persisted-output>")
        || super::overflow::is_saved(text)
        || text.contains("\n... [") && text.contains("truncated] ...")
    {
        return OutputState::Truncated;
    }
    if text == "[Old tool result content cleared]" {
        OutputState::Masked
    } else {
        OutputState::Whole
    }
}

/// Adds what only the rich result has: the change, the sub-agent, the displayed output.
fn enrich(call: &mut ToolCall, rich: &JsonTree, is_wanted: bool) {
    call.agent_id = rich.text("agentId").map(str::to_owned);
    if rich.get("structuredPatch").is_some() {
        call.diff = patch(rich);
    }
    if !is_wanted {
        return;
    }
    if let Some(todos) = rich.get("newTodos").and_then(JsonTree::as_array) {
        call.display = Some(todos.iter().map(todo).collect::<Vec<_>>().join("\n"));
    } else if let (Some(out), Some(err)) = (rich.text("stdout"), rich.text("stderr")) {
        let mut shown = out.to_owned();
        if !err.is_empty() {
            add_text(&mut shown, err);
        }
        call.display = Some(shown).filter(|shown| !shown.is_empty());
    }
}

fn todo(todo: &JsonTree) -> String {
    let mark = match todo.text("status") {
        Some("completed") => "[x]",
        Some("in_progress") => "[>]",
        _ => "[ ]",
    };
    format!("{mark} {}", todo.text("content").unwrap_or_default())
}

/// Makes a unified diff of a structured patch; of a file that is new, of its content.
fn patch(rich: &JsonTree) -> Option<String> {
    let path = rich.text("filePath")?;
    let hunks = rich.get("structuredPatch")?.as_array()?;
    if hunks.is_empty() {
        let is_new = rich.text("type") == Some("create");
        return rich.text("content").filter(|_| is_new).map(|content| created(path, content));
    }
    let mut diff = format!("--- {path}\n+++ {path}\n");
    let count = |hunk: &JsonTree, name: &str| match hunk.get(name) {
        Some(JsonTree::Number(text)) => text.clone(),
        _ => "0".to_owned(),
    };
    for hunk in hunks {
        let [old, old_lines, new, new_lines] =
            ["oldStart", "oldLines", "newStart", "newLines"].map(|name| count(hunk, name));
        // Writing to a string does not fail.
        let _written = writeln!(diff, "@@ -{old},{old_lines} +{new},{new_lines} @@");
        let lines = hunk.get("lines").and_then(JsonTree::as_array).unwrap_or_default();
        for line in lines.iter().filter_map(JsonTree::as_str) {
            diff.push_str(line);
            diff.push('\n');
        }
    }
    Some(diff)
}

fn created(path: &str, content: &str) -> String {
    let lines = content.lines().count();
    let mut diff = format!("--- /dev/null\n+++ {path}\n@@ -0,0 +1,{lines} @@\n");
    for line in content.lines() {
        diff.push('+');
        diff.push_str(line);
        diff.push('\n');
    }
    diff
}

/// Finishes a message: for calls without a rich result, the change is what the call asked for.
pub(crate) fn finish(calls: Vec<CallBody>, detail: Detail) -> Vec<ToolCall> {
    let finished = |body: CallBody| {
        let CallBody { mut call, args } = body;
        if call.diff.is_none() && call.status == ToolStatus::Success && detail == Detail::Whole {
            call.diff = asked_change(&call.name, &args);
        }
        call
    };
    calls.into_iter().map(finished).collect()
}

fn asked_change(tool: &str, args: &JsonTree) -> Option<String> {
    let path = args.text("file_path")?;
    let mut diff = format!("--- {path}\n+++ {path}\n");
    let edits = match tool {
        "Write" => return args.text("content").map(|content| created(path, content)),
        "Edit" => std::slice::from_ref(args),
        "MultiEdit" => args.get("edits")?.as_array()?,
        _ => return None,
    };
    for edit in edits {
        let (old, new) = (edit.text("old_string")?, edit.text("new_string")?);
        let _written =
            writeln!(diff, "@@ -1,{} +1,{} @@", old.lines().count(), new.lines().count());
        for (mark, text) in [('-', old), ('+', new)] {
            for line in text.lines() {
                diff.push(mark);
                diff.push_str(line);
                diff.push('\n');
            }
        }
    }
    Some(diff)
}

/// Returns the text of a content: a string, or its text blocks.
pub(crate) fn text_of(content: &JsonTree) -> Option<String> {
    if let Some(text) = content.as_str() {
        return Some(text.to_owned());
    }
    let mut all = String::new();
    for block in content.as_array()? {
        match block.text("type") {
            Some("tool_reference") => {
                add_text(&mut all, block.text("tool_name").unwrap_or_default());
            }
            _ => add_text(
                &mut all,
                block.text("text").or_else(|| block.as_str()).unwrap_or_default(),
            ),
        }
    }
    Some(all)
}

/// Returns the images of a content.
pub(crate) fn media_of(content: Option<&JsonTree>) -> Vec<Media> {
    let blocks = content.and_then(JsonTree::as_array).unwrap_or_default();
    let is_media = |block: &&JsonTree| matches!(block.text("type"), Some("image" | "document"));
    blocks.iter().filter(is_media).filter_map(media).collect()
}

/// Lists the paths that a call names. What a call that did not get through would have read or written is only named.
pub(crate) fn touched(call: &ToolCall) -> Vec<FileTouch> {
    let reach = match call.name.as_str() {
        "Read" | "NotebookRead" => FileAccess::Read,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => FileAccess::Written,
        _ => FileAccess::Named,
    };
    let names = ["file_path", "notebook_path", "path"];
    if !names.iter().any(|name| call.args.as_str().contains(&format!("\"{name}\":"))) {
        return Vec::new();
    }
    let Ok(args) = JsonTree::parse(call.args.as_str().as_bytes()) else { return Vec::new() };
    let paths = names.iter().filter_map(|name| args.text(name)).filter(|path| !path.is_empty());
    let touch = |path: &str| {
        let certain = call.status == ToolStatus::Success && !path.contains('*');
        FileTouch { path: path.to_owned(), how: if certain { reach } else { FileAccess::Named } }
    };
    paths.map(touch).collect()
}

/// Writes a value as JSON.
pub(crate) fn to_json(tree: &JsonTree) -> String {
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    match tree {
        JsonTree::Null => "null".to_owned(),
        JsonTree::Bool(value) => value.to_string(),
        JsonTree::Number(text) | JsonTree::Deep(text) => text.clone(),
        JsonTree::String(text) => quoted(text),
        JsonTree::Array(all) => {
            format!("[{}]", all.iter().map(to_json).collect::<Vec<_>>().join(","))
        }
        JsonTree::Object(fields) => {
            let field =
                |(key, value): &(String, JsonTree)| format!("{}:{}", quoted(key), to_json(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
        }
    }
}
