//! Tables: a name, a bar, figures.

use std::io;

use super::super::LINE;
use super::super::paper::Paper;
use super::words::length;

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    /// What it has, for who cannot see the page.
    pub(super) caption: &'static str,
    /// What its lines are.
    pub(super) heading: &'static str,
    /// Its figures: what they are, and as what the style knows them.
    pub(super) columns: &'static [(&'static str, &'static str)],
    pub(super) lines: Vec<Line>,
    /// All together.
    pub(super) total: Option<Vec<String>>,
}

/// A line of a table.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) name: String,
    /// What stands below the name.
    pub(super) detail: String,
    /// The bar: its parts, with their colours.
    pub(super) bar: Vec<(&'static str, u128)>,
    pub(super) cells: Vec<String>,
}

impl Table {
    /// Writes the table.
    pub(super) fn write(&self, paper: &mut Paper<'_>) -> io::Result<()> {
        let most = self.lines.iter().map(Line::length).max().unwrap_or_default();
        let has_bars = most > 0;
        paper.mark(if has_bars { "<table class=\"barred\">" } else { "<table>" })?;
        paper.mark("<caption class=\"unseen\">")?;
        paper.mark(self.caption)?;
        paper.mark("</caption>\n<thead><tr><th scope=\"col\">")?;
        paper.mark(self.heading)?;
        paper.mark("</th>")?;
        if has_bars {
            paper.mark("<td class=\"bar\"></td>")?;
        }
        for (name, _) in self.columns {
            paper.mark("<th scope=\"col\" class=\"right\">")?;
            paper.mark(name)?;
            paper.mark("</th>")?;
        }
        paper.mark("</tr></thead>\n<tbody>\n")?;
        for line in &self.lines {
            paper.mark("<tr><th scope=\"row\">")?;
            paper.line(&line.name, LINE)?;
            if !line.detail.is_empty() {
                paper.mark("<span class=\"detail\">")?;
                paper.line(&line.detail, LINE)?;
                paper.mark("</span>")?;
            }
            paper.mark("</th>")?;
            if has_bars {
                line.bar(most, paper)?;
            }
            self.cells(&line.cells, paper)?;
            paper.mark("</tr>\n")?;
        }
        if let Some(total) = &self.total {
            paper.mark("<tr class=\"total\"><th scope=\"row\">total</th>")?;
            if has_bars {
                paper.mark("<td class=\"bar\"></td>")?;
            }
            self.cells(total, paper)?;
            paper.mark("</tr>\n")?;
        }
        paper.mark("</tbody>\n</table>\n")
    }

    fn cells(&self, cells: &[String], paper: &mut Paper<'_>) -> io::Result<()> {
        for ((_, class), cell) in self.columns.iter().zip(cells) {
            paper.mark("<td class=\"right ")?;
            paper.mark(class)?;
            paper.mark("\">")?;
            paper.text(cell)?;
            paper.mark("</td>")?;
        }
        Ok(())
    }
}

impl Line {
    fn length(&self) -> u128 {
        self.bar.iter().fold(0, |sum: u128, (_, part)| sum.saturating_add(*part))
    }

    fn bar(&self, most: u128, paper: &mut Paper<'_>) -> io::Result<()> {
        paper.mark("<td class=\"bar\"><svg aria-hidden=\"true\">")?;
        let mut from = 0_u128;
        for (colour, part) in self.bar.iter().filter(|(_, part)| *part > 0) {
            paper.mark("<rect y=\"0\" height=\"100%\" class=\"")?;
            paper.mark(colour)?;
            paper.mark("\"")?;
            paper.attribute("x", &length(from, most))?;
            // What is there at all is seen.
            paper.attribute("width", &length((*part).max(most / 300), most))?;
            paper.mark("/>")?;
            from = from.saturating_add(*part);
        }
        paper.mark("</svg></td>")
    }
}
