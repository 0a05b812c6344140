//! `recount testbed`

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use recount_engine::Progress as _;
use recount_testbed::{Era, Error, TestbedOptions};

use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure, REFUSED};
use crate::output::json;
use crate::output::number::{bytes, count};
use crate::output::progress::Bar;
use crate::output::sanitize::single_line;

/// Create a synthetic home for demos, tests and benchmarks
///
/// The same options and seed give the same files. The folder must be empty or not exist. manifest.json in it lists what a correct
/// reader finds. With --source, only sessions of that agent.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount testbed --demo demo && recount --home demo list --all
  recount testbed big --sessions 300 --megabytes 50 --projects 12")]
pub(crate) struct TestbedArgs {
    /// Folder to create
    dir: PathBuf,

    /// Create the small demo home
    #[arg(long, conflicts_with_all = ["sessions", "megabytes", "projects", "seed", "era"])]
    demo: bool,

    /// Number of sessions
    #[arg(long, value_name = "N", default_value_t = 200)]
    sessions: usize,

    /// Approximate size of the session files in megabytes
    #[arg(long, value_name = "MB", default_value_t = 40.0)]
    megabytes: f64,

    /// Number of projects
    #[arg(long, value_name = "N", default_value_t = 12)]
    projects: usize,

    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Only sessions of this era (repeatable)
    #[arg(long, value_name = "ERA", value_parser = eras())]
    era: Vec<String>,
}

fn eras() -> clap::builder::PossibleValuesParser {
    Era::ALL.iter().map(|era| era.name()).collect::<Vec<_>>().into()
}

/// Returns the eras of the given names and sources, if any are given.
fn chosen(names: &[String], sources: &[String]) -> Vec<Era> {
    let is_chosen = |era: &Era| {
        (names.is_empty() || names.iter().any(|name| name == era.name()))
            && (sources.is_empty() || sources.iter().any(|name| name == era.agent().name()))
    };
    Era::ALL.into_iter().filter(is_chosen).collect()
}

pub(crate) fn run(args: &TestbedArgs, context: &Context) -> Result<ExitCode, Failure> {
    let report = if args.demo {
        recount_testbed::demo(&args.dir, context.clock.now())
    } else {
        let options = TestbedOptions {
            seed: args.seed,
            projects: args.projects,
            sessions: args.sessions,
            megabytes: args.megabytes,
            eras: chosen(&args.era, &context.global.source),
        };
        let bar = Bar::new(context, "writing sessions");
        let report = recount_testbed::generate(&args.dir, &options, &mut |done, total| {
            bar.advance(done, total);
        });
        bar.finish();
        report
    };
    let report = report.map_err(|error| failure(&error))?;
    if context.global.json {
        let figures = serde_json::json!({
            "projects": report.projects,
            "sessions": report.sessions,
            "subagents": report.subagents,
            "files": report.files,
            "bytes": report.bytes,
            "messages": report.messages,
        });
        json::document(context, "testbed", "home", &figures)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = context.out(Paged::No);
    let dir = single_line(&args.dir.to_string_lossy());
    writeln!(
        out,
        "{dir}: {} sessions of {} projects, {} messages, {}",
        report.sessions,
        report.projects,
        count(report.messages),
        bytes(report.bytes)
    )?;
    out.finish()?;
    context.warn(&format!("to read it: recount --home {dir} list --all"));
    Ok(ExitCode::SUCCESS)
}

fn failure(error: &Error) -> Failure {
    let code = if matches!(error, Error::NotEmpty { .. }) { REFUSED } else { ERROR };
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        message = format!("{message}: {inner}");
        cause = inner.source();
    }
    Failure::new(code, message).hint("give a folder that does not exist yet")
}
