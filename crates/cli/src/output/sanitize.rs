//! Makes untrusted text harmless to a terminal, and shows what was made harmless.
//!
//! A session may hold anything a web page or a file said to a model. Escapes could retitle the window,
//! move the cursor over earlier lines or hide text; bidirectional controls could reorder it. They are
//! replaced by something visible and never dropped, so that a reader can see that they were there.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns the text with every control character but `\n` and `\t` made visible.
///
/// `\r` before `\n` is dropped, as it belongs to the line end. Doing it twice changes nothing.
pub(crate) fn sanitize(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_unsafe) else {
        return Cow::Borrowed(text);
    };
    let (safe, rest) = text.split_at(first);
    let mut clean = String::with_capacity(text.len() + 16);
    clean.push_str(safe);
    let mut rest = rest.chars().peekable();
    while let Some(character) = rest.next() {
        if character == '\r' && rest.peek() == Some(&'\n') {
            continue;
        }
        if is_unsafe(character) {
            push_visible(&mut clean, character);
        } else {
            clean.push(character);
        }
    }
    Cow::Owned(clean)
}

/// Returns the text on one line, each run of white space collapsed to one blank, and sanitized.
pub(crate) fn single_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&sanitize(word));
    }
    line
}

fn is_unsafe(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Embeddings, overrides, isolates and marks that reorder text; then the two line ends that some
        // terminals obey. The zero width joiner stays: it holds emoji together.
        '\u{202A}'..='\u{202E}'
        | '\u{2066}'..='\u{2069}'
        | '\u{200E}'
        | '\u{200F}'
        | '\u{061C}'
        | '\u{2028}'
        | '\u{2029}' => true,
        _ => character.is_control(),
    }
}

fn push_visible(clean: &mut String, character: char) {
    let code = u32::from(character);
    match character {
        '\0'..='\u{1F}' => clean.push(char::from_u32(0x2400 + code).unwrap_or('\u{FFFD}')),
        '\u{7F}' => clean.push('\u{2421}'),
        _ => {
            // Writing to a string cannot fail.
            let _ = if character.is_control() {
                write!(clean, "\\x{code:02x}")
            } else {
                write!(clean, "<U+{code:04X}>")
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_becomes_visible() {
        for (text, shown) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("\x1b]0;pwn\x07", "␛]0;pwn␇"),
            ("\u{9b}31mred", "\\x9b31mred"),
            ("a\0b\x7f", "a␀b␡"),
            ("one\r\ntwo\rthree\r", "one\ntwo␍three␍"),
            ("\r\r\n", "␍\n"),
            ("user\u{202E}txt.exe", "user<U+202E>txt.exe"),
            ("\u{2066}\u{200F}\u{061C}", "<U+2066><U+200F><U+061C>"),
            ("a\u{2028}b\u{85}c", "a<U+2028>b\\x85c"),
            ("👩\u{200D}💻 é 会话", "👩\u{200D}💻 é 会话"),
        ] {
            assert_eq!(sanitize(text), shown, "{text:?}");
            assert_eq!(sanitize(&sanitize(text)), shown, "twice: {text:?}");
        }
    }

    #[test]
    fn harmless_text_is_not_copied() {
        assert!(matches!(sanitize("nothing to see"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_single_line_has_single_blanks() {
        for (text, shown) in [
            ("  fix\n\tthe   parser \r\n", "fix the parser"),
            ("a\rb\u{85}c\u{2028}d", "a b c d"),
            ("\x1b[2J title", "␛[2J title"),
            (" \n ", ""),
        ] {
            assert_eq!(single_line(text), shown, "{text:?}");
        }
    }
}
