//! The evidence for a project's folder, its directories, and its likely new location.

use recount_engine::ProjectRow;
use recount_model::{Clue, ClueKind};
use recount_platform::Folders;

use crate::number::{bytes, plural};
use crate::span::{Line, StyledSpan};
use crate::theme::Tone;
use crate::words;

/// The width of the column of kinds.
const KIND: usize = 14;

/// Returns the evidence for a project's folder, strongest first.
pub fn clues(row: &ProjectRow, folders: &Folders) -> Vec<Line> {
    let mut clues: Vec<&Clue> = row.evidence.iter().collect();
    clues.sort_by_key(|clue| std::cmp::Reverse(clue.weight));
    let mut lines: Vec<Line> = clues.into_iter().map(|clue| line(clue, folders)).collect();
    if row.evidence.is_empty() {
        lines.push(Line::new([StyledSpan::new("  no evidence found", Tone::Dim)]));
    }
    lines
}

/// Returns the name of a project and its folder.
pub fn heading(row: &ProjectRow, folders: &Folders) -> Line {
    let path = row.path.as_ref().map(|path| folders.tilde(path.as_str())).unwrap_or_default();
    Line::new([
        StyledSpan::new(&row.name, Tone::Strong),
        StyledSpan::new("  ", Tone::Plain),
        StyledSpan::new(&path, Tone::Dim),
    ])
}

/// Returns a clue to a project's folder: its weight, what it does, its kind, and where it was found.
pub fn line(clue: &Clue, folders: &Folders) -> Line {
    let (verb, tone) = match clue {
        Clue { clue: ClueKind::Note, .. } => ("", Tone::Warning),
        Clue { proves: true, .. } => ("proves", Tone::Added),
        Clue { names: Some(_), .. } => ("against", Tone::Warning),
        _ => ("suggests", Tone::Plain),
    };
    let weight = if clue.weight == 0 { String::new() } else { clue.weight.to_string() };
    let mut detail = clue.detail.clone();
    if let Some(other) = &clue.names {
        detail = format!("{detail}: {}", folders.tilde(other.as_str()));
    }
    Line::new([
        StyledSpan::new(&format!("  {weight:>3} "), Tone::Dim),
        StyledSpan::new(&format!("{verb:<8} "), tone),
        StyledSpan::new(&format!("{:<KIND$} ", clue.clue.to_string()), Tone::Dim),
        StyledSpan::new(&detail, Tone::Plain),
    ])
}

/// Returns the directories in which the agents keep a project.
pub fn parts(row: &ProjectRow, folders: &Folders) -> Vec<Line> {
    let line = |part: &recount_engine::ProjectPart| {
        let directory = folders.tilde(&part.directory.to_string_lossy());
        let mut words =
            format!("  {directory}  {}, {}", plural(part.files as u64, "file"), bytes(part.bytes));
        if let Some(path) = part.path.as_ref().filter(|path| Some(*path) != row.path.as_ref()) {
            words = format!("{words}, {} {}", folders.tilde(path.as_str()), part.state);
        }
        Line::new([StyledSpan::new(&words, Tone::Plain)])
    };
    row.parts.iter().map(line).collect()
}

/// Returns the likely new location of a missing folder, and the command to run; with all evidence, or in one line.
pub fn new_place(row: &ProjectRow, all: bool, folders: &Folders) -> Vec<Line> {
    let (Some(old), Some(new)) = (&row.path, &row.moved_to) else { return Vec::new() };
    let sure = if new.likely { "likely moved to" } else { "perhaps moved to" };
    let reasons: Vec<&str> = new.evidence.iter().map(|clue| clue.detail.as_str()).collect();
    let mut lines = vec![Line::new([
        StyledSpan::new(&folders.tilde(old.as_str()), Tone::Strong),
        StyledSpan::new(&format!(" is gone, {sure} "), Tone::Plain),
        StyledSpan::new(&folders.tilde(&new.path), Tone::Strong),
    ])];
    if all {
        lines.extend(new.evidence.iter().map(|clue| line(clue, folders)));
    } else {
        lines.push(Line::new([StyledSpan::new(&format!("  {}", reasons.join("; ")), Tone::Dim)]));
    }
    let command = words::relocate(old.as_str(), &new.path);
    lines.push(Line::new([StyledSpan::new(&format!("  {command}"), Tone::Name)]));
    lines
}
