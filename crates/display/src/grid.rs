//! A table whose columns are not known beforehand, printed while its rows arrive.
//!
//! The first rows are buffered to measure them; after that each is printed immediately, whatever its width.

use std::io::{self, Write};

use super::canvas::Canvas;
use super::columns::{Align, tabs};
use super::span::{Line, StyledSpan};
use super::theme::Tone;
use super::width::{pad_to, truncate_to, width};

/// The gap between two columns.
const GAP: usize = 2;
/// The maximum number of rows that are measured,
const MEASURED: usize = 1000;
/// or of their bytes.
const HELD: usize = 4 * 1024 * 1024;
/// The minimum width of a cut column.
const NARROWEST: usize = 6;
/// The maximum padded width of a column: one long text must not shift everything after it.
const WIDEST: usize = 200;

/// One cell.
#[derive(Clone, Debug)]
pub struct GridCell {
    span: StyledSpan,
    is_number: Option<bool>,
}

impl GridCell {
    /// An empty cell.
    pub fn nothing() -> Self {
        Self { span: StyledSpan::new("", Tone::Plain), is_number: None }
    }

    /// A number.
    pub fn number(text: &str) -> Self {
        Self { span: StyledSpan::new(text, Tone::Plain), is_number: Some(true) }
    }

    /// Any other text. Of a long text only as much is kept as fits on a page, if it is cut anyway.
    pub fn text(text: &str, fit: GridFit) -> Self {
        let text = match fit {
            GridFit::Page => {
                text.char_indices().nth(WIDEST * 4).and_then(|(end, _)| text.get(..end))
            }
            GridFit::Tabs => None,
        }
        .unwrap_or(text);
        Self { span: StyledSpan::new(text, Tone::Plain), is_number: Some(false) }
    }
}

/// What rows must fit into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridFit {
    /// The page of a terminal.
    Page,
    /// Nothing: rows are complete, with tabs between the cells and no headings.
    Tabs,
}

/// A table that is being printed.
#[derive(Debug)]
pub struct Grid<W> {
    out: W,
    canvas: Canvas,
    fit: GridFit,
    headings: Vec<String>,
    waiting: Vec<Vec<GridCell>>,
    held: usize,
    layout: Option<Vec<(usize, Align)>>,
}

impl<W: Write> Grid<W> {
    /// Creates a table that is written to `out`.
    pub fn new(out: W, canvas: Canvas, fit: GridFit, headings: Vec<String>) -> Self {
        Self { out, canvas, fit, headings, waiting: Vec::new(), held: 0, layout: None }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<GridCell>) -> io::Result<()> {
        if self.fit == GridFit::Tabs {
            let spans = cells.into_iter().map(|cell| cell.span).collect();
            return self.out.write_all(tabs(&[spans]).as_bytes());
        }
        if let Some(layout) = &self.layout {
            let page = self.canvas.print([line(layout, &cells)]);
            return self.out.write_all(page.as_bytes());
        }
        self.held += cells.iter().map(|cell| cell.span.text().len()).sum::<usize>();
        self.waiting.push(cells);
        if self.waiting.len() >= MEASURED || self.held >= HELD {
            self.begin()?;
        }
        Ok(())
    }

    /// Prints the buffered rows. Returns the writer, and the number of columns that did not fit.
    pub fn end(mut self) -> io::Result<(W, usize)> {
        if !self.waiting.is_empty() {
            self.begin()?;
        }
        let shown = self.layout.map_or(self.headings.len(), |layout| layout.len());
        Ok((self.out, self.headings.len() - shown))
    }

    fn begin(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.waiting);
        let mut layout = self.natural(&rows);
        squeeze(&mut layout, self.canvas.room());
        let heading = |heading: &String| GridCell {
            span: StyledSpan::new(heading, Tone::Dim),
            is_number: Some(false),
        };
        let headings: Vec<GridCell> = self.headings.iter().map(heading).collect();
        let all = std::iter::once(&headings).chain(&rows);
        for row in all {
            let page = self.canvas.print([line(&layout, row)]);
            self.out.write_all(page.as_bytes())?;
        }
        self.layout = Some(layout);
        Ok(())
    }

    fn natural(&self, rows: &[Vec<GridCell>]) -> Vec<(usize, Align)> {
        let column = |(at, heading): (usize, &String)| {
            let cells = || rows.iter().filter_map(move |row| row.get(at));
            let widest = cells().map(|cell| cell.span.width()).max().unwrap_or(0);
            let mut kinds = cells().filter_map(|cell| cell.is_number).peekable();
            let numbers = kinds.peek().is_some() && kinds.all(|is_number| is_number);
            let align = if numbers { Align::Right } else { Align::Left };
            (StyledSpan::new(heading, Tone::Dim).width().max(widest).min(WIDEST), align)
        };
        self.headings.iter().enumerate().map(column).collect()
    }
}

fn total(layout: &[(usize, Align)]) -> usize {
    let gaps = GAP * layout.len().saturating_sub(1);
    layout.iter().fold(gaps, |sum, (width, _)| sum + width)
}

/// Cuts the widest columns until all fit; if they are at their minimum, the last ones are dropped.
fn squeeze(layout: &mut Vec<(usize, Align)>, room: usize) {
    while total(layout) > room && layout.len() > 1 {
        let widest = layout.iter_mut().max_by_key(|(width, _)| *width);
        match widest.filter(|(width, _)| *width > NARROWEST) {
            Some((width, _)) => *width -= 1,
            None => drop(layout.pop()),
        }
    }
    if let [(width, _)] = layout.as_mut_slice() {
        *width = (*width).min(room);
    }
}

fn line(layout: &[(usize, Align)], row: &[GridCell]) -> Line {
    let mut spans = Vec::with_capacity(2 * layout.len());
    for (at, ((room, align), cell)) in layout.iter().zip(row).enumerate() {
        if at > 0 {
            spans.push(StyledSpan::new(&" ".repeat(GAP), Tone::Plain));
        }
        let text = truncate_to(&cell.span.text().replace('\n', " "), *room);
        let text = match align {
            Align::Left | Align::Path => pad_to(&text, *room),
            Align::Right => " ".repeat(room.saturating_sub(width(&text))) + &text,
        };
        spans.push(StyledSpan::styled(&text, cell.span.style()));
    }
    Line::new(spans)
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Paint;
    use super::*;

    fn printed(
        columns: usize,
        fit: GridFit,
        headings: &[&str],
        rows: &[&[&str]],
    ) -> (String, usize) {
        let canvas = Canvas::new(columns, Paint::Off);
        let headings = headings.iter().map(|&heading| heading.to_owned()).collect();
        let mut grid = Grid::new(Vec::new(), canvas, fit, headings);
        for row in rows {
            let cell = |text: &&str| match text.parse::<i64>() {
                Ok(_) => GridCell::number(text),
                Err(_) if text.is_empty() => GridCell::nothing(),
                Err(_) => GridCell::text(text, fit),
            };
            grid.row(row.iter().map(cell).collect()).unwrap();
        }
        let (out, left_out) = grid.end().unwrap();
        (String::from_utf8(out).unwrap(), left_out)
    }

    #[test]
    fn numbers_are_on_the_right_and_text_is_safe() {
        let rows: &[&[&str]] = &[&["会话", "12", "a\x1b[2J\nb"], &["x", "", "c"], &["", "7", ""]];
        let (page, _) = printed(80, GridFit::Page, &["name", "n", "text"], rows);
        insta::assert_snapshot!(page, @r"
        name   n  text
        会话  12  a␛[2J b
        x         c
               7
        ");
    }

    #[test]
    fn what_does_not_fit_is_cut_on_a_page_and_nowhere_else() {
        let long = "word ".repeat(20);
        let rows: &[&[&str]] = &[&["1", &long, "end"]];
        let (page, left_out) = printed(40, GridFit::Page, &["n", "text", "last"], rows);
        insta::assert_snapshot!(page, @r"
        n  text                             last
        1  word word word word word word…   end
        ");
        assert_eq!(left_out, 0);
        let (page, _) = printed(40, GridFit::Tabs, &["n", "text", "last"], rows);
        assert_eq!(page, format!("1\t{long}\tend\n"));
    }

    #[test]
    fn columns_without_room_are_left_out_and_counted() {
        let headings = ["a column"; 9];
        let (page, left_out) = printed(30, GridFit::Page, &headings, &[&["some text"; 9]]);
        assert_eq!(left_out, 5);
        assert!(page.lines().all(|line| width(line) <= 30), "{page}");
    }

    #[test]
    fn rows_after_the_measured_ones_are_printed_as_they_come() {
        let mut grid =
            Grid::new(Vec::new(), Canvas::new(80, Paint::Off), GridFit::Page, vec!["n".into()]);
        for _ in 0..MEASURED {
            grid.row(vec![GridCell::number("1")]).unwrap();
        }
        grid.row(vec![GridCell::number("12345")]).unwrap();
        let (out, _) = grid.end().unwrap();
        assert!(String::from_utf8(out).unwrap().ends_with("1\n…\n"));
    }
}
