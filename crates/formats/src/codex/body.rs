//! One message in full, put together from its records.

use recount_model::{
    Media, MediaData, Message, MessageId, MessageKind, NoticeLevel, Problem, RecordLocation,
    Thought, What, timestamp,
};

use crate::id_index::IdIndex;
use crate::json::JsonTree;
use crate::source::{Detail, MessageRequest};

use super::injected::{is_injected, typed};
use super::record::{Record, Tag, is_item};
use super::tool;

/// The text before the summary in a record of it.
const BEFORE_SUMMARY: &str =
    "use the information in this summary to assist with your own analysis:";

/// Reads a message from its records.
pub(super) fn message(request: &MessageRequest<'_>) -> Result<Message, Problem> {
    let place = RecordLocation {
        file: std::sync::Arc::clone(request.file),
        line: request.span.line,
        offset: request.span.offset,
        bytes: request.span.bytes,
        pieces: request.pieces.iter().map(|piece| piece.span).collect(),
    };
    let kind = request.entry.map_or(MessageKind::Notice, |entry| entry.kind);
    let mut message = Message::at(place, kind, request.fate);
    let mut body = Body {
        message: &mut message,
        guess: None,
        calls: IdIndex::default(),
        detail: request.detail,
    };
    let pieces = request.pieces.iter().map(|piece| piece.bytes);
    for bytes in std::iter::once(request.bytes).chain(pieces) {
        let changed =
            || request.problem(What::BrokenLine, "left out: the file changed while it was read");
        let record = Record::read(bytes).map_err(|_| changed())?;
        let tree = JsonTree::parse(bytes).map_err(|_| changed())?;
        if simdutf8::basic::from_utf8(bytes).is_err()
            && !body.message.problems.contains(&What::NotUtf8)
        {
            body.message.problems.push(What::NotUtf8);
        }
        body.message.time = body.message.time.or_else(|| record.time.and_then(timestamp));
        body.add(record.tag, tree.get("payload").unwrap_or(&tree));
    }
    let guess = body.guess;
    if let Some(entry) = request.entry {
        message.id = entry.id.as_deref().map(MessageId::new);
        message.tokens = entry.tokens;
        message.model = request.model.map(str::to_owned);
        message.time = entry.time.and_then(timestamp).or(message.time);
    } else if let Some(guess) = guess {
        message.kind = guess;
    }
    if message.display_text.is_empty() {
        message.display_text = match message.kind {
            MessageKind::Prompt => typed(&message.text).to_owned(),
            MessageKind::Summary => summary(&message.text).to_owned(),
            MessageKind::Answer
            | MessageKind::Context
            | MessageKind::Hook
            | MessageKind::ToolResult
            | MessageKind::Shell
            | MessageKind::Notice
            | MessageKind::Nudge => message.text.clone(),
        };
    }
    if message.kind == MessageKind::Notice && message.level.is_none() {
        message.level = Some(NoticeLevel::Info);
    }
    if message.text.is_empty() && message.kind == MessageKind::Prompt {
        message.text.clone_from(&message.display_text);
    }
    Ok(message)
}

/// Returns a summary without what is put before it for the model.
fn summary(text: &str) -> &str {
    text.split_once(BEFORE_SUMMARY).map_or(text, |(_, summary)| summary.trim_start())
}

/// A message while its records are added.
struct Body<'a> {
    message: &'a mut Message,
    /// Its kind as far as its records show.
    guess: Option<MessageKind>,
    calls: IdIndex,
    detail: Detail,
}

impl Body<'_> {
    fn add(&mut self, tag: Tag, payload: &JsonTree) {
        let kind = payload.text("type").unwrap_or_default();
        match tag {
            Tag::Item => self.item(kind, payload),
            Tag::Event => self.event(kind, payload),
            Tag::Compacted => {
                self.guess = Some(MessageKind::Summary);
                payload.text("message").unwrap_or_default().clone_into(&mut self.message.text);
            }
            Tag::Usage => {
                self.notice("A request of which only the tokens are on record.", NoticeLevel::Info);
            }
            Tag::Meta | Tag::Header | Tag::TurnContext | Tag::Skipped | Tag::Unknown => {}
        }
    }

    fn item(&mut self, kind: &str, item: &JsonTree) {
        if !is_item(kind.as_bytes()) {
            let text = format!("An item of the unknown type \"{kind}\"");
            return self.notice(&text, NoticeLevel::Info);
        }
        match kind {
            "message" => match item.text("role") {
                Some("assistant") => {
                    self.guess = Some(MessageKind::Answer);
                    self.say(&texts(item.get("content")));
                }
                role => self.told(item, role == Some("user")),
            },
            "reasoning" => {
                self.guess = Some(MessageKind::Answer);
                self.reasoning(item);
            }
            "agent_message" => {
                self.guess = Some(MessageKind::Context);
                self.say(&texts(item.get("content")));
            }
            _ if kind.ends_with("_output") => {
                tool::add_output(self.message, &mut self.calls, item, self.detail);
            }
            _ if kind.ends_with("_call") => {
                self.guess = Some(MessageKind::Answer);
                self.message.tool_calls.push(tool::call(kind, item, self.detail));
            }
            _ => {}
        }
    }

    /// A message under another name than the model's.
    fn told(&mut self, item: &JsonTree, by_user: bool) {
        let parts = item.get("content").and_then(JsonTree::as_array).unwrap_or_default();
        let mut displayed: Vec<&str> = Vec::new();
        for part in parts {
            match part.text("text") {
                Some(text) if by_user && !is_injected(text) => displayed.push(text),
                _ => self.message.media.extend(image(part)),
            }
        }
        let is_typed = !displayed.is_empty() || !self.message.media.is_empty();
        self.guess = Some(if is_typed { MessageKind::Prompt } else { MessageKind::Context });
        if self.message.kind == MessageKind::Prompt || is_typed {
            typed(&displayed.join("\n")).clone_into(&mut self.message.display_text);
        }
        self.say(&texts(item.get("content")));
    }

    fn reasoning(&mut self, item: &JsonTree) {
        let of = |key: &str| item.get(key).and_then(JsonTree::as_array).unwrap_or_default();
        let said = of("summary").iter().chain(of("content")).filter_map(|part| part.text("text"));
        let before = self.message.thoughts.len();
        self.message.thoughts.extend(said.map(thought));
        let is_sealed = item.text("encrypted_content").is_some();
        if self.message.thoughts.len() == before && is_sealed {
            self.message.thoughts.push(Thought {
                subject: "encrypted".to_owned(),
                description: String::new(),
                time: None,
            });
        }
    }

    fn event(&mut self, kind: &str, event: &JsonTree) {
        match kind {
            "user_message" => {
                self.guess = Some(MessageKind::Prompt);
                self.typed(event.text("message").unwrap_or_default().to_owned());
                if self.message.media.is_empty() {
                    let images = event.get("images").and_then(JsonTree::as_array);
                    let urls = images.unwrap_or_default().iter().filter_map(JsonTree::as_str);
                    self.message.media.extend(urls.filter_map(data_url));
                    let local = event.get("local_images").and_then(JsonTree::as_array);
                    let local = local.unwrap_or_default().iter().filter_map(JsonTree::as_str);
                    self.message.media.extend(local.map(|_| elsewhere()));
                }
            }
            "item_completed" => {
                if let Some(item) = event.get("item") {
                    self.thread_item(item);
                }
            }
            "agent_message" => {
                self.guess = Some(MessageKind::Answer);
                self.say(event.text("message").unwrap_or_default());
            }
            "patch_apply_end"
            | "exec_command_end"
            | "mcp_tool_call_end"
            | "dynamic_tool_call_response" => self.detail_of(event, event.text("call_id")),
            "turn_aborted" => {
                let reason = event.text("reason").unwrap_or("interrupted");
                self.notice(&format!("Turn stopped: {reason}"), NoticeLevel::Warning);
            }
            "task_complete" | "turn_complete" => {
                let error = event
                    .get("error")
                    .and_then(|error| error.text("message").or_else(|| error.as_str()));
                self.notice(error.unwrap_or("The request failed."), NoticeLevel::Error);
            }
            "error" | "stream_error" => {
                self.notice(event.text("message").unwrap_or("An error."), NoticeLevel::Error);
            }
            "warning" => {
                self.notice(event.text("message").unwrap_or_default(), NoticeLevel::Warning);
            }
            "entered_review_mode" => self.review("Review", event.text("user_facing_hint")),
            "exited_review_mode" => {
                let output = event.get("review_output");
                self.review(
                    "Review ended",
                    output.and_then(|output| output.text("overall_explanation")),
                );
            }
            "token_count" => {
                self.notice("A request of which only the tokens are on record.", NoticeLevel::Info);
            }
            _ => {}
        }
    }

    fn thread_item(&mut self, item: &JsonTree) {
        match item.text("type").unwrap_or_default() {
            "UserMessage" => {
                self.guess = Some(MessageKind::Prompt);
                self.typed(texts(item.get("content")));
                let parts = item.get("content").and_then(JsonTree::as_array).unwrap_or_default();
                if self.message.media.is_empty() {
                    self.message.media.extend(parts.iter().filter_map(image));
                }
            }
            "AgentMessage" => {
                self.guess = Some(MessageKind::Answer);
                self.say(&texts(item.get("content")));
            }
            "EnteredReviewMode" => self.review("Review", item.text("review")),
            "ExitedReviewMode" => self.review("Review ended", item.text("review")),
            _ => self.detail_of(item, item.text("id")),
        }
    }

    fn detail_of(&mut self, item: &JsonTree, id: Option<&str>) {
        if item.text("source") == Some("user_shell") {
            self.guess = Some(MessageKind::Shell);
            let command = tool::command(item.get("command"));
            let output = item.text("aggregated_output").unwrap_or_default();
            self.message.text = format!("$ {command}\n{output}");
            self.message.display_text = format!("$ {command}");
            return;
        }
        self.guess = self.guess.or(Some(MessageKind::ToolResult));
        tool::add_detail(self.message, &mut self.calls, item, id, self.detail);
    }

    fn review(&mut self, what: &str, detail: Option<&str>) {
        let text = detail.map_or_else(|| what.to_owned(), |detail| format!("{what}: {detail}"));
        self.notice(&text, NoticeLevel::Info);
    }

    fn notice(&mut self, text: &str, level: NoticeLevel) {
        self.guess = Some(MessageKind::Notice);
        self.message.level = Some(level);
        text.clone_into(&mut self.message.text);
    }

    /// What an event says was typed.
    fn typed(&mut self, text: String) {
        typed(&text).clone_into(&mut self.message.display_text);
        if self.message.text.is_empty() {
            self.message.text = text;
        }
    }

    fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.message.text.is_empty() {
            self.message.text.push_str("\n\n");
        }
        self.message.text.push_str(text);
    }
}

/// Returns the texts of all parts of a message, below each other.
fn texts(content: Option<&JsonTree>) -> String {
    if let Some(text) = content.and_then(JsonTree::as_str) {
        return text.to_owned();
    }
    let parts = content.and_then(JsonTree::as_array).unwrap_or_default();
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.text("text")).collect();
    texts.join("\n\n")
}

/// Splits a thought into its heading and the rest.
fn thought(text: &str) -> Thought {
    let headed = text.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    let (subject, description) = match headed {
        Some((subject, rest)) if !subject.contains('\n') => (subject, rest.trim_start()),
        _ => ("", text),
    };
    Thought { subject: subject.to_owned(), description: description.to_owned(), time: None }
}

/// Reads a part that is a picture.
fn image(part: &JsonTree) -> Option<Media> {
    let url = part.text("image_url").or_else(|| part.text("url"));
    let kind = part.text("type").unwrap_or_default();
    url.and_then(data_url).or_else(|| kind.contains("image").then(elsewhere))
}

/// A picture that is not in the record.
fn elsewhere() -> Media {
    Media { mime: "image/*".to_owned(), bytes: 0, held: MediaData::Elsewhere }
}

/// Reads an address that holds the data itself.
pub(super) fn data_url(url: &str) -> Option<Media> {
    let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    let padding = data.bytes().rev().take_while(|byte| *byte == b'=').count();
    let bytes = (data.len() / 4 * 3).saturating_sub(padding) as u64;
    Some(Media { mime: mime.to_owned(), bytes, held: MediaData::Base64(data.to_owned()) })
}
