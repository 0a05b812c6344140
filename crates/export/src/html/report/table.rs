//! Tables: a name, a bar, figures.

use std::io;

use super::super::LINE;
use super::super::html_writer::HtmlWriter;
use super::words::length;

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    /// Its caption, for screen readers.
    pub(super) caption: &'static str,
    /// The heading of the first column.
    pub(super) heading: &'static str,
    /// The other columns: heading and CSS class.
    pub(super) columns: &'static [(&'static str, &'static str)],
    pub(super) lines: Vec<Line>,
    /// The totals.
    pub(super) total: Option<Vec<String>>,
}

/// A row of a table.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) name: String,
    /// The text below the name.
    pub(super) detail: String,
    /// The bar: its parts, with their colors.
    pub(super) bar: Vec<(&'static str, u128)>,
    pub(super) cells: Vec<String>,
}

impl Table {
    /// Writes the table.
    pub(super) fn write(&self, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        let most = self.lines.iter().map(Line::length).max().unwrap_or_default();
        let has_bars = most > 0;
        html.mark(if has_bars { "<table class=\"barred\">" } else { "<table>" })?;
        html.mark("<caption class=\"unseen\">")?;
        html.mark(self.caption)?;
        html.mark("</caption>\n<thead><tr><th scope=\"col\">")?;
        html.mark(self.heading)?;
        html.mark("</th>")?;
        if has_bars {
            html.mark("<td class=\"bar\"></td>")?;
        }
        for (name, _) in self.columns {
            html.mark("<th scope=\"col\" class=\"right\">")?;
            html.mark(name)?;
            html.mark("</th>")?;
        }
        html.mark("</tr></thead>\n<tbody>\n")?;
        for line in &self.lines {
            html.mark("<tr><th scope=\"row\">")?;
            html.line(&line.name, LINE)?;
            if !line.detail.is_empty() {
                html.mark("<span class=\"detail\">")?;
                html.line(&line.detail, LINE)?;
                html.mark("</span>")?;
            }
            html.mark("</th>")?;
            if has_bars {
                line.bar(most, html)?;
            }
            self.cells(&line.cells, html)?;
            html.mark("</tr>\n")?;
        }
        if let Some(total) = &self.total {
            html.mark("<tr class=\"total\"><th scope=\"row\">total</th>")?;
            if has_bars {
                html.mark("<td class=\"bar\"></td>")?;
            }
            self.cells(total, html)?;
            html.mark("</tr>\n")?;
        }
        html.mark("</tbody>\n</table>\n")
    }

    fn cells(&self, cells: &[String], html: &mut HtmlWriter<'_>) -> io::Result<()> {
        for ((_, class), cell) in self.columns.iter().zip(cells) {
            html.mark("<td class=\"right ")?;
            html.mark(class)?;
            html.mark("\">")?;
            html.text(cell)?;
            html.mark("</td>")?;
        }
        Ok(())
    }
}

impl Line {
    fn length(&self) -> u128 {
        self.bar.iter().fold(0, |sum: u128, (_, part)| sum.saturating_add(*part))
    }

    fn bar(&self, most: u128, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        html.mark("<td class=\"bar\"><svg aria-hidden=\"true\">")?;
        let mut from = 0_u128;
        for (colour, part) in self.bar.iter().filter(|(_, part)| *part > 0) {
            html.mark("<rect y=\"0\" height=\"100%\" class=\"")?;
            html.mark(colour)?;
            html.mark("\"")?;
            html.attribute("x", &length(from, most))?;
            // Any value above zero is visible.
            html.attribute("width", &length((*part).max(most / 300), most))?;
            html.mark("/>")?;
            from = from.saturating_add(*part);
        }
        html.mark("</svg></td>")
    }
}
