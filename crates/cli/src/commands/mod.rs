//! One file per command: its arguments, its help and its implementation; and the list of commands.

mod change;
mod compact;
mod complete_values;
mod completions;
mod convert;
mod delete;
mod doctor;
mod export;
mod fork;
mod guard;
mod handover;
mod help_markdown;
mod history;
mod index;
mod ingest;
mod integrate;
mod list;
mod man;
mod mcp;
mod merge;
mod r#move;
mod picked;
mod picker;
mod prices;
mod projects;
mod prune;
mod pull;
mod push;
mod recover;
mod redacted;
mod relocate;
mod rename;
mod repair;
mod restore;
mod resume;
mod search;
mod serve;
mod session_rows;
mod show;
mod sql;
mod stats;
mod story;
mod tag;
mod testbed;
mod trash;
mod trim;
mod undo;
mod vault;
mod verify;
mod watch;

use std::process::ExitCode;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Failure;

/// Declares the commands, in the groups and order of the help: name, arguments and function.
macro_rules! commands {
    ($($group:literal { $($(#[$attribute:meta])* $name:ident($args:ty) => $run:path;)* })*) => {
        /// The commands.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($($(#[$attribute])* $name($args),)*)*
        }

        impl Command {
            /// Runs the command.
            pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
                match self {
                    $($(Self::$name(args) => $run(args, context),)*)*
                }
            }
        }

        impl Command {
            /// Adds the command of this name to a program, without all others: building those takes longer than parsing. `None` if there is
            /// none.
            pub(crate) fn add_one(name: &str, program: clap::Command) -> Option<clap::Command> {
                let add = match name {
                    $($(_ if is_name_of(name, stringify!($name)) => {
                        <$args as clap::Args>::augment_args
                    })*)*
                    _ => return None,
                };
                // A command keeps its name as long as the program runs.
                let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
                Some(program.subcommand(add(clap::Command::new(name))))
            }
        }

        /// The groups of the help, each with the names of its commands as written in code.
        pub(crate) const GROUPS: &[(&str, &[&str])] =
            &[$(($group, &[$(stringify!($name)),*])),*];
    };
}

commands! {
    "Read" {
        List(list::ListArgs) => list::run;
        Show(show::ShowArgs) => show::run;
        Story(story::StoryArgs) => story::run;
        Projects(projects::ProjectsArgs) => projects::run;
        Verify(verify::VerifyArgs) => verify::run;
        Export(export::ExportArgs) => export::run;
        Serve(serve::ServeArgs) => serve::run;
    }
    "Search & count" {
        Search(search::SearchArgs) => search::run;
        Stats(stats::StatsArgs) => stats::run;
        Watch(watch::WatchArgs) => watch::run;
    Prices(prices::PricesArgs) => prices::run;
        Sql(sql::SqlArgs) => sql::run;
        Index(index::IndexArgs) => index::run;
    }
    "Continue" {
        Resume(resume::ResumeArgs) => resume::run;
        Fork(fork::ForkArgs) => fork::run;
        Handover(handover::HandoverArgs) => handover::run;
        Merge(merge::MergeArgs) => merge::run;
    }
    "Organize" {
        Rename(rename::RenameArgs) => rename::run;
        Tag(tag::TagArgs) => tag::run;
        Pin(tag::PinArgs) => tag::pin;
        Unpin(tag::UnpinArgs) => tag::unpin;
        Move(r#move::MoveArgs) => r#move::run;
        Relocate(relocate::RelocateArgs) => relocate::run;
        Trim(trim::TrimArgs) => trim::run;
        Compact(compact::CompactArgs) => compact::run;
        Convert(convert::ConvertArgs) => convert::run;
        Delete(delete::DeleteArgs) => delete::run;
        Prune(prune::PruneArgs) => prune::run;
    }
    "Protect" {
        Guard(guard::GuardArgs) => guard::run;
        Vault(vault::VaultArgs) => vault::run;
        Trash(trash::TrashArgs) => trash::run;
    }
    "Repair & undo" {
        Doctor(doctor::DoctorArgs) => doctor::run;
        Repair(repair::RepairArgs) => repair::run;
        Restore(restore::RestoreArgs) => restore::run;
        Recover(recover::RecoverArgs) => recover::run;
        Undo(undo::UndoArgs) => undo::run;
        History(history::HistoryArgs) => history::run;
    }
    "Team" {
        Push(push::PushArgs) => push::run;
        Pull(pull::PullArgs) => pull::run;
    }
    "Setup" {
        Integrate(integrate::IntegrateArgs) => integrate::run;
        Ingest(ingest::IngestArgs) => ingest::run;
        Mcp(mcp::McpArgs) => mcp::run;
        Testbed(testbed::TestbedArgs) => testbed::run;
        Completions(completions::CompletionsArgs) => completions::run;
        Man(man::ManArgs) => man::run;
        #[command(hide = true)]
        HelpMarkdown(help_markdown::HelpMarkdownArgs) => help_markdown::run;
        #[command(hide = true)]
        CompleteValues(complete_values::CompleteValuesArgs) => complete_values::run;
    }
}

/// Whether a word is the name of a command. Those of several words are not among them.
pub(crate) fn is_name(word: &str) -> bool {
    GROUPS.iter().flat_map(|(_, commands)| *commands).any(|command| is_name_of(word, command))
}

/// Whether a word is the name of the command that is written so in code.
fn is_name_of(word: &str, command: &str) -> bool {
    word.eq_ignore_ascii_case(command) && !word.bytes().any(|byte| byte.is_ascii_uppercase())
}

impl Default for Command {
    fn default() -> Self {
        Self::List(list::ListArgs::default())
    }
}
