//! Text in messages, as a level shows them.

use recount_model::{Message, ToolCall};

use crate::level::Level;

/// Whether a text, in lower case, occurs in what a level shows of a message, folded or not.
pub fn contains_text(message: &Message, text: &str, level: Level) -> bool {
    let is_in = |own: &str| finds(own, text);
    let body = if level >= Level::Trace { &message.text } else { &message.display_text };
    if is_in(body) || message.files.iter().any(|file| is_in(&file.path) || is_in(&file.content)) {
        return true;
    }
    let thinks = level >= Level::Trace
        && message.thoughts.iter().any(|one| is_in(&one.subject) || is_in(&one.description));
    let in_call = |call: &ToolCall| {
        let name = call.display_name.as_deref().unwrap_or(&call.name);
        let more = [&call.key_arg, &call.output, &call.display, &call.diff];
        is_in(name) || more.into_iter().flatten().any(|own| is_in(own))
    };
    thinks || (level >= Level::Actions && message.tool_calls.iter().any(in_call))
}

/// Whether a text contains another one, which is in lower case.
pub fn finds(text: &str, lower: &str) -> bool {
    if lower.is_ascii() && text.is_ascii() {
        let (text, lower) = (text.as_bytes(), lower.as_bytes());
        return !lower.is_empty()
            && text.windows(lower.len()).any(|part| part.eq_ignore_ascii_case(lower));
    }
    text.to_lowercase().contains(lower)
}

/// Whether this is a query with fields, and not a text to find.
pub fn is_query(text: &str) -> bool {
    let is_field = |word: &str| {
        word.split_once(':').is_some_and(|(name, value)| {
            !name.is_empty()
                && !value.is_empty()
                && !value.starts_with('/')
                && name.chars().all(|letter| letter.is_ascii_lowercase())
        })
    };
    text.split_whitespace().any(is_field)
}
