//! Days, weeks, months and hours of the user's time zone.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

const SECOND: i64 = 1000;
const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// A time as people see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The day in the user's time zone.
    pub(crate) day: Date,
    /// The hour of that day.
    pub(crate) hour: i8,
    /// The UTC day, which decides the price.
    pub(crate) utc: Date,
}

/// Converts times to days, in sequence. A time zone lookup is slow, so its offset is cached for as long as it applies.
#[derive(Debug)]
pub(crate) struct Calendar {
    zone: TimeZone,
    offset: Option<Offset>,
    /// The last results, by their day number from the epoch.
    here: (i64, Date),
    utc: (i64, Date),
}

/// The UTC offset in seconds, and the period in which it applies.
#[derive(Clone, Copy, Debug)]
struct Offset {
    from: i64,
    to: i64,
    ahead: i64,
}

impl Calendar {
    pub(crate) fn new(zone: TimeZone) -> Self {
        let epoch = (0, Date::constant(1970, 1, 1));
        Self { zone, offset: None, here: epoch, utc: epoch }
    }

    /// Returns the day and hour of a time in milliseconds.
    pub(crate) fn slot(&mut self, millis: i64) -> Option<Slot> {
        let second = millis.div_euclid(SECOND);
        let offset = self.offset(second)?;
        let local = second.checked_add(offset)?;
        let day = date(&mut self.here, local.div_euclid(DAY))?;
        let utc = date(&mut self.utc, second.div_euclid(DAY))?;
        let hour = i8::try_from(local.rem_euclid(DAY) / HOUR).unwrap_or_default();
        Some(Slot { day, hour, utc })
    }

    fn offset(&mut self, second: i64) -> Option<i64> {
        if let Some(known) = self.offset
            && known.from <= second
            && second < known.to
        {
            return Some(known.ahead);
        }
        let moment = Timestamp::from_second(second).ok()?;
        let after = moment.checked_add(jiff::SignedDuration::from_secs(1)).ok()?;
        let from = self.zone.preceding(after).next().map(|change| change.timestamp().as_second());
        let to = self.zone.following(moment).next().map(|change| change.timestamp().as_second());
        let ahead = i64::from(self.zone.to_offset(moment).seconds());
        let (from, to) = (from.unwrap_or(i64::MIN), to.unwrap_or(i64::MAX));
        self.offset = Some(Offset { from, to, ahead });
        Some(ahead)
    }

    /// Returns the day of a time.
    pub(crate) fn today(&self, now: Timestamp) -> Date {
        now.to_zoned(self.zone.clone()).date()
    }
}

/// Returns a day by its number from the epoch.
fn date(last: &mut (i64, Date), number: i64) -> Option<Date> {
    if last.0 != number {
        let day = Date::constant(1970, 1, 1).checked_add(jiff::Span::new().try_days(number).ok()?);
        *last = (number, day.ok()?);
    }
    Some(last.1)
}

/// Returns the first day of a day's week.
pub(crate) fn monday(day: Date) -> Date {
    let back = i64::from(day.weekday().to_monday_zero_offset());
    day.checked_sub(back.days()).unwrap_or(day)
}

/// Formats a week: `2026-W36`.
pub(crate) fn week(day: Date) -> String {
    let week = day.iso_week_date();
    format!("{:04}-W{:02}", week.year(), week.week())
}

/// Formats a month: `2026-09`.
pub(crate) fn month(day: Date) -> String {
    format!("{:04}-{:02}", day.year(), day.month())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_on_the_user_s_day() {
        let mut calendar = Calendar::new(TimeZone::get("Asia/Kolkata").unwrap());
        let millis = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        let slot = calendar.slot(millis("2026-09-01T18:29:59Z")).unwrap();
        assert_eq!((slot.day.to_string().as_str(), slot.hour), ("2026-09-01", 23));
        let slot = calendar.slot(millis("2026-09-01T18:30:00Z")).unwrap();
        assert_eq!((slot.day.to_string().as_str(), slot.hour), ("2026-09-02", 0));
        assert_eq!(slot.utc.to_string(), "2026-09-01");
    }

    #[test]
    fn every_hour_of_a_year_is_converted_like_the_time_zone() {
        for name in
            ["UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Europe/Dublin"]
        {
            let zone = TimeZone::get(name).unwrap();
            let mut calendar = Calendar::new(zone.clone());
            let start: Timestamp = "2025-12-30T00:00:00Z".parse().unwrap();
            for half_hour in 0..18_000 {
                let moment = start + jiff::SignedDuration::from_mins(30 * half_hour);
                let expected = moment.to_zoned(zone.clone());
                let slot = calendar.slot(moment.as_millisecond()).unwrap();
                assert_eq!(
                    (slot.day, slot.hour),
                    (expected.date(), expected.hour()),
                    "{name} {moment}"
                );
                assert_eq!(slot.utc, moment.to_zoned(TimeZone::UTC).date());
            }
        }
        assert_eq!(Calendar::new(TimeZone::UTC).slot(i64::MAX), None);
    }

    #[test]
    fn weeks_begin_on_monday_also_around_new_year() {
        let day = |text: &str| text.parse::<Date>().unwrap();
        assert_eq!(monday(day("2026-01-01")), day("2025-12-29"));
        assert_eq!(week(day("2026-01-01")), "2026-W01");
        assert_eq!(week(day("2024-12-30")), "2025-W01");
        assert_eq!(month(day("2026-09-02")), "2026-09");
    }
}
