//! `recount guard`

mod fix;
mod hook;
mod keep;
mod page;
mod retention;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use recount_changes::RetentionWanted;
use recount_engine::{Agent, Forecast, Guarded, ReleaseFrom};

use crate::commands::change::Consent;
use crate::context::{Context, Paged};
use crate::failure::{DOOMED, Failure};
use crate::output::json;
use crate::output::progress::Bar;
use crate::words;

/// Show sessions that the agent will delete on its next start
///
/// Agents delete sessions when they start: old ones, those above a limit, and some by mistake. guard simulates the next start, with
/// the rules of the installed release, in every project. Without --fix, --retention, --keep or --hook it only reports. Exits with 1
/// if something would be deleted.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount guard                      # every project, installed release
  recount guard shop -v              # one project, file by file
  recount guard --release 0.60.0     # what an upgrade would do
  recount guard --fix                # remove the stub files that cause deletions
  recount guard --keep               # keep copies of all sessions
  recount guard --keep --watch       # and of all that is written from now on")]
pub(crate) struct GuardArgs {
    /// Only this project: a path, a slug, a hash prefix, or part of its name
    project: Option<String>,

    /// Use the rules of this release instead of the installed one
    #[arg(long, value_name = "X.Y.Z")]
    release: Option<String>,

    /// Remove or rename the files that would cause real sessions to be deleted
    ///
    /// Files without content of their own (the stub of a resume, an old document that its log replaced) are removed and kept as undo data. A session whose
    /// file name ends like another's is renamed. No session is rewritten, and `recount undo` reverts it.
    #[arg(long, group = "act")]
    fix: bool,

    /// Set the retention in the agent's settings: `off`, or a number of days
    ///
    /// Changes one value of the settings file; comments, order and everything else stay as they are.
    #[arg(long, group = "act", value_name = "off|DAYS", value_parser = retention::wanted, conflicts_with = "project")]
    retention: Option<RetentionWanted>,

    /// Keep compressed copies of all sessions and their artifacts in the vault
    ///
    /// Adds only what is new since the last run. `recount vault` lists the copies, `recount restore` restores one.
    #[arg(long, group = "act")]
    keep: bool,

    /// With --keep: go on, and copy what is written as it is written, until interrupted
    #[arg(long, requires = "keep")]
    watch: bool,

    /// Install or remove hooks in the agents' settings that run --fix and --keep and tell `recount watch` what the agent does
    ///
    /// The hooks apply to all projects, never fail and print nothing; none runs before or after a tool. Installing also copies all sessions once, so
    /// that the agent does not have to wait for the first copy. --source restricts it to one agent.
    #[arg(
        long,
        group = "act",
        value_name = "install|remove",
        value_enum,
        conflicts_with = "project"
    )]
    hook: Option<hook::What>,

    /// With --hook install: the recount program that the agent calls, instead of this one
    #[arg(long, value_name = "PATH", requires = "hook")]
    program: Option<PathBuf>,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &GuardArgs, context: &Context) -> Result<ExitCode, Failure> {
    if args.fix {
        return fix::run(args, context);
    }
    if let Some(what) = args.hook {
        return hook::run(what, args, context);
    }
    if args.keep {
        return keep::run(args, context);
    }
    if let Some(wanted) = args.retention {
        return retention::run(wanted, args, context);
    }
    forecast(args, context)
}

/// Tells what would be deleted.
fn forecast(args: &GuardArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.engine()?;
    let project = args.project.as_deref().map(|project| context.project_argument(project));
    let bar = Bar::new(context, "reading sessions");
    let forecast = engine.guard(project.as_deref(), args.release.as_deref(), &bar)?;
    bar.finish();
    let Forecast { agents, projects, listing } = &forecast;
    let doomed = projects.iter().any(Guarded::is_in_danger);
    if context.global.json {
        json::print(context, |out| recount_documents::guard(out, &forecast))?;
    } else {
        let mut out = context.out(Paged::Yes);
        out.write_all(page::page(agents, projects, context).as_bytes())?;
        out.finish()?;
    }
    for agent in agents {
        warn(agent, context);
    }
    if doomed && !context.global.json {
        let is_in_danger = |agent: &&Agent| {
            projects.iter().any(|row| row.source == agent.source && row.is_in_danger())
        };
        context.warn(&words::retention_off(agents.iter().filter(is_in_danger)));
        context.warn(
            "`recount guard --fix` prevents what it can, `recount guard --keep` keeps copies",
        );
    }
    if projects.is_empty() {
        context.warn(if listing.sessions.is_empty() {
            "no sessions found"
        } else {
            "no agent of these sessions is known to delete any by itself"
        });
    }
    let kept = listing.sessions.iter().flat_map(|session| &session.problem_list);
    let total = listing.sessions.iter().map(|session| session.problems).sum::<u64>();
    let not_understood = listing.sessions.iter().map(|session| session.not_understood).sum();
    let total = total + listing.problems.len() as u64;
    let code = context.problems(listing.problems.iter().chain(kept), total, not_understood);
    context.keep(forecast);
    Ok(if doomed && code == ExitCode::SUCCESS { ExitCode::from(DOOMED) } else { code })
}

/// Says what of a release is not sure.
fn warn(agent: &Agent, context: &Context) {
    let Agent { program, release, newest_known, .. } = agent;
    if agent.release_from == ReleaseFrom::Guessed {
        let words =
            format!("the installed release of {program} is unknown: using the rules of {release}");
        context.warn(&format!("{words} (--release X.Y.Z uses another)"));
    } else if words::guard::is_newer(release, newest_known) {
        context.warn(&format!(
            "{program} {release} is not known yet; using the rules of {newest_known}"
        ));
    }
}
