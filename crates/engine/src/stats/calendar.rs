//! Days, weeks, months and hours of the user's time zone.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use recount_model::timestamp;

/// Offsets of time zones change at quarters of an hour, if they do.
const QUARTER: i64 = 15 * 60 * 1000;

/// A moment as people see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The day for the user.
    pub(crate) day: Date,
    /// The hour of that day.
    pub(crate) hour: i8,
    /// The day by which prices go.
    pub(crate) utc: Date,
}

/// Tells days, one moment after the other.
#[derive(Debug)]
pub(crate) struct Calendar {
    zone: TimeZone,
    last: Option<(i64, Slot)>,
}

impl Calendar {
    pub(crate) fn new(zone: TimeZone) -> Self {
        Self { zone, last: None }
    }

    /// Returns the day and hour of a moment, in milliseconds.
    pub(crate) fn slot(&mut self, millis: i64) -> Option<Slot> {
        let quarter = millis.div_euclid(QUARTER);
        if let Some((known, slot)) = self.last
            && known == quarter
        {
            return Some(slot);
        }
        let moment = timestamp(millis)?;
        let here = moment.to_zoned(self.zone.clone());
        let utc = moment.to_zoned(TimeZone::UTC).date();
        let slot = Slot { day: here.date(), hour: here.hour(), utc };
        self.last = Some((quarter, slot));
        Some(slot)
    }

    /// Returns the day of a moment.
    pub(crate) fn today(&self, now: Timestamp) -> Date {
        now.to_zoned(self.zone.clone()).date()
    }
}

/// Returns the first day of a day's week.
pub(crate) fn monday(day: Date) -> Date {
    let back = i64::from(day.weekday().to_monday_zero_offset());
    day.checked_sub(back.days()).unwrap_or(day)
}

/// Names a week: `2026-W36`.
pub(crate) fn week(day: Date) -> String {
    let week = day.iso_week_date();
    format!("{:04}-W{:02}", week.year(), week.week())
}

/// Names a month: `2026-09`.
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
    fn weeks_begin_on_monday_also_around_new_year() {
        let day = |text: &str| text.parse::<Date>().unwrap();
        assert_eq!(monday(day("2026-01-01")), day("2025-12-29"));
        assert_eq!(week(day("2026-01-01")), "2026-W01");
        assert_eq!(week(day("2024-12-30")), "2025-W01");
        assert_eq!(month(day("2026-09-02")), "2026-09");
    }
}
