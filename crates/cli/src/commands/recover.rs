//! `recount recover`

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use recount_changes::{Changes, RecoverableSession};
use recount_engine::LostSession;
use serde::Serialize;

use crate::commands::change::Consent;
use crate::context::{Context, Paged};
use crate::failure::{Failure, NOTHING};
use crate::output::columns::{Align, Column, Fit};
use crate::output::json;
use crate::output::progress::Bar;
use crate::output::span::Span;
use crate::output::theme::Tone;
use crate::words::remnant;

/// Rebuild a lost session from what is left on disk
///
/// A session whose files are gone, or of which little can be read, is put together from what was kept elsewhere: the agent's log of
/// prompts, telemetry, its activity log, saved chats, kept outputs of tools, and what of its files can be read. It becomes
/// a new session file that the agent lists; a notice in it tells what is missing and where the rest comes from. No
/// file that is there is changed.
#[derive(Args, Clone, Debug)]
#[command(alias = "resurrect")]
#[command(
    after_help = "Examples:\n  recount recover --list                       what could be brought back, and from what\n  \
    recount recover 3d2f --dry-run\n  recount recover 3d2f --from telemetry.log    a file that recount does not know of"
)]
pub(crate) struct RecoverArgs {
    /// The session; a whole id if only telemetry knows of it
    #[arg(required_unless_present = "list", value_name = "SESSION")]
    session: Option<String>,

    /// List sessions of which only traces are left
    #[arg(long, conflicts_with = "session")]
    list: bool,

    /// Look into this file, too: telemetry, or a saved chat
    #[arg(long, value_name = "FILE")]
    from: Vec<PathBuf>,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &RecoverArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    let bar = Bar::new(context, "reading");
    let Some(session) = &args.session else {
        let all = changes.recoverable_sessions(&bar)?;
        bar.finish();
        return list(&all, context);
    };
    args.consent.recover(changes, context)?;
    let from: Vec<PathBuf> = args.from.iter().map(|path| context.absolute(path)).collect();
    let offer = changes.recover_plan(session, &from, &bar)?;
    bar.finish();
    let id = offer.plan.sessions.first().map(|new| new.id.clone()).unwrap_or_default();
    let done = format!("session {id} written down");
    args.consent.carry_out(&offer, changes, context, &done)
}

const COLUMNS: &[Column] = &[
    Column { heading: "SESSION", align: Align::Left, fit: Fit::Keep },
    Column { heading: "PROJECT", align: Align::Left, fit: Fit::Drop(1) },
    Column { heading: "FIRST PROMPT", align: Align::Left, fit: Fit::Flexible },
    Column { heading: "LEFT", align: Align::Left, fit: Fit::Flexible },
];

#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    lost: &'a LostSession,
    /// From what it can be written down again.
    from: Vec<String>,
}

impl<'a> Row<'a> {
    fn new(one: &'a RecoverableSession) -> Self {
        Self { lost: &one.lost, from: one.from.iter().map(remnant).collect() }
    }
}

fn list(all: &[RecoverableSession], context: &Context) -> Result<ExitCode, Failure> {
    let all: Vec<Row<'_>> = all.iter().map(Row::new).collect();
    if context.global.json {
        json::document(context, "resurrect", "sessions", &all)?;
    } else if !all.is_empty() {
        let row = |one: &Row<'_>| {
            let project = one.lost.project.path.as_ref();
            let project =
                project.map_or("-".to_owned(), |path| context.folders.tilde(path.as_str()));
            vec![
                Span::new(context.form().session(&one.lost.id), Tone::Name),
                Span::new(&project, Tone::Plain),
                Span::new(one.lost.prompts.first().map_or("-", String::as_str), Tone::Plain),
                Span::new(&one.from.join(", "), Tone::Dim),
            ]
        };
        let rows: Vec<Vec<Span>> = all.iter().map(row).collect();
        let mut out = context.out(Paged::Yes);
        out.write_all(context.table(COLUMNS, &rows).as_bytes())?;
        out.finish()?;
    }
    if all.is_empty() {
        context.warn("no session is known of which only traces are left");
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(ExitCode::SUCCESS)
}
