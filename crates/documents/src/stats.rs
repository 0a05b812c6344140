//! Figures.

use std::io::{self, Write};

use recount_engine::stats::{ContentStats, StatsReport, ToolError};
use serde::Serialize;

/// Writes any answer about usage.
///
/// # Errors
/// If it cannot be written.
pub fn stats<T: Serialize>(out: &mut impl Write, value: &T) -> io::Result<()> {
    #[derive(Serialize)]
    struct Document<'a, T> {
        schema: &'static str,
        #[serde(flatten)]
        value: &'a T,
    }
    crate::whole(out, &Document { schema: "recount.stats/1", value })
}

/// Writes a report, with the causes of tool failures if they were counted.
///
/// # Errors
/// If it cannot be written.
pub fn stats_report(
    out: &mut impl Write,
    report: &StatsReport,
    errors: Option<&ContentStats>,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct WithErrors<'a> {
        #[serde(flatten)]
        report: &'a StatsReport,
        #[serde(skip_serializing_if = "Option::is_none")]
        errors: Option<&'a Vec<ToolError>>,
    }
    stats(out, &WithErrors { report, errors: errors.map(|content| &content.errors) })
}
