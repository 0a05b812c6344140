//! One record as one line.

use memchr::memchr2;

use crate::gemini::facts::{Facts, Resumable, lead};
use crate::json::{JsonScan, Scanner, compact_bytes};

/// Writes a message as a line, under another id if one is given; `None` if that is not possible.
///
/// A record that is on one line is copied byte for byte. One that makes the agent's loader throw cannot be in a log, though
/// it may be in a document.
pub(crate) fn record(record: &[u8], id: Option<&str>) -> JsonScan<Option<Vec<u8>>> {
    let mut scanner = Scanner::new(record);
    if scanner.peek()? != b'{' || is_refused(record)? {
        return Ok(None);
    }
    let (mut has_id, mut is_rewind) = (false, false);
    scanner.object(|scanner, key| {
        let is_text = scanner.peek()? == b'"';
        scanner.skip()?;
        match key.name().as_ref() {
            // Of duplicate keys the last one counts.
            b"id" => has_id = is_text,
            b"$rewindTo" => is_rewind |= is_text,
            _ => {}
        }
        Ok(())
    })?;
    scanner.end()?;
    if id.is_none() && !is_rewind {
        return Ok(has_id.then(|| on_one_line(record)));
    }
    rewritten(record, id)
}

fn is_refused(record: &[u8]) -> JsonScan<bool> {
    let facts = Facts::read(&mut Scanner::new(record))?;
    let lead = lead(facts.role, facts.content);
    Ok(facts.resumable(lead.as_deref()) == Resumable::Throws)
}

/// Returns JSON text without line breaks.
pub(crate) fn on_one_line(json: &[u8]) -> Vec<u8> {
    if memchr2(b'\n', b'\r', json).is_some() { compact_bytes(json) } else { json.to_vec() }
}

/// Writes a message with another id, and without the key that would make the line a rewind: in a document and in a
/// checkpoint it has no meaning.
fn rewritten(record: &[u8], id: Option<&str>) -> JsonScan<Option<Vec<u8>>> {
    let mut object = Object::default();
    let mut has_id = id.is_some();
    if let Some(id) = id {
        object.text("id", id);
    }
    Scanner::new(record).object(|scanner, key| {
        let is_text = scanner.peek()? == b'"';
        let value = scanner.value()?;
        let name = key.name();
        has_id |= name.as_ref() == b"id" && is_text;
        let is_dropped = match name.as_ref() {
            b"id" => id.is_some(),
            b"$rewindTo" => is_text,
            _ => false,
        };
        if !is_dropped {
            object.raw(key.raw(), value);
        }
        Ok(())
    })?;
    Ok(has_id.then(|| object.end()))
}

/// An object, written field by field.
#[derive(Debug, Default)]
pub(crate) struct Object(Vec<u8>);

impl Object {
    /// Adds a field whose key and value are already JSON; the key without its quotes.
    pub(crate) fn raw(&mut self, key: &[u8], value: &[u8]) {
        self.0.extend_from_slice(if self.0.is_empty() { b"{\"" } else { b",\"" });
        self.0.extend_from_slice(key);
        self.0.extend_from_slice(b"\":");
        self.0.extend(on_one_line(value));
    }

    /// Adds a text; the key must need no escapes.
    pub(crate) fn text(&mut self, key: &str, text: &str) {
        self.raw(key.as_bytes(), quoted(text).as_bytes());
    }

    /// Returns the number of bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no field yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the object.
    pub(crate) fn end(mut self) -> Vec<u8> {
        if self.0.is_empty() {
            self.0.push(b'{');
        }
        self.0.push(b'}');
        self.0
    }
}

/// Returns a text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    // A string can always be serialized.
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".into())
}
