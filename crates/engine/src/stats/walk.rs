//! Iterates over all messages of all sessions, each once.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use recount_formats::source::Unrecorded;
use recount_model::{Fate, Tokens};
use recount_prices::{PriceEntry, Prices, Quote};
use serde::Serialize;

use super::calendar::{Calendar, Slot};
use super::logs::{Place, UsageLogs};
use crate::stats::usage::{Event, Head, Said, UsageLogReader};

/// Marks messages that were seen without figures.
const BARE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Which messages to visit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    /// Since this time.
    pub(crate) since: Option<Timestamp>,
    /// Until this time.
    pub(crate) until: Option<Timestamp>,
    /// Only requests to a model whose name contains this.
    pub(crate) model: Option<String>,
}

/// What is recorded more than once, and was counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Duplicates {
    /// Records of requests that were written again in the same file.
    pub repeated: u64,
    /// Requests in several files of their session: copies, twins, parts.
    pub copied: u64,
    /// Requests in other sessions as well: those created from one another.
    pub elsewhere: u64,
}

/// Names by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    pub(crate) fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    /// Returns the number of a name, if it has one.
    pub(crate) fn number_of(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }
}

/// One visited message.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub(crate) place: Place,
    pub(crate) event: &'a Event,
    /// Whether it was not seen before.
    pub(crate) is_new: bool,
    /// Its time in milliseconds; that of its neighbour if it has none.
    pub(crate) time: Option<i64>,
    pub(crate) slot: Option<Slot>,
    /// Its request, unless that was already counted.
    pub(crate) asked: Option<Asked<'a>>,
    /// The tool of each call.
    pub(crate) tools: &'a [u32],
}

/// A visited request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// The model, by its number.
    pub(crate) model: Option<u32>,
    pub(crate) tokens: Tokens,
    pub(crate) quote: Option<Quote>,
    pub(crate) fate: Fate,
    pub(crate) unrecorded: Unrecorded,
    /// Its prices, on any day.
    pub(crate) entry: Option<&'a PriceEntry>,
}

/// Receives the visited messages.
pub(crate) trait Visitor {
    /// A message.
    fn step(&mut self, step: &Step<'_>);

    /// A request that was already counted, in another session.
    fn double(&mut self, _slot: Option<Slot>, _tokens: Tokens) {}

    /// The end of a session's usage log.
    fn end(&mut self, _place: Place, _head: &Head) {}
}

/// Iterates over the usage logs.
#[derive(Debug)]
pub(crate) struct UsageWalk<'a> {
    prices: &'a Prices,
    window: &'a Window,
    calendar: Calendar,
    pub(crate) models: Names,
    pub(crate) tools: Names,
    /// The prices of each model.
    pub(crate) entries: Vec<Option<&'a PriceEntry>>,
    /// The keys that were seen; answers without figures have a second one.
    met: HashSet<u64, BuildHasherDefault<Spread>>,
    pub(crate) duplicates: Duplicates,
}

impl<'a> UsageWalk<'a> {
    pub(crate) fn new(prices: &'a Prices, window: &'a Window, zone: TimeZone) -> Self {
        Self {
            prices,
            window,
            calendar: Calendar::new(zone),
            models: Names::default(),
            tools: Names::default(),
            entries: Vec::new(),
            met: HashSet::default(),
            duplicates: Duplicates::default(),
        }
    }

    /// Visits all sessions, earliest start first, and reports the selected ones.
    pub(crate) fn go(&mut self, logs: &UsageLogs, visitor: &mut dyn Visitor) {
        self.visit(logs, logs.order(), visitor);
    }

    /// Visits some of the sessions, in the given order, which is that of time.
    pub(crate) fn visit(
        &mut self,
        logs: &UsageLogs,
        sessions: &[usize],
        visitor: &mut dyn Visitor,
    ) {
        let some = || logs.of(sessions);
        let said = some().filter_map(|(place, _)| logs.sessions.get(place.session));
        let said = said.map(|session| session.counts.answers + session.counts.prompts);
        self.met.reserve(usize::try_from(said.sum::<u64>()).unwrap_or_default());
        for (place, usage_logs) in some() {
            let started = logs.sessions.get(place.session).and_then(|session| session.started);
            for page in usage_logs.iter().filter_map(|content| UsageLogReader::open(content)) {
                self.session(place, &page, started.map(Timestamp::as_millisecond), visitor);
            }
        }
    }

    fn session(
        &mut self,
        place: Place,
        page: &UsageLogReader<'_>,
        started: Option<i64>,
        visitor: &mut dyn Visitor,
    ) {
        let head = &page.head;
        let models: Vec<u32> = head.models.iter().map(|name| self.model(name)).collect();
        let tools: Vec<u32> = head.tools.iter().map(|name| self.tools.number(name)).collect();
        let mut called = Vec::new();
        let mut last = started;
        // Stored data has a checksum: it is read completely or not at all.
        let _whole = page.each(|event, time| {
            let (is_new, is_asking) = self.mark_seen(event, place);
            last = time.or(last);
            let is_double = !is_asking && !is_new && place.is_asked;
            if let Some(request) = event.request.as_ref().filter(|_| is_double) {
                let slot = last.and_then(|time| self.calendar.slot(time));
                visitor.double(slot, request.tokens);
            }
            if !place.is_asked || !(is_new || is_asking) || !self.is_within(last) {
                return;
            }
            called.clear();
            let tool = |number: u16| tools.get(usize::from(number)).copied();
            called.extend(event.calls.iter().filter_map(|call| tool(call.tool)));
            let slot = last.and_then(|time| self.calendar.slot(time));
            let asked = is_asking.then(|| self.asked(event, &models, slot)).flatten();
            let step = Step { place, event, is_new, time: last, slot, asked, tools: &called };
            visitor.step(&step);
        });
        if place.is_asked {
            self.duplicates.repeated += u64::from(head.repeated);
            self.duplicates.copied += head.copies.len() as u64;
            visitor.end(place, head);
        }
    }

    /// Whether anything was seen on both walks.
    pub(crate) fn crosses(&self, other: &Self) -> bool {
        let (fewer, more) =
            if self.met.len() < other.met.len() { (self, other) } else { (other, self) };
        fewer.met.iter().any(|id| more.met.contains(id))
    }

    /// Adds what was seen on a walk without common messages, and returns our numbers for its models and tools.
    pub(crate) fn join(&mut self, other: &Self) -> (Vec<u32>, Vec<u32>) {
        self.duplicates.repeated += other.duplicates.repeated;
        self.duplicates.copied += other.duplicates.copied;
        self.duplicates.elsewhere += other.duplicates.elsewhere;
        let models = other.models.names.iter().map(|name| self.model(name)).collect();
        let tools = other.tools.names.iter().map(|name| self.tools.number(name)).collect();
        (models, tools)
    }

    /// Returns whether the message, and whether its request, is seen for the first time.
    fn mark_seen(&mut self, event: &Event, place: Place) -> (bool, bool) {
        let asks = event.request.is_some();
        // An answer may have lost its figures in one session and kept them in another.
        let bare = event.id ^ BARE;
        if self.met.insert(event.id) {
            if event.said == Said::Answer && !asks {
                self.met.insert(bare);
            }
            return (true, asks);
        }
        if asks && self.met.remove(&bare) {
            return (false, true);
        }
        self.duplicates.elsewhere += u64::from(asks && place.is_asked);
        (false, false)
    }

    fn is_within(&self, time: Option<i64>) -> bool {
        let Window { since, until, .. } = self.window;
        let after = |since: &Timestamp| time.is_some_and(|time| time >= since.as_millisecond());
        let before = |until: &Timestamp| time.is_some_and(|time| time <= until.as_millisecond());
        since.as_ref().is_none_or(after) && until.as_ref().is_none_or(before)
    }

    /// Returns the day and hour of a time.
    pub(crate) fn slot(&mut self, time: i64) -> Option<Slot> {
        self.calendar.slot(time)
    }

    fn asked(&self, event: &Event, models: &[u32], slot: Option<Slot>) -> Option<Asked<'a>> {
        let request = event.request.as_ref()?;
        let model = request.model.and_then(|model| models.get(usize::from(model))).copied();
        if let Some(wanted) = &self.window.model
            && !model.is_some_and(|model| self.models.name(model).contains(wanted.as_str()))
        {
            return None;
        }
        let entry = model.and_then(|model| self.entries.get(model as usize)).copied().flatten();
        let quote = entry.zip(slot).map(|(entry, slot)| entry.quote(slot.utc, &request.tokens));
        let (tokens, fate) = (request.tokens, event.fate);
        let unrecorded = event.unrecorded;
        Some(Asked { model, tokens, quote, fate, unrecorded, entry })
    }

    fn model(&mut self, name: &str) -> u32 {
        let number = self.models.number(name);
        if number as usize == self.entries.len() {
            self.entries.push(self.prices.entry(name));
        }
        number
    }
}

/// Keys are already hashes.
#[derive(Debug, Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}
