//! The header: the metadata of a session, merged from its files.

use jiff::Timestamp;
use recount_model::{FileRole, SessionId, parse_millis};

use super::line::{Object, quoted};
use crate::json::Scanner;
use crate::native::{Fields, HeadRequest};

/// The number of bytes in which the agent looks for the session's id during cleanup.
const FIRST_LINE: usize = 4096;

/// The first fields, in the agent's own order.
const FIRST: [&str; 5] = ["sessionId", "projectHash", "startTime", "lastUpdated", "kind"];

/// Values that the loader generates and that leak into files; they would be wrong for other records.
pub(crate) const LEAKED: [&str; 7] = [
    "messages",
    "userMessageCount",
    "messageCount",
    "firstUserMessage",
    "hasUserOrAssistantMessage",
    "hasResumableContent",
    "memoryScratchpadIsStale",
];

/// Fields that would make the first line another kind of record.
const KIND_FIELDS: [&str; 3] = ["id", "$set", "$rewindTo"];

/// A hash of no path. The loader requires one but never checks it.
const NO_HASH: &str = "unknown";

/// Merges the session-level fields of its files: those of the file that the agent loads, completed from the others.
pub(crate) fn united(request: &HeadRequest<'_>) -> Fields {
    let main = request.files.iter().find(|(role, _)| *role == FileRole::Main);
    let main = main.or_else(|| request.files.first()).map(|(_, fields)| fields);
    let mut known = Fields::default();
    let own = main.into_iter().chain(request.files.iter().map(|(_, fields)| fields));
    for (key, value) in own.flat_map(Fields::iter) {
        if !LEAKED.contains(&key) && known.get(key).is_none_or(|old| old == b"null") {
            known.set(key, value);
        }
    }
    // A conversation in several sections began with the first.
    let stretches = request.files.iter();
    let stretches = stretches.filter(|(role, _)| matches!(role, FileRole::Main | FileRole::Part));
    let starts = stretches.filter_map(|(_, fields)| fields.get("startTime"));
    let earliest = starts.filter_map(|raw| Some((parse_millis(&text(raw)?)?, raw))).min();
    if let Some((_, raw)) = earliest {
        known.set("startTime", raw);
    }
    let mut need = |key: &str, usual: Option<&str>| {
        let is_set = known.get(key).and_then(text).is_some_and(|value| !value.is_empty());
        if let Some(usual) = usual.filter(|_| !is_set) {
            known.set(key, quoted(usual).as_bytes());
        }
    };
    need("sessionId", Some(request.id.as_str()));
    need("projectHash", Some(request.project_hash.unwrap_or(NO_HASH)));
    need("startTime", request.started.map(time).as_deref());
    need("lastUpdated", request.updated.map(time).as_deref());
    let overrides = &request.overrides;
    let mut say = |key: &str, value: Option<&str>| {
        if let Some(value) = value {
            known.set(key, quoted(value).as_bytes());
        }
    };
    say("sessionId", overrides.id.map(SessionId::as_str));
    say("projectHash", overrides.project_hash);
    say("startTime", overrides.started.map(time).as_deref());
    say("lastUpdated", overrides.updated.map(time).as_deref());
    say("summary", overrides.title);
    known
}

/// Writes fields as the first line of a log, and those that would make that line too long or change its kind as an update
/// after it.
pub(crate) fn lines(fields: &Fields) -> Vec<Vec<u8>> {
    let (mut head, mut update) = (Object::default(), Object::default());
    for (key, value) in fields_in_order(fields) {
        let key_text = quoted(key);
        let plain = key_text.get(1..key_text.len() - 1).unwrap_or_default().as_bytes();
        // Including separators and the line ending.
        let fits = head.len() + plain.len() + value.len() + 8 < FIRST_LINE;
        let may_lead = fits && !KIND_FIELDS.contains(&key);
        let line = if may_lead || key == "sessionId" { &mut head } else { &mut update };
        line.raw(plain, value);
    }
    let mut lines = vec![head.end()];
    if !update.is_empty() {
        let mut set = Object::default();
        set.raw(b"$set", &update.end());
        lines.push(set.end());
    }
    lines
}

/// Lists fields in the agent's own order: its first fields, then the others.
pub(crate) fn fields_in_order(fields: &Fields) -> impl Iterator<Item = (&str, &[u8])> {
    let first = FIRST.iter().filter_map(|&key| Some((key, fields.get(key)?)));
    first.chain(fields.iter().filter(|(key, _)| !FIRST.contains(key)))
}

/// Returns the decoded bytes of a raw string.
fn text(raw: &[u8]) -> Option<Vec<u8>> {
    let mut scanner = Scanner::new(raw);
    if scanner.peek() != Ok(b'"') {
        return None;
    }
    scanner.string().ok().map(|text| text.decode().into_owned().into_bytes())
}

/// Writes a time in the agent's format.
pub(crate) fn time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}
