//! How the figures were counted: what is missing, what has no price, and the source of the prices.

use std::io;

use super::super::html_writer::HtmlWriter;
use super::super::{LINE, grouped};
use super::input::{Price, ReportBasis, UsageReport};
use super::words::{duration, short_money};

/// Writes how the figures were counted.
pub(super) fn write(report: &UsageReport, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let basis = &report.basis;
    html.mark("<section id=\"basis\">\n<h2>How it was counted</h2>\n<ul class=\"basis\">\n<li>")?;
    html.text(
        "Each request counts once, over all copies and repeated records. Money is what a user with an API key pays: \
         free tiers, subscriptions and batch prices are not known.",
    )?;
    html.mark("</li>\n<li>")?;
    html.text(&format!("Days begin at midnight, time zone {}.", report.time_zone))?;
    html.mark("</li>\n<li>")?;
    let gap = duration(report.gap_seconds);
    html.text(&format!(
        "Active time is the time between messages of a session that came within {gap} of each other; what overlaps counts once."
    ))?;
    html.mark("</li>\n")?;
    for (number, one, many) in counts(basis) {
        if number > 0 {
            counted(number, if number == 1 { one } else { many }, html)?;
        }
    }
    html.mark("</ul>\n")?;
    missing(report, html)?;
    prices(&basis.prices, html)?;
    html.mark("</section>\n")
}

/// Returns what was counted differently than it may look: a number, and the words for one and for several.
fn counts(basis: &ReportBasis) -> [(u64, &'static str, &'static str); 6] {
    let duplicates = &basis.duplicates;
    [
        (
            basis.undone,
            "request had an answer that was undone later; it was billed, and is in the sums",
            "requests had answers that were undone later; they were billed, and are in the sums",
        ),
        (
            duplicates.repeated,
            "record was written again in the same file, and counted once",
            "records were written again in the same file, and counted once",
        ),
        (
            duplicates.copied,
            "request is in several files of its session and was counted once",
            "requests are in several files of their session and were counted once",
        ),
        (
            duplicates.elsewhere,
            "request is also in other sessions and was counted once",
            "requests are also in other sessions and were counted once",
        ),
        (
            basis.problems,
            "record could not be read, or not in full; `recount list --problems` says which",
            "records could not be read, or not in full; `recount list --problems` says which",
        ),
        (
            basis.unread,
            "message could not be read in full, and is not in the figures of files",
            "messages could not be read in full, and are not in the figures of files",
        ),
    ]
}

fn counted(number: u64, what: &'static str, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    html.mark("<li><b>")?;
    html.text(&grouped(number))?;
    html.mark("</b> ")?;
    html.text(what)?;
    html.mark("</li>\n")
}

/// Writes why a sum is marked with ≥.
fn missing(report: &UsageReport, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let basis = &report.basis;
    if basis.missing.is_empty() && basis.unpriced.is_empty() {
        return Ok(());
    }
    html.mark(
        "<h3>What ≥ stands for</h3>\n\
         <p>More was billed than these totals show. Missing tokens are not estimated:</p>\n<ul class=\"basis\">\n",
    )?;
    for unpriced in &basis.unpriced {
        html.mark("<li>No price is known of ")?;
        match &unpriced.model {
            Some(model) => html.line(model, LINE)?,
            None => html.mark("requests without a model on record")?,
        }
        let (requests, tokens) = (grouped(unpriced.requests), grouped(unpriced.tokens));
        let s = if unpriced.requests == 1 { "" } else { "s" };
        html.text(&format!(": {requests} request{s}, {tokens} tokens"))?;
        html.mark("</li>\n")?;
    }
    for (number, what) in &basis.missing {
        counted(*number, what, html)?;
    }
    html.mark("</ul>\n")
}

fn prices(prices: &[Price], html: &mut HtmlWriter<'_>) -> io::Result<()> {
    if prices.is_empty() {
        return Ok(());
    }
    html.mark(
        "<h3>Prices</h3>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Prices\">\n<table>\
         <caption class=\"unseen\">Prices in US dollars per million tokens</caption>\n<thead><tr><th scope=\"col\">Model</th>\
         <th scope=\"col\" class=\"right\">Input</th><th scope=\"col\" class=\"right\">Cached</th>\
         <th scope=\"col\" class=\"right\">Output</th><th scope=\"col\">From</th><th scope=\"col\">Last seen</th>\
         <th scope=\"col\">Source</th></tr></thead>\n<tbody>\n",
    )?;
    for price in prices {
        html.mark("<tr><th scope=\"row\">")?;
        html.line(&price.model, LINE)?;
        if let Some(tokens) = price.above {
            html.mark("<span class=\"detail\">")?;
            html.text(&format!("prompts above {} tokens", grouped(tokens)))?;
            html.mark("</span>")?;
        }
        html.mark("</th>")?;
        for units in [price.input, price.cached, price.output] {
            html.mark("<td class=\"right\">")?;
            html.text(&if units == 0 { "free".to_owned() } else { short_money(units) })?;
            html.mark("</td>")?;
        }
        for day in [price.from, price.seen] {
            html.mark("<td class=\"day\">")?;
            html.text(&day.map(|day| day.to_string()).unwrap_or_default())?;
            html.mark("</td>")?;
        }
        html.mark("<td>")?;
        match &price.source {
            Some(source) => html.line(source, LINE)?,
            None => html.mark("config.toml")?,
        }
        html.mark("</td></tr>\n")?;
    }
    html.mark("</tbody></table></div>\n<p class=\"note\">US dollars per million tokens. A request has the price of its own day.</p>\n")
}
