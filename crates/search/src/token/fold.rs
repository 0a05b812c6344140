//! One spelling per word: lower case, no accents, no wide or ligature forms.

use unicode_normalization::char::{compose, decompose_compatible, is_combining_mark};

/// Appends a character of a word, folded; may add none, one or several.
pub(super) fn word(character: char, folded: &mut String) {
    if character.is_ascii() {
        folded.push(character.to_ascii_lowercase());
        return;
    }
    decompose_compatible(character, |piece| {
        for small in piece.to_lowercase() {
            letter(small, folded);
        }
    });
}

/// Letters that Unicode does not decompose, as people type them without the right keyboard.
fn letter(small: char, folded: &mut String) {
    match small {
        'ß' => folded.push_str("ss"),
        'æ' => folded.push_str("ae"),
        'œ' => folded.push_str("oe"),
        'þ' => folded.push_str("th"),
        'ø' => folded.push('o'),
        'đ' | 'ð' => folded.push('d'),
        'ħ' => folded.push('h'),
        'ı' => folded.push('i'),
        'ł' => folded.push('l'),
        'ς' => folded.push('σ'),
        _ if is_accent(small) => {}
        _ if small.is_alphanumeric() || is_combining_mark(small) => folded.push(small),
        _ => {}
    }
}

/// Whether it is a mark that people omit when they type: accents, Hebrew points, Arabic vowels. Vowel signs of Indic
/// scripts are letters to their readers and are kept.
fn is_accent(character: char) -> bool {
    matches!(u32::from(character),
        0x300..=0x36f | 0x591..=0x5bd | 0x5bf | 0x5c1..=0x5c2 | 0x5c4..=0x5c5 | 0x5c7
        | 0x640 | 0x64b..=0x65f | 0x670 | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff
        | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f | 0xe0100..=0xe01ef)
}

/// Appends a character of a script without spaces: half-width forms become full, and decomposed characters (letters of
/// Hangul, voicing marks) are composed.
pub(crate) fn dense(character: char, folded: &mut Vec<char>) {
    match u32::from(character) {
        0x3131..=0x318e | 0xf900..=0xfaff | 0xff66..=0xffdc | 0x2f800..=0x2fa1f => {
            decompose_compatible(character, |piece| join(piece, folded));
        }
        _ => join(character, folded),
    }
}

fn join(character: char, folded: &mut Vec<char>) {
    match folded.last_mut().map(|last| (compose(*last, character), last)) {
        Some((Some(joined), last)) => *last = joined,
        _ => folded.push(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lose_case_accents_and_odd_forms() {
        for (raw, want) in [
            ("Straße", "strasse"),
            ("ÉCOLE", "ecole"),
            ("e\u{301}cole", "ecole"),
            ("Ǿrsted", "orsted"),
            ("İstanbul", "istanbul"),
            ("ﬁle", "file"),
            ("Ｆｕｌｌ", "full"),
            ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
            ("ёлка", "елка"),
            ("شَدَّة", "شدة"),
            ("हिन्दी", "हिन्दी"),
            ("½", "12"),
        ] {
            let mut folded = String::new();
            raw.chars().for_each(|character| word(character, &mut folded));
            assert_eq!(folded, want, "{raw}");
        }
    }

    #[test]
    fn dense_scripts_are_composed() {
        for (raw, want) in [
            ("ｶﾞｷﾞ", "ガギ"),
            ("か\u{3099}", "が"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("\u{f900}", "豈"),
            ("会话", "会话"),
        ] {
            let mut folded = Vec::new();
            raw.chars().for_each(|character| dense(character, &mut folded));
            assert_eq!(folded.into_iter().collect::<String>(), want, "{raw}");
        }
    }
}
