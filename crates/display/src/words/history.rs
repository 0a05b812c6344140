//! Texts of the states of changes.

use jiff::Timestamp;
use recount_changes::{Change, ChangeState, Subject};

use crate::number::plural_exact;
use crate::when;

/// Returns the state of a change.
pub fn state(state: ChangeState) -> &'static str {
    match state {
        ChangeState::Done => "done",
        ChangeState::PartlyUndone => "partly undone",
        ChangeState::Undone => "undone",
        ChangeState::TakenBack => "rolled back",
        ChangeState::CutShort => "interrupted",
    }
}

/// Returns sessions on one line: the start of the id, and the title.
pub fn subjects(sessions: &[Subject]) -> String {
    let named = sessions.iter().map(|session| {
        let short: String = session.id.chars().take(8).collect();
        session.title.as_ref().map_or(short.clone(), |title| format!("{short} {title}"))
    });
    named.collect::<Vec<_>>().join(", ")
}

/// Describes a change: command, sessions, time and receipt.
pub fn described(change: &Change, now: Timestamp) -> String {
    let mut named = change.sessions.iter().map(|session| {
        let short: String = session.id.chars().take(8).collect();
        session.title.as_ref().map_or(short.clone(), |title| format!("{short} {title}"))
    });
    let first = named.next().map(|first| format!(" of {first}")).unwrap_or_default();
    let more = named.count();
    let more = if more > 0 {
        format!(" and {}", plural_exact(more, "more session"))
    } else {
        String::new()
    };
    let when = when::age(change.time, now);
    format!("{}{first}{more} ({when}, {})", change.command, change.receipt)
}
