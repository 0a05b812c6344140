//! Compares our count with that of another tool, day by day, with explanations.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::civil::Date;
use recount_formats::bytes::read_small;
use recount_model::{FileFacts, FileRole, SessionFacts, Tokens};
use recount_prices::Money;
use serde::{Deserialize, Serialize};

use super::StatsRequest;
use super::calendar::Slot;
use super::logs::{Place, UsageLogs};
use super::walk::{Step, UsageWalk, Visitor};
use crate::snapshot::disk_scan::Progress;
use crate::stats::usage::Head;
use crate::{Engine, Error};

/// A day far in the future: its price is the latest one.
const LATEST: Date = Date::constant(9999, 12, 31);

/// Two counts side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Day by day.
    pub days: Vec<ComparedDay>,
    /// All days together.
    pub total: ComparedDay,
}

/// One day of two counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ComparedDay {
    /// The day.
    pub day: String,
    /// Tokens by our count.
    pub tokens: u64,
    /// Tokens by theirs.
    pub their_tokens: u64,
    /// Tokens of requests in several files or sessions, which we counted once.
    pub doubled_tokens: u64,
    /// Tokens of sessions in compressed files, which they do not read.
    pub compressed_tokens: u64,
    /// The cost by our count.
    pub cost_usd: Money,
    /// The cost by theirs.
    pub their_cost_usd: f64,
    /// The cost of our count at the latest prices.
    pub cost_at_latest_prices_usd: Money,
    /// Requests without a known price.
    pub unpriced: u64,
    /// Why they differ; empty if they do not.
    #[serde(skip)]
    pub why: Vec<CompareReason>,
}

/// A reason why two counts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareReason {
    /// The day is not in their report.
    NotReported,
    /// They do not read compressed files, with this number of tokens.
    Unread(u64),
    /// They count tokens of copies again.
    CountedAgain {
        /// Number of tokens that they count again.
        tokens: u64,
        /// Number of tokens of all copies.
        of: u64,
    },
    /// They count more tokens, by this number.
    More(u64),
    /// They count fewer tokens, by this number.
    Fewer(u64),
    /// They take the latest prices for every day.
    LatestPrices,
    /// Number of requests without a price in our table.
    Unpriced(u64),
    /// They have no price.
    NoPrice,
    /// They have other prices.
    OtherPrices,
}

#[derive(Deserialize)]
struct Theirs {
    daily: Vec<TheirDay>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TheirDay {
    #[serde(alias = "period")]
    date: String,
    #[serde(default)]
    total_tokens: u64,
    #[serde(default, alias = "costUSD")]
    total_cost: f64,
}

impl Engine {
    /// Compares our count with the daily report of ccusage.
    ///
    /// # Errors
    /// If that report, a filter, or a price of the user is invalid.
    pub fn compare(
        &self,
        asked: &StatsRequest,
        report: &Path,
        progress: &dyn Progress,
    ) -> Result<Compared, Error> {
        let bytes = read_small(report)
            .map_err(|source| Error::Unreadable { path: report.to_owned(), source })?;
        self.compare_with(asked, &bytes, report, progress)
    }

    /// Like [`Self::compare`], with a report that was already read; `name` is its name.
    ///
    /// # Errors
    /// If it is not a report.
    pub fn compare_with(
        &self,
        asked: &StatsRequest,
        bytes: &[u8],
        name: &Path,
        progress: &dyn Progress,
    ) -> Result<Compared, Error> {
        let theirs: Theirs =
            serde_json::from_slice(bytes).map_err(|_| Error::NotAReport(name.to_owned()))?;
        let (prices, logs) = (self.prices()?, self.usage_logs(&asked.sessions, progress)?);
        let window = asked.window();
        let mut walk = UsageWalk::new(&prices, &window, asked.zone.clone());
        let mut days = Days { compressed: compressed(&logs), ..Days::default() };
        walk.go(&logs, &mut days);
        for (time, tokens) in days.copies {
            let day = time.and_then(|time| walk.slot(time)).map(|slot| slot.day.to_string());
            days.by_date.entry(day.unwrap_or_default()).or_default().doubled_tokens += tokens;
        }
        for day in theirs.daily {
            let own = days.by_date.entry(day.date).or_default();
            own.their_tokens += day.total_tokens;
            own.their_cost_usd += day.total_cost;
        }
        self.set_aside(logs);
        Ok(compared(days.by_date))
    }
}

fn compared(days: BTreeMap<String, ComparedDay>) -> Compared {
    let mut total = ComparedDay { day: "total".to_owned(), ..ComparedDay::default() };
    let mut rows = Vec::with_capacity(days.len());
    for (name, mut day) in days {
        day.day = name;
        day.why = why(&day);
        total.tokens += day.tokens;
        total.their_tokens += day.their_tokens;
        total.doubled_tokens += day.doubled_tokens;
        total.compressed_tokens += day.compressed_tokens;
        total.cost_usd += day.cost_usd;
        total.their_cost_usd += day.their_cost_usd;
        total.cost_at_latest_prices_usd += day.cost_at_latest_prices_usd;
        total.unpriced += day.unpriced;
        rows.push(day);
    }
    total.why = why(&total);
    Compared { days: rows, total }
}

/// Returns why two counts differ.
fn why(day: &ComparedDay) -> Vec<CompareReason> {
    let mut why = Vec::new();
    let (ours, theirs) = (day.tokens, day.their_tokens);
    if theirs == 0 && ours > 0 {
        why.push(CompareReason::NotReported);
        return why;
    }
    if ours == theirs {
        return cost(day).into_iter().collect();
    }
    // What they leave out may be hidden by what they count twice.
    let unread = if theirs < ours || day.doubled_tokens > 0 { day.compressed_tokens } else { 0 };
    if unread > 0 {
        why.push(CompareReason::Unread(unread));
    }
    let read = ours.saturating_sub(unread);
    let copies = day.doubled_tokens;
    match theirs.checked_sub(read) {
        Some(0) => {}
        Some(more) if more <= copies => {
            why.push(CompareReason::CountedAgain { tokens: more, of: copies });
        }
        Some(more) => why.push(CompareReason::More(more)),
        None => why.push(CompareReason::Fewer(read - theirs)),
    }
    why
}

/// Returns why the costs of equal counts differ.
fn cost(day: &ComparedDay) -> Option<CompareReason> {
    let near = |money: Money| (money.dollars() - day.their_cost_usd).abs() < 0.000_05;
    if near(day.cost_usd) {
        return None;
    }
    Some(if near(day.cost_at_latest_prices_usd) {
        CompareReason::LatestPrices
    } else if day.unpriced > 0 {
        CompareReason::Unpriced(day.unpriced)
    } else if day.their_cost_usd == 0.0 {
        CompareReason::NoPrice
    } else {
        CompareReason::OtherPrices
    })
}

/// Returns the numbers of sessions that lie in compressed files alone.
fn compressed(logs: &UsageLogs) -> BTreeSet<usize> {
    let is_packed =
        |file: &FileFacts| Path::new(&file.path).extension().is_some_and(|end| end == "zst");
    let is_unread = |session: &SessionFacts| {
        let mut own = session.files.iter().filter(|file| file.role != FileRole::Base).peekable();
        own.peek().is_some() && own.all(is_packed)
    };
    let sessions = logs.sessions.iter().enumerate();
    sessions.filter(|(_, session)| is_unread(session)).map(|(number, _)| number).collect()
}

/// Days while they are being summed.
#[derive(Debug, Default)]
struct Days {
    by_date: BTreeMap<String, ComparedDay>,
    copies: Vec<(Option<i64>, u64)>,
    /// Sessions in compressed files, by number.
    compressed: BTreeSet<usize>,
}

impl Days {
    fn day(&mut self, slot: Option<Slot>) -> &mut ComparedDay {
        self.by_date.entry(slot.map(|slot| slot.day.to_string()).unwrap_or_default()).or_default()
    }
}

impl Visitor for Days {
    fn step(&mut self, step: &Step<'_>) {
        let Some(asked) = &step.asked else { return };
        let is_packed = self.compressed.contains(&step.place.session);
        let day = self.day(step.slot);
        day.tokens += asked.tokens.total;
        day.compressed_tokens += if is_packed { asked.tokens.total } else { 0 };
        day.cost_usd += asked.quote.map(|quote| quote.cost).unwrap_or_default();
        day.unpriced += u64::from(asked.quote.is_none());
        let latest = asked.entry.map(|entry| entry.quote(LATEST, &asked.tokens).cost);
        day.cost_at_latest_prices_usd += latest.unwrap_or_default();
    }

    fn double(&mut self, slot: Option<Slot>, tokens: Tokens) {
        self.day(slot).doubled_tokens += tokens.total;
    }

    fn end(&mut self, _place: Place, head: &Head) {
        self.copies.extend_from_slice(&head.copies);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(tokens: u64, their_tokens: u64, doubled_tokens: u64) -> ComparedDay {
        ComparedDay { tokens, their_tokens, doubled_tokens, ..ComparedDay::default() }
    }

    #[test]
    fn differences_are_explained_where_they_can_be() {
        use CompareReason::{
            CountedAgain, Fewer, LatestPrices, More, NotReported, OtherPrices, Unread,
        };
        assert!(why(&day(5, 5, 0)).is_empty());
        assert_eq!(why(&day(5, 8, 3)), [CountedAgain { tokens: 3, of: 3 }]);
        assert_eq!(why(&day(5, 8, 4)), [CountedAgain { tokens: 3, of: 4 }]);
        assert_eq!(why(&day(5, 1_238, 0)), [More(1_233)]);
        assert_eq!(why(&day(5, 4, 0)), [Fewer(1)]);
        assert_eq!(why(&day(5, 0, 0)), [NotReported]);
        let packed = |day| ComparedDay { compressed_tokens: 2, ..day };
        assert_eq!(why(&packed(day(5, 3, 0))), [Unread(2)]);
        assert_eq!(why(&packed(day(5, 2, 0))), [Unread(2), Fewer(1)]);
        let both = [Unread(2), CountedAgain { tokens: 3, of: 3 }];
        assert_eq!(why(&packed(day(5, 6, 3))), both);
        assert!(why(&packed(day(5, 5, 0))).is_empty());
        let dear = ComparedDay { their_cost_usd: 2.0, ..day(5, 5, 0) };
        assert_eq!(why(&dear), [OtherPrices]);
        let latest =
            ComparedDay { cost_at_latest_prices_usd: Money::from_dollars("2").unwrap(), ..dear };
        assert_eq!(why(&latest), [LatestPrices]);
    }
}
