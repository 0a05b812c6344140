//! The columns of the board.

use recount_display::bar::{bar, sparkline};
use recount_display::live;
use recount_display::number::{count, price};
use recount_display::sanitize::single_line;
use recount_display::span::StyledSpan;
use recount_display::theme::Tone;
use recount_engine::live::LiveRow;
use recount_model::{LiveState, LiveSubagent, SessionFacts, SessionId, SessionKey};

use super::{Live, Unit, session_key};
use crate::shared::Shared;
use crate::table::{Align, Column};

const fn column(heading: &'static str, width: u16, align: Align, rank: u8) -> Column {
    Column { heading, width, align, rank }
}

/// The columns; what a session does stays longest.
pub(super) const COLUMNS: &[Column] = &[
    column("mark", 1, Align::Left, 0),
    column("state", 8, Align::Left, 0),
    column("since", 7, Align::Right, 0),
    column("agent", 6, Align::Left, 2),
    column("project", 14, Align::Path, 0),
    column("branch", 9, Align::Left, 3),
    column("what", 0, Align::Left, 0),
    column("bar", 6, Align::Left, 5),
    column("context", 5, Align::Right, 9),
    column("tokens", 5, Align::Right, 6),
    column("cost", 8, Align::Right, 7),
    column("rate", 10, Align::Right, 8),
    column("trend", 4, Align::Left, 1),
    column("place", 9, Align::Left, 4),
];

/// The width of the bar of the context.
const BAR: usize = 6;

impl Unit {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Minute => "$/min",
            Self::Hour => "$/h",
            Self::Tokens => "tokens/min",
        }
    }

    /// Formats a rate; empty if it is nothing.
    pub(super) fn rate(self, usd: f64, tokens: u64) -> String {
        match self {
            Self::Minute if usd > 0.0 => format!("{}/min", live::dollars(usd)),
            Self::Hour if usd > 0.0 => format!("{}/h", live::dollars(usd * 60.0)),
            Self::Tokens if tokens > 0 => format!("{}/min", count(tokens)),
            _ => String::new(),
        }
    }
}

impl Live {
    /// Returns one cell of a row.
    pub(super) fn cell(&self, at: usize, row: &LiveRow, shared: &Shared) -> StyledSpan {
        let Some(column) = COLUMNS.get(at) else { return StyledSpan::new("", Tone::Plain) };
        let dim = |text: &str| StyledSpan::new(text, Tone::Dim);
        let plain = |text: &str| StyledSpan::new(text, Tone::Plain);
        let known = session_key(row).and_then(|key| shared.session(&key));
        let state = shown_state(row, shared);
        let (mark, tone) = live::mark(state);
        match column.heading {
            "mark" => StyledSpan::new(mark, tone),
            "state" => StyledSpan::new(&live::state(state, row.session.certain), tone),
            "since" => dim(&live::span(shared.now.as_millisecond() - row.since)),
            "agent" => dim(row.session.source.as_str()),
            "project" => {
                StyledSpan::new(&project(row, known.map(|known| &**known), shared), Tone::Strong)
            }
            "branch" => {
                let branch = known.and_then(|known| known.branch.as_deref());
                dim(if row.session.headless { "-p" } else { branch.unwrap_or_default() })
            }
            "what" => {
                let title = known.and_then(|known| known.title.as_deref());
                plain(&single_line(&live::what(row, title)))
            }
            "bar" => match row.context {
                Some((used, Some(window))) => {
                    let tone = if is_full(used, window) { Tone::Warning } else { Tone::Name };
                    StyledSpan::new(&bar(u128::from(used), u128::from(window), BAR), tone)
                }
                _ => plain(""),
            },
            "context" => match row.context {
                Some((used, Some(window))) if is_full(used, window) => {
                    StyledSpan::new(&live::context(row), Tone::Warning)
                }
                Some(_) => plain(&live::context(row)),
                None => dim("–"),
            },
            "tokens" => plain(&count(live::used(row, known.map(|known| &**known)).0.total)),
            "cost" => plain(&live::used(row, known.map(|known| &**known)).1),
            "rate" => {
                let rate = self.unit.rate(row.rates[0].usd, row.rates[0].tokens);
                if rate.is_empty() { dim("–") } else { plain(&rate) }
            }
            "trend" => {
                let samples = self.samples.get(&row.key());
                let samples: Vec<u128> =
                    samples.into_iter().flatten().map(|one| u128::from(*one)).collect();
                dim(&if samples.len() > 1 { sparkline(&samples) } else { String::new() })
            }
            _ => dim(&live::place(row)),
        }
    }
}

/// Returns one cell of the line of a sub-agent.
pub(super) fn subagent_cell(
    at: usize,
    row: &LiveRow,
    subagent: &LiveSubagent,
    shared: &Shared,
) -> StyledSpan {
    let Some(column) = COLUMNS.get(at) else { return StyledSpan::new("", Tone::Plain) };
    let id = SessionId::new(subagent.id.as_str());
    let known = shared.session(&SessionKey { source: row.session.source, id });
    let dim = |text: &str| StyledSpan::new(text, Tone::Dim);
    match column.heading {
        "mark" => dim("└"),
        "state" => dim(LiveState::Working.as_str()),
        "since" => dim(&live::span(shared.now.as_millisecond() - subagent.changed)),
        "project" => {
            let id = subagent.id.as_str();
            let short = if id.len() > 14 { id.get(..8).unwrap_or(id) } else { id };
            let title = known.and_then(|known| known.agent_title.as_deref());
            dim(&single_line(title.unwrap_or(short)))
        }
        "what" => {
            let own = session_key(row).and_then(|key| shared.session(&key));
            dim(&format!("sub-agent of {}", project(row, own.map(|own| &**own), shared)))
        }
        "tokens" => dim(&known.map(|known| count(known.tokens.total)).unwrap_or_default()),
        "cost" => dim(&known
            .map(|known| price(known.cost_usd, known.cost_is_lower_bound == Some(true)))
            .unwrap_or_default()),
        _ => dim(""),
    }
}

/// Returns the state that is shown: who has been acknowledged waits quietly.
fn shown_state(row: &LiveRow, shared: &Shared) -> LiveState {
    let is_quiet = shared.quiet.get(&row.key()) == Some(&row.state);
    if is_quiet && row.state == LiveState::Yours { LiveState::Idle } else { row.state }
}

fn project(row: &LiveRow, known: Option<&SessionFacts>, shared: &Shared) -> String {
    match known {
        Some(known) => shared.rows.names.name(&known.project).to_owned(),
        None => live::folder(row),
    }
}

/// Whether the context is nearly full.
fn is_full(used: u64, window: u64) -> bool {
    used.saturating_mul(100) >= window.saturating_mul(85)
}
