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

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use recount_engine::stats::{By, StatsBasis, UsageFigures};
use serde::Serialize;

use super::session_rows;
use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure, NOTHING};
use crate::output::form::Form;
use crate::output::json;
use crate::output::number::plural;
use crate::output::progress::Bar;
use crate::output::project_names::ProjectNames;
use filters::Filters;

/// Count tokens, cost and time, each request once
///
/// Without --by, shows today, this week, this month, and the top projects and models. In a project's folder, or below it, only that
/// project is counted; everywhere else, and with --all, every project. Cost is what a user with an API key pays; see `recount prices`. To
/// set a budget, add `daily = 5.00` or `monthly = 80` under `[budget]` in config.toml.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "\
Examples:
  recount stats --all                        # one screen
  recount stats --by day --since 7d --chart  # the last week as a chart
  recount stats --by tool --errors           # how often each tool failed, and why
  recount stats --explain latest             # each request of a session with its price
  recount stats --all --html report.html     # a page with charts")]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    filters: Filters,

    /// Group by
    #[arg(long, value_name = "WHAT")]
    by: Option<Side>,

    /// Also draw a chart
    #[arg(long, conflicts_with_all = ["csv", "json"])]
    chart: bool,

    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// With --by tool, show the most frequent errors (reads all messages)
    #[arg(long)]
    errors: bool,

    /// Show how the total adds up: each request with its prices; of one session or of all
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["by", "chart"])]
    explain: Option<String>,

    /// Break the context down into prompts, files, tool output and thoughts (reads all messages)
    #[arg(long, alias = "context", conflicts_with_all = ["by", "chart", "csv", "explain"])]
    content: bool,

    /// Compare day by day with a ccusage report (such as `ccusage claude daily --json`)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["by", "chart", "csv", "explain", "content"])]
    compare: Option<PathBuf>,

    /// Exit with 1 if spending exceeds `budget` in config.toml, over all projects
    #[arg(long, conflicts_with_all = ["by", "chart", "csv", "explain", "content", "compare"])]
    check_budget: bool,

    /// Print one line for a prompt or status bar: tokens and cost today, context of the running session
    #[arg(long, conflicts_with_all = ["by", "chart", "csv", "explain", "content", "compare"])]
    line: bool,

    /// Write a web page with charts to this file, or to standard output with `-` (reads all messages)
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["by", "chart", "csv", "json", "errors", "explain", "content", "compare", "check_budget", "line"]
    )]
    html: Option<PathBuf>,
}

/// The dimension to group by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Side {
    Day,
    /// Weeks, starting on Monday
    Week,
    Month,
    /// Hours of the day
    Hour,
    Project,
    Model,
    /// Sessions, including their sub-agents
    Session,
    /// Agents that wrote the sessions (as in --source)
    Source,
    /// Tools, with calls and failures
    Tool,
    /// Sub-agents, compared with sessions that people started
    #[value(alias = "agent")]
    Subagent,
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
            Self::Subagent => By::Agent,
        }
    }
}

pub(crate) fn run(args: &StatsArgs, context: &Context) -> Result<ExitCode, Failure> {
    let asked = args.filters.asked(context)?;
    if args.line || args.check_budget {
        // A shell prompt must not show demo data.
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
        let compared = if file == Path::new("-") {
            engine.compare_with(&asked, &from_input()?, Path::new("standard input"), &bar)?
        } else {
            engine.compare(&asked, &context.absolute(file), &bar)?
        };
        bar.finish();
        return compare::show(&compared, context);
    }
    if args.content {
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
            let mut report = engine.stats(&asked, by, &bar)?;
            if by == By::Project && !context.global.json && !args.csv {
                ProjectNames::of_rows(&report.rows).rename(&mut report.rows);
            }
            let with_errors = args.errors && by == By::Tool;
            let errors = with_errors.then(|| engine.content(&asked, &bar)).transpose()?;
            bar.finish();
            table::show(&report, errors.as_ref(), args, context)
        }
    }
}

/// The largest report that is read from standard input.
const REPORT: u64 = 64 * 1024 * 1024;

fn from_input() -> Result<Vec<u8>, Failure> {
    let mut report = Vec::new();
    io::stdin().take(REPORT).read_to_end(&mut report).map_err(|error| {
        Failure::new(ERROR, format!("cannot read the report from standard input: {error}"))
    })?;
    Ok(report)
}

fn print_json<T: Serialize>(context: &Context, value: &T) -> Result<(), Failure> {
    Ok(json::print(context, |out| recount_documents::stats(out, value))?)
}

fn print(context: &Context, page: &str) -> Result<(), Failure> {
    let mut out = context.out(Paged::Yes);
    out.write_all(page.as_bytes())?;
    out.finish()?;
    Ok(())
}

/// How an answer shows that its cost is a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// With a mark.
    Marked,
    /// Not at all: a program reads it, or it is in another file.
    Unmarked,
    /// It lists what is missing, or has no cost.
    Explained,
}

impl Bound {
    /// Returns how the tables of this run show it.
    fn of_tables(context: &Context) -> Self {
        if context.form() == Form::Short { Self::Marked } else { Self::Unmarked }
    }
}

/// Prints what does not fit in a table, and returns the exit code.
fn end(context: &Context, total: &UsageFigures, basis: &StatsBasis, bound: Bound) -> ExitCode {
    if let Some(scope) = &basis.scope {
        context.warn(&session_rows::scope(scope));
    }
    if !context.global.json {
        for note in notes(total, basis, bound) {
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

/// Returns what must be known to interpret the figures.
fn notes(total: &UsageFigures, basis: &StatsBasis, bound: Bound) -> Vec<String> {
    let mut notes = Vec::new();
    if !basis.unpriced_models.is_empty() {
        let name = |unpriced: &recount_engine::stats::UnpricedModel| {
            let name = unpriced.model.as_deref().unwrap_or("(no model on record)");
            format!("{name} ({})", plural(unpriced.requests, "request"))
        };
        let names: Vec<String> = basis.unpriced_models.iter().map(name).collect();
        notes.push(format!("no price known for {}; set it in config.toml", names.join(", ")));
    }
    if !total.missing.is_nothing() && bound != Bound::Explained {
        let what = if bound == Bound::Marked { "≥" } else { "costs are lower bounds" };
        let missing = total.missing.reasons();
        let sum: u64 = missing.iter().map(|(number, _)| number).sum();
        notes.push(format!(
            "{what}: some usage was not recorded ({}); --explain shows what",
            plural(sum, "case")
        ));
    }
    notes
}
