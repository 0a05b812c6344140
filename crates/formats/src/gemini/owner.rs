//! Recognizes processes of the agent by their command lines.
//!
//! A script under Node (`…/bin/gemini`, `…/@google/gemini-cli/bundle/gemini.js` from 0.36, `…/dist/index.js` before), the
//! same under Bun or Deno, or a single executable. The process title is not set, so the command line is the original one.

/// Programs that run the agent's script.
const RUNTIMES: &[&str] = &["node", "nodejs", "bun", "bunx", "deno"];

/// Words between a runtime and the script.
const SUBCOMMANDS: &[&str] = &["run", "x"];

/// Options of runtimes whose value is a separate word.
const WITH_VALUE: &[&str] = &[
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "-C",
    "--conditions",
    "--env-file",
    "--title",
    "--preload",
    "--config",
];

/// Options of runtimes that are followed by code instead of a script.
const WITH_CODE: &[&str] = &["-e", "--eval", "-p", "--print", "-pe"];

/// The agent's package, and the end of its script's path.
const PACKAGE: &str = "@google/gemini-cli";
const SCRIPTS: &[&[&str]] = &[
    &["bin", "gemini"],
    &[".bin", "gemini"],
    &["bundle", "gemini.js"],
    &["@google", "gemini-cli", "dist", "index.js"],
    &["gemini-cli", "packages", "cli", "dist", "index.js"],
];

/// Whether a command line is that of a running Gemini CLI.
pub(crate) fn is_running(args: &[String]) -> bool {
    let Some((program, args)) = args.split_first() else { return false };
    let name = program_name(program);
    if RUNTIMES.contains(&name) {
        return script(args).is_some_and(is_own_script);
    }
    name == "gemini"
}

/// Returns the last component without the extension of Windows programs.
fn program_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Finds the script among the arguments of a runtime: neither an option nor the value of one.
fn script(args: &[String]) -> Option<&str> {
    let mut args = args.iter().map(String::as_str);
    let mut options = true;
    while let Some(arg) = args.next() {
        if options && arg == "--" {
            options = false;
        } else if options && WITH_CODE.contains(&arg) {
            return None;
        } else if options && WITH_VALUE.contains(&arg) {
            args.next();
        } else if (options && arg.starts_with('-')) || SUBCOMMANDS.contains(&arg) {
            // Neither shows what is run.
        } else {
            return Some(arg);
        }
    }
    None
}

fn is_own_script(script: &str) -> bool {
    let package = script.strip_prefix("npm:").unwrap_or(script).strip_prefix(PACKAGE);
    if package.is_some_and(|version| version.is_empty() || version.starts_with('@')) {
        return true;
    }
    let components: Vec<&str> = script.split(['/', '\\']).collect();
    SCRIPTS.iter().any(|end| components.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(line: &[&str]) -> bool {
        is_running(&line.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_agent_is_known_however_it_was_installed() {
        for line in [
            &["node", "/usr/local/bin/gemini"] as &[&str],
            &["/usr/bin/node", "/usr/lib/node_modules/@google/gemini-cli/dist/index.js", "-p", "x"],
            &[
                "/home/dev/.nvm/versions/node/v22.11.0/bin/node",
                "--max-old-space-size=8192",
                "/home/dev/.nvm/versions/node/v22.11.0/bin/gemini",
                "--resume",
                "latest",
            ],
            &[
                "node",
                "--no-warnings=DEP0040",
                "/opt/lib/node_modules/@google/gemini-cli/bundle/gemini.js",
            ],
            &["node", "--require", "/opt/trace.js", "--", "/usr/bin/gemini"],
            &["node", "/home/dev/.npm/_npx/63e99ac86be2e327/node_modules/.bin/gemini"],
            &["node", "/home/dev/src/gemini-cli/packages/cli/dist/index.js"],
            &["bun", "/home/dev/.bun/bin/gemini"],
            &["bun", "x", "@google/gemini-cli@latest"],
            &["bunx", "@google/gemini-cli"],
            &["deno", "run", "-A", "npm:@google/gemini-cli@0.36.0", "--acp"],
            &[
                r"C:\Program Files\nodejs\node.exe",
                r"C:\Users\dev\AppData\Roaming\npm\node_modules\@google\gemini-cli\bundle\gemini.js",
            ],
            &["gemini"],
            &["/opt/gemini/gemini", "--resume", "3d2f9a10"],
            &[r"C:\tools\gemini.exe"],
        ] {
            assert!(runs(line), "{line:?}");
        }
    }

    #[test]
    fn what_only_mentions_the_agent_is_not_it() {
        for line in [
            &[] as &[&str],
            &[""],
            &["node"],
            &["node", "--version"],
            &["vim", "gemini.js"],
            &["vim", "/usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js"],
            &["grep", "gemini"],
            &["grep", "-r", "/usr/local/bin/gemini"],
            &["node", "other/dist/index.js"],
            &["node", "/home/dev/code/gemini/server.js"],
            &["node", "/home/dev/code/app.js", "/usr/local/bin/gemini"],
            &["node", "-e", "/usr/local/bin/gemini"],
            &["node", "--require", "/usr/local/bin/gemini", "app.js"],
            &["node", "/usr/lib/node_modules/@google/gemini-cli-core/dist/index.js"],
            &["bunx", "@google/gemini-cli-server"],
            &["npm exec @google/gemini-cli"],
            &["sh", "-c", "gemini"],
            &["/opt/gemini/bin/daemon"],
        ] {
            assert!(!runs(line), "{line:?}");
        }
    }
}
