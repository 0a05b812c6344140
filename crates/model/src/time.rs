//! Time: how timestamps are read, and the clock that is passed in.

use jiff::Timestamp;

/// The source of "now". Passed in, so that two runs can be made equal.
///
/// A query reads it once, so that the whole answer is about the same moment.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Time);

#[derive(Clone, Copy, Debug)]
enum Time {
    System,
    Fixed(Timestamp),
}

impl Clock {
    /// Returns the system clock, which advances during a long run.
    pub const fn system() -> Self {
        Self(Time::System)
    }

    /// Returns a clock fixed at `now`.
    pub const fn fixed(now: Timestamp) -> Self {
        Self(Time::Fixed(now))
    }

    /// Returns the time.
    pub fn now(self) -> Timestamp {
        match self.0 {
            #[expect(clippy::disallowed_methods, reason = "this is the clock that is passed in")]
            Time::System => Timestamp::now(),
            Time::Fixed(now) => now,
        }
    }

    /// Returns this clock, stopped for the duration of one query.
    #[must_use]
    pub fn stopped(self) -> Self {
        Self::fixed(self.now())
    }
}

/// Returns the timestamp for milliseconds since 1970, if it can be represented.
pub fn timestamp(millis: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(millis).ok()
}

/// Reads an ISO 8601 time as milliseconds since 1970.
///
/// The format that agents write, `2026-09-02T08:00:00.100Z`, is read without a general parser:
/// listing a large history reads hundreds of thousands of them.
pub fn parse_millis(text: &[u8]) -> Option<i64> {
    parse_common(text).or_else(|| {
        let timestamp: Timestamp = std::str::from_utf8(text).ok()?.parse().ok()?;
        Some(timestamp.as_millisecond())
    })
}

fn parse_common(text: &[u8]) -> Option<i64> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let separators =
        [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if separators.iter().any(|&(at, byte)| text.get(at) != Some(&byte)) {
        return None;
    }
    let number = |from: usize, to: usize| {
        text.get(from..to)?.iter().try_fold(0i64, |sum, byte| {
            byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0'))
        })
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second, milli) =
        (number(11, 13)?, number(14, 16)?, number(17, 19)?, number(20, 23)?);
    if !(1..=12).contains(&month)
        || !(1..=days_in(year, month)).contains(&day)
        || hour > 23
        || minute > 59
        || second > 59
    {
        return None;
    }
    Some((((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000 + milli)
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar, counted in eras of 400
/// years from March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_cut_agrees_with_the_general_parser() {
        for text in [
            "1970-01-01T00:00:00.000Z",
            "2024-02-29T23:59:59.999Z",
            "2025-12-03T06:35:37.302Z",
            "2026-11-15T18:32:45.542Z",
            "1969-12-31T23:59:59.001Z",
            "2000-03-01T00:00:00.000Z",
        ] {
            let expected = text.parse::<Timestamp>().unwrap().as_millisecond();
            assert_eq!(parse_common(text.as_bytes()), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_forms_go_the_long_way_and_nonsense_is_none() {
        assert_eq!(parse_millis(b"2026-09-02T10:00:00+02:00"), Some(1_788_336_000_000));
        assert_eq!(parse_millis(b"2026-02-30T10:00:00.000Z"), None);
        assert_eq!(parse_millis(b"yesterday"), None);
        assert_eq!(parse_millis(b""), None);
    }
}
