//! One screen: today, this week, this month, and the top projects and models.

use jiff::ToSpan as _;
use jiff::civil::Date;
use serde::Serialize;

use super::calendar::{Calendar, monday};
use super::figures::Sum;
use super::totals::{Key, row};
use super::{By, StatsReport, StatsRequest, StatsRow, UsageFigures, count, sort};
use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error};

/// The number of days that are shown individually.
const DAYS: i64 = 30;

/// One screen: today, this week, this month, and the top projects and models.
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    /// Today.
    pub today: UsageFigures,
    /// This week, from Monday on.
    pub week: UsageFigures,
    /// This month.
    pub month: UsageFigures,
    /// The last days, one by one, including those without usage.
    #[serde(skip)]
    pub recent: Vec<StatsRow>,
    /// Projects, most expensive first.
    pub projects: Vec<StatsRow>,
    /// Models, most expensive first.
    pub models: Vec<StatsRow>,
    /// Everything selected, by day.
    #[serde(flatten)]
    pub report: StatsReport,
}

impl Engine {
    /// Computes the overview.
    ///
    /// # Errors
    /// If a filter or a price of the user is invalid.
    pub fn overview(
        &self,
        asked: &StatsRequest,
        progress: &dyn Progress,
    ) -> Result<Overview, Error> {
        let prices = self.prices()?;
        let logs = self.usage_logs(&asked.sessions, progress)?;
        let mut counted = count(&logs, &prices, asked, &[By::Day, By::Project, By::Model]);
        let mut all_totals = std::mem::take(&mut counted.all_totals).into_iter();
        let days = all_totals.next().unwrap_or_default();
        let naming = counted.naming(&logs);
        let mut rows = |by: By| {
            let sums = all_totals.next().unwrap_or_default();
            let mut rows: Vec<StatsRow> =
                sums.into_iter().map(|(key, sum)| row(by, key, sum, &naming)).collect();
            sort(&mut rows, by);
            rows
        };
        let today = Calendar::new(asked.zone.clone()).today(self.clock.now());
        let since = |first: Date| {
            let mut sum = Sum::default();
            for (key, one) in &days {
                if matches!(key, Key::Day(day) if *day >= first && *day <= today) {
                    sum.add(one);
                }
            }
            sum.figures()
        };
        let one = |back: i64| {
            let day = today.saturating_sub(back.days());
            let sum =
                days.iter().find(|(key, _)| *key == Key::Day(day)).map(|(_, sum)| sum.clone());
            row(By::Day, Key::Day(day), sum.unwrap_or_default(), &naming)
        };
        let overview = Overview {
            today: since(today),
            week: since(monday(today)),
            month: since(today.first_of_month()),
            recent: (0..DAYS).rev().map(one).collect(),
            projects: rows(By::Project),
            models: rows(By::Model),
            report: StatsReport {
                by: By::Day,
                total: counted.total.clone(),
                basis: counted.basis.clone(),
                rows: days.into_iter().map(|(key, sum)| row(By::Day, key, sum, &naming)).collect(),
            },
        };
        self.set_aside(logs);
        Ok(overview)
    }
}
