//! How a report was counted: filters, missing data, and prices.

use recount_export::report;

use super::super::logs::UsageLogs;
use super::super::{
    ContentStats, PriceEntry, PriceOrigin, StatsBasis, StatsRequest, UsageFigures, worded,
};

/// Returns how it was counted.
pub(super) fn report_basis(
    basis: &StatsBasis,
    total: &UsageFigures,
    content: &ContentStats,
) -> report::ReportBasis {
    let duplicates = worded([
        (
            basis.duplicates.repeated,
            "record was written again in the same file, and counted once",
            "records were written again in the same file, and counted once",
        ),
        (
            basis.duplicates.copied,
            "request is in several files of its session and was counted once",
            "requests are in several files of their session and were counted once",
        ),
        (
            basis.duplicates.elsewhere,
            "request is also in other sessions and was counted once",
            "requests are also in other sessions and were counted once",
        ),
    ]);
    let unpriced = basis.unpriced_models.iter().map(|unpriced| report::UnpricedRow {
        model: unpriced.model.clone(),
        requests: unpriced.requests,
        tokens: unpriced.tokens.total,
    });
    report::ReportBasis {
        missing: total.missing.reasons(),
        duplicates,
        undone: total.undone,
        unpriced: unpriced.collect(),
        prices: Vec::new(),
        problems: basis.problem_count,
        unread: content.unread,
    }
}

/// Returns all prices of a model: also of long prompts, and of every period.
pub(super) fn priced(model: &str, entry: &PriceEntry) -> Vec<report::Price> {
    let mut prices = Vec::new();
    for period in &entry.periods {
        let source = match &entry.origin {
            PriceOrigin::Table { source } => Some(source.clone()),
            PriceOrigin::Config => None,
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

/// Returns the filters, except the time.
pub(super) fn filters(asked: &StatsRequest, logs: &UsageLogs) -> Vec<(&'static str, String)> {
    let query = &asked.sessions;
    let mut filters = Vec::new();
    if let Some(scope) = logs.scope.as_ref().filter(|scope| scope.is_implied) {
        filters.push(("project", scope.project.name().to_owned()));
    }
    let named = [
        ("project", &query.project),
        ("model", &query.model),
        ("tool", &query.content.tool),
        ("touched", &query.content.touched),
        ("text", &query.text),
    ];
    for (name, value) in named {
        filters.extend(value.clone().map(|value| (name, value)));
    }
    for kind in &query.kinds {
        filters.push(("kind", kind.as_str().to_owned()));
    }
    if query.live {
        filters.push(("only", "live sessions".to_owned()));
    }
    filters
}
