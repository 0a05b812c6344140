//! Shared by all commands that change something: shows the plan, asks for confirmation, and prints the receipt.

mod table;

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use recount_changes::{Changes, Proposal, Recovered};
use recount_platform::is_temporary;
use serde_json::{Map, Value};

use crate::context::{Context, Out, Paged};
use crate::failure::{ERROR, Failure, REFUSED};
use crate::output::json;
use crate::output::progress::Bar;
use crate::output::span::{Line, StyledSpan};
use crate::output::theme::Tone;
use crate::words;

pub(crate) use recount_display::plan::{files, saved, sessions, shrunk};

/// What a command prints after a change.
#[derive(Debug, Default)]
pub(crate) struct AfterChange {
    /// Lines for people.
    pub(crate) lines: Vec<String>,
    /// Fields of the JSON document.
    pub(crate) fields: Map<String, Value>,
}

/// How a change is agreed to.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Consent {
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,

    /// Show the plan and change nothing
    #[arg(short = 'n', long, conflicts_with = "yes")]
    dry_run: bool,
}

impl Consent {
    /// Shows what would change, and changes nothing without `--yes`.
    pub(crate) fn without_yes_dry_run(self) -> Self {
        Self { dry_run: self.dry_run || !self.yes, ..self }
    }

    /// Carries out the change without asking if it removes nothing and can be undone.
    pub(crate) fn without_asking(self) -> Self {
        Self { yes: !self.dry_run, ..self }
    }

    /// Whether `--yes` was given.
    pub(crate) fn is_agreed(self) -> bool {
        self.yes
    }

    /// Recovers interrupted changes, before anything is planned.
    pub(crate) fn recover(self, changes: Changes<'_>, context: &Context) -> Result<(), Failure> {
        report_damaged(changes, context)?;
        if self.dry_run {
            if changes.is_cut_short()? {
                context
                    .warn("an earlier change was interrupted; the next change completes it first");
            }
            return Ok(());
        }
        let bar = Bar::new(context, "reading");
        let recovered = changes.recover(&bar)?;
        bar.finish();
        report_recovered(&recovered, context);
        Ok(())
    }

    /// Shows a plan, asks, carries it out, and prints how to undo it. `done` is the success message.
    pub(crate) fn carry_out(
        self,
        offer: &Proposal,
        changes: Changes<'_>,
        context: &Context,
        done: &str,
    ) -> Result<ExitCode, Failure> {
        self.carry_out_and(offer, changes, context, done, &mut |_| Ok(AfterChange::default()))
    }

    /// The same, and then something else: `after` is called with the receipt once the change is made, or with `None` if it only was
    /// planned.
    pub(crate) fn carry_out_and(
        self,
        offer: &Proposal,
        changes: Changes<'_>,
        context: &Context,
        done: &str,
        after: &mut dyn FnMut(Option<&str>) -> Result<AfterChange, Failure>,
    ) -> Result<ExitCode, Failure> {
        if !context.global.json {
            let mut out = context.out(Paged::No);
            let page =
                if offer.is_empty() { String::new() } else { table::plan(&offer.plan, context) };
            out.write_all(page.as_bytes())?;
            out.finish()?;
            print_notices(offer, context);
        }
        let completed = context.global.json.then(|| {
            let bar = Bar::new(context, "reading");
            let completed = offer.completed();
            bar.finish();
            completed
        });
        let completed = completed.transpose()?;
        let offer = completed.as_ref().unwrap_or(offer);
        if self.dry_run || offer.is_empty() {
            if context.global.json {
                print_plan(offer, None, &after(None)?.fields, context)?;
            } else if offer.is_empty() {
                context.warn("nothing to change");
            } else {
                context.warn("nothing was changed (--dry-run)");
            }
            return Ok(ExitCode::SUCCESS);
        }
        if !self.yes {
            ask(&offer.plan.command)?;
        }
        let bar = Bar::new(context, "changing");
        let made = changes.carry_out(offer.plan.clone(), &bar)?;
        bar.finish();
        report_recovered(&made.recovered, context);
        let receipt = &made.receipt;
        let more = after(Some(receipt))?;
        if context.global.json {
            print_plan(offer, Some(receipt), &more.fields, context)?;
        } else {
            context.warn(&format!("{done}; `recount undo {receipt}` reverts it"));
            let mut out = context.out(Paged::No);
            more.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            out.finish()?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Whether `--dry-run` was given.
    pub(crate) fn is_dry_run(self) -> bool {
        self.dry_run
    }

    /// The same, unless the plan is empty: then `nothing` is printed.
    pub(crate) fn carry_out_or_report(
        self,
        offer: &Proposal,
        changes: Changes<'_>,
        context: &Context,
        done: &str,
        nothing: &str,
    ) -> Result<ExitCode, Failure> {
        if !offer.is_empty() {
            return self.carry_out(offer, changes, context, done);
        }
        self::nothing(offer, context, nothing)
    }

    /// Asks before an operation without a plan of files.
    pub(crate) fn agree(self, question: &str) -> Result<bool, Failure> {
        if self.dry_run {
            return Ok(false);
        }
        if !self.yes {
            ask(question)?;
        }
        Ok(true)
    }
}

/// Returns the path of this program, which agents are to start: it must still be there tomorrow. `flag` names another one.
pub(crate) fn own_program(context: &Context, flag: &str) -> Result<PathBuf, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::new(ERROR, format!("cannot find the path of this program: {error}"))
    })?;
    if is_temporary(&context.env, &program) {
        let shown = program.display();
        let why = format!("{shown} is in a temporary folder: agents would soon start nothing");
        let hint = format!("install recount in a permanent folder, or name one with {flag}");
        return Err(Failure::new(REFUSED, why).hint(hint));
    }
    Ok(program)
}

/// Prints a one-line summary of a plan, above its files.
pub(crate) fn point(words: &str, context: &Context) -> Result<(), Failure> {
    if context.global.json {
        return Ok(());
    }
    let mut out = context.out(Paged::No);
    let line = Line::new([StyledSpan::new(words, Tone::Strong)]);
    out.write_all(context.page().print([line]).as_bytes())?;
    out.finish()?;
    Ok(())
}

/// Reports a plan in which nothing changes.
pub(crate) fn nothing(
    offer: &Proposal,
    context: &Context,
    message: &str,
) -> Result<ExitCode, Failure> {
    if context.global.json {
        print_plan(offer, None, &Map::new(), context)?;
    } else {
        print_notices(offer, context);
        context.warn(message);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints a plan for programs.
fn print_plan(
    offer: &Proposal,
    receipt: Option<&str>,
    more: &Map<String, Value>,
    context: &Context,
) -> Result<(), Failure> {
    let write =
        |out: &mut Out| recount_documents::plan_and(out, offer, &context.folders, receipt, more);
    Ok(json::print(context, write)?)
}

/// Prints the notices of a proposal.
fn print_notices(offer: &Proposal, context: &Context) {
    for notice in &offer.notices {
        context.warn(&words::notice(notice, &context.folders));
    }
}

/// Reports invalid journals: their changes are neither finished nor undone.
pub(crate) fn report_damaged(changes: Changes<'_>, context: &Context) -> Result<(), Failure> {
    for (path, why) in changes.damaged_journals()? {
        let path = context.folders.tilde(&path.to_string_lossy());
        context.warn(&format!("cannot read a journal, ignored: {path}: {why}"));
    }
    Ok(())
}

/// Asks on the terminal; without a terminal, or without a yes, the change is refused.
fn ask(what: &str) -> Result<(), Failure> {
    let (stdin, mut stderr) = (io::stdin(), io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return Err(Failure::new(REFUSED, "nothing was changed: confirmation needs a terminal")
            .hint("add --yes to confirm, or --dry-run to see the plan only"));
    }
    let _asked = write!(stderr, "{what}? [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new(REFUSED, "nothing was changed: not confirmed")),
    }
}

fn report_recovered(recovered: &[Recovered], context: &Context) {
    for Recovered { id, command, finished, left } in recovered {
        let what = if *finished { "finished" } else { "rolled back" };
        context.warn(&format!("an earlier {command} ({id}) was interrupted and is now {what}"));
        for path in left {
            let path = context.folders.tilde(&path.to_string_lossy());
            context.warn(&format!("{path} was changed by another program and is left as it is"));
        }
    }
}
