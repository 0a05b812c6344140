//! Compares the count with that of another tool.

use std::process::ExitCode;

use recount_engine::stats::{Compared, ComparedDay};

use super::print;
use crate::context::Context;
use crate::failure::{Failure, NOTHING};
use crate::output::columns::{Align, Column, Fit};
use crate::output::json;
use crate::output::number::{grouped, money};
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;
use crate::words;

/// Shows two counts side by side.
pub(super) fn show(compared: &Compared, context: &Context) -> Result<ExitCode, Failure> {
    if context.global.json {
        json::print(context, |out| recount_documents::compared(out, compared))?;
    } else {
        let mut cells: Vec<Vec<StyledSpan>> =
            compared.days.iter().map(|day| row(day, Tone::Plain)).collect();
        cells.push(row(&compared.total, Tone::Strong));
        print(context, &context.table(COLUMNS, &cells))?;
    }
    if compared.days.is_empty() {
        context.warn("nothing to compare");
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(ExitCode::SUCCESS)
}

const COLUMNS: &[Column] = &[
    Column { heading: "DAY", align: Align::Left, fit: Fit::Keep },
    Column { heading: "TOKENS", align: Align::Right, fit: Fit::Keep },
    Column { heading: "THEIRS", align: Align::Right, fit: Fit::Keep },
    Column { heading: "COST", align: Align::Right, fit: Fit::Drop(2) },
    Column { heading: "THEIRS", align: Align::Right, fit: Fit::Drop(1) },
    Column { heading: "WHY", align: Align::Left, fit: Fit::Flexible },
];

fn row(day: &ComparedDay, tone: Tone) -> Vec<StyledSpan> {
    let cell = |text: &str| StyledSpan::new(text, tone);
    let why: Vec<String> = day.why.iter().copied().map(words::compare_reason).collect();
    let why = if why.is_empty() { "the same".to_owned() } else { why.join("; ") };
    let differs = if day.why.is_empty() { Tone::Dim } else { Tone::Warning };
    vec![
        StyledSpan::new(&day.day, if tone == Tone::Plain { Tone::Name } else { tone }),
        cell(&grouped(day.tokens.into())),
        cell(&grouped(day.their_tokens.into())),
        cell(&money(day.cost_usd)),
        cell(&format!("${:.4}", day.their_cost_usd)),
        StyledSpan::new(&why, differs),
    ]
}
