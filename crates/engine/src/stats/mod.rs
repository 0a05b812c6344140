//! What was used, and what it cost: each request counted once, with the working shown.
//!
//! `books` opens the ledgers, `walk` goes through them and leaves out what was met before, `tally` adds up. Everything that is
//! shown is one serialisable value per question: [`Report`], [`Overview`], [`Explained`], and so on.

pub(crate) mod ledger;
pub(crate) mod pricing;

mod books;
mod budget;
mod calendar;
mod compare;
mod content;
mod explain;
mod figures;
mod overview;
mod page;
mod spans;
mod tally;
mod walk;

use std::ops::Range;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use recount_model::{Problem, SessionFacts, SessionId, Tokens};
use recount_prices::Prices;
use serde::Serialize;

use crate::sessions::list::Query;
use crate::snapshot::survey::Progress;
use crate::{Engine, Error};
use books::Books;
use tally::{Count, Key, Naming, row};
use walk::{Names, Walk, Window};

pub use budget::{Budget, Limit, Now};
pub use compare::{Compared, ComparedDay};
pub use content::{Content, FileUse, Part, ToolError, ToolOutput};
pub use explain::{Explained, Line};
pub use figures::{Figures, Missing};
pub use overview::Overview;
pub use page::Paged;
pub use recount_prices::{
    Above, Entry as PriceEntry, Money, Origin, Period, Prices as PriceTable, Quote, Tier, Unit,
    Units,
};
pub use walk::Doubles;

/// So many sessions are counted before a second thread is worth it.
const FEW: usize = 32;

/// What is counted, and how.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Which sessions. Its times are those of requests, too.
    pub sessions: Query,
    /// The time zone in which days begin.
    pub zone: TimeZone,
    /// Messages further apart than this have a pause between them.
    pub gap: SignedDuration,
}

/// What stands side by side.
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
    /// Sub-agents, beside what humans began.
    Agent,
}

impl By {
    /// Whether every message is in one of its rows.
    pub(crate) fn is_whole(self) -> bool {
        !matches!(self, Self::Model | Self::Tool)
    }

    /// Whether rows follow each other in time.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month | Self::Hour)
    }
}

/// Figures side by side.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What stands side by side.
    pub by: By,
    /// The rows: in order of time, else the largest first.
    pub rows: Vec<Row>,
    /// All of them together.
    pub total: Figures,
    /// How it was counted.
    #[serde(flatten)]
    pub basis: Basis,
}

/// How something was counted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Basis {
    /// The time zone in which days begin.
    pub time_zone: String,
    /// The longest pause that counts as work, in seconds.
    pub gap_seconds: i64,
    /// Only what was asked from this moment on.
    pub since: Option<Timestamp>,
    /// Only what was asked up to this moment.
    pub until: Option<Timestamp>,
    /// Models without a known price.
    pub unpriced_models: Vec<Unpriced>,
    /// What is on record more than once.
    pub doubles: Doubles,
    /// What could not be looked at, as much as was kept.
    #[serde(skip)]
    pub problems: Vec<Problem>,
    /// How many problems there are.
    #[serde(skip)]
    pub problem_count: u64,
    /// Of these, records of a kind we do not know.
    #[serde(skip)]
    pub not_understood: u64,
}

/// A model without a known price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unpriced {
    /// The model; `null` when no name is on record.
    pub model: Option<String>,
    /// Requests to it.
    pub requests: u64,
    /// What they used.
    pub tokens: Tokens,
}

/// One row.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What it stands for.
    pub key: String,
    /// What people call it, where that is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The session that ran it, for a sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
}

impl Engine {
    /// Counts what was used.
    ///
    /// # Errors
    /// If a filter is not understood, or a price of the user's.
    pub fn stats(&self, asked: &Asked, by: By, progress: &dyn Progress) -> Result<Report, Error> {
        let prices = self.prices()?;
        let books = self.books(&asked.sessions, progress)?;
        let mut counted = count(&books, &prices, asked, &[by]);
        let tallies = std::mem::take(&mut counted.tallies);
        let naming = counted.naming(&books);
        let mut rows = Vec::new();
        for (key, sum) in tallies.into_iter().flatten() {
            rows.push(row(by, key, sum, &naming));
        }
        sort(&mut rows, by);
        let report = Report { by, rows, total: counted.total, basis: counted.basis };
        self.set_aside(books);
        Ok(report)
    }

    /// Returns all prices: what the user has set, and the table that comes with us.
    ///
    /// # Errors
    /// If what the user has set is not understood.
    pub fn prices(&self) -> Result<Prices, Error> {
        Prices::new(&self.config.prices).map_err(|error| Error::Config {
            path: self.folders.config.clone().unwrap_or_default(),
            message: error.to_string(),
        })
    }
}

/// What a walk through the books came to.
#[derive(Debug)]
struct Counted {
    tallies: Vec<Vec<(Key, figures::Sum)>>,
    total: Figures,
    basis: Basis,
    models: Names,
    tools: Names,
    sources: Names,
    examples: Vec<usize>,
}

impl Counted {
    fn naming<'a>(&'a self, books: &'a Books) -> Naming<'a> {
        Naming {
            books,
            models: &self.models,
            tools: &self.tools,
            sources: &self.sources,
            examples: &self.examples,
        }
    }
}

impl Asked {
    fn window(&self) -> Window {
        let Query { since, until, model, .. } = &self.sessions;
        Window { since: *since, until: *until, model: model.clone() }
    }
}

fn count(books: &Books, prices: &Prices, asked: &Asked, by: &[By]) -> Counted {
    let window = asked.window();
    let gap = i64::try_from(asked.gap.as_millis()).unwrap_or(i64::MAX);
    let part = |part: Range<usize>| {
        let mut walk = Walk::new(prices, &window, asked.zone.clone());
        let mut count = Count::new(books, gap, by);
        walk.go_through(books, part, &mut count);
        (walk, count)
    };
    let (middle, all) = (books.middle(), books.sessions.len());
    let (first, second) = std::thread::scope(|scope| {
        let second = (all > FEW).then(|| scope.spawn(|| part(middle..all)));
        let first = part(0..if second.is_some() { middle } else { all });
        (first, second.map(std::thread::ScopedJoinHandle::join))
    });
    let (walk, count) = match second {
        None => first,
        Some(Ok((walk, count))) if !first.0.crosses(&walk) => {
            let (mut own_walk, mut own) = first;
            let (models, tools) = own_walk.join(&walk);
            own.join(count, &models, &tools);
            (own_walk, own)
        }
        // What stands in sessions of both halves counts for the one that began first.
        Some(_) => part(0..all),
    };
    let basis = basis(books, asked, &walk, &count);
    Counted {
        basis,
        total: count.total(),
        tallies: count.tallies.into_iter().map(tally::Tally::into_sums).collect(),
        models: walk.models,
        tools: walk.tools,
        sources: count.source_names,
        examples: count.examples,
    }
}

fn basis(books: &Books, asked: &Asked, walk: &Walk<'_>, count: &Count) -> Basis {
    let sum = |of: fn(&SessionFacts) -> u64| books.asked().map(|facts| of(facts)).sum::<u64>();
    let kept = books.asked().flat_map(|session| session.problem_list.iter().cloned());
    let unpriced = count.unpriced.iter().map(|(model, (requests, tokens))| Unpriced {
        model: model.map(|model| walk.models.name(model).to_owned()),
        requests: *requests,
        tokens: *tokens,
    });
    Basis {
        time_zone: zone_name(&asked.zone),
        gap_seconds: asked.gap.as_secs(),
        since: asked.sessions.since,
        until: asked.sessions.until,
        unpriced_models: unpriced.collect(),
        doubles: walk.doubles,
        problem_count: books.problems.len() as u64 + sum(|session| session.problems),
        not_understood: sum(|session| session.not_understood),
        problems: books.problems.iter().cloned().chain(kept).collect(),
    }
}

fn zone_name(zone: &TimeZone) -> String {
    zone.iana_name().unwrap_or("local").to_owned()
}

/// Time goes on; of all else the dearest comes first.
fn sort(rows: &mut [Row], by: By) {
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
