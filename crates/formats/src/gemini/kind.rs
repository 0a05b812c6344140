//! Determines the kind of a message: distinguishes what a human typed from what the agent inserted.

use recount_model::MessageKind;

use super::content::{Content, Piece};
use super::facts::{Facts, Role};
use crate::json::{Text, trim};

/// The id of the context message since 0.44, the same in all sessions: the start of the SHA-256 of
/// `environment-context`.
pub(crate) const CONTEXT_ID: &str = "d04923d38bb0f6017037e74183378ef4";

/// The start of the set-up turn of saved chats before it had a tag.
const OLD_CONTEXT: &str = "This is the Gemini CLI. We are setting up the context for our chat.";

/// The end of hook output, before the prompt in headless mode.
pub(crate) const HOOK_END: &str = "</hook_context>";

/// Returns the kind of a message; `lead` is the start of its text.
pub(crate) fn kind(facts: &Facts<'_>, lead: Option<&str>) -> MessageKind {
    match facts.role {
        Role::Gemini => MessageKind::Answer,
        Role::Info | Role::Warning | Role::Error | Role::Unknown => MessageKind::Notice,
        Role::User if is_tool_result(facts.content) => MessageKind::ToolResult,
        Role::User if facts.id.is_some_and(|id| id.is(CONTEXT_ID)) => MessageKind::Context,
        // A message that the loader refuses still has its kind.
        Role::User => by_words(facts.content, lead.unwrap_or_default()),
    }
}

fn by_words(content: Content<'_>, lead: &str) -> MessageKind {
    if lead.starts_with("<session_context>") || lead.starts_with(OLD_CONTEXT) {
        return MessageKind::Context;
    }
    if lead.starts_with("<hook_context>") {
        let text = content.text();
        let prompt = text.split_once(HOOK_END).map_or("", |(_, prompt)| prompt);
        return if trim(prompt).is_empty() { MessageKind::Hook } else { MessageKind::Prompt };
    }
    if lead.starts_with("<state_snapshot>") && trim(&content.text()).ends_with("</state_snapshot>")
    {
        return MessageKind::Summary;
    }
    let begins = |words: &[&str]| words.iter().any(|word| lead.starts_with(word));
    if begins(&["I ran the following shell command:"]) {
        MessageKind::Shell
    } else if begins(&[
        "Here is the user's editor context",
        "Here is a summary of changes in the user's editor context",
        "- **Workspace Directories:**",
    ]) {
        MessageKind::Context
    } else if matches!(lead, "Please continue." | "System: Please continue.")
        || begins(&["System: Potential loop detected"])
    {
        MessageKind::Nudge
    } else {
        MessageKind::Prompt
    }
}

/// Whether it is a response of a tool, possibly with data beside it or a hint before it, and no text after it.
fn is_tool_result(content: Content<'_>) -> bool {
    if let Content::Text(text) = content {
        // Up to 0.27 parts were flattened to placeholders.
        return text.raw().starts_with(b"[Function Response: ");
    }
    let mut result = false;
    content.each(|piece| {
        if matches!(piece, Piece::Part(part) if part.response.is_some()) {
            result = true;
        } else {
            result &= piece.spoken().is_none_or(Text::is_blank);
        }
    });
    result
}
