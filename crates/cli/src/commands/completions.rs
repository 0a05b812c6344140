//! `recount completions`

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::args::Cli;
use crate::context::{Context, Paged};
use crate::failure::Failure;

/// Print completions for a shell
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount completions bash > ~/.local/share/bash-completion/completions/recount\n  \
    recount completions zsh > \"${fpath[1]}/_recount\"\n  recount completions fish > ~/.config/fish/completions/recount.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, context: &Context) -> Result<ExitCode, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "recount", &mut text);
    let mut out = context.out(Paged::No);
    out.write_all(&text)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
