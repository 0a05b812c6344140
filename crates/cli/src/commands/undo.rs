//! `recount undo`

use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files, point};
use crate::context::Context;
use crate::failure::Failure;
use crate::words;

/// Revert a change made by recount, byte for byte
///
/// Every change has a receipt, listed by `recount history`. Without a RECEIPT, reverts the last change that is still in effect. An undo is a
/// change too, and can be undone. To bring back a deleted session by its id, use `recount restore`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount undo                       # the last change
  recount undo --dry-run             # what that would do
  recount undo 20261116-093000       # the change with this receipt")]
pub(crate) struct UndoArgs {
    /// Receipt or its first characters
    receipt: Option<String>,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &UndoArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let offer = changes.undo_plan(args.receipt.as_deref())?;
    let undone =
        offer.plan.undoes.as_ref().map(|undoes| undoes.receipt.clone()).unwrap_or_default();
    let history = changes.history()?;
    if let Some(change) = history.iter().find(|change| change.receipt == undone) {
        let why = if args.receipt.is_some() {
            String::new()
        } else if history.first().is_some_and(|last| last.receipt == undone) {
            ", the last change".to_owned()
        } else {
            ", the last change that is not undone yet".to_owned()
        };
        point(&format!("undo {}{why}", words::described(change, context.clock.now())), context)?;
    }
    let done = format!("{undone} undone: {}", files(&offer.plan));
    args.consent.carry_out(&offer, changes, context, &done)
}
