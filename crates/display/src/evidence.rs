//! The evidence for a project's folder.

use recount_model::{Clue, ClueKind};
use recount_platform::Folders;

use super::span::{Line, Span};
use super::theme::Tone;

/// The width of the column of kinds.
const KIND: usize = 14;

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
        Span::new(&format!("  {weight:>3} "), Tone::Dim),
        Span::new(&format!("{verb:<8} "), tone),
        Span::new(&format!("{:<KIND$} ", clue.clue.to_string()), Tone::Dim),
        Span::new(&detail, Tone::Plain),
    ])
}
