//! The evidence for a project's folder, its directories, and its likely new location.

use recount_display::evidence;
use recount_engine::ProjectRow;

use crate::context::Context;
use crate::output::span::Line;

/// Shows the evidence for a project's folder, strongest first.
pub(super) fn clues(row: &ProjectRow, context: &Context) -> String {
    let clues = evidence::clues(row, &context.folders);
    let heading = evidence::heading(row, &context.folders);
    context.page().print([Line::default(), heading].into_iter().chain(clues))
}

/// Shows the directories in which the agents keep a project.
pub(super) fn parts(row: &ProjectRow, context: &Context) -> String {
    let parts = evidence::parts(row, &context.folders);
    let heading = evidence::heading(row, &context.folders);
    context.page().print([Line::default(), heading].into_iter().chain(parts))
}

/// Shows the likely new locations of missing folders, and the commands to run.
pub(super) fn new_places(rows: &[ProjectRow], all: bool, context: &Context) -> String {
    let places = rows.iter().map(|row| evidence::new_place(row, all, &context.folders));
    let places = places.filter(|lines| !lines.is_empty());
    let lines = places.flat_map(|lines| std::iter::once(Line::default()).chain(lines));
    context.page().print(lines)
}
