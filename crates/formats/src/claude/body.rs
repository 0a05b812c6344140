//! One message in full, put together from its rows.

use jiff::Timestamp;
use recount_model::{
    AttachedFile, Media, MediaData, Message, MessageId, MessageKind, NoticeLevel, RecordLocation,
    Thought, What, timestamp,
};

use super::row::{Row, Usage};
use super::state::{Level, RowKind};
use super::tool::{self, CallBody};
use super::wording::shown;
use crate::id_index::IdIndex;
use crate::json::{JsonScan, JsonTree, Scanner};
use crate::source::{Detail, MessageRequest};

/// Reads the message that is asked for.
pub(crate) fn message(request: &MessageRequest<'_>) -> JsonScan<Message> {
    let place = RecordLocation {
        file: request.file.clone(),
        line: request.span.line,
        offset: request.span.offset,
        bytes: request.span.bytes,
        pieces: request.pieces.iter().map(|piece| piece.span).collect(),
    };
    let mut message = Message::at(place, MessageKind::Notice, request.fate);
    let mut state = Body::default();
    state.take(&mut message, request.bytes, request.detail, true)?;
    for piece in request.pieces {
        state.take(&mut message, piece.bytes, request.detail, false)?;
    }
    // Where the message id alone does not identify an answer, the outline adds the request id.
    if let Some(id) = request.entry.and_then(|entry| entry.id.as_deref()) {
        message.id = Some(MessageId::new(id));
    }
    message.tokens = state.usage.map(Usage::tokens);
    message.tool_calls = tool::finish(state.calls, request.detail);
    if message.display_text.is_empty() {
        message.display_text = shown(&message.text).into_owned();
    }
    Ok(message)
}

#[derive(Default)]
struct Body {
    usage: Option<Usage>,
    calls: Vec<CallBody>,
    index: IdIndex,
}

impl Body {
    fn take(
        &mut self,
        message: &mut Message,
        bytes: &[u8],
        detail: Detail,
        is_first: bool,
    ) -> JsonScan<()> {
        let row = Row::read(&mut Scanner::new(bytes))?;
        if simdutf8::basic::from_utf8(bytes).is_err() {
            message.problems.push(What::NotUtf8);
        }
        let time = row.time.and_then(timestamp);
        let what = super::kind::kind_of(&row);
        if is_first {
            message.time = time;
            message.kind = kind(what);
            message.level = level(what);
            let id = row.message.id.filter(|_| what == RowKind::Answer).or(row.uuid);
            message.id = id.map(|id| MessageId::new(id.decode()));
            if what == RowKind::Answer {
                message.model = row.message.model.map(|model| model.decode().into_owned());
            }
        }
        let fields = Fields::read(bytes)?;
        match what {
            RowKind::Answer => {
                if let Some(usage) = row.message.usage {
                    self.usage.get_or_insert_default().raise(usage);
                }
                self.blocks(message, fields.content, time, detail);
            }
            RowKind::Results | RowKind::ResultsAndPrompt if !is_first => {
                let (content, rich) = (fields.content, fields.result);
                tool::results(&mut self.calls, &mut self.index, content, rich, detail);
            }
            RowKind::Message(_)
            | RowKind::Notice(_)
            | RowKind::Results
            | RowKind::ResultsAndPrompt
            | RowKind::Boundary
            | RowKind::Hidden => plain(message, &row, &fields),
        }
        Ok(())
    }

    /// Takes the blocks of an answer.
    fn blocks(
        &mut self,
        message: &mut Message,
        content: Option<&[u8]>,
        time: Option<Timestamp>,
        detail: Detail,
    ) {
        let Some(tree) = content.and_then(|raw| JsonTree::parse(raw).ok()) else { return };
        if let Some(text) = tree.as_str() {
            add_text(&mut message.text, text);
        }
        for block in tree.as_array().unwrap_or_default() {
            match block.text("type") {
                Some("text") => add_text(&mut message.text, block.text("text").unwrap_or_default()),
                Some("thinking") => {
                    let text = block.text("thinking").unwrap_or_default().trim();
                    if !text.is_empty() {
                        message.thoughts.push(thought(text, time));
                    }
                }
                Some("redacted_thinking") => message.thoughts.push(thought("(redacted)", time)),
                Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                    self.calls.push(tool::call(block, time, detail));
                }
                Some(kind) if kind.ends_with("_tool_result") => {
                    tool::server_result(&mut self.calls, &mut self.index, block);
                }
                Some("image" | "document") => message.media.extend(media(block)),
                Some(kind) if is_silent(kind) => {}
                _ => message.problems.push(What::UnknownPart),
            }
        }
    }
}

/// Blocks that are known and say nothing to people.
fn is_silent(kind: &str) -> bool {
    matches!(
        kind,
        "container_upload"
            | "tool_reference"
            | "search_result"
            | "compaction"
            | "fallback"
            | "connector_text"
    )
}

fn thought(text: &str, time: Option<Timestamp>) -> Thought {
    Thought { subject: String::new(), description: text.to_owned(), time }
}

/// Appends a text after an empty line.
pub(crate) fn add_text(all: &mut String, text: &str) {
    if !all.is_empty() && !text.is_empty() {
        all.push_str("\n\n");
    }
    all.push_str(text);
}

fn kind(what: RowKind) -> MessageKind {
    match what {
        RowKind::Message(kind) => kind,
        RowKind::Answer => MessageKind::Answer,
        RowKind::Results => MessageKind::ToolResult,
        RowKind::ResultsAndPrompt => MessageKind::Prompt,
        RowKind::Notice(_) | RowKind::Boundary | RowKind::Hidden => MessageKind::Notice,
    }
}

fn level(what: RowKind) -> Option<NoticeLevel> {
    match what {
        RowKind::Notice(level) => Some(level.into()),
        RowKind::Boundary | RowKind::Hidden => Some(Level::Info.into()),
        RowKind::Message(_) | RowKind::Answer | RowKind::Results | RowKind::ResultsAndPrompt => {
            None
        }
    }
}

/// Raw values of a row.
#[derive(Default)]
struct Fields<'a> {
    content: Option<&'a [u8]>,
    result: Option<&'a [u8]>,
    attachment: Option<&'a [u8]>,
    rendered: Option<&'a [u8]>,
    own_content: Option<&'a [u8]>,
    error: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    fn read(bytes: &'a [u8]) -> JsonScan<Self> {
        let mut fields = Self::default();
        Scanner::new(bytes).object(|scanner, key| {
            match key.name().as_ref() {
                b"message" => super::row::object(scanner, |scanner, key| {
                    if key.is("content") {
                        fields.content = Some(scanner.value()?);
                        return Ok(());
                    }
                    scanner.skip()
                })?,
                b"toolUseResult" => fields.result = Some(scanner.value()?),
                b"attachment" => fields.attachment = Some(scanner.value()?),
                b"rendered" => fields.rendered = Some(scanner.value()?),
                b"content" => fields.own_content = Some(scanner.value()?),
                b"error" => fields.error = Some(scanner.value()?),
                _ => scanner.skip()?,
            }
            Ok(())
        })?;
        Ok(fields)
    }
}

/// Reads a message that is in one row.
fn plain(message: &mut Message, row: &Row<'_>, fields: &Fields<'_>) {
    let parse = |raw: Option<&[u8]>| raw.and_then(|raw| JsonTree::parse(raw).ok());
    if let Some(attachment) = parse(fields.attachment) {
        attached(message, &attachment, parse(fields.rendered).as_ref());
        return;
    }
    if let Some(content) = parse(fields.content) {
        let typed = said(message, &content);
        // Beside what the agent put in, what was typed is what people read.
        if message.kind == MessageKind::Prompt && typed.len() > 1 {
            let own = typed.iter().filter(|text| super::wording::is_typed(text));
            message.display_text = own.map(String::as_str).collect::<Vec<_>>().join("\n\n");
        }
        return;
    }
    message.text = match (parse(fields.own_content), row.subtype, row.kind) {
        (Some(JsonTree::String(text)), _, _) => text,
        (_, Some(name), _) => name.decode().into_owned(),
        (_, None, Some(kind)) => format!("A record of the unknown type \"{}\"", kind.decode()),
        (_, None, None) => String::new(),
    };
    if let Some(error) = parse(fields.error).filter(|error| *error != JsonTree::Null) {
        let words = error.as_str().or_else(|| error.text("message")).map(str::to_owned);
        add_text(&mut message.text, &words.unwrap_or_default());
    }
}

/// Takes the texts and images of a content, and returns the texts.
fn said(message: &mut Message, content: &JsonTree) -> Vec<String> {
    let mut texts = Vec::new();
    if let Some(text) = content.as_str() {
        texts.push(text.to_owned());
    }
    for block in content.as_array().unwrap_or_default() {
        match block.text("type") {
            Some("image" | "document") => message.media.extend(media(block)),
            Some("tool_result") if message.kind == MessageKind::ToolResult => {
                texts.extend(block.get("content").and_then(tool::text_of));
                message.media.extend(tool::media_of(block.get("content")));
            }
            _ => texts.extend(block.text("text").or_else(|| block.as_str()).map(str::to_owned)),
        }
    }
    for text in &texts {
        add_text(&mut message.text, text);
    }
    texts
}

/// Reads an image or a document, without decoding it.
pub(crate) fn media(block: &JsonTree) -> Option<Media> {
    let source = block.get("source")?;
    let mime = source.text("media_type").unwrap_or("application/octet-stream").to_owned();
    let data = source.text("data").unwrap_or_default();
    if source.text("type") != Some("base64") {
        return Some(Media { mime, bytes: data.len() as u64, held: MediaData::Elsewhere });
    }
    let bytes = data.trim_end_matches('=').len() as u64 * 3 / 4;
    Some(Media { mime, bytes, held: MediaData::Base64(data.to_owned()) })
}

/// Takes what the agent attached: a queued prompt, a file, or context.
fn attached(message: &mut Message, attachment: &JsonTree, rendered: Option<&JsonTree>) {
    let kind = attachment.text("type").unwrap_or_default();
    match kind {
        "queued_command" => {
            if let Some(prompt) = attachment.get("prompt") {
                said(message, prompt);
            }
            return;
        }
        "file" | "compact_file_reference" | "edited_text_file" => {
            let file = attachment.get("content").and_then(|content| content.get("file"));
            let name = attachment.text("filename").or_else(|| attachment.text("displayPath"));
            let content = file.and_then(|file| file.text("content"));
            let content = content.or_else(|| attachment.text("snippet")).unwrap_or_default();
            if let Some(path) = name {
                message.files.push(AttachedFile {
                    path: path.to_owned(),
                    bytes: content.len() as u64,
                    content: content.to_owned(),
                });
            }
            message.text = format!("{}\n{content}", name.unwrap_or_default());
            name.unwrap_or(kind).clone_into(&mut message.display_text);
            return;
        }
        // The whole system prompt, which is no message.
        "prompt_snapshot" => {
            kind.clone_into(&mut message.text);
            return;
        }
        _ => {}
    }
    let rendered = rendered.and_then(JsonTree::as_array).unwrap_or_default();
    for part in rendered {
        match part.get("content") {
            Some(content) => {
                add_text(&mut message.text, &tool::text_of(content).unwrap_or_default());
            }
            None => add_text(&mut message.text, part.as_str().unwrap_or_default()),
        }
    }
    if message.text.is_empty() {
        let own = attachment.get("content").and_then(tool::text_of);
        let own = own.or_else(|| {
            ["text", "stdout", "message"]
                .iter()
                .find_map(|name| attachment.text(name))
                .map(str::to_owned)
        });
        message.text = own.filter(|text| !text.is_empty()).unwrap_or_else(|| kind.to_owned());
    }
}
