//! `recount rename`

use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files, point};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Set the title of a session
///
/// Writes the title into the session's files, where the agent also shows it. With --clear, the title is removed and the
/// session is listed by its first prompt.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount rename 279d Quantity discount
  recount rename @3 --clear
  recount undo                       # restore the previous title")]
pub(crate) struct RenameArgs {
    /// Session: an id or its first characters, a file, @N or `latest`
    session: String,

    /// Title; quotes are optional
    #[arg(value_name = "TITLE", required_unless_present = "clear")]
    title: Vec<String>,

    /// Remove the title
    #[arg(long, conflicts_with = "title")]
    clear: bool,

    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(args: &RenameArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let title = args.title.join(" ");
    let bar = Bar::new(context, "reading");
    let offer = changes.rename_plan(&args.session, Some(title.as_str()), &bar)?;
    bar.finish();
    let old = offer.plan.sessions.first().and_then(|subject| subject.title.clone());
    let old = old.unwrap_or_else(|| "(no title)".to_owned());
    let new = if title.is_empty() { "(its first prompt)" } else { &title };
    if !offer.is_empty() {
        point(&format!("{old} → {new}"), context)?;
    }
    let done = format!("title set: {}", files(&offer.plan));
    args.consent.without_asking().carry_out(&offer, changes, context, &done)
}
