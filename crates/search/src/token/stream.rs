//! The scanner with the interface of the index engine.

use tantivy::tokenizer::{Token as IndexToken, TokenStream, Tokenizer};

use super::{Buffers, Scanner};
use crate::neighbours::Recorder;

/// Passes the words of a text to the index.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordTokenizer {
    token: IndexToken,
    buffers: Buffers,
    neighbours: Option<Recorder>,
}

impl WordTokenizer {
    /// Also records adjacent words, for fields without positions.
    pub(crate) fn with_neighbours() -> Self {
        Self { neighbours: Some(Recorder::default()), ..Self::default() }
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
        WordStream { scanner: Scanner::with_buffers(text, buffers), tokenizer: self }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(word) = self.scanner.next() else { return false };
        let WordTokenizer { token, neighbours, .. } = &mut *self.tokenizer;
        if let Some(neighbours) = neighbours {
            neighbours.see(&word);
        }
        token.text.clear();
        token.text.push_str(word.text);
        token.offset_from = word.start;
        token.offset_to = word.end;
        token.position = word.position as usize;
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
