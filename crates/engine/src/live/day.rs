//! A past day, played from what session files record: when each message was written says what a session was doing.
//!
//! What nobody records cannot be played: whether a tool waited for a permission, and when a process ended.

use std::collections::BTreeMap;
use std::sync::Arc;

use recount_model::{
    ContextUse, LiveRequest, LiveSession, LiveSignal, LiveSpan, LiveState, LiveSubagent,
    LiveTerminal, LiveTool, LiveUsage, Message, MessageKind, NoticeLevel, RecordedPath,
    SessionFacts, SessionId, SessionKind, SourceName, Tokens,
};

use crate::live::board::cost;
use crate::messages::cursor::MessageCursor;
use crate::messages::{Bound, View};
use crate::sessions::list::ListQuery;
use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error};

/// A session that is silent for so long has ended.
const SILENT: i64 = 30 * 60 * 1000;
/// Rows of sessions that ended stay for so long.
const SHOWN: i64 = 10 * 60 * 1000;
/// Messages that are read at once.
const PAGE: usize = 256;
/// Characters of a text that are kept.
const TEXT: usize = 200;

/// What a session began to do at a moment.
#[derive(Clone, Debug)]
struct Mark {
    at: i64,
    state: LiveState,
    says: &'static str,
    tool: Option<LiveTool>,
    doing: Option<String>,
}

/// One session of the day.
#[derive(Debug)]
struct Played {
    facts: Arc<SessionFacts>,
    marks: Vec<Mark>,
    /// By time, each with its cost.
    requests: Vec<(LiveRequest, Option<u128>)>,
    /// Which of the sessions it is a sub-agent of.
    parent: Option<usize>,
}

/// The sessions of one day.
#[derive(Debug, Default)]
pub(crate) struct Day {
    sessions: Vec<Played>,
    /// Moments at which something changes, in order.
    moments: Vec<i64>,
    /// Messages that could not be read.
    pub(crate) broken: usize,
}

impl Day {
    /// Reads what was written between two moments, in milliseconds.
    pub(crate) fn read(
        engine: &Engine,
        start: i64,
        end: i64,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        let prices = engine.prices().ok();
        let (since, until) = (recount_model::timestamp(start), recount_model::timestamp(end - 1));
        let listing = engine.list(&ListQuery { since, until, ..ListQuery::default() }, progress)?;
        let mut day = Self::default();
        for facts in &listing.sessions {
            let bounds = (since.map(Bound::Time), until.map(Bound::Time));
            day.add(engine, facts, &bounds, progress);
        }
        for (request, usd) in day.sessions.iter_mut().flat_map(|one| &mut one.requests) {
            *usd = cost(request, prices.as_ref());
        }
        let places: BTreeMap<_, _> = day
            .sessions
            .iter()
            .enumerate()
            .map(|(at, one)| ((one.facts.source, one.facts.id.clone()), at))
            .collect();
        for one in &mut day.sessions {
            let parent = one.facts.parent.clone().map(|parent| (one.facts.source, parent));
            one.parent = parent.and_then(|parent| places.get(&parent).copied());
        }
        let marks = day.sessions.iter().flat_map(|one| &one.marks).map(|mark| mark.at);
        day.moments = marks.collect();
        day.moments.sort_unstable();
        day.moments.dedup();
        Ok(day)
    }

    fn add(
        &mut self,
        engine: &Engine,
        facts: &Arc<SessionFacts>,
        (from, to): &(Option<Bound>, Option<Bound>),
        progress: &dyn Progress,
    ) {
        let name = format!("{}:{}", facts.source, facts.id);
        let Ok(opened) = engine.open(&name, progress) else {
            self.broken += 1;
            return;
        };
        let mut messages = MessageCursor::new(Arc::new(opened), View::Full);
        // Nothing of it was written on that day.
        if messages.keep_between(from.as_ref(), to.as_ref()).is_err() {
            return;
        }
        let mut played = Played {
            facts: Arc::clone(facts),
            marks: Vec::new(),
            requests: Vec::new(),
            parent: None,
        };
        loop {
            let page = messages.next_page(PAGE);
            if page.is_empty() {
                break;
            }
            for message in page {
                match message {
                    Ok(message) => played.take(&message),
                    Err(_) => self.broken += 1,
                }
            }
        }
        // Clocks are set back, and results are recorded before what asked for them.
        played.marks.sort_by_key(|mark| mark.at);
        played.requests.sort_by_key(|(request, _)| request.time);
        if !played.marks.is_empty() {
            self.sessions.push(played);
        }
    }

    /// Returns the titles of the sessions.
    pub(crate) fn titles(&self) -> impl Iterator<Item = (SourceName, &SessionId, &str)> {
        let facts = self.sessions.iter().map(|one| &one.facts);
        facts.filter_map(|facts| Some((facts.source, &facts.id, facts.title.as_deref()?)))
    }

    /// Returns the first moment after `t` at which something changes.
    pub(crate) fn next_moment(&self, t: i64) -> Option<i64> {
        let at = self.moments.partition_point(|moment| *moment <= t);
        self.moments.get(at).copied()
    }

    /// Returns what each session was doing.
    pub(crate) fn sessions(&self, now: i64) -> Vec<LiveSession> {
        let mut rows = Vec::new();
        for (number, one) in self.sessions.iter().enumerate() {
            if one.parent.is_some() {
                continue;
            }
            let below: Vec<&Played> =
                self.sessions.iter().filter(|child| child.parent == Some(number)).collect();
            rows.extend(one.row(&below, now));
        }
        rows
    }
}

impl Played {
    /// Adds a mark; what was said last stays until something else is.
    fn mark(&mut self, at: i64, state: LiveState, says: &'static str, doing: Option<String>) {
        let doing = doing.or_else(|| self.marks.last().and_then(|mark| mark.doing.clone()));
        self.marks.push(Mark { at, state, says, tool: None, doing });
    }

    fn take(&mut self, message: &Message) {
        let Some(at) = message.time.map(jiff::Timestamp::as_millisecond) else { return };
        let text = || Some(one_line(&message.display_text)).filter(|text| !text.is_empty());
        match message.kind {
            MessageKind::Prompt => {
                self.mark(at, LiveState::Working, "a prompt", text());
            }
            MessageKind::ToolResult => {
                self.mark(at, LiveState::Working, "tool results", None);
            }
            MessageKind::Notice if message.level == Some(NoticeLevel::Error) => {
                self.mark(at, LiveState::Failed, "an error", text());
            }
            MessageKind::Answer => self.answer(at, message, text()),
            MessageKind::Context
            | MessageKind::Hook
            | MessageKind::Shell
            | MessageKind::Notice
            | MessageKind::Summary
            | MessageKind::Nudge => {}
        }
    }

    fn answer(&mut self, at: i64, message: &Message, text: Option<String>) {
        let state = if message.tool_calls.is_empty() { LiveState::Yours } else { LiveState::Tool };
        let says = if message.tool_calls.is_empty() { "an answer" } else { "tool calls" };
        let tool = message.tool_calls.last().map(|call| LiveTool {
            name: call.display_name.clone().unwrap_or_else(|| call.name.clone()),
            argument: call.key_arg.as_deref().map(one_line),
            since: at,
        });
        self.mark(at, state, says, text);
        if let Some(mark) = self.marks.last_mut() {
            mark.tool = tool;
        }
        let finished = message.tool_calls.iter().filter_map(|call| call.time);
        let finished =
            finished.map(jiff::Timestamp::as_millisecond).filter(|time| *time > at).max();
        if let Some(finished) = finished {
            self.mark(finished, LiveState::Working, "tool results", None);
        }
        if let Some(tokens) = message.tokens {
            let id = message.id.as_ref().map(ToString::to_string);
            let key = id.unwrap_or_else(|| message.place.offset.to_string());
            let model = message.model.clone();
            self.requests.push((LiveRequest { key, time: at, model, tokens }, None));
        }
    }

    /// Returns the mark that counts at a moment.
    fn at(&self, now: i64) -> Option<&Mark> {
        let after = self.marks.partition_point(|mark| mark.at <= now);
        self.marks.get(after.checked_sub(1)?)
    }

    fn requests_until(&self, now: i64) -> &[(LiveRequest, Option<u128>)] {
        let end = self.requests.partition_point(|(request, _)| request.time <= now);
        self.requests.get(..end).unwrap_or_default()
    }

    /// Returns what was used until a moment.
    fn usage(&self, now: i64) -> LiveUsage {
        let mut usage = LiveUsage::default();
        for (request, cost) in self.requests_until(now) {
            let span = LiveSpan { tokens: request.tokens.total, cost: cost.unwrap_or_default() };
            let within = |minutes: i64| {
                if now - request.time < minutes * 60_000 { span } else { LiveSpan::default() }
            };
            let (tokens, recent) = (request.tokens, [within(1), within(10)]);
            usage += LiveUsage { tokens, cost: *cost, recent };
        }
        usage
    }

    fn row(&self, below: &[&Self], now: i64) -> Option<LiveSession> {
        let mark = self.at(now)?;
        let lasts = below.iter().filter_map(|child| Some(child.at(now)?.at));
        let silent = now - lasts.chain([mark.at]).max().unwrap_or(mark.at);
        if silent >= SILENT + SHOWN {
            return None;
        }
        let has_ended = silent >= SILENT;
        let state = match mark.state {
            LiveState::Failed => LiveState::Failed,
            _ if has_ended => LiveState::Done,
            state => state,
        };
        let mut signals =
            vec![LiveSignal { from: "records", says: mark.says.to_owned(), at: mark.at }];
        if has_ended {
            let says = "nothing for half an hour".to_owned();
            signals = vec![LiveSignal { from: "records", says, at: mark.at + SILENT }];
        }
        let last = self.requests_until(now).last().map(|(request, _)| request);
        let mut usage = self.usage(now);
        for child in below {
            usage += child.usage(now);
        }
        let subagents = below.iter().filter_map(|child| {
            let mark = child.at(now)?;
            let is_over = child.marks.last().is_some_and(|last| last.at <= now);
            let id = child.facts.id.as_str().to_owned();
            Some(LiveSubagent { id, is_working: !is_over, changed: mark.at })
        });
        let facts = &self.facts;
        let folder = facts.project.path.as_ref().map(RecordedPath::as_str).map(str::to_owned);
        let used = |tokens: Tokens| tokens.input.saturating_add(tokens.output);
        Some(LiveSession {
            source: facts.source,
            key: facts.id.as_str().to_owned(),
            id: Some(facts.id.clone()),
            process: None,
            started: self.marks.first().map(|mark| mark.at),
            folder,
            headless: facts.kind == SessionKind::Headless,
            state,
            certain: matches!(state, LiveState::Working | LiveState::Yours | LiveState::Failed),
            signals,
            tool: mark.tool.clone().filter(|_| state == LiveState::Tool),
            doing: mark.doing.clone(),
            context: last.map(|last| ContextUse { used: used(last.tokens), window: None }),
            model: last.and_then(|last| last.model.clone()),
            usage,
            subagents: subagents.collect(),
            terminal: LiveTerminal::default(),
            circling: None,
        })
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TEXT).collect()
}
