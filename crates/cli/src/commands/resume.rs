//! `recount resume`

use std::fmt::Write as _;
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
    /// The session; without one, the newest here
    session: Option<String>,

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
    let (engine, session) = match &args.session {
        Some(session) => (context.engine_for(session)?, session.clone()),
        None => {
            let engine = context.engine()?;
            (engine, picker::choose(engine, "Resume", context)?)
        }
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
            "what would have made {} delete conversations is in the trash; `recount undo {}` takes that back",
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
    let mut words =
        vec!["cd".to_owned(), quoted(&resume.folder.to_string_lossy()), "&&".to_owned()];
    let set = |(name, home): &(&str, std::path::PathBuf)| {
        format!("{name}={}", quoted(&home.to_string_lossy()))
    };
    words.extend(resume.variables.iter().map(set));
    words.push(resume.program.to_owned());
    words.extend(resume.args.iter().map(|word| quoted(word)));
    words.join(" ")
}

/// Puts a word in quotes if the shell would read anything into it. Text from sessions cannot leave them.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if word.chars().any(char::is_control) {
        // A terminal must not act on it, and a shell must still read it.
        let mut text = String::from("$'");
        for c in word.chars() {
            match c {
                '\'' | '\\' => text.extend(['\\', c]),
                c if c.is_control() => {
                    let mut bytes = [0; 4];
                    for byte in c.encode_utf8(&mut bytes).bytes() {
                        let _written = write!(text, "\\x{byte:02x}");
                    }
                }
                c => text.push(c),
            }
        }
        text.push('\'');
        return text;
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_reach_the_shell_as_they_are() {
        assert_eq!(quoted("/home/dev/code/shop"), "/home/dev/code/shop");
        assert_eq!(quoted("/home/dev/my code"), "'/home/dev/my code'");
        assert_eq!(quoted("it's; rm -rf ~"), r"'it'\''s; rm -rf ~'");
        assert_eq!(quoted("$(x)"), "'$(x)'");
        assert_eq!(quoted("a\x1b[2J'b\n"), r"$'a\x1b[2J\'b\x0a'");
        assert_eq!(quoted(""), "''");
    }
}
