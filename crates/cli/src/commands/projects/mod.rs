//! `recount projects`

mod alias;
mod evidence;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use recount_documents::ProjectDocument;
use recount_engine::{Engine, Listing, ProjectRow, Seek};
use recount_model::ProjectState;

use crate::context::{Context, Paged};
use crate::failure::{Failure, NOTHING};
use crate::output::columns::{Align, Column, Fit};
use crate::output::form::Form;
use crate::output::json;
use crate::output::number::plural;
use crate::output::progress::Bar;
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;

/// List projects and the folder that each belongs to
///
/// A project is the folder in which an agent was started. Its folder is `present`, `missing` (known, but no longer there), `unknown`, or
/// `scanning` (the search ran out of time). Results are cached; folders are searched again only when something changed.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  recount projects
  recount projects shop --evidence   # how its folder is known
  recount projects --unresolved      # projects whose folder is not known
  recount projects --scan /mnt       # search a disk for missing folders")]
pub(crate) struct ProjectsArgs {
    #[command(subcommand)]
    command: Option<Subcommands>,

    /// Only this project: a path, a slug, a hash prefix, or part of its name
    project: Option<String>,

    /// Show the evidence for each folder, and what contradicts it
    #[arg(long)]
    evidence: bool,

    /// Show the directories in which agents keep each project
    #[arg(long)]
    parts: bool,

    /// Only projects whose folder is not known
    #[arg(long)]
    unresolved: bool,

    /// Search these folders, or the likely places, for unknown and missing folders
    #[arg(long, value_name = "DIR", num_args = 0..)]
    scan: Option<Vec<PathBuf>>,

    /// Maximum depth of --scan (default: 4 in the likely places, unlimited in DIRs)
    #[arg(long, value_name = "N", requires = "scan")]
    depth: Option<usize>,

    /// Clear the cache of found folders and failed searches
    #[arg(long, conflicts_with_all = ["scan", "unresolved", "project", "evidence", "parts"])]
    forget: bool,
}

#[derive(Clone, Debug, Subcommand)]
enum Subcommands {
    Alias(alias::AliasArgs),
}

pub(crate) fn run(args: &ProjectsArgs, context: &Context) -> Result<ExitCode, Failure> {
    if let Some(Subcommands::Alias(args)) = &args.command {
        return alias::run(args, context);
    }
    if args.forget {
        let known = context.plain_engine()?.forget_projects()?;
        context.warn(&format!("{} forgotten", plural(known as u64, "learned folder")));
        return Ok(ExitCode::SUCCESS);
    }
    let engine = context.engine()?;
    let seek = args.scan.as_ref().map(|places| Seek {
        places: places.iter().map(|place| context.absolute(place)).collect(),
        depth: args.depth,
    });
    warn_of_missing_places(seek.as_ref(), context);
    let bar = Bar::new(context, "reading sessions");
    let (mut rows, listing) = engine.projects(seek.as_ref(), &bar)?;
    bar.finish();
    if let Some(wanted) = &args.project {
        Engine::keep_matching(&mut rows, &context.project_argument(wanted), &context.folders)?;
    }
    if args.unresolved {
        rows.retain(|row| row.path.is_none());
    }
    if context.global.json {
        let rows: Vec<_> = rows.iter().map(ProjectDocument::new).collect();
        json::document(context, "projects", "projects", &rows)?;
    } else if !rows.is_empty() {
        show(args, &rows, context)?;
    }
    let code = problems(&listing, context);
    if rows.is_empty() {
        context.warn("no projects found");
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(code)
}

fn warn_of_missing_places(seek: Option<&Seek>, context: &Context) {
    for place in seek.iter().flat_map(|seek| &seek.places).filter(|place| !place.is_dir()) {
        context.warn(&format!("no such folder to search: {}", place.display()));
    }
}

fn show(args: &ProjectsArgs, rows: &[ProjectRow], context: &Context) -> Result<(), Failure> {
    let mut out = context.out(Paged::Yes);
    out.write_all(table(rows, context).as_bytes())?;
    for row in rows {
        if args.evidence {
            out.write_all(evidence::clues(row, context).as_bytes())?;
        }
        if args.parts {
            out.write_all(evidence::parts(row, context).as_bytes())?;
        }
    }
    // Rows for programs are printed without anything after them; `--json` has this too.
    if args.evidence || context.form() == Form::Short {
        out.write_all(evidence::new_places(rows, args.evidence, context).as_bytes())?;
    }
    out.finish()?;
    let unknown =
        |state| rows.iter().filter(|row| row.state == state && row.path.is_none()).count() as u64;
    if unknown(ProjectState::Scanning) > 0 {
        let words = plural(unknown(ProjectState::Scanning), "project");
        context.warn(&format!("{words} not found in time (--scan searches longer)"));
    } else if unknown(ProjectState::Unknown) > 0 && args.scan.is_none() {
        let words = plural(unknown(ProjectState::Unknown), "project");
        context.warn(&format!("{words} not known (--scan DIR searches a folder)"));
    }
    Ok(())
}

fn problems(listing: &Listing, context: &Context) -> ExitCode {
    let in_sessions: u64 = listing.sessions.iter().map(|session| session.problems).sum();
    let kept = listing.sessions.iter().flat_map(|session| &session.problem_list);
    let total = listing.problems.len() as u64 + in_sessions;
    let not_understood = listing.sessions.iter().map(|session| session.not_understood).sum();
    context.problems(listing.problems.iter().chain(kept), total, not_understood)
}

const COLUMNS: &[Column] = &[
    Column { heading: "PROJECT", align: Align::Left, fit: Fit::Keep },
    Column { heading: "PATH", align: Align::Path, fit: Fit::Flexible },
    Column { heading: "STATE", align: Align::Left, fit: Fit::Drop(5) },
    Column { heading: "SESSIONS", align: Align::Right, fit: Fit::Drop(6) },
    Column { heading: "PROMPTS", align: Align::Right, fit: Fit::Drop(3) },
    Column { heading: "TOKENS", align: Align::Right, fit: Fit::Drop(4) },
    Column { heading: "SIZE", align: Align::Right, fit: Fit::Drop(2) },
    Column { heading: "USED", align: Align::Left, fit: Fit::Keep },
    Column { heading: "AGENTS", align: Align::Left, fit: Fit::Drop(1) },
];

fn table(rows: &[ProjectRow], context: &Context) -> String {
    let cells: Vec<Vec<StyledSpan>> = rows.iter().map(|row| cells(row, context)).collect();
    context.table(COLUMNS, &cells)
}

fn cells(row: &ProjectRow, context: &Context) -> Vec<StyledSpan> {
    let state = match row.state {
        ProjectState::Present => Tone::Dim,
        ProjectState::Missing | ProjectState::Unknown | ProjectState::Scanning => Tone::Warning,
    };
    let agents: Vec<&str> = row.sources.iter().map(|source| source.as_str()).collect();
    let form = context.form();
    let used = form.time(row.last_used, context.clock.now());
    vec![
        StyledSpan::new(&row.name, Tone::Strong),
        StyledSpan::new(&shown_path(row, context), Tone::Plain),
        StyledSpan::new(&row.state.to_string(), state),
        StyledSpan::new(&form.count(row.sessions), Tone::Plain),
        StyledSpan::new(&form.count(row.prompts), Tone::Plain),
        StyledSpan::new(&form.tokens(row.known_tokens()), Tone::Plain),
        StyledSpan::new(&form.bytes(row.bytes), Tone::Dim),
        StyledSpan::new(&used, Tone::Dim),
        StyledSpan::new(&agents.join(", "), Tone::Dim),
    ]
}

/// Returns the folder with the number of other folders of its name, or a substitute for it.
fn shown_path(row: &ProjectRow, context: &Context) -> String {
    let mut folders: Vec<&str> =
        row.parts.iter().filter_map(|part| Some(part.path.as_ref()?.as_str())).collect();
    folders.sort_unstable();
    folders.dedup();
    match &row.path {
        Some(path) if folders.len() > 1 => {
            format!("{} and {} more", context.folders.tilde(path.as_str()), folders.len() - 1)
        }
        Some(path) => context.folders.tilde(path.as_str()),
        None => row.hash.as_ref().map(|hash| format!("? {hash}")).unwrap_or_default(),
    }
}
