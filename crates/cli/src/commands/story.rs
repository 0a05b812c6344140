//! `recount story`

mod budget;

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use recount_engine::{Engine, Error, ListQuery, MessageCursor, Opened, Position, View};
use recount_model::{Fate, Message, MessageKind, NoticeLevel, Problem, SessionKind, ToolStatus};

use self::budget::{Budget, Start};
use super::show::unread;
use crate::context::{Context, Paged};
use crate::failure::Failure;
use crate::output::json;
use crate::output::progress::Bar;
use crate::output::sanitize::{sanitize, single_line};
use crate::output::width::truncate_to;
use crate::when;

/// Print a short, token-light transcript
///
/// Prints the person's words, the agent's words, each tool's name with its key argument, and errors. Short enough to read in one
/// go or to pass to a model. A project prints its sessions one after the other.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount story latest
  recount story shop --last 5        # the last five sessions of project 'shop'
  recount story 279d | wc -w
  recount story 279d --max-tokens 2000   # the last line says how to go on")]
pub(crate) struct StoryArgs {
    /// Session (id, its first characters, file, @N, `latest`) or project
    what: String,

    /// Only the last N sessions of a project
    #[arg(long, value_name = "N")]
    last: Option<usize>,

    /// Stop before about N tokens, estimated at 4 characters of ASCII or 1 other character each
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(100..))]
    max_tokens: Option<u64>,

    /// Start where a story with --max-tokens stopped
    #[arg(long, value_name = "CURSOR")]
    from: Option<String>,
}

/// The maximum length of a key argument and of an error.
const SHORT: usize = 120;
/// The number of messages that are read at a time.
const PAGE: usize = 64;

pub(crate) fn run(args: &StoryArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.engine_for(&args.what)?;
    let bar = Bar::new(context, "reading sessions");
    let sessions = match engine.open(&args.what, &bar) {
        Ok(opened) => vec![Arc::new(opened)],
        Err(error @ (Error::NoSession(_) | Error::TooShort(_) | Error::NoFile(_))) => {
            project(engine, args, context, &bar, error)?
        }
        Err(Error::NotASession(_)) => {
            let error = Error::NoProject(args.what.clone());
            project(engine, args, context, &bar, error)?
        }
        Err(error) => return Err(error.into()),
    };
    bar.finish();
    let (sessions, start) = Start::parse(args.from.as_deref(), sessions)?;
    let mut budget = Budget::new(args.max_tokens);
    if context.global.json {
        return as_json(&sessions, start, &mut budget, context);
    }
    let mut out = context.out(Paged::Yes);
    let mut problems = Vec::new();
    for (at, opened) in sessions.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let start = if at == 0 { start } else { 0 };
        let told = print_story(opened, start, &mut budget, &mut out)?;
        problems.extend(told.problems);
        if let Some(next) = told.next {
            let left = MessageCursor::new(Arc::clone(opened), View::Full).len() - next;
            let more = sessions.len() - at - 1;
            writeln!(out, "\n{}", budget::how_to_go_on(&args.what, opened, next, left, more))?;
            break;
        }
    }
    out.finish()?;
    let code = report(&sessions, &problems, context);
    let failure = match sessions.as_slice() {
        [one] => unread(&one.facts, context),
        _ => None,
    };
    failure.map_or(Ok(code), Err)
}

/// Reports the problems of all sessions, and of their messages.
fn report(sessions: &[Arc<Opened>], late: &[Problem], context: &Context) -> ExitCode {
    let facts = || sessions.iter().map(|opened| &opened.facts);
    let total = facts().map(|facts| facts.problems).sum::<u64>() + late.len() as u64;
    let not_understood = facts().map(|facts| facts.not_understood).sum();
    context.problems(
        facts().flat_map(|facts| &facts.problem_list).chain(late),
        total,
        not_understood,
    )
}

fn project(
    engine: &Engine,
    args: &StoryArgs,
    context: &Context,
    bar: &Bar,
    error: Error,
) -> Result<Vec<Arc<Opened>>, Failure> {
    let query = ListQuery {
        project: Some(context.project_argument(&args.what)),
        kinds: vec![SessionKind::Main, SessionKind::Headless],
        ..ListQuery::default()
    };
    let listing = match engine.list(&query, bar) {
        Err(Error::NoProject(_)) => return Err(error.into()),
        listing => listing?,
    };
    let said = listing.sessions.iter().filter(|session| !session.is_empty());
    let mut chosen: Vec<_> = said.take(args.last.unwrap_or(usize::MAX)).collect();
    chosen.reverse();
    let open = |session: &&Arc<recount_model::SessionFacts>| {
        Ok(Arc::new(engine.open(session.id.as_str(), bar)?))
    };
    chosen.iter().map(open).collect()
}

/// What printing a story left.
struct Printed {
    /// Messages that could not be read.
    problems: Vec<Problem>,
    /// The number of the first message that did not fit.
    next: Option<usize>,
}

/// Prints the messages of a session from the one with the number `start`, as far as they fit.
fn print_story(
    opened: &Arc<Opened>,
    start: usize,
    budget: &mut Budget,
    out: &mut impl Write,
) -> std::io::Result<Printed> {
    let facts = &opened.facts;
    let mut printed = Printed { problems: Vec::new(), next: None };
    let title = facts.shown_title();
    let began = facts.started.map(when::minute).unwrap_or_default();
    let head = format!("# {title} ({}, {began}, {})", facts.project.name(), facts.id);
    let head = single_line(&head);
    let Some(head) = budget.take(&head) else {
        printed.next = Some(start);
        return Ok(printed);
    };
    writeln!(out, "{head}")?;
    // Paths below the project's folder are relative to it.
    let project = facts.project.path.as_ref().map(|path| format!("{path}/")).unwrap_or_default();
    let mut messages = MessageCursor::new(Arc::clone(opened), View::Full);
    messages.seek(&Position::Index(start));
    let mut number = start;
    loop {
        let page = messages.next_page(PAGE);
        if page.is_empty() {
            return Ok(printed);
        }
        for message in page {
            match message {
                Ok(message) => {
                    let lines = lines(&message, &project).join("\n");
                    if !lines.is_empty() {
                        let Some(lines) = budget.take(&lines) else {
                            printed.next = Some(number);
                            return Ok(printed);
                        };
                        writeln!(out, "{lines}")?;
                    }
                }
                Err(problem) => printed.problems.push(problem),
            }
            number += 1;
        }
    }
}

/// Returns the lines for one message of a session in `project`.
fn lines(message: &Message, project: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let undone =
        if message.fate == Fate::Kept { String::new() } else { format!("[{}] ", message.fate) };
    let text = sanitize(message.display_text.trim()).into_owned();
    match message.kind {
        MessageKind::Prompt if !text.is_empty() => {
            lines.push(format!("\n> {undone}{}", text.replace('\n', "\n> ")));
        }
        MessageKind::Answer if !text.is_empty() => lines.push(format!("{undone}{text}")),
        MessageKind::Shell => lines.push(format!("$ {}", truncate_to(&single_line(&text), SHORT))),
        MessageKind::Notice if message.level == Some(NoticeLevel::Error) => {
            lines.push(format!("! {}", truncate_to(&single_line(&text), SHORT)));
        }
        _ => {}
    }
    for call in &message.tool_calls {
        let key = call.key_arg.as_deref().unwrap_or_default();
        let key = single_line(key.strip_prefix(project).unwrap_or(key));
        let outcome = match call.status {
            ToolStatus::Error => {
                let output = call.output.as_deref().unwrap_or_default();
                format!(" ! {}", truncate_to(&single_line(output), SHORT))
            }
            ToolStatus::Cancelled => " ! cancelled".into(),
            ToolStatus::Success | ToolStatus::Other(_) => String::new(),
        };
        lines.push(format!("- {} {}{outcome}", single_line(&call.name), truncate_to(&key, SHORT)));
    }
    lines
}

fn as_json(
    sessions: &[Arc<Opened>],
    start: usize,
    budget: &mut Budget,
    context: &Context,
) -> Result<ExitCode, Failure> {
    let mut stories = Vec::new();
    for (at, opened) in sessions.iter().enumerate() {
        let mut text = Vec::new();
        let start = if at == 0 { start } else { 0 };
        let told = print_story(opened, start, budget, &mut text)?;
        let next = told.next.map(|next| budget::cursor(opened, next));
        let is_cut = next.is_some();
        stories.push(serde_json::json!({
            "session": opened.facts,
            "story": String::from_utf8_lossy(&text),
            "next": next,
        }));
        if is_cut {
            break;
        }
    }
    json::document(context, "story", "stories", &stories)?;
    Ok(report(sessions, &[], context))
}
