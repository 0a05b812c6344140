//! Where a renderer draws: width, colors, and margin.

use super::span::{Line, StyledSpan};

/// Whether text is styled. Decided once, by the caller; if off, no escape byte is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Colors and attributes are used.
    On,
    /// Only text and line breaks are printed.
    Off,
}

/// The minimum width of a canvas.
const MIN_WIDTH: usize = 20;
/// The minimum width that a margin must leave for the text.
const MIN_ROOM: usize = 16;

/// Where a renderer draws.
#[derive(Clone, Debug)]
pub struct Canvas {
    width: usize,
    paint: Paint,
    margin: Line,
}

impl Canvas {
    /// Creates a canvas of the given width, but at least 20. For no limit, pass `usize::MAX`.
    pub fn new(columns: usize, paint: Paint) -> Self {
        Self { width: columns.max(MIN_WIDTH), paint, margin: Line::default() }
    }

    /// Returns this canvas with another margin on the left, unless too little width would be left.
    #[must_use]
    pub fn indent(&self, margin: StyledSpan) -> Self {
        let margin = Line::new([margin]).after(&self.margin);
        if margin.width() + MIN_ROOM > self.width {
            return self.clone();
        }
        Self { margin, ..self.clone() }
    }

    /// Returns the number of columns for text.
    pub fn room(&self) -> usize {
        self.width - self.margin.width()
    }

    /// Returns whether text is styled.
    pub fn paint(&self) -> Paint {
        self.paint
    }

    /// Returns the lines as text, each after the margin and with a line break.
    pub fn print(&self, lines: impl IntoIterator<Item = Line>) -> String {
        let mut page = String::new();
        for line in lines {
            self.print_line(line, &mut page);
        }
        page
    }

    /// Appends a line to a page, after the margin and with a line break.
    pub fn print_line(&self, line: Line, page: &mut String) {
        line.after(&self.margin).print(page, self.paint);
    }
}

#[cfg(test)]
mod tests {
    use super::super::theme::Tone;
    use super::*;

    #[test]
    fn a_margin_takes_width_and_precedes_each_line() {
        let canvas = Canvas::new(30, Paint::Off).indent(StyledSpan::new("│ ", Tone::Dim));
        let lines = ["a", "", "b"].map(|text| Line::new([StyledSpan::new(text, Tone::Plain)]));
        assert_eq!(canvas.room(), 28);
        assert_eq!(canvas.print(lines), "│ a\n│\n│ b\n");
    }

    #[test]
    fn a_margin_that_leaves_no_room_is_not_drawn() {
        let canvas = Canvas::new(4, Paint::Off);
        assert_eq!(canvas.room(), 20);
        assert_eq!(canvas.indent(StyledSpan::new("        ", Tone::Plain)).room(), 20);
    }
}
