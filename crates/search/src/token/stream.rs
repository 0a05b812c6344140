//! The scanner with the interface of the index engine.

use tantivy::tokenizer::{Token as IndexToken, TokenStream, Tokenizer};

use super::grouped::Grouped;
use super::{Buffers, Scanner};
use crate::neighbours::{Recorder, word_hash};

/// Passes the words of a text to the index, all occurrences of a word together.
#[derive(Clone, Debug)]
pub(crate) struct WordTokenizer {
    token: IndexToken,
    buffers: Buffers,
    grouped: Grouped,
    neighbours: Option<Recorder>,
}

impl WordTokenizer {
    /// For fields with positions.
    pub(crate) fn with_positions() -> Self {
        Self::new(Grouped::with_positions(), None)
    }

    /// For fields without positions: records adjacent words.
    pub(crate) fn with_neighbours() -> Self {
        Self::new(Grouped::default(), Some(Recorder::default()))
    }

    fn new(grouped: Grouped, neighbours: Option<Recorder>) -> Self {
        Self { token: IndexToken::default(), buffers: Buffers::default(), grouped, neighbours }
    }
}

/// The words of one text.
#[derive(Debug)]
pub(crate) struct WordStream<'a> {
    scanner: Scanner<'a>,
    tokenizer: &'a mut WordTokenizer,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        let buffers = std::mem::take(&mut self.buffers);
        self.grouped.clear();
        WordStream { scanner: Scanner::with_buffers(text, buffers), tokenizer: self }
    }
}

impl WordStream<'_> {
    /// Reads the next group of words.
    fn refill(&mut self) {
        let WordTokenizer { grouped, neighbours, .. } = &mut *self.tokenizer;
        grouped.clear();
        while !grouped.is_full()
            && let Some(word) = self.scanner.next()
        {
            let hash = word_hash(word.text);
            if let Some(neighbours) = neighbours {
                neighbours.see(&word, hash);
            }
            grouped.add(&word, hash);
        }
        grouped.finish();
    }
}

impl TokenStream for WordStream<'_> {
    #[inline]
    fn advance(&mut self) -> bool {
        if self.tokenizer.grouped.is_at_end() {
            self.refill();
        }
        let WordTokenizer { token, grouped, .. } = &mut *self.tokenizer;
        let Some(occurrence) = grouped.next() else { return false };
        if let Some(word) = occurrence.word {
            token.text.clear();
            token.text.push_str(word);
        }
        token.position = occurrence.position as usize;
        true
    }

    fn token(&self) -> &IndexToken {
        &self.tokenizer.token
    }

    fn token_mut(&mut self) -> &mut IndexToken {
        &mut self.tokenizer.token
    }
}

impl Drop for WordStream<'_> {
    fn drop(&mut self) {
        let scanner = std::mem::replace(&mut self.scanner, Scanner::new(""));
        self.tokenizer.buffers = scanner.into_buffers();
        if let Some(neighbours) = &mut self.tokenizer.neighbours {
            neighbours.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what the index engine is given: words and positions.
    fn passed(mut tokenizer: WordTokenizer, text: &str) -> Vec<(String, usize)> {
        let mut all = Vec::new();
        tokenizer
            .token_stream(text)
            .process(&mut |token| all.push((token.text.clone(), token.position)));
        all
    }

    /// Returns the words of a text and their positions, in its order.
    fn scanned(text: &str) -> Vec<(String, usize)> {
        let mut scanner = Scanner::new(text);
        let mut all = Vec::new();
        while let Some(token) = scanner.next() {
            all.push((token.text.to_owned(), token.position as usize));
        }
        all
    }

    /// Checks that all words are passed on with all their positions, those of a word in ascending order.
    fn check_positions(text: &str) {
        let (mut grouped, mut expected) =
            (passed(WordTokenizer::with_positions(), text), scanned(text));
        grouped.sort_by(|one, other| one.0.cmp(&other.0));
        expected.sort();
        assert_eq!(grouped, expected);
    }

    #[test]
    fn occurrences_of_a_word_come_together() {
        let grouped = passed(WordTokenizer::with_positions(), "red green Red fooBar red");
        let grouped: Vec<(&str, usize)> =
            grouped.iter().map(|(word, position)| (word.as_str(), *position)).collect();
        let expected = [
            ("red", 0),
            ("red", 2),
            ("red", 5),
            ("green", 1),
            ("foo", 3),
            ("bar", 4),
            ("foobar", 3),
        ];
        assert_eq!(grouped, expected);
    }

    #[test]
    fn a_word_counts_once_more_for_each_doubling_without_positions() {
        for (times, counted) in [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (1000, 10)] {
            let text = "again ".repeat(times) + "once";
            let words = passed(WordTokenizer::with_neighbours(), &text);
            let of = |word: &str| words.iter().filter(|(passed, _)| passed == word).count();
            assert_eq!((of("again"), of("once")), (counted, 1), "{times}");
        }
    }

    #[test]
    fn long_texts_are_passed_on_in_several_groups() {
        let different: Vec<String> = (0..70_000).map(|number| format!("w{number}x")).collect();
        check_positions(&different.join(" "));
        check_positions(&"one two three ".repeat(50_000));
        let words = passed(WordTokenizer::with_neighbours(), &different.join(" "));
        assert_eq!(words.len(), 70_000);
    }

    proptest::proptest! {
        #[test]
        fn every_occurrence_is_passed_on(text in "([a-cA-C会话_.]{0,4}[ /]){0,60}|\\PC{0,60}") {
            check_positions(&text);
        }
    }
}
