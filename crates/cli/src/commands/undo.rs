//! `recount undo`

use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files};
use crate::context::Context;
use crate::failure::Failure;

/// Take a change back, byte for byte
///
/// Every change that recount makes has a receipt, which `recount history` lists. Without a RECEIPT, the last change that is
/// still in force. An undo is a change too, and can be undone.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount undo                    the last change\n  recount undo --dry-run          what that would do\n  \
    recount undo 20261116-093000    a certain one"
)]
pub(crate) struct UndoArgs {
    /// The receipt, or the first characters of it
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
    let done = format!("{undone} undone: {}", files(&offer.plan));
    args.consent.carry_out(&offer, changes, context, &done)
}
