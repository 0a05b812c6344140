//! What a row of the tree is: a message of some kind, a block of an answer, results, or nothing to show.

use recount_model::MessageKind;

use super::row::Row;
use super::state::{Level, RowKind};
use super::wording::{LEAD, Wording, wording};
use crate::json::Text;

/// Returns what a row of the tree is.
pub(crate) fn kind_of(row: &Row<'_>) -> RowKind {
    match row.kind.map(Text::name).as_deref() {
        Some(b"user") => user(row),
        Some(b"assistant") => assistant(row),
        Some(b"system") => system(row),
        Some(b"attachment") => attachment(row),
        Some(b"progress") => RowKind::Hidden,
        Some(b"queue-operation") => RowKind::Message(MessageKind::Prompt),
        // A kind of row that a newer release writes: it is shown, since it may be part of what was said.
        _ => RowKind::Notice(Level::Info),
    }
}

fn user(row: &Row<'_>) -> RowKind {
    let content = &row.message.content;
    let is_machine = row.marks.is_meta;
    if row.marks.is_summary {
        return RowKind::Message(MessageKind::Summary);
    }
    if !content.results.is_empty() {
        let is_typed = content.typed.is_some() && !is_machine;
        return if is_typed { RowKind::ResultsAndPrompt } else { RowKind::Results };
    }
    if is_machine {
        return RowKind::Message(MessageKind::Context);
    }
    if row.marks.is_own {
        let told = content.text.map(worded);
        let told = told.filter(|told| *told != RowKind::Message(MessageKind::Prompt));
        return told.unwrap_or(RowKind::Notice(Level::Info));
    }
    if content.typed.is_some() {
        return RowKind::Message(MessageKind::Prompt);
    }
    let Some(text) = content.text else {
        let kind = if content.has_media { MessageKind::Prompt } else { MessageKind::Context };
        return RowKind::Message(kind);
    };
    worded(text)
}

/// Returns what a text is that the agent itself wrote.
fn worded(text: Text<'_>) -> RowKind {
    match wording(&text.decode_start(LEAD)) {
        Wording::Typed | Wording::Command => RowKind::Message(MessageKind::Prompt),
        Wording::Shell => RowKind::Message(MessageKind::Shell),
        Wording::Context => RowKind::Message(MessageKind::Context),
        Wording::LocalCommand
        | Wording::CommandOutput
        | Wording::Notification
        | Wording::Interruption => RowKind::Notice(Level::Info),
    }
}

fn assistant(row: &Row<'_>) -> RowKind {
    let is_synthetic = row.message.model.is_some_and(|model| model.is("<synthetic>"));
    if row.marks.is_error {
        return RowKind::Notice(Level::Error);
    }
    if is_synthetic { RowKind::Notice(Level::Info) } else { RowKind::Answer }
}

fn system(row: &Row<'_>) -> RowKind {
    match row.subtype.map(Text::name).as_deref() {
        Some(b"compact_boundary") => RowKind::Boundary,
        Some(
            b"turn_duration"
            | b"microcompact_boundary"
            | b"api_metrics"
            | b"file_snapshot"
            | b"thinking"
            | b"init"
            | b"status"
            | b"session_state_changed",
        ) => RowKind::Hidden,
        Some(b"stop_hook_summary" | b"hook_started" | b"hook_progress" | b"hook_response") => {
            RowKind::Message(MessageKind::Hook)
        }
        Some(b"voice_call_talk") => RowKind::Message(MessageKind::Prompt),
        Some(b"api_error") => RowKind::Notice(Level::Error),
        Some(b"permission_denied" | b"model_fallback") => RowKind::Notice(Level::Warning),
        _ => RowKind::Notice(Level::Info),
    }
}

fn attachment(row: &Row<'_>) -> RowKind {
    match row.attachment.kind.map(Text::name).as_deref() {
        Some(b"queued_command") => match row.attachment.prompt {
            Some(text) => worded(text),
            None => RowKind::Message(MessageKind::Prompt),
        },
        Some(kind) if kind.starts_with(b"hook_") => RowKind::Message(MessageKind::Hook),
        Some(b"max_turns_reached") => RowKind::Notice(Level::Warning),
        _ => RowKind::Message(MessageKind::Context),
    }
}
