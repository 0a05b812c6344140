//! `recount projects`

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use recount_engine::ProjectRow;
use recount_model::ProjectState;

use crate::context::{Context, Paged};
use crate::failure::{Failure, NOTHING};
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::json;
use crate::output::number::{bytes, count};
use crate::output::progress::Bar;
use crate::output::span::Span;
use crate::output::theme::Tone;
use crate::when;

/// List projects: which folder each is, and what was done there
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount projects\n  recount projects --evidence     how each folder is known"
)]
pub(crate) struct ProjectsArgs {
    /// Show how each folder is known
    #[arg(long)]
    evidence: bool,

    /// Only projects whose folder is not known
    #[arg(long)]
    unresolved: bool,
}

pub(crate) fn run(args: &ProjectsArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.engine()?;
    let bar = Bar::new(context, "reading sessions");
    let (mut rows, listing) = engine.projects(&bar);
    bar.finish();
    if args.unresolved {
        rows.retain(|row| row.state == ProjectState::Unknown);
    }
    if context.global.json {
        json::document(context, "projects", "projects", &rows)?;
    } else if !rows.is_empty() {
        let mut out = context.out(Paged::Yes);
        out.write_all(table(&rows, context).as_bytes())?;
        if args.evidence {
            for row in &rows {
                out.write_all(evidence(row, context).as_bytes())?;
            }
        }
        out.finish()?;
    }
    let in_sessions: u64 = listing.sessions.iter().map(|session| session.problems).sum();
    let kept = listing.sessions.iter().flat_map(|session| &session.problem_list);
    let total = listing.problems.len() as u64 + in_sessions;
    let not_understood = listing.sessions.iter().map(|session| session.not_understood).sum();
    let code = context.problems(listing.problems.iter().chain(kept), total, not_understood);
    if rows.is_empty() {
        context.warn("no projects found");
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(code)
}

const COLUMNS: &[Column] = &[
    Column { heading: "PROJECT", align: Align::Left, fit: Fit::Keep },
    Column { heading: "STATE", align: Align::Left, fit: Fit::Drop(4) },
    Column { heading: "SESSIONS", align: Align::Right, fit: Fit::Drop(6) },
    Column { heading: "PROMPTS", align: Align::Right, fit: Fit::Drop(3) },
    Column { heading: "TOKENS", align: Align::Right, fit: Fit::Drop(5) },
    Column { heading: "SIZE", align: Align::Right, fit: Fit::Drop(2) },
    Column { heading: "USED", align: Align::Left, fit: Fit::Keep },
    Column { heading: "AGENTS", align: Align::Left, fit: Fit::Drop(1) },
    Column { heading: "PATH", align: Align::Left, fit: Fit::Flexible },
];

fn table(rows: &[ProjectRow], context: &Context) -> String {
    let cells: Vec<Vec<Span>> = rows.iter().map(|row| cells(row, context)).collect();
    render(COLUMNS, &cells, &context.canvas())
}

fn cells(row: &ProjectRow, context: &Context) -> Vec<Span> {
    let path = match &row.path {
        Some(path) => context.folders.tilde(path.as_str()),
        None => row.hash.as_ref().map(|hash| format!("? {hash}")).unwrap_or_default(),
    };
    let state = match row.state {
        ProjectState::Present => Tone::Dim,
        ProjectState::Missing | ProjectState::Unknown => Tone::Warning,
    };
    let agents: Vec<&str> = row.sources.iter().map(|source| source.as_str()).collect();
    let used = row.last_used.map(|used| when::age(used, context.clock.now())).unwrap_or_default();
    vec![
        Span::new(&row.name, Tone::Strong),
        Span::new(&row.state.to_string(), state),
        Span::new(&count(row.sessions), Tone::Plain),
        Span::new(&count(row.prompts), Tone::Plain),
        Span::new(&count(row.tokens.total), Tone::Plain),
        Span::new(&bytes(row.bytes), Tone::Dim),
        Span::new(&used, Tone::Dim),
        Span::new(&agents.join(", "), Tone::Dim),
        Span::new(&path, Tone::Plain),
    ]
}

fn evidence(row: &ProjectRow, context: &Context) -> String {
    let mut lines = vec![crate::output::span::Line::default()];
    lines.push(crate::output::span::Line::new([Span::new(&row.name, Tone::Strong)]));
    for clue in &row.evidence {
        let proves = if clue.proves { "proves" } else { "suggests" };
        let words = format!("  {} {proves} it: {}", clue.clue, clue.detail);
        lines.push(crate::output::span::Line::new([Span::new(&words, Tone::Plain)]));
    }
    if row.evidence.is_empty() {
        let words = "  nothing found that tells the folder";
        lines.push(crate::output::span::Line::new([Span::new(words, Tone::Dim)]));
    }
    context.canvas().print(lines)
}
