//! The evidence for a project's folder, its directories, and its likely new location.

use recount_engine::ProjectRow;
use recount_model::Clue;

use crate::context::Context;
use crate::output::evidence::line;
use crate::output::number::{bytes, plural};
use crate::output::span::{Line, Span};
use crate::output::theme::Tone;
use crate::words;

/// Shows the evidence for a project's folder, strongest first.
pub(super) fn clues(row: &ProjectRow, context: &Context) -> String {
    let mut lines = vec![Line::default(), heading(row, context)];
    let mut clues: Vec<&Clue> = row.evidence.iter().collect();
    clues.sort_by_key(|clue| std::cmp::Reverse(clue.weight));
    lines.extend(clues.into_iter().map(|clue| line(clue, &context.folders)));
    if row.evidence.is_empty() {
        lines.push(Line::new([Span::new("  no evidence found", Tone::Dim)]));
    }
    context.page().print(lines)
}

fn heading(row: &ProjectRow, context: &Context) -> Line {
    let path =
        row.path.as_ref().map(|path| context.folders.tilde(path.as_str())).unwrap_or_default();
    Line::new([
        Span::new(&row.name, Tone::Strong),
        Span::new("  ", Tone::Plain),
        Span::new(&path, Tone::Dim),
    ])
}

/// Shows the directories in which the agents keep a project.
pub(super) fn parts(row: &ProjectRow, context: &Context) -> String {
    let mut lines = vec![Line::default(), heading(row, context)];
    for part in &row.parts {
        let directory = context.folders.tilde(&part.directory.to_string_lossy());
        let mut words =
            format!("  {directory}  {}, {}", plural(part.files as u64, "file"), bytes(part.bytes));
        if let Some(path) = part.path.as_ref().filter(|path| Some(*path) != row.path.as_ref()) {
            words = format!("{words}, {} {}", context.folders.tilde(path.as_str()), part.state);
        }
        lines.push(Line::new([Span::new(&words, Tone::Plain)]));
    }
    context.page().print(lines)
}

/// Shows the likely new locations of missing folders, and the commands to run.
pub(super) fn new_places(rows: &[ProjectRow], all: bool, context: &Context) -> String {
    let mut lines = Vec::new();
    for row in rows {
        let (Some(old), Some(new)) = (&row.path, &row.moved_to) else { continue };
        let sure = if new.likely { "likely moved to" } else { "perhaps moved to" };
        let reasons: Vec<&str> = new.evidence.iter().map(|clue| clue.detail.as_str()).collect();
        lines.push(Line::default());
        lines.push(Line::new([
            Span::new(&context.folders.tilde(old.as_str()), Tone::Strong),
            Span::new(&format!(" is gone, {sure} "), Tone::Plain),
            Span::new(&context.folders.tilde(&new.path), Tone::Strong),
        ]));
        if all {
            lines.extend(new.evidence.iter().map(|clue| line(clue, &context.folders)));
        } else {
            lines.push(Line::new([Span::new(&format!("  {}", reasons.join("; ")), Tone::Dim)]));
        }
        let command = words::relocate(old.as_str(), &new.path);
        lines.push(Line::new([Span::new(&format!("  {command}"), Tone::Name)]));
    }
    context.page().print(lines)
}
