//! Conversations of other agents, written as threads of this one: the form that all releases since 0.32 read.

use jiff::Timestamp;
use recount_model::{Media, ToolCall};
use serde_json::{Value, json};

use crate::handover::{
    Arguments as _, HandoverCall, HandoverFormat, HandoverMessage, HandoverRole, HandoverSession,
    HandoverTask, HandoverWriter, ToolAction, Unwritten, arguments, diff, image, object,
    shell_word, tool_name,
};
use crate::json::JsonTree;
use crate::stream::{line, made_up_uuid, time_text};

use super::patch::{self, Does};
use super::tool::{command, patch_of};

/// The release whose records are written. Newer ones read them too.
const RELEASE: &str = "0.144.6";

/// Threads.
#[derive(Debug)]
pub(super) struct Handover;

impl HandoverFormat for Handover {
    fn writer<'a>(&self, session: &'a HandoverSession<'a>) -> Box<dyn HandoverWriter + 'a> {
        Box::new(Writer { session, calls: 0 })
    }

    fn action(&self, call: &ToolCall) -> Option<ToolAction> {
        action(call)
    }
}

fn action(call: &ToolCall) -> Option<ToolAction> {
    let raw = call.args.as_str();
    if let Some(patch) = patch_of(&call.name, raw) {
        return patched(&patch);
    }
    let args = arguments(call);
    match call.name.as_str() {
        "shell" | "local_shell" | "shell_command" | "exec_command" | "container.exec" => {
            let tree = JsonTree::parse(raw.as_bytes()).ok()?;
            let command = command(tree.get("command").or_else(|| tree.get("cmd")));
            let folder = args.text(&["workdir", "working_directory"]);
            (!command.is_empty()).then_some(ToolAction::Shell { command, folder })
        }
        "update_plan" => HandoverTask::list(&args, "plan", "step").map(ToolAction::Tasks),
        "web_search" => Some(ToolAction::SearchWeb { query: args.text(&["query"])? }),
        _ => None,
    }
}

/// Returns what a patch does, if it is one change of one file: other agents have no tool for more.
fn patched(text: &str) -> Option<ToolAction> {
    let paths = patch::paths(text);
    let [(path, does)] = paths.as_slice() else { return None };
    let body = || text.lines().filter(|line| !line.starts_with("***"));
    let sided = |sign: char| {
        let lines = body().filter(|line| line.starts_with([' ', sign]));
        lines.filter_map(|line| line.get(1..)).collect::<Vec<_>>().join("\n")
    };
    match does {
        Does::Add => {
            let mut content = sided('+');
            content.push('\n');
            Some(ToolAction::Write { path: path.clone(), content })
        }
        Does::Update => {
            let is_moved = text.lines().any(|line| line.starts_with("*** Move to:"));
            let hunks = body().filter(|line| line.starts_with("@@")).count();
            if is_moved || hunks > 1 {
                return None;
            }
            let (old, new) = (sided('-'), sided('+'));
            Some(ToolAction::Edit { path: path.clone(), old, new, all: false })
        }
        Does::Delete => None,
    }
}

/// A call as this agent makes it.
enum Tool {
    Function(&'static str, Value),
    Patch(String),
}

/// Returns this agent's tool for an action; it reads and searches files with commands.
fn tool(action: &ToolAction, call: &HandoverCall) -> Option<Tool> {
    let run = |words: &[&str]| {
        let command = words.join(" ");
        Some(Tool::Function("exec_command", json!({"cmd": command})))
    };
    match action {
        ToolAction::Shell { command, folder } => {
            let args = object([("cmd", json!(command)), ("workdir", json!(folder))]);
            Some(Tool::Function("exec_command", args))
        }
        ToolAction::Read { path, first: None, lines: None } => run(&["cat", &shell_word(path)]),
        ToolAction::Read { path, first, lines } => {
            let first = first.unwrap_or(1).max(1);
            let last = lines.map(|lines| first.saturating_add(lines).saturating_sub(1));
            let last = last.map_or_else(|| "$".to_owned(), |last| last.to_string());
            run(&["sed", "-n", &format!("'{first},{last}p'"), &shell_word(path)])
        }
        ToolAction::Write { path, content } => {
            let lines: String = content.lines().flat_map(|line| ["+", line, "\n"]).collect();
            Some(Tool::Patch(patch_text(&format!("Add File: {}", one_line(path)), &lines)))
        }
        ToolAction::Edit { path, .. } => {
            let files = diff::files(call.diff.as_deref()?);
            let [file] = files.as_slice() else { return None };
            let hunks = file.hunks.iter().map(|hunk| {
                let lines = hunk.lines.iter().filter(|line| !line.starts_with('\\'));
                let lines: String = lines.flat_map(|line| [line.as_str(), "\n"]).collect();
                format!("@@\n{lines}")
            });
            let hunks: String = hunks.collect();
            let heading = format!("Update File: {}", one_line(path));
            (!hunks.is_empty()).then(|| Tool::Patch(patch_text(&heading, &hunks)))
        }
        ToolAction::SearchText { pattern, path, files } => {
            let mut words = vec!["rg".to_owned(), "-n".to_owned()];
            if let Some(files) = files {
                words.extend(["-g".to_owned(), shell_word(files)]);
            }
            words.extend(["-e".to_owned(), shell_word(pattern)]);
            words.extend(path.as_deref().map(shell_word));
            run(&words.iter().map(String::as_str).collect::<Vec<_>>())
        }
        ToolAction::FindFiles { pattern, path } => {
            let path = path.as_deref().map(shell_word).unwrap_or_default();
            let line = format!("rg --files -g {} {path}", shell_word(pattern));
            run(&[line.trim_end()])
        }
        ToolAction::ListFolder { path } => run(&["ls", "-a", &shell_word(path)]),
        ToolAction::Tasks(tasks) => {
            let step = |task: &HandoverTask| json!({"step": task.text, "status": task.status});
            let plan: Vec<Value> = tasks.iter().map(step).collect();
            Some(Tool::Function("update_plan", json!({"plan": plan})))
        }
        ToolAction::FetchPage { .. } | ToolAction::SearchWeb { .. } => None,
    }
}

fn patch_text(heading: &str, lines: &str) -> String {
    format!("*** Begin Patch\n*** {heading}\n{lines}*** End Patch\n")
}

/// A path in a heading ends with its line.
fn one_line(path: &str) -> String {
    path.replace(['\n', '\r'], " ")
}

struct Writer<'a> {
    session: &'a HandoverSession<'a>,
    calls: u64,
}

impl HandoverWriter for Writer<'_> {
    fn begin(&mut self, out: &mut Vec<u8>) {
        let time = self.session.started;
        let meta = json!({
            "id": self.session.id.as_str(),
            "timestamp": time_text(time),
            "cwd": self.session.folder,
            "originator": "codex_cli_rs",
            "cli_version": RELEASE,
            "source": "cli",
        });
        record(time, "session_meta", &meta, out);
        item(time, &said("developer", &[input_text(self.session.note)]), out);
    }

    fn message(&mut self, message: &HandoverMessage, out: &mut Vec<u8>) -> Unwritten {
        match message.role {
            HandoverRole::User => prompt(message, out),
            HandoverRole::Model => self.answer(message, out),
        }
    }
}

fn prompt(message: &HandoverMessage, out: &mut Vec<u8>) -> Unwritten {
    let mut parts = Vec::new();
    if !message.text.is_empty() {
        parts.push(input_text(&message.text));
    }
    let media = add_images(&mut parts, &message.media);
    if !parts.is_empty() {
        item(message.time, &said("user", &parts), out);
        // Without the event the agent lists no thread.
        let event = json!({
            "type": "user_message",
            "message": message.text,
            "images": [],
            "local_images": [],
            "text_elements": [],
        });
        record(message.time, "event_msg", &event, out);
    }
    // Without an event they are context of the prompt.
    for file in &message.files {
        let text = format!("Attached file {}:\n{}", file.path, file.content);
        item(message.time, &said("user", &[input_text(&text)]), out);
    }
    Unwritten { media, ..Unwritten::default() }
}

impl Writer<'_> {
    fn answer(&mut self, message: &HandoverMessage, out: &mut Vec<u8>) -> Unwritten {
        let mut unwritten = Unwritten { media: message.media.len() as u64, ..Unwritten::default() };
        if !message.text.trim().is_empty() {
            let event = json!({"type": "agent_message", "message": message.text});
            record(message.time, "event_msg", &event, out);
            let part = json!({"type": "output_text", "text": message.text});
            item(message.time, &said("assistant", &[part]), out);
        }
        let first = self.calls;
        let mut outputs = Vec::new();
        for call in &message.calls {
            self.calls += 1;
            let id = self.call_id(self.calls);
            let known = call.action.as_ref().and_then(|action| tool(action, call));
            let (made, kind) = match known {
                Some(Tool::Function(name, args)) => (function(&id, name, &args), "function"),
                Some(Tool::Patch(patch)) => {
                    let made = json!({
                        "type": "custom_tool_call",
                        "status": "completed",
                        "call_id": id,
                        "name": "apply_patch",
                        "input": patch,
                    });
                    (made, "custom_tool")
                }
                None => {
                    unwritten.tools.push(call.name.clone());
                    let args = Value::Object(call.args.clone());
                    (function(&id, &tool_name(&call.name), &args), "function")
                }
            };
            item(message.time, &made, out);
            outputs.push(kind);
        }
        for ((number, call), kind) in (first + 1..).zip(&message.calls).zip(outputs) {
            let (output, lost) = output(call);
            unwritten.media += lost;
            let id = self.call_id(number);
            let kind = format!("{kind}_call_output");
            item(message.time, &json!({"type": kind, "call_id": id, "output": output}), out);
        }
        unwritten
    }

    fn call_id(&self, number: u64) -> String {
        let id = made_up_uuid(&format!("{} call {number}", self.session.id)).replace('-', "");
        format!("call_{}", id.get(..24).unwrap_or(&id))
    }
}

fn function(id: &str, name: &str, args: &Value) -> Value {
    json!({"type": "function_call", "name": name, "arguments": args.to_string(), "call_id": id})
}

/// Returns an output with the header of the agent, which says how the call ended.
fn output(call: &HandoverCall) -> (Value, u64) {
    let code = u8::from(call.is_error);
    let text = format!("Exit code: {code}\nWall time: 0 seconds\nOutput:\n{}", call.output);
    let mut images = Vec::new();
    let lost = add_images(&mut images, &call.media);
    if images.is_empty() {
        return (json!(text), lost);
    }
    images.insert(0, input_text(&text));
    (json!(images), lost)
}

/// Appends images, and returns how many binary parts are not accepted.
fn add_images(parts: &mut Vec<Value>, all: &[Media]) -> u64 {
    let mut lost = 0;
    for media in all {
        match image(media) {
            Some(data) => {
                let url = format!("data:{};base64,{data}", media.mime);
                parts.push(json!({"type": "input_image", "image_url": url}));
            }
            None => lost += 1,
        }
    }
    lost
}

fn input_text(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

fn said(role: &str, content: &[Value]) -> Value {
    json!({"type": "message", "role": role, "content": content})
}

fn item(time: Timestamp, payload: &Value, out: &mut Vec<u8>) {
    record(time, "response_item", payload, out);
}

/// The type comes early: readers look for it at the start of a line.
fn record(time: Timestamp, kind: &str, payload: &Value, out: &mut Vec<u8>) {
    let time = json!(time_text(time));
    out.extend(format!("{{\"timestamp\":{time},\"type\":\"{kind}\",\"payload\":").into_bytes());
    let mut payload = line(payload);
    payload.pop();
    out.extend(payload);
    out.extend(b"}\n");
}
