//! Dates as people type them: a day, a month, a time span before now.

use jiff::civil::{Date, DateTime};
use jiff::{ToSpan as _, Zoned};

/// A time, as typed in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// The start of a day, or a time of day.
    At(DateTime),
    /// Days before the start of today.
    DaysBack(i64),
    /// Hours before now.
    HoursAgo(i64),
}

impl When {
    /// Parses `2026-09-02`, `2026-09-02T08:00`, `2026-09`, `2026`, `12h`, `7d`, `2w`, `today`, `yesterday`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "today" => return Some(Self::DaysBack(0)),
            "yesterday" => return Some(Self::DaysBack(1)),
            _ => {}
        }
        for (unit, hours) in [("h", 1), ("d", 24), ("w", 24 * 7)] {
            if let Some(count) = text.strip_suffix(unit).and_then(count) {
                return Some(Self::HoursAgo(count.checked_mul(hours)?));
            }
        }
        day(text)
            .map(|date| Self::At(date.at(0, 0, 0, 0)))
            .or_else(|| text.parse().ok().map(Self::At))
    }

    /// Returns the time in milliseconds, clamped to the earliest representable time.
    pub(crate) fn resolve(self, now: &Zoned) -> i64 {
        let moment = match self {
            Self::At(time) => time.to_zoned(now.time_zone().clone()),
            Self::DaysBack(days) => now.start_of_day().and_then(|day| day.checked_sub(days.days())),
            Self::HoursAgo(hours) => {
                return now
                    .timestamp()
                    .as_millisecond()
                    .saturating_sub(hours.saturating_mul(3_600_000));
            }
        };
        moment.map_or(i64::MIN, |moment| moment.timestamp().as_millisecond())
    }
}

/// Parses a count of at most six digits, so that no unit makes it overflow.
fn count(digits: &str) -> Option<i64> {
    let is_count =
        (1..=6).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_count.then(|| digits.parse().ok())?
}

/// Returns the first day of a year, a month or a day.
fn day(text: &str) -> Option<Date> {
    let mut numbers = text.split('-').map(|digits| (digits.len(), count(digits)));
    let Some((4, Some(year))) = numbers.next() else { return None };
    let mut two_digits = || match numbers.next() {
        None => Some(1),
        Some((1 | 2, Some(number))) => i8::try_from(number).ok(),
        Some(_) => None,
    };
    let (month, day) = (two_digits()?, two_digits()?);
    let date = Date::new(i16::try_from(year).ok()?, month, day).ok()?;
    numbers.next().is_none().then_some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_zone() {
        let now: Zoned = "2026-03-29T12:30:00[Europe/Berlin]".parse().unwrap();
        for (text, want) in [
            ("2026-03-29", "2026-03-29T00:00:00+01:00"),
            ("2026-3", "2026-03-01T00:00:00+01:00"),
            ("2026", "2026-01-01T00:00:00+01:00"),
            ("2026-03-29T08:15", "2026-03-29T08:15:00+02:00"),
            ("today", "2026-03-29T00:00:00+01:00"),
            ("yesterday", "2026-03-28T00:00:00+01:00"),
            ("12h", "2026-03-28T23:30:00+01:00"),
            ("7d", "2026-03-22T11:30:00+01:00"),
            ("1w", "2026-03-22T11:30:00+01:00"),
        ] {
            let want: jiff::Timestamp = want.parse().unwrap();
            let got = When::parse(text).unwrap().resolve(&now);
            assert_eq!(got, want.as_millisecond(), "{text}");
        }
    }

    #[test]
    fn other_words_are_no_moments() {
        for text in [
            "",
            "d",
            "-1d",
            "2026-13",
            "2026-02-30",
            "26",
            "2026-",
            "9999999d",
            "soon",
            "2026-1-1-1",
        ] {
            assert_eq!(When::parse(text), None, "{text}");
        }
    }
}
