//! Excludes records in which words are not adjacent, from their raw bytes.
//!
//! A record that has all the words of a phrase mostly has them apart. The rarest two letters of the longest word are found
//! many bytes at a time; around each such word the bytes up to its neighbours are read. Where these may be read in more
//! than one way (escapes, the border between two parts of a text), the record is not excluded.

use super::prefilter::{Sign, frequency};

/// The number of steps after which a record is not excluded.
const FURTHEST: u32 = 1024;

/// Plain words in sequence, in lower case.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    words: Vec<Box<[u8]>>,
    /// The word that is searched for.
    anchor: usize,
    /// The position of its rarest two letters.
    pair: usize,
}

impl Sequence {
    /// Takes words of ASCII letters and digits. `None` if all of them have only one.
    pub(super) fn new(words: &[&str]) -> Option<Self> {
        let (anchor, word) = words.iter().enumerate().max_by_key(|(_, word)| word.len())?;
        let rarity = |pair: &[u8]| -> f32 { pair.iter().map(|&b| frequency(b.into())).product() };
        let pairs = word.as_bytes().windows(2).enumerate();
        let (pair, _) = { pairs }.min_by(|(_, a), (_, b)| rarity(a).total_cmp(&rarity(b)))?;
        let words = words.iter().map(|word| word.as_bytes().into()).collect();
        Some(Self { words, anchor, pair })
    }

    /// Whether the words may be in sequence somewhere in a record.
    pub(super) fn may_be_in(&self, record: &[u8]) -> bool {
        let Some((before, rest)) = self.words.split_at_checked(self.anchor) else { return true };
        let Some((word, after)) = rest.split_first() else { return true };
        let Some(&[own, next]) = word.get(self.pair..).and_then(<[u8]>::first_chunk) else {
            return true;
        };
        let sign = Sign::Pair { own: own | 0x20, next: next | 0x20 };
        sign.any(record, |at| {
            let Some(start) = at.checked_sub(self.pair) else { return false };
            let (mut further, mut back) = (FURTHEST, FURTHEST);
            starts_with(record, start, word)
                && may_follow(record, start + word.len(), after, &mut further)
                && may_precede(record, start, before, &mut back)
        })
    }
}

fn starts_with(record: &[u8], at: usize, word: &[u8]) -> bool {
    let found = record.get(at..at.saturating_add(word.len()));
    found.is_some_and(|found| found.eq_ignore_ascii_case(word))
}

/// Whether these words may follow from `at` on. `steps` are those that may still be made; then the answer is that they may.
fn may_follow(record: &[u8], mut at: usize, words: &[Box<[u8]>], steps: &mut u32) -> bool {
    let Some((word, later)) = words.split_first() else { return true };
    loop {
        if is_too_far(steps) {
            return true;
        }
        if starts_with(record, at, word) && may_follow(record, at + word.len(), later, steps) {
            return true;
        }
        let next = record.get(at + 1);
        match record.get(at) {
            None => return false,
            Some(b'\\') if matches!(next, Some(b'u' | b'U')) => return true,
            Some(b'\\') => at += 2,
            // It may be what is between a date and a time.
            Some(b't' | b'T') => at += 1,
            Some(byte) if byte.is_ascii_alphanumeric() => return false,
            // The text may continue in another part.
            Some(b'"') if matches!(next, Some(b'}' | b' ' | b'\t'..=b'\r')) => return true,
            Some(_) => at += 1,
        }
    }
}

/// Whether these words may end before `at`. `steps` as in [`may_follow`].
fn may_precede(record: &[u8], mut at: usize, words: &[Box<[u8]>], steps: &mut u32) -> bool {
    let Some((word, earlier)) = words.split_last() else { return true };
    let byte_before = |at: usize, many: usize| record.get(at.wrapping_sub(many)).copied();
    loop {
        if is_too_far(steps) {
            return true;
        }
        let start = at.checked_sub(word.len());
        if let Some(start) = start.filter(|start| starts_with(record, *start, word))
            && may_precede(record, start, earlier, steps)
        {
            return true;
        }
        let Some(byte) = byte_before(at, 1) else { return false };
        match (byte_before(at, 3), byte_before(at, 2), byte) {
            (_, _, b'\\') | (Some(b'\\'), Some(b'\\'), _) | (_, Some(b'\\'), b'u' | b'U') => {
                return true;
            }
            (_, Some(b'\\'), _) => at -= 2,
            // The end of a color sequence.
            (_, Some(b'0'..=b'9' | b';' | b'?' | b'['), b'a'..=b'z' | b'A'..=b'Z') => return true,
            // The border between two parts of a text.
            (_, _, b't' | b'T') if starts_with(record, at.wrapping_sub(4), b"text") => return true,
            (_, _, b't' | b'T') => at -= 1,
            _ if byte.is_ascii_alphanumeric() => {
                // The end of an escaped character.
                return byte.is_ascii_hexdigit() && byte_before(at, 6) == Some(b'\\');
            }
            _ => at -= 1,
        }
    }
}

fn is_too_far(steps: &mut u32) -> bool {
    *steps = steps.saturating_sub(1);
    *steps == 0
}
