//! How a report was counted: filters, missing data, and prices.

use recount_export::report;

use super::super::logs::UsageLogs;
use super::super::{ContentStats, PriceEntry, PriceOrigin, StatsBasis, StatsRequest, UsageFigures};
use super::WordMissing;

/// Returns how it was counted.
pub(super) fn report_basis(
    basis: &StatsBasis,
    total: &UsageFigures,
    content: &ContentStats,
    words: WordMissing,
) -> report::ReportBasis {
    let duplicates = report::ReportDuplicates {
        repeated: basis.duplicates.repeated,
        copied: basis.duplicates.copied,
        elsewhere: basis.duplicates.elsewhere,
    };
    let missing = total.missing.reasons().into_iter();
    let unpriced = basis.unpriced_models.iter().map(|unpriced| report::UnpricedRow {
        model: unpriced.model.clone(),
        requests: unpriced.requests,
        tokens: unpriced.tokens.total,
    });
    report::ReportBasis {
        missing: missing.map(|(number, reason)| (number, words(reason, number))).collect(),
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
