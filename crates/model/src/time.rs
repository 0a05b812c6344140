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
    let ([first, second, third], []) = text.as_chunks::<8>() else { return None };
    let [y3, y2, y1, y0, _, m1, m0, _] = digits(*first, *b"0000-00-")?;
    let [d1, d0, _, h1, h0, _, n1, n0] = digits(*second, *b"00T00:00")?;
    let [_, s1, s0, _, f2, f1, f0, _] = digits(*third, *b":00.000Z")?;
    let two = |tens: u8, ones: u8| i64::from(tens) * 10 + i64::from(ones);
    let (year, month, day) = (two(y3, y2) * 100 + two(y1, y0), two(m1, m0), two(d1, d0));
    let (hour, minute, second) = (two(h1, h0), two(n1, n0), two(s1, s0));
    let milli = i64::from(f2) * 100 + two(f1, f0);
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

/// Returns the digits of a text that has some wherever `form` has a zero, and is the same elsewhere: all bytes at once.
#[inline]
fn digits(text: [u8; 8], form: [u8; 8]) -> Option<[u8; 8]> {
    const LOW: u64 = 0x0606_0606_0606_0606;
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    let between = u64::from_le_bytes(form.map(|byte| if byte == b'0' { 0 } else { 0xff }));
    let digits = u64::from_le_bytes(text) ^ u64::from_le_bytes(form);
    // A digit is at most 9: with 6 more it stays below 16.
    let is_formed = (digits | digits.wrapping_add(LOW)) & HIGH == 0 && digits & between == 0;
    is_formed.then_some(digits.to_le_bytes())
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
