//! The arguments all commands share.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, ValueEnum};
use recount_engine::source_names;

use crate::commands::Command;

/// Recount what your coding agents did, and count it right
///
/// Lists, shows, searches, counts, exports, moves, guards and repairs the sessions that coding agents leave on this machine,
/// whatever release wrote them. Reading never changes an agent's file, every change can be undone, and nothing is sent anywhere.
#[derive(Debug, Parser)]
#[command(name = "recount", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What every command understands.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Home to read instead of your own (repeatable)
    ///
    /// A backup, a mounted disk or another user's home: a folder that contains the agents' folders, or an agent's folder itself.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) home: Vec<PathBuf>,

    /// Read only the sessions of this agent (repeatable)
    #[arg(long, global = true, value_name = "AGENT", help_heading = "Global options", value_parser = sources())]
    pub(crate) source: Vec<String>,

    /// Print JSON
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,

    /// When to use color
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Global options"
    )]
    pub(crate) color: Color,

    /// Suppress notes and warnings
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,

    /// Show each problem with file, line and byte range
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = "Global options")]
    pub(crate) verbose: u8,

    /// Exit with 2 if files had problems
    #[arg(long, alias = "strict", global = true, help_heading = "Global options")]
    pub(crate) fail_on_problems: bool,
}

pub(crate) fn sources() -> clap::builder::PossibleValuesParser {
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use recount_changes::Remedy;
    use recount_display::words::remedy;
    use recount_model::{RecordedPath, SessionId};

    use super::*;

    #[test]
    fn every_remedy_is_a_command_that_is_understood() {
        let id = SessionId::new("3f2a91c0-1111-4222-8333-444455556666");
        let old = Some(RecordedPath::new("/code/shop"));
        for one in [
            Remedy::Keep,
            Remedy::Fix,
            Remedy::Repair(id.clone()),
            Remedy::ShowRaw(id.clone()),
            Remedy::Compact(id),
            Remedy::PruneOrphaned,
            Remedy::Relocate { old: old.clone(), new: Some("/code/store".into()) },
            Remedy::Relocate { old, new: None },
            Remedy::Relocate { old: None, new: None },
            Remedy::History,
            Remedy::RebuildIndex,
        ] {
            let line = remedy(&one).below_home(None);
            let parsed = Cli::command().try_get_matches_from(line.split(' '));
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
        }
    }
}
