//! The main help: the commands in groups, examples, environment, files and exit codes.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args as _, ColorChoice, CommandFactory as _, FromArgMatches as _};
use recount_platform::VARIABLES;

use crate::args::{Cli, Global};
use crate::commands::{self, Command, GROUPS};

const EXAMPLES: &str = "\
Examples:
  recount list --all                 # every session on this machine, newest first
  recount show latest                # transcript of the newest session
  recount search discount            # full text of every session
  recount stats --all --by month     # tokens and cost
  recount guard                      # sessions that the agent will delete
";

const ARGUMENTS: &str = "\
Arguments of commands:
  SESSION  Id, its first characters (4+), a file, @N (row of the last list), `latest`
  PROJECT  Path, `.`, slug, hash prefix, or part of its name
  WHEN     2026-09-02, 2026-09-02T08:00, 12h, 7d, 4w, `today`, `yesterday`

Run `recount help COMMAND` for options and examples.
Without a command, opens the app on a terminal, else runs `list`.";

const FILES: &str = "\
Files:
  ~/.config/recount/config.toml  Settings ($XDG_CONFIG_HOME/recount)
  ~/.local/share/recount         Catalog, index, tags, trash, vault ($XDG_DATA_HOME/recount)

Exit codes:
  0    Success
  1    Nothing found; `guard`: sessions will be deleted; `doctor`: problems found
  2    Error or bad usage
  3    Refused for safety
  130  Interrupted";

/// Whether the only argument asks for the version. Scripts and prompts ask often, and the answer needs no parser: building
/// all commands takes longer than everything else.
pub(crate) fn is_version_asked() -> bool {
    let mut arguments = arguments().skip(1);
    let first = arguments.next();
    arguments.next().is_none() && first.is_some_and(|word| word == "--version" || word == "-V")
}

/// Prints the version as clap prints it.
pub(crate) fn print_version() -> ExitCode {
    // A closed pipe is not an error.
    let _printed = writeln!(std::io::stdout(), "recount {}", env!("CARGO_PKG_VERSION"));
    ExitCode::SUCCESS
}

/// Parses the arguments of this process. The text of the help is only composed when needed.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    if let Some(cli) = parse_one(arguments()) {
        return Ok(cli);
    }
    let color = color(arguments());
    let parsed = |program: clap::Command| {
        Cli::from_arg_matches(&program.color(color).try_get_matches_from(arguments())?)
    };
    parsed(Cli::command()).or_else(|error| match error.kind() {
        ErrorKind::DisplayHelp => parsed(with_help(Cli::command())),
        _ => Err(error),
    })
}

/// Parses the arguments with the one command that they seem to name. `None` if there is anything to say about them, or help to
/// show: that takes all commands.
fn parse_one(arguments: impl Iterator<Item = OsString> + Clone) -> Option<Cli> {
    let mut words = arguments.clone().skip(1).filter_map(|word| word.into_string().ok());
    let name = words.find(|word| commands::is_name(word))?;
    let program = Global::augment_args(clap::Command::new("recount"));
    let program = Command::add_one(&name, program)?;
    Cli::from_arg_matches(&program.try_get_matches_from(arguments).ok()?).ok()
}

/// Returns the value of `--color`. Help and usage errors are printed before the arguments are parsed.
fn color(arguments: impl Iterator<Item = OsString>) -> ColorChoice {
    let mut arguments = arguments.skip(1).take_while(|argument| argument != "--");
    while let Some(argument) = arguments.next() {
        let wanted = match argument.to_str() {
            Some("--color") => arguments.next(),
            Some(text) => text.strip_prefix("--color=").map(OsString::from),
            None => None,
        };
        match wanted.as_ref().and_then(|wanted| wanted.to_str()) {
            Some("never") => return ColorChoice::Never,
            Some("always") => return ColorChoice::Always,
            _ => {}
        }
    }
    ColorChoice::Auto
}

fn arguments() -> impl Iterator<Item = OsString> + Clone {
    std::env::args_os().collect::<Vec<_>>().into_iter()
}

/// Returns the visible commands and arguments, with the full help.
pub(crate) fn command() -> clap::Command {
    let all = Cli::command();
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set());
    let mut program = clap::Command::new("recount")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .args(all.get_arguments())
        .subcommands(shown);
    if let Some(about) = all.get_about() {
        program = program.about(about.clone());
    }
    if let Some(about) = all.get_long_about() {
        program = program.long_about(about.clone());
    }
    with_help(program)
}

fn with_help(plain: clap::Command) -> clap::Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{EXAMPLES}{}\nOptions:\n{{options}}{{after-help}}",
        groups(&plain)
    );
    plain
        .help_template(template)
        .after_help(ARGUMENTS)
        .after_long_help(format!("{ARGUMENTS}\n\n{}\n\n{FILES}", variables()))
}

/// Lists the commands by group.
fn groups(program: &clap::Command) -> String {
    let commands = || program.get_subcommands().filter(|command| !command.is_hide_set());
    let width = commands().map(|command| command.get_name().len()).max().unwrap_or_default();
    let mut text = String::new();
    for (group, names) in GROUPS {
        // Writing to a string cannot fail.
        let _written = writeln!(text, "\n{group}:");
        for command in commands().filter(|command| names.iter().any(|name| is_name(command, name)))
        {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _written = writeln!(text, "  {:width$}  {about}", command.get_name());
        }
    }
    text
}

/// Whether a variant of the command list, as written in code, is this command.
fn is_name(command: &clap::Command, variant: &str) -> bool {
    let letters = command.get_name().chars().filter(|letter| *letter != '-');
    letters.eq(variant.chars().map(|letter| letter.to_ascii_lowercase()))
}

fn variables() -> String {
    let width = VARIABLES.iter().map(|variable| variable.name.len()).max().unwrap_or_default();
    let mut text = String::from("Environment variables:");
    for variable in VARIABLES {
        let _written = write!(text, "\n  {:width$}  {}", variable.name, variable.purpose);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn color_is_known_before_the_command_line_is_parsed() {
        for (line, wanted) in [
            ("recount --color never --help", ColorChoice::Never),
            ("recount list --help --color=always", ColorChoice::Always),
            ("recount --help", ColorChoice::Auto),
            ("recount search -- --color never", ColorChoice::Auto),
        ] {
            assert_eq!(color(line.split(' ').map(OsString::from)), wanted, "{line}");
        }
    }

    /// Every visible command and subcommand, with its full name.
    fn shown() -> Vec<clap::Command> {
        fn add(command: &clap::Command, all: &mut Vec<clap::Command>) {
            for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
                all.push(below.clone());
                add(below, all);
            }
        }
        let mut all = Vec::new();
        add(&command(), &mut all);
        all
    }

    #[test]
    fn every_command_is_in_one_group_of_the_help() {
        let help = command().render_help().to_string();
        for command in command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let lines = help.lines().filter(|line| {
                line.strip_prefix("  ")
                    .is_some_and(|line| line.split_whitespace().next() == Some(command.get_name()))
            });
            assert_eq!(lines.count(), 1, "{}", command.get_name());
        }
    }

    #[test]
    fn short_help_is_one_line_of_at_most_60_characters() {
        for command in shown() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let length = about.chars().count();
            assert!((1..=60).contains(&length), "{}: {about} ({length})", command.get_name());
            assert!(!about.ends_with('.'), "{}: {about}", command.get_name());
        }
    }

    #[test]
    fn help_of_flags_has_no_full_stop() {
        for command in shown() {
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!help.is_empty(), "{} {}", command.get_name(), argument.get_id());
                assert!(
                    !help.ends_with('.'),
                    "{} {}: {help}",
                    command.get_name(),
                    argument.get_id()
                );
            }
        }
    }

    #[test]
    fn every_command_has_examples() {
        for command in command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.starts_with("Examples:\n  recount "), "{}: {after}", command.get_name());
        }
    }

    #[test]
    fn one_command_is_parsed_as_with_all_of_them() {
        let mut parsed = 0;
        for line in [
            "search --json -n 3 -- tax rate",
            "--home /tmp search tax --all-hits",
            "--home search list --all",
            "list search",
            "stats --all --by month -q",
            "show latest --json",
            "tag 5eab search",
            "Search tax",
            "search --no-such-flag",
            "ls",
            "help search",
            "search --help",
            "vault list",
            "list --version",
            "",
        ] {
            let words = || std::iter::once("recount").chain(line.split_whitespace());
            if let Some(one) = parse_one(words().map(OsString::from)) {
                let all = Cli::command().try_get_matches_from(words()).unwrap();
                let all = Cli::from_arg_matches(&all).unwrap();
                assert_eq!(format!("{one:?}"), format!("{all:?}"), "{line}");
                parsed += 1;
            }
        }
        assert!(parsed >= 6, "{parsed} of them were parsed");
    }
}
