//! Aligned columns, as for a list of sessions.
//!
//! Every row takes one line. If the page is too narrow, columns are dropped in the order they allow, and one flexible
//! column is cut.

use super::canvas::Canvas;
use super::span::{Line, StyledSpan};
use super::theme::Tone;
use super::width::{pad_to, truncate_start, truncate_to, width};

/// The gap between two columns.
const GAP: usize = 2;
/// The minimum width of the flexible column before others are dropped.
const FLEXIBLE_MIN: usize = 16;

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its heading.
    pub heading: &'static str,
    /// Its alignment.
    pub align: Align,
    /// What happens to it on a narrow page.
    pub fit: Fit,
}

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// On the left, as words do.
    Left,
    /// On the right, as numbers do.
    Right,
    /// On the left, and cut at its start: the end of a path is most informative.
    Path,
}

/// What happens to a column if the page is too narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It keeps its width.
    Keep,
    /// It is cut to the remaining width.
    Flexible,
    /// It is dropped; lower numbers first.
    Drop(u8),
}

/// Renders headings and rows of cells. A cell keeps its style and is put on one line.
pub fn render(columns: &[Column], rows: &[Vec<StyledSpan>], canvas: &Canvas) -> String {
    canvas.print(lines(columns, rows, canvas.room()))
}

/// Lays out headings and rows of cells for a page of the given width.
pub fn lines(columns: &[Column], rows: &[Vec<StyledSpan>], width: usize) -> Vec<Line> {
    let shown = layout(columns, &natural_widths(columns, rows), width);
    let heading = |index: usize| columns.get(index).map(|column| column.heading);
    let headings: Vec<StyledSpan> = (0..columns.len())
        .map(|index| StyledSpan::new(heading(index).unwrap_or_default(), Tone::Dim))
        .collect();
    let rows = std::iter::once(&headings).chain(rows);
    rows.map(|row| line(&shown, row)).collect()
}

/// Renders rows for programs: complete, a tab between two cells, no headings, no colors.
pub fn tabs(rows: &[Vec<StyledSpan>]) -> String {
    let mut page = String::new();
    for row in rows {
        for (at, cell) in row.iter().enumerate() {
            if at > 0 {
                page.push('\t');
            }
            // Neither can be within a cell: a span has no tabs, and line breaks become spaces.
            page.extend(cell.text().chars().map(|c| if c == '\n' { ' ' } else { c }));
        }
        page.push('\n');
    }
    page
}

/// A visible column, and its width.
#[derive(Clone, Debug)]
struct VisibleColumn {
    index: usize,
    width: usize,
    align: Align,
    fit: Fit,
}

fn natural_widths(columns: &[Column], rows: &[Vec<StyledSpan>]) -> Vec<usize> {
    let mut widths: Vec<usize> = columns.iter().map(|column| width(column.heading)).collect();
    for row in rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = (*widest).max(cell.width());
        }
    }
    widths
}

fn layout(columns: &[Column], natural: &[usize], room: usize) -> Vec<VisibleColumn> {
    let all = columns.iter().zip(natural).enumerate();
    let mut shown: Vec<VisibleColumn> = all
        .map(|(index, (column, &width))| VisibleColumn {
            index,
            width,
            align: column.align,
            fit: column.fit,
        })
        .collect();
    while needed(&shown) > room
        && let Some(drop) = first_to_go(&shown)
    {
        shown.remove(drop);
    }
    let flexible = shown.iter().position(|column| column.fit == Fit::Flexible);
    if let Some(column) = flexible.and_then(|index| shown.get_mut(index)) {
        column.width = 0;
        let others = total(&shown);
        if let Some(column) = flexible.and_then(|index| shown.get_mut(index)) {
            let wanted = natural.get(column.index).copied().unwrap_or_default();
            column.width = wanted.min(room.saturating_sub(others));
        }
    }
    // Columns that must not be dropped and still do not fit are cut, the widest first.
    while let Some(excess) = total(&shown).checked_sub(room).filter(|excess| *excess > 0)
        && let Some(widest) = shown.iter_mut().max_by_key(|column| column.width)
        && widest.width > 1
    {
        widest.width -= excess.min(widest.width / 2).max(1);
    }
    // Gaps alone may be wider than the page.
    while total(&shown) > room && shown.pop().is_some() {}
    shown
}

fn total(shown: &[VisibleColumn]) -> usize {
    let gaps = GAP * shown.len().saturating_sub(1);
    shown.iter().fold(gaps, |sum, column| sum.saturating_add(column.width))
}

/// Returns the width that is needed if the flexible column is cut to its minimum.
fn needed(shown: &[VisibleColumn]) -> usize {
    let spared = shown
        .iter()
        .filter(|column| column.fit == Fit::Flexible)
        .map(|column| column.width.saturating_sub(FLEXIBLE_MIN))
        .sum();
    total(shown).saturating_sub(spared)
}

fn first_to_go(shown: &[VisibleColumn]) -> Option<usize> {
    let rank = |column: &VisibleColumn| match column.fit {
        Fit::Drop(rank) => Some(rank),
        Fit::Keep | Fit::Flexible => None,
    };
    let ranked = shown.iter().enumerate().filter_map(|(at, column)| Some((rank(column)?, at)));
    ranked.min().map(|(_, at)| at)
}

fn line(shown: &[VisibleColumn], row: &[StyledSpan]) -> Line {
    let mut spans = Vec::with_capacity(2 * shown.len());
    for (place, column) in shown.iter().enumerate() {
        if place > 0 {
            spans.push(StyledSpan::new(&" ".repeat(GAP), Tone::Plain));
        }
        let Some(cell) = row.get(column.index) else {
            spans.push(StyledSpan::new(&" ".repeat(column.width), Tone::Plain));
            continue;
        };
        // Cut and pad as one text: what is measured is what is printed.
        let text = cell.text().replace('\n', " ");
        let text = match column.align {
            Align::Path => truncate_start(&text, column.width),
            Align::Left | Align::Right => truncate_to(&text, column.width),
        };
        let text = match column.align {
            Align::Left | Align::Path => pad_to(&text, column.width),
            Align::Right => {
                let missing = column.width.saturating_sub(width(&text));
                " ".repeat(missing) + &text
            }
        };
        spans.push(StyledSpan::styled(&text, cell.style()));
    }
    Line::new(spans)
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Paint;
    use super::*;

    const COLUMNS: &[Column] = &[
        Column { heading: "ID", align: Align::Left, fit: Fit::Keep },
        Column { heading: "UPDATED", align: Align::Left, fit: Fit::Drop(2) },
        Column { heading: "MESSAGES", align: Align::Right, fit: Fit::Drop(1) },
        Column { heading: "TITLE", align: Align::Left, fit: Fit::Flexible },
    ];

    fn shown(width: usize) -> String {
        let rows = [
            ["3f2a91c0", "2 hours ago", "12", "Fix the parser of\nnested \x1b[31mlists"],
            ["77aa0012", "yesterday", "1408", "修复嵌套列表的解析器并添加测试"],
        ]
        .map(|row| row.map(|cell| StyledSpan::new(cell, Tone::Plain)).to_vec());
        render(COLUMNS, &rows, &Canvas::new(width, Paint::Off))
    }

    #[test]
    fn a_wide_page_shows_everything() {
        insta::assert_snapshot!(shown(usize::MAX), @"
        ID        UPDATED      MESSAGES  TITLE
        3f2a91c0  2 hours ago        12  Fix the parser of nested ␛[31mlists
        77aa0012  yesterday        1408  修复嵌套列表的解析器并添加测试
        ");
    }

    #[test]
    fn the_flexible_column_is_cut_first() {
        insta::assert_snapshot!(shown(52), @"
        ID        UPDATED      MESSAGES  TITLE
        3f2a91c0  2 hours ago        12  Fix the parser of…
        77aa0012  yesterday        1408  修复嵌套列表的解析…
        ");
    }

    #[test]
    fn columns_are_left_out_in_their_order() {
        insta::assert_snapshot!(shown(40), @"
        ID        UPDATED      TITLE
        3f2a91c0  2 hours ago  Fix the parser o…
        77aa0012  yesterday    修复嵌套列表的解…
        ");
        insta::assert_snapshot!(shown(28), @"
        ID        TITLE
        3f2a91c0  Fix the parser of…
        77aa0012  修复嵌套列表的解…
        ");
    }
}
