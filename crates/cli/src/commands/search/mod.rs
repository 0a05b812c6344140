//! `recount search`

mod lines;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use recount_display::words;
use recount_documents as documents;
use recount_engine::{Engine, HitOrder, Match, SearchRequest, SearchResults};
use recount_model::Message;
use recount_tui::Tab;

use super::show;
use crate::app;
use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure, NOTHING};
use crate::output::columns::tabs;
use crate::output::form::Form;
use crate::output::json;
use crate::output::number::{bytes, count, plural};
use crate::output::progress::Bar;
use crate::output::sanitize::single_line;

/// Search the full text of every session
///
/// All words must match; if no message has them all, or if they are a question ("how did we shrink the image"), messages and
/// sessions with most of them come first, in any of their forms, and a note says so. "Quotes", AND, +word and /regex/ are taken as they are.
/// Operators: "a phrase", AND, OR, NOT, ( ), prefix*, fuzzy~, /regex/. Fields: in:prompt,answer,thought,call,output
/// project: source: model: tool: file: kind: fate: before: after: is:error is:undone. The first search builds an index of your history;
/// later searches only add what is new.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount search discount
  recount search where did we compute the tax
  recount search '\"tax rate\" project:shop'
  recount search 'in:prompt 气温'
  recount search 'tool:run_shell_command is:error' --sort time
  recount search discount --open 2   # show the second match in its session")]
pub(crate) struct SearchArgs {
    /// Words, phrases, operators and fields; none on a terminal: open the search of the app
    #[arg(value_name = "QUERY")]
    query: Vec<String>,

    /// Maximum number of matches
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,

    /// Sort order
    #[arg(long, value_name = "KEY", default_value = "relevance")]
    sort: SortKey,

    /// Show every match, not only the best of each session
    #[arg(long)]
    all_hits: bool,

    /// Search the files instead of the index, newest first
    #[arg(long)]
    no_index: bool,

    /// Messages of context around each match
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0)]
    context: usize,

    /// Print one JSON document per match and line
    #[arg(long, conflicts_with = "open")]
    stream: bool,

    /// Show match N in its session
    #[arg(long, value_name = "N", conflicts_with = "json")]
    open: Option<usize>,
}

/// What comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SortKey {
    /// Best match first
    Relevance,
    /// Newest first
    Time,
}

/// The width of a snippet in JSON.
const WIDTH_IN_JSON: usize = 200;
/// The indentation of a snippet.
const MARGIN: usize = 18;

pub(crate) fn run(args: &SearchArgs, context: &Context) -> Result<ExitCode, Failure> {
    if args.query.is_empty() {
        if app::is_possible(context) {
            return app::run(context, Tab::Search, None);
        }
        return Err(Failure::new(ERROR, "no query was given")
            .hint("give words to search for, or run `recount search` on a terminal"));
    }
    let engine = context.engine_before_listing()?;
    let canvas = context.canvas();
    let for_programs = context.global.json || args.stream;
    let is_whole = for_programs || context.form() == Form::Exact;
    let width = if is_whole { WIDTH_IN_JSON } else { canvas.room().saturating_sub(MARGIN).max(20) };
    let asked = SearchRequest {
        query: args.query.join(" "),
        limit: args.limit.max(args.open.unwrap_or(1)).max(1),
        sort: if args.sort == SortKey::Time { HitOrder::Time } else { HitOrder::Relevance },
        all_hits: args.all_hits,
        width,
        without_index: args.no_index,
        at_once: context.may_leave_process(),
    };
    let bar = Bar::new(context, if args.no_index { "searching" } else { "indexing" });
    let answer = engine.search(&asked, &bar)?;
    bar.finish();
    for note in &answer.notes {
        context.warn(&words::search_note(note));
    }
    if let Some(number) = args.open {
        return open(number, &answer, context);
    }
    let code = show_answer(&answer, args, engine, context)?;
    if answer.is_unindexed {
        index_for_later(engine, context);
    }
    Ok(code)
}

fn show_answer(
    answer: &SearchResults,
    args: &SearchArgs,
    engine: &Engine,
    context: &Context,
) -> Result<ExitCode, Failure> {
    let canvas = context.canvas();
    if context.global.json || args.stream {
        let around = around(answer, args, engine)?;
        if args.stream {
            json::print(context, |out| documents::hit_lines(out, answer, &around))?;
        } else {
            json::print(context, |out| documents::hits(out, answer, &around))?;
            let (many, total) = (count(answer.hits.len() as u64), count(answer.total as u64));
            context.warn(&format!("{many} of {total} shown"));
        }
    } else if !answer.hits.is_empty() {
        // @N refers to a hit like to a row.
        if engine.remember(answer.hits.iter().map(|hit| &hit.session)).is_err() {
            context.warn("cannot save row numbers for @N: the data folder is not writable");
        }
        let mut out = context.out(Paged::Yes);
        let page = match context.form() {
            Form::Short => {
                let around = around(answer, args, engine)?;
                canvas.print(lines::lines(answer, &around, canvas.room(), context))
            }
            Form::Exact => tabs(&lines::rows(answer)),
        };
        out.write_all(page.as_bytes())?;
        out.finish()?;
        summary(answer, args, context);
    }
    if answer.hits.is_empty() {
        context.warn("nothing found");
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the index in a separate process, so that later searches are faster and ranked.
fn index_for_later(engine: &Engine, context: &Context) {
    let started = match engine.index_progress() {
        Some((done, total)) if total > 0 => format!("{} of {}", bytes(done), bytes(total)),
        _ => "just begun".to_owned(),
    };
    let args = context.again(["index", "--background"]);
    if recount_platform::start_detached(&context.env, &args).is_ok() {
        context.warn(&format!(
            "searched the files, newest first; the index is built in the background ({started}; `recount index status`)"
        ));
    }
}

fn summary(answer: &SearchResults, args: &SearchArgs, context: &Context) {
    let about = if answer.is_exact { "" } else { "up to " };
    let messages = plural(answer.total as u64, "message");
    let sessions = plural(answer.sessions as u64, "session");
    if answer.relaxed {
        // The query's own words are untrusted as any other text.
        let how = single_line(&words::relaxed(answer.relaxation.as_ref()));
        context.warn(&format!("{how}; {about}{messages} in {sessions} match some of them"));
    } else if answer.total > answer.hits.len() {
        // One message per session is shown: a larger number shows more only if there are more sessions.
        let number = format!("-n {} shows more", args.limit.max(1).saturating_mul(2));
        let more = match answer.sessions > answer.hits.len() {
            _ if args.all_hits => number,
            true => format!("--all-hits or {number}"),
            false => "--all-hits shows all".to_owned(),
        };
        context.warn(&format!("{about}{messages} in {sessions} ({more})"));
    }
}

fn open(number: usize, answer: &SearchResults, context: &Context) -> Result<ExitCode, Failure> {
    let Some(hit) = number.checked_sub(1).and_then(|at| answer.hits.get(at)) else {
        let words =
            format!("there is no hit {number}: {} found", plural(answer.hits.len() as u64, "hit"));
        return Err(Failure::new(NOTHING, words));
    };
    if hit.is_gone {
        let words = "the files of that session are gone: only the index still knows it";
        let next = "recount index --forget forgets it, too";
        return Err(Failure::new(NOTHING, words).hint(next));
    }
    let from = hit.message.id.as_ref().map(|id| id.as_str().to_owned());
    show::run(&show::ShowArgs::at(hit.session.id.as_str(), from), context)
}

/// Returns the messages around each hit, including the hit; none if not requested.
fn around(
    answer: &SearchResults,
    args: &SearchArgs,
    engine: &Engine,
) -> Result<Vec<Vec<Message>>, Failure> {
    if args.context == 0 {
        return Ok(Vec::new());
    }
    let around = |hit: &Match| {
        if hit.is_gone { Ok(Vec::new()) } else { engine.around(hit, args.context) }
    };
    Ok(answer.hits.iter().map(around).collect::<Result<_, _>>()?)
}
