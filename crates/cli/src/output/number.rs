//! Numbers as people like to read them.

use recount_engine::stats::Money;

/// A count in at most four characters or so: `999`, `1.2k`, `34k`, `5.6M`.
pub(crate) fn count(number: u64) -> String {
    scaled(number, 1000, &["", "k", "M", "G", "T", "P", "E"])
}

/// A size: `999 B`, `1.2 KB`, `34 MB`.
pub(crate) fn bytes(number: u64) -> String {
    scaled(number, 1000, &[" B", " KB", " MB", " GB", " TB", " PB", " EB"])
}

/// A count and what is counted: `1 prompt`, `2 prompts`.
pub(crate) fn plural(number: u64, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{} {word}s", count(number)) }
}

/// Money: `$12.34`, small amounts with four places, less than that as such.
pub(crate) fn money(money: Money) -> String {
    let (dollars, cents) = money.rounded(2);
    if dollars > 0 || money == Money::default() {
        return format!("${}.{cents:02}", grouped(dollars));
    }
    match money.rounded(4) {
        (0, 0) => "<$0.0001".to_owned(),
        (whole, part) => format!("${whole}.{part:04}"),
    }
}

/// A number with a comma before every three digits.
pub(crate) fn grouped(number: u128) -> String {
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

/// A share: `37%`, of small ones one place.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 9.95 {
        format!("{percent:.1}%")
    } else {
        format!("{percent:.0}%")
    }
}

/// A stretch of time: `45s`, `12m`, `3h 05m`.
pub(crate) fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

fn scaled(number: u64, step: u64, units: &[&str]) -> String {
    let (mut whole, mut tenths, mut unit) = (number, 0, 0);
    while whole >= step && unit + 1 < units.len() {
        // Rounded down, so that a sum never looks larger than it is.
        tenths = whole % step * 10 / step;
        whole /= step;
        unit += 1;
    }
    let name = units.get(unit).copied().unwrap_or_default();
    if unit > 0 && whole < 10 {
        format!("{whole}.{tenths}{name}")
    } else {
        format!("{whole}{name}")
    }
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
            (1299, "1.2k"),
            (34_567, "34k"),
            (5_678_901, "5.6M"),
        ] {
            assert_eq!(count(number), expected);
        }
        assert_eq!(bytes(1_031_930_414), "1.0 GB");
        assert_eq!(count(u64::MAX), "18E");
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
    fn shares_and_stretches_are_short() {
        assert_eq!(
            [percent(0.0), percent(0.031), percent(0.37), percent(1.0)],
            ["0%", "3.1%", "37%", "100%"]
        );
        assert_eq!([duration(45), duration(754), duration(11_100)], ["45s", "12m", "3h 05m"]);
    }
}
