//! The calculation: each request, its prices, and the running total.

use std::io::Write as _;
use std::process::ExitCode;

use recount_engine::export::csv;
use recount_engine::stats::{Explained, Money, Tier, Unit};

use super::{Bound, end, print_json};
use crate::context::{Context, Paged};
use crate::failure::Failure;
use crate::output::columns::render;
use crate::output::explain::{COLUMNS, row, working};
use crate::output::span::StyledSpan;

/// Shows the calculation.
pub(super) fn show(
    explained: &Explained,
    is_csv: bool,
    context: &Context,
) -> Result<ExitCode, Failure> {
    if context.global.json {
        print_json(context, explained)?;
    } else if is_csv {
        print_csv(explained, context)?;
    } else {
        let mut out = context.out(Paged::Yes);
        let cells: Vec<Vec<StyledSpan>> = explained.requests.iter().map(row).collect();
        out.write_all(render(COLUMNS, &cells, &context.page()).as_bytes())?;
        out.write_all(working(explained).as_bytes())?;
        out.finish()?;
    }
    let bound = if is_csv { Bound::Unmarked } else { Bound::Explained };
    Ok(end(context, &explained.total, &explained.basis, bound))
}

const CSV: &[&str] = &[
    "time",
    "session",
    "parent",
    "model",
    "fate",
    "input",
    "output",
    "cached",
    "thoughts",
    "tool",
    "total",
    "tier",
    "input_price",
    "cached_price",
    "output_price",
    "cost_usd",
    "sum_usd",
];

fn print_csv(explained: &Explained, context: &Context) -> Result<(), Failure> {
    let mut out = context.out(Paged::No);
    csv::row(&mut out, CSV.iter().map(|name| csv::CsvCell::Text(name)))?;
    for line in &explained.requests {
        let time = line.time.map(|time| format!("{time:.3}")).unwrap_or_default();
        let fate = line.fate.to_string();
        let parent = line.parent.as_ref().map_or("", |parent| parent.as_str());
        let tier = match line.tier {
            Some(Tier::Above(tokens)) => format!("above {tokens}"),
            Some(Tier::Base) => "base".to_owned(),
            None => String::new(),
        };
        let texts = [
            time.as_str(),
            line.session.as_str(),
            parent,
            line.model.as_deref().unwrap_or_default(),
            &fate,
        ];
        let tokens = &line.tokens;
        let counts = [
            tokens.input,
            tokens.output,
            tokens.cached,
            tokens.thoughts,
            tokens.tool,
            tokens.total,
        ];
        let dollars = |money: Money| money.dollars().to_string();
        let unit =
            |unit: Option<Unit>| unit.map(|unit| dollars(unit.of_a_million())).unwrap_or_default();
        let money = [
            unit(line.prices.map(|prices| prices.input)),
            unit(line.prices.map(|prices| prices.cached)),
            unit(line.prices.map(|prices| prices.output)),
            line.cost_usd.map(dollars).unwrap_or_default(),
            dollars(line.sum_usd),
        ];
        let cells = texts.into_iter().map(csv::CsvCell::Text);
        let cells = cells.chain(counts.map(|number| csv::CsvCell::Number(number.to_string())));
        let cells = cells.chain([csv::CsvCell::Text(&tier)]);
        csv::row(&mut out, cells.chain(money.map(csv::CsvCell::Number)))?;
    }
    out.finish()?;
    Ok(())
}
