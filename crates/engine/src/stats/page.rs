//! A report as a page: all that was counted, handed to who draws it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use recount_export::report;
use recount_model::SessionKind;

use super::books::{Books, Place};
use super::figures::Sum;
use super::tally::{Count, Key, Naming, Tally, row};
use super::walk::{Step, Visitor, Walk};
use super::{Asked, Basis, By, Content, Figures, Money, Origin, PriceEntry, Row, basis, sort};
use crate::ledger::Head;
use crate::list::nearest;
use crate::survey::Progress;
use crate::{Engine, Error};

/// What stands side by side in a report.
const SIDES: [By; 8] =
    [By::Day, By::Week, By::Month, By::Hour, By::Project, By::Model, By::Tool, By::Session];

/// A report that is ready to be written.
#[derive(Debug)]
pub struct Paged {
    report: report::Report,
    /// All that was asked for together.
    pub total: Figures,
    /// How it was counted.
    pub basis: Basis,
}

impl Paged {
    /// Writes the page.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        report::write(&self.report, out)
    }
}

impl Engine {
    /// Counts all that a report has. Every message is read, for files and for why tools failed.
    ///
    /// # Errors
    /// If a filter is not understood, or a price of the user's.
    pub fn paged(&self, asked: &Asked, progress: &dyn Progress) -> Result<Paged, Error> {
        let prices = self.prices()?;
        let content = self.content(asked, progress)?;
        let books = self.books(&asked.sessions, progress)?;
        let window = asked.window();
        let gap = i64::try_from(asked.gap.as_millis()).unwrap_or(i64::MAX);
        let mut walk = Walk::new(&prices, &window, asked.zone.clone());
        let mut shared = Shared { count: Count::new(&books, gap, &SIDES), shares: BTreeMap::new() };
        walk.go(&books, &mut shared);
        let Shared { mut count, shares } = shared;
        let basis = basis(&books, asked, &walk, &count);
        let total = count.total();
        let tallies = std::mem::take(&mut count.tallies);
        let naming = Naming {
            books: &books,
            models: &walk.models,
            tools: &walk.tools,
            sources: &count.source_names,
            examples: &count.examples,
        };
        let mut report = report::Report {
            made: local(self.clock.now(), asked),
            time_zone: basis.time_zone.clone(),
            gap_seconds: u64::try_from(basis.gap_seconds).unwrap_or_default(),
            since: basis.since.map(|since| local(since, asked)),
            until: basis.until.map(|until| local(until, asked)),
            filters: filters(asked, &books),
            total: figures(&total),
            basis: told(&basis, &total, &content),
            ..report::Report::default()
        };
        for tally in tallies {
            fill(&mut report, tally, &naming, asked);
        }
        let place: BTreeMap<String, usize> =
            (0..).zip(&report.models).map(|(at, row)| (row.name.clone(), at)).collect();
        report.shares = shared_out(shares, |model| {
            let name = model.map_or(UNKNOWN, |model| walk.models.name(model));
            place.get(name).copied()
        });
        report.basis.prices = report
            .models
            .iter()
            .filter_map(|row| Some(priced(&row.name, prices.entry(&row.name)?)))
            .flatten()
            .collect();
        report.errors = content.errors.into_iter().map(error).collect();
        report.files = content.files.into_iter().map(file).collect();
        // What is taken apart when the process ends anyway only takes time.
        std::mem::forget(books);
        Ok(Paged { report, total, basis })
    }

    /// Writes a report to a file. Returns how many bytes it has.
    ///
    /// # Errors
    /// If the file lies in an agent's folder or cannot be written.
    pub fn write_paged(&self, paged: &Paged, path: &Path) -> Result<u64, Error> {
        self.keep_out_of_agents_folders(path)?;
        Ok(recount_writer::write_with(path, |out| paged.write(out))?)
    }
}

/// What a row is called whose key is not on record.
const UNKNOWN: &str = "unknown";

/// Counts, and takes down what each model took of each day.
#[derive(Debug)]
struct Shared {
    count: Count,
    shares: BTreeMap<(Date, Option<u32>), (Money, u64)>,
}

impl Visitor for Shared {
    fn step(&mut self, step: &Step<'_>) {
        self.count.step(step);
        if let (Some(asked), Some(slot)) = (&step.asked, step.slot) {
            let (cost, tokens) = self.shares.entry((slot.day, asked.model)).or_default();
            *cost += asked.quote.map(|quote| quote.cost).unwrap_or_default();
            *tokens += asked.tokens.total;
        }
    }

    fn end(&mut self, place: Place, head: &Head) {
        self.count.end(place, head);
    }
}

fn shared_out(
    shares: BTreeMap<(Date, Option<u32>), (Money, u64)>,
    place: impl Fn(Option<u32>) -> Option<usize>,
) -> Vec<report::Share> {
    let share = |((day, model), (cost, tokens)): (_, (Money, u64))| {
        Some(report::Share { day, model: place(model)?, cost: cost.units(), tokens })
    };
    shares.into_iter().filter_map(share).collect()
}

/// Puts what was added up where it belongs.
fn fill(report: &mut report::Report, tally: Tally, naming: &Naming<'_>, asked: &Asked) {
    let by = tally.by;
    let sums = tally.into_sums();
    match by {
        By::Day => {
            let untimed = sums.iter().find(|(key, _)| *key == Key::Nothing);
            report.untimed = untimed.map(|(_, sum)| figures(&sum.clone().figures()));
            report.days = dated(sums);
        }
        By::Week => report.weeks = dated(sums),
        By::Month => report.months = dated(sums),
        By::Hour => {
            let hour = |(key, sum): (Key, Sum)| match key {
                Key::Hour(hour) => Some((hour, figures(&sum.figures()))),
                _ => None,
            };
            report.hours = sums.into_iter().filter_map(hour).collect();
        }
        By::Project => report.projects = rows(by, sums, naming, asked),
        By::Model => report.models = rows(by, sums, naming, asked),
        By::Tool => report.tools = rows(by, sums, naming, asked),
        By::Session => report.sessions = rows(by, sums, naming, asked),
        By::Source | By::Agent => {}
    }
}

fn dated(sums: Vec<(Key, Sum)>) -> Vec<(Date, report::Figures)> {
    let one = |(key, sum): (Key, Sum)| match key {
        Key::Day(day) => Some((day, figures(&sum.figures()))),
        _ => None,
    };
    sums.into_iter().filter_map(one).collect()
}

fn rows(by: By, sums: Vec<(Key, Sum)>, naming: &Naming<'_>, asked: &Asked) -> Vec<report::Row> {
    let mut rows: Vec<(Row, String)> = Vec::new();
    let mut named: Vec<Row> = Vec::new();
    let mut details = BTreeMap::new();
    for (key, sum) in sums {
        let session = match key {
            Key::Number(number) if by == By::Session => naming.books.sessions.get(number as usize),
            _ => None,
        };
        let row = row(by, key, sum, naming);
        if let Some(session) = session {
            let short: String = row.key.chars().take(8).collect();
            let began = session.started.map(|started| local(started, asked).date().to_string());
            let parts = [Some(short), Some(session.project.name().to_owned()), began];
            let detail: Vec<String> = parts.into_iter().flatten().collect();
            details.insert(row.key.clone(), detail.join(" · "));
        }
        named.push(row);
    }
    sort(&mut named, by);
    for row in named {
        let detail = match by {
            By::Session => details.remove(&row.key).unwrap_or_default(),
            By::Project if row.name.as_ref().is_some_and(|name| *name != row.key) => {
                row.key.clone()
            }
            _ => String::new(),
        };
        rows.push((row, detail));
    }
    let made = |(row, detail): (Row, String)| report::Row {
        detail,
        figures: figures(&row.figures),
        name: match (by, row.name) {
            (By::Session, None) => "(untitled)".to_owned(),
            (_, Some(name)) => name,
            (_, None) => row.key,
        },
    };
    rows.into_iter().map(made).collect()
}

fn figures(figures: &Figures) -> report::Figures {
    report::Figures {
        sessions: figures.sessions,
        requests: figures.requests,
        prompts: figures.prompts,
        tokens: figures.tokens,
        cost: report::Cost {
            units: figures.cost_usd.map(Money::units),
            is_lower_bound: figures.cost_is_lower_bound,
        },
        tool_calls: figures.tool_calls,
        tools_failed: figures.tools_failed,
        tools_cancelled: figures.tools_cancelled,
        active_seconds: figures.active_seconds,
    }
}

/// Says how it was counted.
fn told(basis: &Basis, total: &Figures, content: &Content) -> report::Basis {
    let doubles = [
        (basis.doubles.repeated, "records were written again in the same file, and counted once"),
        (
            basis.doubles.copied,
            "requests stand in several files of their session, and were counted once",
        ),
        (
            basis.doubles.elsewhere,
            "requests stand in other sessions as well, and were counted once",
        ),
    ];
    let unpriced = basis.unpriced_models.iter().map(|unpriced| report::Unpriced {
        model: unpriced.model.clone(),
        requests: unpriced.requests,
        tokens: unpriced.tokens.total,
    });
    report::Basis {
        missing: total.missing.reasons(),
        doubles: doubles.into_iter().filter(|(number, _)| *number > 0).collect(),
        undone: total.undone,
        unpriced: unpriced.collect(),
        prices: Vec::new(),
        problems: basis.problem_count,
        unread: content.unread,
    }
}

/// All prices of a model: those of long prompts, too, and of every time.
fn priced(model: &str, entry: &PriceEntry) -> Vec<report::Price> {
    let mut prices = Vec::new();
    for period in &entry.periods {
        let source = match &entry.origin {
            Origin::Table { source } => Some(source.clone()),
            Origin::Config => None,
        };
        let long = period.above.map(|above| (Some(above.tokens), above.units));
        for (above, units) in std::iter::once((None, period.units)).chain(long) {
            prices.push(report::Price {
                model: model.to_owned(),
                above,
                input: units.input.of_a_million().units(),
                cached: units.cached.of_a_million().units(),
                output: units.output.of_a_million().units(),
                from: period.from,
                seen: period.seen,
                source: source.clone(),
            });
        }
    }
    prices
}

fn error(error: super::ToolError) -> report::Failure {
    report::Failure { tool: error.tool, error: error.error, times: error.times }
}

fn file(file: super::FileUse) -> report::File {
    let super::FileUse { path, sent, bytes, written, named } = file;
    report::File { path, sent, bytes, written, named }
}

fn local(time: Timestamp, asked: &Asked) -> DateTime {
    time.to_zoned(asked.zone.clone()).datetime()
}

/// Names what was asked for, but for the time.
fn filters(asked: &Asked, books: &Books) -> Vec<(&'static str, String)> {
    let query = &asked.sessions;
    let mut filters = Vec::new();
    let here = query.here.as_deref().filter(|_| query.project.is_none());
    let key = here.and_then(|here| nearest(&books.sessions, here));
    let is_it = |key: &String| books.sessions.iter().find(|one| one.project.key() == *key);
    if let Some(session) = key.as_ref().and_then(is_it) {
        filters.push(("project", session.project.name().to_owned()));
    }
    let named = [
        ("project", &query.project),
        ("model", &query.model),
        ("tool", &query.holds.tool),
        ("touched", &query.holds.touched),
        ("text", &query.text),
    ];
    for (name, value) in named {
        filters.extend(value.clone().map(|value| (name, value)));
    }
    for kind in &query.kinds {
        let word = match kind {
            SessionKind::Main => "main",
            SessionKind::Subagent => "subagent",
        };
        filters.push(("kind", word.to_owned()));
    }
    if query.live {
        filters.push(("only", "live sessions".to_owned()));
    }
    filters
}
