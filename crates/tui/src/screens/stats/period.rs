//! The period that is counted: everything, a month or a year.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use recount_engine::stats::By;

/// The period that is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Period {
    /// How many months or years ago; `None` is everything.
    back: Option<u16>,
}

/// Whether a dimension is shown for a year; others for a month.
pub(super) fn is_year(by: By) -> bool {
    matches!(by, By::Week | By::Month)
}

impl Period {
    /// Returns an earlier or later one. Behind the current one is everything.
    pub(super) fn step(self, is_earlier: bool) -> Self {
        let back = match (self.back, is_earlier) {
            (None, true) => Some(0),
            (Some(back), true) => Some(back.saturating_add(1).min(1200)),
            (None | Some(0), false) => None,
            (Some(back), false) => Some(back - 1),
        };
        Self { back }
    }

    /// Returns its first and last day; `None` if it is everything.
    pub(super) fn days(self, by: By, now: Timestamp, zone: &TimeZone) -> Option<(Date, Date)> {
        let back = i64::from(self.back?);
        let today = now.to_zoned(zone.clone()).date();
        let (first, next) = if is_year(by) {
            let first = today.first_of_year().saturating_sub(back.years());
            (first, first.saturating_add(1.year()))
        } else {
            let first = today.first_of_month().saturating_sub(back.months());
            (first, first.saturating_add(1.month()))
        };
        Some((first, next.yesterday().unwrap_or(next)))
    }

    /// Returns its first and last moment.
    pub(super) fn range(
        self,
        by: By,
        now: Timestamp,
        zone: &TimeZone,
    ) -> (Option<Timestamp>, Option<Timestamp>) {
        let Some((first, last)) = self.days(by, now, zone) else { return (None, None) };
        let start = |date: Date| date.at(0, 0, 0, 0).to_zoned(zone.clone()).ok();
        let next = start(last.saturating_add(1.day())).map(|next| next.timestamp());
        let end = next.and_then(|next| next.checked_sub(SignedDuration::from_millis(1)).ok());
        (start(first).map(|first| first.timestamp()), end)
    }

    /// Returns the part of a query that finds messages of it.
    pub(super) fn filter(self, by: By, now: Timestamp, zone: &TimeZone) -> Option<String> {
        let (first, last) = self.days(by, now, zone)?;
        Some(format!("after:{first} before:{}", last.saturating_add(1.day())))
    }

    /// Returns its name.
    pub(super) fn name(self, by: By, now: Timestamp, zone: &TimeZone) -> String {
        match self.days(by, now, zone) {
            None => "all".to_owned(),
            Some((first, _)) if is_year(by) => first.strftime("%Y").to_string(),
            Some((first, _)) => first.strftime("%B %Y").to_string(),
        }
    }
}

/// Returns the part of a query that finds messages of a row: a day, a week or a month.
pub(super) fn filter(by: By, key: &str) -> Option<String> {
    let first: Date = match by {
        By::Month => format!("{key}-01").parse().ok()?,
        _ => key.parse().ok()?,
    };
    let next = match by {
        By::Day => first.saturating_add(1.day()),
        By::Week => first.saturating_add(7.days()),
        By::Month => first.saturating_add(1.month()),
        _ => return None,
    };
    Some(format!("after:{first} before:{next}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_calendar_months_and_years() {
        let now: Timestamp = "2026-11-15T23:30:00Z".parse().unwrap();
        let name = |period: Period, by| period.name(by, now, &TimeZone::UTC);
        let this = Period::default().step(true);
        assert_eq!(name(Period::default(), By::Day), "all");
        assert_eq!(name(this, By::Day), "November 2026");
        assert_eq!(name(this.step(true), By::Model), "October 2026");
        assert_eq!(name(this.step(true), By::Week), "2025");
        assert_eq!(this.step(false), Period::default());
        assert_eq!(Period::default().step(false), Period::default());
        let filter_of = |period: Period| period.filter(By::Tool, now, &TimeZone::UTC).unwrap();
        assert_eq!(filter_of(this), "after:2026-11-01 before:2026-12-01");
        assert_eq!(filter(By::Week, "2026-11-09").unwrap(), "after:2026-11-09 before:2026-11-16");
        assert_eq!(filter(By::Month, "2026-12").unwrap(), "after:2026-12-01 before:2027-01-01");
        let (since, until) = this.range(By::Day, now, &TimeZone::UTC);
        assert_eq!(since.unwrap().to_string(), "2026-11-01T00:00:00Z");
        assert_eq!(until.unwrap().to_string(), "2026-11-30T23:59:59.999Z");
    }
}
