//! A usage report: tokens and cost, as one page with charts.
//!
//! Every figure in a chart is also in a table, and nothing needs a script. [`UsageReport`] is the input; the caller fills
//! it in.

mod axis;
mod basis;
mod columns;
mod head;
mod input;
mod lists;
mod table;
#[cfg(test)]
mod tests;
mod time;
mod timeline;
mod words;

use std::io::{self, Write};

pub use self::input::{
    Cost, Failure, File, ModelDayUsage, Price, ReportBasis, ReportDuplicates, ReportFigures,
    ReportRow, UnpricedRow, UsageReport,
};
use super::document::REPORT;
use super::html_writer::HtmlWriter;
use crate::text::Bidi;

impl ReportFigures {
    /// Adds everything that can be summed: not sessions and time, which may overlap.
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
    let mut html = HtmlWriter::new(out, Bidi::Kept);
    let html = &mut html;
    REPORT.open(&format!("Tokens, money and time: {}", head::period(report)), html)?;
    head::write(report, &parts(report), html)?;
    html.mark("<main id=\"report\" tabindex=\"-1\">\n")?;
    head::totals(report, html)?;
    timeline::write(report, html)?;
    timeline::hours(report, html)?;
    lists::projects(report, html)?;
    lists::models(report, html)?;
    lists::tools(report, html)?;
    lists::sessions(report, html)?;
    lists::files(report, html)?;
    basis::write(report, html)?;
    html.mark("</main>\n<footer class=\"foot\"><p>")?;
    let made = report.made.strftime("%Y-%m-%d %H:%M");
    html.text(&format!("Written by recount on {made}, time zone {}.", report.time_zone))?;
    html.mark("</p></footer>\n")?;
    REPORT.close(html)
}

/// Returns the sections that are not empty.
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
