//! What each request used, out of counters that repeat themselves, restart and jump.
//!
//! FORMAT.md has the rule in words. Releases repeat an event for every update of the rate limits, start again from zero in each
//! process (to 0.9x), begin a fork with its parent's sum, and set the sum to the size of the window when that overflows.

use std::collections::BTreeSet;

use recount_model::Tokens;
use serde::{Deserialize, Serialize};

use crate::json::{JsonScan, Scanner};
use crate::source::stable_hash;

use super::record::{number, word};

/// One set of figures, as the service gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Figures {
    input: u64,
    cached: u64,
    cache_write: u64,
    output: u64,
    reasoning: u64,
    total: u64,
}

impl Figures {
    /// Reads an object of figures; nothing if it is something else.
    pub(super) fn read(raw: Option<&[u8]>) -> Option<Self> {
        Self::scan(&mut Scanner::new(raw?)).ok().flatten()
    }

    fn scan(scanner: &mut Scanner<'_>) -> JsonScan<Option<Self>> {
        if scanner.peek()? != b'{' {
            return scanner.skip().map(|()| None);
        }
        if let Some(figures) = Self::plain(scanner) {
            return Ok(Some(figures));
        }
        let mut figures = Self::default();
        scanner.object(|scanner, key| {
            let slot = match key.name().as_ref() {
                b"input_tokens" => &mut figures.input,
                b"cached_input_tokens" => &mut figures.cached,
                b"cache_write_input_tokens" => &mut figures.cache_write,
                b"output_tokens" => &mut figures.output,
                b"reasoning_output_tokens" => &mut figures.reasoning,
                b"total_tokens" => &mut figures.total,
                _ => return scanner.skip(),
            };
            *slot = match scanner.count()? {
                Some(count) => count,
                None => number(Some(scanner.value()?)).unwrap_or(0),
            };
            Ok(())
        })?;
        Ok(Some(figures))
    }

    /// Reads an object in the order and form in which every release writes it; of any other nothing is consumed.
    fn plain(scanner: &mut Scanner<'_>) -> Option<Self> {
        let mut ahead = scanner.clone();
        ahead.expect(b'{').ok()?;
        let mut field = |key: &[u8]| {
            let count = ahead.count_of(key)?;
            ahead.expect(b',').ok()?;
            Some(count)
        };
        let input = field(b"\"input_tokens\":")?;
        let cached = field(b"\"cached_input_tokens\":")?;
        let cache_write = field(b"\"cache_write_input_tokens\":").unwrap_or(0);
        let output = field(b"\"output_tokens\":")?;
        let reasoning = field(b"\"reasoning_output_tokens\":")?;
        let total = ahead.count_of(b"\"total_tokens\":")?;
        ahead.expect(b'}').ok()?;
        *scanner = ahead;
        Some(Self { input, cached, cache_write, output, reasoning, total })
    }

    /// Returns what came since `before`.
    fn since(self, before: Self) -> Self {
        Self {
            input: self.input.saturating_sub(before.input),
            cached: self.cached.saturating_sub(before.cached),
            cache_write: self.cache_write.saturating_sub(before.cache_write),
            output: self.output.saturating_sub(before.output),
            reasoning: self.reasoning.saturating_sub(before.reasoning),
            total: self.total.saturating_sub(before.total),
        }
    }

    /// Whether there is a sum without parts: the window overflowed.
    fn has_no_parts(self) -> bool {
        self.input == 0 && self.output == 0
    }

    fn is_less_than(self, before: Self) -> bool {
        self.input < before.input || self.output < before.output || self.total < before.total
    }

    /// Returns the figures in the form that all sources share; nothing if all are zero.
    fn tokens(self) -> Option<Tokens> {
        (!self.has_no_parts()).then(|| Tokens {
            input: self.input,
            output: self.output.saturating_sub(self.reasoning),
            cached: self.cached,
            cache_write: self.cache_write,
            thoughts: self.reasoning.min(self.output),
            total: self.input.saturating_add(self.output),
            ..Tokens::default()
        })
    }
}

/// The counter of one file, while it is read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Counter {
    before: Option<Figures>,
    /// What the last event added.
    last_added: Option<Figures>,
    /// Whether there are records of single responses, which are exact.
    has_records: bool,
    /// Hashes of the responses that were counted.
    counted: BTreeSet<u64>,
}

impl Counter {
    /// Takes an event with the sum of all requests and the figures of the last one. Returns what is new.
    ///
    /// During a review some releases (0.77) pass on the events of the review's own thread, whose file has them, too: only
    /// sums that continue this thread's count then.
    pub(super) fn event(&mut self, info: Option<&[u8]>, in_review: bool) -> Option<Tokens> {
        if self.has_records {
            return None;
        }
        let (total, last) = sums(info?)?;
        let continues = |before: Figures| total != last && total.since(before) == last;
        if in_review && !self.before.is_some_and(continues) {
            return None;
        }
        let before = self.before.replace(total);
        let used = match before {
            Some(before) if before == total => return None,
            // A fork begins with its parent's sum.
            None => last,
            Some(_) if total == last => total,
            // The window overflowed: a jump to its size.
            Some(_) if total.has_no_parts() => return None,
            Some(before) if total.is_less_than(before) => total,
            Some(before) => total.since(before),
        };
        self.last_added = Some(used);
        used.tokens()
    }

    /// Takes the record of one response, with the sum of all so far and the id of the response.
    pub(super) fn record(
        &mut self,
        usage: Option<&[u8]>,
        sum: Option<&[u8]>,
        response: Option<&[u8]>,
    ) -> Option<Tokens> {
        let usage = Figures::read(usage)?;
        let sum = Figures::read(sum);
        // A release that writes the event first: the request of the first record was counted with its event.
        let is_counted = !self.has_records && self.last_added == Some(usage);
        self.has_records = true;
        let is_known = match response.and_then(word).filter(|id| !id.is_empty()) {
            Some(id) => !self.counted.insert(stable_hash(id)),
            None => sum.is_some() && sum == self.before,
        };
        if is_known || is_counted {
            return None;
        }
        self.before = sum.or(self.before);
        usage.tokens()
    }
}

fn sums(info: &[u8]) -> Option<(Figures, Figures)> {
    let (mut total, mut last) = (None, None);
    Scanner::new(Some(info).filter(|raw| raw.first() == Some(&b'{'))?)
        .object(|scanner, key| {
            match key.name().as_ref() {
                b"total_token_usage" => total = Figures::scan(scanner)?,
                b"last_token_usage" => last = Figures::scan(scanner)?,
                _ => scanner.skip()?,
            }
            Ok(())
        })
        .ok()?;
    Some((total?, last.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(total: [u64; 2]) -> String {
        let [input, output] = total;
        let sum = input + output;
        format!(
            r#"{{"input_tokens":{input},"cached_input_tokens":0,"output_tokens":{output},"reasoning_output_tokens":0,"total_tokens":{sum}}}"#
        )
    }

    fn info(total: [u64; 2], last: [u64; 2]) -> String {
        let (total, last) = (figures(total), figures(last));
        format!(r#"{{"total_token_usage":{total},"last_token_usage":{last}}}"#)
    }

    fn booked(events: &[([u64; 2], [u64; 2])]) -> Vec<u64> {
        let mut counter = Counter::default();
        let book = |(total, last): &([u64; 2], [u64; 2])| {
            counter
                .event(Some(info(*total, *last).as_bytes()), false)
                .map_or(0, |tokens| tokens.total)
        };
        events.iter().map(book).collect()
    }

    #[test]
    fn repeats_restarts_and_forks_are_counted_once() {
        assert_eq!(
            booked(&[([10, 1], [10, 1]), ([10, 1], [10, 1]), ([30, 2], [20, 1])]),
            [11, 0, 21]
        );
        // A new process begins again, with less than before or with a first request that is larger than all before.
        assert_eq!(booked(&[([10, 1], [10, 1]), ([5, 1], [5, 1])]), [11, 6]);
        assert_eq!(booked(&[([10, 1], [10, 1]), ([50, 1], [50, 1])]), [11, 51]);
        // A fork inherits the sum.
        assert_eq!(booked(&[([100, 10], [20, 2]), ([130, 13], [30, 3])]), [22, 33]);
    }

    #[test]
    fn during_a_review_only_the_own_sum_goes_on() {
        let mut counter = Counter::default();
        let mut event = |total, last, in_review| {
            let used = counter.event(Some(info(total, last).as_bytes()), in_review);
            used.map_or(0, |used| used.total)
        };
        assert_eq!(event([10, 1], [10, 1], true), 0, "the review came first");
        assert_eq!(event([100, 10], [100, 10], false), 110);
        assert_eq!(event([20, 2], [20, 2], true), 0);
        assert_eq!(event([300, 2], [300, 2], true), 0, "larger than all before");
        assert_eq!(event([100, 10], [100, 10], false), 0, "said again after it");
        assert_eq!(
            event([130, 13], [30, 3], true),
            33,
            "a release that reviews in the thread itself"
        );
        assert_eq!(event([150, 15], [20, 2], false), 22);
    }

    #[test]
    fn an_overflown_window_books_nothing() {
        let mut counter = Counter::default();
        let first = info([100, 10], [100, 10]);
        assert_eq!(counter.event(Some(first.as_bytes()), false).unwrap().total, 110);
        let parts = r#"{"input_tokens":0,"output_tokens":0,"total_tokens":258400}"#;
        let full = format!(r#"{{"total_token_usage":{parts},"last_token_usage":{parts}}}"#);
        assert_eq!(counter.event(Some(full.as_bytes()), false), None);
        let next = r#"{"total_token_usage":{"input_tokens":70,"output_tokens":7,"total_tokens":258477},"last_token_usage":{"input_tokens":70,"output_tokens":7,"total_tokens":77}}"#;
        assert_eq!(counter.event(Some(next.as_bytes()), false).unwrap().total, 77);
        assert_eq!(counter.event(None, false), None);
        assert_eq!(counter.event(Some(b"null"), false), None);
    }

    #[test]
    fn records_of_responses_are_taken_before_events() {
        let mut counter = Counter::default();
        let (one, two) = (figures([10, 1]), figures([30, 2]));
        let record = |counter: &mut Counter, usage: &str, sum: &str| {
            let (usage, sum) = (Some(usage.as_bytes()), Some(sum.as_bytes()));
            counter.record(usage, sum, None).map(|used| used.total)
        };
        assert_eq!(record(&mut counter, &one, &one), Some(11));
        assert_eq!(counter.event(Some(info([10, 1], [10, 1]).as_bytes()), false), None);
        assert_eq!(record(&mut counter, &figures([20, 1]), &two), Some(21));
        assert_eq!(record(&mut counter, &figures([20, 1]), &two), None, "the same once more");
        assert_eq!(counter.event(Some(info([90, 9], [1, 1]).as_bytes()), false), None);
    }

    #[test]
    fn a_request_counts_once_if_its_event_comes_before_its_record() {
        let mut counter = Counter::default();
        let event = |counter: &mut Counter, total, last| {
            counter.event(Some(info(total, last).as_bytes()), false).map_or(0, |used| used.total)
        };
        let record = |counter: &mut Counter, id: &str, usage: [u64; 2]| {
            let usage = figures(usage);
            let id = format!("\"{id}\"");
            let used = counter.record(Some(usage.as_bytes()), None, Some(id.as_bytes()));
            used.map_or(0, |used| used.total)
        };
        // A file that a release without records began.
        assert_eq!(event(&mut counter, [10, 1], [10, 1]), 11);
        assert_eq!(event(&mut counter, [30, 2], [20, 1]), 21);
        assert_eq!(record(&mut counter, "r1", [20, 1]), 0);
        assert_eq!(event(&mut counter, [60, 3], [30, 1]), 0);
        assert_eq!(record(&mut counter, "r2", [30, 1]), 31);
    }

    #[test]
    fn a_response_counts_once_wherever_it_is_recorded_again() {
        let mut counter = Counter::default();
        let mut record = |id: &str, sum: [u64; 2]| {
            let (usage, sum) = (figures([10, 1]), figures(sum));
            counter
                .record(Some(usage.as_bytes()), Some(sum.as_bytes()), Some(id.as_bytes()))
                .is_some()
        };
        assert!(record("\"r1\"", [10, 1]));
        assert!(record("\"r2\"", [20, 2]));
        assert!(!record("\"r1\"", [10, 1]));
        assert!(record("\"r3\"", [20, 2]), "another response, whatever the sum");
    }
}
