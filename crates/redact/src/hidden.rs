//! What stands in a text but is not seen: colours and characters without width. They can lie inside a secret.

use memchr::{memchr2_iter, memchr3_iter};

/// A text without what is not seen, and where its pieces stood.
#[derive(Debug)]
pub(crate) struct Plain {
    pub(crate) text: String,
    /// Where a piece begins here, and where it began before.
    pieces: Vec<(usize, usize)>,
}

impl Plain {
    /// Returns where a character of this text stood.
    pub(crate) fn original(&self, at: usize) -> usize {
        let next = self.pieces.partition_point(|(here, _)| *here <= at);
        let piece = next.checked_sub(1).and_then(|piece| self.pieces.get(piece));
        piece.map_or(at, |(here, before)| before + (at - here))
    }
}

/// Returns the text without what is not seen; nothing when all of it is.
pub(crate) fn without(text: &str) -> Option<Plain> {
    let bytes = text.as_bytes();
    let mut spots: Vec<(usize, usize)> = memchr3_iter(0x1b, b'\\', 0xe2, bytes)
        .chain(memchr2_iter(0xef, 0xc2, bytes))
        .filter_map(|at| {
            let length = length(bytes, at);
            (length > 0).then_some((at, length))
        })
        .collect();
    if spots.is_empty() {
        return None;
    }
    spots.sort_unstable();
    let mut plain = Plain { text: String::with_capacity(text.len()), pieces: Vec::new() };
    let mut from = 0;
    for (at, length) in spots.into_iter().chain([(text.len(), 0)]) {
        if let Some(piece) = text.get(from..at).filter(|piece| !piece.is_empty()) {
            plain.pieces.push((plain.text.len(), from));
            plain.text.push_str(piece);
        }
        from = from.max(at + length);
    }
    Some(plain)
}

/// Returns how long the unseen thing is that begins here; 0 when none does.
fn length(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let may_begin = match rest {
        [b'\\', second, ..] => matches!(second, b'u' | b'x' | b'0' | b'e'),
        [0xe2, second, ..] => matches!(second, 0x80 | 0x81),
        [0xef, second, ..] => *second == 0xbb,
        [0xc2, second, ..] => *second == 0xad,
        [0x1b, ..] => true,
        _ => false,
    };
    if !may_begin {
        return 0;
    }
    for unseen in UNSEEN {
        if rest.starts_with(unseen) {
            return unseen.len();
        }
    }
    for escape in ESCAPES {
        if let Some(after) = rest.strip_prefix(*escape) {
            let Some(parameters) = after.strip_prefix(b"[") else { continue };
            let digits = parameters.iter().take(24).position(|b| !is_parameter(*b)).unwrap_or(0);
            let last = parameters.get(digits);
            if last.is_some_and(|last| matches!(last, b'm' | b'K')) {
                return escape.len() + 1 + digits + 1;
            }
        }
    }
    0
}

/// Whether a colour ends right before this place.
pub(crate) fn ends_colour(bytes: &[u8], at: usize) -> bool {
    let Some(head) = bytes.get(..at).and_then(|head| head.strip_suffix(b"m")) else { return false };
    let digits = head.iter().rev().take(24).take_while(|b| is_parameter(**b)).count();
    let head = head.get(..head.len() - digits).unwrap_or_default();
    head.strip_suffix(b"[").is_some_and(|head| ESCAPES.iter().any(|escape| head.ends_with(escape)))
}

fn is_parameter(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b';' | b':')
}

/// How the escape character is written, in texts and in code.
const ESCAPES: &[&[u8]] = &[b"\x1b", b"\\u001b", b"\\u001B", b"\\x1b", b"\\x1B", b"\\033", b"\\e"];

/// Characters without width, as they are and as JSON spells them.
const UNSEEN: &[&[u8]] = &[
    "\u{200b}".as_bytes(),
    "\u{200c}".as_bytes(),
    "\u{200d}".as_bytes(),
    "\u{200e}".as_bytes(),
    "\u{200f}".as_bytes(),
    "\u{2060}".as_bytes(),
    "\u{feff}".as_bytes(),
    "\u{ad}".as_bytes(),
    b"\\u200b",
    b"\\u200c",
    b"\\u200d",
    b"\\u200e",
    b"\\u200f",
    b"\\u2060",
    b"\\ufeff",
    b"\\u00ad",
    b"\\u200B",
    b"\\u200C",
    b"\\u200D",
    b"\\u200E",
    b"\\u200F",
    b"\\uFEFF",
    b"\\u00AD",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_left_out_and_places_are_known() {
        for (text, plain) in [
            ("a\u{1b}[1;31mb\u{1b}[0m", Some("ab")),
            ("a\\u001b[31mb", Some("ab")),
            ("\u{200b}a\u{feff}", Some("a")),
            ("\u{1b}[Ab", None),
            ("\u{2014} C:\\x ©", None),
        ] {
            assert_eq!(without(text).map(|plain| plain.text).as_deref(), plain, "{text:?}");
        }
        let plain = without("\u{200b}ab\u{1b}[0mc").unwrap();
        assert_eq!([0, 1, 2].map(|at| plain.original(at)), [3, 4, 9]);
        assert!(ends_colour(b"\x1b[0;1mx", 6));
        assert!(!ends_colour(b"[0m", 3));
    }
}
