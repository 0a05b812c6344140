//! The page being written: open quotes and items, and the prefixes of their lines.

use crate::span::{Line, StyledSpan};
use crate::theme::Tone;
use crate::width::width;
use crate::wrap::wrap;

/// The minimum width that quotes and items must leave for the text, at any depth.
const MIN_ROOM: usize = 10;
/// The maximum width of a rule.
const MAX_RULE: usize = 60;

#[derive(Debug)]
pub(super) struct Page {
    width: usize,
    lines: Vec<Line>,
    containers: Vec<Container>,
    /// The number of further open ones that do not fit. They are only counted: untrusted text may nest tens of thousands,
    /// and each line passes through all containers.
    flat: usize,
    /// The width taken by the containers.
    taken: usize,
    /// Whether the next block follows without a blank line.
    joins: bool,
}

/// An open quote or item.
#[derive(Debug)]
struct Container {
    /// The prefix of its first line.
    first: StyledSpan,
    /// The prefix of its other lines; as wide as `first`.
    rest: StyledSpan,
    has_begun: bool,
}

impl Page {
    pub(super) fn new(width: usize) -> Self {
        Self { width, lines: Vec::new(), containers: Vec::new(), flat: 0, taken: 0, joins: true }
    }

    pub(super) fn into_lines(self) -> Vec<Line> {
        self.lines
    }

    /// Returns the number of columns for text here.
    pub(super) fn room(&self) -> usize {
        self.width - self.taken
    }

    /// Leaves a blank line before the next block, unless it is the first one here.
    pub(super) fn space(&mut self) {
        if self.joins {
            return;
        }
        // An open but empty item still has to show its marker.
        let begun = self.containers.iter().take_while(|container| container.has_begun);
        self.lines.push(Line::new(begun.map(|container| container.rest.clone())));
        self.joins = true;
    }

    /// Lets the next block follow without a blank line.
    pub(super) fn join_next(&mut self) {
        self.joins = true;
    }

    pub(super) fn open_quote(&mut self) {
        self.open("│ ", "│ ");
        self.joins = true;
    }

    /// Opens an item; returns whether its text fits after the marker.
    pub(super) fn open_item(&mut self, marker: &str) -> bool {
        self.open(marker, &" ".repeat(width(marker)))
    }

    fn open(&mut self, first: &str, rest: &str) -> bool {
        let columns = width(first);
        if self.flat > 0 || self.taken + columns + MIN_ROOM > self.width {
            self.flat += 1;
            return false;
        }
        self.taken += columns;
        let [first, rest] = [first, rest].map(|text| StyledSpan::new(text, Tone::Dim));
        self.containers.push(Container { first, rest, has_begun: false });
        true
    }

    /// Replaces the marker of the item that was just opened; returns whether it fits.
    pub(super) fn mark_item(&mut self, marker: &str) -> bool {
        if self.flat == 0
            && let Some(item) = self.containers.pop_if(|item| !item.has_begun)
        {
            self.taken -= item.rest.width();
            return self.open_item(marker);
        }
        false
    }

    /// Closes the innermost quote or item; an empty item still shows its marker.
    pub(super) fn close(&mut self) {
        if self.flat > 0 {
            self.flat -= 1;
            return;
        }
        if self.containers.last().is_some_and(|container| !container.has_begun) {
            self.write(vec![Line::default()]);
        }
        if let Some(container) = self.containers.pop() {
            self.taken -= container.rest.width();
        }
    }

    pub(super) fn paragraph(&mut self, mut spans: Vec<StyledSpan>) {
        // HTML blocks end with a line break of their own.
        while let Some(last) = spans.last()
            && last.text().trim().is_empty()
        {
            spans.pop();
        }
        let lines = wrap(&spans, self.room());
        let end = lines.iter().rposition(|line| !line.spans().is_empty()).map_or(0, |at| at + 1);
        self.write(lines.into_iter().take(end));
    }

    pub(super) fn rule(&mut self) {
        let rule = "─".repeat(self.room().min(MAX_RULE));
        self.write([Line::new([StyledSpan::new(&rule, Tone::Dim)])]);
    }

    /// Adds lines that are no wider than [`Page::room`].
    pub(super) fn write(&mut self, lines: impl IntoIterator<Item = Line>) {
        for line in lines {
            let prefix = self.containers.iter_mut().map(|container| {
                let is_first = !std::mem::replace(&mut container.has_begun, true);
                if is_first { container.first.clone() } else { container.rest.clone() }
            });
            self.lines.push(line.after(&Line::new(prefix)));
            self.joins = false;
        }
    }
}
