//! Reproducible random numbers: the same seed gives the same home, byte for byte.

/// `SplitMix64` (Steele, Lea and Flood, 2014): one word of state, good enough for synthetic data.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Starts an independent stream, so that the numbers of one session do not affect the next.
    pub(crate) fn fork(&mut self) -> Self {
        Self::new(self.next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to `end`, exclusive; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // The bias of the remainder is negligible for a synthetic home.
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or(0)
    }

    /// Returns a number from `low` to `high`, inclusive.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.saturating_sub(low).max(0).unsigned_abs() + 1;
        low + i64::try_from(self.next() % span).unwrap_or(0)
    }

    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// Returns one of `items`, which must not be empty.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Returns a version 4 UUID, as written by `randomUUID()`.
    pub(crate) fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff
        )
    }

    /// Returns six base-36 characters: how sub-agents were named up to 0.43.
    pub(crate) fn base36(&mut self) -> String {
        const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
        (0..6).map(|_| char::from(self.pick(DIGITS))).collect()
    }

    /// Returns a version 7 UUID of a time in milliseconds since 1970.
    pub(crate) fn uuid7(&mut self, milliseconds: i64) -> String {
        let (time, high, low) = (milliseconds.unsigned_abs(), self.next(), self.next());
        format!(
            "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
            (time >> 16) & 0xffff_ffff,
            time & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff
        )
    }

    /// Returns letters and digits, as in the ids of services.
    pub(crate) fn letters(&mut self, count: usize) -> String {
        const LETTERS: &[u8; 62] =
            b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        (0..count).map(|_| char::from(self.pick(LETTERS))).collect()
    }

    /// Returns hexadecimal digits.
    pub(crate) fn hex(&mut self, count: usize) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        (0..count).map(|_| char::from(self.pick(DIGITS))).collect()
    }

    /// Returns thirteen hexadecimal digits: the end of a call id up to 0.28.
    pub(crate) fn hex13(&mut self) -> String {
        format!("{:013x}", self.next() >> 12)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_shape_of_the_real_ones() {
        let mut random = Random::new(1);
        for _ in 0..200 {
            let uuid = random.uuid();
            assert_eq!(uuid.len(), 36, "{uuid}");
            assert_eq!(&uuid[14..15], "4");
            assert!(matches!(&uuid[19..20], "8" | "9" | "a" | "b"), "{uuid}");
            assert_eq!(random.base36().len(), 6);
            assert_eq!(random.hex13().len(), 13);
            assert!(random.uuid7(1_794_766_081_124).starts_with("01a1e065-0c64-7"));
            assert_eq!((random.letters(9).len(), random.hex(40).len()), (9, 40));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let draw = |seed| (0..9).map(|_| Random::new(seed).next()).collect::<Vec<_>>();
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        // First output of the reference implementation for seed 0.
        assert_eq!(Random::new(0).next(), 0xe220_a839_7b1d_cdaf);
    }
}
