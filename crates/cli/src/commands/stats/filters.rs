//! Which sessions and requests are counted.

use clap::Args;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use recount_engine::stats::StatsRequest;
use recount_engine::{ContentFilter, ListQuery};
use recount_platform::local_zone;

use crate::commands::list::Kind;
use crate::context::Context;
use crate::failure::{ERROR, Failure};
use crate::when;

/// Which sessions and requests are counted.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Filters {
    /// Project: a path, a slug, a hash prefix, or part of its name
    project: Option<String>,

    /// Count the sessions of all projects
    #[arg(short, long, conflicts_with = "project")]
    all: bool,

    /// Only requests made at or after this time (2026-09-02, 12h, 7d, today)
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,

    /// Only requests made at or before this time; a date includes the whole day
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,

    /// Only requests to this model (part of its name)
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// Only sessions that called this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,

    /// Only sessions whose tool calls or attachments name this path, or a path that ends with it
    #[arg(long, value_name = "PATH")]
    touched: Option<String>,

    /// Only sessions that match this query (as in `recount search`)
    #[arg(long, value_name = "QUERY")]
    text: Option<String>,

    /// Only these kinds of sessions
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kind: Vec<Kind>,

    /// Only sessions that are running now
    #[arg(long)]
    live: bool,

    /// Start days at midnight UTC instead of local time
    #[arg(long)]
    utc: bool,

    /// Longest pause between messages that counts as active time (90s, 30m, 2h)
    #[arg(long, value_name = "TIME", default_value = "30m")]
    gap: String,
}

impl Filters {
    /// Returns the request.
    pub(crate) fn asked(&self, context: &Context) -> Result<StatsRequest, Failure> {
        let zone = if self.utc { TimeZone::UTC } else { local_zone() };
        let now = context.clock.now();
        let sessions = ListQuery {
            project: self.project.as_deref().map(|project| context.project_argument(project)),
            here: context.env.current_folder().cloned().filter(|_| !self.all),
            since: moment("--since", self.since.as_deref(), now, &zone)?,
            until: self.last_moment(now, &zone)?,
            model: self.model.clone(),
            kinds: self.kind.iter().map(|kind| kind.kind()).collect(),
            live: self.live,
            text: self.text.clone(),
            content: ContentFilter { tool: self.tool.clone(), touched: self.touched.clone() },
            ..ListQuery::default()
        };
        let gap = when::ago(&self.gap).filter(|gap| gap.is_positive() || gap.is_zero());
        let gap: SignedDuration = gap.ok_or_else(|| {
            Failure::new(ERROR, format!("--gap {}: not a duration", self.gap))
                .hint("give a number and a unit: 90s, 30m, 2h")
        })?;
        Ok(StatsRequest { sessions, zone, gap })
    }

    /// A last day given as a date is included.
    fn last_moment(&self, now: Timestamp, zone: &TimeZone) -> Result<Option<Timestamp>, Failure> {
        let until = moment("--until", self.until.as_deref(), now, zone)?;
        let is_day = self.until.as_deref().is_some_and(|text| {
            matches!(text, "today" | "yesterday")
                || text.parse::<jiff::civil::Date>().is_ok() && text.len() <= 10
        });
        let end = |start: Timestamp| {
            let next = start.to_zoned(zone.clone()).date().saturating_add(1.day());
            let next = next.at(0, 0, 0, 0).to_zoned(zone.clone()).ok()?.timestamp();
            next.checked_sub(SignedDuration::from_millis(1)).ok()
        };
        Ok(until.map(|start| if is_day { end(start).unwrap_or(start) } else { start }))
    }
}

fn moment(
    flag: &str,
    text: Option<&str>,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = text else { return Ok(None) };
    when::parse_in(text, now, zone)
        .map(Some)
        .map_err(|error| Failure::new(ERROR, format!("{flag} {text}: not a time")).hint(error))
}
