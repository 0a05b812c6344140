//! What the requests of one conversation used, summed up as they come.

use std::collections::VecDeque;

use recount_model::{LiveRequest, LiveSpan, LiveUsage, Tokens};

/// Returns the cost of a request in units of 10^-12 dollars, if its model has a price.
pub type RequestPrice<'a> = dyn Fn(&LiveRequest) -> Option<u128> + 'a;

const MINUTE: i64 = 60 * 1000;
/// The spans that rates are for, in minutes.
const SPANS: [i64; 2] = [1, 10];
/// Milliseconds that sums are kept: rates look ten minutes back.
const RECENT: i64 = 11 * MINUTE;
/// A request is recorded again within this number of requests, which are kept on their own.
const AGAIN: usize = 64;
/// Maximum number of sums. If there are more, one for each second is kept.
const SUMS: usize = 1024;
const SECOND: i64 = 1000;

/// The requests of one conversation, each once. Old ones are only part of the sums.
///
/// A board asks for the usage many times a second, and a busy session has thousands of requests: each one holds the sum of all up to it,
/// so that the usage of any span is one subtraction. To leave out one of these sums makes the times of those before it less exact, but
/// loses no request. So memory has a limit, however many requests there are: the last requests, and a sum for each second of the last
/// minutes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    /// The last ones, by time.
    recent: VecDeque<Entry>,
    /// The sums of all requests up to some times before these, by time.
    sums: VecDeque<(i64, Sum)>,
    /// The sum of those before all of these.
    earlier: Sum,
    /// From here on sums are out of date.
    settled: usize,
    /// Whether the next one is the first again.
    is_restarted: bool,
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
        if self.is_restarted {
            *self = Self::default();
        }
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
        // What is summed up is not sorted again: one that comes so late counts after it.
        let earliest = self.sums.back().map_or(i64::MIN, |(time, _)| *time);
        let request = LiveRequest { time: request.time.max(earliest), ..request };
        let later = self.recent.iter().rev().take_while(|one| one.request.time > request.time);
        let at = self.recent.len() - later.count();
        self.recent.insert(at, Entry { request, cost: Cost::Unknown, sum: Sum::default() });
        self.settled = self.settled.min(at);
    }

    /// Notes that all requests come again: with the next one, what was known is forgotten.
    pub(crate) fn restart(&mut self) {
        self.is_restarted = true;
    }

    /// Brings the sums up to date, and gives up requests that are not recorded again and sums that no rate needs any more.
    pub(crate) fn settle(&mut self, price: &RequestPrice<'_>) {
        if self.settled < self.recent.len() {
            let mut sum = self.sum_of_recent(self.settled);
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
        while self.recent.len() > AGAIN {
            let Some(entry) = self.recent.pop_front() else { break };
            self.sums.push_back((entry.request.time, entry.sum));
            if self.sums.len() > SUMS {
                self.thin_out();
            }
        }
        self.settled = self.recent.len();
        self.drop_old();
        // Many may come at once, when a file is read for the first time.
        self.recent.shrink_to(2 * AGAIN);
    }

    /// Keeps the last sum of each second.
    fn thin_out(&mut self) {
        let mut next = self.sums.iter().skip(1).map(|(time, _)| time.div_euclid(SECOND));
        let mut is_last = Vec::with_capacity(self.sums.len());
        for (time, _) in &self.sums {
            is_last.push(next.next() != Some(time.div_euclid(SECOND)));
        }
        let mut is_last = is_last.into_iter();
        self.sums.retain(|_| is_last.next().unwrap_or(true));
        self.drop_old();
        // Times that no clock gives.
        while self.sums.len() > SUMS * 3 / 4 {
            self.drop_first();
        }
    }

    /// Drops sums that no rate needs any more.
    fn drop_old(&mut self) {
        let newest = self.last().map(|last| last.time).max(self.sums.back().map(|(time, _)| *time));
        let oldest = newest.map_or(0, |time| time.saturating_sub(RECENT));
        while self.sums.front().is_some_and(|(time, _)| *time < oldest) {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        if let Some((_, sum)) = self.sums.pop_front() {
            self.earlier = sum;
        }
    }

    /// Returns what was used at `now`, of requests whose sums are up to date.
    pub(crate) fn usage(&self, now: i64) -> LiveUsage {
        let all = self.sum_of_recent(self.recent.len());
        // One that is minutes ahead has a wrong clock.
        let end = now + MINUTE;
        let span = |minutes: i64| {
            let start = now - minutes * MINUTE;
            let (before, until) = (self.sum_until(start), self.sum_until(end));
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

    /// Returns the sum of all requests up to a time.
    fn sum_until(&self, time: i64) -> Sum {
        let recent = self.recent.partition_point(|entry| entry.request.time <= time);
        if recent > 0 {
            return self.sum_of_recent(recent);
        }
        let many = self.sums.partition_point(|(known, _)| *known <= time);
        let last = many.checked_sub(1).and_then(|at| self.sums.get(at));
        last.map_or(self.earlier, |(_, sum)| *sum)
    }

    /// Returns the sum of the first requests that are kept on their own and of all before them.
    fn sum_of_recent(&self, many: usize) -> Sum {
        let last = many.checked_sub(1).and_then(|at| self.recent.get(at)).map(|entry| entry.sum);
        last.or_else(|| self.sums.back().map(|(_, sum)| *sum)).unwrap_or(self.earlier)
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
        assert!(requests.recent.len() <= AGAIN && requests.sums.len() <= SUMS);
        assert_eq!(requests.last().map(|one| one.time), all.iter().map(|one| one.time).max());
    }

    /// Plays a number of requests within a time, and returns them with the memory that is held, in entries.
    fn flood(many: i64, during: i64) -> (Requests, usize) {
        let mut requests = Requests::default();
        for number in 0..many {
            requests.add(request(&format!("r{number}"), 5000 + number * during / many, 1));
            if number % 1000 == 0 {
                requests.settle(&price);
            }
        }
        requests.settle(&price);
        let held = requests.recent.capacity() + requests.sums.capacity();
        (requests, held)
    }

    #[test]
    fn a_flood_is_summed_up_but_not_kept() {
        let hour = 60 * MINUTE;
        let (some, held) = flood(20_000, hour);
        let (many, held_by_many) = flood(200_000, hour);
        assert!(held_by_many <= held, "{held_by_many} > {held}");
        assert!(held <= 2 * AGAIN + 2 * SUMS, "{held}");
        for (requests, all) in [(some, 20_000), (many, 200_000)] {
            let now = 5000 + hour;
            let usage = requests.usage(now);
            assert_eq!((usage.tokens.total, usage.cost), (all, Some(u128::from(all) * 2)));
            for (span, minutes) in usage.recent.iter().zip([1, 10]) {
                // Times are exact to a second.
                let (wanted, second) = (all * minutes / 60, all / 3600 + 1);
                assert!(span.tokens.abs_diff(wanted) <= second, "{} {wanted}", span.tokens);
                assert_eq!(span.cost, u128::from(span.tokens) * 2);
            }
        }
    }

    #[test]
    fn a_flood_within_a_moment_and_times_of_no_clock_are_no_more() {
        for during in [200, 40_000 * MINUTE] {
            let (requests, held) = flood(50_000, during);
            assert!(held <= 2 * AGAIN + 2 * SUMS, "{held}");
            assert_eq!(requests.usage(0).tokens.total, 50_000);
        }
        let (mut requests, _) = flood(50_000, 200);
        requests.restart();
        requests.settle(&price);
        assert_eq!(requests.usage(0).tokens.total, 50_000, "nothing has come yet");
        requests.add(request("r1", 5000, 3));
        requests.settle(&price);
        assert_eq!(requests.usage(0).tokens.total, 3);
    }
}
