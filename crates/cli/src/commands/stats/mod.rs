//! `recount stats`

mod filters;
mod overview;
mod table;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use recount_engine::Engine;
use recount_engine::stats::{Basis, By, Figures};
use serde::Serialize;

use crate::context::{Context, Paged};
use crate::failure::{Failure, NOTHING};
use crate::output::json;
use crate::output::number::{count, plural};
use crate::output::progress::Bar;
use filters::Filters;

/// Count tokens, money and time, each request once
///
/// Without --by: today, this week, this month, and the projects and models that took most. In a project's folder (or below it) only that
/// project is counted; everywhere else, and with --all, all of them.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount stats --all                       one screen\n  recount stats --by day --since 7d         \
    the last week, day by day\n  recount stats --all --by model --json\n  recount stats --by tool                   how often each tool failed"
)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    filters: Filters,

    /// Put these side by side
    #[arg(long, value_name = "WHAT")]
    by: Option<Side>,

    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
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
    let engine = context.engine()?;
    let bar = Bar::new(context, "reading sessions");
    let code = match (args.by, args.csv) {
        (None, false) => {
            let overview = engine.overview(&asked, &bar)?;
            bar.finish();
            if context.global.json {
                print_json(context, &overview)?;
            } else {
                print(context, &overview::page(&overview, context))?;
            }
            end(context, &overview.report.total, &overview.report.basis)
        }
        (by, is_csv) => {
            let report = engine.stats(&asked, by.map_or(By::Day, Side::by), &bar)?;
            bar.finish();
            if context.global.json {
                print_json(context, &report)?;
            } else if is_csv {
                table::csv(&report, context)?;
            } else {
                print(context, &table::page(&report, context))?;
            }
            end(context, &report.total, &report.basis)
        }
    };
    leave(engine);
    Ok(code)
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

/// Waits for what is being written, and lets the rest go with the process.
fn leave(engine: Engine) {
    drop(engine);
}

/// Tells what does not fit in a table, and returns the exit code.
fn end(context: &Context, total: &Figures, basis: &Basis) -> ExitCode {
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
fn notes(total: &Figures, basis: &Basis) -> Vec<String> {
    let mut notes = Vec::new();
    if !basis.unpriced_models.is_empty() {
        let name = |unpriced: &recount_engine::stats::Unpriced| {
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
            "≥: less is on record than was billed ({} cases); --explain says which",
            count(sum)
        ));
    }
    notes
}
