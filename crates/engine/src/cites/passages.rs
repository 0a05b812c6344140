//! The texts of a message, each with what it is.

use recount_model::{Message, MessageKind};
use recount_search::Field;

/// Returns every text of a message with what it is: what was said first, then thoughts, calls with their output, and attached files.
pub fn passages(message: &Message) -> Vec<(Field, &str)> {
    let field = match message.kind {
        MessageKind::Prompt => Field::Prompt,
        MessageKind::Answer => Field::Answer,
        MessageKind::Shell => Field::Call,
        MessageKind::ToolResult => Field::Output,
        MessageKind::Notice | MessageKind::Summary => Field::Notice,
        MessageKind::Context | MessageKind::Hook | MessageKind::Nudge => Field::Context,
    };
    let mut all = vec![(field, message.display_text.as_str())];
    if message.text != message.display_text {
        let sent = if message.kind == MessageKind::Prompt { Field::Context } else { field };
        all.push((sent, message.text.as_str()));
    }
    for thought in &message.thoughts {
        all.push((Field::Thought, thought.subject.as_str()));
        all.push((Field::Thought, thought.description.as_str()));
    }
    for call in &message.tool_calls {
        all.push((Field::Call, call.name.as_str()));
        all.push((Field::Call, call.args.as_str()));
        let calls = [&call.key_arg, &call.description];
        all.extend(calls.into_iter().flatten().map(|text| (Field::Call, text.as_str())));
        let outputs = [&call.output, &call.display, &call.diff];
        all.extend(outputs.into_iter().flatten().map(|text| (Field::Output, text.as_str())));
    }
    for file in &message.files {
        all.push((Field::Path, file.path.as_str()));
        all.push((Field::Context, file.content.as_str()));
    }
    all.retain(|(_, text)| !text.is_empty());
    all
}
