//! One line for prompts and status bars, and the budget check.

use std::io::Write as _;
use std::process::ExitCode;

use jiff::tz::TimeZone;
use recount_display::usage::{cost, over_budget};
use recount_engine::Engine;
use recount_engine::stats::Budget;

use super::print_json;
use crate::context::{Context, Paged};
use crate::failure::{Failure, NOTHING};
use crate::output::number::count;
use crate::output::sanitize::single_line;

/// Prints the line.
pub(super) fn run(
    engine: &Engine,
    zone: &TimeZone,
    check_budget: bool,
    context: &Context,
) -> Result<ExitCode, Failure> {
    let now = engine.now(zone, &())?;
    if context.global.json {
        print_json(context, &now)?;
    } else {
        let mut line = format!("{} tok  {}", count(now.today.tokens.total), cost(&now.today));
        if let Some(tokens) = now.context_tokens {
            line = format!("{line}  ctx {}", count(tokens));
        }
        let mut out = context.out(Paged::No);
        writeln!(out, "{}", single_line(&line))?;
        out.finish()?;
    }
    if check_budget { check(engine, zone, context) } else { Ok(ExitCode::SUCCESS) }
}

/// Checks whether spending exceeds the budget.
pub(super) fn check(
    engine: &Engine,
    zone: &TimeZone,
    context: &Context,
) -> Result<ExitCode, Failure> {
    let budget = engine.budget(zone, &())?;
    if budget.limits().next().is_none() {
        context.warn(
            "no budget is set; write `[budget]` and `daily = 5` or `monthly = 80` in config.toml",
        );
    }
    if context.global.json {
        print_json(context, &budget)?;
    }
    warn_over(&budget, context);
    let is_over = budget.limits().any(|(_, limit)| limit.is_over());
    Ok(if is_over { ExitCode::from(NOTHING) } else { ExitCode::SUCCESS })
}

/// Warns about exceeded limits.
pub(super) fn warn_over(budget: &Budget, context: &Context) {
    for (span, limit) in budget.limits().filter(|(_, limit)| limit.is_over()) {
        context.warn(&over_budget(span, limit));
    }
}
