//! Conversations of other agents, written as transcripts of this one.

use jiff::Timestamp;
use recount_model::{Media, ToolCall};
use serde_json::{Map, Value, json};

use crate::handover::{
    Arguments as _, HandoverCall, HandoverFormat, HandoverMessage, HandoverRole, HandoverSession,
    HandoverTask, HandoverWriter, ToolAction, Unwritten, arguments, data, diff, image, object,
    shell_word, tool_name,
};
use crate::stream::{line, made_up_uuid, time_text};

/// The release whose rows are written.
const RELEASE: &str = "2.1.325";

/// Transcripts.
#[derive(Debug)]
pub(super) struct Handover;

impl HandoverFormat for Handover {
    fn writer<'a>(&self, session: &'a HandoverSession<'a>) -> Box<dyn HandoverWriter + 'a> {
        Box::new(Writer { session, rows: 0, calls: 0, parent: None })
    }

    fn action(&self, call: &ToolCall) -> Option<ToolAction> {
        action(call)
    }
}

fn action(call: &ToolCall) -> Option<ToolAction> {
    let args = arguments(call);
    let text = |key: &str| args.text(&[key]);
    Some(match call.name.as_str() {
        "Bash" => ToolAction::Shell { command: text("command")?, folder: None },
        "Read" => ToolAction::Read {
            path: text("file_path")?,
            first: args.number("offset"),
            lines: args.number("limit"),
        },
        "Write" => ToolAction::Write { path: text("file_path")?, content: text("content")? },
        "Edit" => ToolAction::Edit {
            path: text("file_path")?,
            old: text("old_string")?,
            new: text("new_string")?,
            all: args.is_set("replace_all"),
        },
        "Grep" => ToolAction::SearchText {
            pattern: text("pattern")?,
            path: text("path"),
            files: text("glob"),
        },
        "Glob" => ToolAction::FindFiles { pattern: text("pattern")?, path: text("path") },
        "LS" => ToolAction::ListFolder { path: text("path")? },
        "WebFetch" => ToolAction::FetchPage {
            url: text("url")?,
            question: text("prompt").unwrap_or_default(),
        },
        "WebSearch" => ToolAction::SearchWeb { query: text("query")? },
        "TodoWrite" => ToolAction::Tasks(HandoverTask::list(&args, "todos", "content")?),
        _ => return None,
    })
}

/// Returns this agent's tool for an action, and its arguments.
fn tool(action: &ToolAction) -> (&'static str, Value) {
    let shell = |command: String| ("Bash", json!({"command": command}));
    match action {
        ToolAction::Shell { command, folder: Some(folder) } => {
            shell(format!("cd {} && {command}", shell_word(folder)))
        }
        ToolAction::Shell { command, folder: None } => shell(command.clone()),
        // The newest releases have no tool for it.
        ToolAction::ListFolder { path } => shell(format!("ls -a {}", shell_word(path))),
        ToolAction::Read { path, first, lines } => {
            let fields =
                [("file_path", json!(path)), ("offset", json!(first)), ("limit", json!(lines))];
            ("Read", object(fields))
        }
        ToolAction::Write { path, content } => {
            ("Write", json!({"file_path": path, "content": content}))
        }
        ToolAction::Edit { path, old, new, all } => (
            "Edit",
            json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": all}),
        ),
        ToolAction::SearchText { pattern, path, files } => {
            let fields =
                [("pattern", json!(pattern)), ("path", json!(path)), ("glob", json!(files))];
            ("Grep", object(fields))
        }
        ToolAction::FindFiles { pattern, path } => {
            ("Glob", object([("pattern", json!(pattern)), ("path", json!(path))]))
        }
        ToolAction::FetchPage { url, question } => {
            ("WebFetch", json!({"url": url, "prompt": question}))
        }
        ToolAction::SearchWeb { query } => ("WebSearch", json!({"query": query})),
        ToolAction::Tasks(tasks) => {
            let task = |task: &HandoverTask| json!({"content": task.text, "status": task.status, "activeForm": task.text});
            ("TodoWrite", json!({"todos": tasks.iter().map(task).collect::<Vec<_>>()}))
        }
    }
}

struct Writer<'a> {
    session: &'a HandoverSession<'a>,
    rows: u64,
    calls: u64,
    /// The id of the last row.
    parent: Option<String>,
}

impl HandoverWriter for Writer<'_> {
    fn begin(&mut self, out: &mut Vec<u8>) {
        let message = json!({"role": "user", "content": self.session.note});
        let fields = [("isMeta", json!(true)), ("message", message)];
        self.row("user", self.session.started, fields, out);
    }

    fn message(&mut self, message: &HandoverMessage, out: &mut Vec<u8>) -> Unwritten {
        match message.role {
            HandoverRole::User => self.prompt(message, out),
            HandoverRole::Model => self.answer(message, out),
        }
    }

    /// The title comes last, as the agent itself writes it. The newest releases show the second one.
    fn end(&mut self, out: &mut Vec<u8>) {
        let Some(title) = self.session.title else { return };
        let id = self.session.id.as_str();
        for (kind, key) in [("custom-title", "customTitle"), ("agent-name", "agentName")] {
            out.extend(line(&json!({"type": kind, key: title, "sessionId": id})));
        }
    }
}

impl Writer<'_> {
    fn made_up(&self, kind: &str, number: u64) -> String {
        made_up_uuid(&format!("{} {kind} {number}", self.session.id))
    }

    fn row<const N: usize>(
        &mut self,
        kind: &str,
        time: Timestamp,
        fields: [(&str, Value); N],
        out: &mut Vec<u8>,
    ) {
        self.rows += 1;
        let uuid = self.made_up("row", self.rows);
        let mut row = json!({
            "parentUuid": self.parent.as_deref(),
            "isSidechain": false,
            "userType": "external",
            "entrypoint": "cli",
            "cwd": self.session.folder,
            "sessionId": self.session.id.as_str(),
            "version": RELEASE,
            "gitBranch": "",
            "type": kind,
            "uuid": uuid,
            "timestamp": time_text(time),
        });
        if let Some(row) = row.as_object_mut() {
            row.extend(fields.into_iter().map(|(key, value)| (key.to_owned(), value)));
        }
        out.extend(line(&row));
        self.parent = Some(uuid);
    }

    fn prompt(&mut self, message: &HandoverMessage, out: &mut Vec<u8>) -> Unwritten {
        let mut blocks = Vec::new();
        if !message.text.trim().is_empty() {
            blocks.push(json!({"type": "text", "text": message.text}));
        }
        let lost = add_media(&mut blocks, &message.media);
        let content = match blocks.as_slice() {
            [] if message.files.is_empty() => {
                return Unwritten { media: lost, ..Unwritten::default() };
            }
            // Files are attached to a prompt.
            [] => json!("(attached files)"),
            [_] if message.media.is_empty() => json!(message.text),
            _ => json!(blocks),
        };
        let fields = [("message", json!({"role": "user", "content": content}))];
        self.row("user", message.time, fields, out);
        for file in &message.files {
            let lines = file.content.lines().count();
            let text = json!({
                "filePath": file.path,
                "content": file.content,
                "numLines": lines,
                "startLine": 1,
                "totalLines": lines,
            });
            let attachment = json!({
                "type": "file",
                "filename": file.path,
                "displayPath": file.path,
                "content": {"type": "text", "file": text},
            });
            self.row("attachment", message.time, [("attachment", attachment)], out);
        }
        Unwritten { media: lost, ..Unwritten::default() }
    }

    fn answer(&mut self, message: &HandoverMessage, out: &mut Vec<u8>) -> Unwritten {
        let mut unwritten = Unwritten::default();
        let mut blocks = Vec::new();
        if !message.text.trim().is_empty() {
            blocks.push(json!({"type": "text", "text": message.text}));
        }
        unwritten.media += message.media.len() as u64;
        let first = self.calls;
        for call in &message.calls {
            self.calls += 1;
            let (name, input) = if let Some(action) = &call.action {
                let (name, input) = tool(action);
                (name.to_owned(), input)
            } else {
                unwritten.tools.push(call.name.clone());
                (tool_name(&call.name), Value::Object(call.args.clone()))
            };
            let id = self.call_id(self.calls);
            blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        }
        if blocks.is_empty() {
            return unwritten;
        }
        let stop = if message.calls.is_empty() { "end_turn" } else { "tool_use" };
        // Such names are the agent's own, for what no model said.
        let model = message.model.as_deref().filter(|model| !model.starts_with('<'));
        let answer = json!({
            "id": format!("msg_{}", self.made_up("answer", self.rows).replace('-', "")),
            "type": "message",
            "role": "assistant",
            "model": model.unwrap_or("unknown"),
            "content": blocks,
            "stop_reason": stop,
            "stop_sequence": null,
            "usage": {
                "input_tokens": 0,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": 0,
            },
        });
        self.row("assistant", message.time, [("message", answer)], out);
        for (number, call) in (first + 1..).zip(&message.calls) {
            unwritten.media += self.result(&self.call_id(number), call, message.time, out);
        }
        unwritten
    }

    fn call_id(&self, number: u64) -> String {
        let id = self.made_up("call", number).replace('-', "");
        format!("toolu_{}", id.get(..24).unwrap_or(&id))
    }

    fn result(&mut self, id: &str, call: &HandoverCall, time: Timestamp, out: &mut Vec<u8>) -> u64 {
        let mut media = Vec::new();
        let lost = add_media(&mut media, &call.media);
        let content = if media.is_empty() {
            json!(call.output)
        } else {
            if !call.output.trim().is_empty() {
                media.insert(0, json!({"type": "text", "text": call.output}));
            }
            json!(media)
        };
        let mut result = Map::from_iter([
            ("type".to_owned(), json!("tool_result")),
            ("tool_use_id".to_owned(), json!(id)),
            ("content".to_owned(), content),
        ]);
        if call.is_error {
            result.insert("is_error".to_owned(), json!(true));
        }
        let message = json!({"role": "user", "content": [result]});
        match displayed(call) {
            Some(shown) => {
                let fields = [("message", message), ("toolUseResult", shown)];
                self.row("user", time, fields, out);
            }
            None => self.row("user", time, [("message", message)], out),
        }
        lost
    }
}

/// Appends binary parts, and returns how many are not accepted.
fn add_media(blocks: &mut Vec<Value>, all: &[Media]) -> u64 {
    let mut lost = 0;
    for media in all {
        let is_document = media.mime == "application/pdf";
        let known = if is_document { data(media) } else { image(media) };
        let Some(data) = known else {
            lost += 1;
            continue;
        };
        let kind = if is_document { "document" } else { "image" };
        let source = json!({"type": "base64", "media_type": media.mime, "data": data});
        blocks.push(json!({"type": kind, "source": source}));
    }
    lost
}

/// Returns what the agent shows of a result, for tools whose form is known.
fn displayed(call: &HandoverCall) -> Option<Value> {
    if call.is_error {
        return Some(json!(format!("Error: {}", call.output)));
    }
    match call.action.as_ref()? {
        ToolAction::Shell { .. } | ToolAction::ListFolder { .. } => Some(json!({
            "stdout": call.output,
            "stderr": "",
            "interrupted": false,
            "isImage": false,
        })),
        ToolAction::Edit { path, old, new, all } => {
            let files = diff::files(call.diff.as_deref()?);
            let [file] = files.as_slice() else { return None };
            Some(json!({
                "filePath": path,
                "oldString": old,
                "newString": new,
                "originalFile": "",
                "structuredPatch": file.hunks.iter().map(hunk).collect::<Vec<_>>(),
                "userModified": false,
                "replaceAll": all,
            }))
        }
        ToolAction::Write { path, content } => {
            let files = call.diff.as_deref().map(diff::files).unwrap_or_default();
            let is_new = files.first().is_none_or(|file| file.is_new);
            let hunks = files.iter().filter(|_| !is_new).flat_map(|file| &file.hunks);
            Some(json!({
                "type": if is_new { "create" } else { "update" },
                "filePath": path,
                "content": content,
                "structuredPatch": hunks.map(hunk).collect::<Vec<_>>(),
                "originalFile": null,
            }))
        }
        ToolAction::Read { .. }
        | ToolAction::SearchText { .. }
        | ToolAction::FindFiles { .. }
        | ToolAction::FetchPage { .. }
        | ToolAction::SearchWeb { .. }
        | ToolAction::Tasks(_) => None,
    }
}

fn hunk(hunk: &diff::Hunk) -> Value {
    json!({
        "oldStart": hunk.old_start,
        "oldLines": hunk.old_lines(),
        "newStart": hunk.new_start,
        "newLines": hunk.new_lines(),
        "lines": hunk.lines,
    })
}

#[cfg(test)]
mod tests {
    use recount_model::{AttachedFile, SessionId};

    use super::*;

    #[test]
    fn files_of_a_prompt_without_words_are_attached() {
        let (id, time) = (SessionId::new("new"), Timestamp::UNIX_EPOCH);
        let session = HandoverSession {
            id: &id,
            folder: "/code",
            project_hash: None,
            title: None,
            started: time,
            updated: time,
            note: "",
        };
        let (path, content) = ("a.md".to_owned(), "text of a".to_owned());
        let file = AttachedFile { path, bytes: 9, content };
        let message = HandoverMessage {
            role: HandoverRole::User,
            time,
            text: String::new(),
            files: vec![file],
            media: Vec::new(),
            model: None,
            calls: Vec::new(),
        };
        let mut out = Vec::new();
        Handover.writer(&session).message(&message, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("(attached files)") && text.contains("text of a"), "{text}");
    }
}
