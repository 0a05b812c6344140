//! `recount handover`

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use recount_changes::{Changes, Handover, HandoverRequest, Loss, LossKind};
use recount_engine::export::json::write_json;
use recount_engine::{Engine, source_names};
use serde_json::{Map, Value, json};

use crate::args::sources;
use crate::commands::change::{AfterChange, Consent};
use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure};
use crate::output::progress::Bar;
use crate::output::sanitize::sanitize;

/// The size of the summary in a document, in tokens.
const SUMMARY: usize = 2000;

/// Continue a session in another agent
///
/// Writes the conversation as a native session of the other agent, which lists and resumes it like its own; the old session does not
/// change. Prompts, answers, tool calls with their results, changes and attached files are kept; calls are written with the other agent's
/// tools where it has them. What cannot be kept is listed, with the number of the message. Afterwards recount reads the new session back and
/// prints the command that resumes it.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount handover 279d --to claude
  recount handover latest --to codex --summary 4000   # a summary and the last turns
  recount handover 279d --to codex --dry-run          # what would be lost
  recount handover 279d --print > HANDOVER.md         # a document for anyone")]
pub(crate) struct HandoverArgs {
    /// Session: an id or its first characters, a file, @N or `latest`
    session: String,

    /// Agent that continues it
    #[arg(long, value_name = "AGENT", value_parser = sources(), required_unless_present = "print")]
    to: Option<String>,

    /// Target project: its folder or its name; default: the project of the session
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// Hand over a summary of at most N tokens and the last turns instead of everything
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    summary: Option<u32>,

    /// Print a Markdown document instead of writing a session
    #[arg(long, conflicts_with_all = ["to", "project", "yes", "dry_run"])]
    print: bool,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &HandoverArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    let summary = args.summary.and_then(|tokens| usize::try_from(tokens).ok());
    let named = args.to.as_deref();
    let to = named.and_then(|to| source_names().into_iter().find(|name| name.as_str() == to));
    let Some(to) = to.filter(|_| !args.print) else {
        return print(args, changes, summary.unwrap_or(SUMMARY), context);
    };
    args.consent.recover(changes, context)?;
    let project = args.project.as_deref().map(|project| context.project_argument(project));
    let bar = Bar::new(context, "reading");
    let request = HandoverRequest { to, project: project.as_deref(), summary };
    let handover = changes.handover_plan(&args.session, request, &bar)?;
    bar.finish();
    let done = format!("new session {}", handover.session);
    let consent = args.consent.without_asking();
    consent.carry_out_and(&handover.offer, changes, context, &done, &mut |receipt| {
        after(&engine, &handover, receipt.is_some(), context)
    })
}

fn print(
    args: &HandoverArgs,
    changes: Changes<'_>,
    budget: usize,
    context: &Context,
) -> Result<ExitCode, Failure> {
    let bar = Bar::new(context, "reading");
    let text = changes.handover_document(&args.session, budget, &bar)?;
    bar.finish();
    let mut out = context.out(Paged::No);
    if context.global.json {
        write_json(&mut out, &json!({"schema": "recount.handover/1", "document": text}))?;
        out.write_all(b"\n")?;
    } else {
        out.write_all(sanitize(&text).as_bytes())?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the new session back and returns how to resume it. One that differs is removed again.
fn after(
    engine: &Engine,
    handover: &Handover,
    is_made: bool,
    context: &Context,
) -> Result<AfterChange, Failure> {
    let mut fields = Map::from_iter([
        ("messages".to_owned(), json!(handover.messages)),
        ("tokens".to_owned(), json!(handover.tokens)),
        ("losses".to_owned(), handover.losses.iter().map(loss).collect()),
    ]);
    if !is_made {
        return Ok(AfterChange { fields, lines: Vec::new() });
    }
    let engine = engine.afresh();
    let changes = Changes::new(&engine);
    let bar = Bar::new(context, "checking");
    if let Err(error) = changes.check_handover(handover, &bar) {
        let undo = changes.undo_plan(None)?;
        let is_it = undo.plan.sessions.iter().any(|one| one.id == handover.session.as_str());
        if is_it && error.is_mismatch() {
            changes.carry_out(undo.plan, &bar)?;
        }
        return Err(error.into());
    }
    let wanted = format!("{}:{}", handover.to, handover.session);
    let resume = engine.resume(&wanted, &bar);
    bar.finish();
    let line = match resume {
        Ok(resume) => resume.shell_line(),
        Err(error) => {
            return Err(Failure::new(ERROR, format!("the new session cannot be resumed: {error}")));
        }
    };
    fields.insert("resume".to_owned(), json!(line));
    Ok(AfterChange { fields, lines: vec![line] })
}

fn loss(loss: &Loss) -> Value {
    let Loss { kind, count, messages } = loss;
    let mut fields = json!({"kind": kind.as_str(), "count": count, "messages": messages});
    if let (LossKind::Tool(name), Some(fields)) = (kind, fields.as_object_mut()) {
        fields.insert("tool".to_owned(), json!(name));
    }
    fields
}
