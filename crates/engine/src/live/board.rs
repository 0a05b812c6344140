//! The rows of the board: what trackers say, with times, money and what changed.

use std::collections::BTreeMap;

use recount_formats::live::LiveFeed;
use recount_model::{LiveRequest, LiveSession, LiveState, Tokens, timestamp};
use recount_prices::{Money, Prices, context_window};

/// After so long without a prompt a session is idle.
const IDLE: i64 = 10 * 60 * 1000;
/// Rows of sessions that ended stay for so long.
const SHOWN: i64 = 10 * 60 * 1000;

/// A row of the board.
#[derive(Clone, Debug)]
pub struct LiveRow {
    /// The session, as its source sees it.
    pub session: LiveSession,
    /// What it is doing.
    pub state: LiveState,
    /// Since when, in milliseconds.
    pub since: i64,
    /// How full the context is: tokens used, and the window if it is known.
    pub context: Option<(u64, Option<u64>)>,
    /// What it used, as far as was read.
    pub tokens: Tokens,
    /// What that cost, if any of it has a price.
    pub cost_usd: Option<f64>,
    /// Tokens and money a minute, over the last minute and over the last ten.
    pub rates: [LiveRate; 2],
}

/// Tokens and money a minute.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiveRate {
    /// Tokens.
    pub tokens: u64,
    /// Dollars.
    pub usd: f64,
}

/// What became different.
#[derive(Clone, Debug)]
pub struct LiveEvent {
    /// What kind of change.
    pub kind: LiveEventKind,
    /// When, in milliseconds since 1970.
    pub time: i64,
    /// The row as it is now.
    pub row: LiveRow,
    /// What the session was doing before.
    pub before: Option<LiveState>,
}

/// What kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveEventKind {
    /// The session is new on the board.
    Hello,
    /// Something of it is different.
    Session,
    /// It ended.
    Ended,
}

impl LiveEventKind {
    /// Returns its name, as JSON has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hello => "hello",
            Self::Session => "session",
            Self::Ended => "ended",
        }
    }
}

/// What of a row makes a change.
#[derive(Clone, Debug, PartialEq)]
struct Shown {
    state: LiveState,
    certain: bool,
    id: Option<String>,
    process: Option<u32>,
    tool: Option<String>,
    context: Option<(u64, Option<u64>)>,
    total: u64,
    circling: bool,
    subagents: usize,
}

/// What is remembered of a row.
#[derive(Clone, Debug)]
struct Before {
    shown: Shown,
    since: i64,
    ended: Option<i64>,
}

/// The board.
#[derive(Debug)]
pub struct LiveBoard {
    feed: LiveFeed,
    prices: Option<Prices>,
    before: BTreeMap<String, Before>,
}

/// Returns what a request costs in units of 10^-12 dollars, if its model has a price.
pub(crate) fn cost(request: &LiveRequest, prices: Option<&Prices>) -> Option<u128> {
    let day = timestamp(request.time)?.to_zoned(jiff::tz::TimeZone::UTC).date();
    Some(prices?.quote(request.model.as_deref()?, day, &request.tokens)?.cost.units())
}

impl LiveBoard {
    pub(crate) fn new(feed: LiveFeed, prices: Option<Prices>) -> Self {
        Self { feed, prices, before: BTreeMap::new() }
    }

    /// Returns the trackers.
    pub fn feed(&mut self) -> &mut LiveFeed {
        &mut self.feed
    }

    /// Returns the rows at a moment, those that need somebody first.
    pub fn rows(&mut self, now: i64) -> Vec<LiveRow> {
        self.feed.forget(now - SHOWN);
        let prices = self.prices.as_ref();
        let sessions = self.feed.sessions(now, &|request| cost(request, prices));
        Self::rows_of(sessions, now)
    }

    fn rows_of(sessions: Vec<LiveSession>, now: i64) -> Vec<LiveRow> {
        let mut rows: Vec<LiveRow> =
            sessions.into_iter().map(|session| Self::row(session, now)).collect();
        rows.sort_by(|one, other| {
            (one.state, one.session.started).cmp(&(other.state, other.session.started))
        });
        rows
    }

    /// Returns the rows at a moment, and what is different since the last time.
    pub fn changes(&mut self, now: i64) -> (Vec<LiveRow>, Vec<LiveEvent>) {
        let rows = self.rows(now);
        self.changed(rows, now)
    }

    /// The same for sessions that others have found.
    pub(crate) fn changes_of(
        &mut self,
        sessions: Vec<LiveSession>,
        now: i64,
    ) -> (Vec<LiveRow>, Vec<LiveEvent>) {
        let rows = Self::rows_of(sessions, now);
        self.changed(rows, now)
    }

    fn changed(&mut self, mut rows: Vec<LiveRow>, now: i64) -> (Vec<LiveRow>, Vec<LiveEvent>) {
        let mut events = Vec::new();
        let mut met = BTreeMap::new();
        for row in &mut rows {
            let key = key(&row.session);
            let shown = shown(row);
            let before = self.before.get(&key);
            let has_ended = matches!(row.state, LiveState::Done | LiveState::Gone)
                || (row.state == LiveState::Failed && row.session.headless);
            let ended = match before.and_then(|before| before.ended) {
                Some(ended) if has_ended => Some(ended),
                _ => has_ended.then_some(now),
            };
            let since = match before {
                Some(before) if before.shown.state == shown.state => before.since,
                Some(_) => now,
                None => row.since,
            };
            row.since = since;
            let kind = match before {
                None => Some(LiveEventKind::Hello),
                Some(before) if before.shown == shown => None,
                Some(before) if has_ended && before.ended.is_none() => Some(LiveEventKind::Ended),
                Some(_) => Some(LiveEventKind::Session),
            };
            if let Some(kind) = kind {
                let before = before.map(|before| before.shown.state);
                events.push(LiveEvent { kind, time: now, row: row.clone(), before });
            }
            met.insert(key, Before { shown, since, ended });
        }
        self.before = met;
        (rows, events)
    }

    fn row(session: LiveSession, now: i64) -> LiveRow {
        let newest = session.signals.iter().map(|signal| signal.at).filter(|at| *at > 0).max();
        let since = newest.or(session.started).unwrap_or(now).min(now);
        let state = match session.state {
            LiveState::Yours if now - since >= IDLE => LiveState::Idle,
            state => state,
        };
        let context = session.context.map(|context| {
            let model = session.model.as_deref().unwrap_or_default();
            (context.used, context.window.or_else(|| context_window(model, context.used)))
        });
        let usage = session.usage;
        let dollars = |cost: u128| Money::from_units(cost).dollars();
        let rates = [(0, 1), (1, 10)].map(|(span, minutes)| {
            let span = usage.recent.get(span).copied().unwrap_or_default();
            LiveRate {
                tokens: span.tokens / minutes,
                usd: dollars(span.cost / u128::from(minutes)),
            }
        });
        let (tokens, cost_usd) = (usage.tokens, usage.cost.map(dollars));
        LiveRow { session, state, since, context, tokens, cost_usd, rates }
    }
}

fn key(session: &LiveSession) -> String {
    format!("{}:{}", session.source, session.key)
}

fn shown(row: &LiveRow) -> Shown {
    let session = &row.session;
    let tool = session.tool.as_ref();
    Shown {
        state: row.state,
        certain: session.certain,
        id: session.id.as_ref().map(|id| id.as_str().to_owned()),
        process: session.process,
        tool: tool.map(|tool| format!("{} {:?}", tool.name, tool.argument)),
        context: row.context,
        total: row.tokens.total,
        circling: session.circling.is_some(),
        subagents: session.subagents.iter().filter(|one| one.is_working).count(),
    }
}
