//! What each message of a run used, so that the sum is what the run says it used.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::stream::{count, text};

/// Figures of one message, or of a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    input: u64,
    cache_write: u64,
    cache_read: u64,
    output: u64,
}

impl Figures {
    /// Reads `usage` of a message or of a result.
    pub(super) fn of_usage(usage: Option<&Value>) -> Self {
        let of = |key| usage.map_or(0, |usage| count(usage, key));
        Self {
            input: of("input_tokens"),
            cache_write: of("cache_creation_input_tokens"),
            cache_read: of("cache_read_input_tokens"),
            output: of("output_tokens"),
        }
    }

    /// Reads what one model used in a run.
    pub(super) fn of_model(used: &Value) -> Self {
        Self {
            input: count(used, "inputTokens"),
            cache_write: count(used, "cacheCreationInputTokens"),
            cache_read: count(used, "cacheReadInputTokens"),
            output: count(used, "outputTokens"),
        }
    }

    pub(super) fn sum(self) -> u64 {
        let parts = [self.cache_write, self.cache_read, self.output];
        parts.into_iter().fold(self.input, u64::saturating_add)
    }

    fn each(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            input: join(self.input, other.input),
            cache_write: join(self.cache_write, other.cache_write),
            cache_read: join(self.cache_read, other.cache_read),
            output: join(self.output, other.output),
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        self.each(other, u64::saturating_add)
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.each(other, u64::saturating_sub)
    }

    fn largest(self, other: Self) -> Self {
        self.each(other, u64::max)
    }

    fn write(self, message: &mut Value) {
        let Some(message) = message.as_object_mut() else { return };
        let usage = message.entry("usage").or_insert_with(|| json!({}));
        if !usage.is_object() {
            *usage = json!({});
        }
        let Some(usage) = usage.as_object_mut() else { return };
        for (key, figure) in [
            ("input_tokens", self.input),
            ("cache_creation_input_tokens", self.cache_write),
            ("cache_read_input_tokens", self.cache_read),
            ("output_tokens", self.output),
        ] {
            usage.insert(key.to_owned(), json!(figure));
        }
    }
}

/// What is known of a message.
#[derive(Clone, Debug, Default)]
struct Entry {
    used: Figures,
    agent: Option<String>,
    has_calls: bool,
    /// Whether its figures are those with which it ended.
    is_final: bool,
}

/// The figures of all messages.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    entries: BTreeMap<String, Entry>,
    /// Messages since the last result, in order.
    open: Vec<String>,
    /// The message whose parts come now.
    partial: Option<String>,
}

impl Ledger {
    /// Returns the ids of all messages.
    pub(super) fn messages(&self) -> Vec<String> {
        self.entries.keys().cloned().collect()
    }

    /// Takes a message, or a block of one.
    pub(super) fn message(&mut self, message: &Value, agent: Option<&str>) {
        if text(message, "role") != Some("assistant") {
            return;
        }
        let Some(id) = text(message, "id") else { return };
        let entry = self.entry(id);
        entry.used = entry.used.largest(Figures::of_usage(message.get("usage")));
        entry.agent = agent.map(str::to_owned);
        let blocks = message.get("content").and_then(Value::as_array);
        entry.has_calls |=
            blocks.into_iter().flatten().any(|block| text(block, "type") == Some("tool_use"));
    }

    fn entry(&mut self, id: &str) -> &mut Entry {
        if !self.open.iter().rev().take(64).any(|known| known == id) {
            self.open.push(id.to_owned());
        }
        self.entries.entry(id.to_owned()).or_default()
    }

    /// Takes a part of a message: the last one has the figures of the whole.
    pub(super) fn partial(&mut self, event: Option<&Value>, id: Option<String>) {
        let Some(event) = event else { return };
        match text(event, "type") {
            Some("message_start") => self.partial = id,
            Some("message_delta") => {
                let used = Figures::of_usage(event.get("usage"));
                if let Some(id) = self.partial.clone() {
                    let entry = self.entry(&id);
                    entry.used = entry.used.largest(used);
                    entry.is_final = true;
                }
            }
            _ => {}
        }
    }

    /// Takes what a run used: what its messages lack is given to the last one of each kind.
    pub(super) fn settle(&mut self, used: Figures, of_agents: Option<Figures>) {
        let open = std::mem::take(&mut self.open);
        self.give(&open, used, false);
        if let Some(of_agents) = of_agents {
            self.give(&open, of_agents, true);
        }
        for id in open {
            if let Some(entry) = self.entries.get_mut(&id) {
                entry.is_final = true;
            }
        }
    }

    fn give(&mut self, open: &[String], used: Figures, to_agents: bool) {
        let own = |id: &&String| {
            self.entries.get(*id).is_some_and(|entry| entry.agent.is_some() == to_agents)
        };
        let own: Vec<&String> = open.iter().filter(own).collect();
        let known = own
            .iter()
            .filter_map(|id| self.entries.get(*id))
            .fold(Figures::default(), |sum, entry| sum.plus(entry.used));
        if let Some(last) = own.last().and_then(|id| self.entries.get_mut(*id)) {
            last.used = last.used.plus(used.minus(known));
        }
    }

    /// Writes the figures into the last row of each message.
    pub(super) fn write(&self, rows: &mut [Value]) {
        let mut seen = std::collections::HashSet::new();
        for row in rows.iter_mut().rev() {
            let Some(message) = row.get_mut("message") else { continue };
            let Some(id) = text(message, "id").map(str::to_owned) else { continue };
            if !seen.insert(id.clone()) {
                continue;
            }
            let Some(entry) = self.entries.get(&id) else { continue };
            entry.used.write(message);
            let is_open = message.get("stop_reason").is_none_or(Value::is_null);
            if let Some(fields) = message.as_object_mut().filter(|_| entry.is_final && is_open) {
                let reason = if entry.has_calls { "tool_use" } else { "end_turn" };
                fields.insert("stop_reason".to_owned(), json!(reason));
            }
        }
    }
}
