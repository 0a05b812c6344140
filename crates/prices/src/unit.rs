//! The price of a token, and the cost of a request.

use recount_model::Tokens;
use serde::Serialize;

use crate::Money;

/// The price of one token, in millionths of a millionth of a dollar: that is dollars per million tokens with six places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit(u64);

impl Unit {
    /// Reads dollars per million tokens.
    pub fn per_million(text: &str) -> Option<Self> {
        let money = Money::from_dollars(text)?.units();
        (money % 1_000_000 == 0).then(|| u64::try_from(money / 1_000_000).ok().map(Self))?
    }

    /// Returns the price of a number of tokens.
    pub fn times(self, tokens: u64) -> Money {
        Money::from_units(u128::from(self.0).saturating_mul(u128::from(tokens)))
    }

    /// Returns the price of a million tokens.
    pub fn of_a_million(self) -> Money {
        self.times(1_000_000)
    }
}

impl Serialize for Unit {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.of_a_million().serialize(to)
    }
}

/// The price of tokens of each kind. As JSON: dollars per million.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Units {
    /// Prompt tokens that did not come from the cache, and those of tool prompts.
    pub input: Unit,
    /// Prompt tokens from the cache.
    pub cached: Unit,
    /// Prompt tokens that are written to the cache, for a few minutes.
    pub cache_write: Unit,
    /// Prompt tokens that are written to the cache, for an hour.
    pub cache_write_1h: Unit,
    /// Tokens of the answer, and those spent thinking.
    pub output: Unit,
}

impl Units {
    /// Returns the cost of a request. `input` includes `cached` and `cache_write`.
    pub fn product(&self, tokens: &Tokens) -> Money {
        let fresh = tokens.input.saturating_sub(tokens.cached).saturating_sub(tokens.cache_write);
        let short = tokens.cache_write.saturating_sub(tokens.cache_write_1h);
        self.input.times(fresh)
            + self.cached.times(tokens.cached)
            + self.cache_write.times(short)
            + self.cache_write_1h.times(tokens.cache_write_1h)
            + self.output.times(tokens.output)
            + self.output.times(tokens.thoughts)
            + self.input.times(tokens.tool)
    }

    /// Whether nothing is charged.
    pub fn is_free(&self) -> bool {
        [self.input, self.cached, self.cache_write, self.cache_write_1h, self.output]
            == [Unit::default(); 5]
    }
}

/// Prices of requests with long prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Above {
    /// More prompt tokens than this.
    pub tokens: u64,
    /// For the whole request.
    pub units: Units,
}

/// The price tier of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The base prices.
    Base,
    /// Those of prompts with more tokens than this.
    Above(u64),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn units(input: &str, cached: &str, output: &str) -> Units {
        let unit = |text| Unit::per_million(text).unwrap();
        let input = unit(input);
        let (cached, output) = (unit(cached), unit(output));
        Units { input, cached, cache_write: input, cache_write_1h: input, output }
    }

    #[test]
    fn what_is_written_to_the_cache_has_prices_of_its_own() {
        let unit = |text| Unit::per_million(text).unwrap();
        let units = Units {
            input: unit("3"),
            cached: unit("0.3"),
            cache_write: unit("3.75"),
            cache_write_1h: unit("6"),
            output: unit("15"),
        };
        let tokens = Tokens {
            input: 1_000_000,
            cached: 600_000,
            cache_write: 300_000,
            cache_write_1h: 100_000,
            ..Tokens::default()
        };
        // 100,000 uncached, 600,000 from the cache, 200,000 for minutes and 100,000 for an hour.
        assert_eq!(units.product(&tokens), Money::from_dollars("1.83").unwrap());
    }

    #[test]
    fn each_kind_has_its_price() {
        let tokens = Tokens {
            input: 100_000,
            output: 500,
            cached: 40_000,
            thoughts: 300,
            tool: 10,
            ..Tokens::default()
        };
        // 60,000 × 1.25 + 40,000 × 0.125 + 800 × 10 + 10 × 1.25, per million.
        let cost = units("1.25", "0.125", "10").product(&tokens);
        assert_eq!(cost, Money::from_dollars("0.0880125").unwrap());
    }

    #[test]
    fn more_cached_than_sent_is_not_negative() {
        let tokens = Tokens { input: 5, cached: 10, ..Tokens::default() };
        assert_eq!(
            units("1", "0.1", "2").product(&tokens),
            Money::from_dollars("0.000001").unwrap()
        );
    }

    proptest! {
        /// The cost of the sum of two requests equals the sum of their costs, to the last unit.
        #[test]
        fn sums_are_exact(
            one in any::<[u32; 5]>(), two in any::<[u32; 5]>(),
            price in (0..1_000_000_u64, 0..1_000_000_u64, 0..1_000_000_000_u64),
        ) {
            let (input, cached, output) = (Unit(price.0), Unit(price.1), Unit(price.2));
            let units = Units { input, cached, cache_write: input, cache_write_1h: input, output };
            let tokens = |[fresh, output, cached, thoughts, tool]: [u32; 5]| Tokens {
                input: u64::from(fresh) + u64::from(cached),
                output: output.into(), cached: cached.into(), thoughts: thoughts.into(), tool: tool.into(),
                ..Tokens::default()
            };
            let (one, two) = (tokens(one), tokens(two));
            let mut both = one;
            both += two;
            prop_assert_eq!(units.product(&both), units.product(&one) + units.product(&two));
            let by_hand = u128::from(one.input - one.cached) * u128::from(price.0)
                + u128::from(one.cached) * u128::from(price.1)
                + u128::from(one.output + one.thoughts) * u128::from(price.2)
                + u128::from(one.tool) * u128::from(price.0);
            prop_assert_eq!(units.product(&one).units(), by_hand);
        }

        /// No count causes a panic.
        #[test]
        fn any_count_has_a_price(counts in any::<[u64; 6]>(), price in any::<[u64; 3]>()) {
            let [input, output, cached, thoughts, tool, total] = counts;
            let [a, b, c] = price.map(Unit);
            let units = Units { input: a, cached: b, cache_write: a, cache_write_1h: b, output: c };
            let _cost = units.product(&Tokens { input, output, cached, thoughts, tool, total, ..Tokens::default() });
        }
    }
}
