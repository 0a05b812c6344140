//! Runs every command line in README, docs and help on the demo home, and inserts the real output.
//!
//! A block of `console` has command lines after `$ ` and their output, which is generated. A block of `sh` has only command
//! lines. Both are run by `sh`, in order, in a separate home for each page. Examples in help are the lines below
//! `Examples:`; their output is in `docs/examples.md`. Everything outside such blocks is kept. The clock is fixed, so the
//! output is always the same.
#![expect(
    clippy::disallowed_methods,
    reason = "a chore that runs the program in a folder of its own"
)]

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::{Report, TaskError, files};

/// The fixed time of all examples.
const NOW: &str = "2026-11-16T12:00:00Z";
/// The default number of columns of a block without `width=N`.
const COLUMNS: &str = "100";
/// The replacement for the folder of a run in the output.
const SHOWN_HOME: &str = "/home/me";

/// The page with the output of the examples in help.
pub(crate) const OUTPUTS: &str = "docs/examples.md";
/// The maximum number of lines of an output on that page.
const LINES: usize = 20;

/// The minimum number of hexadecimal digits of a hash.
const HASH: usize = 16;

/// Commands to run before an example, by the start of its command line; the first match counts.
const BEFORE: &[(&str, &str)] = &[
    (
        "recount resume",
        "recount relocate release-tools ~/projects/release-tools --yes; recount relocate shop ~/projects/shop --yes
        mkdir -p ~/bin; printf '#!/bin/sh\\necho ${0##*/} \"$@\"\\n' | tee ~/bin/gemini > ~/bin/codex; chmod +x ~/bin/*; recount list --all",
    ),
    (
        "recount handover",
        "recount relocate release-tools ~/projects/release-tools --yes; recount relocate shop ~/projects/shop --yes",
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
    // These examples are independent: each starts with the sessions of the demo home.
    ("recount trim", "recount undo --yes"),
    ("recount merge @1", "recount undo --yes; recount list --all"),
    ("recount list --source codex", "cp -r $FIXTURES/codex/paginated/script/home/. ~"),
    ("recount show c708aa47", "cp -r $FIXTURES/claude/folder/compact/home/. ~"),
    ("recount restore", "recount delete 279d --yes"),
    ("recount pull", "recount push file://~/lake --raw"),
    ("recount ingest", "cp $FIXTURES/streams/gemini/*.json $FIXTURES/streams/gemini/*.log .; mv tools.json run.json; cp $FIXTURES/streams/gemini/tools.jsonl run.jsonl"),
];

/// Commands whose output differs from run to run: the layout of an index is not deterministic, and the id of a machine in a
/// lake is random.
const VARIES: [&str; 3] = ["recount index status", "recount push", "recount pull"];

/// Commands that run until they are stopped: they are stopped after two seconds.
const ENDLESS: [&str; 4] =
    ["recount watch", "recount guard --keep --watch", "recount show --follow", "recount serve"];

/// Returns a page with the current output of its examples.
pub(crate) fn page(path: &str) -> Result<String, TaskError> {
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

/// Runs the examples in the given help of all commands, and returns a page with their output.
pub(crate) fn help(arguments: &str) -> Result<(Report, String), TaskError> {
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
                Ok(_) if VARIES.iter().any(|start| example.starts_with(start)) => {
                    push(&mut page, "(differs from run to run)");
                }
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

/// A demo home in a temporary folder, removed at the end.
struct Stage {
    folder: PathBuf,
    programs: PathBuf,
}

/// The output and exit code of a command.
struct Outcome {
    text: String,
    code: Option<i32>,
}

impl Stage {
    fn set_up() -> Result<Self, TaskError> {
        // Some output has the length of a path: it must be the same in every run.
        let folder = PathBuf::from(format!("/tmp/recount-{:010}", std::process::id()));
        let stage = Self { folder, programs: files::root().join(target()).join("debug") };
        let home = stage.home();
        let made = fs::create_dir_all(&stage.folder).and_then(|()| fs::create_dir_all(&home));
        // Agents that run on this machine are not those of the examples.
        let made = made.and_then(|()| fs::write(stage.process_table(), "[]"));
        made.map_err(|error| TaskError::new(format!("{}: {error}", home.display())))?;
        let demo = stage.run("recount testbed --demo ~", COLUMNS)?;
        if demo.code != Some(0) {
            return Err(TaskError::new(format!("the demo home cannot be made: {}", demo.text)));
        }
        let folders = "mkdir -p ~/code/web ~/code/shop ~/projects/shop ~/projects/release-tools ~/.zfunc ~/.config/fish/completions \
            ~/.local/share/bash-completion/completions ~/backup && cp -r ~/.gemini ~/backup && recount list --all";
        stage.run(folders, COLUMNS)?;
        Ok(stage)
    }

    fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    fn process_table(&self) -> PathBuf {
        self.folder.join("processes.json")
    }

    /// Runs a shell command line.
    fn run(&self, line: &str, columns: &str) -> Result<Outcome, TaskError> {
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
            .env("RECOUNT_PROCESS_TABLE", self.process_table())
            .env("FIXTURES", files::root().join("fixtures"))
            .env("HOME", &home)
            .env("PATH", path.map_err(|error| TaskError::new(error.to_string()))?)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| TaskError::new(format!("sh: {error}")))?;
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
    ) -> Result<String, TaskError> {
        let mut columns = COLUMNS;
        let mut may_fail = false;
        for option in options {
            match option.split_once('=') {
                Some(("width", width)) => columns = width,
                None if option == "fails" => may_fail = true,
                _ => {
                    return Err(TaskError::new(format!(
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
                return Err(TaskError::new(format!("{path}: {line}: {}", outcome.text)));
            }
            for line in outcome.text.lines() {
                push(&mut text, line.trim_end());
            }
        }
        Ok(text)
    }

    /// Runs a block of command lines whose output is not shown.
    fn script(&self, path: &str, block: &[&str]) -> Result<(), TaskError> {
        let lines = block.join("\n").replace("\\\n", " ");
        for line in
            lines.lines().filter(|line| line.contains("recount ") && !line.contains("cargo "))
        {
            self.works(line.trim_start_matches("$ "))
                .map_err(|why| TaskError::new(format!("{path}: {why}")))?;
        }
        Ok(())
    }

    /// Returns what a command line prints, if it succeeds; prompts are answered with yes.
    fn works(&self, line: &str) -> Result<String, String> {
        if let Some((_, before)) = BEFORE.iter().find(|(start, _)| line.starts_with(start)) {
            self.run(before, COLUMNS).map_err(|trouble| trouble.to_string())?;
        }
        if ENDLESS.iter().any(|start| line.starts_with(start)) && !line.contains("--once") {
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
    /// Whether a command that does not end by itself accepts its options. Its output depends on when it is stopped.
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
        // A folder that cannot be removed stays in the system's temporary folder.
        let _removed = fs::remove_dir_all(&self.folder);
    }
}

/// Returns the folder in which cargo puts the programs it builds.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

/// Returns the command lines of a block. One with an open quotation mark continues on the next lines, which begin with `>
/// `.
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

/// Returns a text with hashes replaced by zeros: those of paths differ from run to run.
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
    fn a_command_continues_while_a_quotation_mark_is_open() {
        let block = ["$ a \"b", "> c\"", "> output", "", "$ d", "> output"];
        assert_eq!(commands(&block), ["a \"b\nc\"", "d"]);
    }
}
