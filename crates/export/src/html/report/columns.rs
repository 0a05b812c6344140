//! Vertical bars side by side, each a stack of parts.
//!
//! A chart has no fixed size: positions in it are shares of its width and height, so that bars stretch with the page and
//! text does not.

use std::io;

use super::super::html_writer::HtmlWriter;
use super::axis::Axis;
use super::words::length;

/// The maximum width of a bar, in thousandths of the chart.
const WIDEST: u128 = 45;
/// Approximate number of labels below the bars.
const NAMES: usize = 8;
/// The minimum height of a visible bar, in thousandths.
const LEAST: u128 = 7;

/// The colors of parts, by number; the last is that of all further ones.
pub(super) const COLOURS: [&str; 6] = ["c0", "c1", "c2", "c3", "c4", "c5"];
/// The colors of kinds of tokens: different from those of models, as they mean something else.
pub(super) const KIND_COLOURS: [&str; 5] = ["k0", "k1", "k2", "k3", "k4"];

/// A chart.
#[derive(Debug)]
pub(super) struct Columns {
    /// Its id on the page.
    pub(super) id: &'static str,
    /// What it shows.
    pub(super) name: String,
    /// A description, in a sentence.
    pub(super) description: String,
    /// Names of the parts; a single part needs none.
    pub(super) parts: Vec<String>,
    /// Their colors.
    pub(super) colours: &'static [&'static str],
    pub(super) bars: Vec<Column>,
    /// Formats a value on the axis, given the size of a step.
    pub(super) mark: fn(u128, u128) -> String,
}

/// A bar.
#[derive(Debug)]
pub(super) struct Column {
    /// Its short label.
    pub(super) mark: String,
    /// Its tooltip, line by line.
    pub(super) tooltip: String,
    /// From bottom to top.
    pub(super) parts: Vec<u128>,
}

impl Column {
    fn sum(&self) -> u128 {
        self.parts.iter().fold(0, |sum: u128, part| sum.saturating_add(*part))
    }
}

impl Columns {
    /// Writes the chart.
    pub(super) fn write(&self, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        let most = self.bars.iter().map(Column::sum).max().unwrap_or_default();
        let axis = Axis::new(most);
        html.mark("<figure class=\"chart\">\n<figcaption><h3>")?;
        html.text(&self.name)?;
        html.mark("</h3>")?;
        if self.parts.len() > 1 {
            self.legend(html)?;
        }
        html.mark(
            "</figcaption>\n<div class=\"drawn\"><div class=\"scale\" aria-hidden=\"true\">",
        )?;
        for mark in axis.marks() {
            html.mark("<span>")?;
            html.text(&(self.mark)(mark, axis.step))?;
            html.mark("</span>")?;
        }
        html.mark("</div>\n<svg class=\"plot\" role=\"img\" aria-labelledby=\"")?;
        html.mark(self.id)?;
        html.mark("\"><desc id=\"")?;
        html.mark(self.id)?;
        html.mark("\">")?;
        html.text(&self.description)?;
        html.mark("</desc>\n")?;
        for mark in axis.marks() {
            html.mark("<rect class=\"grid\" x=\"0\" width=\"100%\" height=\"1\"")?;
            html.attribute("y", &length(axis.top() - mark, axis.top()))?;
            html.mark("/>")?;
        }
        html.mark("\n")?;
        for (number, column) in self.bars.iter().enumerate() {
            self.column(number, column, axis.top(), html)?;
        }
        self.names(html)?;
        html.mark("</svg></div>\n</figure>\n")
    }

    fn legend(&self, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        html.mark("<ul class=\"legend\">")?;
        for (name, colour) in self.parts.iter().zip(self.colours) {
            html.mark("<li><span class=\"key ")?;
            html.mark(colour)?;
            html.mark("\"></span>")?;
            html.line(name, super::super::LINE)?;
            html.mark("</li>")?;
        }
        html.mark("</ul>")
    }

    /// Returns where a bar's area begins, in millionths of the chart, and how wide it is.
    fn place(&self, number: usize) -> (u128, u128) {
        let count = self.bars.len().max(1) as u128;
        let from = number as u128 * 1_000_000 / count;
        (from, (number as u128 + 1) * 1_000_000 / count - from)
    }

    fn column(
        &self,
        number: usize,
        column: &Column,
        top: u128,
        html: &mut HtmlWriter<'_>,
    ) -> io::Result<()> {
        let (from, room) = self.place(number);
        let width = (room * 3 / 4).min(WIDEST * 1000);
        let left = from + (room - width) / 2;
        html.mark("<g><title>")?;
        html.text(&column.tooltip)?;
        html.mark("</title><rect class=\"hit\" y=\"0\" height=\"100%\"")?;
        html.attribute("x", &length(from, 1_000_000))?;
        html.attribute("width", &length(room, 1_000_000))?;
        html.mark("/>")?;
        let mut below = 0_u128;
        let sum = column.sum();
        // A part that is too low to be visible is drawn as one part, slightly higher.
        let is_low = sum > 0 && sum.saturating_mul(1000) < top.saturating_mul(LEAST);
        let largest = column.parts.iter().max().copied().unwrap_or_default();
        let mut is_drawn = false;
        for (part, colour) in column.parts.iter().zip(self.colours) {
            let (low, high) = if is_low {
                if *part != largest || is_drawn {
                    continue;
                }
                (0, top.saturating_mul(LEAST) / 1000)
            } else {
                (below, below.saturating_add(*part))
            };
            below = high;
            if *part == 0 {
                continue;
            }
            is_drawn = true;
            html.mark("<rect class=\"")?;
            html.mark(colour)?;
            html.mark("\"")?;
            html.attribute("x", &length(left, 1_000_000))?;
            html.attribute("width", &length(width, 1_000_000))?;
            html.attribute("y", &length(top.saturating_sub(high), top))?;
            html.attribute("height", &length(high - low, top))?;
            html.mark("/>")?;
        }
        html.mark("</g>\n")
    }

    /// Writes labels below the bars, as many as fit.
    fn names(&self, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        let count = self.bars.len();
        let every = count.div_ceil(NAMES).max(1);
        for (at, column) in self.bars.iter().enumerate().step_by(every) {
            let (from, room) = self.place(at);
            let middle = from + room / 2;
            // Every second label is hidden on narrow pages; at the ends, labels are aligned inward.
            let (class, x) = match (at / every % 2 == 1, middle) {
                (true, 960_000..) => ("last spare", from + room),
                (true, _) => ("spare", middle),
                (false, 960_000..) => ("last", from + room),
                (false, ..40_000) => ("first", from),
                (false, _) => ("", middle),
            };
            html.mark("<text y=\"100%\" dy=\"18\" aria-hidden=\"true\" class=\"")?;
            html.mark(class)?;
            html.mark("\"")?;
            html.attribute("x", &length(x, 1_000_000))?;
            html.mark(">")?;
            html.text(&column.mark)?;
            html.mark("</text>")?;
        }
        Ok(())
    }
}
