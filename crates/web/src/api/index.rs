//! The index of a session: its prompts, what failed, and the files that were changed.

use recount_display::sanitize::single_line;
use recount_engine::MessageMark;
use recount_model::{Message, MessageKind, NoticeLevel, ToolCall, ToolStatus};
use serde::Serialize;

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

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'a str,
    what: &'static str,
    complete: bool,
    entries: Vec<Entry>,
}

/// One entry: a text, or a file that was changed.
#[derive(Serialize)]
struct Entry {
    /// The number of the message.
    at: usize,
    /// The number of the call in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    changed: bool,
}

impl Entry {
    fn text(at: usize, call: Option<usize>, text: String) -> Self {
        Self { at, call, text: Some(text), path: None, changed: false }
    }
}

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
    let document = Document {
        schema: "recount.index/1",
        version: &reading.version,
        what: name.map_or("", |(name, _)| name),
        complete,
        entries,
    };
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

    fn add(self, at: usize, text: &Text, project: &str, entries: &mut Vec<Entry>) {
        let Some(read) = text.read(at) else { return };
        match (self, read) {
            (Self::Prompts, Ok(message)) => {
                entries.push(Entry::text(at, None, short(&message.display_text)));
            }
            (Self::Prompts, Err(_)) => {
                entries.push(Entry::text(at, None, "(cannot be read)".to_owned()));
            }
            (Self::Errors, Ok(message)) => errors(at, &message, entries),
            (Self::Files, Ok(message)) => files(at, &message, project, entries),
            (Self::Errors | Self::Files, Err(_)) => {}
        }
    }
}

fn errors(at: usize, message: &Message, entries: &mut Vec<Entry>) {
    if message.level == Some(NoticeLevel::Error) {
        entries.push(Entry::text(at, None, short(&message.display_text)));
    }
    for (number, call) in message.tool_calls.iter().enumerate() {
        if call.status == ToolStatus::Error {
            let why = call.output.as_deref().or(call.display.as_deref()).unwrap_or_default();
            let why = why.lines().find(|line| !line.trim().is_empty()).unwrap_or("failed");
            let words = format!("{}: {why}", name(call));
            entries.push(Entry::text(at, Some(number), short(&words)));
        }
    }
}

fn files(at: usize, message: &Message, project: &str, entries: &mut Vec<Entry>) {
    for (number, call) in message.tool_calls.iter().enumerate() {
        if let (Some(_), Some(path)) = (&call.diff, &call.key_arg) {
            let below = path.strip_prefix(project).filter(|_| !project.is_empty());
            let path = below.and_then(|path| path.strip_prefix('/')).unwrap_or(path).to_owned();
            let call = Some(number);
            entries.push(Entry { at, call, text: None, path: Some(path), changed: true });
        }
    }
}

fn name(call: &ToolCall) -> &str {
    call.display_name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&call.name)
}

fn short(text: &str) -> String {
    single_line(&text.chars().take(LONGEST).collect::<String>())
}
