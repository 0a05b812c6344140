//! Columns of a list: fixed widths, so that nothing jumps while rows change; the least important ones go first when it is narrow.

use recount_display::span::StyledSpan;
use recount_display::theme::Tone;
use recount_display::width::{truncate_start, truncate_to, width};

use crate::draw::{Painter, columns};

/// A column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// Its heading.
    pub(crate) heading: &'static str,
    /// Its width; 0 takes what is left.
    pub(crate) width: u16,
    /// How its text is placed and cut.
    pub(crate) align: Align,
    /// The lowest rank goes first when there is no room; 0 always stays.
    pub(crate) rank: u8,
}

/// How text is placed in a column, and cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
    /// Left, and the end is kept when it is cut.
    Path,
}

/// The least width of the column that takes what is left.
const LEAST: u16 = 16;

/// The columns that fit, with their places.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// For each column its start and width; `None` if it does not fit.
    places: Vec<Option<(u16, u16)>>,
}

impl Layout {
    /// Chooses the columns that fit into a width.
    pub(crate) fn new(all: &[Column], room: u16, is_wanted: impl Fn(&Column) -> bool) -> Self {
        let mut shown: Vec<bool> = all.iter().map(&is_wanted).collect();
        let needed = |shown: &[bool]| {
            let one = |(column, shown): (&Column, &bool)| {
                if *shown {
                    column.width.max(if column.width == 0 { LEAST } else { 0 }) + 2
                } else {
                    0
                }
            };
            all.iter().zip(shown).map(one).sum::<u16>().saturating_sub(2)
        };
        while needed(&shown) > room {
            let droppable = |(at, column): (usize, &Column)| {
                (column.rank > 0 && shown.get(at) == Some(&true)).then_some((column.rank, at))
            };
            let Some((_, at)) = all.iter().enumerate().filter_map(droppable).min() else { break };
            if let Some(shown) = shown.get_mut(at) {
                *shown = false;
            }
        }
        let extra = room.saturating_sub(needed(&shown));
        let mut x = 0;
        let place = |(column, shown): (&Column, &bool)| {
            let width = if column.width == 0 { LEAST + extra } else { column.width };
            shown.then(|| {
                let start = x;
                x += width + 2;
                (start, width)
            })
        };
        Self { places: all.iter().zip(&shown).map(place).collect() }
    }

    /// Draws the headings.
    pub(crate) fn head(&self, all: &[Column], painter: &mut Painter<'_>, x: u16, y: u16) {
        for (column, place) in all.iter().zip(&self.places) {
            let Some((start, width)) = place else { continue };
            cell(
                painter,
                (x + start, y, *width),
                &StyledSpan::new(column.heading, Tone::Dim),
                column.align,
            );
        }
    }

    /// Draws a row: a cell for each column, whether it fits or not.
    pub(crate) fn row(
        &self,
        all: &[Column],
        painter: &mut Painter<'_>,
        (x, y): (u16, u16),
        mut cells: impl FnMut(usize) -> StyledSpan,
    ) {
        for (at, (column, place)) in all.iter().zip(&self.places).enumerate() {
            let Some((start, width)) = place else { continue };
            cell(painter, (x + start, y, *width), &cells(at), column.align);
        }
    }
}

fn cell(painter: &mut Painter<'_>, (x, y, room): (u16, u16, u16), span: &StyledSpan, align: Align) {
    let most = usize::from(room);
    let cut = if width(span.text()) <= most {
        span.clone()
    } else if align == Align::Path {
        StyledSpan::styled(&truncate_start(span.text(), most), span.style())
    } else {
        StyledSpan::styled(&truncate_to(span.text(), most), span.style())
    };
    let indent = match align {
        Align::Right => room.saturating_sub(columns(cut.width())),
        Align::Left | Align::Path => 0,
    };
    painter.part(x + indent, y, room - indent, 1).spans(0, 0, &[cut]);
}
