//! Figures.

use std::io::{self, Write};

use recount_display::words;
use recount_engine::stats::{Compared, ComparedDay, ContentStats, StatsReport, ToolError};
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

/// Writes two counts side by side, with the words of why they differ.
///
/// # Errors
/// If it cannot be written.
pub fn compared(out: &mut impl Write, compared: &Compared) -> io::Result<()> {
    #[derive(Serialize)]
    struct Shown<'a> {
        days: Vec<ShownDay<'a>>,
        total: ShownDay<'a>,
    }
    let days = compared.days.iter().map(ShownDay::of).collect();
    stats(out, &Shown { days, total: ShownDay::of(&compared.total) })
}

#[derive(Serialize)]
struct ShownDay<'a> {
    #[serde(flatten)]
    day: &'a ComparedDay,
    why: Vec<String>,
}

impl<'a> ShownDay<'a> {
    fn of(day: &'a ComparedDay) -> Self {
        Self { day, why: day.why.iter().copied().map(words::compare_reason).collect() }
    }
}

#[cfg(test)]
mod tests {
    use recount_engine::stats::CompareReason;

    use super::*;

    #[test]
    fn reasons_are_words_at_the_end_of_each_day() {
        let day = ComparedDay {
            day: "2026-11-16".to_owned(),
            tokens: 5,
            their_tokens: 3,
            their_cost_usd: 0.5,
            why: vec![CompareReason::Fewer(2)],
            ..ComparedDay::default()
        };
        let total = ComparedDay { day: "total".to_owned(), ..ComparedDay::default() };
        let mut text = Vec::new();
        compared(&mut text, &Compared { days: vec![day], total }).unwrap();
        let counts = r#""doubled_tokens":0,"compressed_tokens":0,"cost_usd":0.0"#;
        let rest = r#""cost_at_latest_prices_usd":0.0,"unpriced":0"#;
        let expected = format!(
            r#"{{"schema":"recount.stats/1","days":[{{"day":"2026-11-16","tokens":5,"their_tokens":3,{counts},"their_cost_usd":0.5,{rest},"why":["they count 2 tokens less"]}}],"total":{{"day":"total","tokens":0,"their_tokens":0,{counts},"their_cost_usd":0.0,{rest},"why":[]}}}}"#
        );
        assert_eq!(String::from_utf8(text).unwrap().trim_end(), expected);
    }
}
