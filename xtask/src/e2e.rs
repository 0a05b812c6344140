//! Tries the built program against the real agent, and on a disk that fails.
#![expect(clippy::disallowed_methods, reason = "a chore reads the environment and starts programs")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::files::{cargo, root};
use crate::{Report, Trouble};

/// A part of the trial: its name, what it runs below `e2e/`, and what it is told when there is little time.
struct Part {
    name: &'static str,
    program: &'static str,
    script: &'static str,
    quick: &'static [&'static str],
}

const PARTS: &[Part] = &[
    Part {
        name: "loader",
        program: "node",
        script: "differential.mjs",
        quick: &["--mutations", "500"],
    },
    Part {
        name: "own-form",
        program: "node",
        script: "own_form.mjs",
        quick: &["--releases", "0.60.0"],
    },
    Part { name: "guard", program: "node", script: "guard.mjs", quick: &["--quick"] },
    Part { name: "saves", program: "node", script: "guard_saves.mjs", quick: &["--quick"] },
    Part {
        name: "suite",
        program: "node",
        script: "suite/run.mjs",
        quick: &["--releases", "0.38.2,0.60.0"],
    },
    Part { name: "faults", program: "python3", script: "faults/run.py", quick: &["--smoke"] },
    Part { name: "appends", program: "python3", script: "faults/appends.py", quick: &["--smoke"] },
    Part { name: "kills", program: "python3", script: "faults/kills.py", quick: &["--smoke"] },
];

/// Runs all parts, or those that were named; `--quick` takes less of each, and all else is handed on to them.
pub(crate) fn run(arguments: &[&str]) -> Result<Report, Trouble> {
    let is_quick = arguments.contains(&"--quick");
    let is_part = |word: &&&str| PARTS.iter().any(|part| part.name == **word);
    let named: Vec<&str> = arguments.iter().take_while(is_part).copied().collect();
    let rest = arguments.iter().skip(named.len()).filter(|word| **word != "--quick");
    let rest: Vec<&str> = rest.copied().collect();
    if rest.first().is_some_and(|word| !word.starts_with('-')) {
        let all: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        return Err(Trouble::new(format!("parts are: {}", all.join(", "))));
    }
    let program = program()?;
    modules()?;
    let mut report = Report::default();
    for part in PARTS.iter().filter(|part| named.is_empty() || named.contains(&part.name)) {
        let mut command = Command::new(part.program);
        command.arg(root().join("e2e").join(part.script)).args(&rest).env("RECOUNT_BIN", &program);
        if is_quick {
            command.args(part.quick);
        }
        let status =
            command.status().map_err(|error| Trouble::new(format!("{}: {error}", part.program)))?;
        report.take(if status.success() {
            Report::noted(format!("{}: passed", part.name))
        } else {
            Report::failed(format!("{}: {status}", part.name))
        });
    }
    Ok(report)
}

/// The program that is tried: the one that was named, else it is built.
fn program() -> Result<PathBuf, Trouble> {
    if let Some(named) = env::var_os("RECOUNT_BIN") {
        return Ok(PathBuf::from(named));
    }
    cargo(&["build", "--release", "--locked", "--package", "recount-cli"])?;
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release/recount"))
}

/// Installs what the scripts need, unless it is there or shared.
fn modules() -> Result<(), Trouble> {
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
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]).arg(&e2e);
    let status = npm.status().map_err(|error| Trouble::new(format!("npm: {error}")))?;
    if status.success() { Ok(()) } else { Err(Trouble::new(format!("npm ci: {status}"))) }
}
