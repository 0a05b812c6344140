//! What was spent today and this month, what may be spent, and when that is reached if agents go on like this.

use jiff::ToSpan as _;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::{Engine, Error};

const MINUTE: f64 = 60_000.0;

/// What was spent until a moment, over all projects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spending {
    /// When it was added up, in milliseconds.
    at: i64,
    today: Period,
    month: Period,
    /// What sessions that run have spent since.
    since: f64,
}

/// What was spent in a day or a month.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Period {
    spent: f64,
    limit: Option<f64>,
    is_lower_bound: bool,
    /// When it is over, in milliseconds.
    end: i64,
}

/// What a day or a month comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// What was spent so far, in dollars.
    pub spent_usd: f64,
    /// Whether it was more, perhaps.
    pub is_lower_bound: bool,
    /// What may be spent, if the user has said so.
    pub limit_usd: Option<f64>,
    /// What will have been spent at the end if agents go on like this.
    pub projected_usd: f64,
    /// When the limit is reached if they do, in milliseconds; `None` if it is not before the end.
    pub reached: Option<i64>,
}

impl Engine {
    /// Adds up what was spent today and this month, over all projects.
    ///
    /// # Errors
    /// If a limit or a price of the user's is not understood.
    pub fn spending(&self, zone: &TimeZone) -> Result<Spending, Error> {
        let now = self.clock().now();
        let today = now.to_zoned(zone.clone()).date();
        let start_of = |date: Date| {
            let midnight = date.at(0, 0, 0, 0).to_zoned(zone.clone());
            midnight.map_or(i64::MAX, |midnight| midnight.timestamp().as_millisecond())
        };
        let (daily, monthly) = (self.config.budget.daily, self.config.budget.monthly);
        let period = |first: Date, end: Date, limit: Option<f64>| -> Result<Period, Error> {
            let figures = self.spent_since(first, zone)?;
            let spent = figures.cost_usd.map_or(0.0, recount_prices::Money::dollars);
            let is_lower_bound = figures.cost_is_lower_bound;
            Ok(Period { spent, limit, is_lower_bound, end: start_of(end) })
        };
        let first = today.first_of_month();
        Ok(Spending {
            at: now.as_millisecond(),
            today: period(today, today.saturating_add(1.day()), daily)?,
            month: period(first, first.saturating_add(1.month()), monthly)?,
            since: 0.0,
        })
    }
}

impl Spending {
    /// Returns when it was added up, in milliseconds.
    pub(crate) fn at(&self) -> i64 {
        self.at
    }

    /// Adds what was spent since, in dollars.
    pub(crate) fn add(&mut self, dollars: f64) {
        self.since += dollars;
    }

    /// Whether the day is over at `now`.
    pub(crate) fn is_over(&self, now: i64) -> bool {
        now >= self.today.end
    }

    /// Returns today's projection at a rate in dollars a minute.
    pub fn today(&self, per_minute: f64, now: i64) -> Projection {
        self.project(self.today, per_minute, now)
    }

    /// Returns this month's projection at a rate in dollars a minute.
    pub fn month(&self, per_minute: f64, now: i64) -> Projection {
        self.project(self.month, per_minute, now)
    }

    #[expect(clippy::cast_precision_loss, reason = "minutes need no exact digits")]
    #[expect(clippy::cast_possible_truncation, reason = "a moment in this month")]
    fn project(&self, period: Period, per_minute: f64, now: i64) -> Projection {
        let spent_usd = period.spent + self.since;
        let left = (period.end - now).max(0) as f64 / MINUTE;
        let projected_usd = spent_usd + left * per_minute;
        let reached = period.limit.and_then(|limit| {
            if spent_usd >= limit {
                return Some(now);
            }
            (projected_usd >= limit && per_minute > 0.0)
                .then(|| now + ((limit - spent_usd) / per_minute * MINUTE) as i64)
        });
        let Period { limit, is_lower_bound, .. } = period;
        Projection { spent_usd, is_lower_bound, limit_usd: limit, projected_usd, reached }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn spending(spent: f64, limit: Option<f64>) -> Spending {
        let period = Period { spent, limit, is_lower_bound: false, end: 10 * HOUR };
        Spending { at: 8 * HOUR, today: period, month: period, since: 0.0 }
    }

    #[test]
    fn a_rate_says_when_the_limit_is_reached() {
        let close = |one: f64, other: f64| (one - other).abs() < 1e-6;
        let now = 8 * HOUR;
        let today = spending(4.0, Some(5.0)).today(0.05, now);
        assert!(close(today.projected_usd, 10.0), "{today:?}");
        assert_eq!(today.reached, Some(now + HOUR / 3));
        let slow = spending(4.0, Some(5.0)).today(0.001, now);
        assert_eq!((slow.reached, close(slow.projected_usd, 4.12)), (None, true));
        assert_eq!(spending(6.0, Some(5.0)).today(0.0, now).reached, Some(now), "it is passed");
        let free = spending(4.0, None).month(0.05, now);
        assert_eq!((free.reached, free.limit_usd), (None, None));
        // Half an hour after it was added up.
        let mut later = spending(4.0, Some(5.0));
        later.add(0.1);
        later.add(0.2);
        let later = later.today(0.01, now + HOUR / 2);
        assert!(close(later.spent_usd, 4.3) && close(later.projected_usd, 5.2), "{later:?}");
        // A clock that was set back, and one that is past the end.
        assert!(close(spending(4.0, None).today(0.05, now - HOUR).spent_usd, 4.0));
        assert!(close(spending(4.0, None).today(0.05, 20 * HOUR).projected_usd, 4.0));
    }
}
