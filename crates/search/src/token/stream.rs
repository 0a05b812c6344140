//! The scanner as the index engine wants it.

use tantivy::tokenizer::{Token as IndexToken, TokenStream, Tokenizer};

use super::batch::Batch;
use super::{Buffers, Scanner};
use crate::neighbours::{Recorder, word_hash};

/// Hands the words of a text to the index: not in the order of the text, but each word with all of its positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordTokenizer {
    token: IndexToken,
    buffers: Buffers,
    batch: Batch,
    neighbours: Option<Recorder>,
}

impl WordTokenizer {
    /// Also records which words stand next to each other, for fields without positions.
    pub(crate) fn with_neighbours() -> Self {
        Self { neighbours: Some(Recorder::default()), ..Self::default() }
    }
}

/// The words of one text.
#[derive(Debug)]
pub(crate) struct WordStream<'a> {
    scanner: Scanner<'a>,
    bytes: usize,
    tokenizer: &'a mut WordTokenizer,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        let buffers = std::mem::take(&mut self.buffers);
        self.batch.begin(0);
        WordStream {
            scanner: Scanner::with_buffers(text, buffers),
            bytes: text.len(),
            tokenizer: self,
        }
    }
}

impl WordStream<'_> {
    /// Reads the next batch of words; whether there were any.
    fn refill(&mut self) -> bool {
        let WordTokenizer { batch, neighbours, .. } = &mut *self.tokenizer;
        batch.begin(self.bytes);
        let mut is_empty = true;
        // A batch ends between two identifiers: one word's positions must not go back in the next.
        while !(batch.is_full() && self.scanner.is_between())
            && let Some(word) = self.scanner.next()
        {
            let hash = word_hash(word.text);
            if let Some(neighbours) = neighbours {
                neighbours.see(&word, hash);
            }
            batch.add(word.text, hash, word.position);
            is_empty = false;
        }
        !is_empty
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        loop {
            let WordTokenizer { batch, token, .. } = &mut *self.tokenizer;
            if let Some((text, position)) = batch.next() {
                if let Some(text) = text {
                    token.text.clear();
                    token.text.push_str(text);
                }
                token.position = position as usize;
                return true;
            }
            if !self.refill() {
                return false;
            }
        }
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
