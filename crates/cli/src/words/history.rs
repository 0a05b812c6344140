//! What has become of changes.

use recount_changes::ChangeState;

/// Says what has become of a change.
pub(crate) fn state(state: ChangeState) -> &'static str {
    match state {
        ChangeState::Done => "done",
        ChangeState::PartlyUndone => "partly undone",
        ChangeState::Undone => "undone",
        ChangeState::TakenBack => "rolled back",
        ChangeState::CutShort => "interrupted",
    }
}
