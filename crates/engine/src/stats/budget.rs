//! Budgets, and the status line.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use recount_prices::Money;
use serde::Serialize;

use super::calendar::Calendar;
use super::walk::{Step, UsageWalk, Visitor};
use super::{By, StatsRequest, UsageFigures, count};
use crate::sessions::list::ListQuery;
use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error};

/// Spending compared with the budget, over all projects.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Budget {
    /// Today, if a limit is set.
    pub daily: Option<Limit>,
    /// This month, if a limit is set.
    pub monthly: Option<Limit>,
}

/// A limit, and the spending.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// The limit.
    pub limit_usd: Money,
    /// The spending, as far as prices are known.
    pub spent_usd: Money,
    /// Whether it may have been more.
    pub is_lower_bound: bool,
}

impl Limit {
    /// Whether the limit is exceeded.
    pub fn is_over(&self) -> bool {
        self.spent_usd > self.limit_usd
    }
}

/// The content of the status line.
#[derive(Clone, Debug, Serialize)]
pub struct Now {
    /// Today, over all projects.
    pub today: UsageFigures,
    /// The prompt tokens of the last request of the live session.
    pub context_tokens: Option<u64>,
    /// The model that answered it.
    pub context_model: Option<String>,
}

impl Engine {
    /// Compares spending with the budget.
    ///
    /// # Errors
    /// If a limit or a price of the user is invalid.
    pub fn budget(&self, zone: &TimeZone, progress: &dyn Progress) -> Result<Budget, Error> {
        let limits = &self.config.budget;
        let (daily, monthly) = (self.limit(limits.daily)?, self.limit(limits.monthly)?);
        let today = Calendar::new(zone.clone()).today(self.clock.now());
        let spent = |first: Date, limit: Option<Money>| -> Result<Option<Limit>, Error> {
            let Some(limit_usd) = limit else { return Ok(None) };
            let figures = self.since(first, zone, progress)?;
            Ok(Some(Limit {
                limit_usd,
                spent_usd: figures.cost_usd.unwrap_or_default(),
                is_lower_bound: figures.cost_is_lower_bound,
            }))
        };
        Ok(Budget { daily: spent(today, daily)?, monthly: spent(today.first_of_month(), monthly)? })
    }

    fn limit(&self, dollars: Option<f64>) -> Result<Option<Money>, Error> {
        let Some(dollars) = dollars else { return Ok(None) };
        Money::from_dollars(&dollars.to_string()).map(Some).ok_or_else(|| Error::Config {
            path: self.folders.config.clone().unwrap_or_default(),
            message: format!("budget: `{dollars}` is not a number of dollars"),
        })
    }

    /// Adds up what was spent from a day on, over all projects.
    pub(crate) fn spent_since(&self, first: Date, zone: &TimeZone) -> Result<UsageFigures, Error> {
        self.since(first, zone, &())
    }

    fn since(
        &self,
        first: Date,
        zone: &TimeZone,
        progress: &dyn Progress,
    ) -> Result<UsageFigures, Error> {
        let asked = from(first, zone);
        let (prices, logs) = (self.prices()?, self.usage_logs(&asked.sessions, progress)?);
        Ok(count(&logs, &prices, &asked, &[]).total)
    }

    /// Returns the content of the status line: today, and how full the context is.
    ///
    /// # Errors
    /// If a price of the user is invalid.
    pub fn now(&self, zone: &TimeZone, progress: &dyn Progress) -> Result<Now, Error> {
        let today = Calendar::new(zone.clone()).today(self.clock.now());
        let asked = from(today, zone);
        let (prices, mut logs) = (self.prices()?, self.usage_logs(&asked.sessions, progress)?);
        let figures = count(&logs, &prices, &asked, &[]).total;
        let live = self.live(&logs.sessions);
        let last = live.iter().max_by_key(|at| logs.sessions.get(**at).and_then(|s| s.updated));
        let mut latest = Latest::default();
        let mut context_model = None;
        if let Some(session) = last.and_then(|at| logs.sessions.get(*at)).cloned() {
            logs.ask_only(&session);
            let window = super::walk::Window::default();
            let mut walk = UsageWalk::new(&prices, &window, zone.clone());
            walk.go(&logs, &mut latest);
            context_model = latest.model.map(|model| walk.models.name(model).to_owned());
        }
        Ok(Now { today: figures, context_tokens: latest.input, context_model })
    }
}

/// Returns a request for all projects, from a day on.
fn from(first: Date, zone: &TimeZone) -> StatsRequest {
    let start = first.at(0, 0, 0, 0).to_zoned(zone.clone()).ok();
    let since: Option<Timestamp> = start.map(|start| start.timestamp());
    let sessions = ListQuery { since, ..ListQuery::default() };
    StatsRequest { sessions, zone: zone.clone(), gap: SignedDuration::from_mins(30) }
}

/// Tracks the last request of a main session.
#[derive(Debug, Default)]
struct Latest {
    time: Option<i64>,
    input: Option<u64>,
    model: Option<u32>,
}

impl Visitor for Latest {
    fn step(&mut self, step: &Step<'_>) {
        let is_main = step.place.main == step.place.session;
        if let Some(asked) = step.asked.filter(|_| is_main && step.time >= self.time) {
            self.time = step.time;
            self.input = Some(asked.tokens.input);
            self.model = asked.model;
        }
    }
}

/// The display order of limits.
impl Budget {
    /// Returns the limits that are set, with their periods.
    pub fn limits(&self) -> impl Iterator<Item = (By, &Limit)> {
        let daily = self.daily.iter().map(|limit| (By::Day, limit));
        daily.chain(self.monthly.iter().map(|limit| (By::Month, limit)))
    }
}
