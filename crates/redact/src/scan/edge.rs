//! Single bytes, and where a word begins in a text that may be escaped.

use crate::hidden::ends_color;

pub(super) fn at(bytes: &[u8], place: usize) -> u8 {
    bytes.get(place).copied().unwrap_or(0)
}

pub(super) fn before(bytes: &[u8], place: usize) -> u8 {
    place.checked_sub(1).map_or(0, |place| at(bytes, place))
}

pub(super) fn piece(bytes: &[u8], from: usize, to: usize) -> &[u8] {
    bytes.get(from..to.min(bytes.len())).unwrap_or_default()
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether no word continues across this position. What precedes it may be an escape: `
/// `, `\u003d`, `%3D`, a color.
pub(super) fn is_fresh(bytes: &[u8], place: usize) -> bool {
    !is_word(before(bytes, place)) || ends_escape(bytes, place)
}

fn ends_escape(bytes: &[u8], place: usize) -> bool {
    let head = bytes.get(..place).unwrap_or_default();
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match head {
        [.., b'\\', b'n' | b'r' | b't' | b'f' | b'b'] => true,
        [.., b'%', a, b] if hex(&[*a, *b]) => true,
        [.., b'\\', b'u', a, b, c, d] if hex(&[*a, *b, *c, *d]) => true,
        _ => ends_color(bytes, place),
    }
}

/// Returns the actual start of a word that was read backwards to `start`, if its first letters belong to an escape.
pub(super) fn after_escape(bytes: &[u8], start: usize) -> usize {
    if before(bytes, start) != b'\\' {
        return start;
    }
    match piece(bytes, start, start + 5) {
        [b'u', digits @ ..] if digits.len() == 4 && digits.iter().all(u8::is_ascii_hexdigit) => {
            start + 5
        }
        [b'n' | b'r' | b't' | b'f' | b'b', ..] => start + 1,
        _ => start,
    }
}

/// Returns the end of the run that begins at `from`, at most `most` bytes later.
pub(super) fn run_end(bytes: &[u8], from: usize, most: usize, holds: impl Fn(u8) -> bool) -> usize {
    let rest = piece(bytes, from, from.saturating_add(most));
    from + rest.iter().position(|b| !holds(*b)).unwrap_or(rest.len())
}

/// Returns the start of the run that ends at `to`, at most `most` bytes earlier.
pub(super) fn run_start(bytes: &[u8], to: usize, most: usize, holds: impl Fn(u8) -> bool) -> usize {
    let head = piece(bytes, to.saturating_sub(most), to);
    to - head.iter().rev().take_while(|b| holds(**b)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_begins_after_any_non_word_character_and_after_escapes() {
        for (text, fresh) in [
            ("x", true),
            (" x", true),
            ("ax", false),
            ("\\nx", true),
            ("\\u003dx", true),
            ("%3Dx", true),
            ("\u{1b}[31mx", true),
            ("31mx", false),
        ] {
            assert_eq!(is_fresh(text.as_bytes(), text.len() - 1), fresh, "{text:?}");
        }
        assert_eq!(after_escape(b"\\nada", 1), 2);
        assert_eq!(after_escape(b"\\u003cada", 1), 6);
        assert_eq!(after_escape(b"nada", 0), 0);
    }
}
