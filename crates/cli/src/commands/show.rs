//! `recount show`

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use recount_engine::{Bound, Engine, Opened, View};
use recount_model::{Message, Problem};

use crate::context::{Context, Out, Paged};
use crate::failure::{ERROR, Failure, NOTHING};
use crate::output::json;
use crate::output::progress::Bar;
use crate::output::sanitize::sanitize;
use crate::output::transcript::{Level, Transcript};
use crate::when;

/// Show a session's transcript
///
/// Prompts, answers as Markdown, tool calls with their key argument, diffs, gaps in time; in a pager when on a
/// terminal. A file that is not in your home can be shown by its path: a session file, a saved chat, an export.
#[derive(Args, Clone, Debug)]
#[command(visible_alias = "cat")]
#[command(
    after_help = "Examples:\n  recount show latest\n  recount show 3d2f --level full --thoughts\n  recount show @2 --from -20         \
    the last 20 messages\n  recount show 3d2f --view strict --json\n  recount show ./session-2026-09-02T08-00-3d2f9a10.jsonl"
)]
pub(crate) struct ShowArgs {
    /// Id, its first characters, a file, @N (row of the last list) or `latest`
    session: String,

    /// How much to show
    #[arg(short, long, value_name = "LEVEL", default_value = "actions")]
    level: LevelArg,

    /// Show the model's thoughts
    #[arg(short, long)]
    thoughts: bool,

    /// Which messages: what the agent itself would load, or everything ever said
    #[arg(long, value_name = "VIEW", default_value = "full")]
    view: ViewArg,

    /// Print the files as they are on disk
    #[arg(long, conflicts_with_all = ["level", "thoughts", "view", "from", "to"])]
    raw: bool,

    /// First message: a number (negative: from the end), an id, or a time
    #[arg(long, value_name = "MESSAGE", allow_hyphen_values = true)]
    from: Option<String>,

    /// Last message: a number (negative: from the end), an id, or a time
    #[arg(long, value_name = "MESSAGE", allow_hyphen_values = true)]
    to: Option<String>,
}

/// How much to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LevelArg {
    /// Prompts and answers
    Talk,
    /// And tool calls, diffs, notices
    Actions,
    /// And tool output, tokens, shell commands, summaries
    Full,
    /// Everything, with ids and places on disk
    Trace,
}

/// Which messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ViewArg {
    /// What the agent's own loader would show
    Strict,
    /// Everything that was ever said, undone messages marked
    Full,
}

pub(crate) fn run(args: &ShowArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.engine_for(&args.session)?;
    let bar = Bar::new(context, "reading the session");
    let mut opened = engine.open(&args.session, &bar)?;
    if context.global.json {
        engine.complete(&mut opened);
    }
    bar.finish();
    if args.raw {
        return raw(&opened, context);
    }
    let view = match args.view {
        ViewArg::Strict => View::Strict,
        ViewArg::Full => View::Full,
    };
    if view == View::Strict && !opened.is_loadable() {
        context.warn("the agent itself cannot load this session: its strict view is empty");
    }
    let bounds = Bounds::read(args, context)?;
    let stream = Stream { opened: &opened, view, bounds };
    let late = if context.global.json {
        as_json(&stream, context)?
    } else {
        as_text(&stream, args, &engine, context)?
    };
    let facts = &opened.facts;
    let total = facts.problems + late.len() as u64;
    Ok(context.problems(facts.problem_list.iter().chain(&late), total, facts.not_understood))
}

struct Bounds {
    from: Option<Bound>,
    to: Option<Bound>,
}

impl Bounds {
    fn read(args: &ShowArgs, context: &Context) -> Result<Self, Failure> {
        let bound = |text: &String| {
            if let Ok(number) = text.parse() {
                return Bound::Number(number);
            }
            match when::parse(text, context.clock.now()) {
                Ok(time) => Bound::Time(time),
                Err(_) => Bound::Id(text.clone()),
            }
        };
        let bounds = Self { from: args.from.as_ref().map(bound), to: args.to.as_ref().map(bound) };
        if [&bounds.from, &bounds.to].contains(&&Some(Bound::Number(0))) {
            return Err(Failure::new(ERROR, "messages are counted from 1"));
        }
        Ok(bounds)
    }
}

/// Messages from a session's files or from a saved chat, whichever it is.
struct Stream<'a> {
    opened: &'a Opened,
    view: View,
    bounds: Bounds,
}

impl Stream<'_> {
    /// Calls `each` with every message and its number; returns what could not be read.
    fn each(
        &self,
        mut each: impl FnMut(usize, &Message) -> Result<(), Failure>,
    ) -> Result<Vec<Problem>, Failure> {
        let mut problems = Vec::new();
        let Some(mut messages) = self.opened.messages(self.view) else {
            for (at, message) in self.opened.saved().iter().enumerate() {
                each(at + 1, message)?;
            }
            return Ok(problems);
        };
        let all = messages.len();
        let (from, to) = (self.bounds.from.as_ref(), self.bounds.to.as_ref());
        if let Some(missing) = messages.between(from, to) {
            let words = match missing {
                Bound::Id(id) => format!("no message '{id}' in this session"),
                _ => "no such message".into(),
            };
            return Err(Failure::new(NOTHING, words).hint("`--level trace` shows message ids"));
        }
        let skipped = if from.is_some() && to.is_none() { all - messages.len() } else { 0 };
        for (at, message) in messages.enumerate() {
            match message {
                Ok(message) => each(skipped + at + 1, &message)?,
                Err(problem) => problems.push(problem),
            }
        }
        Ok(problems)
    }
}

fn as_json(stream: &Stream<'_>, context: &Context) -> Result<Vec<Problem>, Failure> {
    let mut document = json::Transcript::begin(context.out(Paged::No), &stream.opened.facts)?;
    let problems = stream.each(|_, message| Ok(document.message(message)?))?;
    for problem in &problems {
        document.problem(problem.clone());
    }
    document.end()?.finish()?;
    Ok(problems)
}

fn as_text(
    stream: &Stream<'_>,
    args: &ShowArgs,
    engine: &Engine,
    context: &Context,
) -> Result<Vec<Problem>, Failure> {
    let level = match args.level {
        LevelArg::Talk => Level::Talk,
        LevelArg::Actions => Level::Actions,
        LevelArg::Full => Level::Full,
        LevelArg::Trace => Level::Trace,
    };
    let mut transcript =
        Transcript::new(context.canvas(), level, args.thoughts, &stream.opened.facts);
    let mut out = context.out(Paged::Yes);
    out.write_all(transcript.heading(&stream.opened.facts, engine.folders()).as_bytes())?;
    // The first screen should not wait for a full buffer.
    let mut waiting = 8;
    let problems = stream.each(|number, message| {
        out.write_all(transcript.message(message, number).as_bytes())?;
        if waiting > 0 {
            waiting -= 1;
            out.flush()?;
        }
        Ok(())
    })?;
    out.finish()?;
    Ok(problems)
}

/// Prints the files as they are, made safe when a person is looking.
fn raw(opened: &Opened, context: &Context) -> Result<ExitCode, Failure> {
    let mut out: Out = context.out(Paged::Yes);
    let several = opened.files().count() > 1;
    for file in opened.files() {
        if several {
            out.flush()?;
            context.warn(&format!("{} ({:?})", file.path.display(), file.role));
        }
        let unreadable =
            |error| Failure::new(ERROR, format!("cannot read {}: {error}", file.path.display()));
        let mut input = file.open().map_err(unreadable)?;
        let mut piece = vec![0; 64 * 1024];
        loop {
            let count = input.read(&mut piece).map_err(unreadable)?;
            let bytes = piece.get(..count).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            if context.on_terminal() {
                out.write_all(sanitize(&String::from_utf8_lossy(bytes)).as_bytes())?;
            } else {
                out.write_all(bytes)?;
            }
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
