//! Runs every command line that README, docs and help show, on the demo home, and puts the real output where it is printed.
//!
//! A block of `console` holds command lines after `$ ` and their output, which is generated. A block of `sh` holds command lines
//! alone. Both are run by `sh`, in order, in a home of their own for each page. Examples in help are the lines below `Examples:`; what they print
//! is in `docs/examples.md`. Everything outside such blocks stays as it is. The clock is fixed, so the output is always the same.
#![expect(
    clippy::disallowed_methods,
    reason = "a chore that runs the program in a folder of its own"
)]

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::{Report, Trouble, files};

/// The time at which all examples run.
const NOW: &str = "2026-11-16T12:00:00Z";
/// Columns of a block that does not ask for others with `width=N`.
const COLUMNS: &str = "100";
/// What a path below the folder of a run becomes in the output.
const SHOWN_HOME: &str = "/home/me";

/// Where the output of the examples in help is.
pub(crate) const OUTPUTS: &str = "docs/examples.md";
/// How many lines of an output are shown there.
const LINES: usize = 20;

/// The least number of hexadecimal digits that make a hash.
const HASH: usize = 16;

/// What must have happened before an example, by how its command line begins; the first that fits.
const BEFORE: &[(&str, &str)] = &[
    (
        "recount resume",
        "recount relocate release-tools ~/projects/release-tools --yes; recount relocate shop ~/projects/shop --yes
        mkdir -p ~/bin; printf '#!/bin/sh\\necho ${0##*/} \"$@\"\\n' | tee ~/bin/gemini > ~/bin/codex; chmod +x ~/bin/*; recount list --all",
    ),
    ("recount relocate ~/code/shop", "recount relocate shop ~/code/shop --yes"),
    (
        "recount relocate release-tools",
        "touch ~/projects/release-tools/release.sh; recount projects --scan ~",
    ),
    ("recount recover", "rm -f ~/.gemini/tmp/*/chats/*279d2ba9*; touch telemetry.log"),
    (
        "recount undo 20261116-093000",
        "RECOUNT_NOW=2026-11-16T09:30:00Z recount rename 279d Rebates --yes",
    ),
    ("recount undo", "recount rename 279d Discounts --yes"),
    // These examples are not steps: each begins with the sessions of the demo home.
    ("recount trim", "recount undo --yes"),
    ("recount merge @1", "recount undo --yes; recount list --all"),
    ("recount list --source codex", "cp -r $FIXTURES/codex/paginated/script/home/. ~"),
    ("recount show c708aa47", "cp -r $FIXTURES/claude/folder/compact/home/. ~"),
    ("recount restore", "recount delete 279d --yes"),
/// Commands of the help that need what a demo home cannot have; they may end with an error.
const NEEDS_MORE: &[(&str, &str)] = &[
    ("recount resume", "an installed agent, and the project's folder"),
    ("recount relocate", "the project's new folder"),
    ("recount recover", "a lost session"),
    ("recount undo 20", "the receipt of an earlier run"),
    ("recount restore", "a deleted session, or a backup"),
    ("recount ingest", "output of an agent"),
    ("recount guard --hook", "a recount outside of a temporary folder"),
];

/// A command whose output differs from run to run: an index is never laid out twice in the same way.
const VARIES: &str = "recount index status";

/// A command that runs until it is stopped: it is stopped after two seconds.
const ENDLESS: &str = "recount watch";

/// Returns a page with the output of its examples as the program prints it today.
pub(crate) fn page(path: &str) -> Result<String, Trouble> {
    let text = files::read(path)?;
    if !text.contains("```console") && !text.contains("```sh") {
        return Ok(text);
    }
    let stage = Stage::set_up()?;
    let mut written = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        push(&mut written, line);
        let Some(info) = line.strip_prefix("```") else { continue };
        let mut block = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("```")) {
            block.push(line);
        }
        let mut words = info.split_whitespace();
        match words.next() {
            Some("console") => written.push_str(&stage.console(path, &block, words)?),
            kind => {
                if kind == Some("sh") {
                    stage.script(path, &block)?;
                }
                for line in block {
                    push(&mut written, line);
                }
            }
        }
        if let Some(end) = lines.next() {
            push(&mut written, end);
        }
    }
    Ok(written)
}

/// Runs the examples of every command's help, given all of it, and returns a page with what they print.
pub(crate) fn help(arguments: &str) -> Result<(Report, String), Trouble> {
    let mut report = Report::default();
    let mut run = 0;
    let mut page = String::from(
        "# What the examples in help print\n\n\
        Generated by `cargo xtask generate`, on the demo home (`recount testbed --demo DIR`); long output is cut. Commands that ask are run with `--yes`.\n",
    );
    for section in arguments.split("\n## ") {
        let name = section.lines().next().unwrap_or_default();
        let mut examples = section.lines().skip_while(|line| *line != "Examples:").skip(1);
        let examples: Vec<&str> =
            examples.by_ref().take_while(|line| line.starts_with("  ")).map(str::trim).collect();
        if examples.is_empty() {
            continue;
        }
        let stage = Stage::set_up()?;
        let name = name.trim_start_matches("# ");
        push(&mut page, &format!("\n## {name}\n\n```text"));
        for (number, example) in examples.into_iter().enumerate() {
            run += 1;
            if number > 0 {
                page.push('\n');
            }
            let command = example.split("  #").next().unwrap_or(example).trim_end();
            push(&mut page, &format!("$ {command}"));
            match stage.works(example) {
                Ok(_) if example == VARIES => push(&mut page, "(differs from run to run)"),
                Ok(text) => push_some(&mut page, &text),
                Err(why) => report.failures.push(format!("{name} --help: {why}")),
            }
        }
        push(&mut page, "```");
    }
    report.notes.push(format!("help: {run} examples run"));
    Ok((report, page))
}

/// Adds the first lines of an output.
fn push_some(page: &mut String, text: &str) {
    for line in text.lines().take(LINES) {
        push(page, without_hashes(line).trim_end());
    }
    match text.lines().count().saturating_sub(LINES) {
        0 => {}
        1 => push(page, "… 1 more line"),
        more => push(page, &format!("… {more} more lines")),
    }
}

/// A demo home in a folder of its own, removed at the end.
struct Stage {
    folder: PathBuf,
    programs: PathBuf,
}

/// What a command printed, and how it ended.
struct Outcome {
    text: String,
    code: Option<i32>,
}

impl Stage {
    fn set_up() -> Result<Self, Trouble> {
        // Some output has the length of a path: it must be the same in every run.
        let folder = PathBuf::from(format!("/tmp/recount-{:010}", std::process::id()));
        let stage = Self { folder, programs: files::root().join(target()).join("debug") };
        let home = stage.home();
        let made = fs::create_dir_all(&stage.folder).and_then(|()| fs::create_dir_all(&home));
        made.map_err(|error| Trouble::new(format!("{}: {error}", home.display())))?;
        let demo = stage.run("recount testbed --demo ~", COLUMNS)?;
        if demo.code != Some(0) {
            return Err(Trouble::new(format!("the demo home cannot be made: {}", demo.text)));
        }
        let folders = "mkdir -p ~/code/web ~/code/shop ~/projects/shop ~/projects/release-tools ~/.zfunc ~/.config/fish/completions \
            ~/.local/share/bash-completion/completions ~/backup && cp -r ~/.gemini ~/backup && recount list --all";
        stage.run(folders, COLUMNS)?;
        Ok(stage)
    }

    fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// Runs a line of shell.
    fn run(&self, line: &str, columns: &str) -> Result<Outcome, Trouble> {
        let home = self.home();
        let own = [home.join("bin"), self.programs.clone()];
        let path = env::join_paths(own.into_iter().chain(["/usr/bin", "/bin"].map(PathBuf::from)));
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{line}")])
            .current_dir(&home)
            .env_clear()
            .envs([("RECOUNT_NOW", NOW), ("TZ", "UTC"), ("LANG", "C.UTF-8")])
            .envs([("COLUMNS", columns), ("RECOUNT_WIDTH", columns), ("RECOUNT_BACKGROUND", "0")])
            .env("RECOUNT_TERMINAL", "examples")
            .env("FIXTURES", files::root().join("fixtures"))
            .env("HOME", &home)
            .env("PATH", path.map_err(|error| Trouble::new(error.to_string()))?)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Trouble::new(format!("sh: {error}")))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let text = text.replace(&*home.to_string_lossy(), SHOWN_HOME);
        Ok(Outcome { text, code: output.status.code() })
    }

    /// Runs a block of command lines, and returns it with their output.
    fn console<'a>(
        &self,
        path: &str,
        block: &[&str],
        options: impl Iterator<Item = &'a str>,
    ) -> Result<String, Trouble> {
        let mut columns = COLUMNS;
        let mut may_fail = false;
        for option in options {
            match option.split_once('=') {
                Some(("width", width)) => columns = width,
                None if option == "fails" => may_fail = true,
                _ => {
                    return Err(Trouble::new(format!(
                        "{path}: ```console {option}: unknown option"
                    )));
                }
            }
        }
        let mut text = String::new();
        for (number, line) in commands(block).iter().enumerate() {
            if number > 0 {
                text.push('\n');
            }
            push(&mut text, &format!("$ {}", line.replace('\n', "\n> ")));
            let outcome = self.run(line, columns)?;
            if !matches!(outcome.code, Some(0 | 1)) && !may_fail {
                return Err(Trouble::new(format!("{path}: {line}: {}", outcome.text)));
            }
            for line in outcome.text.lines() {
                push(&mut text, line.trim_end());
            }
        }
        Ok(text)
    }

    /// Runs a block of command lines whose output is not shown.
    fn script(&self, path: &str, block: &[&str]) -> Result<(), Trouble> {
        let lines = block.join("\n").replace("\\\n", " ");
        for line in
            lines.lines().filter(|line| line.contains("recount ") && !line.contains("cargo "))
        {
            self.works(line.trim_start_matches("$ "))
                .map_err(|why| Trouble::new(format!("{path}: {why}")))?;
        }
        Ok(())
    }

    /// Returns what a command line prints, if it works; one that would ask is agreed to.
    fn works(&self, line: &str) -> Result<String, String> {
        if let Some((_, before)) = BEFORE.iter().find(|(start, _)| line.starts_with(start)) {
            self.run(before, COLUMNS).map_err(|trouble| trouble.to_string())?;
        }
        if line.starts_with(ENDLESS) && !line.contains("--once") {
            return self.stopped(line);
        }
        let run = |line: &str| self.run(line, COLUMNS).map_err(|trouble| trouble.to_string());
        let mut outcome = run(line)?;
        if outcome.code == Some(3) && outcome.text.contains("--yes") {
            let command = line.split(" #").next().unwrap_or(line).trim_end();
            outcome = run(&format!("{command} --yes"))?;
        }
        let is_error = outcome.text.lines().any(|line| line.starts_with("error: "));
        if matches!(outcome.code, Some(0 | 1)) && !is_error {
            return Ok(outcome.text);
        }
        Err(format!("`{line}` ends with {:?}: {}", outcome.code, outcome.text.trim()))
    }
}

impl Stage {
    /// Whether a command that does not end by itself understands its options. What it prints depends on when it is stopped.
    fn stopped(&self, line: &str) -> Result<String, String> {
        let line = line.split(" | ").next().unwrap_or(line).split(" && ").next().unwrap_or(line);
        let outcome = self.run(&format!("timeout 2 {line}"), COLUMNS);
        let outcome = outcome.map_err(|trouble| trouble.to_string())?;
        if outcome.text.contains("unexpected argument") || outcome.text.contains("invalid value") {
            return Err(format!("`{line}`: {}", outcome.text.trim()));
        }
        Ok("(runs until it is stopped)".to_owned())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What cannot be removed stays in the system's temporary folder.
        let _removed = fs::remove_dir_all(&self.folder);
    }
}

/// The folder in which cargo puts the programs it builds.
fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

/// Returns the command lines of a block. One with an open quotation mark goes on in the lines after it, which begin with `> `.
fn commands(block: &[&str]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in block {
        let open = commands.last_mut().filter(|command| command.matches('"').count() % 2 == 1);
        match (line.strip_prefix("$ "), open, line.strip_prefix("> ")) {
            (Some(command), _, _) => commands.push(command.to_owned()),
            (None, Some(command), Some(rest)) => {
                command.push('\n');
                command.push_str(rest);
            }
            _ => {}
        }
    }
    commands
}

/// Returns a text in which hashes are zeros: those of paths differ from run to run.
fn without_hashes(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(from.len());
        let (digits, after) = from.split_at(end);
        all.push_str(before);
        all.push_str(&if end < HASH { digits.to_owned() } else { "0".repeat(end) });
        rest = after;
    }
    all.push_str(rest);
    all
}

fn push(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_the_same_in_every_run() {
        let text = "size 3, added 279d2ba9\n~/search/81e914461e771faa/x";
        let same = "size 3, added 279d2ba9\n~/search/0000000000000000/x";
        assert_eq!(without_hashes(text), same);
    }

    #[test]
    fn a_command_goes_on_while_a_quotation_mark_is_open() {
        let block = ["$ a \"b", "> c\"", "> output", "", "$ d", "> output"];
        assert_eq!(commands(&block), ["a \"b\nc\"", "d"]);
    }
}
