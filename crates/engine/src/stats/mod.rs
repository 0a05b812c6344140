//! Usage and cost: each request counted once, with the calculation.
//!
//! `logs` opens the usage logs, `walk` iterates over them and skips duplicates, `totals` sums up. Every answer is one
//! serializable value: [`StatsReport`], [`Overview`], [`Explained`], and so on.

pub(crate) mod pricing;
pub(crate) mod usage;

mod budget;
mod by_project;
mod calendar;
mod compare;
mod content;
pub(crate) mod copies;
mod explain;
mod figures;
mod logs;
mod overview;
mod page;
mod spans;
mod totals;
mod walk;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use recount_model::{Problem, SessionFacts, SessionId, Tokens};
use recount_prices::Prices;
use serde::Serialize;

use crate::sessions::list::ListQuery;
use crate::sessions::scope::ListScope;
use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error};
use logs::UsageLogs;
use totals::{Count, Key, Naming, row};
use walk::{Names, UsageWalk, Window};

pub use budget::{Budget, Limit, Now};
pub use compare::{CompareReason, Compared, ComparedDay};
pub use content::{ContentPart, ContentStats, FileUse, ToolError, ToolOutput};
pub use explain::{Explained, ExplainedLine};
pub use figures::{Missing, MissingReason, UsageFigures};
pub use overview::Overview;
pub use page::{Paged, WordMissing};
pub use recount_prices::{
    Above, Money, Period, PriceEntry, PriceOrigin, Prices as PriceTable, Quote, Tier, Unit, Units,
};
pub use walk::Duplicates;

/// From this number of sessions on, a second thread pays off.
const FEW: usize = 32;

/// What to count, and how.
#[derive(Clone, Debug)]
pub struct StatsRequest {
    /// The sessions. The times also apply to requests.
    pub sessions: ListQuery,
    /// The time zone in which days begin.
    pub zone: TimeZone,
    /// Messages further apart than this have a pause between them.
    pub gap: SignedDuration,
}

/// The dimension to group by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Days.
    Day,
    /// Weeks, from Monday on.
    Week,
    /// Months.
    Month,
    /// Hours of the day.
    Hour,
    /// Projects.
    Project,
    /// Models.
    Model,
    /// Sessions, with their sub-agents.
    Session,
    /// Agents that wrote the sessions.
    Source,
    /// Tools.
    Tool,
    /// Sub-agents, compared with sessions of humans.
    Agent,
}

impl By {
    /// Whether every message is in one of its rows.
    pub(crate) fn is_whole(self) -> bool {
        !matches!(self, Self::Model | Self::Tool)
    }

    /// Whether rows are consecutive periods.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month | Self::Hour)
    }
}

/// A report of figures by row.
#[derive(Clone, Debug, Serialize)]
pub struct StatsReport {
    /// The dimension.
    pub by: By,
    /// The rows: in order of time, else largest first.
    pub rows: Vec<StatsRow>,
    /// The totals.
    pub total: UsageFigures,
    /// How it was counted.
    #[serde(flatten)]
    pub basis: StatsBasis,
}

/// How the figures were counted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StatsBasis {
    /// The time zone in which days begin.
    pub time_zone: String,
    /// The longest pause that counts as work, in seconds.
    pub gap_seconds: i64,
    /// Only what was asked since this time.
    pub since: Option<Timestamp>,
    /// Only what was asked until this time.
    pub until: Option<Timestamp>,
    /// Models without a known price.
    pub unpriced_models: Vec<UnpricedModel>,
    /// Records that exist more than once.
    #[serde(rename = "doubles")]
    pub duplicates: Duplicates,
    /// The problems, up to a limit.
    #[serde(skip)]
    pub problems: Vec<Problem>,
    /// The number of problems.
    #[serde(skip)]
    pub problem_count: u64,
    /// Of these, records of a kind we do not know.
    #[serde(skip)]
    pub not_understood: u64,
    /// The project that the query is limited to.
    #[serde(skip)]
    pub scope: Option<ListScope>,
}

/// A model without a known price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnpricedModel {
    /// The model; `null` if no name is recorded.
    pub model: Option<String>,
    /// Requests to it.
    pub requests: u64,
    /// Their tokens.
    pub tokens: Tokens,
}

/// One row.
#[derive(Clone, Debug, Serialize)]
pub struct StatsRow {
    /// Its key.
    pub key: String,
    /// Its display name, if that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The session that ran it, for a sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// Its figures.
    #[serde(flatten)]
    pub figures: UsageFigures,
}

impl Engine {
    /// Counts usage.
    ///
    /// # Errors
    /// If a filter or a price of the user is invalid.
    pub fn stats(
        &self,
        asked: &StatsRequest,
        by: By,
        progress: &dyn Progress,
    ) -> Result<StatsReport, Error> {
        let prices = self.prices()?;
        let logs = self.usage_logs(&asked.sessions, progress)?;
        let mut counted = count(&logs, &prices, asked, &[by]);
        let all_totals = std::mem::take(&mut counted.all_totals);
        let naming = counted.naming(&logs);
        let mut rows = Vec::new();
        for (key, sum) in all_totals.into_iter().flatten() {
            rows.push(row(by, key, sum, &naming));
        }
        sort(&mut rows, by);
        let report = StatsReport { by, rows, total: counted.total, basis: counted.basis };
        self.set_aside(logs);
        Ok(report)
    }

    /// Returns all prices: those of the user, and the embedded table.
    ///
    /// # Errors
    /// If those of the user are invalid.
    pub fn prices(&self) -> Result<Prices, Error> {
        Prices::new(&self.config.prices).map_err(|error| Error::Config {
            path: self.folders.config.clone().unwrap_or_default(),
            message: error.to_string(),
        })
    }
}

/// The result of iterating over the usage logs.
#[derive(Debug)]
struct Counted {
    all_totals: Vec<Vec<(Key, figures::Sum)>>,
    total: UsageFigures,
    basis: StatsBasis,
    models: Names,
    tools: Names,
    sources: Names,
    examples: Vec<usize>,
}

impl Counted {
    fn naming<'a>(&'a self, logs: &'a UsageLogs) -> Naming<'a> {
        Naming {
            logs,
            models: &self.models,
            tools: &self.tools,
            sources: &self.sources,
            examples: &self.examples,
        }
    }
}

impl StatsRequest {
    fn window(&self) -> Window {
        let ListQuery { since, until, model, .. } = &self.sessions;
        Window { since: *since, until: *until, model: model.clone() }
    }
}

fn count(logs: &UsageLogs, prices: &Prices, asked: &StatsRequest, by: &[By]) -> Counted {
    let window = asked.window();
    let gap = i64::try_from(asked.gap.as_millis()).unwrap_or(i64::MAX);
    let part = |sessions: &[usize]| {
        let mut walk = UsageWalk::new(prices, &window, asked.zone.clone());
        let mut count = Count::new(logs, gap, by);
        walk.visit(logs, sessions, &mut count);
        (walk, count)
    };
    let (walk, count) = if logs.sessions.len() > FEW {
        let halves = logs.halves();
        let ((mut walk, mut count), second) = std::thread::scope(|scope| {
            let second = scope.spawn(|| part(&halves.second));
            (part(&halves.first), second.join())
        });
        match second {
            Ok((other, others)) if !(halves.may_cross && walk.crosses(&other)) => {
                let (models, tools) = walk.join(&other);
                count.join(others, &models, &tools);
            }
            // Messages in sessions of both halves count for the one that began first.
            _ => walk.visit(logs, &halves.second, &mut count),
        }
        (walk, count)
    } else {
        part(logs.order())
    };
    let basis = basis(logs, asked, &walk, &count);
    Counted {
        basis,
        total: count.total(),
        all_totals: count.all_totals.into_iter().map(totals::UsageTotals::into_sums).collect(),
        models: walk.models,
        tools: walk.tools,
        sources: count.source_names,
        examples: count.examples,
    }
}

fn basis(
    logs: &UsageLogs,
    asked: &StatsRequest,
    walk: &UsageWalk<'_>,
    count: &Count,
) -> StatsBasis {
    let sum = |of: fn(&SessionFacts) -> u64| logs.asked().map(|facts| of(facts)).sum::<u64>();
    let kept = logs.asked().flat_map(|session| session.problem_list.iter().cloned());
    let unpriced = count.unpriced.iter().map(|(model, (requests, tokens))| UnpricedModel {
        model: model.map(|model| walk.models.name(model).to_owned()),
        requests: *requests,
        tokens: *tokens,
    });
    let mut unpriced_models: Vec<UnpricedModel> = unpriced.collect();
    if unpriced_models.len() > 1 {
        // In the order in which they were first used, however the sessions were split.
        let used = logs.models();
        unpriced_models.sort_by_key(|one| one.model.as_ref().map(|model| used.number_of(model)));
    }
    StatsBasis {
        time_zone: zone_name(&asked.zone),
        gap_seconds: asked.gap.as_secs(),
        since: asked.sessions.since,
        until: asked.sessions.until,
        unpriced_models,
        duplicates: walk.duplicates,
        problem_count: logs.problems.len() as u64 + sum(|session| session.problems),
        not_understood: sum(|session| session.not_understood),
        problems: logs.problems.iter().cloned().chain(kept).collect(),
        scope: logs.scope.clone(),
    }
}

fn zone_name(zone: &TimeZone) -> String {
    zone.iana_name().unwrap_or("local").to_owned()
}

/// Sorts by time if rows are periods; else most expensive first.
fn sort(rows: &mut [StatsRow], by: By) {
    use std::cmp::Reverse;
    if by.is_time() {
        return;
    }
    rows.sort_by_cached_key(|row| {
        let figures = &row.figures;
        let most = if by == By::Tool { figures.tool_calls } else { figures.tokens.total };
        (Reverse(figures.cost_usd), Reverse(most), row.key.clone())
    });
}
