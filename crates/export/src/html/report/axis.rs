//! The scale of a chart: a few round numbers from zero to slightly above the maximum.

/// Maximum number of steps.
const STEPS: u128 = 4;

/// A scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) step: u128,
    steps: u128,
}

impl Axis {
    /// Finds round steps up to a maximum.
    pub(super) fn new(most: u128) -> Self {
        let least = most.div_ceil(STEPS).max(1);
        let power = 10_u128.pow(least.ilog10());
        let round = [1, 2, 5, 10].into_iter().map(|by: u128| by.saturating_mul(power));
        let step = round.into_iter().find(|step| *step >= least).unwrap_or(least);
        Self { step, steps: most.div_ceil(step).max(1) }
    }

    /// Returns its end.
    pub(super) fn top(self) -> u128 {
        self.step.saturating_mul(self.steps)
    }

    /// Returns its marks, the largest first.
    pub(super) fn marks(self) -> impl Iterator<Item = u128> {
        (0..=self.steps).rev().map(move |number| self.step.saturating_mul(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_few() {
        let marks = |most: u128| Axis::new(most).marks().collect::<Vec<_>>();
        assert_eq!(marks(0), [1, 0]);
        assert_eq!(marks(3), [3, 2, 1, 0]);
        assert_eq!(marks(1234), [1500, 1000, 500, 0]);
        assert_eq!(marks(2100), [3000, 2000, 1000, 0]);
        for most in [1, 7, 99, 100, 101, 12_345, u128::from(u64::MAX), u128::MAX] {
            let axis = Axis::new(most);
            assert!(axis.top() >= most && axis.marks().count() <= 5, "{most}: {axis:?}");
        }
    }
}
