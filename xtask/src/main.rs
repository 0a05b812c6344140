//! Tasks of this repository.
//!
//! `cargo xtask rooms` checks the layout: dependencies between crates, file sizes, that no agent's name or folder layout is
//! used outside its folder, that no public type name is defined twice, that help and docs are plain English, and the number
//! of locked packages. `cargo xtask generate` writes files that are generated from the code (`docs/cli.md`, the table in
//! `ARCHITECTURE.md`); with `--check` it only compares. `cargo xtask vendor --check` compares the scripts of others in the web app with their
//! checksums (`rooms` does so too). `cargo xtask e2e` tests the program against the real agent, and on
//! a disk that fails; `cargo xtask soak` does so for an hour (`e2e/README.md`).

mod dialect;
mod e2e;
mod examples;
mod files;
mod generate;
mod layout;
mod lock;
mod names;
mod rooms;
mod rust;
mod sizes;
mod types;
mod vendor;

use std::fmt;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask rooms                 check the layout
       cargo xtask generate [--check]    write, or compare, what is derived from the code
       cargo xtask vendor --check        compare the files of others in the web app with their checksums
       cargo xtask e2e [PART…] [--quick] try the program against the real agent
       cargo xtask e2e --install         only install what the quick run needs
       cargo xtask soak [PART…]          the same, as long sweeps: all releases, faults and kills";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["rooms"] => check_layout(),
        ["generate"] => generate::write(),
        ["generate", "--check"] => generate::compare(),
        ["vendor", "--check"] => vendor::check(),
        ["e2e", "--install"] => e2e::install(),
        ["e2e", rest @ ..] => e2e::run(rest),
        ["soak", rest @ ..] => e2e::soak(rest),
        _ => Err(TaskError::new(USAGE)),
    };
    match outcome {
        Ok(report) => say(&report),
        Err(trouble) => {
            say(&Report::failed(trouble.to_string()));
            ExitCode::from(2)
        }
    }
}

/// Runs every layout check, so that one run shows all failures.
fn check_layout() -> Result<Report, TaskError> {
    let sources = files::rust_files()?;
    let mut report = Report::default();
    report.take(rooms::check(&files::metadata()?)?);
    report.take(rooms::check_table(&files::read("ARCHITECTURE.md")?));
    report.take(sizes::check(&sources));
    report.take(names::check(&sources));
    report.take(types::check(&sources));
    report.take(layout::check(&sources, &files::read_or_empty("xtask/layout.allow")?));
    report.take(dialect::check(&sources));
    report.take(dialect::check(&files::docs()?));
    report.take(vendor::check()?);
    report.take(lock::check(&files::read("Cargo.lock")?));
    Ok(report)
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a task prints its result")]
fn say(report: &Report) -> ExitCode {
    for note in &report.notes {
        println!("{note}");
    }
    for failure in &report.failures {
        eprintln!("error: {failure}");
    }
    if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The result of a check.
#[derive(Debug, Default, PartialEq, Eq)]
struct Report {
    /// Information.
    notes: Vec<String>,
    /// Failures to fix.
    failures: Vec<String>,
}

impl Report {
    fn noted(note: impl Into<String>) -> Self {
        Self { notes: vec![note.into()], failures: Vec::new() }
    }

    fn failed(failure: impl Into<String>) -> Self {
        Self { notes: Vec::new(), failures: vec![failure.into()] }
    }

    fn take(&mut self, other: Self) {
        self.notes.extend(other.notes);
        self.failures.extend(other.failures);
    }
}

/// Why a task could not be run at all.
#[derive(Debug)]
struct TaskError(String);

impl TaskError {
    fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
