//! A message as rows of a width: text, folded and open blocks.

use recount_blocks::{Block, Level, Prose, blocks};
use recount_display::canvas::Paint;
use recount_display::number::{bytes, count, plural};
use recount_display::sanitize::single_line;
use recount_display::span::{Line, StyledSpan};
use recount_display::theme::Tone;
use recount_display::transcript::who;
use recount_display::width::truncate_to;
use recount_display::{code, markdown, plain};
use recount_model::{Message, MessageKind, NoticeLevel};

use crate::transcript::Look;

/// The maximum number of rows of a block; the pager has the rest.
const MOST_ROWS: usize = 2000;
/// The maximum number of bytes of a text that are laid out.
const MOST_BYTES: usize = 128 * 1024;

/// How much of a block is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    Shut,
    /// The first lines.
    Brief,
    Open,
}

/// A row of a message.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent marks")]
pub(super) struct Row {
    pub(super) line: Line,
    /// What is at the right border.
    pub(super) right: String,
    /// The block that it belongs to.
    pub(super) unit: usize,
    /// Whether it is the pause before the message.
    pub(super) is_gap: bool,
    /// Whether a tool call begins here.
    pub(super) is_call: bool,
    /// Whether something failed here.
    pub(super) is_error: bool,
    /// Whether a file was changed here.
    pub(super) is_change: bool,
}

/// A message, laid out.
#[derive(Clone, Debug, Default)]
pub(super) struct Laid {
    pub(super) rows: Vec<Row>,
    /// How each block is shown.
    pub(super) folds: Vec<Fold>,
}

impl Laid {
    /// A message that cannot be read.
    pub(super) fn broken(problem: &str, width: usize) -> Self {
        let lines = plain::lines(&format!("(cannot be read: {problem})"), Tone::Error, width);
        let row = |line| Row { line, is_error: true, ..Row::default() };
        Self { rows: lines.into_iter().map(row).collect(), folds: vec![Fold::Open] }
    }

    /// Puts a pause before it.
    pub(super) fn begin_with_gap(&mut self) {
        self.rows.insert(0, Row { is_gap: true, ..Row::default() });
    }
}

/// Lays out one message.
pub(super) struct Layout<'a> {
    pub(super) look: Look<'a>,
    /// How the user wants a block, if he said.
    fold: &'a dyn Fn(usize) -> Option<Fold>,
    laid: Laid,
    /// The text of each block, if it is wanted.
    texts: Option<Vec<String>>,
}

impl<'a> Layout<'a> {
    /// Returns the text of each block, unwrapped, to copy.
    pub(super) fn texts(message: &Message, number: usize, look: Look<'a>) -> Vec<String> {
        let mut layout =
            Self { look, fold: &|_| None, laid: Laid::default(), texts: Some(Vec::new()) };
        layout.message(message, number);
        layout.texts.unwrap_or_default()
    }

    /// Notes the text of the next block.
    pub(super) fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(texts) = &mut self.texts {
            texts.push(text());
        }
    }

    /// Lays out a message; no rows if the level hides it.
    pub(super) fn of(
        message: &Message,
        number: usize,
        look: Look<'a>,
        fold: &'a dyn Fn(usize) -> Option<Fold>,
    ) -> Laid {
        let mut layout = Self { look, fold, laid: Laid::default(), texts: None };
        if look.level.shows(message, look.level >= Level::Trace) {
            layout.message(message, number);
        }
        layout.laid
    }

    fn message(&mut self, message: &Message, number: usize) {
        let level = self.look.level;
        let is_plain = matches!(message.kind, MessageKind::Prompt | MessageKind::Notice);
        if level >= Level::Trace || (level == Level::Full && !is_plain) {
            self.heading(message, number);
        }
        let options = self.look.options();
        let options = recount_blocks::BlockOptions { level: Level::Talk, ..options };
        for block in blocks(message, &options) {
            match &block {
                Block::Markdown { blocks } => self.markdown(blocks),
                Block::File { path, bytes: size, content } => {
                    let title = format!("@{}", single_line(path));
                    let rows = |room| {
                        let content = content.as_ref();
                        content.map(|code| {
                            code::lines(cut(&code.text).0, &code.language, room, Paint::On)
                        })
                    };
                    self.note(|| {
                        content.as_ref().map_or_else(|| title.clone(), |code| code.text.to_string())
                    });
                    self.folded(&title, Tone::Dim, *size, Fold::Shut, rows);
                }
                Block::Damage { what } => {
                    let words = format!("(damaged: {what})");
                    self.note(|| words.clone());
                    self.add(
                        self.default(Fold::Open),
                        plain::lines(&words, Tone::Warning, self.look.width),
                    );
                }
                _ => self.text(&block),
            }
        }
        let is_error = message.level == Some(NoticeLevel::Error);
        if let Some(first) = self.laid.rows.first_mut() {
            first.is_error |= is_error;
        }
        if level >= Level::Actions {
            self.calls(&message.tool_calls);
        }
        if self.laid.rows.is_empty() {
            let words = if message.kind == MessageKind::Prompt { "(no text)" } else { "(empty)" };
            self.note(String::new);
            self.add(Fold::Open, vec![Line::new([StyledSpan::new(words, Tone::Dim)])]);
        }
    }

    /// The line above a message at the upper levels.
    fn heading(&mut self, message: &Message, number: usize) {
        let mut words = vec![who(message)];
        if let Some(tokens) = message.tokens {
            words.push(format!("{} tokens", count(tokens.total)));
        }
        if self.look.level >= Level::Trace {
            let id = message.id.as_ref().map_or("no id", |id| id.as_str());
            let place = &message.place;
            words.push(format!("#{} {id}", number + 1));
            words.push(format!("{}:{} +{}", place.file, place.line, place.bytes));
        }
        self.note(|| words.join(" · "));
        let words = truncate_to(&single_line(&words.join(" · ")), self.look.width);
        self.add(Fold::Open, vec![Line::new([StyledSpan::new(&words, Tone::Dim)])]);
    }

    fn next(&self) -> usize {
        self.laid.folds.len()
    }

    /// Returns how the next block is shown.
    pub(super) fn default(&self, otherwise: Fold) -> Fold {
        (self.fold)(self.next()).unwrap_or(otherwise)
    }

    /// Adds a block.
    pub(super) fn add(&mut self, fold: Fold, lines: Vec<Line>) -> Option<&mut Row> {
        let unit = self.next();
        self.laid.folds.push(fold);
        let first = self.laid.rows.len();
        let more = lines.len().saturating_sub(MOST_ROWS);
        let rows = lines.into_iter().take(MOST_ROWS);
        self.laid.rows.extend(rows.map(|line| Row { line, unit, ..Row::default() }));
        if more > 0 {
            let words = format!("… {} more: P shows all", plural(more as u64, "line"));
            let line = Line::new([StyledSpan::new(&words, Tone::Dim)]);
            self.laid.rows.push(Row { line, unit, ..Row::default() });
        }
        self.laid.rows.get_mut(first)
    }

    /// Adds a block that folds to its first line.
    fn fold_lines(&mut self, mut lines: Vec<Line>, rest: usize) {
        let fold = self.default(Fold::Open);
        if rest > 0 {
            let words = format!("… {} more: P shows all", bytes(rest as u64));
            lines.push(Line::new([StyledSpan::new(&words, Tone::Dim)]));
        }
        if fold == Fold::Shut && lines.len() > 1 {
            let many = plural(lines.len() as u64, "line");
            let first = lines.iter().find(|line| line.width() > 0).cloned().unwrap_or_default();
            let room = self.look.width.saturating_sub(14).max(8);
            let first = truncate_to(joined(&[first]).trim_start(), room);
            let first =
                Line::new([StyledSpan::new("▸ ", Tone::Dim), StyledSpan::new(&first, Tone::Plain)]);
            if let Some(row) = self.add(fold, vec![first]) {
                row.right = many;
            }
        } else {
            self.add(fold, lines);
        }
    }

    fn text(&mut self, block: &Block<'_>) {
        let text = match block {
            Block::Text { text }
            | Block::Verbatim { text }
            | Block::Sent { text }
            | Block::Notice { text, .. } => *text,
            _ => {
                let lines = self.look.block(block);
                self.note(|| joined(&lines));
                return self.fold_lines(lines, 0);
            }
        };
        self.note(|| text.trim().to_owned());
        let (text, rest) = cut(text.trim());
        let lines = match block {
            Block::Notice { level, .. } => self.look.block(&Block::Notice { level: *level, text }),
            _ => self.look.block(&Block::Text { text }),
        };
        self.fold_lines(lines, rest);
    }

    /// Each block of Markdown is one of its own, so that code can be folded and copied.
    fn markdown(&mut self, all: &[Prose<'_>]) {
        for (at, prose) in all.iter().enumerate() {
            let is_close = matches!(prose, Prose::Paragraph { tight: true, .. });
            if at > 0 && !is_close {
                let unit = self.next().saturating_sub(1);
                self.laid.rows.push(Row { unit, ..Row::default() });
            }
            let one = std::slice::from_ref(prose);
            self.note(|| match prose {
                Prose::Code(code) => code.text.to_string(),
                _ => joined(&markdown::lines(one, 200, Paint::Off)),
            });
            let lines = markdown::lines(one, self.look.width, Paint::On);
            self.fold_lines(lines, 0);
        }
    }

    /// Adds a block of which a title stays when it is folded.
    fn folded(
        &mut self,
        title: &str,
        tone: Tone,
        size: u64,
        otherwise: Fold,
        content: impl FnOnce(usize) -> Option<Vec<Line>>,
    ) {
        let fold = self.default(otherwise);
        let content = if fold == Fold::Shut { None } else { content(self.room()) };
        let mark = if content.is_some() { "▾ " } else { "▸ " };
        let room = self.look.width.saturating_sub(12).max(8);
        let title = StyledSpan::new(&truncate_to(title, room), tone);
        let mut lines = vec![Line::new([StyledSpan::new(mark, Tone::Dim), title])];
        lines.extend(indented(content.unwrap_or_default()));
        if let Some(row) = self.add(fold, lines) {
            row.right = bytes(size);
        }
    }

    pub(super) fn room(&self) -> usize {
        self.look.width.saturating_sub(2).max(8)
    }
}

fn joined(lines: &[Line]) -> String {
    let line = |line: &Line| line.spans().iter().map(StyledSpan::text).collect::<String>();
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn indented(lines: Vec<Line>) -> impl Iterator<Item = Line> {
    let margin = Line::new([StyledSpan::new("  ", Tone::Plain)]);
    lines.into_iter().map(move |line| line.after(&margin))
}

/// Returns the start of a text, and how many bytes are left out.
pub(super) fn cut(text: &str) -> (&str, usize) {
    if text.len() <= MOST_BYTES {
        return (text, 0);
    }
    let end = (0..=MOST_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    (text.get(..end).unwrap_or_default(), text.len() - end)
}
