//! `recount resume`

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;
use recount_engine::export::json::write_json;
use recount_engine::{Engine, Resume};
use recount_platform::{find_program, run_in};
use serde::Serialize;

use super::picker;
use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure};
use crate::output::progress::Bar;

/// Resume a session with its agent, in its project's folder
///
/// Starts the agent on the session, from any folder. Before the start, recount removes stub files that would make the agent delete
/// real sessions; afterwards it removes the stub that the resume itself left behind. `recount history` shows both. Refused if the project's folder is
/// missing, if the session is running, or if the agent would not list the session.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount resume 279d
  recount resume @1                  # first row of the last list
  recount resume latest -- --model flash
  recount resume 279d --print        # only print the command")]
pub(crate) struct ResumeArgs {
    /// Session: an id or its first characters, a file, @N or `latest`; default: the newest here
    session: Option<String>,

    /// Print the command instead of running it
    #[arg(long)]
    print: bool,

    /// Extra arguments for the agent
    #[arg(last = true, value_name = "ARGUMENT")]
    more: Vec<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    session: &'a recount_model::SessionFacts,
    folder: String,
    command: Vec<&'a str>,
    variables: Vec<(&'static str, String)>,
}

pub(crate) fn run(args: &ResumeArgs, context: &Context) -> Result<ExitCode, Failure> {
    let (engine, session) = if let Some(session) = &args.session {
        (context.engine_for(session)?, session.clone())
    } else {
        let engine = context.engine()?;
        (engine, picker::choose(engine, "Resume", context)?)
    };
    let bar = Bar::new(context, "reading");
    let mut resume = engine.resume(&session, &bar)?;
    bar.finish();
    resume.args.extend(args.more.iter().cloned());
    if args.print || context.global.json {
        print(&resume, context)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(program) = find_program(&context.env, resume.program) else {
        return Err(Failure::new(ERROR, format!("{} is not installed", resume.program))
            .hint(format!("with it installed, this would run: {}", resume.shell_line())));
    };
    disarm(&engine.afresh(), &resume, context);
    let started = run_in(&program, &resume.args, &resume.folder, &resume.variables);
    let code = started.map_err(|error| {
        Failure::new(ERROR, format!("cannot start {}: {error}", program.display()))
    })?;
    // A new look at the disk shows what the agent has left.
    disarm(&engine.afresh(), &resume, context);
    Ok(ExitCode::from(code))
}

/// Removes stub files that would cause deletions. A failure is reported, but does not stop the resume.
fn disarm(engine: &Engine, resume: &Resume, context: &Context) {
    match Changes::new(engine).disarm(resume, &Bar::new(context, "reading")) {
        Ok(None) => {}
        Ok(Some(made)) => context.warn(&format!(
            "removed stub files that would have made {} delete sessions; `recount undo {}` reverts it",
            resume.program, made.receipt
        )),
        Err(error) => context.warn(&format!("unchanged: {}", error.full_message())),
    }
}

fn print(resume: &Resume, context: &Context) -> Result<(), Failure> {
    let mut out = context.out(Paged::No);
    if context.global.json {
        let command = std::iter::once(resume.program).chain(resume.args.iter().map(String::as_str));
        let text = |path: &std::path::PathBuf| path.to_string_lossy().into_owned();
        let document = Document {
            schema: "recount.resume/1",
            session: &resume.facts,
            folder: text(&resume.folder),
            command: command.collect(),
            variables: resume.variables.iter().map(|(name, home)| (*name, text(home))).collect(),
        };
        write_json(&mut out, &document)?;
        out.write_all(b"\n")?;
    } else {
        writeln!(out, "{}", resume.shell_line())?;
    }
    out.finish()?;
    Ok(())
}
