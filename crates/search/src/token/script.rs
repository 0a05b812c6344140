//! Classifies characters: part of a word, of a script without spaces, or neither.

use unicode_normalization::char::is_combining_mark;

/// The class of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Ends a word.
    Other,
    /// A lower-case letter, or one of a script without case.
    Lower,
    /// A capital letter.
    Upper,
    /// A digit.
    Digit,
    /// Belongs to the character before it, or is invisible.
    Mark,
    /// Joins the parts of an identifier: `_`, `-`, `.`.
    Joint,
    /// A character of a script without spaces between words.
    Dense,
}

/// By byte, so that no index can be out of bounds: bytes from 128 on are [`Class::Other`].
const BYTES: [Class; 256] = bytes();

const fn bytes() -> [Class; 256] {
    let mut table = [Class::Other; 256];
    let mut at = 0_u8;
    while at < 128 {
        let class = match at {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' | b'-' | b'.' => Class::Joint,
            _ => Class::Other,
        };
        #[expect(clippy::indexing_slicing, reason = "the loop ends at the table's length")]
        {
            table[at as usize] = class;
        }
        at += 1;
    }
    table
}

/// Returns the class of a byte below 128; others are [`Class::Other`].
#[inline]
pub(super) fn of_byte(byte: u8) -> Class {
    BYTES.get(usize::from(byte)).copied().unwrap_or(Class::Other)
}

/// Returns the class of any character.
pub(super) fn of(character: char) -> Class {
    if character.is_ascii() {
        return of_byte(character as u8);
    }
    if is_dense(character) {
        Class::Dense
    } else if character.is_uppercase() {
        Class::Upper
    } else if character.is_numeric() {
        Class::Digit
    } else if character == TATWEEL || is_invisible(character) || is_combining_mark(character) {
        Class::Mark
    } else if character.is_alphabetic() {
        Class::Lower
    } else {
        Class::Other
    }
}

/// Stretches Arabic words without changing them.
const TATWEEL: char = '\u{640}';

/// Whether it is a soft hyphen, joiner or word joiner: they may be inside a word.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Whether words of this script follow each other without a space: Han, kana, Hangul (whose particles are attached to
/// words), Bopomofo, Thai, Lao, Burmese, Khmer.
fn is_dense(character: char) -> bool {
    let code = u32::from(character);
    if code < 0xe00 {
        return false;
    }
    matches!(code,
        0x4e00..=0x9fff | 0xac00..=0xd7ff
        | 0x3005..=0x3007 | 0x3041..=0x3096 | 0x3099..=0x309a | 0x309d..=0x309f
        | 0x30a1..=0x30fa | 0x30fc..=0x30ff | 0x3105..=0x318e | 0x31a0..=0x31bf | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf | 0xa960..=0xa97c | 0xf900..=0xfaff | 0xff66..=0xffdc
        | 0x1100..=0x11ff | 0x1b000..=0x1b16f | 0x20000..=0x3fffd
        | 0xe01..=0xe3a | 0xe40..=0xe4e | 0xe81..=0xece | 0xedc..=0xedf
        | 0x1000..=0x103f | 0x1050..=0x108f | 0x1780..=0x17d3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_fall_into_their_class() {
        for (characters, class) in [
            ("azßéжא\u{5d0}अ", Class::Lower),
            ("AZÉЖΩ", Class::Upper),
            ("09٣५", Class::Digit),
            ("\u{301}\u{200d}\u{ad}\u{94d}ـ", Class::Mark),
            ("_-.", Class::Joint),
            ("会話かカー한ﾊﾝไທမខ々〇\u{20000}ㄅ", Class::Dense),
            (" ,/\\\"'・、。「🙂€→", Class::Other),
        ] {
            for character in characters.chars() {
                assert_eq!(of(character), class, "{character:?}");
            }
        }
    }
}
