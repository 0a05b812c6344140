//! Tool calls: arguments, outcome and results.

use std::borrow::Cow;

use recount_model::{Media, MediaData, OutputState, RawJson, ToolCall, ToolStatus};

use super::body::{inline, time};
use super::facts::string;
use super::result_display::{self, Display};
use crate::json::{Fields, JsonScan, JsonTree, Scanner, Text, compact};
use crate::source::Detail;

/// Reads the value of `toolCalls`.
pub(crate) fn calls(scanner: &mut Scanner<'_>, detail: Detail) -> JsonScan<Vec<ToolCall>> {
    let mut calls = Vec::new();
    if scanner.peek()? != b'[' {
        scanner.skip()?;
        return Ok(calls);
    }
    scanner.array(|scanner| {
        if scanner.peek()? == b'{' {
            calls.push(call(scanner, detail)?);
            Ok(())
        } else {
            scanner.skip()
        }
    })?;
    Ok(calls)
}

fn call(scanner: &mut Scanner<'_>, detail: Detail) -> JsonScan<ToolCall> {
    let mut call = ToolCall::named("");
    let mut result: &[u8] = b"null";
    let mut shown: &[u8] = b"null";
    let owned = |text: Option<Text<'_>>| text.map(|text| text.decode().into_owned());
    scanner.object(|scanner, key| {
        match key.name().as_ref() {
            b"id" => call.id = owned(string(scanner)?),
            b"name" => call.name = owned(string(scanner)?).unwrap_or_default(),
            b"displayName" => call.display_name = owned(string(scanner)?),
            b"description" => call.description = owned(string(scanner)?),
            b"agentId" => call.agent_id = owned(string(scanner)?),
            b"timestamp" => call.time = owned(string(scanner)?).as_deref().and_then(time),
            b"status" => call.status = status(&owned(string(scanner)?).unwrap_or_default()),
            b"args" => {
                let raw = scanner.value()?;
                if detail == Detail::Whole {
                    call.args = RawJson::new(compact(raw));
                }
                call.key_arg = key_arg(raw);
            }
            b"result" => result = scanner.value()?,
            b"resultDisplay" => shown = scanner.value()?,
            _ => scanner.skip()?,
        }
        Ok(())
    })?;
    let is_wanted = detail == Detail::Whole || call.status == ToolStatus::Error;
    if let Some(result) = is_wanted.then(|| JsonTree::parse(result).ok()).flatten() {
        call.output = output(&result, call.id.as_deref());
        call.media = media(&result, call.id.as_deref());
    }
    call.output_state = call.output.as_deref().map_or(OutputState::Whole, cut_state);
    // Displayed text is not a diff.
    match if is_wanted || !shown.starts_with(b"\"") {
        result_display::read(shown)
    } else {
        Display::None
    } {
        Display::None => {}
        Display::Text(text) => call.display = Some(text),
        Display::Diff(diff) => call.diff = Some(diff),
    }
    Ok(call)
}

fn status(word: &str) -> ToolStatus {
    match word {
        "success" => ToolStatus::Success,
        "error" => ToolStatus::Error,
        "cancelled" => ToolStatus::Cancelled,
        other => ToolStatus::Other(other.to_owned()),
    }
}

/// Returns the most telling argument, in order of preference. Only candidates are decoded: others may be whole files.
pub(crate) fn key_arg(args: &[u8]) -> Option<String> {
    const TELLING: &[&str] = &[
        "command",
        "file_path",
        "absolute_path",
        "path",
        "pattern",
        "query",
        "url",
        "dir_path",
        "prompt",
        "objective",
        "agent_name",
        "name",
        "fact",
        "title",
        "question",
        "paths",
        "include",
    ];
    let mut scanner = Scanner::new(args);
    if scanner.peek() != Ok(b'{') {
        return None;
    }
    let mut fields: Fields<Cow<'_, str>, &[u8]> = Fields::default();
    scanner
        .object(|scanner, key| {
            fields.put(key.decode(), scanner.value()?);
            Ok(())
        })
        .ok()?;
    let fields = fields.all;
    let get = |key: &&str| fields.iter().find(|(known, _)| known == key);
    let telling = TELLING.iter().filter_map(get).find_map(|(_, value)| words(value));
    telling.or_else(|| fields.iter().find_map(|(_, value)| words(value)))
}

/// Returns an argument that is a word or a list of words.
fn words(raw: &[u8]) -> Option<String> {
    match JsonTree::parse(raw).ok()? {
        JsonTree::String(text) | JsonTree::Number(text) => Some(text),
        JsonTree::Array(all) => {
            let words: Vec<&str> = all.iter().filter_map(JsonTree::as_str).collect();
            (!words.is_empty()).then(|| words.join(" "))
        }
        JsonTree::Null | JsonTree::Bool(_) | JsonTree::Object(_) | JsonTree::Deep(_) => None,
    }
}

/// Returns the call's own output from `result`, which may have the responses of a whole turn.
fn output(result: &JsonTree, id: Option<&str>) -> Option<String> {
    match result {
        JsonTree::String(text) => Some(text.clone()),
        JsonTree::Array(parts) => {
            let response = |part: &'_ JsonTree| part.get("functionResponse").is_some();
            let own = parts.iter().find(|part| {
                let part_id = part.get("functionResponse").and_then(|response| response.text("id"));
                id.is_some() && part_id == id
            });
            own.or_else(|| parts.iter().find(|part| response(part)))
                .and_then(part_output)
                .or_else(|| parts.iter().find_map(part_output))
        }
        JsonTree::Object(_) => part_output(result),
        JsonTree::Null | JsonTree::Bool(_) | JsonTree::Number(_) | JsonTree::Deep(_) => None,
    }
}

fn part_output(part: &JsonTree) -> Option<String> {
    if let Some(text) = part.as_str().or_else(|| part.text("text")) {
        return Some(text.to_owned());
    }
    response_text(part.get("functionResponse")?.get("response")?)
}

/// Returns the binary parts of the call's own output: within its response, or after it up to the next one.
fn media(result: &JsonTree, id: Option<&str>) -> Vec<Media> {
    let mut found = Vec::new();
    let mut is_own = true;
    for part in result.as_array().unwrap_or_default() {
        let response = part.get("functionResponse");
        if let Some(response) = response {
            let name = response.text("id");
            is_own = name.is_none() || name == id;
        }
        if is_own {
            let within = response.and_then(|response| response.get("parts")?.as_array());
            found.extend(within.unwrap_or_default().iter().filter_map(binary));
            found.extend(binary(part));
        }
    }
    found
}

fn binary(part: &JsonTree) -> Option<Media> {
    let text = |tree: &JsonTree, name| tree.text(name).unwrap_or_default().to_owned();
    if let Some(data) = part.get("inlineData") {
        return Some(inline(text(data, "mimeType"), data.text("data").map(str::to_owned)));
    }
    let mime = text(part.get("fileData")?, "mimeType");
    Some(Media { mime, bytes: 0, held: MediaData::Elsewhere })
}

/// Returns the text of a `response` object: output, else error, else all of it.
pub(crate) fn response_text(response: &JsonTree) -> Option<String> {
    let output = response.text("output").filter(|text| !text.is_empty());
    if let Some(text) =
        output.or_else(|| response.text("error")).or_else(|| response.text("output"))
    {
        return Some(text.to_owned());
    }
    let fields = response.as_object()?;
    (!fields.is_empty()).then(|| to_json(response))
}

/// Whether the agent cut or masked an output, by the words that replace it.
pub(crate) fn cut_state(output: &str) -> OutputState {
    if output.trim_start().starts_with("<tool_output_masked>") {
        OutputState::Masked
    } else if output.starts_with("Output too large. Showing first ")
        || output.starts_with("Tool output was too large and has been truncated.")
        || output.contains("\n... [CONTENT TRUNCATED] ...\n")
    {
        OutputState::Truncated
    } else {
        OutputState::Whole
    }
}

fn to_json(tree: &JsonTree) -> String {
    match tree {
        JsonTree::Null => "null".to_owned(),
        JsonTree::Bool(value) => value.to_string(),
        JsonTree::Number(text) | JsonTree::Deep(text) => text.clone(),
        JsonTree::String(text) => quoted(text),
        JsonTree::Array(all) => {
            let parts: Vec<String> = all.iter().map(to_json).collect();
            format!("[{}]", parts.join(","))
        }
        JsonTree::Object(fields) => {
            let parts: Vec<String> = fields
                .iter()
                .map(|(key, value)| format!("{}:{}", quoted(key), to_json(value)))
                .collect();
            format!("{{{}}}", parts.join(","))
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
