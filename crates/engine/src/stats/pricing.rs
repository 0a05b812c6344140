//! The cost of a session, stored with its row so that a list has it at no cost.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use recount_model::{SessionFacts, Tokens, timestamp};
use recount_prices::{Money, PriceEntry, Prices};

use crate::Engine;
use crate::search::index::session_key;
use crate::sessions::list::ListQuery;
use crate::snapshot::disk_scan::Progress;
use crate::stats::Missing;
use crate::stats::usage::{Event, Head, UsageLog, UsageLogReader};

/// The prices of this user.
#[derive(Debug)]
pub(crate) struct Pricing {
    prices: Option<Arc<Prices>>,
    /// A fingerprint of them.
    fingerprint: u64,
}

/// The cost of requests.
#[derive(Default)]
struct CostSum {
    cost: Money,
    priced: u64,
    unpriced: u64,
    missing: Missing,
    /// The day of the previous request, by its number: most have the same.
    day: Option<(i64, Date)>,
}

impl Engine {
    /// Returns the prices of this user.
    pub(crate) fn pricing(&self) -> &Pricing {
        self.pricing.get_or_init(|| Pricing {
            // Errors in the user's own prices are reported by queries about cost.
            prices: self.prices().ok().map(Arc::new),
            fingerprint: Prices::fingerprint(&self.config.prices),
        })
    }

    /// Fills in the cost of sessions that were read with other prices. Nothing is set if a price of the user is invalid:
    /// queries about cost report it.
    pub fn price(&self, sessions: &mut [Arc<SessionFacts>], progress: &dyn Progress) {
        let Pricing { prices: Some(prices), fingerprint } = self.pricing() else { return };
        let fingerprint = *fingerprint;
        let is_stale = |facts: &&mut Arc<SessionFacts>| facts.priced_by != fingerprint;
        let mut stale: HashMap<u64, &mut Arc<SessionFacts>> =
            sessions.iter_mut().filter(is_stale).map(|facts| (session_key(facts), facts)).collect();
        if stale.is_empty() {
            return;
        }
        let Ok(logs) = self.usage_logs(&ListQuery::default(), progress) else { return };
        for (session, usage_logs) in logs.sessions.iter().zip(&logs.by_session) {
            let Some(facts) = stale.get_mut(&session_key(session)) else { continue };
            let pages: Vec<UsageLogReader<'_>> =
                usage_logs.iter().filter_map(|one| UsageLogReader::open(one)).collect();
            let mut sum = CostSum::default();
            // A session whose files have other names has several usage logs, which may contain the same message.
            let mut met = HashSet::new();
            for page in &pages {
                let entries = entries(&page.head, prices);
                let _whole = page.each(|event, time| {
                    if pages.len() == 1 || met.insert(event.id) {
                        sum.add(event, time, &entries);
                    }
                });
                sum.close(&page.head);
            }
            if !pages.is_empty() {
                let facts = Arc::make_mut(facts);
                sum.settle(facts);
                facts.priced_by = fingerprint;
            }
        }
    }
}

impl Pricing {
    /// Returns the prices, unless one of the user's own is invalid.
    pub(crate) fn prices(&self) -> Option<&Prices> {
        self.prices.as_deref()
    }

    /// The same, to be kept.
    pub(crate) fn shared(&self) -> Option<Arc<Prices>> {
        self.prices.clone()
    }

    /// Returns a fingerprint of the prices.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Sets the cost of a session.
    pub(crate) fn put(&self, usage_log: &UsageLog, facts: &mut SessionFacts) {
        let Some(prices) = &self.prices else { return };
        let entries = entries(usage_log.head(), prices);
        let mut sum = CostSum::default();
        usage_log.each(|event, time| sum.add(event, time, &entries));
        sum.close(usage_log.head());
        sum.settle(facts);
        facts.priced_by = self.fingerprint;
    }
}

/// Looks up the models of a session once.
fn entries<'a>(head: &Head, prices: &'a Prices) -> Vec<Option<&'a PriceEntry>> {
    head.models.iter().map(|model| prices.entry(model)).collect()
}

impl CostSum {
    fn add(&mut self, event: &Event, time: Option<i64>, entries: &[Option<&PriceEntry>]) {
        self.missing.add(&event.unrecorded);
        let Some(request) = &event.request else { return };
        let entry = request.model.and_then(|model| *entries.get(usize::from(model))?);
        match entry {
            Some(entry) => {
                self.priced += 1;
                let day = self.day(time);
                self.cost += entry.quote(day, &request.tokens).cost;
            }
            None => self.unpriced += 1,
        }
    }

    fn day(&mut self, time: Option<i64>) -> Date {
        let number = time.map(|time| time.div_euclid(DAY));
        match (self.day, number) {
            (Some((known, date)), Some(number)) if known == number => date,
            _ => {
                let date = day(time);
                self.day = number.map(|number| (number, date));
                date
            }
        }
    }

    /// Adds what is missing of a session as a whole.
    fn close(&mut self, head: &Head) {
        self.missing.side_calls += u64::from(head.side_calls);
        self.missing.unanswered += u64::from(head.unanswered);
    }

    fn settle(self, facts: &mut SessionFacts) {
        // Of a session that cannot be read, nothing is known.
        let is_unread = facts.counts.messages == 0 && facts.problems > 0;
        let is_lower_bound = self.unpriced > 0 || !self.missing.is_nothing() || is_unread;
        // Without a price, or without any record of what was used, it is not 0 but unknown.
        let is_known = self.priced > 0 || !is_lower_bound;
        facts.cost_usd = is_known.then(|| self.cost.dollars());
        facts.cost_is_lower_bound = Some(is_lower_bound);
    }
}

/// Returns what a request cost in dollars, by the price of its day.
pub(crate) fn request_cost(
    prices: Option<&Prices>,
    model: Option<&str>,
    at: Option<i64>,
    tokens: &Tokens,
) -> Option<f64> {
    let entry = prices?.entry(model?)?;
    let day = timestamp(at?)?.to_zoned(TimeZone::UTC).date();
    Some(entry.quote(day, tokens).cost.dollars())
}

/// A day, in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// Returns the day of a request; without a time, the last possible day, which has the newest price.
fn day(time: Option<i64>) -> Date {
    let day = |time| timestamp(time).map(|time| time.to_zoned(TimeZone::UTC).date());
    time.and_then(day).unwrap_or(Date::MAX)
}
