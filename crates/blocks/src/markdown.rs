//! Markdown as a tree of blocks.

use std::borrow::Cow;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::code::CodeBlock;
use crate::prose::{Alignment, Inline, ListItem, Prose, TableCell};

/// Longer text, in bytes, is not parsed, so that memory is bounded: the parser keeps a tree of it.
pub const LONGEST: usize = 2 * 1024 * 1024;

/// Quotes, lists and inline markup that are nested deeper are dropped; their text is kept.
pub const DEEPEST: usize = 64;

/// Parses untrusted Markdown. The caller checks the length ([`LONGEST`]).
pub fn markdown(text: &str) -> Vec<Prose<'_>> {
    let dialect =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut reader = Reader { events: Parser::new_ext(text, dialect), task: None };
    reader.blocks(0)
}

/// Reads blocks from the events of the parser.
struct Reader<'a> {
    events: Parser<'a>,
    /// The checkbox of the item that is being read.
    task: Option<bool>,
}

impl<'a> Reader<'a> {
    /// Reads blocks up to the end of the enclosing element.
    fn blocks(&mut self, depth: usize) -> Vec<Prose<'a>> {
        let mut blocks = Blocks::default();
        // The number of open elements that are too deep to be kept. Their ends must not end the
        // enclosing element.
        let mut flattened = 0_usize;
        while let Some(event) = self.events.next() {
            match event {
                Event::Start(Tag::Paragraph) => {
                    let content = self.content(0);
                    blocks.push(Prose::Paragraph { tight: false, content });
                }
                Event::Start(Tag::Heading { level, .. }) => {
                    let content = self.content(0);
                    blocks.push(Prose::Heading { level: number(level), content });
                }
                Event::Start(Tag::CodeBlock(kind)) => blocks.push(Prose::Code(self.code(kind))),
                Event::Start(Tag::HtmlBlock) => blocks.push(Prose::Html { text: self.text() }),
                Event::Start(Tag::Table(alignments)) => {
                    blocks.push(self.table(alignments.into_iter().map(alignment).collect()));
                }
                Event::Rule => blocks.push(Prose::Rule),
                Event::Start(Tag::BlockQuote(_)) if depth < DEEPEST => {
                    blocks.push(Prose::Quote { blocks: self.blocks(depth + 1) });
                }
                Event::Start(Tag::List(start)) if depth < DEEPEST => {
                    blocks.push(Prose::List { start, items: self.items(depth + 1) });
                }
                Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Item) => {
                    flattened += 1;
                    blocks.end_line();
                }
                Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item)
                    if flattened > 0 =>
                {
                    flattened -= 1;
                    blocks.end_line();
                }
                Event::End(_) => break,
                inline => blocks.line.extend(self.inline(inline, 0)),
            }
        }
        blocks.end_line();
        blocks.all
    }

    /// Reads the items of a list.
    fn items(&mut self, depth: usize) -> Vec<ListItem<'a>> {
        let mut items = Vec::new();
        while let Some(Event::Start(_)) = self.events.next() {
            let outer = self.task.take();
            let blocks = self.blocks(depth);
            items.push(ListItem { task: std::mem::replace(&mut self.task, outer), blocks });
        }
        items
    }

    fn code(&mut self, kind: CodeBlockKind<'a>) -> CodeBlock<'a> {
        let language = match kind {
            CodeBlockKind::Fenced(CowStr::Borrowed(info)) => Cow::Borrowed(label(info)),
            CodeBlockKind::Fenced(info) => Cow::Owned(label(&info).to_owned()),
            CodeBlockKind::Indented => Cow::Borrowed(""),
        };
        CodeBlock { language, text: self.text() }
    }

    fn table(&mut self, alignments: Vec<Alignment>) -> Prose<'a> {
        let mut head = Vec::new();
        let mut rows = Vec::new();
        while let Some(Event::Start(tag)) = self.events.next() {
            let row = self.row();
            if matches!(tag, Tag::TableHead) {
                head = row;
            } else {
                rows.push(row);
            }
        }
        Prose::Table { alignments, head, rows }
    }

    fn row(&mut self) -> Vec<TableCell<'a>> {
        let mut cells = Vec::new();
        while let Some(Event::Start(_)) = self.events.next() {
            cells.push(self.content(0));
        }
        cells
    }

    /// Reads an element that has only text.
    fn text(&mut self) -> Cow<'a, str> {
        let mut all = Cow::Borrowed("");
        for event in self.events.by_ref() {
            match event {
                Event::Text(text) | Event::Html(text) if all.is_empty() => all = cow(text),
                Event::Text(text) | Event::Html(text) => all.to_mut().push_str(&text),
                Event::End(_) => break,
                _ => {}
            }
        }
        all
    }

    /// Reads text up to the end of the enclosing element.
    fn content(&mut self, depth: usize) -> Vec<Inline<'a>> {
        let mut content = Vec::new();
        let mut flattened = 0_usize;
        while let Some(event) = self.events.next() {
            match event {
                Event::Start(_) if depth >= DEEPEST => flattened += 1,
                Event::End(_) if flattened > 0 => flattened -= 1,
                Event::End(_) => break,
                event => content.extend(self.inline(event, depth)),
            }
        }
        content
    }

    fn inline(&mut self, event: Event<'a>, depth: usize) -> Option<Inline<'a>> {
        let inner = depth + 1;
        Some(match event {
            Event::Code(text) => Inline::Code { text: cow(text) },
            Event::SoftBreak => Inline::SoftBreak,
            Event::HardBreak => Inline::LineBreak,
            // Within a table cell a line break can only be written in HTML.
            Event::InlineHtml(tag) if is_line_break(&tag) => return Some(Inline::LineBreak),
            Event::Start(Tag::Emphasis) => Inline::Emphasis { content: self.content(inner) },
            Event::Start(Tag::Strong) => Inline::Strong { content: self.content(inner) },
            Event::Start(Tag::Strikethrough) => Inline::Strike { content: self.content(inner) },
            Event::Start(Tag::Link { dest_url, .. }) => {
                Inline::Link { target: cow(dest_url), content: self.content(inner) }
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                Inline::Image { target: cow(dest_url), content: self.content(inner) }
            }
            Event::TaskListMarker(done) => {
                self.task = Some(done);
                return None;
            }
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => Inline::Text { text: cow(text) },
            Event::Start(_) | Event::End(_) | Event::Rule => return None,
        })
    }
}

/// Blocks that are being read.
#[derive(Default)]
struct Blocks<'a> {
    all: Vec<Prose<'a>>,
    /// Text directly in an item: the list is tight.
    line: Vec<Inline<'a>>,
}

impl<'a> Blocks<'a> {
    fn push(&mut self, block: Prose<'a>) {
        self.end_line();
        self.all.push(block);
    }

    fn end_line(&mut self) {
        if !self.line.is_empty() {
            let content = std::mem::take(&mut self.line);
            self.all.push(Prose::Paragraph { tight: true, content });
        }
    }
}

fn cow(text: CowStr<'_>) -> Cow<'_, str> {
    match text {
        CowStr::Borrowed(text) => Cow::Borrowed(text),
        owned => Cow::Owned(owned.into_string()),
    }
}

/// Returns the language of a fence: `rust` of "rust,ignore", "rust {1-3}" or "rust title=x".
fn label(info: &str) -> &str {
    info.split([' ', '\t', ',', '{']).next().unwrap_or_default()
}

const fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

const fn alignment(alignment: pulldown_cmark::Alignment) -> Alignment {
    match alignment {
        pulldown_cmark::Alignment::None => Alignment::None,
        pulldown_cmark::Alignment::Left => Alignment::Left,
        pulldown_cmark::Alignment::Center => Alignment::Center,
        pulldown_cmark::Alignment::Right => Alignment::Right,
    }
}

fn is_line_break(tag: &str) -> bool {
    matches!(tag, "<br>" | "<br/>" | "<br />")
}
