//! Words broken across lines: by a narrow terminal, by a margin, by code that concatenates strings.

use std::ops::Range;

use memchr::memchr_iter;

use crate::view::View;

/// The longest half of a word that is considered.
const LONGEST: usize = 400;
/// The widest indentation of the next line.
const MARGIN: usize = 24;

/// Returns the text with broken words joined; `None` if none is broken.
pub(crate) fn rejoined(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    let mut view: Option<View> = None;
    let mut from = 0;
    let raw = memchr_iter(b'\n', bytes).map(|at| (at, at + 1));
    let escaped = memchr::memmem::find_iter(bytes, b"\\n").map(|at| (at, at + 2));
    // Most texts have only one of both; they are merged as they come.
    let (mut raw, mut escaped) = (raw.peekable(), escaped.peekable());
    loop {
        let next = match (raw.peek(), escaped.peek()) {
            (Some(one), Some(other)) if one < other => raw.next(),
            (_, Some(_)) => escaped.next(),
            _ => raw.next(),
        };
        let Some((end, start)) = next else { break };
        let Some(gap) = gap(bytes, end, start).filter(|gap| gap.0 >= from) else { continue };
        let view = view.get_or_insert_with(|| View::with_capacity(text.len()));
        view.copy(text, from..gap.0);
        from = gap.1;
    }
    let mut view = view?;
    view.copy(text, from..text.len());
    Some(view)
}

/// Returns the gap between two halves of a word, of which the first ends before `end` and the second begins after `start`.
fn gap(bytes: &[u8], end: usize, start: usize) -> Option<(usize, usize)> {
    let head = bytes.get(..end)?;
    // `\` at the end of a line, and `" +` between two strings.
    let closing = |b: &u8| matches!(b, b'\r' | b' ' | b'\\' | b'"' | b'\'' | b'`' | b'+');
    let closed = head.iter().rev().take(6).take_while(|b| closing(b)).count();
    let is_glued = closed > 0;
    let end = end - closed;
    let head = bytes.get(..end)?;
    let first = head.iter().rev().take(LONGEST).take_while(|b| is_part(**b)).count();
    let rest = bytes.get(start..)?;
    let margin = rest.iter().take(MARGIN).take_while(|b| is_margin(**b)).count();
    let start = start + margin;
    let rest = bytes.get(start..)?;
    let second = rest.iter().take(LONGEST).take_while(|b| is_part(**b)).count();
    if first < 4 || second < 2 {
        return None;
    }
    let padding = rest.iter().skip(second).take(2).take_while(|b| **b == b'=').count();
    let ends = match rest.get(second + padding..) {
        None | Some([]) => true,
        Some([next, ..]) => {
            matches!(
                next,
                b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | b';' | b',' | b')' | b'<' | b'@'
            )
        }
    };
    let (first, second) = (head.get(end - first..)?, rest.get(..second)?);
    // A name, as before `=`, is not half of a word.
    let is_name = padding > 0 && !ends;
    let is_word = match (looks_generated(first), looks_generated(second)) {
        (true, true) => !is_name,
        (false, true) => ends,
        (true, false) => ends && (second.len() >= 4 || is_glued),
        (false, false) => false,
    };
    is_word.then_some((end, start))
}

/// Whether the parts of a range on each of its lines look generated.
pub(crate) fn looks_generated_on_each_line(text: &str, range: &Range<usize>) -> bool {
    let text = text.get(range.clone()).unwrap_or_default().as_bytes();
    text.split(|byte| *byte == b'\n').all(|line| {
        let start = line.iter().take_while(|byte| is_margin(**byte)).count();
        let part = line.get(start..).unwrap_or_default();
        let end = part.iter().take_while(|byte| is_part(**byte)).count();
        part.get(..end).is_some_and(looks_generated)
    })
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'.')
}

fn is_margin(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'>' | b'|' | b'"' | b'\'' | b'`' | b'#' | b'*' | b'\\')
}

/// Whether it looks generated: digits among letters, unlike a word.
fn looks_generated(word: &[u8]) -> bool {
    if word.len() < 6 {
        return false;
    }
    let count = |is: fn(&u8) -> bool| word.iter().filter(|b| is(b)).count();
    let (digits, upper) = (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase));
    let lower = count(u8::is_ascii_lowercase);
    let class = |b: &u8| (b.is_ascii_digit(), b.is_ascii_uppercase());
    let changes =
        word.windows(2).filter(|pair| matches!(pair, [a, b] if class(a) != class(b))).count();
    let in_words: usize = word
        .split(|b| !b.is_ascii_lowercase())
        .map(<[u8]>::len)
        .filter(|length| *length >= 4)
        .sum();
    let has_groups_of_digits = || {
        let groups = word.split(|b| !b.is_ascii_digit()).filter(|group| !group.is_empty()).count();
        word.len() >= 20 && groups >= 4 && digits + upper + lower == word.len()
    };
    (digits > 0 || (upper > 1 && lower > 1))
        && upper + lower > 0
        && changes * 5 >= word.len()
        && (in_words * 2 < word.len() || has_groups_of_digits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_across_line_breaks_and_prose_is_kept() {
        for (text, whole) in [
            ("key aB3dE5fG\n7hI9jK1l end", Some("key aB3dE5fG7hI9jK1l end")),
            ("words\n7hI9jK1l end", None),
            ("key aB3dE5fG\n7hI9jK1l\nend", Some("key aB3dE5fG7hI9jK1l\nend")),
            ("\"aB3dE5fG\" +\n    \"7hI9jK1l\"", Some("\"aB3dE5fG7hI9jK1l\"")),
            ("> aB3dE5fG\n> 7hI9jK1l", Some("> aB3dE5fG7hI9jK1l")),
            ("aB3dE5fG\\n7hI9jK1l\\\"", Some("aB3dE5fG7hI9jK1l\\\"")),
            ("some words\nand others", None),
            ("A_KEY=aB3dE5fG7\nOTHER=1", None),
            ("index1.html\nindex2.html", None),
        ] {
            assert_eq!(rejoined(text).map(|view| view.text).as_deref(), whole, "{text:?}");
        }
    }
}
