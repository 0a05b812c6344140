//! The `recount` command: parse, run, turn the outcome into an exit code.

mod args;
mod commands;
mod context;
mod failure;
mod output;
mod when;

use std::mem::ManuallyDrop;
use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Command};
use crate::context::Context;
use crate::failure::Failure;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
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
    let code = match run(cli.command, &context) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    };
    context.finish();
    code
}

fn run(command: Option<Command>, context: &Context) -> Result<ExitCode, Failure> {
    match command.unwrap_or_default() {
        Command::List(args) => commands::list::run(&args, context),
        Command::Show(args) => commands::show::run(&args, context),
        Command::Story(args) => commands::story::run(&args, context),
        Command::Export(args) => commands::export::run(&args, context),
        Command::Search(args) => commands::search::run(&args, context),
        Command::Resume(args) => commands::resume::run(&args, context),
        Command::Guard(args) => commands::guard::run(&args, context),
        Command::Index(args) => commands::index::run(&args, context),
        Command::Stats(args) => commands::stats::run(&args, context),
        Command::Prices(args) => commands::prices::run(&args, context),
        Command::Sql(args) => commands::sql::run(&args, context),
        Command::Projects(args) => commands::projects::run(&args, context),
        Command::Rename(args) => commands::rename::run(&args, context),
        Command::Tag(args) => commands::tag::run(&args, context),
        Command::Pin(args) => commands::tag::pin(&args, context),
        Command::Unpin(args) => commands::tag::unpin(&args, context),
        Command::Move(args) => commands::r#move::run(&args, context),
        Command::Relocate(args) => commands::relocate::run(&args, context),
        Command::Fork(args) => commands::fork::run(&args, context),
        Command::Merge(args) => commands::merge::run(&args, context),
        Command::Prune(args) => commands::prune::run(&args, context),
        Command::Doctor(args) => commands::doctor::run(&args, context),
        Command::Repair(args) => commands::repair::run(&args, context),
        Command::Resurrect(args) => commands::resurrect::run(&args, context),
        Command::Compact(args) => commands::compact::run(&args, context),
        Command::Convert(args) => commands::convert::run(&args, context),
        Command::Trim(args) => commands::trim::run(&args, context),
        Command::Delete(args) => commands::delete::run(&args, context),
        Command::Restore(args) => commands::restore::run(&args, context),
        Command::Trash(args) => commands::trash::run(&args, context),
        Command::Vault(args) => commands::vault::run(&args, context),
        Command::Undo(args) => commands::undo::run(&args, context),
        Command::History(args) => commands::history::run(&args, context),
        Command::Testbed(args) => commands::testbed::run(&args, context),
        Command::Completions(args) => commands::completions::run(&args, context),
        Command::Man(args) => commands::man::run(&args, context),
        Command::HelpMarkdown => commands::help_markdown::run(context),
    }
}
