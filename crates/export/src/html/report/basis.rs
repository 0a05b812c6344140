//! How it was counted: what is missing, what has no price, whose prices these are.

use std::io;

use super::super::paper::Paper;
use super::super::{LINE, grouped};
use super::input::{Price, UsageReport};
use super::words::{duration, short_money};

/// Writes how it was counted.
pub(super) fn write(report: &UsageReport, paper: &mut Paper<'_>) -> io::Result<()> {
    let basis = &report.basis;
    paper
        .mark("<section id=\"basis\">\n<h2>How it was counted</h2>\n<ul class=\"basis\">\n<li>")?;
    paper.text(
        "Each request counts once, over all copies and repeated records. Money is what a user with an API key pays: \
         free tiers, subscriptions and batch prices are not known.",
    )?;
    paper.mark("</li>\n<li>")?;
    paper.text(&format!("Days begin at midnight, time zone {}.", report.time_zone))?;
    paper.mark("</li>\n<li>")?;
    let gap = duration(report.gap_seconds);
    paper.text(&format!(
        "Active time is the time between messages of a session that came within {gap} of each other; what overlaps counts once."
    ))?;
    paper.mark("</li>\n")?;
    if basis.undone > 0 {
        counted(
            basis.undone,
            "requests had answers that were undone later; they were billed, and are in the sums",
            paper,
        )?;
    }
    for (number, what) in &basis.duplicates {
        counted(*number, what, paper)?;
    }
    if basis.problems > 0 {
        counted(
            basis.problems,
            "records could not be read, or not in full; `recount list --problems` says which",
            paper,
        )?;
    }
    if basis.unread > 0 {
        counted(
            basis.unread,
            "messages could not be read in full, and are not in the figures of files",
            paper,
        )?;
    }
    paper.mark("</ul>\n")?;
    missing(report, paper)?;
    prices(&basis.prices, paper)?;
    paper.mark("</section>\n")
}

fn counted(number: u64, what: &'static str, paper: &mut Paper<'_>) -> io::Result<()> {
    paper.mark("<li><b>")?;
    paper.text(&grouped(number))?;
    paper.mark("</b> ")?;
    paper.text(what)?;
    paper.mark("</li>\n")
}

/// Says why a sum is marked with ≥.
fn missing(report: &UsageReport, paper: &mut Paper<'_>) -> io::Result<()> {
    let basis = &report.basis;
    if basis.missing.is_empty() && basis.unpriced.is_empty() {
        return Ok(());
    }
    paper.mark(
        "<h3>What ≥ stands for</h3>\n\
         <p>More was billed than these totals show. Missing tokens are not estimated:</p>\n<ul class=\"basis\">\n",
    )?;
    for unpriced in &basis.unpriced {
        paper.mark("<li>No price is known of ")?;
        match &unpriced.model {
            Some(model) => paper.line(model, LINE)?,
            None => paper.mark("requests without a model on record")?,
        }
        let (requests, tokens) = (grouped(unpriced.requests), grouped(unpriced.tokens));
        paper.text(&format!(": {requests} requests, {tokens} tokens"))?;
        paper.mark("</li>\n")?;
    }
    for (number, what) in &basis.missing {
        counted(*number, what, paper)?;
    }
    paper.mark("</ul>\n")
}

fn prices(prices: &[Price], paper: &mut Paper<'_>) -> io::Result<()> {
    if prices.is_empty() {
        return Ok(());
    }
    paper.mark(
        "<h3>Prices</h3>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Prices\">\n<table>\
         <caption class=\"unseen\">Prices in US dollars per million tokens</caption>\n<thead><tr><th scope=\"col\">Model</th>\
         <th scope=\"col\" class=\"right\">Input</th><th scope=\"col\" class=\"right\">Cached</th>\
         <th scope=\"col\" class=\"right\">Output</th><th scope=\"col\">From</th><th scope=\"col\">Last seen</th>\
         <th scope=\"col\">Source</th></tr></thead>\n<tbody>\n",
    )?;
    for price in prices {
        paper.mark("<tr><th scope=\"row\">")?;
        paper.line(&price.model, LINE)?;
        if let Some(tokens) = price.above {
            paper.mark("<span class=\"detail\">")?;
            paper.text(&format!("prompts above {} tokens", grouped(tokens)))?;
            paper.mark("</span>")?;
        }
        paper.mark("</th>")?;
        for units in [price.input, price.cached, price.output] {
            paper.mark("<td class=\"right\">")?;
            paper.text(&if units == 0 { "free".to_owned() } else { short_money(units) })?;
            paper.mark("</td>")?;
        }
        for day in [price.from, price.seen] {
            paper.mark("<td class=\"day\">")?;
            paper.text(&day.map(|day| day.to_string()).unwrap_or_default())?;
            paper.mark("</td>")?;
        }
        paper.mark("<td>")?;
        match &price.source {
            Some(source) => paper.line(source, LINE)?,
            None => paper.mark("config.toml")?,
        }
        paper.mark("</td></tr>\n")?;
    }
    paper.mark("</tbody></table></div>\n<p class=\"note\">US dollars per million tokens. A request has the price of its own day.</p>\n")
}
