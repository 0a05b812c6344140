//! The `recount` command: parse, run, turn the outcome into an exit code.

mod args;
mod commands;
mod context;
mod failure;
mod help;
mod output;
mod when;
mod words;

use std::mem::ManuallyDrop;
use std::process::ExitCode;

use crate::context::Context;

fn main() -> ExitCode {
    if help::is_version_asked() {
        return help::print_version();
    }
    let cli = match help::parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; clap prints each where it belongs.
            let code = if error.use_stderr() { 2 } else { 0 };
            let _printed = error.print();
            return ExitCode::from(code);
        }
    };
    // The process ends when the command does, and the system takes all memory back at once: nothing is taken apart before.
    let context = ManuallyDrop::new(Context::new(&cli.global));
    let code = match cli.command.unwrap_or_default().run(&context) {
        Ok(code) => code,
        Err(failure) => failure.report(&context),
    };
    context.finish();
    code
}
