//! `recount guard --retention`

use std::process::ExitCode;

use recount_changes::{Changes, RetentionWanted};

use super::GuardArgs;
use crate::commands::change::nothing;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Reads `off`, `90` or `90d`.
pub(super) fn wanted(text: &str) -> Result<RetentionWanted, String> {
    if text.eq_ignore_ascii_case("off") {
        return Ok(RetentionWanted::Forever);
    }
    match text.strip_suffix('d').unwrap_or(text).parse() {
        Ok(days) if days > 0 => Ok(RetentionWanted::Days(days)),
        _ => Err("give `off` or a number of days".to_owned()),
    }
}

/// Sets how long the agent keeps sessions.
pub(super) fn run(
    wanted: RetentionWanted,
    args: &GuardArgs,
    context: &Context,
) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let bar = Bar::new(context, "reading sessions");
    let offer = changes.retention_plan(wanted, args.release.as_deref(), &bar)?;
    bar.finish();
    let says = match wanted {
        RetentionWanted::Forever => "the agent deletes no session by itself".to_owned(),
        RetentionWanted::Days(days) => format!("the agent keeps sessions for {days} days"),
    };
    if offer.is_empty() {
        return nothing(&offer, context, &format!("it is set already: {says}"));
    }
    args.consent.carry_out(&offer, changes, context, &says)
}
