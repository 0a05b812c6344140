//! Sums as rows of a report.

use std::collections::BTreeMap;

use jiff::civil::Date;
use recount_export::report;
use recount_model::SessionFacts;

use super::super::figures::Sum;
use super::super::totals::{Key, Naming, UsageTotals, row};
use super::super::{By, Money, StatsRequest, StatsRow, UsageFigures, sort};
use super::local;

/// Puts what was added up where it belongs.
pub(super) fn fill(
    report: &mut report::UsageReport,
    totals: UsageTotals,
    naming: &Naming<'_>,
    asked: &StatsRequest,
) {
    let by = totals.by;
    let sums = totals.into_sums();
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

fn dated(sums: Vec<(Key, Sum)>) -> Vec<(Date, report::ReportFigures)> {
    let one = |(key, sum): (Key, Sum)| match key {
        Key::Day(day) => Some((day, figures(&sum.figures()))),
        _ => None,
    };
    sums.into_iter().filter_map(one).collect()
}

fn rows(
    by: By,
    sums: Vec<(Key, Sum)>,
    naming: &Naming<'_>,
    asked: &StatsRequest,
) -> Vec<report::ReportRow> {
    let mut details = BTreeMap::new();
    let mut rows: Vec<StatsRow> = Vec::new();
    for (key, sum) in sums {
        let row = row(by, key, sum, naming);
        if let Key::Number(number) = key
            && by == By::Session
            && let Some(session) = naming.logs.sessions.get(number as usize)
        {
            details.insert(row.key.clone(), known_by(session, asked));
        }
        rows.push(row);
    }
    sort(&mut rows, by);
    let made = |row: StatsRow| report::ReportRow {
        figures: figures(&row.figures),
        detail: match by {
            By::Project if row.name.as_ref() != Some(&row.key) => row.key.clone(),
            _ => details.remove(&row.key).unwrap_or_default(),
        },
        name: match (by, row.name) {
            (By::Session, None) => "(untitled)".to_owned(),
            (_, Some(name)) => name,
            (_, None) => row.key,
        },
    };
    rows.into_iter().map(made).collect()
}

/// What tells a session from others of its title.
fn known_by(session: &SessionFacts, asked: &StatsRequest) -> String {
    let id: String = session.id.to_string().chars().take(8).collect();
    let began = session.started.map(|started| local(started, asked).date().to_string());
    let parts = [Some(id), Some(session.project.name().to_owned()), began];
    parts.into_iter().flatten().collect::<Vec<String>>().join(" · ")
}

pub(super) fn figures(figures: &UsageFigures) -> report::ReportFigures {
    report::ReportFigures {
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
