//! Usage over time: money by model, tokens by kind, and the hours of the day.

use std::io;

use jiff::civil::Date;

use super::super::grouped;
use super::super::html_writer::HtmlWriter;
use super::columns::{COLOURS, Column, Columns, KIND_COLOURS};
use super::head::{KINDS, kinds};
use super::input::{ReportFigures, UsageReport};
use super::table::{Line, Table};
use super::time::{Grain, Slot, Timeline};
use super::words::{cost, count_mark, duration, money, money_mark, short};
use crate::text::{Bidi, isolated, shortened};

/// The longest name of a model in a chart.
const NAME: usize = 60;

/// Returns how many models have their own color, given the number of models.
pub(super) fn coloured(models: usize) -> usize {
    if models > COLOURS.len() { COLOURS.len() - 1 } else { models }
}

/// Writes the usage over time.
pub(super) fn write(report: &UsageReport, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let Some(timeline) = Timeline::new(report) else { return Ok(()) };
    html.mark("<section id=\"time\">\n<h2>Over time</h2>\n")?;
    by_model(report, &timeline).write(html)?;
    by_kind(&timeline).write(html)?;
    if timeline.left_out > 0 {
        html.mark("<p class=\"note\">")?;
        html.text(&format!(
            "{} months before these are not drawn.",
            grouped(timeline.left_out as u64)
        ))?;
        html.mark("</p>\n")?;
    }
    for (grain, summary, caption, heading, rows) in [
        (Grain::Month, "Figures by month", "By month", "Month", &report.months),
        (Grain::Week, "Figures by week", "By week", "Week", &report.weeks),
        (Grain::Day, "Figures by day", "By day", "Day", &report.days),
    ] {
        if rows.len() > 1 || grain == Grain::Day {
            let names = rows.iter().map(|(first, figures)| (name(grain, *first), figures));
            folded(summary, caption, heading, names, html)?;
        }
    }
    if let Some(untimed) = &report.untimed {
        html.mark("<p class=\"note\">")?;
        let (requests, cost) = (grouped(untimed.requests), cost(untimed.cost));
        html.text(&format!(
            "Without a time on record, and in no bar: {requests} requests, {cost}."
        ))?;
        html.mark("</p>\n")?;
    }
    html.mark("</section>\n")
}

fn name(grain: Grain, first: Date) -> String {
    if grain == Grain::Month { first.strftime("%Y-%m").to_string() } else { first.to_string() }
}

/// Returns money by model; tokens if there is no price.
fn by_model(report: &UsageReport, timeline: &Timeline) -> Columns {
    let own = coloured(report.models.len());
    let is_priced = report.total.cost.units.is_some_and(|units| units > 0);
    let what = if is_priced { "Cost" } else { "Tokens" };
    let form = if is_priced { money } else { short };
    let label = |name: &str| isolated(&shortened(name, NAME), Bidi::Kept);
    let mut parts: Vec<String> =
        report.models.iter().take(own).map(|row| label(&row.name)).collect();
    if own < report.models.len() {
        parts.push(format!("{} others", report.models.len() - own));
    }
    let column = |slot: &Slot| {
        let mut sums = vec![0_u128; parts.len()];
        for (model, (cost, tokens)) in &slot.models {
            if let Some(sum) = sums.get_mut((*model).min(own)) {
                *sum = sum.saturating_add(if is_priced { *cost } else { (*tokens).into() });
            }
        }
        let mut tooltip = tooltip(timeline.grain, slot);
        for (name, sum) in parts.iter().zip(&sums).filter(|(_, sum)| **sum > 0) {
            tooltip = format!("{tooltip}\n{name}: {}", form(*sum));
        }
        Column { mark: timeline.grain.mark(slot.first), tooltip, parts: sums }
    };
    let bars = timeline.slots.iter().map(column).collect();
    let word = timeline.grain.word();
    Columns {
        id: "cost-told",
        name: format!("{what} by {word}"),
        description: format!(
            "{what} by {word}, in parts by model. The figures are in the tables below."
        ),
        bars,
        parts,
        colours: &COLOURS,
        mark: if is_priced { money_mark } else { count_mark },
    }
}

fn by_kind(timeline: &Timeline) -> Columns {
    let used = |number: usize| {
        let has =
            |slot: &Slot| kinds(&slot.figures.tokens).get(number).is_some_and(|tokens| *tokens > 0);
        timeline.slots.iter().any(has)
    };
    let last = (0..KINDS.len()).rev().find(|number| used(*number)).map_or(1, |number| number + 1);
    let column = |slot: &Slot| {
        let parts: Vec<u128> =
            kinds(&slot.figures.tokens).into_iter().take(last).map(u128::from).collect();
        let mut tooltip = tooltip(timeline.grain, slot);
        for (name, tokens) in KINDS.iter().zip(&parts).filter(|(_, tokens)| **tokens > 0) {
            let tokens = grouped(u64::try_from(*tokens).unwrap_or(u64::MAX));
            tooltip = format!("{tooltip}\n{name}: {tokens}");
        }
        Column { mark: timeline.grain.mark(slot.first), tooltip, parts }
    };
    let word = timeline.grain.word();
    Columns {
        id: "tokens-told",
        name: format!("Tokens by {word}"),
        description: format!(
            "Tokens by {word}, in parts by kind. The figures are in the tables below."
        ),
        bars: timeline.slots.iter().map(column).collect(),
        parts: KINDS.into_iter().take(last).map(str::to_owned).collect(),
        colours: &KIND_COLOURS,
        mark: count_mark,
    }
}

fn tooltip(grain: Grain, slot: &Slot) -> String {
    summary(&grain.name(slot.first), &slot.figures)
}

fn summary(name: &str, figures: &ReportFigures) -> String {
    let ReportFigures { tokens, requests, .. } = figures;
    let (tokens, requests) = (grouped(tokens.total), grouped(*requests));
    format!("{name}\n{} · {tokens} tokens · {requests} requests", cost(figures.cost))
}

/// Writes the hours of the day.
pub(super) fn hours(report: &UsageReport, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    if report.hours.is_empty() {
        return Ok(());
    }
    html.mark("<section id=\"hours\">\n<h2>By hour of the day</h2>\n")?;
    let nothing = ReportFigures::default();
    let of = |hour: i8| {
        report.hours.iter().find(|(own, _)| *own == hour).map_or(&nothing, |(_, figures)| figures)
    };
    let column = |hour: i8| Column {
        mark: format!("{hour:02}"),
        tooltip: summary(&format!("{hour:02}:00 to {hour:02}:59"), of(hour)),
        parts: vec![of(hour).requests.into()],
    };
    let columns = Columns {
        id: "hours-told",
        name: "Requests by hour".to_owned(),
        description: "Requests by hour of the day. The figures are in the table below.".to_owned(),
        parts: Vec::new(),
        colours: &COLOURS,
        bars: (0..24).map(column).collect(),
        mark: count_mark,
    };
    columns.write(html)?;
    let rows = report.hours.iter().map(|(hour, figures)| (format!("{hour:02}:00"), figures));
    folded("Figures by hour", "By hour of the day", "Hour", rows, html)?;
    html.mark("</section>\n")
}

/// Writes figures in a collapsible block.
fn folded<'a>(
    summary: &'static str,
    caption: &'static str,
    heading: &'static str,
    rows: impl Iterator<Item = (String, &'a ReportFigures)>,
    html: &mut HtmlWriter<'_>,
) -> io::Result<()> {
    let line = |(name, figures): (String, &ReportFigures)| {
        let ReportFigures { sessions, requests, prompts, tokens, active_seconds, .. } = figures;
        Line {
            name,
            cells: vec![
                grouped(*sessions),
                grouped(*prompts),
                grouped(*requests),
                duration(*active_seconds),
                grouped(tokens.input.saturating_sub(tokens.cached)),
                grouped(tokens.cached),
                grouped(tokens.output),
                grouped(tokens.thoughts),
                grouped(tokens.total),
                cost(figures.cost),
            ],
            ..Line::default()
        }
    };
    let table = Table {
        caption,
        heading,
        columns: &[
            ("Sessions", "sessions"),
            ("Prompts", "prompts"),
            ("Requests", "requests"),
            ("Active", "active"),
            ("New input", "input"),
            ("Cached", "cached"),
            ("Output", "output"),
            ("Thoughts", "thoughts"),
            ("Tokens", "tokens"),
            ("Cost", "cost"),
        ],
        lines: rows.map(line).collect(),
        total: None,
    };
    html.mark("<details class=\"fold\"><summary>")?;
    html.mark(summary)?;
    html.mark("</summary>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"")?;
    html.mark(summary)?;
    html.mark("\">\n")?;
    table.write(html)?;
    html.mark("</div></details>\n")
}
