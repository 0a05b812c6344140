//! Plans of changes: what happens to each file, and the sums.

use std::collections::BTreeSet;
use std::sync::Arc;

use recount_changes::{FileState, Plan, Step};
use recount_engine::SessionOwner;
use recount_model::SessionFacts;

use crate::number::{bytes, plural};
use crate::span::StyledSpan;
use crate::theme::Tone;

/// Returns what happens to a file of a plan; `deleted` are the ids of the sessions that it deletes.
pub fn change(plan: &Plan, deleted: &BTreeSet<&str>, step: &Step) -> StyledSpan {
    let (change, tone) = match (&step.before, &step.after) {
        (Some(_), None) if step.moved_to.is_some() => ("moved", Tone::Dim),
        (Some(_), None) if step.session.as_deref().is_some_and(|id| deleted.contains(id)) => {
            ("to trash", Tone::Removed)
        }
        // The session is kept: the removed file is undo data.
        (Some(_), None) => ("remove", Tone::Removed),
        (None, _) if plan.undoes.is_some() => ("back", Tone::Added),
        (None, _) => ("new", Tone::Added),
        (Some(_), Some(_)) => ("change", Tone::Warning),
    };
    StyledSpan::new(change, tone)
}

/// Returns the size of a file before or after, as text.
pub fn size(state: Option<&FileState>) -> String {
    state.map_or("-".to_owned(), |state| bytes(state.bytes))
}

/// Returns the number of files that a plan changes, as text.
pub fn files(plan: &Plan) -> String {
    plural(plan.steps.len() as u64, "file")
}

/// Returns the number of sessions that a plan is about, as text.
pub fn sessions(plan: &Plan) -> String {
    plural(plan.sessions.len() as u64, "session")
}

/// Returns the sizes of the files before and after, as text.
pub fn shrunk(plan: &Plan) -> String {
    let (before, after) = sizes(plan);
    format!("{} -> {}", bytes(before), bytes(after))
}

/// Returns how much smaller files become, as text.
pub fn saved(plan: &Plan) -> String {
    let (before, after) = sizes(plan);
    let saved = before.saturating_sub(after);
    let share = (saved * 100).checked_div(before).unwrap_or_default();
    format!("saves {} of {} ({share}%)", bytes(saved), bytes(before))
}

/// Returns the total size of all files before and after.
fn sizes(plan: &Plan) -> (u64, u64) {
    let size = |states: Vec<&FileState>| states.iter().map(|state| state.bytes).sum();
    let before = size(plan.steps.iter().filter_map(|step| step.before.as_ref()).collect());
    let after = size(plan.steps.iter().filter_map(|step| step.after.as_ref()).collect());
    (before, after)
}

/// Says that a session is left out because a process uses it.
pub fn left_out(owner: &SessionOwner, chosen: &[Arc<SessionFacts>]) -> String {
    let facts = chosen.iter().find(|facts| facts.id == owner.session);
    let agent = facts.map_or("a process", |facts| facts.source.as_str());
    format!("{} is left out: {agent} (pid {}) works in it", owner.session.short(), owner.process)
}
