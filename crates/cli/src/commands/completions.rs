//! `recount completions`

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use crate::context::{Context, Paged};
use crate::failure::Failure;
use crate::help;

/// Print a completion script for a shell
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount completions bash > ~/.local/share/bash-completion/completions/recount
  recount completions zsh > ~/.zfunc/_recount
  recount completions fish > ~/.config/fish/completions/recount.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, context: &Context) -> Result<ExitCode, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut help::command(), "recount", &mut text);
    let mut out = context.out(Paged::No);
    out.write_all(&text)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
