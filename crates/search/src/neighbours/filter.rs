//! A Bloom filter of word pairs: built for one message, queried with the pairs of a phrase.

use super::Pair;

/// Bits per distinct pair. With [`PROBES`], one absent pair in forty is a false positive: each costs a look into a file.
const BITS_PER_PAIR: u64 = 8;
/// Bits that are set for a pair.
const PROBES: u32 = 4;
/// Bytes per piece of a filter.
pub(super) const PIECE: usize = 4;
/// A message with more pairs gets no filter: it may contain any pair.
const MOST_PAIRS: usize = 1 << 22;

/// Builds filters, one after the other, without allocating once its buffer has grown.
#[derive(Debug, Default)]
pub(super) struct FilterMaker {
    /// Used to estimate the number of distinct pairs.
    seen: Vec<u64>,
}

impl FilterMaker {
    /// Appends the filter of a message. Nothing is appended for one without pairs, or with too many.
    pub(super) fn append(&mut self, pairs: &[Pair], to: &mut Vec<u8>) {
        if pairs.is_empty() || pairs.len() > MOST_PAIRS {
            return;
        }
        let bits = self.different(pairs).saturating_mul(BITS_PER_PAIR);
        let length = usize::try_from(bits).unwrap_or(usize::MAX).div_ceil(PIECE * 8) * PIECE;
        let start = to.len();
        to.resize(start + length, 0);
        let Some(filter) = to.get_mut(start..) else { return };
        let bits = filter.len() as u64 * 8;
        for &pair in pairs {
            for at in places(pair, bits) {
                if let Some(byte) = filter.get_mut(at >> 3) {
                    *byte |= 1 << (at & 7);
                }
            }
        }
    }

    /// Estimates the number of distinct pairs, from how full a bitmap with one bit per pair becomes.
    fn different(&mut self, pairs: &[Pair]) -> u64 {
        let cells = (pairs.len() * 2).next_power_of_two().max(64);
        let shift = 32_u32.saturating_sub(cells.trailing_zeros());
        self.seen.clear();
        self.seen.resize(cells / 64, 0);
        for pair in pairs {
            let cell = (pair.0 >> shift) as usize;
            if let Some(word) = self.seen.get_mut(cell >> 6) {
                *word |= 1 << (cell & 63);
            }
        }
        let empty: u32 = self.seen.iter().map(|word| word.count_zeros()).sum();
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let estimate = cells as f64 * (cells as f64 / f64::from(empty.max(1))).ln();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and not above the number of pairs"
        )]
        let estimate = estimate.ceil() as u64;
        estimate.clamp(1, pairs.len() as u64)
    }
}

/// Whether a message may have all of these pairs. True without a filter.
pub(super) fn may_have(filter: &[u8], pairs: &[Pair]) -> bool {
    let bits = filter.len() as u64 * 8;
    filter.is_empty()
        || pairs.iter().all(|&pair| {
            places(pair, bits)
                .all(|at| filter.get(at >> 3).is_some_and(|byte| byte & (1 << (at & 7)) != 0))
        })
}

/// Returns the bits of a pair in a filter of `bits` bits.
#[inline]
fn places(pair: Pair, bits: u64) -> impl Iterator<Item = usize> {
    let step = pair.0.wrapping_mul(0x85eb_ca6b) | 1;
    (0..PROBES).map(move |probe| {
        let hash = pair.0.wrapping_add(probe.wrapping_mul(step));
        ((u64::from(hash) * bits) >> 32) as usize
    })
}
