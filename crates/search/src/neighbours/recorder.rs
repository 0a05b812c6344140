//! Records adjacent words while a text is tokenized.

use std::cell::RefCell;

use super::Pair;
use crate::token::{Form, Token};

/// The number of positions that are kept: more than one identifier has.
const RING: usize = 256;
/// The number of whole identifiers that are kept: more than begin within one.
const WHOLES: usize = 16;

thread_local! {
    /// Pairs of the message that this thread is indexing. The index engine tokenizes all fields of a message and then
    /// passes it to its plugins, on one thread; there is no other way to pass our data between the two.
    static PAIRS: RefCell<Vec<Pair>> = const { RefCell::new(Vec::new()) };
}

/// Passes the pairs of the current message to a function, and clears them.
pub(super) fn with_pairs<T>(look: impl FnOnce(&[Pair]) -> T) -> T {
    PAIRS.with_borrow_mut(|pairs| {
        let result = look(pairs);
        pairs.clear();
        // One huge message must not keep its memory allocated.
        pairs.shrink_to(1 << 16);
        result
    })
}

/// Collects pairs of adjacent words.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    /// By position: the word, or the part of an identifier, at that position.
    ring: Box<[(u32, u64); RING]>,
    /// Whole identifiers, at the position of their first part.
    wholes: [(u32, u64); WHOLES],
    next_whole: usize,
    last_whole: u32,
    pairs: Vec<Pair>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            ring: Box::new([(u32::MAX, 0); RING]),
            wholes: [(u32::MAX, 0); WHOLES],
            next_whole: 0,
            last_whole: u32::MAX - 1,
            pairs: Vec::new(),
        }
    }
}

impl Recorder {
    /// Records a word, whose hash is [`word_hash`](super::word_hash).
    #[inline]
    pub(crate) fn see(&mut self, token: &Token<'_>, hash: u64) {
        let position = token.position;
        match token.form {
            Form::Whole => self.see_whole(position, hash),
            Form::Cut => {}
            Form::Part | Form::Pair | Form::Last | Form::Lone => {
                if let Some(before) = self.word_at(position.wrapping_sub(1)) {
                    self.pairs.push(Pair::of_hashes(before, hash));
                }
                if self.last_whole.wrapping_add(1) == position {
                    self.follow_wholes(position, hash);
                }
                if let Some(slot) = self.ring.get_mut(position as usize % RING) {
                    *slot = (position, hash);
                }
            }
        }
    }

    fn word_at(&self, position: u32) -> Option<u64> {
        let &(at, hash) = self.ring.get(position as usize % RING)?;
        (at == position && position != u32::MAX).then_some(hash)
    }

    /// A whole identifier comes after its parts, at the position of the first of them.
    #[cold]
    fn see_whole(&mut self, position: u32, hash: u64) {
        let before = self.word_at(position.wrapping_sub(1));
        let behind = self.word_at(position.wrapping_add(1));
        self.pairs.extend(before.map(|before| Pair::of_hashes(before, hash)));
        self.pairs.extend(behind.map(|behind| Pair::of_hashes(hash, behind)));
        self.follow_wholes(position, hash);
        for &(at, other) in &self.wholes {
            if at != u32::MAX && at == position.wrapping_add(1) {
                self.pairs.push(Pair::of_hashes(hash, other));
            }
        }
        if let Some(slot) = self.wholes.get_mut(self.next_whole % WHOLES) {
            *slot = (position, hash);
            self.next_whole += 1;
            self.last_whole = position;
        }
    }

    fn follow_wholes(&mut self, position: u32, hash: u64) {
        for &(at, before) in &self.wholes {
            if at != u32::MAX && at.wrapping_add(1) == position {
                self.pairs.push(Pair::of_hashes(before, hash));
            }
        }
    }

    /// Ends a text: its pairs belong to the message that this thread is indexing.
    pub(crate) fn finish(&mut self) {
        PAIRS.with_borrow_mut(|pairs| {
            if pairs.is_empty() {
                std::mem::swap(pairs, &mut self.pairs);
            } else {
                pairs.append(&mut self.pairs);
            }
        });
        self.ring.fill((u32::MAX, 0));
        self.wholes = [(u32::MAX, 0); WHOLES];
        self.last_whole = u32::MAX - 1;
    }
}
