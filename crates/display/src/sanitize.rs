//! Makes untrusted text harmless for a terminal, and keeps the changes visible.
//!
//! A session may contain anything a web page or a file sent to a model. Escapes could retitle the window, move the cursor
//! over earlier lines or hide text; bidirectional controls could reorder it. They are replaced by something visible and
//! never dropped, so that a reader can see them.

use std::borrow::Cow;

use recount_engine::export::text::{self, Bidi};

/// Returns the text with every control character except `
/// ` and `\t` made visible.
///
/// `\r` before `
/// ` is dropped, as it belongs to the line end. The function is idempotent.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    text::visible(text, Bidi::Shown)
}

/// Returns the text on one line, each run of white space collapsed to one space, and sanitized.
pub fn single_line(text: &str) -> String {
    text::single_line(text, Bidi::Shown)
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
