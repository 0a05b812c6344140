//! Hits for people: each session with its best lines.

use std::ops::Range;

use recount_display::transcript::part_tone;
use recount_engine::{Match, SearchResults};
use recount_model::{Fate, Message};

use crate::context::Context;
use crate::output::project_names::ProjectNames;
use crate::output::span::{Line, StyledSpan};
use crate::output::theme::Tone;
use crate::output::width::{pad_to, truncate_to, width};
use crate::when;

/// Writes each session with its hits.
pub(super) fn lines(
    answer: &SearchResults,
    around: &[Vec<Message>],
    room: usize,
    context: &Context,
) -> Vec<Line> {
    let names = ProjectNames::of(answer.hits.iter().map(|hit| &*hit.session.project));
    let mut lines = Vec::new();
    let mut last = None;
    for (at, hit) in answer.hits.iter().enumerate() {
        if last != Some(&hit.session.id) {
            if last.is_some() {
                lines.push(Line::default());
            }
            lines.push(heading(hit, &names, room, context));
            last = Some(&hit.session.id);
        }
        let near = around.get(at).map(Vec::as_slice).unwrap_or_default();
        let place = near.iter().position(|message| message.place == hit.message.place);
        let (before, behind) = near.split_at(place.unwrap_or(0));
        lines.extend(before.iter().map(|message| neighbour(message, room)));
        lines.push(line(at + 1, hit, room));
        lines.extend(behind.iter().skip(1).map(|message| neighbour(message, room)));
    }
    lines
}

/// Returns a row for each hit, for programs: number, session, project, time, speaker, best line.
pub(super) fn rows(answer: &SearchResults) -> Vec<Vec<StyledSpan>> {
    let names = ProjectNames::of(answer.hits.iter().map(|hit| &*hit.session.project));
    let row = |(at, hit): (usize, &Match)| {
        let time = hit.message.time.map(|time| time.to_string()).unwrap_or_default();
        let snippet = hit.snippet.as_ref().map_or("", |snippet| snippet.text.as_str());
        let cells = [
            &(at + 1).to_string(),
            hit.session.id.as_str(),
            names.name(&hit.session.project),
            &time,
            &who(hit),
            snippet,
        ];
        cells.map(|text| StyledSpan::new(text, Tone::Plain)).to_vec()
    };
    answer.hits.iter().enumerate().map(row).collect()
}

/// Returns the part of a message that matches.
fn who(hit: &Match) -> String {
    let field = hit.snippet.as_ref().map(|snippet| snippet.field.name().to_owned());
    field.unwrap_or_else(|| hit.message.kind.to_string())
}

/// Returns a context message: its first words, in the same columns.
fn neighbour(message: &Message, room: usize) -> Line {
    let time = message.time.map(when::clock_time).unwrap_or_default();
    let said = message.display_text.split_whitespace().collect::<Vec<_>>().join(" ");
    let called = || {
        let call = message.tool_calls.first()?;
        Some(format!("{} {}", call.name, call.key_arg.as_deref().unwrap_or_default()))
    };
    let words = if said.is_empty() { called().unwrap_or_default() } else { said };
    let mut spans = vec![
        StyledSpan::new("    ", Tone::Dim),
        StyledSpan::new(&format!("{time:<5} "), Tone::Dim),
        StyledSpan::new(&pad_to(&message.kind.to_string(), 8), Tone::Dim),
    ];
    let left = room.saturating_sub(spans.iter().map(StyledSpan::width).sum());
    spans.push(StyledSpan::new(&truncate_to(&words, left), Tone::Dim));
    Line::new(spans)
}

/// Returns title, project, age and id on one line.
fn heading(hit: &Match, names: &ProjectNames, room: usize, context: &Context) -> Line {
    let session = &hit.session;
    let age = session.updated.map(|used| when::age(used, context.clock.now())).unwrap_or_default();
    let project = names.name(&session.project);
    let gone = if hit.is_gone { "  gone" } else { "" };
    let behind = format!("  {project}  {age}  {}{gone}", session.id.prefix());
    let title = session.shown_title().replace('\n', " ");
    let left = room.saturating_sub(width(&behind)).max(10);
    Line::new([
        StyledSpan::new(&pad_to(&truncate_to(&title, left), left.min(60)), Tone::Strong),
        StyledSpan::new(&format!("  {project}"), Tone::Plain),
        StyledSpan::new(&format!("  {age}  "), Tone::Dim),
        StyledSpan::new(session.id.prefix(), Tone::Name),
        StyledSpan::new(gone, Tone::Warning),
    ])
}

/// Returns number, time, speaker and best line.
fn line(number: usize, hit: &Match, room: usize) -> Line {
    let time = hit.message.time.map(when::clock_time).unwrap_or_default();
    let mut spans = vec![
        StyledSpan::new(&format!("{number:>3} "), Tone::Dim),
        StyledSpan::new(&format!("{time:<5} "), Tone::Dim),
        StyledSpan::new(
            &pad_to(&who(hit), 8),
            part_tone(hit.snippet.as_ref().map(|snippet| snippet.field)),
        ),
    ];
    if hit.message.fate != Fate::Kept {
        spans.push(StyledSpan::new(&format!("({}) ", hit.message.fate), Tone::Warning));
    }
    let mut left = room.saturating_sub(spans.iter().map(StyledSpan::width).sum());
    let mut push = |text: &str, tone| {
        // The details of the hit take some of the width.
        let cut = truncate_to(text, left);
        left = left.saturating_sub(width(&cut));
        spans.push(StyledSpan::new(&cut, tone));
    };
    if hit.is_gone {
        push("its file is gone, and the text with it", Tone::Dim);
    }
    if let Some(snippet) = &hit.snippet {
        let mut from = 0;
        for Range { start, end } in snippet.highlights.iter().cloned() {
            push(snippet.text.get(from..start).unwrap_or_default(), Tone::Plain);
            push(snippet.text.get(start..end).unwrap_or_default(), Tone::Match);
            from = end;
        }
        push(snippet.text.get(from..).unwrap_or_default(), Tone::Plain);
    }
    Line::new(spans)
}
