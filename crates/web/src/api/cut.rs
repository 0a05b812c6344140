//! Long texts are cut before they are sent: a page folds them anyway.

use recount_model::{Message, RawJson};
use serde_json::{Value, json};

/// Longer texts are cut.
const LONG: usize = 100 * 1024;
/// Even if the whole is asked for.
const LONGEST: usize = 16 * 1024 * 1024;

/// Cuts the long texts of a message, and returns what was cut and how large it is.
pub(crate) fn cut(message: &mut Message, whole: bool) -> Vec<Value> {
    let most = if whole { LONGEST } else { LONG };
    let mut cut = Vec::new();
    let mut note = |place: &str, call: Option<usize>, bytes: Option<usize>| {
        if let Some(bytes) = bytes {
            cut.push(json!({"where": place, "call": call, "bytes": bytes}));
        }
    };
    note("text", None, shorten(&mut message.display_text, most));
    note("sent", None, shorten(&mut message.text, most));
    for thought in &mut message.thoughts {
        note("thought", None, shorten(&mut thought.description, most));
    }
    for file in &mut message.files {
        note("file", None, shorten(&mut file.content, most));
    }
    for (at, call) in message.tool_calls.iter_mut().enumerate() {
        let texts =
            [("output", &mut call.output), ("output", &mut call.display), ("diff", &mut call.diff)];
        for (place, text) in texts {
            note(place, Some(at), text.as_mut().and_then(|text| shorten(text, most)));
        }
        let mut arguments = call.args.as_str().to_owned();
        if let Some(bytes) = shorten(&mut arguments, most) {
            call.args = RawJson::new(arguments);
            note("arguments", Some(at), Some(bytes));
        }
    }
    cut
}

/// Cuts a text, and returns how long it was, if it was too long.
fn shorten(text: &mut String, most: usize) -> Option<usize> {
    let bytes = text.len();
    (bytes > most).then(|| {
        let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        let mut text = "é".repeat(LONG);
        assert_eq!(shorten(&mut text, LONG - 1), Some(2 * LONG));
        assert_eq!(text.len(), LONG - 2);
        assert_eq!(shorten(&mut text, LONG), None);
    }
}
