//! Adds, replaces or removes one member of an object, and keeps every other byte.

use std::ops::Range;

use super::{JsonScan, Scanner};

/// The positions of the members of an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    /// Decoded keys, with the ranges of key (including quotes) and value.
    all: Vec<(String, Range<usize>, Range<usize>)>,
    /// After the opening bracket.
    begin: usize,
}

impl Members {
    /// Finds the members of the object that begins at or after `from`.
    pub(crate) fn of(bytes: &[u8], from: usize) -> JsonScan<Self> {
        let mut scanner = Scanner::new(bytes.get(from..).unwrap_or_default());
        scanner.peek()?;
        let mut members = Self { begin: from + scanner.offset() + 1, ..Self::default() };
        scanner.object(|scanner, key| {
            // After the colon; the key with its quotes ends before it.
            let behind = scanner.offset();
            let written = key.raw().len() + 2;
            scanner.peek()?;
            let start = scanner.offset();
            scanner.skip()?;
            let value = from + start..from + scanner.offset();
            let before = bytes.get(..from + behind).unwrap_or_default();
            let quote = before.iter().rposition(|byte| *byte == b'"').unwrap_or_default();
            let place = (quote + 1).saturating_sub(written)..quote + 1;
            members.all.push((key.decode().into_owned(), place, value));
            Ok(())
        })?;
        Ok(members)
    }

    /// Lists keys with the ranges of their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Range<usize>)> {
        self.all.iter().map(|(key, _, value)| (key.as_str(), value))
    }

    /// Returns the range of the value of a key; of duplicate keys the last one counts.
    pub(crate) fn value(&self, key: &str) -> Option<&Range<usize>> {
        self.all.iter().rev().find(|(known, ..)| known == key).map(|(_, _, value)| value)
    }

    /// Returns the bytes with a member added after the others, indented by `indent` on a separate line.
    pub(crate) fn with(&self, bytes: &[u8], indent: usize, key: &str, value: &str) -> Vec<u8> {
        let pad = " ".repeat(indent);
        let (at, text) = if let Some((.., last)) = self.all.last() {
            (last.end, format!(",\n{pad}{key}: {value}"))
        } else {
            let outer = " ".repeat(indent.saturating_sub(2));
            (self.begin, format!("\n{pad}{key}: {value}\n{outer}"))
        };
        spliced(bytes, at..at, text.as_bytes())
    }

    /// Returns the bytes with a member's value replaced.
    pub(crate) fn replaced(&self, bytes: &[u8], key: &str, value: &str) -> Vec<u8> {
        match self.value(key) {
            Some(place) => spliced(bytes, place.clone(), value.as_bytes()),
            None => bytes.to_vec(),
        }
    }

    /// Returns the bytes with a member's key replaced.
    pub(crate) fn renamed(&self, bytes: &[u8], key: &str, to: &str) -> Vec<u8> {
        match self.all.iter().rev().find(|(known, ..)| known == key) {
            Some((_, place, _)) => spliced(bytes, place.clone(), to.as_bytes()),
            None => bytes.to_vec(),
        }
    }

    /// Returns the bytes without a member, and without its comma and space.
    pub(crate) fn without(&self, bytes: &[u8], key: &str) -> Vec<u8> {
        let Some(at) = self.all.iter().rposition(|(known, ..)| known == key) else {
            return bytes.to_vec();
        };
        let end = self.all.get(at).map_or(0, |(.., value)| value.end);
        let before = at.checked_sub(1).and_then(|before| self.all.get(before));
        let place = match (before, self.all.get(at + 1)) {
            (Some((.., before)), _) => before.end..end,
            (None, Some((_, next, _))) => {
                self.all.get(at).map_or(end, |(_, k, _)| k.start)..next.start
            }
            (None, None) => self.begin..end,
        };
        spliced(bytes, place, b"")
    }
}

fn spliced(bytes: &[u8], place: Range<usize>, with: &[u8]) -> Vec<u8> {
    let mut out = bytes.get(..place.start).unwrap_or_default().to_vec();
    out.extend_from_slice(with);
    out.extend_from_slice(bytes.get(place.end..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn one_member_changes_and_nothing_else() {
        let old = b"{\n  \"a\" : 1,\n  \"b\\u0022\": {\"x\": [1, 2]},\n  \"c\": \"\"\n}\n";
        let members = Members::of(old, 0).unwrap();
        let keys: Vec<&str> = members.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["a", "b\"", "c"]);
        let shown = |bytes: Vec<u8>| text(bytes).replace('\n', "|");
        assert_eq!(
            shown(members.replaced(old, "a", "2")),
            r#"{|  "a" : 2,|  "b\u0022": {"x": [1, 2]},|  "c": ""|}|"#
        );
        assert_eq!(
            shown(members.renamed(old, "a", "\"z\"")),
            r#"{|  "z" : 1,|  "b\u0022": {"x": [1, 2]},|  "c": ""|}|"#
        );
        assert_eq!(
            shown(members.renamed(old, "b\"", "\"z\"")),
            r#"{|  "a" : 1,|  "z": {"x": [1, 2]},|  "c": ""|}|"#
        );
        assert_eq!(
            shown(members.without(old, "a")),
            r#"{|  "b\u0022": {"x": [1, 2]},|  "c": ""|}|"#
        );
        assert_eq!(shown(members.without(old, "b\"")), r#"{|  "a" : 1,|  "c": ""|}|"#);
        assert_eq!(
            shown(members.without(old, "c")),
            r#"{|  "a" : 1,|  "b\u0022": {"x": [1, 2]}|}|"#
        );
        assert_eq!(
            shown(members.with(old, 2, "\"d\"", "4")),
            r#"{|  "a" : 1,|  "b\u0022": {"x": [1, 2]},|  "c": "",|  "d": 4|}|"#
        );
        assert_eq!(members.without(old, "none"), old);
        let one = b"{\"a\": {}}";
        let members = Members::of(one, 0).unwrap();
        assert_eq!(text(members.without(one, "a")), "{}");
        let inner = Members::of(one, members.value("a").unwrap().start).unwrap();
        assert_eq!(
            text(inner.with(one, 4, "\"/x\"", "\"y\"")),
            "{\"a\": {\n    \"/x\": \"y\"\n  }}"
        );
        assert!(Members::of(b"[1]", 0).is_err() && Members::of(b"{\"a\": 1", 0).is_err());
    }
}
