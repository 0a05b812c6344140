//! Characters written as escapes: `\u0041`, `\x41`, `%41`, `&#65;`, `&quot;`. They can hide a secret.

use memchr::memchr3_iter;

use crate::view::View;

/// Returns the text with its escapes decoded; `None` if it has none that matter.
pub(crate) fn read(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    let mut view: Option<View> = None;
    let mut from = 0;
    for at in memchr3_iter(b'\\', b'%', b'&', bytes) {
        if at < from {
            continue;
        }
        let Some((character, length)) = escape(bytes.get(at..).unwrap_or_default()) else {
            continue;
        };
        let view = view.get_or_insert_with(|| View::with_capacity(text.len()));
        view.copy(text, from..at);
        view.decoded(character, at..at + length);
        from = at + length;
    }
    let mut view = view?;
    view.copy(text, from..text.len());
    Some(view)
}

/// Reads the escape at the start of the bytes: the character, and the length of the escape.
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes {
        [b'%', digits @ ..] => Some((plain(number(digits, 2)?)?, 3)),
        [b'&', b'#', rest @ ..] => entity(rest).map(|(character, length)| (character, length + 2)),
        [b'&', rest @ ..] => NAMED.iter().find_map(|(name, character)| {
            rest.starts_with(name).then_some((*character, name.len() + 1))
        }),
        [b'\\', ..] => {
            // In a nested string, backslashes are doubled: all of them belong to the escape.
            let slashes = bytes.iter().take(16).take_while(|b| **b == b'\\').count();
            let (digits, skipped) = match bytes.get(slashes..)? {
                [b'u', b'{', digits @ ..] => {
                    let length = digits.iter().take(7).position(|b| *b == b'}')?;
                    return Some((plain(number(digits, length)?)?, slashes + length + 3));
                }
                [b'u', digits @ ..] => (4, digits),
                [b'x', digits @ ..] => (2, digits),
                _ => return None,
            };
            Some((plain(number(skipped, digits)?)?, slashes + 1 + digits))
        }
        _ => None,
    }
}

/// Reads `#65;` and `#x41;`, without the `&`.
fn entity(rest: &[u8]) -> Option<(char, usize)> {
    let end = rest.iter().take(8).position(|b| *b == b';')?;
    let digits = rest.get(..end)?;
    let code = match digits {
        [b'x' | b'X', hex @ ..] => number(hex, hex.len())?,
        _ if digits.iter().all(u8::is_ascii_digit) => digits
            .iter()
            .try_fold(0u32, |code, b| code.checked_mul(10)?.checked_add(u32::from(b - b'0')))?,
        _ => return None,
    };
    let character = if code == u32::from(b'"') { '"' } else { plain(code)? };
    Some((character, end + 1))
}

fn number(digits: &[u8], count: usize) -> Option<u32> {
    let digits = digits.get(..count).filter(|digits| !digits.is_empty() && digits.len() <= 6)?;
    digits.iter().try_fold(0, |code, b| Some(code << 4 | char::from(*b).to_digit(16)?))
}

/// Returns the character of a code, if it is visible and has no meaning in a JSON string.
fn plain(code: u32) -> Option<char> {
    let character = char::from_u32(code)?;
    (character.is_ascii_graphic() && !matches!(character, '"' | '\\')).then_some(character)
}

const NAMED: &[(&[u8], char)] =
    &[(b"quot;", '"'), (b"amp;", '&'), (b"apos;", '\''), (b"lt;", '<'), (b"gt;", '>')];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_and_positions_are_kept() {
        for (text, read_as) in [
            ("\\u0041b\\x63%64&#101;&#x66;", Some("Abcdef")),
            ("a\\\\u0041\\u{62}", Some("aAb")),
            ("&quot;a&quot;", Some("\"a\"")),
            ("\\u0022 \\u005c %22 \\n 100% &x; \\u00e9 %e9", None),
            ("%4", None),
        ] {
            assert_eq!(read(text).map(|view| view.text).as_deref(), read_as, "{text:?}");
        }
        let view = read("x\\u0041y%42").unwrap();
        assert_eq!(view.original(1..2), 1..7);
        assert_eq!(view.original(2..4), 7..11);
        assert!(view.is_whole(&(0..1)) && !view.is_whole(&(1..2)) && !view.is_whole(&(2..4)));
    }
}
