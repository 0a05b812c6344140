//! Which words stand next to each other in the fields that keep no positions.
//!
//! To know that every word of a phrase is in a message says little when the words are common. So each message gets a
//! Bloom filter of its pairs of neighbouring words (`filter`), filled while its text is cut into words (`recorder`) and
//! kept as a part of each index segment (`plugin`). A phrase is then only looked for in messages whose filter has all
//! of its pairs (`query`). A filter may say yes to a pair that is not there, never no to one that is.

mod filter;
mod plugin;
mod query;
mod recorder;
#[cfg(test)]
mod tests;

pub(crate) use plugin::NeighbourPlugin;
pub(crate) use query::Adjacent;
pub(crate) use recorder::Recorder;

/// An odd number whose bits look random; the same multiplier spreads words and pairs.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Two words that stand next to each other. The value is kept on disk: it must not depend on machine or release.
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

/// Hashes a word: fast on short ones, and the same everywhere.
#[inline]
fn word_hash(word: &str) -> u64 {
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
