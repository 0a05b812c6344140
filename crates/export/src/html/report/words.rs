//! Figures formatted for people.

use super::super::grouped;
use super::input::Cost;

/// Units per dollar.
const DOLLAR: u128 = 1_000_000_000_000;

/// Formats a cost: with a mark if it is a lower bound, and a dash if it is unknown.
pub(super) fn cost(cost: Cost) -> String {
    match cost.units {
        None => "–".to_owned(),
        Some(units) if cost.is_lower_bound => at_least(&money(units)),
        Some(units) => money(units),
    }
}

/// Marks a lower bound. Of one that is too small to show, all that is known is that it is more than nothing.
fn at_least(amount: &str) -> String {
    if amount.starts_with('<') { ">$0.00".to_owned() } else { format!("≥{amount}") }
}

/// Formats money: `$12.34`, small amounts with four places, smaller ones as less than that.
pub(super) fn money(units: u128) -> String {
    let (dollars, cents) = rounded(units, 2);
    if dollars > 0 || units == 0 {
        return format!("${}.{cents:02}", wide(dollars));
    }
    match rounded(units, 4) {
        (0, 0) => "<$0.0001".to_owned(),
        (whole, part) => format!("${whole}.{part:04}"),
    }
}

/// Formats money with as many places as needed, at most six: `$5`, `$0.02`.
pub(super) fn short_money(units: u128) -> String {
    let (dollars, part) = rounded(units, 6);
    let part = format!("{part:06}");
    match part.trim_end_matches('0') {
        "" => format!("${}", wide(dollars)),
        digits => format!("${}.{digits:0<2}", wide(dollars)),
    }
}

/// Formats money on an axis: whole dollars, unless the steps are smaller.
pub(super) fn money_mark(units: u128, step: u128) -> String {
    let places =
        (2..=6).find(|places| step.is_multiple_of(DOLLAR / 10_u128.pow(*places))).unwrap_or(6);
    match rounded(units, places) {
        (dollars, _) if step.is_multiple_of(DOLLAR) => format!("${}", wide(dollars)),
        (dollars, part) => {
            let places = usize::try_from(places).unwrap_or_default();
            format!("${}.{part:0places$}", wide(dollars))
        }
    }
}

/// Formats a count on an axis.
pub(super) fn count_mark(number: u128, _step: u128) -> String {
    short(number)
}

/// Formats a count in about four characters: `999`, `1.2k`, `34k`, `5.6M`; rounded down.
pub(super) fn short(number: u128) -> String {
    let (mut whole, mut tenths) = (number, 0);
    let mut units = ["k", "M", "G", "T", "P", "E"].into_iter();
    let mut unit = "";
    while whole >= 1000
        && let Some(next) = units.next()
    {
        tenths = whole % 1000 / 100;
        whole /= 1000;
        unit = next;
    }
    if whole < 10 && tenths > 0 {
        format!("{whole}.{tenths}{unit}")
    } else {
        format!("{whole}{unit}")
    }
}

/// Formats a share: `37%`, small ones with one place.
pub(super) fn share(part: u128, whole: u128) -> String {
    let tenths = |part: u128| part.saturating_mul(1000).saturating_add(whole / 2) / whole;
    match whole {
        0 => String::new(),
        _ => match tenths(part) {
            0 if part > 0 => "<0.1%".to_owned(),
            tenths @ 1..100 => format!("{}.{}%", tenths / 10, tenths % 10),
            tenths => format!("{}%", (tenths + 5) / 10),
        },
    }
}

/// Formats a length as a percentage with three places.
pub(super) fn length(part: u128, whole: u128) -> String {
    let parts = part.saturating_mul(100_000).checked_div(whole).unwrap_or_default();
    format!("{}.{:03}%", parts / 1000, parts % 1000)
}

/// Formats a duration: `45s`, `12m`, `3h 05m`.
pub(super) fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        _ => format!("{}h {:02}m", grouped(seconds / 3600), seconds / 60 % 60),
    }
}

fn rounded(units: u128, places: u32) -> (u128, u128) {
    let per_dollar = 10_u128.pow(places);
    let step = DOLLAR / per_dollar;
    let steps = units.saturating_add(step / 2) / step;
    (steps / per_dollar, steps % per_dollar)
}

fn wide(number: u128) -> String {
    grouped(u64::try_from(number).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_never_rounded_to_nothing() {
        for (units, long, brief) in [
            (0, "$0.00", "$0"),
            (12_345_000_000_000, "$12.35", "$12.345"),
            (1_234_567 * DOLLAR, "$1,234,567.00", "$1,234,567"),
            (DOLLAR / 4, "$0.2500", "$0.25"),
            (DOLLAR / 5, "$0.2000", "$0.20"),
            (996_000_000_000, "$1.00", "$0.996"),
            (1_000_000, "<$0.0001", "$0.000001"),
        ] {
            assert_eq!((money(units).as_str(), short_money(units).as_str()), (long, brief));
        }
        let more = Cost { units: Some(DOLLAR), is_lower_bound: true };
        assert_eq!([cost(more), cost(Cost::default())], ["≥$1.00", "–"]);
        assert!(money(u128::MAX).starts_with("$18,446,744,073,709,551,615."), "more than there is");
    }

    #[test]
    fn marks_of_a_scale_have_as_many_places() {
        let marks = |step: u128| [0, 1, 2].map(|by| money_mark(by * step, step));
        assert_eq!(marks(DOLLAR / 2), ["$0.00", "$0.50", "$1.00"]);
        assert_eq!(marks(DOLLAR * 500), ["$0", "$500", "$1,000"]);
        assert_eq!(marks(DOLLAR / 200), ["$0.000", "$0.005", "$0.010"]);
    }

    #[test]
    fn figures_are_short() {
        assert_eq!(
            [short(999), short(1000), short(1299), short(34_567)],
            ["999", "1k", "1.2k", "34k"]
        );
        assert_eq!(
            [share(0, 7), share(1, 3), share(31, 1000), share(7, 7)],
            ["0%", "33%", "3.1%", "100%"]
        );
        assert_eq!([share(1, 100_000), share(1, 0)], ["<0.1%", ""]);
        assert_eq!([length(1, 3), length(5, 0), length(3, 3)], ["33.333%", "0.000%", "100.000%"]);
        assert_eq!([duration(45), duration(754), duration(11_100)], ["45s", "12m", "3h 05m"]);
    }
}
