//! `recount rename`

use std::process::ExitCode;

use clap::Args;
use recount_changes::Changes;

use crate::commands::change::{Consent, files, point};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Give a session a title, also where the agent itself shows it
///
/// The title goes into the session's own files, as a summary that the agent made would, and so into its lists. Without a TITLE,
/// or with --clear, the session has none of its own any more and is called by its first prompt.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount rename 3d2f Tax rates by country\n  recount rename @3 --clear\n  recount undo                    and back"
)]
pub(crate) struct RenameArgs {
    /// The session
    session: String,

    /// The title; quotes are not needed
    #[arg(value_name = "TITLE")]
    title: Vec<String>,

    /// Take its own title away
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
