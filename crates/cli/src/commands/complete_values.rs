//! `recount complete-values`, which completion scripts call: sessions and projects as values with a description.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use recount_engine::{ListQuery, Visibility};

use crate::context::{Context, Paged};
use crate::failure::Failure;
use crate::output::sanitize::single_line;
use crate::output::width::truncate_to;

/// Print values that a shell can complete
#[derive(Args, Clone, Debug)]
pub(crate) struct CompleteValuesArgs {
    /// Kind of values
    kind: Completed,
}

/// What can be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Completed {
    /// Ids of sessions, with titles
    Sessions,
    /// Names of projects, with folders
    Projects,
}

/// The maximum number of sessions; the newest ones.
const MOST: usize = 200;
/// The maximum length of a description.
const WIDTH: usize = 60;

/// Prints one value per line, a tab, and its description.
pub(crate) fn run(args: &CompleteValuesArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.engine()?;
    let listing = engine.list(&ListQuery::default(), &())?;
    let sessions = listing.visible(Visibility::default(), Some(MOST)).sessions;
    let mut rows: Vec<(String, String)> = Vec::new();
    match args.kind {
        Completed::Sessions => {
            let mut met: BTreeMap<&str, usize> = BTreeMap::new();
            for session in &listing.sessions {
                *met.entry(session.id.prefix()).or_default() += 1;
            }
            for session in &sessions {
                let is_alone = met.get(session.id.prefix()) == Some(&1);
                let id = if is_alone { session.id.prefix() } else { session.id.as_str() };
                let title = session.shown_title();
                rows.push((id.to_owned(), format!("{} · {title}", session.project.name())));
            }
        }
        Completed::Projects => {
            let mut met = BTreeSet::new();
            for session in &listing.sessions {
                let name = session.project.name();
                let path = session.project.path.as_ref().map_or("", |path| path.as_str());
                if met.insert(name) {
                    rows.push((name.to_owned(), context.folders.tilde(path)));
                }
            }
        }
    }
    let mut out = context.out(Paged::No);
    for (value, about) in rows {
        let about = truncate_to(&single_line(&about), WIDTH);
        writeln!(out, "{}\t{about}", single_line(&value))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
