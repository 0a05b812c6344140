//! The `recount` command: parse, run, turn the outcome into an exit code.

mod app;
mod args;
mod commands;
mod context;
mod failure;
mod help;
mod output;

use std::mem::ManuallyDrop;
use std::process::ExitCode;

use recount_display::{when, words};
use recount_platform::grow_memory_in_large_steps;
use recount_tui::Tab;

use crate::context::Context;

fn main() -> ExitCode {
    if help::is_version_asked() {
        return help::print_version();
    }
    grow_memory_in_large_steps();
    let cli = match help::parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors; clap prints each to the right stream.
            let code = if error.use_stderr() { 2 } else { 0 };
            let _printed = error.print();
            return ExitCode::from(code);
        }
    };
    // The process ends with the command, and the system frees all memory at once: nothing is dropped before.
    let context = ManuallyDrop::new(Context::new(&cli.global));
    let done = match cli.command {
        None if app::is_possible(&context) => app::run(&context, Tab::Sessions, None),
        command => command.unwrap_or_default().run(&context),
    };
    let code = match done {
        Ok(code) => code,
        Err(failure) => failure.report(&context),
    };
    context.finish();
    code
}
