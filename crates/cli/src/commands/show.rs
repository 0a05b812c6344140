//! `recount show`

mod follow;

use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use recount_blocks::Level;
use recount_documents::TranscriptDocument;
use recount_engine::{Bound, MessageCursor, Opened, View};
use recount_model::{Message, Problem, SessionFacts, What};

use super::picked::Picked;
use super::picker;
use crate::context::{Context, Out, Paged};
use crate::failure::{ERROR, Failure, NOTHING};
use crate::output::progress::Bar;
use crate::output::sanitize::sanitize;
use crate::output::transcript::{Figures, Transcript};
use crate::when;

/// Show the transcript of a session
///
/// Shows prompts, answers as Markdown, tool calls with their key argument, diffs and pauses, in a pager when on a terminal. A
/// path shows a file that is not in your home: a session file, a saved chat, an export.
#[derive(Args, Clone, Debug)]
#[command(visible_alias = "cat")]
#[command(after_help = "\
Examples:
  recount show latest
  recount show 279d --level details --thoughts
  recount show @2 --messages -20..   # the last 20 messages
  recount show 279d --find discount -C 1")]
pub(crate) struct ShowArgs {
    /// Session: an id or its first characters, a file, @N or `latest`; default: the newest here
    session: Option<String>,

    /// Amount of detail
    #[arg(short, long, value_name = "LEVEL", default_value = "actions")]
    level: LevelArg,

    /// Show the model's thoughts
    #[arg(short, long)]
    thoughts: bool,

    /// Which messages to show
    #[arg(long, value_name = "VIEW", default_value = "full")]
    view: ViewArg,

    /// Print the files byte for byte
    #[arg(long, conflicts_with_all = ["level", "thoughts", "view", "messages", "from", "to", "find"])]
    raw: bool,

    /// Range of messages: numbers (negative: from the end), ids or times; either end may be missing
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true, conflicts_with_all = ["from", "to"])]
    messages: Option<String>,

    /// First message; now the start of --messages
    #[arg(long, value_name = "MESSAGE", allow_hyphen_values = true, hide = true)]
    from: Option<String>,

    /// Last message; now the end of --messages
    #[arg(long, value_name = "MESSAGE", allow_hyphen_values = true, hide = true)]
    to: Option<String>,

    /// Only messages that match this query (as in `recount search`)
    #[arg(long, value_name = "QUERY")]
    find: Option<String>,

    /// Messages of context around each match of --find
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0, requires = "find")]
    context: usize,

    /// Keep printing messages as they are written
    #[arg(short = 'F', long, conflicts_with_all = ["raw", "find", "messages", "from", "to"])]
    follow: bool,
}

impl ShowArgs {
    /// Returns the arguments to show a session from one of its messages on.
    pub(crate) fn at(session: &str, from: Option<String>) -> Self {
        Self {
            session: Some(session.to_owned()),
            level: LevelArg::Details,
            thoughts: true,
            view: ViewArg::Full,
            raw: false,
            messages: None,
            from,
            to: None,
            find: None,
            context: 0,
            follow: false,
        }
    }
}

/// How much to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelArg {
    /// Prompts and answers
    Talk,
    /// Also tool calls, diffs and notices
    Actions,
    /// Also tool output, tokens, shell commands and summaries
    #[value(alias = "full")]
    Details,
    /// Everything, with ids and file positions
    Trace,
}

impl From<LevelArg> for Level {
    fn from(level: LevelArg) -> Self {
        match level {
            LevelArg::Talk => Self::Talk,
            LevelArg::Actions => Self::Actions,
            LevelArg::Details => Self::Full,
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
    let (engine, session) = if let Some(session) = &args.session {
        (context.engine_for(session)?, session.clone())
    } else {
        let engine = context.engine()?;
        (engine, picker::choose(engine, "Show", context)?)
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
    if args.follow {
        return follow::run(&opened, view, args, context);
    }
    if view == View::Strict && !opened.is_loadable() {
        context.warn("the agent cannot load this session: its strict view is empty");
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
        context.warn("no matches in this session");
        return Ok(ExitCode::from(NOTHING));
    }
    let facts = &opened.facts;
    let total = facts.problems + late.len() as u64;
    let code =
        context.problems(facts.problem_list.iter().chain(&late), total, facts.not_understood);
    unread(facts, context).map_or(Ok(code), Err)
}

/// Returns the failure of a session of which nothing could be read: an empty transcript is no answer.
pub(super) fn unread(facts: &SessionFacts, context: &Context) -> Option<Failure> {
    let is_unread = |problem: &&Problem| problem.what == What::Unreadable;
    let problem = facts.problem_list.iter().find(is_unread)?;
    let file = context.folders.tilde(&problem.file);
    let failure = Failure::new(
        ERROR,
        format!("{} cannot be shown: {file} {}", facts.id.prefix(), problem.what.phrase()),
    );
    (facts.counts.messages == 0).then_some(failure)
}

struct Bounds {
    from: Option<Bound>,
    to: Option<Bound>,
}

impl Bounds {
    fn read(args: &ShowArgs, context: &Context) -> Result<Self, Failure> {
        let bound = |text: &str| {
            if let Ok(number) = text.parse() {
                return Bound::Number(number);
            }
            match when::parse(text, context.clock.now()) {
                Ok(time) => Bound::Time(time),
                Err(_) => Bound::Id(text.to_owned()),
            }
        };
        let (from, to) = match &args.messages {
            Some(range) => ends(range),
            None => (args.from.as_deref(), args.to.as_deref()),
        };
        let bounds = Self { from: from.map(bound), to: to.map(bound) };
        if [&bounds.from, &bounds.to].contains(&&Some(Bound::Number(0))) {
            return Err(Failure::new(ERROR, "messages are counted from 1"));
        }
        Ok(bounds)
    }
}

/// Splits `FROM..TO`; a single message is a range of one.
fn ends(range: &str) -> (Option<&str>, Option<&str>) {
    let (from, to) = range.split_once("..").unwrap_or((range, range));
    (Some(from).filter(|from| !from.is_empty()), Some(to).filter(|to| !to.is_empty()))
}

/// The number of messages that are read at a time.
const PAGE: usize = 16;

/// The messages to show, and the number before them.
struct Stream {
    messages: MessageCursor,
    skipped: usize,
}

impl Stream {
    /// Selects the messages between the bounds, before anything is printed.
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

    /// Calls `each` with every message and its number; returns the problems.
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
    let mut document = TranscriptDocument::begin(context.out(Paged::No), facts)?;
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

/// Prints the files unchanged, escaped if standard output is a terminal.
fn raw(opened: &Opened, context: &Context) -> Result<ExitCode, Failure> {
    let mut out: Out = context.out(Paged::Yes);
    let several = opened.files().count() > 1;
    for file in opened.files() {
        if several {
            out.flush()?;
            context.warn(&format!("{} ({})", file.path.display(), file.role.as_str()));
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
