//! Makes untrusted text harmless, and keeps the changes visible.
//!
//! A session may contain anything a web page or a file sent to a model. Escapes could retitle a terminal's window, move the
//! cursor over earlier lines or hide text; bidirectional controls could reorder it. They are replaced by something visible
//! and never dropped, so that a reader can see them.

use std::borrow::Cow;
use std::fmt::Write as _;

/// How to handle bidi controls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bidi {
    /// Marks and isolates are kept: right-to-left text needs them. Embeddings and overrides are made visible, as they can
    /// reorder text misleadingly.
    #[default]
    Kept,
    /// They are made visible: they must not reach a terminal.
    Shown,
}

/// Returns the text with every control character except `
/// ` and `\t` made visible.
///
/// `\r` before `
/// ` is dropped, as it belongs to the line end. The function is idempotent.
pub fn visible(text: &str, bidi: Bidi) -> Cow<'_, str> {
    let is_unsafe = |character| is_unsafe(character, bidi);
    let Some(first) = text.find(is_unsafe) else {
        return Cow::Borrowed(text);
    };
    let (safe, rest) = text.split_at(first);
    let mut clean = String::with_capacity(text.len() + 16);
    clean.push_str(safe);
    let mut rest = rest.chars().peekable();
    let mut in_flag = safe.ends_with(FLAG);
    while let Some(character) = rest.next() {
        if character == '\r' && rest.peek() == Some(&'\n') {
            continue;
        }
        in_flag = character == FLAG || in_flag && is_tag(character);
        if is_unsafe(character) && !in_flag {
            push_visible(&mut clean, character);
        } else {
            clean.push(character);
        }
    }
    Cow::Owned(clean)
}

/// Returns the text on one line, each run of white space collapsed to one space, and made visible.
pub fn single_line(text: &str, bidi: Bidi) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&visible(word, bidi));
    }
    line
}

/// Returns the text on one line, with its direction isolated.
///
/// It is enclosed in a first strong isolate if anything in it may affect the direction of its neighbours.
pub fn isolated(text: &str, bidi: Bidi) -> String {
    let line = single_line(text, bidi);
    if !line.contains(turns) {
        return line;
    }
    let mut open = 0usize;
    let mut safe = String::with_capacity(line.len() + 6);
    safe.push('\u{2068}');
    for character in line.chars() {
        match character {
            '\u{2066}'..='\u{2068}' => open += 1,
            // It would end our own isolate.
            '\u{2069}' if open == 0 => {
                push_visible(&mut safe, character);
                continue;
            }
            '\u{2069}' => open -= 1,
            _ => {}
        }
        safe.push(character);
    }
    safe.extend(std::iter::repeat_n('\u{2069}', open + 1));
    safe
}

/// Returns at most `most` characters of a text, ending with an ellipsis if it was cut.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.char_indices().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    Cow::Owned(short)
}

/// Whether a character affects the direction of text: controls, and letters of right-to-left scripts.
fn turns(character: char) -> bool {
    is_bidi_control(character)
        || matches!(character,
            '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFE}'
            | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}

/// The start of flags such as that of Scotland, whose name follows in tag characters.
const FLAG: char = '\u{1F3F4}';

/// Whether it is a tag character: a letter that is not displayed.
fn is_tag(character: char) -> bool {
    matches!(character, '\u{E0000}'..='\u{E007F}')
}

/// Whether it is an embedding, override, isolate or mark that reorders text.
fn is_bidi_control(character: char) -> bool {
    matches!(character,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' | '\u{061C}')
}

fn is_unsafe(character: char, bidi: Bidi) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{202A}'..='\u{202E}' => true,
        // Letters that nobody sees: they can hide a message from people, and not from a model.
        _ if is_tag(character) => true,
        // No script needs these, and terminals disagree about their width; the last two end a line in some. The zero width
        // joiner is kept: emoji need it.
        '\u{200B}'
        | '\u{2060}'..='\u{2064}'
        | '\u{FEFF}'
        | '\u{180E}'
        | '\u{2028}'
        | '\u{2029}' => bidi == Bidi::Shown,
        _ => character.is_control() || (bidi == Bidi::Shown && is_bidi_control(character)),
    }
}

/// Whether a text may contain embeddings, overrides or hidden letters: a quick search for their first bytes.
pub(crate) fn may_override(text: &str) -> bool {
    let has = |bytes: &[u8]| memchr::memmem::find(text.as_bytes(), bytes).is_some();
    (has(b"\xe2\x80") || has(b"\xf3\xa0"))
        && text
            .contains(|character| is_tag(character) || matches!(character, '\u{202A}'..='\u{202E}'))
}

/// Appends a visible replacement of a character.
pub(crate) fn push_visible(clean: &mut String, character: char) {
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
    fn controls_become_visible_and_direction_is_kept() {
        for (text, shown) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("\x1b]0;pwn\x07", "␛]0;pwn␇"),
            ("a\0b\x7f\u{9b}", "a␀b␡\\x9b"),
            ("one\r\ntwo\rthree\r", "one\ntwo␍three␍"),
            ("user\u{202E}txt.exe\u{200B}", "user<U+202E>txt.exe\u{200B}"),
            (
                "\u{202B}a\u{202C} \u{2067}b\u{2069}\u{200F}",
                "<U+202B>a<U+202C> \u{2067}b\u{2069}\u{200F}",
            ),
        ] {
            assert_eq!(visible(text, Bidi::Kept), shown, "{text:?}");
            assert_eq!(visible(shown, Bidi::Kept), shown, "twice: {text:?}");
        }
        assert_eq!(visible("a\u{202E}b", Bidi::Shown), "a<U+202E>b");
        assert_eq!(visible("a\u{200B}\u{FEFF}b", Bidi::Shown), "a<U+200B><U+FEFF>b");
    }

    #[test]
    fn hidden_letters_become_visible_but_not_in_flags() {
        let scotland = "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}";
        for bidi in [Bidi::Kept, Bidi::Shown] {
            assert_eq!(visible("hi\u{E0041}\u{E0042}", bidi), "hi<U+E0041><U+E0042>");
            assert_eq!(visible(scotland, bidi), scotland);
            let text = format!("{scotland}!\u{E0041}");
            assert_eq!(visible(&text, bidi), format!("{scotland}!<U+E0041>"));
        }
        assert!(may_override("a\u{E0041}") && !may_override("a"));
    }

    #[test]
    fn text_direction_ends_with_its_line() {
        for (text, shown) in [
            ("left\nto right", "left to right"),
            ("שלום", "\u{2068}שלום\u{2069}"),
            ("a\u{202E}b", "a<U+202E>b"),
            ("a\u{2067}b", "\u{2068}a\u{2067}b\u{2069}\u{2069}"),
            ("a\u{2069}\u{202E}b", "\u{2068}a<U+2069><U+202E>b\u{2069}"),
        ] {
            assert_eq!(isolated(text, Bidi::Kept), shown, "{text:?}");
        }
        assert_eq!(isolated("a\u{2069}b", Bidi::Shown), "a<U+2069>b");
    }

    #[test]
    fn long_text_is_cut_at_characters() {
        assert_eq!(shortened("会话会话", 4), "会话会话");
        assert_eq!(shortened("会话会话", 3), "会话…");
    }
}
