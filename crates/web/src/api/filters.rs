//! Which sessions and requests: parameters with the names of flags.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use recount_display::when;
use recount_engine::stats::StatsRequest;
use recount_engine::{ContentFilter, ListQuery, SortOrder};
use recount_model::SessionKind;
use recount_platform::local_zone;

use crate::failure::ApiError;
use crate::params::Params;

const KINDS: &[(&str, SessionKind)] = &[
    ("main", SessionKind::Main),
    ("subagent", SessionKind::Subagent),
    ("headless", SessionKind::Headless),
];

const SORT: &[(&str, SortOrder)] = &[
    ("updated", SortOrder::Updated),
    ("started", SortOrder::Started),
    ("tokens", SortOrder::Tokens),
    ("messages", SortOrder::Messages),
    ("size", SortOrder::Size),
    ("cost", SortOrder::Cost),
];

fn kinds(params: &Params) -> Result<Vec<SessionKind>, ApiError> {
    let kind = |word: &str| {
        let found = KINDS.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind);
        found.ok_or_else(|| {
            ApiError::bad(format!("kind={word}: unknown")).hint("main, subagent, headless")
        })
    };
    params.list("kind").map(kind).collect()
}

/// Returns the query of a list.
pub(crate) fn list_query(params: &Params, now: Timestamp) -> Result<ListQuery, ApiError> {
    Ok(ListQuery {
        project: params.text("project"),
        here: None,
        since: params.time("since", now)?,
        until: params.time("until", now)?,
        model: params.text("model"),
        kinds: kinds(params)?,
        problems: params.flag("problems"),
        background: false,
        content: ContentFilter { tool: params.text("tool"), touched: params.text("touched") },
        text: params.text("text"),
        live: params.flag("live"),
        pending_deletion: true,
        labelled: true,
        tags: params.list("tag").map(|tag| tag.trim_start_matches('#').to_owned()).collect(),
        pinned: params.flag("pinned"),
        sort: params.choice("sort", SORT)?.unwrap_or_default(),
        limit: None,
    })
}

/// Returns what is counted.
pub(crate) fn stats_request(params: &Params, now: Timestamp) -> Result<StatsRequest, ApiError> {
    let zone = if params.flag("utc") { TimeZone::UTC } else { local_zone() };
    let moment = |name: &str| {
        let wrong =
            |value: &str, why| ApiError::bad(format!("{name}={value}: not a time")).hint(why);
        let value = params.get(name);
        value
            .map(|value| when::parse_in(value, now, &zone).map_err(|why| wrong(value, why)))
            .transpose()
    };
    let sessions = ListQuery {
        project: params.text("project"),
        since: moment("since")?,
        until: moment("until")?.map(|until| last_moment(params, until, &zone)),
        model: params.text("model"),
        kinds: kinds(params)?,
        live: params.flag("live"),
        text: params.text("text"),
        content: ContentFilter { tool: params.text("tool"), touched: params.text("touched") },
        ..ListQuery::default()
    };
    let gap = params.get("gap").unwrap_or("30m");
    let gap = when::ago(gap).filter(|gap| gap.is_positive() || gap.is_zero());
    let gap = gap.ok_or_else(|| ApiError::bad("gap: not a duration").hint("90s, 30m, 2h"))?;
    Ok(StatsRequest { sessions, zone, gap })
}

/// A last day given as a date is included.
fn last_moment(params: &Params, until: Timestamp, zone: &TimeZone) -> Timestamp {
    let is_day = params.get("until").is_some_and(|text| {
        matches!(text, "today" | "yesterday")
            || text.parse::<jiff::civil::Date>().is_ok() && text.len() <= 10
    });
    let end = || {
        let next = until.to_zoned(zone.clone()).date().saturating_add(1.day());
        let next = next.at(0, 0, 0, 0).to_zoned(zone.clone()).ok()?.timestamp();
        next.checked_sub(SignedDuration::from_millis(1)).ok()
    };
    if is_day { end().unwrap_or(until) } else { until }
}
