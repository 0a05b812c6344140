//! Draws safe text into cells.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use recount_display::span::{Line, StyledSpan};
use recount_display::theme::Tone;
use recount_display::width::width;

use crate::theme::Theme;

/// A part of the screen to draw on, with its own origin. Nothing outside of it is touched.
#[derive(Debug)]
pub(crate) struct Painter<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    theme: Theme,
    ascii: bool,
    cursor: &'a mut Option<Position>,
}

impl<'a> Painter<'a> {
    pub(crate) fn new(
        buffer: &'a mut Buffer,
        theme: Theme,
        ascii: bool,
        cursor: &'a mut Option<Position>,
    ) -> Self {
        let area = buffer.area;
        Self { buffer, area, theme, ascii, cursor }
    }

    /// Returns the part of the screen, in its coordinates.
    pub(crate) fn area(&self) -> Rect {
        self.area
    }

    pub(crate) fn width(&self) -> u16 {
        self.area.width
    }

    pub(crate) fn height(&self) -> u16 {
        self.area.height
    }

    /// Returns a painter for a part of this one; `x` and `y` count from its own corner.
    pub(crate) fn part(&mut self, x: u16, y: u16, width: u16, height: u16) -> Painter<'_> {
        let (x, y) = (x.min(self.area.width), y.min(self.area.height));
        let area = Rect {
            x: self.area.x + x,
            y: self.area.y + y,
            width: width.min(self.area.width - x),
            height: height.min(self.area.height - y),
        };
        Painter {
            buffer: self.buffer,
            area,
            theme: self.theme,
            ascii: self.ascii,
            cursor: self.cursor,
        }
    }

    /// Returns a painter for a box in the middle, with a frame around it. What was there is cleared.
    pub(crate) fn boxed(&mut self, width: u16, height: u16, title: &str) -> Painter<'_> {
        let (width, height) = (width.min(self.width()), height.min(self.height()));
        let (x, y) = ((self.width() - width) / 2, (self.height() - height) / 2);
        let mut part = self.part(x, y, width, height);
        part.clear();
        part.frame(title);
        let area = part.area;
        let inner = Rect {
            x: area.x + 2.min(area.width),
            y: area.y + 1.min(area.height),
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(2),
        };
        Painter {
            buffer: self.buffer,
            area: inner,
            theme: self.theme,
            ascii: self.ascii,
            cursor: self.cursor,
        }
    }

    /// Empties the whole part.
    pub(crate) fn clear(&mut self) {
        for row in self.area.rows() {
            for at in row.columns() {
                if let Some(cell) = self.buffer.cell_mut(Position::new(at.x, at.y)) {
                    cell.reset();
                }
            }
        }
    }

    fn frame(&mut self, title: &str) {
        let (width, height) = (self.width(), self.height());
        if width < 2 || height < 2 {
            return;
        }
        let [across, down, corners] =
            if self.ascii { ["-", "|", "++++"] } else { ["─", "│", "┌┐└┘"] };
        let mut corners = corners.chars().map(String::from);
        let mut corner = || corners.next().unwrap_or_default();
        let (top_left, top_right, bottom_left, bottom_right) =
            (corner(), corner(), corner(), corner());
        let line = across.repeat(usize::from(width - 2));
        self.text(0, 0, &format!("{top_left}{line}{top_right}"), Tone::Dim);
        for y in 1..height - 1 {
            self.text(0, y, down, Tone::Dim);
            self.text(width - 1, y, down, Tone::Dim);
        }
        self.text(0, height - 1, &format!("{bottom_left}{line}{bottom_right}"), Tone::Dim);
        if !title.is_empty() {
            self.part(2, 0, width.saturating_sub(4), 1).text(
                0,
                0,
                &format!(" {title} "),
                Tone::Strong,
            );
        }
    }

    /// Draws untrusted text on one line. Returns the column behind it.
    pub(crate) fn text(&mut self, x: u16, y: u16, text: &str, tone: Tone) -> u16 {
        self.spans(x, y, &[StyledSpan::new(text, tone)])
    }

    /// Draws text that ends at the right border. Returns the column where it begins.
    pub(crate) fn text_right(&mut self, y: u16, text: &str, tone: Tone) -> u16 {
        let span = StyledSpan::new(text, tone);
        let x = self.width().saturating_sub(columns(span.width()));
        self.spans(x, y, &[span]);
        x
    }

    /// Draws spans on one line. Returns the column behind them.
    pub(crate) fn spans(&mut self, x: u16, y: u16, spans: &[StyledSpan]) -> u16 {
        if y >= self.area.height {
            return x;
        }
        let mut at = x.min(self.area.width);
        for span in spans {
            let room = self.area.width - at;
            if room == 0 {
                break;
            }
            let style = self.theme.style(span.style());
            let drawn = if self.ascii { ascii(span.text()) } else { None };
            let text = drawn.as_deref().unwrap_or(span.text());
            let (end, _) = self.buffer.set_stringn(
                self.area.x + at,
                self.area.y + y,
                text,
                usize::from(room),
                style,
            );
            at = end.saturating_sub(self.area.x);
        }
        at
    }

    /// Draws a line.
    pub(crate) fn line(&mut self, x: u16, y: u16, line: &Line) -> u16 {
        self.spans(x, y, line.spans())
    }

    /// Draws a horizontal rule, with a word near its right end.
    pub(crate) fn rule(&mut self, y: u16, word: &str) {
        let across = if self.ascii { "-" } else { "─" };
        self.text(0, y, &across.repeat(usize::from(self.width())), Tone::Dim);
        if !word.is_empty() {
            let word = format!(" {word} ");
            let x = self.width().saturating_sub(columns(width(&word)) + 1);
            self.text(x, y, &word, Tone::Dim);
        }
    }

    /// Draws a vertical line over the whole height.
    pub(crate) fn column(&mut self, x: u16) {
        let down = if self.ascii { "|" } else { "│" };
        for y in 0..self.height() {
            self.text(x, y, down, Tone::Dim);
        }
    }

    /// Reverses a row: the selected one. The terminal's own cursor stands on it, for screen readers.
    pub(crate) fn select(&mut self, y: u16) {
        self.modify(y, Modifier::REVERSED);
        if self.cursor.is_none() && y < self.height() {
            *self.cursor = Some(Position::new(self.area.x, self.area.y + y));
        }
    }

    /// Adds a modifier to a whole row.
    pub(crate) fn modify(&mut self, y: u16, modifier: Modifier) {
        if y < self.height() {
            let row = Rect { y: self.area.y + y, height: 1, ..self.area };
            self.buffer.set_style(row, Style::new().add_modifier(modifier));
        }
    }

    /// Puts the terminal's cursor in a field.
    pub(crate) fn cursor(&mut self, x: u16, y: u16) {
        let x = x.min(self.width().saturating_sub(1));
        *self.cursor = Some(Position::new(self.area.x + x, self.area.y + y));
    }
}

/// Returns a number of columns as the terminal counts them.
pub(crate) fn columns(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}

/// Replaces our marks by ASCII. `None` if there are none. Letters of session text stay.
fn ascii(text: &str) -> Option<String> {
    let mark = |letter: char| {
        Some(match letter {
            '●' | '•' => '*',
            '▶' | '▸' | '›' | '≥' => '>',
            '▾' => 'v',
            '⌖' | '✗' | '×' => 'x',
            '✓' => '+',
            '⊘' | '○' | '·' => '.',
            '…' => '~',
            '─' | '–' => '-',
            '│' | '┆' => '|',
            '↵' => '<',
            '␣' => '_',
            '└' => '`',
            '█' | '▇' | '▆' | '▅' | '▉' | '▊' | '▋' | '▌' => '#',
            '▄' | '▃' | '▂' | '▁' | '▍' | '▎' | '▏' => '=',
            _ => return None,
        })
    };
    text.chars()
        .any(|letter| mark(letter).is_some())
        .then(|| text.chars().map(|letter| mark(letter).unwrap_or(letter)).collect())
}
