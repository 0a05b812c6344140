//! Sums of money without rounding.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Serialize, Serializer};

/// Units per dollar.
const DOLLAR: u128 = 1_000_000_000_000;

/// An amount of money, in millionths of a millionth of a US dollar. As JSON it is a number of dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(u128);

impl Money {
    /// Wraps an amount in millionths of a millionth of a dollar.
    pub const fn from_units(units: u128) -> Self {
        Self(units)
    }

    /// Returns the amount in millionths of a millionth of a dollar.
    pub const fn units(self) -> u128 {
        self.0
    }

    /// Reads dollars as people write them: `20`, `0.50`. At most twelve decimal places.
    pub fn from_dollars(text: &str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && part.is_empty()) || !digits(whole) || !digits(part) {
            return None;
        }
        let places = u32::try_from(part.len()).ok().filter(|places| *places <= 12)?;
        let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u128>().ok() };
        let behind = number(part)?.checked_mul(10_u128.pow(12 - places))?;
        number(whole)?.checked_mul(DOLLAR)?.checked_add(behind).map(Self)
    }

    /// Returns the amount in dollars, as the nearest double.
    #[expect(
        clippy::cast_precision_loss,
        reason = "for charts and JSON; sums are made of whole units"
    )]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / DOLLAR as f64
    }

    /// Returns whole dollars and the fraction in `places` digits, rounded half up.
    pub fn rounded(self, places: u32) -> (u128, u128) {
        let step = DOLLAR / 10_u128.pow(places.min(12));
        let steps = self.0.saturating_add(step / 2) / step;
        let per_dollar = DOLLAR / step;
        (steps / per_dollar, steps % per_dollar)
    }
}

impl Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Self::add)
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(self.dollars())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_are_read_without_loss() {
        for (text, units) in [
            ("20", 20 * DOLLAR),
            ("0.5", DOLLAR / 2),
            (".25", DOLLAR / 4),
            ("0.01875", 18_750_000_000),
            ("0.000000000001", 1),
        ] {
            assert_eq!(Money::from_dollars(text), Some(Money(units)), "{text}");
        }
        for bad in ["", ".", "-1", "1e3", "1,5", "0.0000000000001", "x"] {
            assert_eq!(Money::from_dollars(bad), None, "{bad}");
        }
    }

    #[test]
    fn rounding_goes_up_at_the_half() {
        let money = Money::from_dollars("1.995").unwrap();
        assert_eq!(money.rounded(2), (2, 0));
        assert_eq!(money.rounded(3), (1, 995));
        assert_eq!(Money::from_dollars("0.00004").unwrap().rounded(4), (0, 0));
    }
}
