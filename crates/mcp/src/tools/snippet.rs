//! The line of a hit, without secrets: those that are only partly in it, too.

use recount_engine::{Error, Field, Match, passages};
use recount_model::{MessageKind, SourceName};

use crate::memory::Moment;
use crate::text::{defuse, line};

/// How much of a text around a line is looked at for secrets.
const AROUND: usize = 8 * 1024;

/// Returns who said something, as a prefix of its line.
pub(super) fn speaker(field: Field, source: SourceName) -> &'static str {
    match field {
        Field::Prompt => "you",
        Field::Answer => source.as_str(),
        Field::Thought => "thought",
        Field::Call => "tool call",
        Field::Output => "tool output",
        Field::Path => "file",
        Field::Title => "title",
        Field::Context => "context",
        Field::Notice | Field::Model | Field::Tool => "notice",
    }
}

/// Returns the line of a hit, with its speaker.
pub(super) fn snippet(moment: &Moment<'_>, hit: &Match, most: usize) -> Result<String, Error> {
    let source = hit.session.source;
    let Some(found) = &hit.snippet else {
        return Ok("(the text is gone with its file)".to_owned());
    };
    let who = speaker(found.field, source);
    let text = match moment.memory.redaction()? {
        None => found.text.clone(),
        Some(redaction) => {
            let core = found.text.trim_matches(['…', ' ']);
            let all = passages(&hit.message);
            let part = all.iter().find_map(|(_, text)| Some((*text, place(text, core)?)));
            match part {
                Some((text, range)) => {
                    let (near, range) = window(text, &range);
                    let begins = if found.text.starts_with('…') { "…" } else { "" };
                    let ends = if found.text.ends_with('…') { "…" } else { "" };
                    format!("{begins}{}{ends}", redaction.part(near, range))
                }
                // A title, or a text that is put together: it is whole.
                None => redaction.text(&found.text).into_owned(),
            }
        }
    };
    let kind = if hit.message.kind == MessageKind::Summary { "summary" } else { who };
    Ok(format!("{kind}: {}", line(&defuse(&text), most)))
}

/// Finds a line, whose white space is collapsed, in a text.
fn place(text: &str, line: &str) -> Option<std::ops::Range<usize>> {
    let first = line.split(' ').next().filter(|word| !word.is_empty())?;
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find(first).map(|at| from + at) {
        if let Some(end) = matches(text.get(at..)?, line) {
            return Some(at..at + end);
        }
        from = at + first.len();
    }
    None
}

/// Returns the length of the start of a text that is a line with other white space.
fn matches(text: &str, line: &str) -> Option<usize> {
    let mut rest = text;
    for (at, word) in line.split(' ').enumerate() {
        if at > 0 {
            let trimmed = rest.trim_start();
            if trimmed.len() == rest.len() {
                return None;
            }
            rest = trimmed;
        }
        rest = rest.strip_prefix(word)?;
    }
    Some(text.len() - rest.len())
}

/// Returns the neighbourhood of a part of a text, and where the part is in it.
fn window<'t>(text: &'t str, part: &std::ops::Range<usize>) -> (&'t str, std::ops::Range<usize>) {
    let floor = |at: usize| {
        (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    let start = floor(part.start.saturating_sub(AROUND));
    let end = floor(part.end.saturating_add(AROUND));
    (text.get(start..end).unwrap_or(text), part.start - start..part.end - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_whatever_its_white_space() {
        let text = "say ten\n  say ten\n\tpieces now";
        assert_eq!(place(text, "ten pieces"), Some(14..25));
        assert_eq!(place(text, "tenpieces"), None);
        assert_eq!(place("", "x"), None);
        assert_eq!(place("x", ""), None);
        let (near, range) = window(text, &(14..25));
        assert_eq!(&near[range], "ten\n\tpieces");
    }
}
