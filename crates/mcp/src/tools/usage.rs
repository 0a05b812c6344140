//! `usage`

use jiff::{SignedDuration, ToSpan as _};
use recount_display::number::{at_least, count, money, plural};
use recount_display::project_names::ProjectNames;
use recount_display::usage::{cost, label};
use recount_engine::ListQuery;
use recount_engine::stats::{By, Money, StatsReport, StatsRequest, StatsRow, UsageFigures};
use recount_platform::local_zone;

use super::Trouble;
use crate::arguments::Arguments;
use crate::memory::Moment;
use crate::text::Quoted;

/// The most tokens of an answer.
const CAP: usize = 800;
/// The most rows.
const ROWS: usize = 10;
/// The characters of a name.
const NAME: usize = 40;
/// Messages further apart than this have a pause between them, as in `recount stats`.
const GAP: SignedDuration = SignedDuration::from_secs(30 * 60);

pub(super) fn usage(moment: &Moment<'_>, arguments: &Arguments) -> Result<Quoted, Trouble> {
    let by = match arguments.choice("by", &["day", "project", "model", "session"])? {
        Some("project") => By::Project,
        Some("model") => By::Model,
        Some("session") => By::Session,
        _ => By::Day,
    };
    let now = moment.engine.clock().now();
    let month = now.checked_sub((30 * 24).hours()).unwrap_or(now);
    let since = arguments.time("since")?.unwrap_or(month);
    let project = arguments.text("project")?.filter(|project| *project != "*");
    let sessions = ListQuery {
        project: project.map(str::to_owned),
        since: Some(since),
        background: true,
        ..ListQuery::default()
    };
    let asked = StatsRequest { sessions, zone: local_zone(), gap: GAP };
    let mut report = moment.engine.stats(&asked, by, moment.progress)?;
    if by == By::Project {
        ProjectNames::of_rows(&report.rows).rename(&mut report.rows);
    }
    let day: String = recount_display::when::minute(since).chars().take(10).collect();
    let mut answer = Quoted::own(format!("since {day}: {}", figures(&report.total)));
    if report.total.requests == 0 {
        answer.after.push(
            "nothing was recorded in that time; try a longer one: usage {\"since\":\"365d\"}"
                .to_owned(),
        );
        return Ok(answer);
    }
    rows(moment, &report, by, &mut answer)?;
    if report.total.cost_is_lower_bound {
        answer.after.push(
            "cost at API prices; ≥ means that less is recorded, or has a price, than was billed"
                .to_owned(),
        );
    } else {
        answer.after.push("cost at API prices".to_owned());
    }
    Ok(answer)
}

fn rows(
    moment: &Moment<'_>,
    report: &StatsReport,
    by: By,
    answer: &mut Quoted,
) -> Result<(), Trouble> {
    // The newest days, else the largest rows.
    let shown: Vec<&StatsRow> = if by.is_time() {
        report.rows.iter().rev().take(ROWS).collect()
    } else {
        report.rows.iter().take(ROWS).collect()
    };
    let mut done = 0;
    for row in &shown {
        let name = moment.line(&label(by, row), NAME)?;
        answer.lines.push(format!("{name}: {}", figures(&row.figures)));
        if answer.tokens() > CAP - 80 {
            answer.lines.pop();
            break;
        }
        done += 1;
    }
    let rest = report.rows.len().saturating_sub(done);
    if rest > 0 {
        let shown = || shown.iter().take(done).map(|row| &row.figures);
        let requests = report.total.requests.saturating_sub(shown().map(|one| one.requests).sum());
        let tokens =
            report.total.tokens.total.saturating_sub(shown().map(|one| one.tokens.total).sum());
        let spent = report.total.cost_usd.map(|all| {
            let of_shown: Money = shown().filter_map(|one| one.cost_usd).sum();
            Money::from_units(all.units().saturating_sub(of_shown.units()))
        });
        let is_hidden = |at: usize| if by.is_time() { at < rest } else { at >= done };
        let mut hidden = report.rows.iter().enumerate().filter(|(at, _)| is_hidden(*at));
        let is_lower_bound = hidden.any(|(_, row)| row.figures.cost_is_lower_bound);
        let spent = spent.map(|spent| format!(", {}", at_least(&money(spent), is_lower_bound)));
        let spent = spent.unwrap_or_default();
        let word = if by.is_time() { "older day" } else { "more row" };
        answer.after.push(format!(
            "{}: {requests} requests, {} tokens{spent}",
            plural(rest as u64, word),
            count(tokens)
        ));
    }
    Ok(())
}

fn figures(figures: &UsageFigures) -> String {
    let tokens = &figures.tokens;
    format!(
        "{}, {} tokens ({} in, {} out), {}",
        plural(figures.requests, "request"),
        count(tokens.total),
        count(tokens.input),
        count(tokens.output),
        cost(figures)
    )
}
