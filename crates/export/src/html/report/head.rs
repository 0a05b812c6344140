//! The top of a report: period, sessions, and totals.

use std::io;

use recount_model::Tokens;

use super::super::document::theme;
use super::super::html_writer::HtmlWriter;
use super::super::{LINE, grouped};
use super::columns::KIND_COLOURS;
use super::input::UsageReport;
use super::table::{Line, Table};
use super::words::{cost, duration, share, short};

/// The kinds of tokens, in stacking order. Cached tokens are not new input.
pub(super) const KINDS: [&str; 5] =
    ["Input from the cache", "New input", "Output", "Thoughts", "Tool prompts"];

/// Returns the number of tokens of each kind.
pub(super) fn kinds(tokens: &Tokens) -> [u64; 5] {
    let cached = tokens.cached.min(tokens.input);
    [cached, tokens.input - cached, tokens.output, tokens.thoughts, tokens.tool]
}

/// Writes the top.
pub(super) fn write(
    report: &UsageReport,
    sections: &[(&'static str, &'static str)],
    html: &mut HtmlWriter<'_>,
) -> io::Result<()> {
    html.mark(
        "<a class=\"skip\" href=\"#report\">Skip to the figures</a>\n\
         <header class=\"top\">\n<h1>Tokens, money and time</h1>\n<p class=\"sum\">",
    )?;
    html.text(&period(report))?;
    html.mark("</p>\n")?;
    if !report.filters.is_empty() {
        html.mark("<ul class=\"only\">")?;
        for (name, value) in &report.filters {
            html.mark("<li>")?;
            html.mark(name)?;
            html.mark(" ")?;
            html.line(value, LINE)?;
            html.mark("</li>")?;
        }
        html.mark("</ul>\n")?;
    }
    html.mark("</header>\n<div class=\"tools\">\n<nav aria-label=\"Parts of this page\">")?;
    for (target, name) in sections {
        html.mark("<a href=\"#")?;
        html.mark(target)?;
        html.mark("\">")?;
        html.mark(name)?;
        html.mark("</a>")?;
    }
    html.mark("</nav>\n")?;
    theme(html)?;
    html.mark("</div>\n")
}

/// Returns the period of a report.
pub(super) fn period(report: &UsageReport) -> String {
    let moment = |time: jiff::civil::DateTime| time.strftime("%Y-%m-%d %H:%M").to_string();
    let words = match (report.days.first(), report.days.last()) {
        (Some((first, _)), Some((last, _))) if first == last => first.to_string(),
        (Some((first, _)), Some((last, _))) => format!("{first} to {last}"),
        _ => "Nothing to count".to_owned(),
    };
    let asked = match (report.since.map(moment), report.until.map(moment)) {
        (Some(since), Some(until)) => format!("{since} to {until}"),
        (Some(since), None) => format!("since {since}"),
        (None, Some(until)) => format!("until {until}"),
        (None, None) => return words,
    };
    format!("{words} · asked for: {asked}")
}

/// Writes the totals.
pub(super) fn totals(report: &UsageReport, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let total = &report.total;
    let tokens = &total.tokens;
    let cached = share(tokens.cached.into(), tokens.input.into());
    let failed = match total.tools_failed {
        0 => String::new(),
        failed => format!("{} failed", grouped(failed)),
    };
    let cost_note = if total.cost.is_lower_bound { "at least; see below" } else { "" };
    let cards: [(&'static str, String, String); 8] = [
        ("Cost", cost(total.cost), cost_note.to_owned()),
        ("Tokens", short(tokens.total.into()), grouped(tokens.total)),
        (
            "From the cache",
            if cached.is_empty() { "–".to_owned() } else { cached },
            "of input".to_owned(),
        ),
        ("Requests", grouped(total.requests), String::new()),
        ("Sessions", grouped(total.sessions), String::new()),
        ("Prompts", grouped(total.prompts), String::new()),
        ("Active time", duration(total.active_seconds), String::new()),
        ("Tool calls", grouped(total.tool_calls), failed),
    ];
    html.mark("<section class=\"totals\" aria-label=\"Totals\">\n<dl class=\"cards\">\n")?;
    for (name, value, note) in &cards {
        html.mark("<div><dt>")?;
        html.mark(name)?;
        html.mark("</dt><dd>")?;
        html.text(value)?;
        if !note.is_empty() {
            html.mark("<span>")?;
            html.text(note)?;
            html.mark("</span>")?;
        }
        html.mark("</dd></div>\n")?;
    }
    html.mark("</dl>\n")?;
    if tokens.total > 0 {
        by_kind(tokens, html)?;
    }
    html.mark("</section>\n")
}

fn by_kind(tokens: &Tokens, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let kinds = kinds(tokens);
    let sum: u128 = kinds.iter().map(|tokens| u128::from(*tokens)).sum();
    let line = |((name, tokens), colour): ((&str, u64), &'static str)| Line {
        name: name.to_owned(),
        bar: vec![(colour, tokens.into())],
        cells: vec![grouped(tokens), share(tokens.into(), sum)],
        ..Line::default()
    };
    let lines =
        KINDS.into_iter().zip(kinds).zip(KIND_COLOURS).filter(|((_, tokens), _)| *tokens > 0);
    let table = Table {
        caption: "Tokens by kind",
        heading: "Kind",
        columns: &[("Tokens", "tokens"), ("Share", "share")],
        lines: lines.map(line).collect(),
        total: Some(vec![grouped(tokens.total), String::new()]),
    };
    table.write(html)
}
