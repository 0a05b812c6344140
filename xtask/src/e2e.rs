//! Tests the built program against the real agent, and on a disk that fails.
//!
//! Every part has three sizes: the default of its script, the slice that the gate runs, and the sweep of `cargo xtask
//! soak`.
#![expect(clippy::disallowed_methods, reason = "a chore reads the environment and starts programs")]

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs};

use crate::files::{cargo, root};
use crate::{Report, TaskError};

/// A part: its name, its script, and the arguments for a slice and for a sweep.
struct Part {
    name: &'static str,
    program: &'static str,
    script: &'static str,
    slice: &'static [&'static str],
    sweep: &'static [&'static str],
}

/// The releases of the gate: one that writes documents, and one that writes logs with checkpoints. Sweeps have all.
const SLICE: &str = "0.38.2,0.60.0";

const PARTS: &[Part] = &[
    Part {
        name: "loader",
        program: "node",
        script: "e2e/differential.mjs",
        slice: &["--mutations", "200"],
        sweep: &["--mutations", "20000"],
    },
    Part {
        name: "own-form",
        program: "node",
        script: "e2e/own_form.mjs",
        slice: &["--releases", "0.60.0"],
        sweep: &[],
    },
    Part {
        name: "guard",
        program: "node",
        script: "e2e/guard.mjs",
        slice: &["--quick", "--releases", SLICE],
        sweep: &[],
    },
    Part {
        name: "saves",
        program: "node",
        script: "e2e/guard_saves.mjs",
        slice: &["--releases", "0.60.0"],
        sweep: &[],
    },
    Part {
        name: "suite",
        program: "node",
        script: "e2e/suite/run.mjs",
        slice: &["--releases", SLICE, "--brief", "0.38.2"],
        sweep: &[],
    },
    Part {
        name: "live",
        program: "node",
        script: "e2e/live.mjs",
        // The gate runs other things at the same time.
        slice: &["--quick", "--slack", "2"],
        sweep: &[],
    },
    Part { name: "app", program: "node", script: "e2e/app.mjs", slice: &["--quick"], sweep: &[] },
    Part {
        name: "web",
        program: "node",
        script: "e2e/browser/web/run.mjs",
        // The gate runs other things at the same time.
        slice: &["--quick", "--slack", "4"],
        sweep: &[],
    },
    Part {
        name: "claude",
        program: "node",
        script: "e2e/claude.mjs",
        slice: &["--quick"],
        sweep: &["--patient"],
    },
    Part {
        name: "codex",
        program: "node",
        script: "e2e/codex.mjs",
        slice: &["--quick"],
        sweep: &[],
    },
    Part { name: "mcp", program: "node", script: "e2e/mcp.mjs", slice: &["--quick"], sweep: &[] },
    Part {
        name: "integrate",
        program: "node",
        script: "e2e/integrate.mjs",
        slice: &["--quick"],
        sweep: &[],
    },
    Part {
        name: "handover",
        program: "node",
        script: "e2e/handover.mjs",
        slice: &["--quick"],
        sweep: &[],
    },
    Part {
        name: "faults",
        program: "python3",
        script: "e2e/faults/run.py",
        slice: &["--smoke"],
        sweep: &[],
    },
    Part {
        name: "appends",
        program: "python3",
        script: "e2e/faults/appends.py",
        slice: &["--smoke"],
        sweep: &["--seconds", "120"],
    },
    Part {
        name: "kills",
        program: "python3",
        script: "e2e/faults/kills.py",
        slice: &["--smoke"],
        sweep: &["--rounds", "500"],
    },
    Part {
        name: "index-kills",
        program: "python3",
        script: "bench/kill.py",
        slice: &["--smoke"],
        sweep: &[],
    },
    Part {
        name: "questions",
        program: "python3",
        script: "e2e/questions.py",
        slice: &["--questions", "300"],
        sweep: &[],
    },
    Part {
        name: "properties",
        program: "python3",
        script: "e2e/properties.py",
        slice: &["--cases", "1000"],
        sweep: &[],
    },
    Part {
        name: "lake",
        program: "python3",
        script: "e2e/lake.py",
        slice: &["--engines", "duckdb", "--sessions", "60", "--megabytes", "4"],
        sweep: &["--sessions", "2000", "--megabytes", "200"],
    },
    Part {
        name: "keys",
        program: "python3",
        script: "e2e/keys.py",
        slice: &[],
        sweep: &["--huge"],
    },
];

/// Runs all parts, or the given ones; `--quick` runs the gate's slice of each, and all other arguments are passed on to
/// them.
pub(crate) fn run(arguments: &[&str]) -> Result<Report, TaskError> {
    let (parts, rest) = chosen(arguments)?;
    let is_quick = rest.contains(&"--quick");
    let rest: Vec<&str> = rest.iter().copied().filter(|word| *word != "--quick").collect();
    let program = prepare()?;
    let mut report = Report::default();
    for part in parts {
        let slice: &[&str] = if is_quick { part.slice } else { &[] };
        let began = Instant::now();
        let status = command(part, &program)
            .args(slice)
            .args(&rest)
            .status()
            .map_err(|error| TaskError::new(format!("{}: {error}", part.program)))?;
        report.take(if status.success() {
            Report::noted(format!("{}: passed in {} s", part.name, began.elapsed().as_secs()))
        } else {
            Report::failed(format!("{}: {status}", part.name))
        });
    }
    Ok(report)
}

/// Runs the long sweep of all parts, or of the given ones, and prints for each the command, the time and its last line of
/// figures.
pub(crate) fn soak(arguments: &[&str]) -> Result<Report, TaskError> {
    let (parts, rest) = chosen(arguments)?;
    let program = prepare()?;
    let mut report = Report::default();
    for part in parts {
        let words = [&[part.program, part.script], part.sweep, rest].concat().join(" ");
        show(&format!("\n=== {}: {words}", part.name));
        let began = Instant::now();
        let (is_success, last) = watched(command(part, &program).args(part.sweep).args(rest))
            .map_err(|error| TaskError::new(format!("{}: {error}", part.program)))?;
        let line = format!("{:11} {:6} s  {last}", part.name, began.elapsed().as_secs());
        report.take(if is_success { Report::noted(line) } else { Report::failed(line) });
    }
    show("");
    Ok(report)
}

/// Splits arguments into the parts they name, all if none, and the rest.
fn chosen<'a>(arguments: &'a [&'a str]) -> Result<(Vec<&'static Part>, &'a [&'a str]), TaskError> {
    let is_part = |word: &&str| PARTS.iter().any(|part| part.name == *word);
    let named = arguments.iter().take_while(|word| is_part(word)).count();
    let (named, rest) = arguments.split_at_checked(named).unwrap_or((arguments, &[]));
    if rest.first().is_some_and(|word| !word.starts_with('-')) {
        let all: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        return Err(TaskError::new(format!("parts are: {}", all.join(", "))));
    }
    let is_wanted = |part: &&Part| named.is_empty() || named.contains(&part.name);
    Ok((PARTS.iter().filter(is_wanted).collect(), rest))
}

fn command(part: &Part, program: &Path) -> Command {
    let mut command = Command::new(part.program);
    command.arg(root().join(part.script)).env("RECOUNT_BIN", program);
    command
}

/// Runs a command, passes its output on, and returns whether it succeeded and the last line it printed.
fn watched(command: &mut Command) -> io::Result<(bool, String)> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut last = String::new();
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufReader::lines) {
        let line = line?;
        show(&line);
        if !line.trim().is_empty() {
            last = line;
        }
    }
    Ok((child.wait()?.success(), last))
}

fn show(line: &str) {
    let _written = writeln!(io::stdout().lock(), "{line}");
}

/// Installs what the scripts need and returns the program to test: the given one, else it is built.
fn prepare() -> Result<PathBuf, TaskError> {
    let program = if let Some(named) = env::var_os("RECOUNT_BIN") {
        PathBuf::from(named)
    } else {
        cargo(&["build", "--release", "--locked", "--package", "recount-cli"])?;
        target().join("release/recount")
    };
    modules()?;
    Ok(program)
}

fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Installs the modules of the scripts, unless they exist or are shared.
fn modules() -> Result<(), TaskError> {
    let time = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    let e2e = root().join("e2e");
    let installed = time(&e2e.join("node_modules/.package-lock.json"));
    let wanted = time(&e2e.join("package-lock.json"));
    if env::var_os("RECOUNT_E2E_MODULES").is_some()
        || installed.is_some_and(|time| Some(time) > wanted)
    {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
    let status = npm.arg(&e2e).status().map_err(|error| TaskError::new(format!("npm: {error}")))?;
    if status.success() { Ok(()) } else { Err(TaskError::new(format!("npm ci: {status}"))) }
}

/// Installs the modules of the scripts and the releases that the gate uses: everything that needs the network.
pub(crate) fn install() -> Result<Report, TaskError> {
    modules()?;
    for (script, releases) in [("e2e/agent.mjs", SLICE), ("e2e/programs.mjs", "")] {
        let mut node = Command::new("node");
        node.arg(root().join(script)).args(releases.split(',').filter(|name| !name.is_empty()));
        let status = node.status().map_err(|error| TaskError::new(format!("node: {error}")))?;
        if !status.success() {
            return Err(TaskError::new(format!("{script}: {status}")));
        }
    }
    Ok(Report::noted(format!(
        "installed: {SLICE}, and the releases of the other agents that the gate needs"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(arguments: &[&str]) -> Option<(Vec<&'static str>, usize)> {
        let (parts, rest) = chosen(arguments).ok()?;
        Some((parts.iter().map(|part| part.name).collect(), rest.len()))
    }

    #[test]
    fn parts_come_first_and_the_rest_is_passed_on() {
        assert_eq!(names(&[]).map(|(parts, _)| parts.len()), Some(PARTS.len()));
        assert_eq!(names(&["suite", "--only", "moved"]), Some((vec!["suite"], 2)));
        assert_eq!(names(&["nonsense"]), None);
    }
}
