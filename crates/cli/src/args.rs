//! The arguments all commands share.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, ValueEnum};
use recount_engine::source_names;

use crate::commands::Command;

/// Recount what your coding agents did, and count it right
///
/// Finds every session that coding agents left on this machine, whatever release wrote it, and lists, shows and
/// counts it. Reading never changes an agent's file, every change can be
/// undone, and nothing is sent anywhere.
#[derive(Debug, Parser)]
#[command(name = "recount", version, propagate_version = true, disable_help_subcommand = true)]
#[command(
    after_help = "A SESSION is an id, its first characters (4 or more), a file, @N (row N of the last list) \
    or `latest`.\nWithout a command, `recount list`."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What every command understands.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Read this home instead of your own (can be repeated)
    ///
    /// A backup, a mounted disk, another user's home: a folder with the agents' folders below it, or an agent's
    /// folder itself.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) home: Vec<PathBuf>,

    /// Read only this agent (can be repeated)
    #[arg(long, global = true, value_name = "AGENT", help_heading = "Global options", value_parser = sources())]
    pub(crate) source: Vec<String>,

    /// Print one JSON document
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,

    /// When to use colour
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Global options"
    )]
    pub(crate) color: Color,

    /// Leave out warnings
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,

    /// Say more: each problem, with file, line and bytes
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = "Global options")]
    pub(crate) verbose: u8,

    /// Count problems as an error: exit with 2
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) strict: bool,
}

fn sources() -> clap::builder::PossibleValuesParser {
    source_names().iter().map(|name| name.as_str()).collect::<Vec<_>>().into()
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
