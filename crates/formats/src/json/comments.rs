//! JSON with comments, as settings may have them.

/// Replaces comments by spaces, so that positions are kept: like `strip-json-comments`, with which the agents read their
/// settings. A byte order mark is kept, and makes the text invalid; a carriage return alone does not end a comment.
pub(crate) fn strip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, tail)) = rest.split_first() {
        let end = match (first, tail.first()) {
            (b'"', _) => string(tail) + 1,
            (b'/', Some(b'/')) => {
                let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                out.resize(out.len() + end, b' ');
                rest = rest.get(end..).unwrap_or_default();
                continue;
            }
            (b'/', Some(b'*')) => {
                let inner = rest.get(2..).unwrap_or_default();
                let end = memchr::memmem::find(inner, b"*/").map_or(rest.len(), |at| at + 4);
                out.resize(out.len() + end, b' ');
                rest = rest.get(end..).unwrap_or_default();
                continue;
            }
            _ => 1,
        };
        let (kept, after) = rest.split_at(end.min(rest.len()));
        out.extend_from_slice(kept);
        rest = after;
    }
    out
}

/// Returns the length of a string with its closing quote, after the opening one.
fn string(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_strings_stay() {
        let strip = |text: &str| String::from_utf8(strip(text.as_bytes())).unwrap();
        assert_eq!(strip("{// no\n\"a\": /* x */ 1}"), "{     \n\"a\":         1}");
        let kept = r#"{"url": "https://x/*y*/", "quote": "\"// no", "end": "\\"}"#;
        assert_eq!(strip(kept), kept);
        assert_eq!(strip("{// a\rb\n}"), "{      \n}");
        assert_eq!(strip("\u{feff}{}"), "\u{feff}{}");
        assert_eq!(strip("{} /* open"), "{}        ");
        assert_eq!(strip("\"open \\"), "\"open \\");
    }
}
