//! The prompts that the agent logs for a whole project, before anything else is written.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::live::{DocumentParts, time_of};

/// Words that end a session.
const QUIT: &[&str] = &["/quit", "/exit"];

/// The last entries of the log, by session.
#[derive(Clone, Debug, Default)]
pub(super) struct PromptLog {
    by_session: BTreeMap<String, Prompted>,
}

/// What was typed last in a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Prompted {
    /// The number of the entry, which distinguishes it from the one before.
    number: Option<i64>,
    /// When a prompt was typed.
    pub(super) prompt: Option<i64>,
    /// When the session was told to end.
    pub(super) quit: Option<i64>,
}

impl PromptLog {
    pub(super) fn update(&mut self, at: i64, document: &DocumentParts<'_>) {
        for entry in super::conversation::last_items(document, b"\n  {") {
            let Some(session) = entry.get("sessionId").and_then(Value::as_str) else { continue };
            let known = self.by_session.entry(session.to_owned()).or_default();
            let number = entry.get("messageId").and_then(Value::as_i64);
            if known.number.is_some() && known.number >= number {
                continue;
            }
            known.number = number;
            let text = entry.get("message").and_then(Value::as_str).unwrap_or_default().trim();
            let time = time_of(&entry, "timestamp").unwrap_or(at).min(at);
            if QUIT.contains(&text) {
                known.quit = Some(time);
            } else if !text.starts_with('/') {
                known.prompt = Some(time);
                known.quit = None;
            }
        }
    }

    pub(super) fn of(&self, session: &str) -> Option<&Prompted> {
        self.by_session.get(session)
    }

    /// Returns what was typed last since a time in a session that has no file yet.
    pub(super) fn unknown_since(
        &self,
        since: i64,
        is_known: &dyn Fn(&str) -> bool,
    ) -> Option<&Prompted> {
        let unknown = self.by_session.iter().filter(|(id, _)| !is_known(id));
        let last = |one: &Prompted| one.prompt.max(one.quit);
        unknown
            .map(|(_, one)| one)
            .filter(|one| last(one) >= Some(since))
            .max_by_key(|one| last(one))
    }
}
