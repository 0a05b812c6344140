//! The board for people: a table, drawn over and over on a terminal.

use std::io::{self, Write as _};

use recount_display::live::{self, dollars, spent};
use recount_documents::live_title;
use recount_engine::live::{LiveFacts, LiveRow, dollars_per_minute};
use recount_model::LiveState;

use crate::context::Context;
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::number::{at_least, count};
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;

const COLUMNS: &[Column] = &[
    Column { heading: "", align: Align::Left, fit: Fit::Keep },
    Column { heading: "STATE", align: Align::Left, fit: Fit::Keep },
    Column { heading: "SINCE", align: Align::Right, fit: Fit::Keep },
    Column { heading: "AGENT", align: Align::Left, fit: Fit::Drop(4) },
    Column { heading: "PROJECT", align: Align::Left, fit: Fit::Keep },
    Column { heading: "WHAT", align: Align::Left, fit: Fit::Flexible },
    Column { heading: "CTX", align: Align::Right, fit: Fit::Keep },
    Column { heading: "TOKENS", align: Align::Right, fit: Fit::Drop(2) },
    Column { heading: "COST", align: Align::Right, fit: Fit::Drop(3) },
    Column { heading: "$/MIN", align: Align::Right, fit: Fit::Drop(1) },
    Column { heading: "WHERE", align: Align::Left, fit: Fit::Drop(5) },
];

/// Draws the board over the one before. No mode of the terminal is changed, so there is nothing to restore.
pub(super) fn draw(
    rows: &[LiveRow],
    facts: &LiveFacts,
    now: i64,
    context: &Context,
) -> io::Result<()> {
    let height = terminal_size::terminal_size().map_or(24, |(_, height)| usize::from(height.0));
    let mut page = String::from("\x1b[H");
    for line in table(rows, facts, now, context).lines().take(height.saturating_sub(1)) {
        page.push_str(line);
        page.push_str("\x1b[K\n");
    }
    page.push_str("\x1b[J");
    let mut out = io::stdout().lock();
    out.write_all(page.as_bytes())?;
    out.flush()
}

/// Returns the board as text.
pub(super) fn table(rows: &[LiveRow], facts: &LiveFacts, now: i64, context: &Context) -> String {
    let needs = rows.iter().filter(|row| row.state == LiveState::Approve).count();
    let running =
        rows.iter().filter(|row| !matches!(row.state, LiveState::Done | LiveState::Gone)).count();
    let rate: f64 = rows.iter().map(|row| row.rates[0].usd).sum();
    let mut head = format!("{running} running");
    if needs > 0 {
        head = format!("{head} · {needs} needs you");
    }
    if rate > 0.0 {
        head = format!("{head} · {}/min", dollars(rate));
    }
    if let Some(spending) = facts.spending() {
        let per_minute = dollars_per_minute(rows);
        let today = spending.today(per_minute, now);
        head = format!("{head} · today {}", spent(&today));
        let month = spending.month(per_minute, now);
        if month.limit_usd.is_some() {
            head = format!("{head} · month {}", spent(&month));
        }
    }
    let lines: Vec<Vec<StyledSpan>> = rows.iter().map(|row| cells(row, facts, now)).collect();
    if lines.is_empty() {
        return "no agent is running\n".to_owned();
    }
    format!("{head}\n{}", render(COLUMNS, &lines, &context.canvas()))
}

fn cells(row: &LiveRow, facts: &LiveFacts, now: i64) -> Vec<StyledSpan> {
    let (mark, tone) = live::mark(row.state);
    let session = &row.session;
    let (tokens, cost) = facts.used(row);
    let cost = cost.map(|cost| at_least(&dollars(cost), facts.is_lower_bound(row)));
    let title = live_title(row, facts);
    let rate = row.rates[0].usd;
    vec![
        StyledSpan::new(mark, tone),
        StyledSpan::new(&live::state(row.state, session.certain), tone),
        StyledSpan::new(&live::span(now - row.since), Tone::Dim),
        StyledSpan::new(session.source.as_str(), Tone::Dim),
        StyledSpan::new(&live::folder(row), Tone::Name),
        StyledSpan::new(&live::what(row, title.as_deref()), Tone::Plain),
        StyledSpan::new(&live::context(row), Tone::Plain),
        StyledSpan::new(&count(tokens.total), Tone::Plain),
        StyledSpan::new(&cost.unwrap_or_default(), Tone::Plain),
        StyledSpan::new(&if rate > 0.0 { dollars(rate) } else { String::new() }, Tone::Plain),
        StyledSpan::new(&live::place(row), Tone::Dim),
    ]
}
