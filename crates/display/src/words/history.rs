//! Texts of the states of changes.

use recount_changes::{ChangeState, Subject};

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
