//! Finds messages with a word that holds given letters anywhere: a walk over the dictionary.
//!
//! The engine's own regex query compiles its expression for every field, which alone takes longer than
//! a search may.

use std::sync::Arc;

use tantivy::TantivyError;
use tantivy::query::{AutomatonWeight, EnableScoring, Query, Weight};
use tantivy::schema::Field as Handle;
use tantivy_fst::Automaton;

/// Messages with a word that holds these letters.
#[derive(Clone, Debug)]
pub(super) struct Holding {
    field: Handle,
    letters: Arc<Letters>,
}

impl Holding {
    pub(super) fn new(field: Handle, letters: &str) -> Self {
        Self { field, letters: Arc::new(Letters::new(letters.as_bytes())) }
    }
}

impl Query for Holding {
    fn weight(&self, _: EnableScoring<'_>) -> Result<Box<dyn Weight>, TantivyError> {
        let letters = Matcher(Arc::clone(&self.letters));
        Ok(Box::new(AutomatonWeight::new(self.field, letters)))
    }
}

/// The letters, and for each how many are still right when the next one is wrong (Knuth, Morris, Pratt).
#[derive(Debug)]
struct Letters {
    bytes: Vec<u8>,
    fallback: Vec<usize>,
}

impl Letters {
    fn new(bytes: &[u8]) -> Self {
        let mut letters = Self { bytes: bytes.to_vec(), fallback: vec![0] };
        for byte in bytes.iter().skip(1) {
            let before = letters.fallback.last().copied().unwrap_or(0);
            let right = letters.step(before, *byte);
            letters.fallback.push(right);
        }
        letters
    }

    /// How many letters are right after one more byte.
    fn step(&self, mut right: usize, byte: u8) -> usize {
        loop {
            if self.bytes.get(right) == Some(&byte) {
                return right + 1;
            }
            match right.checked_sub(1).and_then(|last| self.fallback.get(last)) {
                Some(&fallback) => right = fallback,
                None => return 0,
            }
        }
    }
}

struct Matcher(Arc<Letters>);

impl Automaton for Matcher {
    type State = usize;

    fn start(&self) -> usize {
        0
    }

    fn is_match(&self, right: &usize) -> bool {
        *right == self.0.bytes.len()
    }

    fn will_always_match(&self, right: &usize) -> bool {
        self.is_match(right)
    }

    fn accept(&self, right: &usize, byte: u8) -> usize {
        if self.is_match(right) { *right } else { self.0.step(*right, byte) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_found_wherever_they_stand() {
        let holds = |letters: &str, word: &str| {
            let matcher = Matcher(Arc::new(Letters::new(letters.as_bytes())));
            let end =
                word.bytes().fold(matcher.start(), |right, byte| matcher.accept(&right, byte));
            matcher.is_match(&end)
        };
        for letters in ["aab", "abab", "a", "abcabd", "aaa"] {
            for word in ["aaab", "xababx", "abcabcabd", "aabaab", "b", "aaaa", "ababcabd"] {
                assert_eq!(holds(letters, word), word.contains(letters), "{letters} in {word}");
            }
        }
    }
}
