//! `recount prices`

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use recount_engine::stats::{Money, Period, PriceEntry, PriceOrigin, Units};

use crate::context::{Context, Paged};
use crate::failure::{Failure, NOTHING};
use crate::output::columns::{Align, Column, Fit};
use crate::output::json;
use crate::output::number::{count, million};
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;

/// Show the price table and its sources
///
/// Prices are in US dollars per million tokens, pay as you go. Prices under `prices` in config.toml take precedence over the built-in table,
/// for example `[prices."my-model"]` with `input = 0.5`, `cached = 0.05` and `output = 3`, or `[prices."local-*"]` with `free = true`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount prices                     # every model
  recount prices flash               # models with 'flash' in their name")]
pub(crate) struct PricesArgs {
    /// Only models whose name contains this
    model: Option<String>,
}

pub(crate) fn run(args: &PricesArgs, context: &Context) -> Result<ExitCode, Failure> {
    let prices = context.plain_engine()?.prices()?;
    let is_wanted =
        |name: &String| args.model.as_ref().is_none_or(|part| name.contains(part.as_str()));
    // Models that cost the same are one entry: of these, too, only the wanted ones are shown.
    let wanted = |entry: &PriceEntry| {
        let names: Vec<String> =
            entry.names.iter().filter(|name| is_wanted(name)).cloned().collect();
        (!names.is_empty()).then(|| PriceEntry { names, ..entry.clone() })
    };
    let entries: Vec<PriceEntry> = prices.entries().filter_map(wanted).collect();
    if context.global.json {
        json::document(context, "prices", "prices", &entries)?;
    } else if !entries.is_empty() {
        let own: Vec<&String> = entries
            .iter()
            .filter(|entry| entry.origin == PriceOrigin::Config)
            .flat_map(|entry| &entry.names)
            .collect();
        let cells: Vec<Vec<StyledSpan>> =
            entries.iter().flat_map(|entry| rows(entry, &own)).collect();
        let mut out = context.out(Paged::Yes);
        out.write_all(context.table(COLUMNS, &cells).as_bytes())?;
        out.finish()?;
    }
    if entries.is_empty() {
        context.warn("no such model");
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(ExitCode::SUCCESS)
}

const COLUMNS: &[Column] = &[
    Column { heading: "MODEL", align: Align::Left, fit: Fit::Keep },
    Column { heading: "PROMPTS", align: Align::Left, fit: Fit::Keep },
    Column { heading: "INPUT", align: Align::Right, fit: Fit::Keep },
    Column { heading: "CACHED", align: Align::Right, fit: Fit::Keep },
    Column { heading: "OUTPUT", align: Align::Right, fit: Fit::Keep },
    Column { heading: "FROM", align: Align::Left, fit: Fit::Drop(3) },
    Column { heading: "SEEN", align: Align::Left, fit: Fit::Drop(2) },
    Column { heading: "BY", align: Align::Left, fit: Fit::Keep },
    Column { heading: "SOURCE", align: Align::Left, fit: Fit::Drop(1) },
];

/// Returns one row per model and price; long prompts on separate rows.
fn rows(entry: &PriceEntry, own: &[&String]) -> Vec<Vec<StyledSpan>> {
    let mut rows = Vec::new();
    for name in &entry.names {
        let is_hidden = entry.origin != PriceOrigin::Config && own.contains(&name);
        for period in &entry.periods {
            rows.push(row(name, "", &period.units, period, &entry.origin, is_hidden));
            if let Some(above) = &period.above {
                let prompts = format!("> {}", count(above.tokens));
                rows.push(row("", &prompts, &above.units, period, &entry.origin, is_hidden));
            }
        }
    }
    rows
}

fn row(
    name: &str,
    prompts: &str,
    units: &Units,
    period: &Period,
    origin: &PriceOrigin,
    is_hidden: bool,
) -> Vec<StyledSpan> {
    let (by, source) = match origin {
        PriceOrigin::Config => ("config.toml", ""),
        PriceOrigin::Table { source } if is_hidden => ("replaced", source.as_str()),
        PriceOrigin::Table { source } => ("", source.as_str()),
    };
    let (plain, named) = match origin {
        _ if is_hidden => (Tone::Struck, Tone::Struck),
        PriceOrigin::Config => (Tone::Plain, Tone::Strong),
        PriceOrigin::Table { .. } => (Tone::Plain, Tone::Name),
    };
    let price = |unit: Money| StyledSpan::new(&million(unit), plain);
    let day = |day: Option<jiff::civil::Date>| {
        StyledSpan::new(&day.map(|day| day.to_string()).unwrap_or_default(), Tone::Dim)
    };
    vec![
        StyledSpan::new(name, named),
        StyledSpan::new(prompts, Tone::Dim),
        price(units.input.of_a_million()),
        price(units.cached.of_a_million()),
        price(units.output.of_a_million()),
        day(period.from),
        day(period.seen),
        StyledSpan::new(by, Tone::Warning),
        StyledSpan::new(source, Tone::Dim),
    ]
}
