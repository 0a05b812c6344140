//! The board for people: a table, drawn over and over on a terminal.

use std::io::{self, Write as _};
use std::path::Path;

use recount_engine::live::{LiveFacts, LiveRow, Projection};
use recount_model::{LiveState, timestamp};

use super::document::title;
use crate::context::Context;
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::number::count;
use crate::output::span::Span;
use crate::output::theme::Tone;
use crate::when;

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
        let per_minute = super::document::rate(rows);
        let today = spending.today(per_minute, now);
        head = format!("{head} · today {}", spent(&today));
        let month = spending.month(per_minute, now);
        if month.limit_usd.is_some() {
            head = format!("{head} · month {}", spent(&month));
        }
    }
    let lines: Vec<Vec<Span>> = rows.iter().map(|row| cells(row, facts, now)).collect();
    if lines.is_empty() {
        return "no agent is running\n".to_owned();
    }
    format!("{head}\n{}", render(COLUMNS, &lines, &context.canvas()))
}

fn cells(row: &LiveRow, facts: &LiveFacts, now: i64) -> Vec<Span> {
    let (mark, tone) = match row.state {
        LiveState::Approve => ("!", Tone::Warning),
        LiveState::Yours => ("›", Tone::Prompt),
        LiveState::Tool => ("▶", Tone::Tool),
        LiveState::Working => ("●", Tone::Plain),
        LiveState::Idle => ("·", Tone::Dim),
        LiveState::Failed => ("✗", Tone::Error),
        LiveState::Done => ("✓", Tone::Dim),
        LiveState::Gone => ("○", Tone::Error),
    };
    let session = &row.session;
    let unsure = if session.certain { "" } else { "?" };
    let folder = session.folder.as_deref().map(Path::new).and_then(Path::file_name);
    let folder = folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a percentage needs no exact digits")]
    let context = match row.context {
        Some((used, Some(window))) => {
            format!("{:.0} %", used as f64 * 100.0 / window.max(1) as f64)
        }
        Some((used, None)) => count(used),
        None => String::new(),
    };
    let (tokens, cost) = facts.used(row);
    let terminal = &session.terminal;
    let panes =
        [("tmux", &terminal.tmux), ("wezterm", &terminal.wezterm), ("kitty", &terminal.kitty)];
    let pane =
        panes.into_iter().find_map(|(name, pane)| Some(format!("{name} {}", pane.as_ref()?)));
    let place = match (pane, &terminal.tty, session.process) {
        (Some(pane), _, _) => pane,
        (None, Some(tty), _) => tty.trim_start_matches("/dev/").to_owned(),
        (None, None, Some(pid)) => format!("pid {pid}"),
        (None, None, None) => String::new(),
    };
    let rate = row.rates[0].usd;
    vec![
        Span::new(mark, tone),
        Span::new(&format!("{}{unsure}", row.state.as_str()), tone),
        Span::new(&span(now - row.since), Tone::Dim),
        Span::new(session.source.as_str(), Tone::Dim),
        Span::new(&folder, Tone::Name),
        Span::new(&what(row, facts), Tone::Plain),
        Span::new(&context, Tone::Plain),
        Span::new(&count(tokens.total), Tone::Plain),
        Span::new(&cost.map(dollars).unwrap_or_default(), Tone::Plain),
        Span::new(&if rate > 0.0 { dollars(rate) } else { String::new() }, Tone::Plain),
        Span::new(&place, Tone::Dim),
    ]
}

/// Says in a few words what a session is at.
fn what(row: &LiveRow, facts: &LiveFacts) -> String {
    let session = &row.session;
    let again = session.circling.as_ref();
    let again = again.map(|one| format!(" (×{}, the same result)", one.times)).unwrap_or_default();
    if let Some(tool) = &session.tool {
        let argument = tool.argument.as_deref().unwrap_or_default();
        return format!("{} {argument}{again}", tool.name);
    }
    let title = title(row, facts);
    let text = if row.state == LiveState::Working {
        title.or_else(|| session.doing.clone())
    } else {
        session.doing.clone().or(title)
    };
    format!("{}{again}", text.unwrap_or_default())
}

/// Says what was spent, of how much, and when that is reached if agents go on like this.
fn spent(period: &Projection) -> String {
    let least = if period.is_lower_bound { "≥" } else { "" };
    let spent = format!("{least}{}", dollars(period.spent_usd));
    let Some(limit) = period.limit_usd else { return spent };
    let reached = match period.reached.and_then(timestamp) {
        Some(_) if period.spent_usd >= limit => ", over".to_owned(),
        Some(reached) => format!(", reached {} at this rate", when::minute(reached)),
        None => String::new(),
    };
    format!("{spent} of {}{reached}", dollars(limit))
}

/// Returns dollars, with more digits for small sums.
fn dollars(sum: f64) -> String {
    if sum < 0.1 { format!("${sum:.3}") } else { format!("${sum:.2}") }
}

/// Returns a span of time as a clock shows it.
fn span(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{:02}", seconds % 60)
    } else {
        format!("{minutes}:{:02}", seconds % 60)
    }
}
