//! Upright bars side by side, each a stack of parts.
//!
//! A drawing has no size of its own: places in it are shares of its width and height, so that bars stretch with the page and
//! words in it do not.

use std::io;

use super::super::paper::Paper;
use super::axis::Axis;
use super::words::length;

/// Bars are never wider than this, in thousandths of the drawing.
const WIDEST: u128 = 45;
/// Approximate number of labels below the bars.
const NAMES: usize = 8;
/// A bar that is there at all is seen: the least height, in thousandths.
const LEAST: u128 = 7;

/// The colours of parts, by their number; the last is that of all further ones.
pub(super) const COLOURS: [&str; 6] = ["c0", "c1", "c2", "c3", "c4", "c5"];
/// The colours of kinds of tokens: others than those of models, as they mean something else.
pub(super) const KIND_COLOURS: [&str; 5] = ["k0", "k1", "k2", "k3", "k4"];

/// A chart.
#[derive(Debug)]
pub(super) struct Columns {
    /// What distinguishes it from others on the page.
    pub(super) id: &'static str,
    /// What it shows.
    pub(super) name: String,
    /// What it shows, in a sentence.
    pub(super) told: String,
    /// Names of the parts; one part needs none.
    pub(super) parts: Vec<String>,
    /// Their colours.
    pub(super) colours: &'static [&'static str],
    pub(super) bars: Vec<Column>,
    /// How a value is written beside the chart, where there are steps of so much.
    pub(super) mark: fn(u128, u128) -> String,
}

/// A bar.
#[derive(Debug)]
pub(super) struct Column {
    /// Its name where there is little room.
    pub(super) mark: String,
    /// What it is, in words; line by line.
    pub(super) told: String,
    /// From below.
    pub(super) parts: Vec<u128>,
}

impl Column {
    fn sum(&self) -> u128 {
        self.parts.iter().fold(0, |sum: u128, part| sum.saturating_add(*part))
    }
}

impl Columns {
    /// Writes the chart.
    pub(super) fn write(&self, paper: &mut Paper<'_>) -> io::Result<()> {
        let most = self.bars.iter().map(Column::sum).max().unwrap_or_default();
        let axis = Axis::new(most);
        paper.mark("<figure class=\"chart\">\n<figcaption><h3>")?;
        paper.text(&self.name)?;
        paper.mark("</h3>")?;
        if self.parts.len() > 1 {
            self.legend(paper)?;
        }
        paper.mark(
            "</figcaption>\n<div class=\"drawn\"><div class=\"scale\" aria-hidden=\"true\">",
        )?;
        for mark in axis.marks() {
            paper.mark("<span>")?;
            paper.text(&(self.mark)(mark, axis.step))?;
            paper.mark("</span>")?;
        }
        paper.mark("</div>\n<svg class=\"plot\" role=\"img\" aria-labelledby=\"")?;
        paper.mark(self.id)?;
        paper.mark("\"><desc id=\"")?;
        paper.mark(self.id)?;
        paper.mark("\">")?;
        paper.text(&self.told)?;
        paper.mark("</desc>\n")?;
        for mark in axis.marks() {
            paper.mark("<rect class=\"grid\" x=\"0\" width=\"100%\" height=\"1\"")?;
            paper.attribute("y", &length(axis.top() - mark, axis.top()))?;
            paper.mark("/>")?;
        }
        paper.mark("\n")?;
        for (number, column) in self.bars.iter().enumerate() {
            self.column(number, column, axis.top(), paper)?;
        }
        self.names(paper)?;
        paper.mark("</svg></div>\n</figure>\n")
    }

    fn legend(&self, paper: &mut Paper<'_>) -> io::Result<()> {
        paper.mark("<ul class=\"legend\">")?;
        for (name, colour) in self.parts.iter().zip(self.colours) {
            paper.mark("<li><span class=\"key ")?;
            paper.mark(colour)?;
            paper.mark("\"></span>")?;
            paper.line(name, super::super::LINE)?;
            paper.mark("</li>")?;
        }
        paper.mark("</ul>")
    }

    /// Where a bar's room begins, in millionths of the drawing, and how wide it is.
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
        paper: &mut Paper<'_>,
    ) -> io::Result<()> {
        let (from, room) = self.place(number);
        let width = (room * 3 / 4).min(WIDEST * 1000);
        let left = from + (room - width) / 2;
        paper.mark("<g><title>")?;
        paper.text(&column.told)?;
        paper.mark("</title><rect class=\"hit\" y=\"0\" height=\"100%\"")?;
        paper.attribute("x", &length(from, 1_000_000))?;
        paper.attribute("width", &length(room, 1_000_000))?;
        paper.mark("/>")?;
        let mut below = 0_u128;
        let sum = column.sum();
        // What is too low to be seen is drawn as one part, a little higher.
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
            paper.mark("<rect class=\"")?;
            paper.mark(colour)?;
            paper.mark("\"")?;
            paper.attribute("x", &length(left, 1_000_000))?;
            paper.attribute("width", &length(width, 1_000_000))?;
            paper.attribute("y", &length(top.saturating_sub(high), top))?;
            paper.attribute("height", &length(high - low, top))?;
            paper.mark("/>")?;
        }
        paper.mark("</g>\n")
    }

    /// Writes names below the bars, as many as have room.
    fn names(&self, paper: &mut Paper<'_>) -> io::Result<()> {
        let count = self.bars.len();
        let every = count.div_ceil(NAMES).max(1);
        for (at, column) in self.bars.iter().enumerate().step_by(every) {
            let (from, room) = self.place(at);
            let middle = from + room / 2;
            // Half of them are left out where there is little room; at the ends, a name leans inward.
            let (class, x) = match (at / every % 2 == 1, middle) {
                (true, 960_000..) => ("last spare", from + room),
                (true, _) => ("spare", middle),
                (false, 960_000..) => ("last", from + room),
                (false, ..40_000) => ("first", from),
                (false, _) => ("", middle),
            };
            paper.mark("<text y=\"100%\" dy=\"18\" aria-hidden=\"true\" class=\"")?;
            paper.mark(class)?;
            paper.mark("\"")?;
            paper.attribute("x", &length(x, 1_000_000))?;
            paper.mark(">")?;
            paper.text(&column.mark)?;
            paper.mark("</text>")?;
        }
        Ok(())
    }
}
