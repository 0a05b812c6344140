//! Prompts without an answer, in releases whose resumes copy the history under new ids (0.2 to 1.0).
//!
//! A copy keeps the message ids of answers, so a prompt is known by the answer that follows it. One that got none is known by its
//! place and its words: what it follows, how many came before it since then, and what it says.

use recount_model::MessageKind;

use super::NEAR;
use super::state::Facts;
use crate::outline::Outline;
use crate::source::stable_hash;

/// Whether a release copies the history when it resumes. Later ones append, or keep the ids.
pub(super) fn copies(version: Option<&str>) -> bool {
    version.is_some_and(|version| version.starts_with("0.") || version.starts_with("1."))
}

/// Returns the number of each prompt without an answer, with a key that is the same in every copy.
pub(super) fn keys(facts: &Facts, outline: &Outline) -> Vec<(u32, u64)> {
    let mut keys = Vec::new();
    if facts.words.is_empty() {
        return keys;
    }
    let cwd = facts.session.cwd.as_deref();
    let (mut after, mut since) = (None, 0_u32);
    for (at, entry) in outline.entries.iter().enumerate() {
        if entry.kind == MessageKind::Answer {
            (after, since) = (entry.id.as_deref(), 0);
        }
        if entry.kind != MessageKind::Prompt {
            continue;
        }
        since += 1;
        let span = outline.versions.get(entry.best as usize).map(|version| version.span.offset);
        let words = span.and_then(|offset| facts.words.get(&offset));
        if let (Some(words), None, Ok(at)) = (words, answer_to(outline, at), u32::try_from(at)) {
            // Where nothing was answered before, only the folder tells conversations apart.
            let place = (after, cwd.filter(|_| after.is_none()), since);
            keys.push((at, stable_hash(&(place, words))));
        }
    }
    keys
}

/// Returns the id of the answer that follows a prompt.
pub(super) fn answer_to(outline: &Outline, prompt: usize) -> Option<&str> {
    let mut behind = outline.entries.iter().skip(prompt + 1).take(NEAR);
    let next = behind
        .find(|entry| matches!(entry.kind, MessageKind::Prompt | MessageKind::Answer))
        .filter(|next| next.kind == MessageKind::Answer)?;
    next.id.as_deref()
}
