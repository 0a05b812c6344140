//! What the requests of one conversation used, summed up as they come.

use std::collections::VecDeque;

use recount_model::{LiveRequest, LiveSpan, LiveUsage, Tokens};

/// Returns the cost of a request in units of 10^-12 dollars, if its model has a price.
pub type RequestPrice<'a> = dyn Fn(&LiveRequest) -> Option<u128> + 'a;

const MINUTE: i64 = 60 * 1000;
/// The spans that rates are for, in minutes.
const SPANS: [i64; 2] = [1, 10];
/// Milliseconds that a request is kept on its own: rates look ten minutes back.
const RECENT: i64 = 11 * MINUTE;
/// Number of requests that are kept on their own, whatever their time.
const REQUESTS: usize = 4096;
/// A request is recorded again within this number of requests.
const AGAIN: usize = 64;

/// The requests of one conversation, each once. Old ones are only part of the sums.
///
/// A board asks for the usage many times a second, and a busy session has thousands of requests: each one holds the sum of all up to it,
/// so that the usage of any span is one subtraction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    /// By time.
    recent: VecDeque<Entry>,
    /// The sum of those that are not kept.
    earlier: Sum,
    /// From here on sums are out of date.
    settled: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    request: LiveRequest,
    cost: Cost,
    /// The sum of all requests up to this one.
    sum: Sum,
}

/// What a request costs.
#[derive(Clone, Copy, Debug)]
enum Cost {
    /// Not looked up yet.
    Unknown,
    /// As the price table says; `None` if it has no price.
    Known(Option<u128>),
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    tokens: Tokens,
    cost: u128,
    /// Number of requests that have a price.
    priced: u64,
}

impl Sum {
    fn with(mut self, tokens: Tokens, cost: Option<u128>) -> Self {
        self.tokens += tokens;
        self.cost = self.cost.saturating_add(cost.unwrap_or_default());
        self.priced += u64::from(cost.is_some());
        self
    }
}

impl Requests {
    /// Adds a request, or replaces what an earlier record of it said.
    pub(crate) fn add(&mut self, request: LiveRequest) {
        let known =
            self.recent.iter().rev().take(AGAIN).position(|one| one.request.key == request.key);
        if let Some(back) = known {
            let at = self.recent.len() - 1 - back;
            if let Some(entry) = self.recent.get_mut(at) {
                entry.request.model = request.model.or_else(|| entry.request.model.take());
                entry.request.tokens = request.tokens;
                entry.cost = Cost::Unknown;
            }
            self.settled = self.settled.min(at);
            return;
        }
        let later = self.recent.iter().rev().take_while(|one| one.request.time > request.time);
        let at = self.recent.len() - later.count();
        self.recent.insert(at, Entry { request, cost: Cost::Unknown, sum: Sum::default() });
        self.settled = self.settled.min(at);
    }

    /// Brings the sums up to date, and gives up requests that no rate needs any more.
    pub(crate) fn settle(&mut self, price: &RequestPrice<'_>) {
        if self.settled < self.recent.len() {
            let before = self.settled.checked_sub(1).and_then(|at| self.recent.get(at));
            let mut sum = before.map_or(self.earlier, |entry| entry.sum);
            for entry in self.recent.range_mut(self.settled..) {
                let cost = match entry.cost {
                    Cost::Known(cost) => cost,
                    Cost::Unknown => price(&entry.request),
                };
                entry.cost = Cost::Known(cost);
                sum = sum.with(entry.request.tokens, cost);
                entry.sum = sum;
            }
        }
        let oldest = self.last().map_or(0, |last| last.time.saturating_sub(RECENT));
        while self.recent.len() > REQUESTS
            || self.recent.front().is_some_and(|entry| entry.request.time < oldest)
        {
            let Some(entry) = self.recent.pop_front() else { break };
            self.earlier = entry.sum;
        }
        self.settled = self.recent.len();
    }

    /// Returns what was used at `now`, of requests whose sums are up to date.
    pub(crate) fn usage(&self, now: i64) -> LiveUsage {
        let all = self.sum_until(self.recent.len());
        // One that is minutes ahead has a wrong clock.
        let end = self.recent.partition_point(|entry| entry.request.time <= now + MINUTE);
        let span = |minutes: i64| {
            let start = now - minutes * MINUTE;
            let start = self.recent.partition_point(|entry| entry.request.time <= start);
            let (before, until) = (self.sum_until(start), self.sum_until(end.max(start)));
            LiveSpan {
                tokens: until.tokens.total.saturating_sub(before.tokens.total),
                cost: until.cost.saturating_sub(before.cost),
            }
        };
        LiveUsage {
            tokens: all.tokens,
            cost: (all.priced > 0).then_some(all.cost),
            recent: SPANS.map(span),
        }
    }

    /// Returns the newest request.
    pub(crate) fn last(&self) -> Option<&LiveRequest> {
        self.recent.back().map(|entry| &entry.request)
    }

    /// Returns the sum of the first requests that are kept and of all before them.
    fn sum_until(&self, many: usize) -> Sum {
        let last = many.checked_sub(1).and_then(|at| self.recent.get(at));
        last.map_or(self.earlier, |entry| entry.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(key: &str, time: i64, total: u64) -> LiveRequest {
        let tokens = Tokens { input: total, total, ..Tokens::default() };
        LiveRequest { key: key.to_owned(), time, model: Some("m".to_owned()), tokens }
    }

    fn price(request: &LiveRequest) -> Option<u128> {
        request.model.as_ref().map(|_| u128::from(request.tokens.total) * 2)
    }

    /// The same by looking at every request.
    fn plain(all: &[LiveRequest], now: i64) -> LiveUsage {
        let mut usage = LiveUsage::default();
        for one in all {
            usage.tokens += one.tokens;
            if let Some(cost) = price(one) {
                *usage.cost.get_or_insert_default() += cost;
            }
            for (span, minutes) in usage.recent.iter_mut().zip(SPANS) {
                if now - one.time < minutes * MINUTE && one.time <= now + MINUTE {
                    span.tokens += one.tokens.total;
                    span.cost += price(one).unwrap_or_default();
                }
            }
        }
        usage
    }

    #[test]
    fn sums_are_those_of_every_request() {
        let mut requests = Requests::default();
        let mut all: Vec<LiveRequest> = Vec::new();
        let mut seed = 7_u64;
        let mut next = |many: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % many
        };
        for number in 0..3000_i64 {
            let time = 1_000_000 + number * 700 - i64::try_from(next(3000)).unwrap();
            let mut one = request(&format!("r{number}"), time, next(1000));
            if next(5) == 0 {
                one.model = None;
            }
            if next(4) == 0 && number > 10 {
                // Another record of a request, which says more.
                let at = all.len() - 1 - usize::try_from(next(3)).unwrap();
                let again = &mut all[at];
                again.tokens = one.tokens;
                again.model = one.model.clone().or_else(|| again.model.take());
                requests.add(LiveRequest { key: again.key.clone(), time: time + 5, ..one });
            } else {
                all.push(one.clone());
                requests.add(one);
            }
            if next(3) == 0 {
                requests.settle(&price);
                // What is looked at is not before what is kept.
                let now = time + i64::try_from(next(90_000)).unwrap();
                assert_eq!(requests.usage(now), plain(&all, now), "{number}");
            }
        }
        requests.settle(&price);
        assert!(requests.recent.len() < 1200, "{}", requests.recent.len());
        assert_eq!(requests.last().map(|one| one.time), all.iter().map(|one| one.time).max());
    }

    #[test]
    fn a_flood_is_summed_up_but_not_kept() {
        let mut requests = Requests::default();
        for number in 0..20_000_i64 {
            requests.add(request(&format!("r{number}"), 5000 + number / 100, 1));
        }
        requests.settle(&price);
        assert_eq!(requests.recent.len(), REQUESTS);
        assert_eq!(requests.usage(6000).tokens.total, 20_000);
        assert_eq!(requests.usage(6000).cost, Some(40_000));
    }
}
