//! Finds one word in the bytes of a file by its rarest letter.

use memchr::memchr;

use super::sign::Sign;
use super::spelled::{Unit, raw, spells, spells_dense, unit};
use crate::token::{Spelling, fold_dense, is_dense, spelling};

/// A word, and how to search for it.
#[derive(Clone, Debug)]
pub(super) struct Needle {
    letters: Vec<char>,
    /// The letter that is searched first; never the last one, unless there is only one.
    anchor: usize,
    is_dense: bool,
    /// Which bytes need a closer check.
    candidates: Box<[bool; 256]>,
    /// Which two-byte characters are forms of the anchor, by their code.
    forms: Box<[u64; 32]>,
}

/// The maximum distance of a letter from the start of its word.
const WINDOW: usize = 512;

impl Needle {
    /// Takes a folded word; `None` if it is too short to be useful.
    pub(super) fn new(word: &str) -> Option<Self> {
        let letters: Vec<char> = word.chars().collect();
        let is_dense = is_dense(*letters.first()?);
        if letters.len() < 2 && !is_dense {
            return None;
        }
        let before_last = letters.get(..letters.len() - 1).unwrap_or_default();
        let rarest = before_last
            .iter()
            .enumerate()
            .min_by(|(_, a), (_, b)| frequency(**a).total_cmp(&frequency(**b)))
            .map_or(0, |(at, _)| at);
        let anchor = if is_dense { 0 } else { rarest };
        let mut needle = Self {
            letters,
            anchor,
            is_dense,
            candidates: Box::new([false; 256]),
            forms: Box::new([0; 32]),
        };
        needle.learn();
        Some(needle)
    }

    /// Fills the tables.
    fn learn(&mut self) {
        let letter = self.letter();
        let may_tell = |byte: u8| match byte {
            b'\\' => true,
            0..=0x7f => char::from(byte.to_ascii_lowercase()) == letter,
            _ if letter.is_ascii() => is_plain_lead(byte),
            _ if is_han(letter) => {
                matches!(byte, 0xef | 0xf0) || Some(byte) == letter.to_string().bytes().next()
            }
            _ => byte >= 0xc2,
        };
        for (slot, byte) in self.candidates.iter_mut().zip(0..=u8::MAX) {
            *slot = may_tell(byte);
        }
        for code in 0x80_u16..0x800 {
            let is_form = char::from_u32(code.into()).is_some_and(|c| self.is_form(c));
            if let Some(word) = self.forms.get_mut(usize::from(code / 64)) {
                *word |= u64::from(is_form) << (code % 64);
            }
        }
    }

    /// Returns a rough estimate of how often it is found.
    pub(super) fn frequency(&self) -> f32 {
        self.letters.iter().map(|letter| frequency(*letter)).product()
    }

    /// Whether the word may be in the bytes.
    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        let letter = self.letter();
        let mut encoded = [0; 4];
        letter.encode_utf8(&mut encoded);
        let [first, second, ..] = encoded;
        let sign = if letter.is_ascii() {
            Sign::Plain { own: first | 0x20, next: self.next_byte() | 0x20 }
        } else if is_han(letter) {
            Sign::Han { first, second }
        } else {
            Sign::Foreign
        };
        sign.any(bytes, |at| {
            let byte = bytes.get(at).copied().unwrap_or_default();
            let is_candidate = self.candidates.get(usize::from(byte)).copied().unwrap_or(false);
            is_candidate && self.is_at(bytes, at, byte)
        })
    }

    fn letter(&self) -> char {
        self.letters.get(self.anchor).copied().unwrap_or_default()
    }

    /// Returns the letter after the anchor, if it is ASCII.
    fn next_byte(&self) -> u8 {
        let next = self.letters.get(self.anchor + 1).copied().unwrap_or_default();
        u8::try_from(next).unwrap_or(0x80)
    }

    /// Whether a candidate byte is the anchor, with the word around it.
    fn is_at(&self, bytes: &[u8], at: usize, byte: u8) -> bool {
        match byte {
            b'\\' if bytes.get(at + 1) == Some(&b'u') => match unit(bytes, at) {
                Some((Unit::Is(character), _)) => {
                    self.is_form(character) && self.is_form_at(bytes, at, character)
                }
                _ => false,
            },
            b'\\' => false,
            0x80.. => bytes.get(at..).and_then(raw).is_some_and(|character| {
                self.may_be_form(character) && self.is_form_at(bytes, at, character)
            }),
            _ => {
                let next = bytes.get(at + 1).copied().unwrap_or_default();
                let continues = next.to_ascii_lowercase() == self.next_byte() || is_bridge(next);
                continues && self.is_around(bytes, at)
            }
        }
    }

    /// Whether the word is spelled around its anchor, an ASCII letter at `at`.
    fn is_around(&self, bytes: &[u8], at: usize) -> bool {
        let before = self.letters.get(..self.anchor).unwrap_or_default();
        let is_same =
            |(byte, letter): (&u8, &char)| char::from(byte.to_ascii_lowercase()) == *letter;
        let left = bytes.get(..at).unwrap_or_default();
        let same =
            left.iter().rev().zip(before.iter().rev()).take_while(|pair| is_same(*pair)).count();
        if same == before.len() {
            let (right, after) = (bytes.get(at..), self.letters.get(self.anchor..));
            let (right, after) = (right.unwrap_or_default(), after.unwrap_or_default());
            let same = right.iter().zip(after).take_while(|pair| is_same(*pair)).count();
            let continues = || right.get(same).is_some_and(|byte| is_bridge(*byte));
            let start = at - before.len();
            return same == after.len() || continues() && spells(bytes, start, &self.letters);
        }
        let Some(odd) = at.checked_sub(same + 1) else { return false };
        let near = bytes.get(odd.saturating_sub(6)..at).unwrap_or_default();
        let is_odd =
            bytes.get(odd).is_some_and(|byte| is_bridge(*byte)) || memchr(b'\\', near).is_some();
        is_odd && self.begins_before(bytes, at)
    }

    /// Whether the word begins at or shortly before `at`.
    fn begins_before(&self, bytes: &[u8], at: usize) -> bool {
        let first = self.letters.first().copied().unwrap_or_default();
        let from = at.saturating_sub(WINDOW);
        let may_begin = |start: &usize| {
            let byte = bytes.get(*start).copied().unwrap_or_default();
            char::from(byte.to_ascii_lowercase()) == first || byte >= 0x80 || byte == b'\\'
        };
        let begins = |start: usize| spells(bytes, start, &self.letters);
        (from..=at).rev().filter(may_begin).any(begins)
            || from > 0 && self.is_stretched(bytes, from, at)
    }

    /// Whether there is so little text between two positions that the word may have begun long before.
    fn is_stretched(&self, bytes: &[u8], from: usize, at: usize) -> bool {
        let between = bytes.get(from..at).unwrap_or_default();
        let said = between.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
        let is_apart = |byte: &u8| !byte.is_ascii_alphanumeric() && !is_bridge(*byte);
        said <= 12 * self.letters.len() && !between.iter().any(is_apart)
    }

    /// Whether the word is spelled around a form of its anchor.
    fn is_form_at(&self, bytes: &[u8], at: usize, character: char) -> bool {
        if !self.is_dense {
            return self.begins_before(bytes, at);
        }
        // Characters that are composed of several are not checked further.
        character != self.letter() || spells_dense(bytes, at, &self.letters)
    }

    /// A quick check of a character that is not ASCII, before [`Self::is_form`].
    fn may_be_form(&self, character: char) -> bool {
        let code = u32::from(character);
        match self.forms.get(code as usize / 64) {
            Some(word) => word >> (code % 64) & 1 == 1,
            None => !(self.letter().is_ascii() && is_never_plain(code)) && self.is_form(character),
        }
    }

    /// Whether a character may be, or be part of, another form of the anchor.
    fn is_form(&self, character: char) -> bool {
        let letter = self.letter();
        if self.is_dense {
            return character == letter || is_dense_form(character, letter);
        }
        let mut folded = String::new();
        match spelling(character, &mut folded) {
            Spelling::Letters | Spelling::Mark => folded.contains(letter),
            Spelling::Joint | Spelling::Dense | Spelling::Separator => false,
        }
    }
}

/// Whether a character of a script without spaces may become another one, by itself or with its neighbours.
pub(super) fn is_dense_form(character: char, letter: char) -> bool {
    match u32::from(character) {
        0xf900..=0xfaff | 0x2f800..=0x2fa1f => {
            let mut folded = Vec::new();
            fold_dense(character, &mut folded);
            folded.contains(&letter)
        }
        // Voicing marks, letters of Hangul, half-width forms, and a Burmese vowel.
        0x1100..=0x11ff
        | 0x3099..=0x309a
        | 0x3131..=0x318e
        | 0xa960..=0xa97c
        | 0xd7b0..=0xd7ff
        | 0xff66..=0xffdc
        | 0x102e
        | 0xac00..=0xd7af => !is_han(letter),
        _ => false,
    }
}

fn is_han(character: char) -> bool {
    matches!(u32::from(character), 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0x2_0000..=0x3_fffd)
}

/// Whether it is in a block of symbols or of another script, none of whose characters is a form of an ASCII letter.
pub(super) fn is_never_plain(code: u32) -> bool {
    matches!(code,
        0x800..=0x1cff | 0x2000..=0x206f | 0x2190..=0x245f | 0x2500..=0x2bff | 0x3000..=0x31ff | 0x3400..=0xa63f
        | 0xa800..=0xaaff | 0xac00..=0xfaff | 0xfe00..=0xfeff | 0x1f200..=0x1faff | 0x2_0000..)
}

/// Whether a byte may be inside a word: separators, escapes, borders of parts, characters that are not ASCII.
fn is_bridge(byte: u8) -> bool {
    byte >= 0x80 || matches!(byte, b'_' | b'-' | b'.' | b'\\' | b'"')
}

/// Whether it is the first byte of a character that may be a form of an ASCII letter.
pub(super) fn is_plain_lead(byte: u8) -> bool {
    matches!(byte, 0xc2..=0xcd | 0xe1..=0xe3 | 0xea | 0xef | 0xf0)
}

/// Returns the rough frequency of a letter in session files, in thousandths.
pub(in crate::plan) fn frequency(letter: char) -> f32 {
    let thousandths = match letter {
        'e' => 95.0,
        't' => 70.0,
        'a' => 65.0,
        'i' | 'o' | 'n' | 's' => 60.0,
        'r' => 55.0,
        'c' | 'd' | 'l' => 35.0,
        'h' => 30.0,
        'u' | '0' | '2' => 25.0,
        'm' | 'p' | '1' => 22.0,
        'f' => 20.0,
        'g' => 18.0,
        'b' => 15.0,
        '3'..='9' => 13.0,
        'w' | 'y' => 12.0,
        'v' => 9.0,
        'k' => 7.0,
        'x' => 5.0,
        'q' | 'z' => 1.0,
        _ => 2.0,
    };
    thousandths / 1000.0
}
