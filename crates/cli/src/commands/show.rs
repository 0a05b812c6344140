//! `recount show`

use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use recount_blocks::Level;
use recount_engine::{Bound, MessageCursor, Opened, View};
use recount_model::{Message, Problem, SessionFacts};

use super::picked::Picked;
use super::picker;
use crate::context::{Context, Out, Paged};
use crate::failure::{ERROR, Failure, NOTHING};
use crate::output::json;
use crate::output::progress::Bar;
use crate::output::sanitize::sanitize;
use crate::output::transcript::{Figures, Transcript};
use crate::when;

/// Show a session's transcript
///
/// Prompts, answers as Markdown, tool calls with their key argument, diffs, gaps in time; in a pager when on a
/// terminal. A file that is not in your home can be shown by its path: a session file, a saved chat, an export.
#[derive(Args, Clone, Debug)]
#[command(visible_alias = "cat")]
#[command(
    after_help = "Examples:\n  recount show latest\n  recount show 3d2f --level full --thoughts\n  recount show @2 --from -20         \
    the last 20 messages\n  recount show 3d2f --find '\"tax table\"' -C 1\n  recount show 3d2f --view strict --json\n  recount show ./session-2026-09-02T08-00-3d2f9a10.jsonl"
)]
pub(crate) struct ShowArgs {
    /// Id, its first characters, a file, @N (row of the last list) or `latest`; without one, the newest here
    session: Option<String>,

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
    #[arg(long, conflicts_with_all = ["level", "thoughts", "view", "from", "to", "find"])]
    raw: bool,

    /// First message: a number (negative: from the end), an id, or a time
    #[arg(long, value_name = "MESSAGE", allow_hyphen_values = true)]
    from: Option<String>,

    /// Last message: a number (negative: from the end), an id, or a time
    #[arg(long, value_name = "MESSAGE", allow_hyphen_values = true)]
    to: Option<String>,

    /// Only messages in which this is found; the same queries as in `recount search`
    #[arg(long, value_name = "QUERY")]
    find: Option<String>,

    /// With --find: so many messages before and behind each, too
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0, requires = "find")]
    context: usize,
}

impl ShowArgs {
    /// Asks for a session from one of its messages on.
    pub(crate) fn at(session: &str, from: Option<String>) -> Self {
        Self {
            session: Some(session.to_owned()),
            level: LevelArg::Full,
            thoughts: true,
            view: ViewArg::Full,
            raw: false,
            from,
            to: None,
            find: None,
            context: 0,
        }
    }
}

/// How much to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelArg {
    /// Prompts and answers
    Talk,
    /// And tool calls, diffs, notices
    Actions,
    /// And tool output, tokens, shell commands, summaries
    Full,
    /// Everything, with ids and places on disk
    Trace,
}

impl From<LevelArg> for Level {
    fn from(level: LevelArg) -> Self {
        match level {
            LevelArg::Talk => Self::Talk,
            LevelArg::Actions => Self::Actions,
            LevelArg::Full => Self::Full,
            LevelArg::Trace => Self::Trace,
        }
    }
}

/// Which messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViewArg {
    /// What the agent's own loader would show
    Strict,
    /// Everything that was ever said, undone messages marked
    Full,
}

pub(crate) fn run(args: &ShowArgs, context: &Context) -> Result<ExitCode, Failure> {
    let (engine, session) = match &args.session {
        Some(session) => (context.engine_for(session)?, session.clone()),
        None => {
            let engine = context.engine()?;
            (engine, picker::choose(engine, "Show", context)?)
        }
    };
    let bar = Bar::new(context, "reading the session");
    let mut opened = engine.open(&session, &bar)?;
    if context.global.json {
        engine.complete(&mut opened);
    }
    bar.finish();
    let opened = Arc::new(opened);
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
    let finder = args.find.as_deref().map(|find| engine.finder(find, &opened.facts)).transpose()?;
    let mut picked = Picked::new(finder, args.context);
    let stream = Stream::start(&opened, view, &Bounds::read(args, context)?)?;
    let late = if context.global.json {
        as_json(stream, &mut picked, &opened.facts, context)?
    } else {
        as_text(stream, &mut picked, &opened.facts, args, context)?
    };
    if args.find.is_some() && picked.found() == 0 {
        context.warn("nothing found in this session");
        return Ok(ExitCode::from(NOTHING));
    }
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

/// Messages that are read at a time.
const PAGE: usize = 16;

/// The messages to show, and how many come before them.
struct Stream {
    messages: MessageCursor,
    skipped: usize,
}

impl Stream {
    /// Picks the messages between the bounds, before anything is printed.
    fn start(opened: &Arc<Opened>, view: View, bounds: &Bounds) -> Result<Self, Failure> {
        let mut messages = MessageCursor::new(Arc::clone(opened), view);
        match messages.keep_between(bounds.from.as_ref(), bounds.to.as_ref()) {
            Ok(skipped) => Ok(Self { messages, skipped }),
            Err(bound) => {
                let words = match bound {
                    Bound::Id(id) => format!("no message '{id}' in this session"),
                    Bound::Number(_) | Bound::Time(_) => "no such message".into(),
                };
                Err(Failure::new(NOTHING, words).hint("`--level trace` shows message ids"))
            }
        }
    }

    /// Calls `each` with every message and its number; returns what could not be read.
    fn each(
        mut self,
        mut each: impl FnMut(usize, &Message) -> Result<(), Failure>,
    ) -> Result<Vec<Problem>, Failure> {
        let mut problems = Vec::new();
        let mut number = self.skipped;
        loop {
            let page = self.messages.next_page(PAGE);
            if page.is_empty() {
                return Ok(problems);
            }
            for message in page {
                number += 1;
                match message {
                    Ok(message) => {
                        problems.extend(message.located_problems());
                        each(number, &message)?;
                    }
                    Err(problem) => problems.push(problem),
                }
            }
        }
    }
}

fn as_json(
    stream: Stream,
    picked: &mut Picked,
    facts: &SessionFacts,
    context: &Context,
) -> Result<Vec<Problem>, Failure> {
    let mut document = json::Transcript::begin(context.out(Paged::No), facts)?;
    let problems = stream.each(|number, message| {
        picked.pick(number, message, |_, message| Ok(document.message(message)?))
    })?;
    for problem in &problems {
        document.problem(problem.clone());
    }
    document.end()?.finish()?;
    Ok(problems)
}

fn as_text(
    stream: Stream,
    picked: &mut Picked,
    facts: &SessionFacts,
    args: &ShowArgs,
    context: &Context,
) -> Result<Vec<Problem>, Failure> {
    let figures = match args.view {
        ViewArg::Strict => Figures::Strict,
        ViewArg::Full => Figures::Full,
    };
    let mut transcript = Transcript::new(context.canvas(), args.level.into(), args.thoughts, facts);
    let mut out = context.out(Paged::Yes);
    out.write_all(transcript.heading(facts, figures, &context.folders).as_bytes())?;
    // The first screen should not wait for a full buffer.
    let mut waiting = 8;
    let problems = stream.each(|number, message| {
        picked.pick(number, message, |number, message| {
            out.write_all(transcript.message(message, number).as_bytes())?;
            if waiting > 0 {
                waiting -= 1;
                out.flush()?;
            }
            Ok(())
        })
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
    let facts = &opened.facts;
    Ok(context.problems(&facts.problem_list, facts.problems, facts.not_understood))
}
