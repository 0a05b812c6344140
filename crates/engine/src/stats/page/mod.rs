//! A report as a page: all figures, passed to the renderer.

mod basis;
mod rows;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use recount_export::report;

use self::basis::{filters, priced, report_basis};
use self::rows::{figures, fill};
use super::logs::Place;
use super::totals::{Count, Naming};
use super::walk::{Step, UsageWalk, Visitor};
use super::{By, MissingReason, Money, StatsBasis, StatsRequest, UsageFigures};
use crate::snapshot::disk_scan::Progress;
use crate::stats::usage::Head;
use crate::{Engine, Error};

/// The dimensions of a report.
const SIDES: [By; 8] =
    [By::Day, By::Week, By::Month, By::Hour, By::Project, By::Model, By::Tool, By::Session];

/// Returns the words for a number of requests that are missing for a reason. The view has them: its other answers use the same.
pub type WordMissing = fn(MissingReason, u64) -> &'static str;

/// A report that is ready to be written.
#[derive(Debug)]
pub struct Paged {
    report: report::UsageReport,
    /// The totals.
    pub total: UsageFigures,
    /// How it was counted.
    pub basis: StatsBasis,
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
    /// Computes everything in a report. Every message is read, for files and for causes of tool failures.
    ///
    /// # Errors
    /// If a filter or a price of the user is invalid.
    pub fn paged(
        &self,
        asked: &StatsRequest,
        words: WordMissing,
        progress: &dyn Progress,
    ) -> Result<Paged, Error> {
        let prices = self.prices()?;
        let content = self.content(asked, progress)?;
        let logs = self.usage_logs(&asked.sessions, progress)?;
        let window = asked.window();
        let gap = i64::try_from(asked.gap.as_millis()).unwrap_or(i64::MAX);
        let mut walk = UsageWalk::new(&prices, &window, asked.zone.clone());
        let mut shared = Shared { count: Count::new(&logs, gap, &SIDES), shares: BTreeMap::new() };
        walk.go(&logs, &mut shared);
        let Shared { mut count, shares } = shared;
        let basis = super::basis(&logs, asked, &walk, &count);
        let total = count.total();
        let all_totals = std::mem::take(&mut count.all_totals);
        let naming = Naming {
            logs: &logs,
            models: &walk.models,
            tools: &walk.tools,
            sources: &count.source_names,
            examples: &count.examples,
        };
        let mut report = report::UsageReport {
            made: local(self.clock.now(), asked),
            time_zone: basis.time_zone.clone(),
            gap_seconds: u64::try_from(basis.gap_seconds).unwrap_or_default(),
            since: basis.since.map(|since| local(since, asked)),
            until: basis.until.map(|until| local(until, asked)),
            filters: filters(asked, &logs),
            total: figures(&total),
            basis: report_basis(&basis, &total, &content, words),
            ..report::UsageReport::default()
        };
        for totals in all_totals {
            fill(&mut report, totals, &naming, asked);
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
        self.set_aside(logs);
        Ok(Paged { report, total, basis })
    }

    /// Writes a report to a file. Returns it, and the size of the file.
    ///
    /// # Errors
    /// If the file is in an agent's folder or cannot be written, and like [`Engine::paged`].
    pub fn paged_file(
        &self,
        asked: &StatsRequest,
        path: &Path,
        words: WordMissing,
        progress: &dyn Progress,
    ) -> Result<(Paged, u64), Error> {
        self.keep_out_of_agents_folders(path)?;
        let paged = self.paged(asked, words, progress)?;
        let size = recount_writer::write_with(path, |out| paged.write(out))?;
        Ok((paged, size))
    }
}

/// The name of a row without a recorded key.
const UNKNOWN: &str = "unknown";

/// Counts, and records the usage of each model per day.
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
) -> Vec<report::ModelDayUsage> {
    let share = |((day, model), (cost, tokens)): (_, (Money, u64))| {
        Some(report::ModelDayUsage { day, model: place(model)?, cost: cost.units(), tokens })
    };
    shares.into_iter().filter_map(share).collect()
}

fn error(error: super::ToolError) -> report::Failure {
    report::Failure { tool: error.tool, error: error.error, times: error.times }
}

fn file(file: super::FileUse) -> report::File {
    let super::FileUse { path, sent, bytes, written, named } = file;
    report::File { path, sent, bytes, written, named }
}

fn local(time: Timestamp, asked: &StatsRequest) -> DateTime {
    time.to_zoned(asked.zone.clone()).datetime()
}
