//! The words of a stretch of text, each once, with its occurrences.
//!
//! The index engine looks up every word it is given in a table of all words, which is far larger than the processor's
//! caches. Here the same lookup is done in a table of the current text only, and the engine is given all occurrences of a
//! word at once.

use super::Token;

/// The maximum number of distinct words in a group, and of occurrences with positions: a longer text is passed on in
/// several groups.
const MAX_WORDS: usize = 1 << 15;
const MAX_OCCURRENCES: usize = 1 << 16;
/// The smallest table.
const MIN_SLOTS: usize = 256;

/// Groups words. Reused for one text after the other, without allocating once its buffers have grown.
#[derive(Clone, Debug, Default)]
pub(super) struct Grouped {
    has_positions: bool,
    /// Hash table: one more than the number of a word, or 0.
    slots: Vec<u32>,
    words: Vec<Word>,
    letters: String,
    /// The word and position of each occurrence, in the order of the text.
    occurrences: Vec<(u32, u32)>,
    /// The positions, by word.
    positions: Vec<u32>,
    /// The next word to pass on, and its next occurrence.
    word: usize,
    occurrence: u32,
}

/// A word, and the number of its occurrences.
#[derive(Clone, Copy, Debug)]
struct Word {
    hash: u64,
    from: usize,
    to: usize,
    count: u32,
    /// The end of its positions so far.
    end: u32,
}

/// An occurrence of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Occurrence<'g> {
    /// The word, if it is another one than before.
    pub(super) word: Option<&'g str>,
    pub(super) position: u32,
}

impl Grouped {
    /// Keeps the position of every occurrence.
    pub(super) fn with_positions() -> Self {
        Self { has_positions: true, ..Self::default() }
    }

    /// Empties it.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.letters.clear();
        self.occurrences.clear();
        self.slots.clear();
        self.slots.resize(MIN_SLOTS, 0);
        self.word = 0;
        self.occurrence = 0;
    }

    /// Whether it has to be passed on before more words are added.
    pub(super) fn is_full(&self) -> bool {
        self.words.len() >= MAX_WORDS || self.occurrences.len() >= MAX_OCCURRENCES
    }

    /// Whether all occurrences were passed on.
    #[inline]
    pub(super) fn is_at_end(&self) -> bool {
        self.word >= self.words.len()
    }

    /// Adds an occurrence of a word.
    #[inline]
    pub(super) fn add(&mut self, token: &Token<'_>, hash: u64) {
        let number = self.number_of(token.text, hash);
        if self.has_positions {
            self.occurrences.push((number, token.position));
        }
    }

    /// Counts a word, and returns its number.
    #[inline]
    fn number_of(&mut self, text: &str, hash: u64) -> u32 {
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = (hash >> 32) as usize & mask;
        while let Some(&number @ 1..) = self.slots.get(slot) {
            if let Some(word) = self.words.get_mut(number as usize - 1)
                && word.hash == hash
                && self.letters.get(word.from..word.to) == Some(text)
            {
                word.count += 1;
                return number - 1;
            }
            slot = (slot + 1) & mask;
        }
        self.insert(slot, text, hash)
    }

    fn insert(&mut self, slot: usize, text: &str, hash: u64) -> u32 {
        let number = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        let from = self.letters.len();
        self.letters.push_str(text);
        self.words.push(Word { hash, from, to: self.letters.len(), count: 1, end: 0 });
        if let Some(slot) = self.slots.get_mut(slot) {
            *slot = number + 1;
        }
        if self.words.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    #[cold]
    fn grow(&mut self) {
        let slots = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(slots, 0);
        for (number, word) in (1..).zip(&self.words) {
            let mut slot = (word.hash >> 32) as usize & (slots - 1);
            while self.slots.get(slot).is_some_and(|&taken| taken != 0) {
                slot = (slot + 1) & (slots - 1);
            }
            if let Some(slot) = self.slots.get_mut(slot) {
                *slot = number;
            }
        }
    }

    /// Sorts the occurrences by word, in the order of the text. To be called before [`Grouped::next`].
    pub(super) fn finish(&mut self) {
        if !self.has_positions {
            return;
        }
        let mut end = 0;
        for word in &mut self.words {
            word.end = end;
            end += word.count;
        }
        self.positions.clear();
        self.positions.resize(self.occurrences.len(), 0);
        for &(number, position) in &self.occurrences {
            if let Some(word) = self.words.get_mut(number as usize)
                && let Some(slot) = self.positions.get_mut(word.end as usize)
            {
                *slot = position;
                word.end += 1;
            }
        }
    }

    /// Returns the next occurrence, word by word.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Occurrence<'_>> {
        let word = self.words.get(self.word)?;
        let nth = self.occurrence;
        let (count, position) = if self.has_positions {
            let at = (word.end - word.count + nth) as usize;
            (word.count, self.positions.get(at).copied().unwrap_or_default())
        } else {
            (weighed(word.count), 0)
        };
        if nth + 1 < count {
            self.occurrence += 1;
        } else {
            self.word += 1;
            self.occurrence = 0;
        }
        let word = if nth == 0 { self.letters.get(word.from..word.to) } else { None };
        Some(Occurrence { word, position })
    }
}

/// Returns how often a word counts that occurs `count` times in a field without positions: once more for each doubling.
/// Ranking hardly distinguishes higher numbers, and each costs a lookup in the index engine.
fn weighed(count: u32) -> u32 {
    u32::BITS - count.leading_zeros()
}
