//! A report: what was used and what it cost, as one page with charts.
//!
//! Every figure that a chart shows stands in a table, too, and nothing needs a script. [`UsageReport`] is what it is made of;
//! whoever counts fills it in.

mod axis;
mod basis;
mod columns;
mod course;
mod head;
mod input;
mod lists;
mod table;
#[cfg(test)]
mod tests;
mod time;
mod words;

use std::io::{self, Write};

pub use self::input::{
    Cost, Failure, File, Price, ReportBasis, ReportFigures, ReportRow, Share, UnpricedRow,
    UsageReport,
};
use super::document::REPORT;
use super::paper::Paper;
use crate::text::Bidi;

impl ReportFigures {
    /// Adds what can be added: neither sessions nor time, which may overlap.
    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.prompts += other.prompts;
        self.tokens += other.tokens;
        self.tool_calls += other.tool_calls;
        self.tools_failed += other.tools_failed;
        self.tools_cancelled += other.tools_cancelled;
        self.cost.is_lower_bound |= other.cost.is_lower_bound || other.cost.units.is_none();
        let sum = self.cost.units.unwrap_or_default();
        self.cost.units = Some(sum.saturating_add(other.cost.units.unwrap_or_default()));
    }
}

/// Writes a report.
///
/// # Errors
/// If it cannot be written.
pub fn write(report: &UsageReport, out: &mut dyn Write) -> io::Result<()> {
    let mut paper = Paper::new(out, Bidi::Kept);
    let paper = &mut paper;
    REPORT.open(&format!("Tokens, money and time: {}", head::period(report)), paper)?;
    head::write(report, &parts(report), paper)?;
    paper.mark("<main id=\"report\" tabindex=\"-1\">\n")?;
    head::totals(report, paper)?;
    course::write(report, paper)?;
    course::hours(report, paper)?;
    lists::projects(report, paper)?;
    lists::models(report, paper)?;
    lists::tools(report, paper)?;
    lists::sessions(report, paper)?;
    lists::files(report, paper)?;
    basis::write(report, paper)?;
    paper.mark("</main>\n<footer class=\"foot\"><p>")?;
    let made = report.made.strftime("%Y-%m-%d %H:%M");
    paper.text(&format!("Written by recount on {made}, time zone {}.", report.time_zone))?;
    paper.mark("</p></footer>\n")?;
    REPORT.close(paper)
}

/// The parts that there is something in.
fn parts(report: &UsageReport) -> Vec<(&'static str, &'static str)> {
    let all = [
        ("time", "Time", report.days.is_empty()),
        ("hours", "Hours", report.hours.is_empty()),
        ("projects", "Projects", report.projects.is_empty()),
        ("models", "Models", report.models.is_empty()),
        ("tools", "Tools", report.tools.is_empty()),
        ("sessions", "Sessions", report.sessions.is_empty()),
        ("files", "Files", report.files.is_empty()),
        ("basis", "How it was counted", false),
    ];
    let there = all.into_iter().filter(|(.., is_empty)| !is_empty);
    there.map(|(target, name, _)| (target, name)).collect()
}
