//! `recount list`

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use recount_changes::Changes;
use recount_engine::{
    ContentFilter, Engine, KeptListing, ListQuery, Listing, LostSession, SortOrder, Visibility,
    Visible,
};
use recount_model::{SessionFacts, SessionKind, SessionRow};

use super::session_rows;
use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure, NOTHING};
use crate::output::columns::{Align, Column, Fit};
use crate::output::form::Form;
use crate::output::json;
use crate::output::number::plural;
use crate::output::progress::Bar;
use crate::output::project_names::ProjectNames;
use crate::output::span::{Line, StyledSpan};
use crate::output::theme::Tone;
use crate::when;

/// List sessions, newest first
///
/// In a project's folder, or below it, only that project's sessions are listed. Everywhere else, and with --all, the sessions
/// of every project are listed. Other commands accept the row numbers as @1, @2 and so on. A cost marked ≥ is a lower bound: some usage was
/// not recorded. Unknown tokens and costs are shown as –.
#[derive(Args, Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(visible_alias = "ls")]
#[command(after_help = "\
Examples:
  recount list                       # this project, or every project
  recount list shop --since 7d       # project 'shop', used in the last week
  recount list --all --sort tokens --limit 10
  recount list --lost                # sessions whose files are gone")]
pub(crate) struct ListArgs {
    /// Project: a path, a slug, a hash prefix, or part of its name
    project: Option<String>,

    /// List the sessions of all projects
    #[arg(short, long, conflicts_with = "project")]
    all: bool,

    /// Only sessions used at or after this time (2026-09-02, 12h, 7d, today)
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,

    /// Only sessions started at or before this time
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,

    /// Only sessions that used this model (part of its name)
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// Only sessions that called this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,

    /// Only sessions whose tool calls or attachments name this path, or a path that ends with it
    #[arg(long, value_name = "PATH")]
    touched: Option<String>,

    /// Only sessions that match this query (as in `recount search`)
    #[arg(long, value_name = "QUERY")]
    text: Option<String>,

    /// Only these kinds of sessions
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kind: Vec<Kind>,

    /// Only sessions with problems
    #[arg(long)]
    problems: bool,

    /// Only sessions that are running now
    #[arg(long)]
    live: bool,

    /// Only sessions with this tag (can be repeated)
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,

    /// Only pinned sessions
    #[arg(long)]
    pinned: bool,

    /// Include sessions without messages
    #[arg(long)]
    empty: bool,

    /// List lost sessions: their files are gone, only the prompts are left
    #[arg(long, conflicts_with_all = ["problems", "kind", "model", "live", "text", "tag", "pinned"])]
    lost: bool,

    /// Sort key, greatest first
    #[arg(long, value_name = "KEY", default_value = "updated")]
    sort: SortKey,

    /// Maximum number of sessions
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,

    /// Print CSV, with a heading and exact figures
    #[arg(long, conflicts_with_all = ["json", "lost"])]
    csv: bool,
}

/// Kinds of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Started by a person
    Main,
    /// Started by another session
    Subagent,
    /// Known from headless output only
    Headless,
}

impl Kind {
    pub(crate) fn kind(self) -> SessionKind {
        match self {
            Self::Main => SessionKind::Main,
            Self::Subagent => SessionKind::Subagent,
            Self::Headless => SessionKind::Headless,
        }
    }
}

/// What to sort by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum SortKey {
    #[default]
    Updated,
    Started,
    Tokens,
    Messages,
    Size,
    Cost,
}

pub(crate) fn run(args: &ListArgs, context: &Context) -> Result<ExitCode, Failure> {
    let query = query(args, context)?;
    if context.global.json && !args.lost && args.limit.is_none() {
        // The directories are listed while the rows are read.
        let print = |kept: &KeptListing<'_>| print_kept(kept, context);
        if let Some(code) = context.pinned_engine()?.list_kept(&query, &(), print)? {
            return code;
        }
    }
    let engine = context.engine()?;
    if args.lost {
        return lost(&query, engine, context);
    }
    let bar = Bar::new(context, "reading sessions");
    let mut listing = engine.list(&query, &bar)?;
    bar.finish();
    let mut shown = listing.sessions.len();
    if context.global.json {
        listing.sessions.truncate(args.limit.unwrap_or(usize::MAX));
        engine.price(&mut listing.sessions, &bar);
        json::sessions(context, &listing)?;
        if let Some(scope) = &listing.scope {
            context.warn(&session_rows::scope(scope));
        }
    } else {
        shown = show(args, engine, &listing, context)?;
    }
    let total = |count: fn(&SessionFacts) -> u64| {
        listing.sessions.iter().map(|session| count(session)).sum::<u64>()
    };
    let problems = listing.problems.len() as u64 + total(|session| session.problems);
    let kept = listing.sessions.iter().flat_map(|session| &session.problem_list);
    let code = context.problems(
        listing.problems.iter().chain(kept),
        problems,
        total(|session| session.not_understood),
    );
    context.keep(listing);
    if shown == 0 { Ok(ExitCode::from(NOTHING)) } else { Ok(code) }
}

/// Prints the rows of a list that did not change.
fn print_kept(kept: &KeptListing<'_>, context: &Context) -> Result<ExitCode, Failure> {
    json::kept_rows(context, kept)?;
    let total = |count: fn(&SessionRow<'_>) -> u64| {
        kept.rows.iter().map(|(row, _)| count(row)).sum::<u64>()
    };
    let code = context.problems(
        kept.problems.iter(),
        kept.other_problems + total(|row| row.problems),
        total(|row| row.not_understood),
    );
    if kept.rows.is_empty() { Ok(ExitCode::from(NOTHING)) } else { Ok(code) }
}

/// Parses the time of a flag.
pub(crate) fn moment(
    flag: &str,
    text: Option<&str>,
    now: Timestamp,
) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = text else { return Ok(None) };
    when::parse(text, now)
        .map(Some)
        .map_err(|error| Failure::new(ERROR, format!("{flag} {text}: not a time")).hint(error))
}

fn query(args: &ListArgs, context: &Context) -> Result<ListQuery, Failure> {
    let now = context.clock.now();
    Ok(ListQuery {
        project: args.project.as_deref().map(|project| context.project_argument(project)),
        here: context.env.current_folder().cloned().filter(|_| !args.all && !args.lost),
        since: moment("--since", args.since.as_deref(), now)?,
        until: moment("--until", args.until.as_deref(), now)?,
        model: args.model.clone(),
        kinds: args.kind.iter().map(|kind| kind.kind()).collect(),
        problems: args.problems,
        background: false,
        content: ContentFilter { tool: args.tool.clone(), touched: args.touched.clone() },
        text: args.text.clone(),
        live: args.live,
        pending_deletion: context.global.json,
        labelled: true,
        tags: args.tag.iter().map(|tag| tag.trim_start_matches('#').to_owned()).collect(),
        pinned: args.pinned,
        sort: match args.sort {
            SortKey::Updated => SortOrder::Updated,
            SortKey::Started => SortOrder::Started,
            SortKey::Tokens => SortOrder::Tokens,
            SortKey::Messages => SortOrder::Messages,
            SortKey::Size => SortOrder::Size,
            SortKey::Cost => SortOrder::Cost,
        },
        limit: args.limit.filter(|_| args.lost),
    })
}

fn show(
    args: &ListArgs,
    engine: &Engine,
    listing: &Listing,
    context: &Context,
) -> Result<usize, Failure> {
    // With `--kind`, these kinds are shown.
    let visibility = Visibility { subagents: !args.kind.is_empty(), empty: args.empty };
    let Visible { sessions: mut rows, subagents, empty } = listing.visible(visibility, args.limit);
    // An empty list does not change the numbers of the last one.
    if !rows.is_empty() && engine.remember(&rows).is_err() {
        context.warn("cannot save row numbers for @N: the data folder is not writable");
    }
    engine.price(&mut rows, &());
    let mut out = context.out(Paged::Yes);
    if args.csv {
        session_rows::csv(&rows, &mut out)?;
    } else if !rows.is_empty() {
        if context.form() == Form::Short {
            out.write_all(scope_line(listing, rows.len(), context).as_bytes())?;
        }
        let names = ProjectNames::of(listing.sessions.iter().map(|session| &*session.project));
        out.write_all(session_rows::table(&rows, &names, context).as_bytes())?;
    }
    out.finish()?;
    if let Some(scope) = &listing.scope
        && (context.form() == Form::Exact || args.csv || rows.is_empty())
    {
        context.warn(&session_rows::scope_of_rows(scope, rows.len()));
    }
    if rows.is_empty() {
        let all = listing.known;
        let found = if all == 0 {
            "no sessions found".into()
        } else {
            format!("none of {} matches", plural(all as u64, "session"))
        };
        context.warn(&found);
    }
    if subagents > 0 {
        let words = plural(subagents, "sub-agent session");
        let has_headless = listing.sessions.iter().any(|one| one.kind == SessionKind::Headless);
        let headless = if has_headless { ",headless" } else { "" };
        context.warn(&format!("{words} not shown (--kind main,subagent{headless})"));
    }
    if empty > 0 {
        let words = plural(empty, "session");
        context.warn(&format!("{words} without messages not shown (--empty)"));
    }
    Ok(rows.len())
}

/// Returns the line above a list with the project it is limited to.
fn scope_line(listing: &Listing, rows: usize, context: &Context) -> String {
    let line =
        |scope| Line::new([StyledSpan::new(&session_rows::scope_of_rows(scope, rows), Tone::Dim)]);
    context.canvas().print(listing.scope.as_ref().map(line))
}

fn lost(query: &ListQuery, engine: &Engine, context: &Context) -> Result<ExitCode, Failure> {
    let bar = Bar::new(context, "reading sessions");
    let mut lost = engine.lost(query, &bar)?;
    bar.finish();
    // Sessions that recount deleted are not lost: `recount restore` restores them.
    let trashed: BTreeSet<String> =
        Changes::new(engine).trash()?.into_iter().map(|one| one.session.id).collect();
    let before = lost.len();
    lost.retain(|session| !trashed.contains(session.id.as_str()));
    if lost.len() < before {
        let many = plural((before - lost.len()) as u64, "session");
        context.warn(&format!("{many} in the trash left out; `recount trash` lists them"));
    }
    if context.global.json {
        json::document(context, "lost", "sessions", &lost)?;
    } else if !lost.is_empty() {
        let cells: Vec<Vec<StyledSpan>> =
            lost.iter().map(|session| lost_row(session, context)).collect();
        let mut out = context.out(Paged::Yes);
        out.write_all(context.table(LOST, &cells).as_bytes())?;
        out.finish()?;
    }
    if lost.is_empty() {
        context.warn("no lost sessions found");
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(ExitCode::SUCCESS)
}

const LOST: &[Column] = &[
    Column { heading: "ID", align: Align::Left, fit: Fit::Keep },
    Column { heading: "LAST PROMPT", align: Align::Left, fit: Fit::Keep },
    Column { heading: "PROJECT", align: Align::Left, fit: Fit::Drop(2) },
    Column { heading: "PROMPTS", align: Align::Right, fit: Fit::Drop(1) },
    Column { heading: "FIRST PROMPT", align: Align::Left, fit: Fit::Flexible },
];

fn lost_row(session: &LostSession, context: &Context) -> Vec<StyledSpan> {
    let form = context.form();
    vec![
        StyledSpan::new(form.session(&session.id), Tone::Name),
        StyledSpan::new(&form.time(session.updated, context.clock.now()), Tone::Dim),
        StyledSpan::new(session.project.name(), Tone::Strong),
        StyledSpan::new(&form.count(session.prompts.len() as u64), Tone::Plain),
        StyledSpan::new(session.prompts.first().map_or("", String::as_str), Tone::Plain),
    ]
}
