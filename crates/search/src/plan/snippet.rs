//! Snippets: the match in its context, on one line.

use std::ops::Range;

use unicode_width::UnicodeWidthChar as _;

use super::QueryPlan;
use super::occurrence::{Extent, Occurrence, OccurrenceFinder};
use crate::document::{Field, FieldSet, MessageTexts};
use crate::query::TextLeaf;

/// A line of a message, with the matches in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The field it is from.
    pub field: Field,
    /// The text: one line, cut at words, with `…` where it was cut.
    pub text: String,
    /// The matches, in bytes of `text`; in order and not adjacent.
    pub highlights: Vec<Range<usize>>,
}

/// The maximum number of candidates in one text.
const MAX_WINDOWS: usize = 128;
/// Bytes of text considered per column; white space may take some.
const REACH: usize = 8;
const ELLIPSIS: char = '…';

/// A range of a text that contains matches.
struct Window<'t> {
    field: Field,
    text: &'t str,
    range: Range<usize>,
    spots: Vec<Occurrence>,
    /// The number of distinct leaves, the field's weight, and the number of matches: more is better, in this order.
    worth: (usize, f32, usize),
}

impl QueryPlan {
    /// Returns the best line of a message, at most `width` columns wide: the range with most of the query, from the field
    /// with the highest weight. `None` if the message has no text.
    pub fn snippet(&self, texts: &MessageTexts<'_>, width: usize) -> Option<Snippet> {
        let leaves = self.text_leaves();
        let mut finder = OccurrenceFinder::default();
        let mut best: Option<Window<'_>> = None;
        for field in by_weight() {
            let wanted: Vec<&TextLeaf> = leaves
                .iter()
                .filter(|(leaf, speaks_for)| *speaks_for && leaf.fields.contains(field))
                .map(|(leaf, _)| *leaf)
                .collect();
            for text in texts.values(field).filter(|_| !wanted.is_empty()) {
                let spots = finder.spots(text, &wanted, Extent::Everywhere);
                let window = best_window(field, text, spots, width);
                best = match (best, window) {
                    (Some(best), Some(window)) if window.worth.0 <= best.worth.0 => Some(best),
                    (best, None) => best,
                    (_, window) => window,
                };
            }
        }
        best.or_else(|| opening(texts)).map(|window| window.line(width))
    }
}

fn by_weight() -> impl Iterator<Item = Field> {
    let mut fields: Vec<Field> = FieldSet::TEXTS.iter().collect();
    fields.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    fields.into_iter()
}

/// Returns the start of the message, if there are no matches.
fn opening<'t>(texts: &MessageTexts<'t>) -> Option<Window<'t>> {
    by_weight().find_map(|field| {
        let text = texts.values(field).find(|text| !text.trim().is_empty())?;
        let spots = Vec::new();
        Some(Window { field, text, range: 0..0, spots, worth: (0, field.weight(), 0) })
    })
}

fn best_window(
    field: Field,
    text: &str,
    mut spots: Vec<Occurrence>,
    width: usize,
) -> Option<Window<'_>> {
    spots.sort_by_key(|spot| (spot.range.start, spot.range.end));
    let mut best: Option<((usize, usize), Range<usize>)> = None;
    for (index, first) in spots.iter().enumerate().take(MAX_WINDOWS) {
        let start = first.range.start;
        let mut leaves: Vec<usize> = Vec::new();
        let mut end = first.range.end;
        let mut count = 0;
        for spot in spots.iter().skip(index) {
            let is_near = spot.range.end.saturating_sub(start) <= width * 4
                && columns(text, start..spot.range.end) + 2 <= width;
            if count > 0 && !is_near {
                break;
            }
            end = end.max(spot.range.end);
            count += 1;
            if !leaves.contains(&spot.leaf) {
                leaves.push(spot.leaf);
            }
        }
        let worth = (leaves.len(), count);
        if best.as_ref().is_none_or(|(before, _)| worth > *before) {
            best = Some((worth, start..end));
        }
    }
    let ((leaves, count), range) = best?;
    Some(Window { field, text, range, spots, worth: (leaves, field.weight(), count) })
}

fn columns(text: &str, range: Range<usize>) -> usize {
    text.get(range).unwrap_or_default().chars().map(columns_of).sum()
}

fn columns_of(character: char) -> usize {
    character.width().unwrap_or(0)
}

/// A character of the line, and its position in the text.
#[derive(Clone, Copy, Debug)]
struct Cell {
    character: char,
    at: usize,
}

impl Window<'_> {
    fn line(self, width: usize) -> Snippet {
        let reach = width.saturating_mul(REACH).max(64);
        let from = floor(self.text, self.range.start.saturating_sub(reach));
        let to =
            floor(self.text, self.range.start.saturating_add(reach + self.range.len().min(reach)));
        let cells = flattened(self.text, from..to);
        let shown = self.shown(&cells, from > 0, to < self.text.len(), width);
        self.drawn(&cells, shown, from > 0, to < self.text.len())
    }

    /// Returns the cells to show: the window, a third of the rest before it, the others after.
    fn shown(
        &self,
        cells: &[Cell],
        more_before: bool,
        more_behind: bool,
        width: usize,
    ) -> Range<usize> {
        let first = cells.partition_point(|cell| cell.at < self.range.start);
        let last = cells.partition_point(|cell| cell.at < self.range.end).max(first);
        let room = width.saturating_sub(2).max(1);
        let wide = |range: Range<usize>| -> usize {
            let cells = cells.get(range).unwrap_or_default();
            cells.iter().map(|cell| columns_of(cell.character)).sum()
        };
        let spare = room.saturating_sub(wide(first..last));
        let behind = wide(last..cells.len());
        let before = (spare / 3).max(spare.saturating_sub(behind));
        let mut start = backward(cells, first, before);
        if start > 0 || more_before {
            start = next_word(cells, start, first);
        }
        let room = width.saturating_sub(usize::from(start > 0 || more_before)).max(1);
        let mut end = forward(cells, start, room);
        if end < cells.len() || more_behind {
            end = forward(cells, start, room.saturating_sub(1));
            end = last_word(cells, end, last.min(end));
        }
        start..end
    }

    fn drawn(
        &self,
        cells: &[Cell],
        shown: Range<usize>,
        more_before: bool,
        more_behind: bool,
    ) -> Snippet {
        let mut text = String::new();
        let mut highlights: Vec<Range<usize>> = Vec::new();
        if shown.start > 0 || more_before {
            text.push(ELLIPSIS);
        }
        for cell in cells.get(shown.clone()).unwrap_or_default() {
            let start = text.len();
            text.push(cell.character);
            let is_found = self.spots.iter().any(|spot| spot.range.contains(&cell.at));
            match highlights.last_mut() {
                Some(last) if is_found && last.end == start => last.end = text.len(),
                _ if is_found => highlights.push(start..text.len()),
                _ => {}
            }
        }
        if shown.end < cells.len() || more_behind {
            text.push(ELLIPSIS);
        }
        Snippet { field: self.field, text, highlights }
    }
}

/// The nearest character boundary at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Returns the characters of a range, each run of white space and controls as one space, none at the ends.
fn flattened(text: &str, range: Range<usize>) -> Vec<Cell> {
    let base = range.start;
    let mut cells: Vec<Cell> = Vec::new();
    for (at, character) in text.get(range).unwrap_or_default().char_indices() {
        let at = base + at;
        if !character.is_whitespace() && !character.is_control() {
            cells.push(Cell { character, at });
        } else if cells.last().is_some_and(|last| last.character != ' ') {
            cells.push(Cell { character: ' ', at });
        }
    }
    if cells.last().is_some_and(|last| last.character == ' ') {
        cells.pop();
    }
    cells
}

/// Goes back from a cell as far as there are columns.
fn backward(cells: &[Cell], from: usize, mut room: usize) -> usize {
    let before = cells.get(..from).unwrap_or_default();
    let count = before.iter().rev().take_while(|cell| take(cell, &mut room)).count();
    from - count
}

/// Goes forward from a cell as far as there are columns.
fn forward(cells: &[Cell], from: usize, mut room: usize) -> usize {
    let behind = cells.get(from..).unwrap_or_default();
    from + behind.iter().take_while(|cell| take(cell, &mut room)).count()
}

fn take(cell: &Cell, room: &mut usize) -> bool {
    let left = room.checked_sub(columns_of(cell.character));
    *room = left.unwrap_or(0);
    left.is_some()
}

/// Returns the first word that begins at or after `from`; `from` itself if none begins before `limit`.
fn next_word(cells: &[Cell], from: usize, limit: usize) -> usize {
    let is_blank = |at: usize| cells.get(at).is_some_and(|cell| cell.character == ' ');
    if from == 0 || is_blank(from - 1) {
        return from;
    }
    (from..limit).find(|&at| is_blank(at)).map_or(from, |at| at + 1)
}

/// Returns the end of the last whole word before `from`; `from` itself if that would cut into the match.
fn last_word(cells: &[Cell], from: usize, limit: usize) -> usize {
    let is_blank = |at: usize| cells.get(at).is_some_and(|cell| cell.character == ' ');
    if is_blank(from) {
        return from;
    }
    (limit..from).rev().find(|&at| is_blank(at)).unwrap_or(from)
}
