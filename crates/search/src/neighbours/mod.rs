//! Adjacent words in the fields without positions.
//!
//! That every word of a phrase is in a message says little if the words are common. So each message gets a Bloom filter of
//! its pairs of adjacent words (`filter`), filled while its text is tokenized (`recorder`) and stored as a part of each
//! index segment (`plugin`). A phrase is then only searched in messages whose filter has all of its pairs (`query`). A
//! filter may have false positives, never false negatives.

mod filter;
mod plugin;
mod query;
mod recorder;
#[cfg(test)]
mod tests;

pub(crate) use plugin::NeighbourPlugin;
pub(crate) use query::Adjacent;
pub(crate) use recorder::Recorder;

/// An odd number whose bits look random; the same multiplier is used for words and pairs.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Two adjacent words. The value is stored on disk: it must not depend on machine or release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair(u32);

impl Pair {
    /// Returns the pair of two words, in this order.
    pub(crate) fn of(first: &str, second: &str) -> Self {
        Self::of_hashes(word_hash(first), word_hash(second))
    }

    #[inline]
    fn of_hashes(first: u64, second: u64) -> Self {
        let mixed = (first.rotate_left(29) ^ second).wrapping_mul(SPREAD);
        let upper = (mixed >> 32) as u32;
        Self(upper)
    }
}

/// Hashes a word: fast on short ones, and the same on all machines.
#[inline]
pub(crate) fn word_hash(word: &str) -> u64 {
    let mut hash = word.len() as u64;
    let (words, rest) = word.as_bytes().as_chunks::<8>();
    for chunk in words {
        hash = mixed(hash, u64::from_le_bytes(*chunk));
    }
    let mut last = 0;
    for &byte in rest {
        last = (last << 8) | u64::from(byte);
    }
    mixed(hash, last)
}

#[inline]
fn mixed(hash: u64, value: u64) -> u64 {
    let product = (hash ^ value).wrapping_mul(SPREAD);
    product ^ (product >> 29)
}
