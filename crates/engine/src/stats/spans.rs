//! Time spans that may overlap, each moment counted once.

/// From this number of spans on, they are merged before they take more memory.
const MANY: usize = 1024;

/// Time spans, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spans(Vec<(i64, i64)>);

impl Spans {
    /// Adds a span. One that begins where the last one ended extends it.
    pub(crate) fn add(&mut self, from: i64, to: i64) {
        if to <= from {
            return;
        }
        match self.0.last_mut() {
            Some((_, end)) if *end == from => *end = to,
            _ => {
                if self.0.len() >= MANY && self.0.len() == self.0.capacity() {
                    self.merge();
                }
                self.0.push((from, to));
            }
        }
    }

    /// Merges spans that overlap. If few do, there is room for as many more, so that it is not tried again soon.
    fn merge(&mut self) {
        let room = self.0.len();
        self.0.sort_unstable();
        self.0.dedup_by(|(from, to), (_, end)| {
            let meets = *from <= *end;
            *end = if meets { (*end).max(*to) } else { *end };
            meets
        });
        if self.0.len() > room - room / 4 {
            self.0.reserve_exact(room);
        }
    }

    /// Returns their total length, in seconds.
    pub(crate) fn seconds(mut self) -> u64 {
        self.0.sort_unstable();
        let (mut sum, mut covered) = (0_i64, i64::MIN);
        for (from, to) in self.0 {
            let from = from.max(covered);
            sum = sum.saturating_add(to.saturating_sub(from).max(0));
            covered = covered.max(to);
        }
        u64::try_from(sum / 1000).unwrap_or_default()
    }

    /// Adds the spans of others.
    pub(crate) fn extend(&mut self, others: &Self) {
        self.0.extend_from_slice(&others.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_spans_are_as_long_as_all_of_them() {
        // Of two spans of 3 s each that overlap by 1 s, and then of others between which there is a second.
        for (step, seconds) in [(2000, 2 * 9999 + 3), (4000, 3 * 10_000)] {
            let mut spans = Spans::default();
            for number in 0..10_000 {
                let from = (number * 7919 % 10_000) * step;
                spans.add(from, from + 3000);
            }
            assert_eq!(spans.0.len() < 5000, step == 2000, "{}", spans.0.len());
            assert_eq!(spans.seconds(), seconds);
        }
    }

    #[test]
    fn what_overlaps_counts_once() {
        let mut spans = Spans::default();
        for (from, to) in [(50_000, 60_000), (0, 10_000), (10_000, 20_000), (5_000, 15_000), (9, 9)]
        {
            spans.add(from, to);
        }
        assert_eq!(spans.clone().seconds(), 30);
        let mut others = Spans::default();
        others.add(0, 100_000);
        spans.extend(&others);
        assert_eq!(spans.seconds(), 100);
        assert_eq!(Spans::default().seconds(), 0);
    }
}
