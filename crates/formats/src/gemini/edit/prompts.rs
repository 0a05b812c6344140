//! Merges two `logs.json`. The agent sorts the entries by time itself.

use crate::gemini::native::on_one_line;
use crate::json::Scanner;

/// Merges two lists of prompts: raw entries, equal ones once; `None` if one of them is not a list.
pub(crate) fn united(one: &[u8], other: &[u8]) -> Option<Vec<u8>> {
    let mut entries: Vec<&[u8]> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for list in [one, other] {
        let mut scanner = Scanner::new(list);
        scanner
            .array(|scanner| {
                let entry = scanner.value()?;
                if known.insert(on_one_line(entry)) {
                    entries.push(entry);
                }
                Ok(())
            })
            .ok()?;
        scanner.end().ok()?;
    }
    if entries.is_empty() {
        return Some(b"[]".to_vec());
    }
    let mut united = b"[\n  ".to_vec();
    united.extend(entries.join(&b",\n  "[..]));
    united.extend_from_slice(b"\n]");
    Some(united)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_entry_is_lost_and_none_is_changed() {
        let one = b"[\n  {\n    \"sessionId\": \"a\",\n    \"n\": 1.50\n  },\n  {\"sessionId\": \"b\"}\n]";
        let other = b"[{\"sessionId\": \"b\"}, 7, {\"x\": \"\\ud800\"}]";
        let expected = "[\n  {\n    \"sessionId\": \"a\",\n    \"n\": 1.50\n  },\n  {\"sessionId\": \"b\"},\n  7,\n  {\"x\": \"\\ud800\"}\n]";
        assert_eq!(String::from_utf8(united(one, other).unwrap()).unwrap(), expected);
        assert_eq!(united(b"[]", b" [ ]\n").unwrap(), b"[]");
        for bad in [&b"{}"[..], b"[1", b"[1] x", b""] {
            assert_eq!(united(b"[]", bad), None);
        }
    }
}
