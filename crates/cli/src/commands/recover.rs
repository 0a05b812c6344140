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
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;
use crate::words::remnant;

/// Rebuild a lost session from what is left on disk
///
/// Rebuilds a session whose files are gone or mostly unreadable from other sources: the agent's prompt log, telemetry, activity log, saved
/// chats, kept tool output, and the readable part of its files. The result is a new session file that the agent lists, with a notice that says what is
/// missing and where the rest comes from. Existing files are not changed. For a session that is in the trash, in the vault or in a backup, use `recount
/// restore`.
#[derive(Args, Clone, Debug)]
#[command(alias = "resurrect")]
#[command(after_help = "\
Examples:
  recount recover --list                       # what can be rebuilt, and from what
  recount recover 279d --dry-run
  recount recover 279d --from telemetry.log    # also read this file")]
pub(crate) struct RecoverArgs {
    /// Session id or its first characters; the full id if only telemetry mentions it
    #[arg(required_unless_present = "list", value_name = "SESSION")]
    session: Option<String>,

    /// List sessions that can be rebuilt
    #[arg(long, conflicts_with = "session")]
    list: bool,

    /// Also read this file: telemetry or a saved chat (repeatable)
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
    /// What it can be rebuilt from.
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
                StyledSpan::new(context.form().session(&one.lost.id), Tone::Name),
                StyledSpan::new(&project, Tone::Plain),
                StyledSpan::new(one.lost.prompts.first().map_or("-", String::as_str), Tone::Plain),
                StyledSpan::new(&one.from.join(", "), Tone::Dim),
            ]
        };
        let rows: Vec<Vec<StyledSpan>> = all.iter().map(row).collect();
        let mut out = context.out(Paged::Yes);
        out.write_all(context.table(COLUMNS, &rows).as_bytes())?;
        out.finish()?;
    }
    if all.is_empty() {
        context.warn("no session can be rebuilt");
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(ExitCode::SUCCESS)
}
