//! The index of a session: its prompts, what failed, and the files that were changed.

use recount_display::sanitize::single_line;
use recount_engine::MessageMark;
use recount_model::{Message, MessageKind, NoticeLevel, ToolCall, ToolStatus};
use serde_json::{Value, json};

use super::reading::Text;
use super::session;
use crate::failure::ApiError;
use crate::router::{Answer, Asked};

/// The maximum number of entries.
const MOST: usize = 20_000;
/// The maximum number of characters of an entry.
const LONGEST: usize = 300;

#[derive(Clone, Copy, Debug)]
enum What {
    Prompts,
    Errors,
    Files,
}

const WHAT: &[(&str, What)] =
    &[("prompts", What::Prompts), ("errors", What::Errors), ("files", What::Files)];

/// Answers with one of the indexes.
pub(crate) fn answer(asked: &Asked<'_>) -> Result<Answer, ApiError> {
    let what = asked.params.choice("what", WHAT)?.unwrap_or(What::Prompts);
    let (_, reading, text) = session::open_text(asked)?;
    let project = reading.opened.facts.project.path.as_ref().map_or("", |path| path.as_str());
    let mut entries = Vec::new();
    let mut complete = true;
    for (at, mark) in text.marks.iter().enumerate() {
        if entries.len() >= MOST || asked.cancelled() {
            complete = false;
            break;
        }
        if what.may_be_in(mark) {
            what.add(at, &text, project, &mut entries);
        }
    }
    let name =
        WHAT.iter().find(|(_, own)| std::mem::discriminant(own) == std::mem::discriminant(&what));
    let document = json!({
        "schema": "recount.index/1",
        "version": reading.version,
        "what": name.map(|(name, _)| name),
        "complete": complete,
        "entries": entries,
    });
    let mut text = Vec::new();
    recount_documents::whole(&mut text, &document)?;
    Ok(Answer::Json(text))
}

impl What {
    /// Whether a message that is not read yet may have an entry.
    fn may_be_in(self, mark: &MessageMark) -> bool {
        match self {
            Self::Prompts => mark.kind == MessageKind::Prompt,
            Self::Errors => mark.failed > 0 || mark.kind == MessageKind::Notice,
            Self::Files => mark.calls > 0,
        }
    }

    fn add(self, at: usize, text: &Text, project: &str, entries: &mut Vec<Value>) {
        let Some(read) = text.read(at) else { return };
        match (self, read) {
            (Self::Prompts, Ok(message)) => {
                entries.push(json!({"at": at, "text": short(&message.display_text)}));
            }
            (Self::Prompts, Err(_)) => entries.push(json!({"at": at, "text": "(cannot be read)"})),
            (Self::Errors, Ok(message)) => errors(at, &message, entries),
            (Self::Files, Ok(message)) => files(at, &message, project, entries),
            (Self::Errors | Self::Files, Err(_)) => {}
        }
    }
}

fn errors(at: usize, message: &Message, entries: &mut Vec<Value>) {
    if message.level == Some(NoticeLevel::Error) {
        entries.push(json!({"at": at, "text": short(&message.display_text)}));
    }
    for (number, call) in message.tool_calls.iter().enumerate() {
        if call.status == ToolStatus::Error {
            let why = call.output.as_deref().or(call.display.as_deref()).unwrap_or_default();
            let why = why.lines().find(|line| !line.trim().is_empty()).unwrap_or("failed");
            let words = format!("{}: {why}", name(call));
            entries.push(json!({"at": at, "call": number, "text": short(&words)}));
        }
    }
}

fn files(at: usize, message: &Message, project: &str, entries: &mut Vec<Value>) {
    for (number, call) in message.tool_calls.iter().enumerate() {
        if let (Some(_), Some(path)) = (&call.diff, &call.key_arg) {
            let below = path.strip_prefix(project).filter(|_| !project.is_empty());
            let path = below.and_then(|path| path.strip_prefix('/')).unwrap_or(path);
            entries.push(json!({"at": at, "call": number, "path": path, "changed": true}));
        }
    }
}

fn name(call: &ToolCall) -> &str {
    call.display_name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&call.name)
}

fn short(text: &str) -> String {
    single_line(&text.chars().take(LONGEST).collect::<String>())
}
