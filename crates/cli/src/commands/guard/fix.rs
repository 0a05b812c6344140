//! `recount guard --fix`

use std::process::ExitCode;

use super::GuardArgs;
use crate::commands::change::{files, nothing};
use crate::context::Context;
use crate::failure::{DOOMED, Failure};
use crate::output::progress::Bar;

/// Makes harmless what would take conversations along.
pub(super) fn run(args: &GuardArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    args.consent.recover(&engine, context)?;
    let project = args.project.as_deref().map(|project| context.project_argument(project));
    let bar = Bar::new(context, "reading sessions");
    let fix = engine.fix_plan(project.as_deref(), args.release.as_deref(), &bar)?;
    bar.finish();
    let code = if fix.plan.is_empty() {
        nothing(&fix.plan, context, "there is nothing to defuse")?
    } else {
        let done = format!("defused: {}", files(&fix.plan));
        args.consent.carry_out(&fix.plan, &engine, context, &done)?
    };
    Ok(if fix.left > 0 && code == ExitCode::SUCCESS { ExitCode::from(DOOMED) } else { code })
}
