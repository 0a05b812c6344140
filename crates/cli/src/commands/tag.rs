//! `recount tag`, `recount pin`, `recount unpin`

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use recount_engine::LabelledSession;

use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure};
use crate::output::columns::{Align, Column, Fit};
use crate::output::json;
use crate::output::progress::Bar;
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;

/// Add tags to a session
///
/// Tags belong to recount: they are kept in its data folder, change no file of an agent, and stay with a session when it is
/// moved. `recount list --tag TAG` lists tagged sessions. With only a session, shows its tags; without arguments, lists all tagged sessions.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount tag 279d tax review        # add two tags
  recount tag 279d --remove review   # remove one
  recount tag                        # all sessions with tags or pins
  recount list --tag tax")]
pub(crate) struct TagArgs {
    /// Session: an id or its first characters, a file, @N or `latest`
    session: Option<String>,

    /// Tags to add; a leading + or # is ignored
    #[arg(value_name = "TAG")]
    add: Vec<String>,

    /// Remove this tag (repeatable)
    #[arg(short, long, value_name = "TAG", requires = "session")]
    remove: Vec<String>,
}

/// Pin sessions, so that `prune` keeps them
///
/// `recount prune` skips pinned sessions and `recount list --pinned` lists them. A pin belongs to recount: it does not stop the agent from
/// deleting a session; `recount guard` does.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount pin 279d
  recount list --pinned")]
pub(crate) struct PinArgs {
    /// Sessions: ids or their first characters, files, @N or `latest`
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,
}

/// Remove the pin of sessions
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount unpin 279d")]
pub(crate) struct UnpinArgs {
    /// Sessions: ids or their first characters, files, @N or `latest`
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,
}

pub(crate) fn run(args: &TagArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let bar = Bar::new(context, "reading");
    let Some(session) = &args.session else {
        let all = engine.labelled(&bar)?;
        bar.finish();
        return show(&all, context);
    };
    let (add, remove) = (tags(&args.add)?, tags(&args.remove)?);
    let change = |labels: &mut recount_model::Labels| {
        labels.tags.extend(add.iter().cloned());
        labels.tags.retain(|tag| !remove.contains(tag));
    };
    let changed = engine.change_labels(std::slice::from_ref(session), change, &bar)?;
    bar.finish();
    show(&changed, context)
}

pub(crate) fn pin(args: &PinArgs, context: &Context) -> Result<ExitCode, Failure> {
    set_pin(&args.sessions, true, context)
}

pub(crate) fn unpin(args: &UnpinArgs, context: &Context) -> Result<ExitCode, Failure> {
    set_pin(&args.sessions, false, context)
}

fn set_pin(sessions: &[String], pinned: bool, context: &Context) -> Result<ExitCode, Failure> {
    let bar = Bar::new(context, "reading");
    let engine = context.plain_engine()?;
    let changed = engine.change_labels(sessions, |labels| labels.pinned = pinned, &bar)?;
    bar.finish();
    show(&changed, context)
}

/// Reads tags: one word each, without leading markers.
fn tags(words: &[String]) -> Result<BTreeSet<String>, Failure> {
    let tag = |word: &String| {
        let tag = word.trim().trim_start_matches(['+', '#']);
        let is_odd = |letter: char| letter.is_whitespace() || letter.is_control() || letter == ',';
        if tag.is_empty() || tag.contains(is_odd) {
            return Err(Failure::new(ERROR, format!("'{word}' is not a tag"))
                .hint("a tag is one word: letters, digits, - _ . /"));
        }
        Ok(tag.to_owned())
    };
    words.iter().map(tag).collect()
}

const COLUMNS: &[Column] = &[
    Column { heading: "ID", align: Align::Left, fit: Fit::Keep },
    Column { heading: "PIN", align: Align::Left, fit: Fit::Keep },
    Column { heading: "TAGS", align: Align::Left, fit: Fit::Keep },
    Column { heading: "PROJECT", align: Align::Path, fit: Fit::Drop(1) },
    Column { heading: "TITLE", align: Align::Left, fit: Fit::Flexible },
];

fn show(sessions: &[LabelledSession], context: &Context) -> Result<ExitCode, Failure> {
    if context.global.json {
        json::document(context, "tag", "sessions", &sessions)?;
    } else if !sessions.is_empty() {
        let cells: Vec<Vec<StyledSpan>> = sessions.iter().map(|row| cells(row, context)).collect();
        let mut out = context.out(Paged::Yes);
        out.write_all(context.table(COLUMNS, &cells).as_bytes())?;
        out.finish()?;
    }
    if sessions.is_empty() {
        context.warn("no session has tags or a pin");
    }
    Ok(ExitCode::SUCCESS)
}

fn cells(row: &LabelledSession, context: &Context) -> Vec<StyledSpan> {
    let form = context.form();
    let tags: Vec<String> = row.labels.tags.iter().map(|tag| format!("#{tag}")).collect();
    let project = row.project.as_deref().map(|path| context.folders.tilde(path));
    let title = match (&row.title, row.gone) {
        (Some(title), _) => title.as_str(),
        (None, true) => "(gone)",
        (None, false) => "(no messages)",
    };
    vec![
        StyledSpan::new(&form.start(&row.id), Tone::Name),
        StyledSpan::new(if row.labels.pinned { "*" } else { "" }, Tone::Plain),
        StyledSpan::new(&tags.join(" "), Tone::Plain),
        StyledSpan::new(&project.unwrap_or_default(), Tone::Dim),
        StyledSpan::new(title, if row.gone { Tone::Dim } else { Tone::Plain }),
    ]
}
