//! What running sessions do, in a few words: for the board of the command line and of the app.

use std::path::Path;

use recount_engine::live::{LiveRow, Projection};
use recount_model::{LiveState, SessionFacts, Tokens, timestamp};

use crate::number::{at_least, count, price};
use crate::sanitize::single_line;
use crate::theme::Tone;
use crate::when;

/// Returns the mark of a state, and how it is drawn.
pub fn mark(state: LiveState) -> (&'static str, Tone) {
    match state {
        LiveState::Approve => ("!", Tone::Warning),
        LiveState::Yours => ("›", Tone::Prompt),
        LiveState::Tool => ("▶", Tone::Tool),
        LiveState::Working => ("●", Tone::Plain),
        LiveState::Idle => ("·", Tone::Dim),
        LiveState::Failed => ("✗", Tone::Error),
        LiveState::Done => ("✓", Tone::Dim),
        LiveState::Gone => ("○", Tone::Error),
    }
}

/// Returns a state; one that is only inferred has a `?`.
pub fn state(state: LiveState, is_certain: bool) -> String {
    format!("{}{}", state.as_str(), if is_certain { "" } else { "?" })
}

/// Returns the name of the folder that the agent works in.
pub fn folder(row: &LiveRow) -> String {
    let folder = row.session.folder.as_deref().map(Path::new).and_then(Path::file_name);
    folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns how full the context is: in percent, or in tokens if its size is unknown.
#[expect(clippy::cast_precision_loss, reason = "a percentage needs no exact digits")]
pub fn context(row: &LiveRow) -> String {
    match row.context {
        Some((used, Some(window))) => {
            format!("{:.0} %", used as f64 * 100.0 / window.max(1) as f64)
        }
        Some((used, None)) => count(used),
        None => String::new(),
    }
}

/// Returns the terminal that a session is in, else its process.
pub fn place(row: &LiveRow) -> String {
    let (session, terminal) = (&row.session, &row.session.terminal);
    let panes =
        [("tmux", &terminal.tmux), ("wezterm", &terminal.wezterm), ("kitty", &terminal.kitty)];
    let pane =
        panes.into_iter().find_map(|(name, pane)| Some(format!("{name} {}", pane.as_ref()?)));
    match (pane, &terminal.tty, session.process) {
        (Some(pane), _, _) => pane,
        (None, Some(tty), _) => tty.trim_start_matches("/dev/").to_owned(),
        (None, None, Some(pid)) => format!("pid {pid}"),
        (None, None, None) => String::new(),
    }
}

/// Says in a few words what a session is at.
pub fn what(row: &LiveRow, title: Option<&str>) -> String {
    let session = &row.session;
    let again = session.circling.as_ref();
    let again = again.map(|one| format!(" (×{}, the same result)", one.times)).unwrap_or_default();
    if let Some(tool) = &session.tool {
        let argument = tool.argument.as_deref().unwrap_or_default();
        return format!("{} {argument}{again}", tool.name);
    }
    let doing = session.doing.as_deref();
    let text = if row.state == LiveState::Working { title.or(doing) } else { doing.or(title) };
    format!("{}{again}", text.unwrap_or_default())
}

/// Returns what was used and what it cost: of the whole session if its row is known.
pub fn used(row: &LiveRow, known: Option<&SessionFacts>) -> (Tokens, String) {
    match known {
        Some(known) if known.tokens.total >= row.tokens.total => {
            (known.tokens, price(known.cost_usd, known.cost_is_lower_bound == Some(true)))
        }
        _ => (row.tokens, price(row.cost_usd, false)),
    }
}

/// Says what was spent, of how much, and when that is reached if agents go on like this.
pub fn spent(period: &Projection) -> String {
    let spent = at_least(&dollars(period.spent_usd), period.is_lower_bound);
    let Some(limit) = period.limit_usd else { return spent };
    let reached = match period.reached.and_then(timestamp) {
        Some(_) if period.spent_usd >= limit => ", over".to_owned(),
        Some(reached) => format!(", reached {} at this rate", when::minute(reached)),
        None => String::new(),
    };
    format!("{spent} of {}{reached}", dollars(limit))
}

/// Returns dollars, with more digits for small sums.
pub fn dollars(sum: f64) -> String {
    if sum < 0.1 { format!("${sum:.3}") } else { format!("${sum:.2}") }
}

/// Returns the bytes that ring and show a notification in a terminal of this kind (`TERM`), each in its own dialect.
pub fn notification(term: &str, words: &str) -> String {
    let words = single_line(words);
    if term.contains("kitty") {
        format!("\x07\x1b]99;;{words}\x1b\\")
    } else if term.starts_with("rxvt") || term.starts_with("foot") {
        format!("\x07\x1b]777;notify;recount;{words}\x1b\\")
    } else {
        format!("\x07\x1b]9;{words}\x1b\\")
    }
}

/// Returns a span of time as a clock shows it.
pub fn span(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{:02}", seconds % 60)
    } else {
        format!("{minutes}:{:02}", seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_one_sequence_whatever_it_says() {
        for (term, start) in [
            ("xterm-256color", "\x07\x1b]9;"),
            ("xterm-kitty", "\x07\x1b]99;;"),
            ("foot", "\x07\x1b]777;notify;recount;"),
        ] {
            let bytes = notification(term, "a\x1b\\b\x07c\nd");
            let inner = bytes.strip_prefix(start).and_then(|rest| rest.strip_suffix("\x1b\\"));
            let inner = inner.unwrap_or_else(|| panic!("{bytes:?}"));
            assert!(!inner.chars().any(char::is_control), "{bytes:?}");
        }
    }
}
