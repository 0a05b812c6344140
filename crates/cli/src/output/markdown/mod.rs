//! Markdown on a terminal: the events of the parser turned into styled, wrapped lines.
//!
//! Line breaks stay where the author put them, as chat messages are rarely wrapped by hand and agents show
//! them that way. HTML is shown as text. What colours say, signs say too when painting is off.

mod page;
mod table;

use anstyle::Style;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use self::page::Page;
use self::table::Table;
use super::canvas::{Canvas, Paint};
use super::code;
use super::span::{Line, Span};
use super::theme::{Tone, blend};

/// Renders untrusted Markdown.
pub(crate) fn render(markdown: &str, canvas: &Canvas) -> String {
    canvas.print(lines(markdown, canvas.room(), canvas.paint()))
}

fn lines(markdown: &str, width: usize, paint: Paint) -> Vec<Line> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer {
        page: Page::new(width),
        paint,
        inline: Vec::new(),
        styles: Vec::new(),
        links: Vec::new(),
        lists: Vec::new(),
        code: None,
        table: None,
    };
    for event in Parser::new_ext(markdown, options) {
        writer.event(event);
    }
    writer.flush();
    writer.page.into_lines()
}

struct Writer<'a> {
    page: Page,
    paint: Paint,
    /// Text of the block that is being read.
    inline: Vec<Span>,
    /// Looks that are open, each blended with those around it.
    styles: Vec<Style>,
    links: Vec<Link<'a>>,
    /// The next number of each open list, if it is numbered.
    lists: Vec<Option<u64>>,
    code: Option<Code>,
    table: Option<Table>,
}

struct Link<'a> {
    url: pulldown_cmark::CowStr<'a>,
    /// How many spans there were before its text.
    from: usize,
}

#[derive(Default)]
struct Code {
    language: String,
    text: String,
}

impl<'a> Writer<'a> {
    fn event(&mut self, event: Event<'a>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.text.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(code) => self.inline_code(&code),
            Event::InlineHtml(html) if is_break(&html) => self.text("\n"),
            Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.text(&text),
            Event::SoftBreak | Event::HardBreak => self.text("\n"),
            Event::Rule => {
                self.page.space();
                self.page.rule();
            }
            Event::TaskListMarker(done) => {
                let marker = if done { "[x] " } else { "[ ] " };
                if !self.page.mark_item(marker) {
                    self.note(marker);
                }
            }
        }
    }

    fn start(&mut self, tag: Tag<'a>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.begin_block(),
            Tag::Heading { level, .. } => {
                self.begin_block();
                self.open(Tone::Heading);
                self.note(&format!("{} ", "#".repeat(level as usize)));
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.page.open_quote();
            }
            Tag::CodeBlock(kind) => {
                self.begin_block();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => language_of(&info).to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some(Code { language, ..Code::default() });
            }
            Tag::List(first) => {
                self.flush();
                // A list within an item follows its text closely.
                if self.lists.is_empty() {
                    self.page.space();
                }
                self.page.join_next();
                self.lists.push(first);
            }
            Tag::Item => self.open_item(),
            Tag::Table(alignments) => {
                self.begin_block();
                self.table = Some(Table::new(alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.open_row();
                }
            }
            Tag::Emphasis => self.open(Tone::Emphasis),
            Tag::Strong => self.open(Tone::Strong),
            Tag::Strikethrough => {
                self.open(Tone::Struck);
                self.sign("~~");
            }
            Tag::Link { dest_url, .. } => self.open_link(dest_url),
            Tag::Image { dest_url, .. } => {
                self.note("image: ");
                self.open_link(dest_url);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.flush();
            }
            TagEnd::BlockQuote(_) | TagEnd::Item => {
                self.flush();
                self.page.close();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let lines = table.lines(self.page.room());
                    self.page.write(lines);
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(table) = &mut self.table {
                    table.push(cell);
                }
            }
            TagEnd::Strikethrough => {
                self.sign("~~");
                self.styles.pop();
            }
            TagEnd::Emphasis | TagEnd::Strong => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.close_link(),
            _ => {}
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

    fn end_code(&mut self) {
        let Code { language, text } = self.code.take().unwrap_or_default();
        let lines = code::lines(&text, &language, self.page.room(), self.paint);
        self.page.write(lines);
    }

    fn open_item(&mut self) {
        self.flush();
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ => "• ".to_owned(),
        };
        if !self.page.open_item(&marker) {
            self.note(&marker);
        }
    }

    fn look(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn open(&mut self, tone: Tone) {
        self.styles.push(blend(self.look(), tone.style()));
    }

    fn text(&mut self, text: &str) {
        self.inline.push(Span::styled(text, self.look()));
    }

    /// Adds words of our own.
    fn note(&mut self, text: &str) {
        self.inline.push(Span::new(text, Tone::Dim));
    }

    /// Adds a sign that says what only a look would say.
    fn sign(&mut self, sign: &str) {
        if self.paint == Paint::Off {
            self.text(sign);
        }
    }

    fn inline_code(&mut self, code: &str) {
        self.open(Tone::Code);
        self.sign("`");
        self.text(code);
        self.sign("`");
        self.styles.pop();
    }

    fn open_link(&mut self, url: pulldown_cmark::CowStr<'a>) {
        self.links.push(Link { url, from: self.inline.len() });
        self.open(Tone::Link);
    }

    fn close_link(&mut self) {
        self.styles.pop();
        let Some(link) = self.links.pop() else {
            return;
        };
        let shown: String =
            self.inline.get(link.from..).unwrap_or_default().iter().map(Span::text).collect();
        let url = link.url.strip_prefix("mailto:").unwrap_or(&link.url);
        if !url.is_empty() && shown != url {
            let blank = if shown.is_empty() { "" } else { " " };
            self.note(&format!("{blank}({url})"));
        }
    }
}

/// Returns the language of a fence: `rust` of "rust,ignore", "rust {1-3}" or "rust title=x".
fn language_of(info: &str) -> &str {
    info.split([' ', '\t', ',', '{']).next().unwrap_or_default()
}

/// A line break within a table cell can only be written in HTML.
fn is_break(html: &str) -> bool {
    matches!(html, "<br>" | "<br/>" | "<br />")
}

#[cfg(test)]
mod tests;
