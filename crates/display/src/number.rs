//! Numbers formatted for people.

use std::fmt;

use recount_engine::stats::Money;

/// Formats a count in a few characters: `999`, `1.3k`, `16k`, `5.7M`, `21.8 B`.
pub fn count(number: u64) -> String {
    const UNITS: &[Unit] = &[
        Unit { name: "k", places_below: 10 },
        Unit { name: "M", places_below: 10 },
        Unit { name: " B", places_below: 100 },
        Unit { name: " T", places_below: 100 },
        Unit { name: " Qa", places_below: 100 },
        Unit { name: " Qi", places_below: 100 },
    ];
    scaled(number, "", UNITS)
}

/// Formats a size: `999 B`, `1.3 KB`, `34 MB`.
pub fn bytes(number: u64) -> String {
    const fn unit(name: &'static str) -> Unit {
        Unit { name, places_below: 10 }
    }
    const UNITS: &[Unit] =
        &[unit(" KB"), unit(" MB"), unit(" GB"), unit(" TB"), unit(" PB"), unit(" EB")];
    scaled(number, " B", UNITS)
}

/// Formats a count with its noun: `1 prompt`, `2 prompts`, `1.3k prompts`.
pub fn plural(number: u64, word: &str) -> String {
    format!("{} {word}{}", count(number), ending(number))
}

/// Formats a count with its noun and all digits, for sentences: `1 prompt`, `1299 prompts`.
pub(crate) fn plural_exact<N>(number: N, word: &str) -> String
where
    N: fmt::Display + PartialEq + From<u8> + Copy,
{
    format!("{number} {word}{}", ending(number))
}

/// Returns the ending of a regular noun after a number.
fn ending<N: PartialEq + From<u8> + Copy>(number: N) -> &'static str {
    if number == N::from(1) { "" } else { "s" }
}

/// Formats money: `$12.34`, small amounts with four places, smaller ones as less than that.
pub fn money(money: Money) -> String {
    let (dollars, cents) = money.rounded(2);
    if dollars > 0 || money == Money::default() {
        return format!("${}.{cents:02}", grouped(dollars));
    }
    match money.rounded(4) {
        (0, 0) => "<$0.0001".to_owned(),
        (whole, part) => format!("${whole}.{part:04}"),
    }
}

/// Formats the cost of a session in cents: with a mark if it is a lower bound, and a dash if it is unknown.
pub fn price(dollars: Option<f64>, is_lower_bound: bool) -> String {
    match dollars {
        None => "–".to_owned(),
        // At least less than a cent says nothing: a lower bound has more digits.
        Some(dollars) if (0.000_05..0.005).contains(&dollars) && is_lower_bound => {
            at_least(&format!("${dollars:.4}"), true)
        }
        Some(dollars) if dollars > 0.0 && dollars < 0.005 => at_least("<$0.01", is_lower_bound),
        Some(dollars) => at_least(&format!("${dollars:.2}"), is_lower_bound),
    }
}

/// Marks an amount that is a lower bound. Every amount shown to people is marked by this rule.
pub fn at_least(amount: &str, is_lower_bound: bool) -> String {
    match amount.strip_prefix('<') {
        _ if !is_lower_bound => amount.to_owned(),
        // Too small to show: all that is known is that it is more than nothing.
        Some(_) => ">$0.00".to_owned(),
        None => format!("≥{amount}"),
    }
}

/// Formats a price with as many places as needed.
pub fn million(price: Money) -> String {
    if price == Money::default() {
        return "free".to_owned();
    }
    let (whole, part) = price.rounded(6);
    let part = format!("{part:06}");
    match part.trim_end_matches('0') {
        "" => money(Money::from_units(whole * 1_000_000_000_000)),
        digits => format!("${whole}.{digits:0<2}"),
    }
}

/// Formats a running sum of dollars in at most eight characters: `<$0.001`, `$0.021`, `$12.34`, `$1234`.
pub fn running_price(dollars: f64) -> String {
    match dollars {
        ..=0.0 => "$0".to_owned(),
        ..0.0005 => "<$0.001".to_owned(),
        ..10.0 => format!("${dollars:.3}"),
        ..1000.0 => format!("${dollars:.2}"),
        _ => format!("${dollars:.0}"),
    }
}

/// Formats a number with a comma before every three digits.
pub fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a share: `37%`, small ones with one place.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 9.95 {
        format!("{percent:.1}%")
    } else {
        format!("{percent:.0}%")
    }
}

/// Formats a duration: `45s`, `12m`, `3h 05m`.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// A unit that is a thousand times the one before it.
struct Unit {
    name: &'static str,
    /// Smaller numbers of it have one decimal place.
    places_below: u128,
}

/// Rounds to the largest unit of which there is at least one.
fn scaled(number: u64, one: &str, units: &[Unit]) -> String {
    if number < 1000 {
        return format!("{number}{one}");
    }
    let number = u128::from(number);
    let mut worth: u128 = 1000;
    for (at, unit) in units.iter().enumerate() {
        let tenths = (number * 10 + worth / 2) / worth;
        let whole = (number + worth / 2) / worth;
        // 999,950 is a million, not a thousand thousands.
        if whole < 1000 || at + 1 == units.len() {
            return if tenths < unit.places_below * 10 {
                format!("{}.{}{}", tenths / 10, tenths % 10, unit.name)
            } else {
                format!("{whole}{}", unit.name)
            };
        }
        worth *= 1000;
    }
    number.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1.0k"),
            (1299, "1.3k"),
            (9_949, "9.9k"),
            (9_950, "10k"),
            (15_952, "16k"),
            (999_499, "999k"),
            (999_500, "1.0M"),
            (5_678_901, "5.7M"),
            (21_789_000_000, "21.8 B"),
            (210_000_000_000, "210 B"),
        ] {
            assert_eq!(count(number), expected);
        }
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(15_952), "16 KB");
        assert_eq!(bytes(1_031_930_414), "1.0 GB");
        assert_eq!(count(u64::MAX), "18.4 Qi");
    }

    #[test]
    fn nouns_follow_their_numbers() {
        let both = |number: u64| [plural(number, "prompt"), plural_exact(number, "prompt")];
        assert_eq!(both(0), ["0 prompts", "0 prompts"]);
        assert_eq!(both(1), ["1 prompt", "1 prompt"]);
        assert_eq!(both(1299), ["1.3k prompts", "1299 prompts"]);
    }

    #[test]
    fn money_is_never_rounded_to_nothing() {
        for (dollars, expected) in [
            ("0", "$0.00"),
            ("12.345", "$12.35"),
            ("1234567.8", "$1,234,567.80"),
            ("0.0042", "$0.0042"),
            ("0.25", "$0.2500"),
            ("0.996", "$1.00"),
            ("0.00001", "<$0.0001"),
        ] {
            assert_eq!(money(Money::from_dollars(dollars).unwrap()), expected);
        }
    }

    #[test]
    fn lower_bounds_are_marked() {
        assert_eq!([price(None, true), price(None, false)], ["–", "–"]);
        assert_eq!([price(Some(0.89), true), price(Some(0.89), false)], ["≥$0.89", "$0.89"]);
        // "at least less than" says nothing.
        assert_eq!([price(Some(0.004), true), price(Some(0.004), false)], ["≥$0.0040", "<$0.01"]);
        assert_eq!(price(Some(0.000_04), true), ">$0.00");
        assert_eq!(at_least("<$0.0001", true), ">$0.00");
        assert_eq!(price(Some(0.0), true), "≥$0.00");
    }

    #[test]
    fn shares_and_stretches_are_short() {
        assert_eq!(
            [percent(0.0), percent(0.031), percent(0.37), percent(1.0)],
            ["0%", "3.1%", "37%", "100%"]
        );
        assert_eq!([duration(45), duration(754), duration(11_100)], ["45s", "12m", "3h 05m"]);
    }
}
