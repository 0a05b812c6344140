//! Reads bytes of a file as the tokenizer would read their text.

use super::Prefilter;
use crate::token::{Spelling, fold_dense, spelling};

/// One step through the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A character.
    Is(char),
    /// The quote that ends a string.
    Quote,
    /// Bytes that are not text.
    Broken,
}

/// Returns the unit at a position and its length in bytes; `None` at the end.
pub(super) fn unit(bytes: &[u8], at: usize) -> Option<(Unit, usize)> {
    let rest = bytes.get(at..)?;
    match *rest.first()? {
        b'"' => Some((Unit::Quote, 1)),
        b'\\' => Some(escape(rest)),
        byte if byte < 128 => Some((Unit::Is(char::from(byte)), 1)),
        _ => Some(match raw(rest) {
            Some(character) => (Unit::Is(character), character.len_utf8()),
            None => (Unit::Broken, 1),
        }),
    }
}

/// Reads the character at the start of bytes that are not ASCII.
pub(super) fn raw(bytes: &[u8]) -> Option<char> {
    let width = match *bytes.first()? {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    std::str::from_utf8(bytes.get(..width)?).ok()?.chars().next()
}

fn escape(bytes: &[u8]) -> (Unit, usize) {
    match bytes.get(1) {
        Some(b'u') => match code_unit(bytes) {
            Some(high @ 0xd800..0xdc00) => {
                let low = bytes.get(6..).and_then(code_unit);
                let Some(low @ 0xdc00..0xe000) = low else { return (Unit::Broken, 6) };
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                (char::from_u32(code).map_or(Unit::Broken, Unit::Is), 12)
            }
            Some(code) => (char::from_u32(code).map_or(Unit::Broken, Unit::Is), 6),
            None => (Unit::Broken, 2),
        },
        Some(b'n' | b't' | b'r' | b'b' | b'f') | None => (Unit::Is('\n'), 2),
        Some(&other) if other < 128 => (Unit::Is(char::from(other)), 2),
        Some(_) => (Unit::Broken, 1),
    }
}

/// Reads `\uXXXX` at the start of bytes.
fn code_unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
}

/// The maximum number of borders between parts within one word.
const MAX_BORDERS: u32 = 4;

/// The maximum length of a word in bytes: adjacent pieces overlap by twice as much.
const LONGEST: usize = Prefilter::OVERLAP / 2;

/// Whether the bytes from `start` on spell the letters; the first character may have others before them, the last one
/// others after. What is too long to be checked is accepted.
pub(super) fn spells(bytes: &[u8], start: usize, letters: &[char]) -> bool {
    let Some((Unit::Is(first), width)) = unit(bytes, start) else { return false };
    let mut way = Way { bytes, letters, end: start + LONGEST, folded: String::new() };
    if !matches!(spelling(first, &mut way.folded), Spelling::Letters | Spelling::Mark) {
        return false;
    }
    let folded = way.folded.clone();
    folded.char_indices().any(|(from, _)| {
        let said = folded.get(from..).unwrap_or_default();
        let same = said.chars().zip(letters).take_while(|(said, letter)| said == *letter).count();
        let is_whole = same == letters.len() || same == said.chars().count();
        is_whole && way.continues(start + width, same, 0)
    })
}

struct Way<'a> {
    bytes: &'a [u8],
    letters: &'a [char],
    /// Nothing after this is checked.
    end: usize,
    folded: String,
}

impl Way<'_> {
    /// Whether the rest of the letters follows.
    fn continues(&mut self, mut at: usize, mut known: usize, borders: u32) -> bool {
        while let Some(wanted) = self.letters.get(known) {
            if at > self.end {
                return true;
            }
            let Some((unit, width)) = unit(self.bytes, at) else { return false };
            at += width;
            match unit {
                Unit::Is(character) if character.is_ascii_alphanumeric() => {
                    if character.to_ascii_lowercase() != *wanted {
                        return false;
                    }
                    known += 1;
                }
                Unit::Is(character) => match spelling(character, &mut self.folded) {
                    Spelling::Letters | Spelling::Mark => {
                        let rest = self.letters.get(known..).unwrap_or_default();
                        let same = self.folded.chars().zip(rest).take_while(|(said, l)| said == *l);
                        let same = same.count();
                        if same < rest.len().min(self.folded.chars().count()) {
                            return false;
                        }
                        known += same;
                    }
                    Spelling::Joint => {}
                    Spelling::Dense | Spelling::Separator => return false,
                },
                Unit::Quote if borders < MAX_BORDERS => {
                    let next = after_border(self.bytes, at);
                    return next.is_some_and(|next| self.continues(next, known, borders + 1));
                }
                Unit::Quote | Unit::Broken => return false,
            }
        }
        true
    }
}

/// Whether the bytes from `start` on spell characters of a script without spaces.
pub(super) fn spells_dense(bytes: &[u8], start: usize, letters: &[char]) -> bool {
    let mut dense: Vec<char> = Vec::new();
    let mut folded = String::new();
    let (mut at, mut borders) = (start, 0);
    // One more than needed: it may change the one before it.
    while dense.len() <= letters.len() {
        if at > start + LONGEST {
            return true;
        }
        let Some((unit, width)) = unit(bytes, at) else { break };
        at += width;
        match unit {
            Unit::Is(character) => match spelling(character, &mut folded) {
                Spelling::Dense => fold_dense(character, &mut dense),
                Spelling::Mark => {}
                Spelling::Letters | Spelling::Joint | Spelling::Separator => break,
            },
            Unit::Quote if borders < MAX_BORDERS => {
                let Some(next) = after_border(bytes, at) else { break };
                borders += 1;
                at = next;
            }
            Unit::Quote | Unit::Broken => break,
        }
    }
    dense.starts_with(letters)
}

/// The maximum distance to the next part of a text.
const BORDER: usize = 160;

/// Returns where the text continues in the next part of a content, as in `"},{"text":"` or `","`. The quote that ends the
/// first part is before `at`.
fn after_border(bytes: &[u8], at: usize) -> Option<usize> {
    let gap = bytes.get(at..)?;
    let gap = gap.get(..gap.len().min(BORDER))?;
    let (mut comma, mut key) = (false, false);
    let mut from = 0;
    while let Some(&byte) = gap.get(from) {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' | b'{' | b'}' | b'[' | b']' => {}
            b',' => comma = true,
            b':' if key => {}
            b'"' if comma && !key && is_text_key(gap.get(from..)?) => {
                key = true;
                from += b"\"text".len();
            }
            b'"' if comma => return Some(at + from + 1),
            _ => return None,
        }
        from += 1;
    }
    None
}

fn is_text_key(gap: &[u8]) -> bool {
    let Some(behind) = gap.strip_prefix(b"\"text\"") else { return false };
    behind.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}
