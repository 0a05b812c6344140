//! Synthetic but valid homes, for demos, tests and benchmarks.
//!
//! A home is created in three steps, each independent of the next:
//!
//! 1. A *scenario* describes what happened: prompts, answers, tool calls, a rewind, a summary. Hand-written ones
//!    are in `scripted`; `generated` creates any number of random ones.
//! 2. A *session* writes a scenario like a given [`Era`] of an agent: a JSON document or lines, checkpoints, stubs,
//!    sub-agent files. `session` is Gemini CLI, `claude` and `codex` are the others.
//! 3. A *home* puts the files where that era puts them, with registry, markers and logs around them.
//!
//! The same options give the same bytes. The expected values are in the [`ExpectedHome`]. Everything is written through
//! `recount-writer`, and only into an empty folder.
//!
//! This crate does not read anything back.

mod call;
mod claude;
mod codex;
mod demo;
mod error;
mod generated;
mod home;
mod json;
mod moment;
mod options;
mod project;
mod random;
mod report;
mod scenario;
mod scripted;
mod session;
mod tally;
mod tool;
mod writing;

use std::path::Path;

use jiff::Timestamp;

pub use error::Error;
pub use options::{Era, TestbedAgent, TestbedOptions, UnknownEra};
pub use report::{ExpectedCounts, ExpectedHome, ExpectedKind, SessionTruth};

/// Creates a home of the requested size in `dir`, which must be empty or not exist yet.
///
/// `progress` is called with the number of bytes written so far and the target. Beside the agents' folders a file
/// `manifest.json` lists the expected values of every session, for benchmarks to compare with.
///
/// # Errors
///
/// [`Error::NotEmpty`] if `dir` is not empty; nothing is changed then. Other errors if the disk fails; the home is
/// incomplete then.
///
/// # Examples
///
/// ```no_run
/// # use std::path::Path;
/// let options = recount_testbed::TestbedOptions { sessions: 20, megabytes: 2.0, ..Default::default() };
/// let report = recount_testbed::generate(Path::new("home"), &options, &mut |_, _| {})?;
/// assert_eq!(report.sessions, 20);
/// # Ok::<(), recount_testbed::Error>(())
/// ```
pub fn generate(
    dir: &Path,
    options: &TestbedOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ExpectedHome, Error> {
    generated::fill(home::Home::open(dir)?, options, progress)
}

/// Creates a small home with one of everything in `dir`, which must be empty or not exist yet.
///
/// A handful of projects with their scenarios, all eras, under one megabyte. Times are relative to `now`, so that a list of
/// it looks current.
///
/// # Errors
///
/// As for [`generate`].
pub fn demo(dir: &Path, now: Timestamp) -> Result<ExpectedHome, Error> {
    demo::fill(home::Home::open(dir)?, moment::Moment(now.as_millisecond()))
}
