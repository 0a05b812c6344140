//! Conversations of other agents, written as logs of this one (0.39 and later).

use recount_model::{FileRole, Media, ToolCall};
use serde_json::{Value, json};

use super::native::Log;
use crate::handover::{
    Arguments as _, HandoverCall, HandoverFormat, HandoverMessage, HandoverRole, HandoverSession,
    HandoverTask, HandoverWriter, ToolAction, Unwritten, arguments, data, object, shell_word,
    tool_name,
};
use crate::native::{Fields, HeadRequest, HeaderOverrides, NativeFormat as _};
use crate::stream::{line, made_up_uuid, time_text};

/// Logs.
#[derive(Debug)]
pub(super) struct Handover;

impl HandoverFormat for Handover {
    fn writer<'a>(&self, session: &'a HandoverSession<'a>) -> Box<dyn HandoverWriter + 'a> {
        Box::new(Writer { session, messages: 0, calls: 0, note: Some(session.note) })
    }

    fn action(&self, call: &ToolCall) -> Option<ToolAction> {
        action(call)
    }
}

fn action(call: &ToolCall) -> Option<ToolAction> {
    let args = arguments(call);
    let text = |key: &str| args.text(&[key]);
    let path = || args.text(&["file_path", "absolute_path", "path"]);
    let folder = || args.text(&["dir_path", "path"]);
    Some(match call.name.as_str() {
        "run_shell_command" => ToolAction::Shell {
            command: text("command")?,
            folder: args.text(&["dir_path", "directory"]),
        },
        "read_file" => {
            // Before lines had names, they were counted from zero.
            let offset = args.number("offset").map(|offset| offset.saturating_add(1));
            let first = args.number("start_line").or(offset);
            let end = args.number("end_line");
            let until = |end: u64| end.saturating_sub(first.unwrap_or(1)).saturating_add(1);
            ToolAction::Read {
                path: path()?,
                first,
                lines: args.number("limit").or_else(|| end.map(until)),
            }
        }
        "write_file" => ToolAction::Write { path: path()?, content: text("content")? },
        "replace" => ToolAction::Edit {
            path: path()?,
            old: text("old_string")?,
            new: text("new_string")?,
            all: args.is_set("allow_multiple")
                || args.number("expected_replacements").is_some_and(|many| many > 1),
        },
        "grep_search" | "search_file_content" => ToolAction::SearchText {
            pattern: text("pattern")?,
            path: folder(),
            files: args.text(&["include_pattern", "include"]),
        },
        "glob" => ToolAction::FindFiles { pattern: text("pattern")?, path: folder() },
        "list_directory" => ToolAction::ListFolder { path: folder()? },
        "google_web_search" => ToolAction::SearchWeb { query: text("query")? },
        "web_fetch" => {
            let question = text("prompt")?;
            let url = question.split_whitespace().find(|word| word.starts_with("http"))?;
            ToolAction::FetchPage { url: url.to_owned(), question }
        }
        "write_todos" => ToolAction::Tasks(HandoverTask::list(&args, "todos", "description")?),
        _ => return None,
    })
}

/// Returns this agent's tool for an action, and its arguments.
fn tool(action: &ToolAction) -> (&'static str, Value) {
    match action {
        ToolAction::Shell { command, folder } => (
            "run_shell_command",
            object([("command", json!(command)), ("dir_path", json!(folder))]),
        ),
        ToolAction::Read { path, first, lines } => {
            let end = lines.map(|lines| first.unwrap_or(1).saturating_add(lines).saturating_sub(1));
            let fields = [
                ("file_path", json!(path)),
                ("start_line", json!(first)),
                ("end_line", json!(end)),
            ];
            ("read_file", object(fields))
        }
        ToolAction::Write { path, content } => {
            ("write_file", json!({"file_path": path, "content": content}))
        }
        ToolAction::Edit { path, old, new, all } => {
            let fields = [
                ("file_path", json!(path)),
                ("instruction", json!(format!("Change {}", shell_word(path)))),
                ("old_string", json!(old)),
                ("new_string", json!(new)),
                ("allow_multiple", json!(all.then_some(true))),
            ];
            ("replace", object(fields))
        }
        ToolAction::SearchText { pattern, path, files } => {
            let fields = [
                ("pattern", json!(pattern)),
                ("dir_path", json!(path)),
                ("include_pattern", json!(files)),
            ];
            ("grep_search", object(fields))
        }
        ToolAction::FindFiles { pattern, path } => {
            ("glob", object([("pattern", json!(pattern)), ("dir_path", json!(path))]))
        }
        ToolAction::ListFolder { path } => ("list_directory", json!({"dir_path": path})),
        ToolAction::FetchPage { url, question } => {
            let is_named = question.contains(url.as_str());
            let prompt = if is_named { question.clone() } else { format!("{question} {url}") };
            ("web_fetch", json!({"prompt": prompt}))
        }
        ToolAction::SearchWeb { query } => ("google_web_search", json!({"query": query})),
        ToolAction::Tasks(tasks) => {
            let todo =
                |task: &HandoverTask| json!({"description": task.text, "status": task.status});
            ("write_todos", json!({"todos": tasks.iter().map(todo).collect::<Vec<_>>()}))
        }
    }
}

struct Writer<'a> {
    session: &'a HandoverSession<'a>,
    messages: u64,
    calls: u64,
    /// The note, until it is written. It is sent with the first prompt, and not shown.
    note: Option<&'a str>,
}

impl HandoverWriter for Writer<'_> {
    fn begin(&mut self, out: &mut Vec<u8>) {
        let HandoverSession { id, project_hash, title, started, updated, .. } = self.session;
        let title = *title;
        let mut fields = Fields::default();
        fields.set("kind", b"\"main\"");
        let head = HeadRequest {
            files: &[(FileRole::Main, fields)],
            id,
            project_hash: *project_hash,
            started: Some(*started),
            updated: Some(*updated),
            overrides: HeaderOverrides { title, ..HeaderOverrides::default() },
        };
        for line in Log.head(&head) {
            out.extend(line);
            out.push(b'\n');
        }
    }

    fn message(&mut self, message: &HandoverMessage, out: &mut Vec<u8>) -> Unwritten {
        match message.role {
            HandoverRole::User => self.prompt(message, out),
            HandoverRole::Model => self.answer(message, out),
        }
    }
}

impl Writer<'_> {
    fn record(&mut self, kind: &str, message: &HandoverMessage, content: &Value) -> Value {
        self.messages += 1;
        let id = made_up_uuid(&format!("{} message {}", self.session.id, self.messages));
        let time = time_text(message.time);
        json!({"id": id, "timestamp": time, "type": kind, "content": content})
    }

    fn prompt(&mut self, message: &HandoverMessage, out: &mut Vec<u8>) -> Unwritten {
        let mut parts = Vec::new();
        let note = self.note.take();
        parts.extend(note.map(|note| json!({"text": format!("{note}\n\n")})));
        // A prompt that begins like a command of the agent is not sent to the model when a session is resumed.
        let is_command = note.is_none() && message.text.trim_start().starts_with(['/', '?']);
        let lead = if is_command { "The user wrote: " } else { "" };
        if !message.text.is_empty() {
            parts.push(json!({"text": format!("{lead}{}", message.text)}));
        }
        if !message.files.is_empty() {
            parts.push(json!({"text": "\n--- Content from referenced files ---"}));
            for file in &message.files {
                parts.push(json!({"text": format!("\nContent from @{}:\n", file.path)}));
                parts.push(json!({"text": file.content}));
            }
            parts.push(json!({"text": "\n--- End of content ---"}));
        }
        let media = add_media(&mut parts, &message.media);
        if !parts.is_empty() {
            let is_plain = parts.len() == 1 && !is_command;
            let mut record = self.record("user", message, &json!(parts));
            if let Some(fields) = record.as_object_mut().filter(|_| !is_plain) {
                let shown = json!([{"text": message.text}]);
                fields.insert("displayContent".to_owned(), shown);
            }
            out.extend(line(&record));
        }
        Unwritten { media, ..Unwritten::default() }
    }

    fn answer(&mut self, message: &HandoverMessage, out: &mut Vec<u8>) -> Unwritten {
        if let Some(note) = self.note.take() {
            // The service refuses a conversation that begins with an answer.
            let record = self.record("user", message, &json!([{"text": note}]));
            out.extend(line(&record));
        }
        let mut unwritten = Unwritten { media: message.media.len() as u64, ..Unwritten::default() };
        let calls: Vec<Value> =
            message.calls.iter().map(|call| self.call(call, message, &mut unwritten)).collect();
        let mut record = self.record("gemini", message, &json!(message.text));
        if let Some(fields) = record.as_object_mut() {
            if !calls.is_empty() {
                fields.insert("toolCalls".to_owned(), json!(calls));
            }
            if let Some(model) = &message.model {
                fields.insert("model".to_owned(), json!(model));
            }
        }
        out.extend(line(&record));
        unwritten
    }

    fn call(
        &mut self,
        call: &HandoverCall,
        message: &HandoverMessage,
        unwritten: &mut Unwritten,
    ) -> Value {
        self.calls += 1;
        let (name, args) = if let Some(action) = &call.action {
            let (name, args) = tool(action);
            (name.to_owned(), args)
        } else {
            unwritten.tools.push(call.name.clone());
            (tool_name(&call.name), Value::Object(call.args.clone()))
        };
        let id = made_up_uuid(&format!("{} call {}", self.session.id, self.calls));
        let key = if call.is_error { "error" } else { "output" };
        let response = json!({"id": id, "name": name, "response": {key: call.output}});
        let mut result = vec![json!({"functionResponse": response})];
        unwritten.media += add_media(&mut result, &call.media);
        let path = if let Some(ToolAction::Edit { path, .. } | ToolAction::Write { path, .. }) =
            &call.action
        {
            path.as_str()
        } else {
            ""
        };
        let shown = match &call.diff {
            Some(diff) if !call.is_error => json!({
                "fileDiff": diff,
                "fileName": path.rsplit(['/', '\\']).next(),
                "filePath": path,
                "originalContent": null,
                "newContent": "",
            }),
            _ => json!(call.output),
        };
        json!({
            "id": id,
            "name": name,
            "args": args,
            "result": result,
            "status": if call.is_error { "error" } else { "success" },
            "timestamp": time_text(message.time),
            "resultDisplay": shown,
        })
    }
}

/// Appends binary parts, and returns how many have no data.
fn add_media(parts: &mut Vec<Value>, all: &[Media]) -> u64 {
    let mut lost = 0;
    for media in all {
        match data(media) {
            Some(data) => {
                parts.push(json!({"inlineData": {"mimeType": media.mime, "data": data}}));
            }
            None => lost += 1,
        }
    }
    lost
}
