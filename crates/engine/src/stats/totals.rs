//! Sums by day, project, model, and other dimensions.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::civil::Date;
use recount_model::{Fate, SessionFacts, Tokens};

use super::calendar::{monday, month, week};
use super::figures::{Sum, UsageFigures};
use super::logs::{Place, UsageLogs};
use super::walk::{Names, Step, Visitor};
use super::{By, StatsRow};
use crate::stats::usage::Head;

/// The key of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Key {
    Day(Date),
    Hour(i8),
    Number(u32),
    Nothing,
}

/// Sums of one dimension.
#[derive(Debug)]
pub(crate) struct UsageTotals {
    pub(crate) by: By,
    sums: Vec<(Key, Sum)>,
    numbers: HashMap<Key, usize>,
    last: Option<(Key, usize)>,
}

impl UsageTotals {
    pub(crate) fn new(by: By) -> Self {
        Self { by, sums: Vec::new(), numbers: HashMap::new(), last: None }
    }

    fn sum(&mut self, key: Key) -> Option<&mut Sum> {
        let number = match self.last {
            Some((known, number)) if known == key => number,
            _ => *self.numbers.entry(key).or_insert_with(|| {
                self.sums.push((key, Sum::default()));
                self.sums.len() - 1
            }),
        };
        self.last = Some((key, number));
        self.sums.get_mut(number).map(|(_, sum)| sum)
    }

    /// Adds the sums of other totals of the same kind, in which models and tools have other numbers.
    fn join(&mut self, other: Self, (models, tools): (&[u32], &[u32])) {
        for (key, sum) in other.sums {
            let numbers = match self.by {
                By::Model => models,
                By::Tool => tools,
                _ => &[],
            };
            let key = match key {
                Key::Number(number) => {
                    Key::Number(numbers.get(number as usize).copied().unwrap_or(number))
                }
                other => other,
            };
            if let Some(own) = self.sum(key) {
                own.add(&sum);
            }
        }
    }

    /// Returns the sums with their keys, in the order of the keys.
    pub(crate) fn into_sums(mut self) -> Vec<(Key, Sum)> {
        self.sums.sort_by_key(|(key, _)| *key);
        self.sums
    }
}

/// Sums up everything that is visited.
#[derive(Debug)]
pub(crate) struct Count {
    /// Messages further apart than this, in milliseconds, have a pause between them.
    gap: i64,
    /// Per session its project.
    projects: Vec<u32>,
    /// Per session its source.
    sources: Vec<u32>,
    /// Per project one of its sessions.
    pub(crate) examples: Vec<usize>,
    pub(crate) source_names: Names,
    pub(crate) all_totals: Vec<UsageTotals>,
    /// The grand total, unless the first totals include everything anyway.
    total: Option<Sum>,
    /// Requests to models without a price.
    pub(crate) unpriced: BTreeMap<Option<u32>, (u64, Tokens)>,
    /// The previous message in the same usage log.
    before: Option<(Place, i64)>,
    /// Where the usage log began in the window, and the keys of its last message.
    began: Option<i64>,
    keys: Vec<Key>,
    /// Active time since the last request: it belongs to the next one, or to the last one if there is none.
    waiting: Vec<(i64, i64)>,
    last_model: Option<Key>,
}

impl Count {
    pub(crate) fn new(logs: &UsageLogs, gap: i64, by: &[By]) -> Self {
        let (mut keys, mut source_names) = (Names::default(), Names::default());
        let mut examples = Vec::new();
        let project = |(at, session): (usize, &Arc<SessionFacts>)| {
            let number = keys.number(&session.project.key());
            if number as usize == examples.len() {
                examples.push(at);
            }
            number
        };
        let projects = logs.sessions.iter().enumerate().map(project).collect();
        let source = |session: &Arc<SessionFacts>| source_names.number(session.source.as_str());
        Self {
            gap,
            projects,
            sources: logs.sessions.iter().map(source).collect(),
            examples,
            source_names,
            all_totals: by.iter().map(|by| UsageTotals::new(*by)).collect(),
            total: by.first().is_none_or(|by| !by.is_whole()).then(Sum::default),
            unpriced: BTreeMap::new(),
            before: None,
            began: None,
            keys: Vec::new(),
            waiting: Vec::new(),
            last_model: None,
        }
    }

    fn key(&self, by: By, step: &Step<'_>) -> Key {
        let day =
            |of: fn(Date) -> Date| step.slot.map_or(Key::Nothing, |slot| Key::Day(of(slot.day)));
        let number = |number: usize| Key::Number(u32::try_from(number).unwrap_or(u32::MAX));
        match by {
            By::Day => day(|day| day),
            By::Week => day(monday),
            By::Month => day(Date::first_of_month),
            By::Hour => step.slot.map_or(Key::Nothing, |slot| Key::Hour(slot.hour)),
            By::Project => {
                // A sub-agent works for the project of its session.
                let project = self.projects.get(step.place.main);
                project.map_or(Key::Nothing, |project| Key::Number(*project))
            }
            By::Model => step.asked.and_then(|asked| asked.model).map_or(Key::Nothing, Key::Number),
            By::Session => number(step.place.main),
            By::Agent if step.place.main != step.place.session => number(step.place.session),
            By::Source => {
                let source = self.sources.get(step.place.session);
                source.map_or(Key::Nothing, |source| Key::Number(*source))
            }
            By::Agent | By::Tool => Key::Nothing,
        }
    }
}

impl Visitor for Count {
    fn step(&mut self, step: &Step<'_>) {
        let main = u32::try_from(step.place.main).unwrap_or(u32::MAX);
        let work = self.work(step);
        let mut all_totals = std::mem::take(&mut self.all_totals);
        self.keys.clear();
        for totals in &mut all_totals {
            let by = totals.by;
            let key = self.key(by, step);
            self.keys.push(key);
            if by == By::Tool {
                count_tools(totals, step, main);
            } else if by == By::Model && step.asked.is_none() {
                self.waiting.extend(work);
            } else if let Some(sum) = totals.sum(key) {
                add(sum, step, main, work);
                if by == By::Model {
                    self.waiting.drain(..).for_each(|(from, to)| sum.active(from, to));
                    self.last_model = Some(key);
                }
            }
        }
        self.all_totals = all_totals;
        if let Some(total) = &mut self.total {
            add(total, step, main, work);
        }
        if let Some(asked) = step.asked.filter(|asked| asked.quote.is_none()) {
            let (requests, tokens) = self.unpriced.entry(asked.model).or_default();
            *requests += 1;
            *tokens += asked.tokens;
        }
        if let Some(time) = step.time {
            self.began = self.began.or(Some(time));
            self.before = Some((step.place, time));
        }
    }

    fn end(&mut self, _place: Place, head: &Head) {
        let span = self.began.take().zip(self.before.take());
        let keys = std::mem::take(&mut self.keys);
        let waiting = std::mem::take(&mut self.waiting);
        if let Some(model) = self.last_model.take() {
            for totals in self.all_totals.iter_mut().filter(|totals| totals.by == By::Model) {
                let Some(sum) = totals.sum(model) else { continue };
                for (from, to) in &waiting {
                    sum.active(*from, *to);
                }
            }
        }
        let Some((from, (_, to))) = span else { return };
        let close = |sum: &mut Sum| {
            sum.missing(head.side_calls, head.unanswered);
            sum.wall(from, to);
        };
        for (totals, key) in self.all_totals.iter_mut().zip(keys) {
            // Requests besides the conversation have no model, tool or day: they count with the last message.
            if !matches!(totals.by, By::Model | By::Tool)
                && let Some(sum) = totals.sum(key)
            {
                close(sum);
            }
        }
        if let Some(total) = &mut self.total {
            close(total);
        }
    }
}

impl Count {
    /// Adds counts in which models and tools have other numbers.
    pub(crate) fn join(&mut self, other: Self, models: &[u32], tools: &[u32]) {
        for (own, totals) in self.all_totals.iter_mut().zip(other.all_totals) {
            own.join(totals, (models, tools));
        }
        if let (Some(own), Some(total)) = (&mut self.total, &other.total) {
            own.add(total);
        }
        for (model, (requests, tokens)) in other.unpriced {
            let model = model.map(|model| models.get(model as usize).copied().unwrap_or(model));
            let own = self.unpriced.entry(model).or_default();
            own.0 += requests;
            own.1 += tokens;
        }
    }

    /// Returns the grand total.
    pub(crate) fn total(&self) -> UsageFigures {
        let whole = || {
            let mut sum = Sum::default();
            for (_, one) in self.all_totals.first().map_or(&[][..], |totals| &totals.sums) {
                sum.add(one);
            }
            sum
        };
        self.total.clone().unwrap_or_else(whole).figures()
    }

    /// Returns the active time since the previous message, unless there was a pause.
    fn work(&self, step: &Step<'_>) -> Option<(i64, i64)> {
        let ((place, from), to) = self.before.zip(step.time)?;
        (place == step.place && to - from <= self.gap).then_some((from, to))
    }
}

fn add(sum: &mut Sum, step: &Step<'_>, main: u32, work: Option<(i64, i64)>) {
    sum.session(main);
    if step.is_new {
        sum.message(step.event);
    }
    if let Some(asked) = &step.asked {
        sum.request(asked.tokens, asked.quote.as_ref(), asked.fate != Fate::Kept);
    }
    if let Some((from, to)) = work {
        sum.active(from, to);
    }
}

fn count_tools(totals: &mut UsageTotals, step: &Step<'_>, main: u32) {
    if !step.is_new {
        return;
    }
    for (call, tool) in step.event.calls.iter().zip(step.tools) {
        if let Some(sum) = totals.sum(Key::Number(*tool)) {
            sum.session(main);
            sum.call(call.end);
        }
    }
}

/// Builds a row.
pub(crate) fn row(by: By, key: Key, sum: Sum, names: &Naming<'_>) -> StatsRow {
    let session = |number: u32| names.logs.sessions.get(number as usize);
    let original = key;
    let (key, name) = match (by, key) {
        (_, Key::Day(day)) => match by {
            By::Week => (week(day), None),
            By::Month => (month(day), None),
            _ => (day.to_string(), None),
        },
        (_, Key::Hour(hour)) => (format!("{hour:02}"), None),
        (By::Project, Key::Number(number)) => names.project(number),
        (By::Model, Key::Number(number)) => (names.models.name(number).to_owned(), None),
        (By::Tool, Key::Number(number)) => (names.tools.name(number).to_owned(), None),
        (By::Source, Key::Number(number)) => (names.sources.name(number).to_owned(), None),
        (_, Key::Number(number)) => match session(number) {
            Some(session) => (session.id.to_string(), session.title.clone()),
            None => (String::new(), None),
        },
        (By::Agent, Key::Nothing) => ("main".to_owned(), None),
        (_, Key::Nothing) => ("unknown".to_owned(), None),
    };
    let parent = match original {
        Key::Number(number) if by == By::Agent => session(number).and_then(|s| s.parent.clone()),
        _ => None,
    };
    StatsRow { key, name, parent, figures: sum.figures() }
}

/// The names for rows.
#[derive(Debug)]
pub(crate) struct Naming<'a> {
    pub(crate) logs: &'a UsageLogs,
    pub(crate) models: &'a Names,
    pub(crate) tools: &'a Names,
    pub(crate) sources: &'a Names,
    /// Per project one of its sessions.
    pub(crate) examples: &'a [usize],
}

impl Naming<'_> {
    fn project(&self, number: u32) -> (String, Option<String>) {
        let example = self.examples.get(number as usize);
        let Some(session) = example.and_then(|at| self.logs.sessions.get(*at)) else {
            return (String::new(), None);
        };
        (session.project.key(), Some(session.project.name().to_owned()))
    }
}
