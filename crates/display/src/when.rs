//! Times as people type and read them.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _, Zoned};
use recount_platform::local_zone;

/// Reads a time: `2026-09-02`, `2026-09-02T08:00`, RFC 3339, `today`, `yesterday`, `90m`, `12h`, `7d`, `2w`.
pub fn parse(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    parse_in(text, now, &local_zone())
}

/// Reads a time; days begin in this time zone.
pub fn parse_in(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, String> {
    let local = |at: DateTime| at.to_zoned(zone.clone()).map(|zoned| zoned.timestamp());
    let start_of = |date: Date| local(date.at(0, 0, 0, 0));
    let today = now.to_zoned(zone.clone()).date();
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Ok(timestamp);
    }
    let parsed = match text {
        "now" => return Ok(now),
        "today" => start_of(today),
        "yesterday" => start_of(today.saturating_sub(1.day())),
        _ => match (ago(text), text.parse::<Date>(), text.parse::<DateTime>()) {
            (Some(duration), _, _) => return Ok(now.saturating_sub(duration).unwrap_or(now)),
            (_, Ok(date), _) if text.len() <= 10 => start_of(date),
            (_, _, Ok(at)) => local(at),
            _ => return Err("give a date (2026-09-02), a time (2026-09-02T08:00), `today`, or how long ago (12h, 7d)".into()),
        },
    };
    parsed.map_err(|error| error.to_string())
}

/// Reads a duration: `90m`, `12h`, `7d`, `2w`.
pub fn ago(text: &str) -> Option<SignedDuration> {
    let unit = text.chars().last()?;
    let number: i64 = text.strip_suffix(unit)?.parse().ok()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 7 * 86_400,
        _ => return None,
    };
    Some(SignedDuration::from_secs(number.checked_mul(seconds)?))
}

/// Formats an age in one word: `now`, `5m`, `3h`, `2d`, and the date if it is older than a month.
pub fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - then.as_second();
    match seconds {
        ..60 => "now".into(),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..86_400 => format!("{}h ago", seconds / 3600),
        86_400..2_592_000 => format!("{}d ago", seconds / 86_400),
        _ => local(then).strftime("%Y-%m-%d").to_string(),
    }
}

/// Formats date and minute in the user's time zone.
pub fn minute(then: Timestamp) -> String {
    local(then).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Formats date and second in the user's time zone.
pub fn second(then: Timestamp) -> String {
    local(then).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Formats the minute alone.
pub fn clock_time(then: Timestamp) -> String {
    local(then).strftime("%H:%M").to_string()
}

/// Whether two times are on the same day for the user.
pub fn same_day(one: Timestamp, other: Timestamp) -> bool {
    local(one).date() == local(other).date()
}

fn local(then: Timestamp) -> Zoned {
    then.to_zoned(local_zone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_in_every_form() {
        let now: Timestamp = "2026-09-10T12:00:00Z".parse().unwrap();
        let back = |text: &str| now.as_second() - parse(text, now).unwrap().as_second();
        assert_eq!(back("90m"), 5400);
        assert_eq!(back("2w"), 14 * 86_400);
        assert_eq!(back("2026-09-10T11:59:00Z"), 60);
        assert!(parse("2026-09-02", now).is_ok());
        assert!(parse("2026-09-02T08:00", now).is_ok());
        for bad in ["", "soon", "12x", "2026-13-01", "99999999999999999999d"] {
            assert!(parse(bad, now).is_err(), "{bad}");
        }
    }

    #[test]
    fn ages_are_short() {
        let now: Timestamp = "2026-09-10T12:00:00Z".parse().unwrap();
        let age_of = |text: &str| age(text.parse().unwrap(), now);
        assert_eq!(age_of("2026-09-10T11:59:30Z"), "now");
        assert_eq!(age_of("2026-09-10T11:50:00Z"), "10m ago");
        assert_eq!(age_of("2026-09-09T11:50:00Z"), "1d ago");
        assert_eq!(age_of("2027-01-01T00:00:00Z"), "now");
        assert!(age_of("2026-01-01T12:00:00Z").starts_with("2026-01-0"));
    }
}
