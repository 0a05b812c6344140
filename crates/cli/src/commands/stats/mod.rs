//! `recount stats`

mod chart;
mod compare;
mod content;
mod explain;
mod filters;
mod html;
mod line;
mod overview;
mod table;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use recount_engine::stats::{By, StatsBasis, UsageFigures};
use serde::Serialize;

use super::session_rows;
use crate::context::{Context, Paged};
use crate::failure::{Failure, NOTHING};
use crate::output::json;
use crate::output::number::plural;
use crate::output::progress::Bar;
use filters::Filters;

/// Count tokens, money and time, each request once
///
/// Without --by: today, this week, this month, and the projects and models that took most. In a project's folder (or below it) only that
/// project is counted; everywhere else, and with --all, all of them. Money is what a user with an API key pays; see `recount prices`.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(
    after_help = "Examples:\n  recount stats --all                       one screen\n  recount stats --by day --since 7d --chart the last week, drawn\n  \
    recount stats --all --by model --json\n  recount stats --by tool --errors          how often each tool failed, and why\n  \
    recount stats --explain latest            each request of a session, with its price\n  recount stats --context                   what \
    filled the context\n  recount stats --line                      one line, for a prompt or a status bar\n  \
    recount stats --all --html report.html    a page with charts\n\nIn config.toml:\n  [budget]\n  daily = \
    5.00\n  monthly = 80"
)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    filters: Filters,

    /// Put these side by side
    #[arg(long, value_name = "WHAT")]
    by: Option<Side>,

    /// Draw the rows, too
    #[arg(long, conflicts_with_all = ["csv", "json"])]
    chart: bool,

    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// With --by tool: show why tools failed, most frequent first; all messages are read
    #[arg(long)]
    errors: bool,

    /// Show the working: each request with its prices, and the sum as it grows; of one session, or of all
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["by", "chart"])]
    explain: Option<String>,

    /// Show what filled the context: prompts, files, outputs, thoughts; all messages are read
    #[arg(long, conflicts_with_all = ["by", "chart", "csv", "explain"])]
    context: bool,

    /// Compare with this report of ccusage (`ccusage gemini daily --json`), day by day
    #[arg(long, value_name = "FILE", conflicts_with_all = ["by", "chart", "csv", "explain", "context"])]
    compare: Option<PathBuf>,

    /// Exit with 1 when more was spent than `budget` in config.toml allows, over all projects
    #[arg(long, conflicts_with_all = ["by", "chart", "csv", "explain", "context", "compare"])]
    check_budget: bool,

    /// Print one line: tokens and money of today, and how full the context of the running session is
    #[arg(long, conflicts_with_all = ["by", "chart", "csv", "explain", "context", "compare"])]
    line: bool,

    /// Write a page with charts of all that was counted to this file, or to standard output with `-`; all messages are read
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["by", "chart", "csv", "json", "errors", "explain", "context", "compare", "check_budget", "line"]
    )]
    html: Option<PathBuf>,
}

/// What stands side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Side {
    Day,
    /// Weeks, from Monday on
    Week,
    Month,
    /// Hours of the day
    Hour,
    Project,
    Model,
    /// Sessions, with their sub-agents
    Session,
    /// Agents that wrote the sessions
    Source,
    /// Tools: how often they were called, and how often they failed
    Tool,
    /// Sub-agents, beside what humans began
    Agent,
}

impl Side {
    fn by(self) -> By {
        match self {
            Self::Day => By::Day,
            Self::Week => By::Week,
            Self::Month => By::Month,
            Self::Hour => By::Hour,
            Self::Project => By::Project,
            Self::Model => By::Model,
            Self::Session => By::Session,
            Self::Source => By::Source,
            Self::Tool => By::Tool,
            Self::Agent => By::Agent,
        }
    }
}

/// A document for `--json`.
#[derive(Serialize)]
struct Document<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    value: &'a T,
}

pub(crate) fn run(args: &StatsArgs, context: &Context) -> Result<ExitCode, Failure> {
    let asked = args.filters.asked(context)?;
    if args.line || args.check_budget {
        // A prompt is no place for a made-up home.
        let engine = context.plain_engine()?;
        if args.line {
            return line::run(&engine, &asked.zone, args.check_budget, context);
        }
        return line::check(&engine, &asked.zone, context);
    }
    let engine = context.engine()?;
    if let Some(file) = &args.html {
        return html::write(file, &asked, engine, context);
    }
    let bar = Bar::new(context, "reading sessions");
    if let Some(file) = &args.compare {
        let compared = engine.compare(&asked, &context.absolute(file), &bar)?;
        bar.finish();
        return compare::show(&compared, context);
    }
    if args.context {
        let filling = engine.content(&asked, &bar)?;
        bar.finish();
        return content::show(&filling, context);
    }
    if let Some(session) = &args.explain {
        let session = Some(session.as_str()).filter(|session| !session.is_empty());
        let explained = engine.explain(&asked, session, &bar)?;
        bar.finish();
        return explain::show(&explained, args.csv, context);
    }
    match (args.by, args.csv || args.chart) {
        (None, false) => overview::show(&engine.overview(&asked, &bar)?, engine, &asked, context),
        (by, _) => {
            let by = by.map_or(By::Day, Side::by);
            let report = engine.stats(&asked, by, &bar)?;
            let with_errors = args.errors && by == By::Tool;
            let errors = with_errors.then(|| engine.content(&asked, &bar)).transpose()?;
            bar.finish();
            table::show(&report, errors.as_ref(), args, context)
        }
    }
}

fn print_json<T: Serialize>(context: &Context, value: &T) -> Result<(), Failure> {
    Ok(json::whole(context, &Document { schema: "recount.stats/1", value })?)
}

fn print(context: &Context, page: &str) -> Result<(), Failure> {
    let mut out = context.out(Paged::Yes);
    out.write_all(page.as_bytes())?;
    out.finish()?;
    Ok(())
}

/// Tells what does not fit in a table, and returns the exit code.
fn end(context: &Context, total: &UsageFigures, basis: &StatsBasis) -> ExitCode {
    if let Some(scope) = &basis.scope {
        context.warn(&session_rows::scope(scope));
    }
    if !context.global.json {
        for note in notes(total, basis) {
            context.warn(&note);
        }
    }
    let code = context.problems(&basis.problems, basis.problem_count, basis.not_understood);
    if total.requests == 0 && total.prompts == 0 && total.answers == 0 {
        context.warn("nothing to count");
        return ExitCode::from(NOTHING);
    }
    code
}

/// What must be known to read the figures right.
fn notes(total: &UsageFigures, basis: &StatsBasis) -> Vec<String> {
    let mut notes = Vec::new();
    if !basis.unpriced_models.is_empty() {
        let name = |unpriced: &recount_engine::stats::UnpricedModel| {
            let name = unpriced.model.as_deref().unwrap_or("(no model on record)");
            format!("{name} ({})", plural(unpriced.requests, "request"))
        };
        let names: Vec<String> = basis.unpriced_models.iter().map(name).collect();
        notes.push(format!("no price is known of {}; set it in config.toml", names.join(", ")));
    }
    if !total.missing.is_nothing() {
        let missing = total.missing.reasons();
        let sum: u64 = missing.iter().map(|(number, _)| number).sum();
        notes.push(format!(
            "≥: less is on record than was billed ({}); --explain says which",
            plural(sum, "case")
        ));
    }
    notes
}
