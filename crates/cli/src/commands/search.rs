//! `recount search`

use std::io::Write as _;
use std::ops::Range;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use recount_engine::{Answer, Asked, Engine, Field, HitSort, Match};
use recount_model::{Fate, Message, MessageKind, Place, Project, SourceName};
use serde::Serialize;

use super::show;
use crate::context::{Context, Paged};
use crate::failure::{Failure, NOTHING};
use crate::output::json;
use crate::output::number::{count, plural};
use crate::output::progress::Bar;
use crate::output::span::{Line, Span};
use crate::output::theme::Tone;
use crate::output::width::{pad_to, truncate_to, width};
use crate::when;

/// Search everything that was ever said, in every session
///
/// All words must be there; "a phrase"; AND, OR, NOT and ( ); pre*; fuzzy~; /regex/. Fields: in:prompt,answer,thought,call,output
/// project: source: model: tool: file: kind: fate: before: after: is:error is:undone. The first search indexes your
/// history; after that only what is new.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount search rate limit\n  recount search '\"tax table\" project:shop after:7d'\n  recount search \
    'in:prompt 会话'\n  recount search legacy_record            parseLegacyRecord, too\n  recount search 'tool:run_shell_command is:error' --sort \
    time\n  recount search watchdog --open 2        show the second hit where it stands"
)]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,

    /// No more than this many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,

    /// The best first, or the newest
    #[arg(long, value_name = "KEY", default_value = "relevance")]
    sort: SortKey,

    /// Every hit, rather than the best of each session
    #[arg(long)]
    all_hits: bool,

    /// Read the files themselves instead of the index; the newest come first
    #[arg(long)]
    no_index: bool,

    /// Show so many messages before and behind each hit
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0)]
    context: usize,

    /// Show the N-th hit in its session
    #[arg(long, value_name = "N", conflicts_with = "json")]
    open: Option<usize>,
}

/// What comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SortKey {
    /// The best
    Relevance,
    /// The newest
    Time,
}

/// The width that a snippet has in JSON.
const WIDTH_IN_JSON: usize = 200;
/// How far a snippet is set in.
const MARGIN: usize = 18;

pub(crate) fn run(args: &SearchArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.engine()?;
    let canvas = context.canvas();
    let width = if context.global.json {
        WIDTH_IN_JSON
    } else {
        canvas.room().saturating_sub(MARGIN).max(20)
    };
    let asked = Asked {
        query: args.query.join(" "),
        limit: args.limit.max(args.open.unwrap_or(1)).max(1),
        sort: if args.sort == SortKey::Time { HitSort::Time } else { HitSort::Relevance },
        all_hits: args.all_hits,
        width,
        without_index: args.no_index,
    };
    let bar = Bar::new(context, if args.no_index { "searching" } else { "indexing" });
    let answer = engine.search(&asked, &bar)?;
    bar.finish();
    for note in &answer.notes {
        context.warn(note);
    }
    if let Some(number) = args.open {
        return open(number, &answer, context);
    }
    if context.global.json {
        print_json(&answer, &around(&answer, args, &engine)?, context)?;
    } else if !answer.hits.is_empty() {
        let mut out = context.out(Paged::Yes);
        let around = around(&answer, args, &engine)?;
        out.write_all(canvas.print(lines(&answer, &around, canvas.room(), context)).as_bytes())?;
        out.finish()?;
        summary(&answer, context);
    }
    if answer.hits.is_empty() {
        context.warn("nothing found");
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(ExitCode::SUCCESS)
}

fn summary(answer: &Answer, context: &Context) {
    let about = if answer.is_exact { "" } else { "up to " };
    let messages = plural(answer.total as u64, "message");
    let sessions = plural(answer.sessions as u64, "session");
    if answer.relaxed {
        context.warn(&format!(
            "no message has all of the words; {about}{messages} in {sessions} have some"
        ));
    } else if answer.total > answer.hits.len() {
        context.warn(&format!(
            "{about}{messages} in {sessions} (--all-hits, -n {} shows more)",
            answer.hits.len() * 2
        ));
    }
}

fn open(number: usize, answer: &Answer, context: &Context) -> Result<ExitCode, Failure> {
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

/// The messages around each hit, it included; none when nobody asked.
fn around(
    answer: &Answer,
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

/// A session with its hits, then the next.
fn lines(answer: &Answer, around: &[Vec<Message>], room: usize, context: &Context) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut last = None;
    for (at, hit) in answer.hits.iter().enumerate() {
        if last != Some(&hit.session.id) {
            if last.is_some() {
                lines.push(Line::default());
            }
            lines.push(heading(hit, room, context));
            last = Some(&hit.session.id);
        }
        let near = around.get(at).map(Vec::as_slice).unwrap_or_default();
        let place = near.iter().position(|message| message.place == hit.message.place);
        let (before, behind) = near.split_at(place.unwrap_or(0));
        lines.extend(before.iter().map(|message| neighbour(message, room)));
        lines.push(line(at + 1, hit, room));
        lines.extend(behind.iter().skip(1).map(|message| neighbour(message, room)));
    }
    lines
}

/// A message beside a hit: its first words, in the same columns.
fn neighbour(message: &Message, room: usize) -> Line {
    let time = message.time.map(when::clock_time).unwrap_or_default();
    let said = message.display_text.split_whitespace().collect::<Vec<_>>().join(" ");
    let called = || {
        let call = message.tool_calls.first()?;
        Some(format!("{} {}", call.name, call.key_arg.as_deref().unwrap_or_default()))
    };
    let words = if said.is_empty() { called().unwrap_or_default() } else { said };
    let mut spans = vec![
        Span::new("    ", Tone::Dim),
        Span::new(&format!("{time:<5} "), Tone::Dim),
        Span::new(&pad_to(&message.kind.to_string(), 8), Tone::Dim),
    ];
    let left = room.saturating_sub(spans.iter().map(Span::width).sum());
    spans.push(Span::new(&truncate_to(&words, left), Tone::Dim));
    Line::new(spans)
}

/// Title, project, age and id on one line.
fn heading(hit: &Match, room: usize, context: &Context) -> Line {
    let session = &hit.session;
    let age = session.updated.map(|used| when::age(used, context.clock.now())).unwrap_or_default();
    let project = session.project.name();
    let gone = if hit.is_gone { "  gone" } else { "" };
    let behind = format!("  {project}  {age}  {}{gone}", session.id.short());
    let title = session.title.as_deref().unwrap_or("(nothing said)").replace('\n', " ");
    let left = room.saturating_sub(width(&behind)).max(10);
    Line::new([
        Span::new(&pad_to(&truncate_to(&title, left), left.min(60)), Tone::Strong),
        Span::new(&format!("  {project}"), Tone::Name),
        Span::new(&format!("  {age}  "), Tone::Dim),
        Span::new(session.id.short(), Tone::Dim),
        Span::new(gone, Tone::Warning),
    ])
}

/// Number, time, who said it, and the best line of it.
fn line(number: usize, hit: &Match, room: usize) -> Line {
    let who = hit
        .snippet
        .as_ref()
        .map_or_else(|| hit.message.kind.to_string(), |snippet| snippet.field.name().to_owned());
    let time = hit.message.time.map(when::clock_time).unwrap_or_default();
    let mut spans = vec![
        Span::new(&format!("{number:>3} "), Tone::Dim),
        Span::new(&format!("{time:<5} "), Tone::Dim),
        Span::new(&pad_to(&who, 8), tone(hit)),
    ];
    if hit.message.fate != Fate::Kept {
        spans.push(Span::new(&format!("({}) ", hit.message.fate), Tone::Warning));
    }
    let mut left = room.saturating_sub(spans.iter().map(Span::width).sum());
    let mut push = |text: &str, tone| {
        // What is said of the hit took some of the room.
        let cut = truncate_to(text, left);
        left = left.saturating_sub(width(&cut));
        spans.push(Span::new(&cut, tone));
    };
    if hit.is_gone {
        push("its file is gone, and the text with it", Tone::Dim);
    }
    if let Some(snippet) = &hit.snippet {
        let mut from = 0;
        for Range { start, end } in snippet.highlights.iter().cloned() {
            push(snippet.text.get(from..start).unwrap_or_default(), Tone::Plain);
            push(snippet.text.get(start..end).unwrap_or_default(), Tone::Match);
            from = end;
        }
        push(snippet.text.get(from..).unwrap_or_default(), Tone::Plain);
    }
    Line::new(spans)
}

fn tone(hit: &Match) -> Tone {
    match hit.snippet.as_ref().map(|snippet| snippet.field) {
        Some(Field::Prompt | Field::Title) => Tone::Prompt,
        Some(Field::Answer) => Tone::Answer,
        Some(Field::Thought) => Tone::Thought,
        Some(Field::Call | Field::Path | Field::Tool) => Tone::Tool,
        _ => Tone::Dim,
    }
}

/// A hit, for JSON.
#[derive(Serialize)]
struct Shown<'a> {
    session: Short<'a>,
    message_id: Option<&'a str>,
    kind: MessageKind,
    fate: Fate,
    time: Option<Timestamp>,
    score: f32,
    field: Option<&'static str>,
    snippet: Option<&'a str>,
    highlights: Vec<[usize; 2]>,
    #[serde(rename = "where")]
    place: &'a Place,
    #[serde(skip_serializing_if = "<[Message]>::is_empty")]
    context: &'a [Message],
}

/// A session, in short.
#[derive(Serialize)]
struct Short<'a> {
    source: SourceName,
    id: &'a str,
    title: Option<&'a str>,
    project: &'a Project,
    updated: Option<Timestamp>,
    gone: bool,
}

/// The whole document, but for its schema.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    total: usize,
    sessions: usize,
    is_exact: bool,
    relaxed: bool,
    hits: Vec<Shown<'a>>,
}

fn print_json(answer: &Answer, around: &[Vec<Message>], context: &Context) -> Result<(), Failure> {
    let hits = answer.hits.iter().enumerate().map(|(at, hit)| Shown {
        session: Short {
            source: hit.session.source,
            id: hit.session.id.as_str(),
            title: hit.session.title.as_deref(),
            project: &hit.session.project,
            updated: hit.session.updated,
            gone: hit.is_gone,
        },
        message_id: hit.message.id.as_ref().map(recount_model::MessageId::as_str),
        kind: hit.message.kind,
        fate: hit.message.fate,
        time: hit.message.time,
        score: hit.score,
        field: hit.snippet.as_ref().map(|snippet| snippet.field.name()),
        snippet: hit.snippet.as_ref().map(|snippet| snippet.text.as_str()),
        highlights: hit
            .snippet
            .iter()
            .flat_map(|snippet| snippet.highlights.iter().map(|range| [range.start, range.end]))
            .collect(),
        place: &hit.message.place,
        context: around.get(at).map(Vec::as_slice).unwrap_or_default(),
    });
    json::whole(
        context,
        &Document {
            schema: "recount.search/1",
            total: answer.total,
            sessions: answer.sessions,
            is_exact: answer.is_exact,
            relaxed: answer.relaxed,
            hits: hits.collect(),
        },
    )?;
    context.warn(&format!(
        "{} of {} shown",
        count(answer.hits.len() as u64),
        count(answer.total as u64)
    ));
    Ok(())
}
