//! Merges two versions of a message: what the agent shows, and what only the other version has.

use std::collections::HashMap;

use recount_model::{Message, ToolCall};

/// Adds what only a richer version of a message has to what the agent shows. A later record often lacks the calls, thoughts
/// and figures of an earlier one; its text is the one that counts.
pub(super) fn merged(shown: Message, richer: Message) -> Message {
    let is_same = shown.text == richer.text;
    let more = |own: bool| is_same && own;
    Message {
        thoughts: if shown.thoughts.is_empty() { richer.thoughts } else { shown.thoughts },
        tool_calls: calls(shown.tool_calls, richer.tool_calls),
        tokens: shown.tokens.or(richer.tokens),
        model: shown.model.or(richer.model),
        time: shown.time.or(richer.time),
        media: if more(shown.media.is_empty()) { richer.media } else { shown.media },
        files: if more(shown.files.is_empty()) { richer.files } else { shown.files },
        ..shown
    }
}

/// Returns all calls of both, in the order of the richer version; if both have one, the more complete one.
fn calls(shown: Vec<ToolCall>, richer: Vec<ToolCall>) -> Vec<ToolCall> {
    if shown.is_empty() {
        return richer;
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut all = richer;
    for (at, call) in all.iter().enumerate() {
        if let Some(id) = &call.id {
            places.entry(id.clone()).or_insert(at);
        }
    }
    for call in shown {
        let place = call.id.as_ref().and_then(|id| places.remove(id));
        match place.and_then(|place| all.get_mut(place)) {
            Some(known) if call.output.is_some() || known.output.is_none() => *known = call,
            Some(_) => {}
            None => all.push(call),
        }
    }
    all
}
