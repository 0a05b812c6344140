//! `recount integrate`

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use recount_changes::{
    Changes, IntegrateOptions, IntegrationState, IntegrationStatus, Notice, Proposal,
    integration_targets, pasted_instructions,
};
use serde::Serialize;

use super::change::{Consent, own_program};
use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure, REFUSED};
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::json;
use crate::output::sanitize::{sanitize, single_line};
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;
use crate::words;

/// Let agents look up earlier sessions
///
/// Adds recount to an agent as a tool server (`recount mcp`) that the agent starts itself, with a skill that says when to use it and
/// commands such as /recount:recall. For Gemini CLI this is an extension, for Claude Code a plugin, for Codex an entry in
/// config.toml; `skill` writes only the skill, for agents that have no integration. Without TARGET, shows the state of each agent.
///
/// Every file is shown before it is written, `--remove` removes what was written, and `recount undo` reverts either. Settings keep
/// their comments and order. An agent that is running is not changed if it could overwrite the change.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "\
Examples:
  recount integrate gemini --print --command recount   # the files, for reading
  recount integrate codex --project --print
  recount integrate all --remove")]
pub(crate) struct IntegrateArgs {
    /// Agent, `skill`, or `all` for every agent that is there
    #[arg(value_parser = PossibleValuesParser::new(integration_targets()))]
    target: Option<String>,

    /// Let the agent call the tools without asking; they only read
    #[arg(long, requires = "target")]
    allow: bool,

    /// Only in the project of the current folder, in files that can be committed
    #[arg(long, requires = "target")]
    project: bool,

    /// Print the files, and lines for your own instructions to the agent; change nothing
    #[arg(long, requires = "target", conflicts_with = "remove")]
    print: bool,

    /// Remove what was written
    #[arg(long, requires = "target")]
    remove: bool,

    /// Program that the agent starts [default: this one by its full path; `recount` with --project]
    #[arg(long, value_name = "PATH", requires = "target")]
    command: Option<String>,

    /// Replace files and entries of the same name that recount did not write
    #[arg(long, requires = "target")]
    force: bool,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &IntegrateArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    let Some(target) = &args.target else { return status(changes, context) };
    let options = IntegrateOptions {
        target: target.clone(),
        project: project(args, context)?,
        command: command(args, context)?,
        is_allowed: args.allow,
        is_forced: args.force,
    };
    if args.print {
        return print(changes, &options, context);
    }
    args.consent.recover(changes, context)?;
    let (offer, done, nothing) = if args.remove {
        let offer = changes.disintegrate_plan(&options)?;
        (offer, "recount is removed from the agent", "recount is not added to it")
    } else {
        let offer = changes.integrate_plan(&options)?;
        (offer, "the agent uses recount from its next start on", "everything is in place already")
    };
    refuse_while_running(args, &offer, context)?;
    args.consent.carry_out_or_report(&offer, changes, context, done, nothing)
}

/// Returns the folder of the project that is meant.
fn project(args: &IntegrateArgs, context: &Context) -> Result<Option<std::path::PathBuf>, Failure> {
    if !args.project {
        return Ok(None);
    }
    let here = context.env.current_folder().cloned();
    here.map(Some).ok_or_else(|| Failure::new(ERROR, "the current folder is unknown"))
}

/// Returns the program that the agent is to start. Agents start with odd search paths, so it is given in full unless others share the file.
fn command(args: &IntegrateArgs, context: &Context) -> Result<String, Failure> {
    let program = match &args.command {
        Some(command) if command.contains(['/', '\\']) => std::path::absolute(command)?,
        Some(command) => return Ok(command.clone()),
        None if args.project => return Ok("recount".to_owned()),
        // Nothing is written that could call it.
        None if args.remove || args.target.as_deref() == Some("skill") => return Ok(String::new()),
        None => own_program(context, "--command PATH")?,
    };
    let odd = || Failure::new(ERROR, "the path of recount is not valid UTF-8");
    Ok(program.to_str().ok_or_else(odd)?.to_owned())
}

/// An agent that runs would write its settings again as it read them.
fn refuse_while_running(
    args: &IntegrateArgs,
    offer: &Proposal,
    context: &Context,
) -> Result<(), Failure> {
    let runs = |notice: &&Notice| matches!(notice, Notice::AgentRuns { .. });
    match offer.notices.iter().find(runs).filter(|_| !args.consent.is_dry_run()) {
        Some(notice) => Err(Failure::new(REFUSED, words::notice(notice, &context.folders))
            .hint("nothing was changed; end the agent first, then try again")),
        None => Ok(()),
    }
}

#[derive(Serialize)]
struct PrintedFile<'a> {
    path: &'a str,
    text: &'a str,
}

/// Prints every file with its content.
fn print(
    changes: Changes<'_>,
    options: &IntegrateOptions,
    context: &Context,
) -> Result<ExitCode, Failure> {
    let files = changes.integration_files(options)?;
    if context.global.json {
        let shown: Vec<_> =
            files.iter().map(|(path, text)| (path.to_string_lossy(), text)).collect();
        let shown: Vec<_> = shown.iter().map(|(path, text)| PrintedFile { path, text }).collect();
        json::document(context, "integrate", "files", &shown)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = context.out(Paged::Yes);
    for (path, text) in &files {
        let path = context.folders.tilde(&path.to_string_lossy());
        writeln!(out, "==> {}\n{}", single_line(&path), sanitize(text))?;
    }
    let own = changes.instructions_files(options);
    if !own.is_empty() {
        writeln!(out, "==> to paste into {}, if you like", own.join(" or "))?;
        write!(out, "{}", pasted_instructions())?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

const COLUMNS: &[Column] = &[
    Column { heading: "AGENT", align: Align::Left, fit: Fit::Keep },
    Column { heading: "STATE", align: Align::Left, fit: Fit::Keep },
    Column { heading: "DETAILS", align: Align::Left, fit: Fit::Flexible },
];

/// Shows the state of each agent.
fn status(changes: Changes<'_>, context: &Context) -> Result<ExitCode, Failure> {
    let all = changes.integrations(true)?;
    if context.global.json {
        json::print(context, |out| recount_documents::integrations(out, &all))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |one: &IntegrationStatus| {
        let tone = match one.state {
            IntegrationState::Wired => Tone::Added,
            IntegrationState::Older => Tone::Warning,
            IntegrationState::Broken => Tone::Removed,
            IntegrationState::NoAgent | IntegrationState::NotThere => Tone::Dim,
        };
        vec![
            StyledSpan::new(one.name, Tone::Plain),
            StyledSpan::new(words::integration_state(one.state), tone),
            StyledSpan::new(&single_line(&details(one, context)), Tone::Plain),
        ]
    };
    let rows: Vec<Vec<StyledSpan>> = all.iter().map(row).collect();
    let mut out = context.out(Paged::Yes);
    out.write_all(render(COLUMNS, &rows, &context.page()).as_bytes())?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn details(one: &IntegrationStatus, context: &Context) -> String {
    let tilde = |path: &Path| context.folders.tilde(&path.to_string_lossy());
    match (one.state, &one.problem) {
        (IntegrationState::NoAgent, _) => {
            "the agent is not installed, and has no data here".to_owned()
        }
        (IntegrationState::NotThere, _) => format!("add it: recount integrate {}", one.agent),
        (_, Some(problem)) => {
            let problem = words::integration_problem(problem);
            match &one.path {
                Some(path) => format!("{problem}: {}", tilde(path)),
                None => problem.into_owned(),
            }
        }
        (state, None) => {
            let command = one.command.as_deref().map(Path::new).map(tilde).unwrap_or_default();
            let tools = one.tools.map(|tools| format!(", {tools} tools")).unwrap_or_default();
            let release = one.release.as_deref().unwrap_or_default();
            let older = if state == IntegrationState::Older {
                format!(" (written by {release}; update: recount integrate {})", one.agent)
            } else {
                String::new()
            };
            format!("{command}{tools}{older}")
        }
    }
}
