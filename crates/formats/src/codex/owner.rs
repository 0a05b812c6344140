//! Which processes are the agent's.

/// Commands of the program that work in no thread.
const OTHERS: [&str; 9] = [
    "login",
    "logout",
    "completion",
    "mcp",
    "help",
    "features",
    "sandbox",
    "migrate-rollouts",
    "update",
];

/// Whether a command line is the agent's own: the program itself, or the script that starts it.
pub(super) fn is_running(args: &[String]) -> bool {
    let name = |arg: &String| {
        let name = arg.rsplit(['/', '\\']).next().unwrap_or_default();
        name.trim_end_matches(".exe").trim_end_matches(".js").to_owned()
    };
    let mut words = args.iter();
    let Some(program) = words.next().map(name) else { return false };
    let rest: Vec<&String> = if program == "codex" {
        words.collect()
    } else if matches!(program.as_str(), "node" | "bun" | "nodejs") {
        let mut words = words.skip_while(|word| word.starts_with('-'));
        match words.next() {
            Some(script) if name(script) == "codex" => words.collect(),
            _ => return false,
        }
    } else {
        return false;
    };
    let command = rest.iter().find(|word| !word.starts_with('-'));
    !command.is_some_and(|command| OTHERS.contains(&command.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_known_however_it_is_started() {
        let is = |line: &str| is_running(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        for line in [
            "codex",
            "/usr/bin/codex resume 01a1e065-0c52-71a2-99af-55a094a8d3f7",
            "node --no-warnings /usr/lib/node_modules/@openai/codex/bin/codex.js exec hello",
            "/x/vendor/x86_64-unknown-linux-musl/codex/codex app-server",
        ] {
            assert!(is(line), "{line}");
        }
        for line in ["codex login", "node server.js codex", "vim codex", "", "codexx"] {
            assert!(!is(line), "{line}");
        }
    }
}
