//! A cursor in a list: which row is selected, and which are visible.

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

/// Rows that the wheel moves by.
const WHEEL: isize = 3;

/// A cursor in a list of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The selected row.
    pub(crate) at: usize,
    /// The first visible row.
    pub(crate) top: usize,
    /// The number of rows that fit, as last drawn.
    pub(crate) height: usize,
}

impl Cursor {
    /// Moves by some rows.
    pub(crate) fn step(&mut self, by: isize, many: usize) {
        self.go(self.at.saturating_add_signed(by), many);
    }

    /// Goes to a row.
    pub(crate) fn go(&mut self, at: usize, many: usize) {
        self.at = at.min(many.saturating_sub(1));
        self.follow(many);
    }

    /// Returns half a page, as a distance.
    pub(crate) fn half(&self) -> isize {
        isize::try_from(self.height / 2).unwrap_or(isize::MAX).max(1)
    }

    /// Returns a page, as a distance.
    pub(crate) fn page(&self) -> isize {
        isize::try_from(self.height).unwrap_or(isize::MAX).max(1)
    }

    /// Sets the height before drawing, and makes the selected row visible.
    pub(crate) fn fit(&mut self, height: usize, many: usize) {
        self.height = height;
        self.at = self.at.min(many.saturating_sub(1));
        self.follow(many);
    }

    fn follow(&mut self, many: usize) {
        let height = self.height.max(1);
        if self.at < self.top {
            self.top = self.at;
        } else if self.at >= self.top + height {
            self.top = self.at + 1 - height;
        }
        self.top = self.top.min(many.saturating_sub(height));
    }

    /// Does what a key asks of any list. Returns whether it was one of those.
    pub(crate) fn act(&mut self, action: crate::keys::Action, many: usize) -> bool {
        use crate::keys::Action as A;
        match action {
            A::Down => self.step(1, many),
            A::Up => self.step(-1, many),
            A::HalfDown => self.step(self.half(), many),
            A::HalfUp => self.step(-self.half(), many),
            A::PageDown | A::PageForward => self.step(self.page(), many),
            A::PageUp | A::PageBackward => self.step(-self.page(), many),
            A::First => self.go(0, many),
            A::Last => self.go(many, many),
            _ => return false,
        }
        true
    }

    /// Does what the mouse asks of any list: the wheel moves, a click inside `list` selects. Returns whether it was one of those.
    pub(crate) fn mouse(&mut self, event: MouseEvent, list: Rect, many: usize) -> bool {
        match event.kind {
            MouseEventKind::ScrollDown => self.step(WHEEL, many),
            MouseEventKind::ScrollUp => self.step(-WHEEL, many),
            MouseEventKind::Down(MouseButton::Left)
                if list.contains(Position::new(event.column, event.row)) =>
            {
                let Some(row) = self.row_at(event.row - list.y, many) else { return false };
                self.go(row, many);
            }
            _ => return false,
        }
        true
    }

    /// Returns the row at a line of the drawn list.
    pub(crate) fn row_at(&self, line: u16, many: usize) -> Option<usize> {
        let row = self.top + usize::from(line);
        (usize::from(line) < self.height && row < many).then_some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_selects_only_inside_the_list() {
        let mut cursor = Cursor::default();
        cursor.fit(10, 100);
        let list = Rect { x: 0, y: 2, width: 40, height: 10 };
        let mut click = |column, row| {
            let kind = MouseEventKind::Down(MouseButton::Left);
            let modifiers = ratatui::crossterm::event::KeyModifiers::NONE;
            let used = cursor.mouse(MouseEvent { kind, column, row, modifiers }, list, 100);
            (used, cursor.at)
        };
        assert_eq!(click(3, 5), (true, 3));
        assert_eq!(click(60, 7), (false, 3), "the preview beside it");
        assert_eq!(click(3, 1), (false, 3), "the line above it");
    }

    #[test]
    fn the_selected_row_is_always_visible() {
        let mut cursor = Cursor::default();
        cursor.fit(10, 100);
        cursor.step(25, 100);
        assert_eq!((cursor.at, cursor.top), (25, 16));
        cursor.step(-12, 100);
        assert_eq!((cursor.at, cursor.top), (13, 13));
        cursor.fit(30, 100);
        cursor.go(1000, 100);
        assert_eq!((cursor.at, cursor.top), (99, 70));
        cursor.fit(30, 5);
        assert_eq!((cursor.at, cursor.top), (4, 0));
        cursor.fit(0, 0);
        cursor.step(-1, 0);
        assert_eq!(cursor.at, 0);
    }
}
