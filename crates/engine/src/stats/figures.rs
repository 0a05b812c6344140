//! Usage figures.

use recount_formats::outline::CallEnd;
use recount_formats::source::Unrecorded;
use recount_model::Tokens;
use recount_prices::{Money, Quote};
use serde::Serialize;

use super::spans::Spans;
use crate::stats::usage::{Event, Said};

/// Usage figures of a day, a project, a model, or of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UsageFigures {
    /// Sessions; a sub-agent's belongs to the one that ran it.
    pub sessions: u64,
    /// Requests to models with recorded figures, each once.
    pub requests: u64,
    /// Those whose answer was undone later. They were billed as well.
    pub undone: u64,
    /// What humans typed.
    pub prompts: u64,
    /// What models said.
    pub answers: u64,
    /// Their tokens.
    pub tokens: Tokens,
    /// Their cost; `null` if no price is known, or nothing was recorded of what was used.
    pub cost_usd: Option<Money>,
    /// Whether less is recorded, or less has a price, than was billed.
    pub cost_is_lower_bound: bool,
    /// Requests without a known price.
    pub unpriced: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Failed ones.
    pub tools_failed: u64,
    /// Those cancelled by the human.
    pub tools_cancelled: u64,
    /// Time between messages without a pause; overlaps count once.
    pub active_seconds: u64,
    /// Time from the first message of each session to its last; overlaps count once.
    pub wall_seconds: u64,
    /// What was billed but not recorded.
    pub missing: Missing,
}

/// What was billed but not recorded, as far as is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// Requests whose replies were merged into the record of another.
    pub rounds: u64,
    /// Requests with possibly only the first figures recorded.
    pub first_figures: u64,
    /// Replies without figures.
    pub no_figures: u64,
    /// Prompts without an answer: requests that failed or were stopped.
    pub unanswered: u64,
    /// Requests besides the conversation: titles, summaries, searches.
    pub side_calls: u64,
}

/// A reason why something was billed but not recorded, as in [`Missing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingReason {
    /// Replies were merged into the record of another.
    Rounds,
    /// Only the first figures may be recorded.
    FirstFigures,
    /// Replies have no figures.
    NoFigures,
    /// Prompts have no answer.
    Unanswered,
    /// Requests besides the conversation are never recorded.
    SideCalls,
}

impl Missing {
    /// Whether nothing is missing.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what is missing and why: each number that is not 0, with its reason.
    pub fn reasons(&self) -> Vec<(u64, MissingReason)> {
        let reasons = [
            (self.rounds, MissingReason::Rounds),
            (self.first_figures, MissingReason::FirstFigures),
            (self.no_figures, MissingReason::NoFigures),
            (self.unanswered, MissingReason::Unanswered),
            (self.side_calls, MissingReason::SideCalls),
        ];
        reasons.into_iter().filter(|(number, _)| *number > 0).collect()
    }

    pub(crate) fn add(&mut self, left: &Unrecorded) {
        self.rounds += u64::from(left.rounds);
        self.first_figures += u64::from(left.first_figures);
        self.no_figures += u64::from(left.no_figures);
        self.side_calls += u64::from(left.side_calls);
    }
}

impl UsageFigures {
    /// Returns the share of prompt tokens that came from the cache.
    pub fn cache_share(&self) -> Option<f64> {
        share(self.tokens.cached, self.tokens.input)
    }

    /// Returns the share of tool calls that failed.
    pub fn failure_share(&self) -> Option<f64> {
        share(self.tools_failed, self.tool_calls)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Figures while they are being summed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    figures: UsageFigures,
    cost: Money,
    priced: u64,
    sessions: Vec<u32>,
    active: Spans,
    wall: Spans,
}

impl Sum {
    /// Adds a message that was not counted yet.
    pub(crate) fn message(&mut self, event: &Event) {
        self.figures.prompts += u64::from(event.said == Said::Prompt);
        self.figures.answers += u64::from(event.said == Said::Answer);
        for call in &event.calls {
            self.call(call.end);
        }
        self.figures.missing.add(&event.unrecorded);
    }

    /// Adds a tool call.
    pub(crate) fn call(&mut self, end: CallEnd) {
        self.figures.tool_calls += 1;
        self.figures.tools_failed += u64::from(end == CallEnd::Failed);
        self.figures.tools_cancelled += u64::from(end == CallEnd::Cancelled);
    }

    /// Adds a request that was not counted yet.
    pub(crate) fn request(&mut self, tokens: Tokens, quote: Option<&Quote>, is_undone: bool) {
        self.figures.requests += 1;
        self.figures.undone += u64::from(is_undone);
        self.figures.tokens += tokens;
        match quote {
            Some(quote) => {
                self.priced += 1;
                self.cost += quote.cost;
            }
            None => self.figures.unpriced += 1,
        }
    }

    pub(crate) fn session(&mut self, number: u32) {
        if self.sessions.last() != Some(&number) {
            self.sessions.push(number);
        }
    }

    pub(crate) fn active(&mut self, from: i64, to: i64) {
        self.active.add(from, to);
    }

    pub(crate) fn wall(&mut self, from: i64, to: i64) {
        self.wall.add(from, to);
    }

    /// Adds what is missing of a session as a whole.
    pub(crate) fn missing(&mut self, side_calls: u32, unanswered: u32) {
        self.figures.missing.side_calls += u64::from(side_calls);
        self.figures.missing.unanswered += u64::from(unanswered);
    }

    /// Adds another sum.
    pub(crate) fn add(&mut self, other: &Self) {
        let (own, others) = (&mut self.figures, &other.figures);
        own.requests += others.requests;
        own.undone += others.undone;
        own.prompts += others.prompts;
        own.answers += others.answers;
        own.tokens += others.tokens;
        own.unpriced += others.unpriced;
        own.tool_calls += others.tool_calls;
        own.tools_failed += others.tools_failed;
        own.tools_cancelled += others.tools_cancelled;
        own.missing.rounds += others.missing.rounds;
        own.missing.first_figures += others.missing.first_figures;
        own.missing.no_figures += others.missing.no_figures;
        own.missing.unanswered += others.missing.unanswered;
        own.missing.side_calls += others.missing.side_calls;
        self.cost += other.cost;
        self.priced += other.priced;
        self.sessions.extend_from_slice(&other.sessions);
        self.active.extend(&other.active);
        self.wall.extend(&other.wall);
    }

    /// Returns the figures.
    pub(crate) fn figures(mut self) -> UsageFigures {
        self.sessions.sort_unstable();
        self.sessions.dedup();
        let mut figures = self.figures;
        figures.sessions = self.sessions.len() as u64;
        figures.cost_is_lower_bound = figures.unpriced > 0 || !figures.missing.is_nothing();
        // Without a price, or without any record of what was used, it is not 0 but unknown.
        let is_known = self.priced > 0 || !figures.cost_is_lower_bound;
        figures.cost_usd = is_known.then_some(self.cost);
        figures.active_seconds = self.active.seconds();
        figures.wall_seconds = self.wall.seconds();
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_a_reason() {
        let missing = Missing { unanswered: 1, side_calls: 2, ..Missing::default() };
        let reasons = [(1, MissingReason::Unanswered), (2, MissingReason::SideCalls)];
        assert_eq!(missing.reasons(), reasons);
        assert!(Missing::default().reasons().is_empty());
    }
}
