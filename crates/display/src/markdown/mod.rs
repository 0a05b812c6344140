//! Markdown blocks on a terminal, as styled, wrapped lines.
//!
//! Line breaks are kept, as chat messages are rarely wrapped by hand and agents show them that way. HTML is shown as text.
//! What colors express, signs express too if styling is off.

mod page;
mod table;

use anstyle::Style;
use recount_blocks::{Alignment, Inline, ListItem, Prose, TableCell};

use self::page::Page;
use self::table::Table;
use super::canvas::{Canvas, Paint};
use super::code;
use super::span::{Line, StyledSpan};
use super::theme::{Tone, blend};

/// Renders blocks of untrusted Markdown.
pub fn render(blocks: &[Prose<'_>], canvas: &Canvas) -> String {
    canvas.print(lines(blocks, canvas.room(), canvas.paint()))
}

/// Lays out blocks of untrusted Markdown for a page of the given width.
pub fn lines(blocks: &[Prose<'_>], width: usize, paint: Paint) -> Vec<Line> {
    let mut writer =
        Writer { page: Page::new(width), paint, inline: Vec::new(), styles: Vec::new(), lists: 0 };
    writer.blocks(blocks);
    writer.page.into_lines()
}

struct Writer {
    page: Page,
    paint: Paint,
    /// Text of the block that is being drawn.
    inline: Vec<StyledSpan>,
    /// Open styles, each blended with those around it.
    styles: Vec<Style>,
    /// The number of open lists.
    lists: usize,
}

impl Writer {
    /// Draws blocks. Each flushes its text to the page.
    fn blocks(&mut self, blocks: &[Prose<'_>]) {
        for block in blocks {
            self.block(block);
            self.flush();
        }
    }

    fn block(&mut self, block: &Prose<'_>) {
        match block {
            Prose::Paragraph { tight, content } => {
                if !tight {
                    self.begin_block();
                }
                self.content(content);
            }
            Prose::Heading { level, content } => {
                self.begin_block();
                self.open(Tone::Heading);
                self.note(&format!("{} ", "#".repeat(usize::from(*level))));
                self.content(content);
                self.styles.pop();
            }
            Prose::List { start, items } => self.list(*start, items),
            Prose::Quote { blocks } => {
                self.begin_block();
                self.page.open_quote();
                self.blocks(blocks);
                self.page.close();
            }
            Prose::Table { alignments, head, rows } => self.table(alignments, head, rows),
            Prose::Code(code) => {
                self.begin_block();
                let lines = code::lines(&code.text, &code.language, self.page.room(), self.paint);
                self.page.write(lines);
            }
            Prose::Html { text } => {
                self.begin_block();
                self.text(text);
            }
            Prose::Rule => {
                self.begin_block();
                self.page.rule();
            }
        }
    }

    fn begin_block(&mut self) {
        self.flush();
        self.page.space();
    }

    fn flush(&mut self) {
        let inline = std::mem::take(&mut self.inline);
        if !inline.is_empty() {
            self.page.paragraph(inline);
        }
    }

    fn list(&mut self, start: Option<u64>, items: &[ListItem<'_>]) {
        self.flush();
        // A list within an item follows its text closely.
        if self.lists == 0 {
            self.page.space();
        }
        self.page.join_next();
        self.lists += 1;
        let mut number = start;
        for item in items {
            self.open_item(number, item.task);
            number = number.map(|number| number.saturating_add(1));
            self.blocks(&item.blocks);
            self.flush();
            self.page.close();
        }
        self.lists -= 1;
    }

    fn open_item(&mut self, number: Option<u64>, task: Option<bool>) {
        let marker = number.map_or_else(|| "• ".to_owned(), |number| format!("{number}. "));
        if !self.page.open_item(&marker) {
            self.note(&marker);
        }
        if let Some(done) = task {
            let marker = if done { "[x] " } else { "[ ] " };
            if !self.page.mark_item(marker) {
                self.note(marker);
            }
        }
    }

    fn table(
        &mut self,
        alignments: &[Alignment],
        head: &[TableCell<'_>],
        rows: &[Vec<TableCell<'_>>],
    ) {
        self.begin_block();
        let mut table = Table::new(alignments);
        for row in std::iter::once(head).chain(rows.iter().map(Vec::as_slice)) {
            table.open_row();
            for cell in row {
                self.content(cell);
                table.push(std::mem::take(&mut self.inline));
            }
        }
        let lines = table.lines(self.page.room());
        self.page.write(lines);
    }

    fn content(&mut self, content: &[Inline<'_>]) {
        for inline in content {
            match inline {
                Inline::Text { text } => self.text(text),
                Inline::Code { text } => self.code(text),
                Inline::SoftBreak | Inline::LineBreak => self.text("\n"),
                Inline::Emphasis { content } => self.styled(Tone::Emphasis, content),
                Inline::Strong { content } => self.styled(Tone::Strong, content),
                Inline::Strike { content } => {
                    self.open(Tone::Struck);
                    self.sign("~~");
                    self.content(content);
                    self.sign("~~");
                    self.styles.pop();
                }
                Inline::Link { target, content } => self.link(target, content),
                Inline::Image { target, content } => {
                    self.note("image: ");
                    self.link(target, content);
                }
            }
        }
    }

    fn styled(&mut self, tone: Tone, content: &[Inline<'_>]) {
        self.open(tone);
        self.content(content);
        self.styles.pop();
    }

    fn look(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn open(&mut self, tone: Tone) {
        self.styles.push(blend(self.look(), tone.style()));
    }

    fn text(&mut self, text: &str) {
        self.inline.push(StyledSpan::styled(text, self.look()));
    }

    /// Adds our own text.
    fn note(&mut self, text: &str) {
        self.inline.push(StyledSpan::new(text, Tone::Dim));
    }

    /// Adds a sign for what otherwise only a style would show.
    fn sign(&mut self, sign: &str) {
        if self.paint == Paint::Off {
            self.text(sign);
        }
    }

    fn code(&mut self, code: &str) {
        self.open(Tone::Code);
        self.sign("`");
        self.text(code);
        self.sign("`");
        self.styles.pop();
    }

    /// Draws a link with its address, unless that is its text.
    fn link(&mut self, target: &str, content: &[Inline<'_>]) {
        let from = self.inline.len();
        self.styled(Tone::Link, content);
        let spans = self.inline.get(from..).unwrap_or_default();
        let shown: String = spans.iter().map(StyledSpan::text).collect();
        let target = target.strip_prefix("mailto:").unwrap_or(target);
        if !target.is_empty() && shown != target {
            let blank = if shown.is_empty() { "" } else { " " };
            self.note(&format!("{blank}({target})"));
        }
    }
}

#[cfg(test)]
mod tests;
