//! Invisible parts of a text: colors and characters without width. They can be inside a secret.

use memchr::{memchr2_iter, memchr3_iter};

use crate::tags::tag_end;
use crate::view::View;

/// Returns the text without invisible parts; `None` if there are none.
pub(crate) fn without(text: &str) -> Option<View> {
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
    let mut plain = View::with_capacity(text.len());
    let mut from = 0;
    for (at, length) in spots.into_iter().chain([(text.len(), 0)]) {
        plain.copy(text, from..at.max(from));
        from = from.max(at + length);
    }
    Some(plain)
}

/// Returns the length of the invisible part that begins here; 0 if there is none.
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
            let length = sequence(after, *escape == b"\x1b");
            return if length > 0 { escape.len() + length } else { 0 };
        }
    }
    0
}

/// The longest address of a link in a terminal.
const LINK: usize = 2048;

/// Returns the length of the rest of a control sequence: a color, a cursor movement, a character set, a link. It depends on
/// how the escape character was written: in code, only unambiguous sequences are recognized.
fn sequence(after: &[u8], is_raw: bool) -> usize {
    match after {
        // A redaction tag is visible.
        [b'[', ..] if tag_end(after, 0).is_some() => 0,
        [b'[', rest @ ..] => {
            let parameters = rest.iter().take(24).position(|b| !is_parameter(*b)).unwrap_or(0);
            let is_final = |b: &u8| matches!(b, b'm' | b'K') || (is_raw && b.is_ascii_alphabetic());
            if rest.get(parameters).is_some_and(is_final) { parameters + 2 } else { 0 }
        }
        [b'(' | b')', b'A' | b'B' | b'0', ..] if is_raw => 2,
        [b']', rest @ ..] if is_raw => {
            let ends = |b: &u8| matches!(b, 0x07 | 0x1b | b'\n');
            match rest.iter().take(LINK).position(ends) {
                Some(end) => match rest.get(end..) {
                    Some([0x07, ..]) => end + 2,
                    Some([0x1b, b'\\', ..]) => end + 3,
                    _ => 0,
                },
                None => 0,
            }
        }
        _ => 0,
    }
}

/// Whether a color sequence ends right before this position.
pub(crate) fn ends_color(bytes: &[u8], at: usize) -> bool {
    let Some(head) = bytes.get(..at).and_then(|head| head.strip_suffix(b"m")) else { return false };
    let digits = head.iter().rev().take(24).take_while(|b| is_parameter(**b)).count();
    let head = head.get(..head.len() - digits).unwrap_or_default();
    head.strip_suffix(b"[").is_some_and(|head| ESCAPES.iter().any(|escape| head.ends_with(escape)))
}

fn is_parameter(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b';' | b':' | b'?')
}

/// Spellings of the escape character, in text and in code.
const ESCAPES: &[&[u8]] = &[b"\x1b", b"\\u001b", b"\\u001B", b"\\x1b", b"\\x1B", b"\\033", b"\\e"];

/// Characters without width, raw and as JSON escapes.
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
    fn invisible_parts_are_removed_and_positions_are_kept() {
        for (text, plain) in [
            ("a\u{1b}[1;31mb\u{1b}[0m", Some("ab")),
            ("a\\u001b[31mb", Some("ab")),
            ("\u{200b}a\u{feff}", Some("a")),
            ("\u{1b}[Ab", Some("b")),
            ("a\u{1b}(B\u{1b}[mb", Some("ab")),
            ("a\u{1b}[?25lb", Some("ab")),
            ("\u{1b}]8;;https://a.dev\u{1b}\\a\u{1b}]8;;\u{7}b", Some("ab")),
            ("\u{1b}]8;;open", None),
            ("\\e[Ab \\e(B", None),
            ("\u{2014} C:\\x ©", None),
        ] {
            assert_eq!(without(text).map(|plain| plain.text).as_deref(), plain, "{text:?}");
        }
        let plain = without("\u{200b}ab\u{1b}[0mc").unwrap();
        assert_eq!([0, 1, 2].map(|at| plain.original(at..at + 1).start), [3, 4, 9]);
        assert_eq!(plain.original(1..3), 4..10);
        assert!(ends_color(b"\x1b[0;1mx", 6));
        assert!(!ends_color(b"[0m", 3));
    }
}
