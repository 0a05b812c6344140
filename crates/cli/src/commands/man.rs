//! `recount man`

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use clap_mangen::Man;

use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure};
use crate::help;

/// Print a manual page
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount man > recount.1
  recount man list > recount-list.1")]
pub(crate) struct ManArgs {
    /// Command; the main page if missing
    command: Option<String>,
}

pub(crate) fn run(args: &ManArgs, context: &Context) -> Result<ExitCode, Failure> {
    let mut cli = help::command();
    cli.build();
    let page = match args.command.as_deref() {
        None => cli.clone(),
        Some(name) => {
            let command = cli
                .get_subcommands()
                .find(|c| c.get_name() == name || c.get_all_aliases().any(|a| a == name));
            let unknown = || {
                Failure::new(ERROR, format!("no command '{name}'"))
                    .hint("`recount --help` lists the commands")
            };
            let command = command.ok_or_else(unknown)?;
            command.clone().display_name(format!("recount-{}", command.get_name()))
        }
    };
    let mut text = Vec::new();
    Man::new(page).render(&mut text)?;
    let mut out = context.out(Paged::No);
    out.write_all(&text)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
