//! `recount completions`

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use crate::context::{Context, Paged};
use crate::failure::Failure;
use crate::help;

/// Print a completion script for a shell
///
/// In bash, zsh and fish, sessions are completed by id, with their titles, and projects by name.
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
    let mut text = String::from_utf8_lossy(&text).into_owned();
    match args.shell {
        Shell::Bash => text.push_str(&bash()),
        Shell::Zsh => text = zsh(&text),
        Shell::Fish => text.push_str(&fish()),
        _ => {}
    }
    let mut out = context.out(Paged::No);
    out.write_all(text.as_bytes())?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the commands whose first arguments are sessions, or projects, by all their names.
fn commands_with(is_wanted: fn(&str) -> bool) -> Vec<String> {
    let program = help::command();
    let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
    let wanted = shown.filter(|command| {
        command.get_positionals().next().is_some_and(|first| is_wanted(first.get_id().as_str()))
    });
    let mut names = Vec::new();
    for command in wanted {
        names.push(command.get_name().to_owned());
        names.extend(command.get_visible_aliases().map(str::to_owned));
    }
    names
}

fn is_session(id: &str) -> bool {
    matches!(id, "session" | "sessions" | "what")
}

fn is_project(id: &str) -> bool {
    matches!(id, "project" | "what")
}

/// A function around the generated one, which does not support dynamic values.
fn bash() -> String {
    format!(
        r#"
_recount_values() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" word command="" kind=""
    _recount "$@"
    [[ "$cur" == -* ]] && return 0
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        [[ "$word" == -* ]] || {{ command="$word"; break; }}
    done
    case "${{COMP_WORDS[COMP_CWORD-1]}}" in
        --project|--to) kind=projects ;;
        -*) return 0 ;;
        *) case " {sessions} " in *" $command "*) kind=sessions ;; esac
           case " {projects} " in *" $command "*) kind="$kind projects" ;; esac ;;
    esac
    [[ -z "$command" ]] && return 0
    # Names of folders are anybody's: nothing here may be expanded by the shell.
    local one value
    for one in $kind; do
        while IFS=$'\t' read -r value _; do
            [[ "$value" == "$cur"* ]] && COMPREPLY+=("$(printf %q "$value")")
        done < <(recount complete-values "$one" 2>/dev/null)
    done
    return 0
}}
complete -F _recount_values -o nosort -o bashdefault -o default recount
"#,
        sessions = commands_with(is_session).join(" "),
        projects = commands_with(is_project).join(" ")
    )
}

/// The generated script offers files by default.
fn zsh(text: &str) -> String {
    let mut script = String::new();
    for line in text.lines() {
        let name = line.trim_start().trim_start_matches(['\'', '*', ':']);
        let name = name.split([' ', ':']).next().unwrap_or_default();
        let is_value = line.trim_start().starts_with("':") || line.trim_start().starts_with("'*:");
        let function = match name {
            _ if !is_value => None,
            "what" => Some("_recount_both"),
            name if is_session(name) => Some("_recount_sessions"),
            name if is_project(name) => Some("_recount_projects"),
            _ => None,
        };
        let line = match function {
            Some(function) => line.replace(":_default'", &format!(":{function}'")),
            None => line.to_owned(),
        };
        // The functions come before the one that the script ends with.
        if line.starts_with("if [ \"$funcstack[1]\"") {
            script.push_str(ZSH);
        }
        // Writing to a string cannot fail.
        let _written = writeln!(script, "{line}");
    }
    script
}

const ZSH: &str = r#"
_recount_values() {
    local -a rows
    rows=("${(@f)$(recount complete-values $1 2>/dev/null | sed -e 's/:/\\:/g' -e $'s/\t/:/')}")
    _describe -V -t $1 $1 rows
}

_recount_sessions() { _recount_values sessions; _files }

_recount_projects() { _recount_values projects; _files -/ }

_recount_both() { _recount_values sessions; _recount_values projects }

"#;

fn fish() -> String {
    let mut script = String::new();
    for (kind, names) in
        [("sessions", commands_with(is_session)), ("projects", commands_with(is_project))]
    {
        // Writing to a string cannot fail.
        let _written = writeln!(
            script,
            "complete -c recount -n \"__fish_seen_subcommand_from {}\" -k -a \"(recount complete-values {kind} 2>/dev/null)\"",
            names.join(" ")
        );
    }
    script
}
