//! What the tests share: a fixed sequence that looks random, and a key.

use recount_redact::Tags;

pub(crate) const PLAIN: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
pub(crate) const URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
pub(crate) const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub(crate) const HEX: &str = "0123456789abcdef";

pub(crate) fn tags() -> Tags {
    Tags::new(&[7; 32])
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    pub(crate) fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.roll(words.len())]
    }

    /// Random letters; the last is never a joint, as in most real keys.
    pub(crate) fn draw(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        let mut word: String = (1..length).map(|_| letters[self.roll(letters.len())]).collect();
        word.push(letters[self.roll(letters.len().min(62))]);
        word
    }
}
