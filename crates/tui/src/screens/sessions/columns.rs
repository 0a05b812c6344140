//! The columns of the list.

use recount_display::form::Form;
use recount_display::number::{bytes, count, price};
use recount_display::sanitize::single_line;
use recount_display::span::StyledSpan;
use recount_display::theme::Tone;
use recount_display::when;
use recount_model::{LiveState, SessionFacts};

use crate::rows::is_headless;
use crate::shared::Shared;
use crate::table::{Align, Column};

const fn column(heading: &'static str, width: u16, align: Align, rank: u8) -> Column {
    Column { heading, width, align, rank }
}

/// The columns; notes and title stay longest.
pub(super) const COLUMNS: &[Column] = &[
    column("ID", 8, Align::Left, 5),
    column("USED", 10, Align::Left, 0),
    column("AGENT", 6, Align::Left, 6),
    column("PROJECT", 14, Align::Path, 9),
    column("PROMPTS", 7, Align::Right, 4),
    column("TOOLS", 5, Align::Right, 3),
    column("TOKENS", 6, Align::Right, 7),
    column("COST", 8, Align::Right, 8),
    column("MODEL", 18, Align::Left, 2),
    column("BRANCH", 12, Align::Left, 1),
    column("SIZE", 8, Align::Right, 1),
    column("NOTES", 10, Align::Left, 10),
    column("TITLE", 0, Align::Left, 0),
];

/// The columns that are only shown on a wide terminal.
pub(super) const WIDE: &[&str] = &["MODEL", "BRANCH", "SIZE"];

/// Returns one cell of a row.
pub(super) fn cell(at: usize, session: &SessionFacts, shared: &Shared) -> StyledSpan {
    let Some(column) = COLUMNS.get(at) else { return StyledSpan::new("", Tone::Plain) };
    let dim = |text: &str| StyledSpan::new(text, Tone::Dim);
    let plain = |text: &str| StyledSpan::new(text, Tone::Plain);
    match column.heading {
        "ID" => StyledSpan::new(session.id.short(), Tone::Name),
        "USED" => dim(&session.updated.map(|then| when::age(then, shared.now)).unwrap_or_default()),
        "AGENT" => plain(session.source.as_str()),
        "PROJECT" => StyledSpan::new(shared.rows.names.name(&session.project), Tone::Strong),
        "PROMPTS" => plain(&count(session.typed_prompts())),
        "TOOLS" => plain(&count(session.tool_calls.total)),
        "TOKENS" => {
            let tokens = (!session.is_usage_unknown()).then_some(session.tokens.total);
            plain(&Form::Short.tokens(tokens))
        }
        "COST" => plain(&price(session.cost_usd, session.cost_is_lower_bound == Some(true))),
        "MODEL" => dim(session.models.last().map_or("", String::as_str)),
        "BRANCH" => dim(session.branch.as_deref().unwrap_or_default()),
        "SIZE" => dim(&bytes(session.bytes())),
        "NOTES" => notes(session, shared),
        _ => title(session),
    }
}

fn title(session: &SessionFacts) -> StyledSpan {
    let mut text = String::new();
    if let Some(labels) = &session.labels {
        if labels.pinned {
            text.push_str("* ");
        }
        for tag in &labels.tags {
            text.extend(["#", tag.as_str(), " "]);
        }
    }
    let tone = if session.is_empty() { Tone::Dim } else { Tone::Plain };
    text.push_str(session.shown_title());
    StyledSpan::new(&single_line(&text), tone)
}

/// Returns the most important thing to know about a session.
fn notes(session: &SessionFacts, shared: &Shared) -> StyledSpan {
    let key = session.key();
    if let Some(state) = shared.states.get(&key) {
        let tone = if *state == LiveState::Approve { Tone::Error } else { Tone::Added };
        return StyledSpan::new(state.as_str(), tone);
    }
    if shared.at_risk.contains(&key) {
        return StyledSpan::new("doomed", Tone::Error);
    }
    let new = shared.read.new_messages(session);
    if new > 0 {
        return StyledSpan::new(&format!("{} new", count(new)), Tone::Added);
    }
    if session.problems > 0 {
        return StyledSpan::new(&format!("{} broken", count(session.problems)), Tone::Warning);
    }
    if session.counts.undone > 0 {
        return StyledSpan::new(&format!("{} undone", count(session.counts.undone)), Tone::Dim);
    }
    if session.kind.is_subagent() {
        return StyledSpan::new("sub-agent", Tone::Dim);
    }
    StyledSpan::new(if is_headless(session) { "headless" } else { "" }, Tone::Dim)
}

/// Returns the mark before a row: marked, running, at risk.
pub(super) fn mark(session: &SessionFacts, is_marked: bool, shared: &Shared) -> StyledSpan {
    let key = session.key();
    if is_marked {
        StyledSpan::new("▶", Tone::Match)
    } else if shared.states.contains_key(&key) {
        StyledSpan::new("●", Tone::Added)
    } else if shared.at_risk.contains(&key) {
        StyledSpan::new("⌖", Tone::Error)
    } else {
        StyledSpan::new(" ", Tone::Plain)
    }
}
