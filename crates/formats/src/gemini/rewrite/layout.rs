//! Documents as the agent wrote them up to 0.38: one object, indented by two, without a line break at the end.

use crate::gemini::native::{fields_in_order, quoted};
use crate::json::{JsonScan, ScanError, Scanner, compact_bytes};
use crate::native::Fields;
use crate::rewrite::Frame;

/// The depth of a message in a document.
const MESSAGE: usize = 2;

/// Deeper values are on one line: indentation must not make the file size quadratic in the depth. The agent itself nests
/// about twelve levels.
const DEEPEST: usize = 32;

/// The field before the messages.
const LAST_BEFORE: &str = "lastUpdated";

/// Writes a message as an element of `messages`, under another id if one is given; `None` if it is not an object.
pub(super) fn element(record: &[u8], id: Option<&str>) -> Option<Vec<u8>> {
    let named;
    let record = match id {
        None => record,
        Some(id) => {
            named = with_id(record, id).ok()?;
            &named
        }
    };
    if Scanner::new(record).peek() != Ok(b'{') {
        return None;
    }
    let mut out = Vec::with_capacity(record.len() * 5 / 4);
    indent(&mut out, MESSAGE);
    write_indented(record, MESSAGE, &mut out).ok()?;
    Some(out)
}

fn with_id(record: &[u8], id: &str) -> JsonScan<Vec<u8>> {
    let mut object = crate::gemini::native::Object::default();
    object.text("id", id);
    Scanner::new(record).object(|scanner, key| {
        let value = scanner.value()?;
        if !key.is("id") {
            object.raw(key.raw(), value);
        }
        Ok(())
    })?;
    Ok(object.end())
}

/// Writes the parts around the messages.
pub(super) fn frame(fields: &Fields) -> Frame {
    let known = fields_in_order(fields).filter(|(key, _)| *key != "messages");
    let (first, rest): (Vec<_>, Vec<_>) = known.partition(|(key, _)| {
        matches!(*key, "sessionId" | "projectHash" | "startTime" | LAST_BEFORE)
    });
    let field = |out: &mut Vec<u8>, (key, value): &(&str, &[u8])| {
        indent(out, 1);
        out.extend_from_slice(quoted(key).as_bytes());
        out.extend_from_slice(b": ");
        // What was read once can be read again.
        if write_indented(value, 1, out).is_err() {
            out.extend_from_slice(b"null");
        }
    };
    let mut open = b"{\n".to_vec();
    for one in &first {
        field(&mut open, one);
        open.extend_from_slice(b",\n");
    }
    indent(&mut open, 1);
    open.extend_from_slice(b"\"messages\": [");
    let mut close = b"]".to_vec();
    for one in &rest {
        close.extend_from_slice(b",\n");
        field(&mut close, one);
    }
    close.extend_from_slice(b"\n}");
    let empty = [open.as_slice(), close.as_slice()].concat();
    open.push(b'\n');
    let mut ending = b"\n".to_vec();
    indent(&mut ending, 1);
    ending.extend(close);
    Frame { open, between: b",\n".to_vec(), close: ending, empty }
}

fn indent(out: &mut Vec<u8>, depth: usize) {
    out.resize(out.len() + 2 * depth, b' ');
}

/// Writes one value like `JSON.stringify(value, null, 2)`, at some depth; deeper than [`DEEPEST`], it is on one line. Texts
/// and numbers are unchanged.
pub(super) fn write_indented(json: &[u8], depth: usize, out: &mut Vec<u8>) -> JsonScan<()> {
    let mut scanner = Scanner::new(json);
    scanner.skip()?;
    scanner.end()?;
    let json = compact_bytes(json);
    let mut depth = depth;
    let mut at = 0;
    let line = |out: &mut Vec<u8>, depth: usize| {
        if depth <= DEEPEST {
            out.push(b'\n');
            indent(out, depth);
        }
    };
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => {
                let mut scanner = Scanner::new(json.get(at..).unwrap_or_default());
                scanner.string()?;
                let length = scanner.offset();
                out.extend_from_slice(json.get(at..at + length).ok_or(ScanError::Syntax)?);
                at += length;
                continue;
            }
            b'{' | b'[' => {
                out.push(byte);
                if matches!(json.get(at + 1), Some(b'}' | b']')) {
                    out.extend(json.get(at + 1));
                    at += 1;
                } else {
                    depth += 1;
                    line(out, depth);
                }
            }
            b'}' | b']' => {
                if depth <= DEEPEST {
                    line(out, depth.saturating_sub(1));
                }
                depth = depth.saturating_sub(1);
                out.push(byte);
            }
            b',' => {
                out.push(b',');
                line(out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            other => out.push(other),
        }
        at += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(json: &str) -> String {
        let mut out = Vec::new();
        write_indented(json.as_bytes(), 0, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_laid_out_as_the_agent_does() {
        let json = r#"{"a":[1,{"b":[]},"x, {y}"],"c":{}}"#;
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(laid_out(json), serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn size_grows_with_the_text_and_not_with_its_depth() {
        for depth in [DEEPEST - 1, DEEPEST, DEEPEST + 1, 1000, 20_000, 200_000] {
            let json = format!("{}[1,2]{}", "[".repeat(depth), "]".repeat(depth));
            let out = laid_out(&json);
            assert!(out.len() <= json.len() + 4 * (DEEPEST + 2) * (DEEPEST + 2), "{}", out.len());
            let bare: String = out.split_whitespace().collect();
            assert_eq!(bare, json);
        }
    }
}
