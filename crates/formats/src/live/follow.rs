//! What trackers of all agents keep of the records they see.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use recount_model::{Circling, LiveTool, parse_millis};
use serde_json::Value;

/// Arguments of tool calls that say most, in this order.
const KEY_ARGUMENTS: &[&str] = &[
    "command",
    "cmd",
    "file_path",
    "absolute_path",
    "path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "prompt",
    "description",
    "message",
    "objective",
    "question",
];
/// Characters of an argument or a text that are kept.
const SHOWN: usize = 200;
/// Number of calls that are remembered to detect a loop.
const REMEMBERED: usize = 16;
/// Maximum number of open calls: one that never ends is not kept forever.
const OPEN: usize = 64;
/// Number of equal calls that count as a loop.
const CIRCLE: u32 = 3;

/// The calls of one conversation: which are open, and whether they repeat.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    open: BTreeMap<String, (LiveTool, u64)>,
    finished: VecDeque<(u64, String)>,
}

impl Calls {
    /// Notes a call.
    pub(crate) fn began(&mut self, id: &str, name: &str, arguments: &Value, since: i64) {
        let mut hasher = DefaultHasher::new();
        (name, arguments.to_string()).hash(&mut hasher);
        let argument = key_argument(arguments);
        let tool = LiveTool { name: name.to_owned(), argument, since };
        self.open.insert(id.to_owned(), (tool, hasher.finish()));
        if self.open.len() > OPEN {
            let oldest = self.open.iter().min_by_key(|(_, (tool, _))| tool.since);
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                self.open.remove(&oldest);
            }
        }
    }

    /// Notes the result of a call.
    pub(crate) fn ended(&mut self, id: &str, result: &Value) {
        let Some((tool, call)) = self.open.remove(id) else { return };
        let mut hasher = DefaultHasher::new();
        (call, result.to_string()).hash(&mut hasher);
        self.finished.push_back((hasher.finish(), tool.name));
        if self.finished.len() > REMEMBERED {
            self.finished.pop_front();
        }
    }

    /// Notes that no call is open any more.
    pub(crate) fn abandon(&mut self) {
        self.open.clear();
    }

    /// Returns the open calls.
    pub(crate) fn open(&self) -> impl Iterator<Item = &LiveTool> {
        self.open.values().map(|(tool, _)| tool)
    }

    /// Returns the open call that began last.
    pub(crate) fn latest(&self) -> Option<&LiveTool> {
        self.open().max_by_key(|tool| tool.since)
    }

    /// Returns the call that repeats, if the last ones are the same with the same result.
    pub(crate) fn circling(&self) -> Option<Circling> {
        let (last, tool) = self.finished.back()?;
        let same = self.finished.iter().rev().take_while(|(one, _)| one == last).count();
        let times = u32::try_from(same).unwrap_or(u32::MAX);
        (times >= CIRCLE).then(|| Circling { tool: tool.clone(), times })
    }
}

/// Returns the argument of a call that says most, on one line.
fn key_argument(arguments: &Value) -> Option<String> {
    let parsed;
    let arguments = match arguments {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(value) => {
                parsed = value;
                &parsed
            }
            Err(_) => return Some(one_line(text)),
        },
        Value::Object(_) | Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {
            arguments
        }
    };
    let members = arguments.as_object()?;
    let known = KEY_ARGUMENTS.iter().find_map(|name| members.get(*name));
    let value = known.or_else(|| members.values().find(|value| value.is_string()))?;
    match value {
        Value::String(text) => Some(one_line(text)),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(one_line(&words.join(" ")))
        }
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Returns text on one line, cut short.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SHOWN).collect()
}

/// Returns the text of a content: a string, or blocks of which some are text.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => one_line(text),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            one_line(&texts.collect::<Vec<_>>().join(" "))
        }
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// Returns the time of a record.
pub(crate) fn time_of(record: &Value, name: &str) -> Option<i64> {
    match record.get(name)? {
        Value::String(text) => parse_millis(text.as_bytes()),
        Value::Number(number) => number.as_i64(),
        Value::Object(_) | Value::Array(_) | Value::Null | Value::Bool(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_never_end_are_not_kept_forever() {
        let mut calls = Calls::default();
        for number in 0..10_000 {
            calls.began(&format!("c{number}"), "shell", &Value::Null, number);
        }
        assert_eq!(calls.open().count(), OPEN);
        assert_eq!(calls.latest().map(|tool| tool.since), Some(9999));
        calls.ended("c9999", &Value::Null);
        assert_eq!(calls.latest().map(|tool| tool.since), Some(9998));
    }
}
