//! `recount guard --fix`

use std::process::ExitCode;

use recount_changes::Changes;

use super::GuardArgs;
use crate::commands::change::{files, nothing};
use crate::context::Context;
use crate::failure::{DOOMED, Failure};
use crate::output::progress::Bar;

/// Makes harmless what would take conversations along.
pub(super) fn run(args: &GuardArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let project = args.project.as_deref().map(|project| context.project_argument(project));
    let bar = Bar::new(context, "reading sessions");
    let fix = changes.fix_plan(project.as_deref(), args.release.as_deref(), &bar)?;
    bar.finish();
    let code = if fix.offer.is_empty() {
        nothing(&fix.offer, context, "nothing to fix")?
    } else {
        let done = format!("fixed: {}", files(&fix.offer.plan));
        args.consent.carry_out(&fix.offer, changes, context, &done)?
    };
    Ok(if fix.left > 0 && code == ExitCode::SUCCESS { ExitCode::from(DOOMED) } else { code })
}
