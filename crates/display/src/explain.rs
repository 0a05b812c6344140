//! The calculation of a cost: each request, its prices, and the running total.

use std::fmt::Write as _;

use recount_engine::stats::{Explained, ExplainedLine, Money, Tier, Unit};
use recount_model::Fate;

use super::columns::{Align, Column, Fit};
use super::number::{count, grouped, million, plural, plural_exact};
use super::span::StyledSpan;
use super::theme::Tone;
use crate::{when, words};

/// The columns of the calculation.
pub const COLUMNS: &[Column] = &[
    Column { heading: "TIME", align: Align::Left, fit: Fit::Keep },
    Column { heading: "SESSION", align: Align::Left, fit: Fit::Drop(3) },
    Column { heading: "MODEL", align: Align::Left, fit: Fit::Flexible },
    Column { heading: "NEW", align: Align::Right, fit: Fit::Drop(10) },
    Column { heading: "IN $/M", align: Align::Right, fit: Fit::Drop(5) },
    Column { heading: "CACHED", align: Align::Right, fit: Fit::Drop(9) },
    Column { heading: "CACHE $/M", align: Align::Right, fit: Fit::Drop(5) },
    Column { heading: "OUT+THOUGHTS", align: Align::Right, fit: Fit::Drop(8) },
    Column { heading: "OUT $/M", align: Align::Right, fit: Fit::Drop(5) },
    Column { heading: "TOOL", align: Align::Right, fit: Fit::Drop(1) },
    Column { heading: "TIER", align: Align::Left, fit: Fit::Drop(4) },
    Column { heading: "COST", align: Align::Right, fit: Fit::Keep },
    Column { heading: "SUM", align: Align::Right, fit: Fit::Keep },
    Column { heading: "NOTES", align: Align::Left, fit: Fit::Drop(2) },
];

/// Returns the cells of a request.
pub fn row(line: &ExplainedLine) -> Vec<StyledSpan> {
    let tokens = &line.tokens;
    let plain = |text: &str| StyledSpan::new(text, Tone::Plain);
    let dim = |text: &str| StyledSpan::new(text, Tone::Dim);
    let number = |number: u64| plain(&grouped(number.into()));
    let price =
        |unit: Option<Unit>| dim(&unit.map(|unit| bare(unit.of_a_million())).unwrap_or_default());
    let tier = match line.tier {
        Some(Tier::Above(tokens)) => format!("> {}", count(tokens)),
        Some(Tier::Base) | None => String::new(),
    };
    let cost = line.cost_usd.map_or_else(|| "–".to_owned(), exact);
    let thoughts = match tokens.thoughts {
        0 => grouped(tokens.output.into()),
        thoughts => format!("{}+{}", grouped(tokens.output.into()), grouped(thoughts.into())),
    };
    vec![
        dim(&line.time.map(when::second).unwrap_or_default()),
        StyledSpan::new(line.session.prefix(), Tone::Name),
        plain(line.model.as_deref().unwrap_or("(none)")),
        number(tokens.input.saturating_sub(tokens.cached)),
        price(line.prices.map(|prices| prices.input)),
        number(tokens.cached),
        price(line.prices.map(|prices| prices.cached)),
        plain(&thoughts),
        price(line.prices.map(|prices| prices.output)),
        number(tokens.tool),
        dim(&tier),
        plain(&cost),
        StyledSpan::new(&exact(line.sum_usd), Tone::Strong),
        StyledSpan::new(&notes(line), Tone::Warning),
    ]
}

fn notes(line: &ExplainedLine) -> String {
    let mut notes = Vec::new();
    if line.parent.is_some() {
        notes.push("sub-agent".to_owned());
    }
    if line.fate != Fate::Kept {
        notes.push(line.fate.to_string());
    }
    if line.hidden_rounds > 0 {
        let rounds = plural_exact(line.hidden_rounds, "round");
        notes.push(format!("+{rounds} without figures"));
    }
    if line.first_figures {
        notes.push("first figures".to_owned());
    }
    notes.join(", ")
}

/// Formats a price without the sign.
fn bare(price: Money) -> String {
    million(price).trim_start_matches('$').to_owned()
}

/// Formats money to the millionth of a dollar: enough to add up by hand.
fn exact(money: Money) -> String {
    let (whole, part) = money.rounded(6);
    format!("${}.{part:06}", grouped(whole))
}

/// Returns the total again, and what is not included.
pub fn working(explained: &Explained) -> String {
    let (total, basis) = (&explained.total, &explained.basis);
    let tokens = &total.tokens;
    let mut text = format!(
        "\n{} = {} new + {} cached + {} out + {} thoughts + {} tool tokens in {}\n",
        // Not marked: it is the sum of these requests, and what is missing is listed below.
        total.cost_usd.map_or_else(|| "–".to_owned(), exact),
        grouped(tokens.input.saturating_sub(tokens.cached).into()),
        grouped(tokens.cached.into()),
        grouped(tokens.output.into()),
        grouped(tokens.thoughts.into()),
        grouped(tokens.tool.into()),
        plural(total.requests, "request"),
    );
    let duplicates = &basis.duplicates;
    let duplicates = worded([
        (
            duplicates.repeated,
            "record was written again in the same file",
            "records were written again in the same file",
        ),
        (
            duplicates.copied,
            "request is also in other files of its session",
            "requests are also in other files of their session",
        ),
        (
            duplicates.elsewhere,
            "request is also in other sessions",
            "requests are also in other sessions",
        ),
    ]);
    let mut list = |heading: &str, reasons: Vec<(u64, &str)>| {
        if !reasons.is_empty() {
            // Writing to a string cannot fail.
            let _written = writeln!(text, "{heading}");
        }
        for (number, reason) in reasons {
            let _written = writeln!(text, "{:>9}  {reason}", grouped(number.into()));
        }
    };
    list("counted once:", duplicates);
    let missing = total.missing.reasons().into_iter();
    let missing = missing.map(|(number, reason)| (number, words::missing(reason, number)));
    list("billed, but not on record:", missing.collect());
    let undone = [(
        total.undone,
        "request whose answer was undone later: billed, and part of the sum",
        "requests whose answers were undone later: billed, and part of the sum",
    )];
    list("counted all the same:", worded(undone));
    text
}

/// Returns the numbers that are not 0, each with its words: for one, or for several.
fn worded(
    reasons: impl IntoIterator<Item = (u64, &'static str, &'static str)>,
) -> Vec<(u64, &'static str)> {
    let words = |(number, one, many)| (number, if number == 1 { one } else { many });
    reasons.into_iter().filter(|(number, _, _)| *number > 0).map(words).collect()
}
