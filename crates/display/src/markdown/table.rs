//! Tables: aligned, wrapped within their cells if too wide, and a list of rows if even that does not fit.

use recount_blocks::Alignment;

use crate::span::{Line, StyledSpan};
use crate::theme::{Tone, blend};
use crate::wrap::wrap;

/// The separator between two columns.
const BAR: &str = " │ ";
const BAR_WIDTH: usize = 3;
/// A narrower column, if its text is wider, cannot be read.
const MIN_COLUMN: usize = 8;

type Cell = Vec<StyledSpan>;

#[derive(Debug)]
pub(super) struct Table<'a> {
    alignments: &'a [Alignment],
    /// The headings, then the rows.
    rows: Vec<Vec<Cell>>,
}

impl<'a> Table<'a> {
    pub(super) fn new(alignments: &'a [Alignment]) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    pub(super) fn open_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn push(&mut self, cell: Cell) {
        let is_heading = self.rows.len() == 1;
        if let Some(row) = self.rows.last_mut() {
            row.push(if is_heading { strong(&cell) } else { cell });
        }
    }

    /// Lays the table out for the given width.
    pub(super) fn lines(&self, width: usize) -> Vec<Line> {
        match self.column_widths(width) {
            Some(widths) => self.grid(&widths),
            None => self.list(width),
        }
    }

    /// Distributes the width: columns that need less than an equal share leave the rest to the others.
    fn column_widths(&self, width: usize) -> Option<Vec<usize>> {
        let natural = self.natural_widths();
        let bars = BAR_WIDTH * natural.len().saturating_sub(1);
        let room = width.checked_sub(bars)?;
        let mut sorted = natural.clone();
        sorted.sort_unstable();
        let mut left = room;
        let mut cap = usize::MAX;
        for (index, &wanted) in sorted.iter().enumerate() {
            let share = left / (sorted.len() - index);
            if wanted > share {
                cap = share;
                break;
            }
            left -= wanted;
        }
        (cap >= MIN_COLUMN).then(|| natural.iter().map(|&wanted| wanted.min(cap)).collect())
    }

    fn natural_widths(&self) -> Vec<usize> {
        let mut widths = vec![1; self.alignments.len()];
        for row in &self.rows {
            for (widest, cell) in widths.iter_mut().zip(row) {
                let lines = wrap(cell, usize::MAX);
                *widest = lines.iter().map(Line::width).fold(*widest, usize::max);
            }
        }
        widths
    }

    fn grid(&self, widths: &[usize]) -> Vec<Line> {
        let rows: Vec<Vec<Line>> = self.rows.iter().map(|row| self.grid_row(row, widths)).collect();
        // Rows of several lines need a separator.
        let needs_rules = rows.iter().any(|row| row.len() > 1);
        let bars: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
        let rule = Line::new([StyledSpan::new(&bars.join("─┼─"), Tone::Dim)]);
        let mut lines = Vec::new();
        for (index, row) in rows.into_iter().enumerate() {
            if index == 1 || (index > 1 && needs_rules) {
                lines.push(rule.clone());
            }
            lines.extend(row);
        }
        lines
    }

    fn grid_row(&self, row: &[Cell], widths: &[usize]) -> Vec<Line> {
        let cells: Vec<Vec<Line>> =
            row.iter().zip(widths).map(|(cell, &width)| wrap(cell, width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        let columns = || widths.iter().zip(self.alignments).enumerate();
        (0..height)
            .map(|at| {
                Line::new(columns().flat_map(|(index, (&width, &alignment))| {
                    let line = cells.get(index).and_then(|lines| lines.get(at));
                    let bar = (index > 0).then(|| StyledSpan::new(BAR, Tone::Dim));
                    bar.into_iter().chain(aligned(line, width, alignment))
                }))
            })
            .collect()
    }

    /// Shows each row as lines of `heading: cell`.
    fn list(&self, width: usize) -> Vec<Line> {
        let Some((headings, rows)) = self.rows.split_first() else {
            return Vec::new();
        };
        if rows.is_empty() {
            return headings.iter().flat_map(|cell| wrap(cell, width)).collect();
        }
        let mut lines = Vec::new();
        for row in rows {
            if !lines.is_empty() {
                lines.push(Line::default());
            }
            for (heading, cell) in headings.iter().zip(row) {
                let mut entry = heading.clone();
                entry.push(StyledSpan::new(": ", Tone::Dim));
                entry.extend(cell.iter().cloned());
                lines.extend(wrap(&entry, width));
            }
        }
        lines
    }
}

fn strong(cell: &[StyledSpan]) -> Cell {
    let strong = |span: &StyledSpan| {
        StyledSpan::styled(span.text(), blend(Tone::Strong.style(), span.style()))
    };
    cell.iter().map(strong).collect()
}

fn aligned(line: Option<&Line>, width: usize, alignment: Alignment) -> Vec<StyledSpan> {
    let missing = width.saturating_sub(line.map_or(0, Line::width));
    let before = match alignment {
        Alignment::None | Alignment::Left => 0,
        Alignment::Center => missing / 2,
        Alignment::Right => missing,
    };
    let blanks = |count: usize| StyledSpan::new(&" ".repeat(count), Tone::Plain);
    let mut spans = vec![blanks(before)];
    spans.extend(line.into_iter().flat_map(|line| line.spans().iter().cloned()));
    spans.push(blanks(missing - before));
    spans
}
