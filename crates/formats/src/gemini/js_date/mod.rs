//! Times as JavaScript's `Date` reads them: how the agent reads a recorded time that is not in its own format.
//!
//! The rules are V8's (`src/date/dateparser-inl.h`): the ISO format of ECMAScript, else an older, lenient one that skips
//! words before the first number, text in parentheses and most punctuation.

mod parts;
mod scanner;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use self::parts::{Iso, Parts};
use self::scanner::Scanner;

/// The latest time of a `Date`, in milliseconds.
const LATEST: i64 = 8_640_000_000_000_000;

/// A time, possibly without a time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum JsTime {
    /// In milliseconds.
    At(i64),
    /// The same in the local time of the agent.
    Local(i64),
}

impl JsTime {
    /// Returns the time in milliseconds, given the agent's time zone; `None` if a `Date` cannot represent it.
    pub(crate) fn millis(self, zone: &TimeZone) -> Option<i64> {
        match self {
            Self::At(millis) => Some(millis),
            Self::Local(local) => in_range(to_utc(local, zone)?),
        }
    }
}

/// Returns `new Date(text)`; `None` for an invalid date.
pub(crate) fn parse(text: &str) -> Option<JsTime> {
    let mut scanner = Scanner::new(text);
    let mut parts = Parts::default();
    match parts.iso(&mut scanner) {
        Iso::Refused => return None,
        Iso::Whole => {}
        Iso::Other(token) => parts.legacy(token, &mut scanner)?,
    }
    parts.time()
}

/// Returns `new Date(number)`.
pub(crate) fn from_number(number: f64) -> Option<JsTime> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "in range")]
    let whole = (number.abs() <= LATEST as f64).then(|| number.trunc() as i64);
    whole.map(JsTime::At)
}

fn in_range(millis: i64) -> Option<i64> {
    (millis.abs() <= LATEST).then_some(millis)
}

/// Converts a local time to UTC.
fn to_utc(local: i64, zone: &TimeZone) -> Option<i64> {
    let Ok(there) = Timestamp::from_millisecond(local) else {
        // A year of five digits: time zones have no rules for it.
        let edge = if local < 0 { Timestamp::MIN } else { Timestamp::MAX };
        return Some(local - i64::from(zone.to_offset(edge).seconds()) * 1000);
    };
    let civil: DateTime = TimeZone::UTC.to_datetime(there);
    let moment = zone.to_ambiguous_timestamp(civil).compatible().ok()?;
    Some(moment.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of V8 for 1,100 texts in UTC: forms that people write, damaged ones, and random ones.
    const V8: &str = include_str!("v8.tsv");

    fn millis(text: &str, zone: &TimeZone) -> Option<i64> {
        parse(text)?.millis(zone)
    }

    #[test]
    fn times_are_what_v8_takes_them_for() {
        let mut seen = (0, 0);
        for line in V8.lines() {
            let (text, expected) = line.split_once('\t').unwrap();
            let text: String = serde_json::from_str(text).unwrap();
            let expected = expected.parse::<i64>().ok();
            assert_eq!(millis(&text, &TimeZone::UTC), expected, "{text:?}");
            *if expected.is_some() { &mut seen.0 } else { &mut seen.1 } += 1;
        }
        assert!(seen.0 > 200 && seen.1 > 200, "{seen:?}");
    }

    #[test]
    fn without_a_zone_a_time_is_local_and_a_date_is_not() {
        let zone = TimeZone::fixed(jiff::tz::offset(-5));
        let hour = 3_600_000;
        assert_eq!(millis("2026-10-07", &zone), millis("2026-10-07", &TimeZone::UTC));
        for text in ["2026-10-07T12:30", "Oct 07, 2026", "0", "10/07/2026"] {
            let utc = millis(text, &TimeZone::UTC).unwrap();
            assert_eq!(millis(text, &zone), Some(utc + 5 * hour), "{text}");
        }
        assert_eq!(from_number(1e15), Some(JsTime::At(1_000_000_000_000_000)));
        assert_eq!(from_number(9e15), None);
        assert_eq!(from_number(f64::NAN), None);
    }
}
