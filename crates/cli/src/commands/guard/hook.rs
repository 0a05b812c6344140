//! `recount guard --hook`

use std::io::{self, Read as _};
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use recount_changes::{Changes, note_hook};
use recount_platform::{ancestors, literal};

use super::GuardArgs;
use crate::commands::change::{nothing, own_program};
use crate::context::Context;
use crate::failure::{ERROR, Failure};
use crate::output::progress::Bar;

/// What an agent tells is small, but for what the user has just said.
const MOST: u64 = 64 * 1024 * 1024;

/// An agent may run a hook through a shell or two.
const ANCESTORS: usize = 4;

/// What to do about hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum What {
    /// Add them
    Install,
    /// Take them out
    Remove,
    /// What the agent calls
    #[value(hide = true)]
    Run,
}

pub(super) fn run(what: What, args: &GuardArgs, context: &Context) -> Result<ExitCode, Failure> {
    match what {
        What::Run => {
            answer(context);
            Ok(ExitCode::SUCCESS)
        }
        What::Install => install(args, context),
        What::Remove => remove(args, context),
    }
}

/// Whatever goes wrong, the agent goes on: nothing is printed, and that is no failure.
fn answer(context: &Context) {
    let mut told = Vec::new();
    let read = io::stdin().lock().take(MOST).read_to_end(&mut told);
    if read.is_err() {
        return;
    }
    // First of all: whoever watches wants to know at once, and this takes no time.
    if let Some(data) = &context.folders.data {
        let agent = context.global.source.first().map(String::as_str);
        let at = context.clock.now().as_millisecond();
        let _noted = note_hook(data, agent, &told, at, ancestors(ANCESTORS));
    }
    if let Ok(engine) = context.plain_engine() {
        let _done = Changes::new(&engine).answer_hook(&told);
    }
}

fn install(args: &GuardArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let program = match &args.program {
        Some(program) => std::path::absolute(program)?,
        None => own_program(context, "--program PATH")?,
    };
    let program = shell_word(&program)?;
    let offer = changes.hook_plan(&|agent| command(&program, agent))?;
    if offer.is_empty() {
        return nothing(&offer, context, "the hooks are there already");
    }
    let done = "the agent calls recount from its next start on";
    let code = args.consent.carry_out(&offer, changes, context, done)?;
    if !args.consent.is_dry_run() {
        // Once for all, so that the agent need not wait for it.
        let bar = Bar::new(context, "keeping sessions");
        changes.keep(None, &bar)?;
        bar.finish();
    }
    Ok(code)
}

fn remove(args: &GuardArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let offer = changes.unhook_plan()?;
    if offer.is_empty() {
        return nothing(&offer, context, "there are no hooks of recount");
    }
    args.consent.carry_out(&offer, changes, context, "the agent does not call recount any more")
}

/// Returns the program as a word of a command line.
fn shell_word(program: &Path) -> Result<String, Failure> {
    let odd = || Failure::new(ERROR, "the path of recount is not valid UTF-8");
    Ok(literal(program.to_str().ok_or_else(odd)?))
}

/// The command for the agent's shell: quiet and fine, also when recount is gone.
fn command(program: &str, agent: &str) -> String {
    if cfg!(windows) {
        format!(
            "if (Test-Path {program}) {{ $input | & {program} guard --hook run --source {agent} 2>$null }}; exit 0"
        )
    } else {
        format!("{program} guard --hook run --source {agent} 2>/dev/null || true")
    }
}
