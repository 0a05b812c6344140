//! `recount resume`

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;
use recount_engine::export::json::write_json;
use recount_engine::{Engine, Resume};
use recount_platform::{find_program, quote, run_in};
use serde::Serialize;

use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure};
use crate::output::progress::Bar;

/// Go on with a session: in its project's folder, with the agent it belongs to
///
/// Starts the agent on the session, from wherever you are. What would make the agent delete conversations at a start is taken out of
/// its way before, and what the resume itself has left behind afterwards; `recount history` shows both. Refused when the project's folder is gone, when somebody is at work in the session, and when
/// the agent would not list it.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount resume 3d2f\n  recount resume @1                    the first row of the last list\n  recount resume latest -- --model flash\n  \
    recount resume 3d2f --print          only the command, for the shell"
)]
pub(crate) struct ResumeArgs {
    /// The session
    session: String,

    /// Only print the command
    #[arg(long)]
    print: bool,

    /// What else the agent is told
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
    let engine = context.engine_for(&args.session)?;
    let bar = Bar::new(context, "reading");
    let mut resume = engine.resume(&args.session, &bar)?;
    bar.finish();
    resume.args.extend(args.more.iter().cloned());
    if args.print || context.global.json {
        print(&resume, context)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(program) = find_program(&context.env, resume.program) else {
        return Err(Failure::new(ERROR, format!("{} is not installed", resume.program))
            .hint(format!("with it installed, this goes on: {}", line(&resume))));
    };
    defuse(&engine.afresh(), &resume, context);
    let started = run_in(&program, &resume.args, &resume.folder, &resume.variables);
    let code = started.map_err(|error| {
        Failure::new(ERROR, format!("cannot start {}: {error}", program.display()))
    })?;
    // What the agent has left is seen only by who looks again.
    defuse(&engine.afresh(), &resume, context);
    Ok(ExitCode::from(code))
}

/// Takes out of the way what would delete conversations. That it cannot be done is told, and no reason not to go on.
fn defuse(engine: &Engine, resume: &Resume, context: &Context) {
    match Changes::new(engine).defuse(resume, &Bar::new(context, "reading")) {
        Ok(None) => {}
        Ok(Some(made)) => context.warn(&format!(
            "what would have made {} delete conversations was removed; `recount undo {}` takes that back",
            resume.program, made.receipt
        )),
        Err(error) => context.warn(&format!("left as it is: {}", error.told())),
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
        writeln!(out, "{}", line(resume))?;
    }
    out.finish()?;
    Ok(())
}

/// The command as a line for the shell.
fn line(resume: &Resume) -> String {
    let mut words = vec!["cd".to_owned(), quote(&resume.folder.to_string_lossy()), "&&".to_owned()];
    let set = |(name, home): &(&str, std::path::PathBuf)| {
        format!("{name}={}", quote(&home.to_string_lossy()))
    };
    words.extend(resume.variables.iter().map(set));
    words.push(resume.program.to_owned());
    words.extend(resume.args.iter().map(|word| quote(word)));
    words.join(" ")
}
