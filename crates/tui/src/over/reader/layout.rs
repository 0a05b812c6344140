//! A message as rows of a width: text, folded and open blocks.

use recount_blocks::{Block, CallBlock, Level, Prose, blocks};
use recount_display::canvas::Paint;
use recount_display::number::{bytes, count, plural};
use recount_display::sanitize::single_line;
use recount_display::span::{Line, Span};
use recount_display::theme::Tone;
use recount_display::transcript::{call_mark, who};
use recount_display::width::{truncate_to, width};
use recount_display::{code, diff, markdown, plain};
use recount_model::{Message, MessageKind, NoticeLevel, ToolCall, ToolStatus};

use crate::transcript::Look;

/// The number of lines of an output that is shown unasked.
const BRIEF: usize = 40;
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
    look: Look<'a>,
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
    fn note(&mut self, text: impl FnOnce() -> String) {
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
            self.add(Fold::Open, vec![Line::new([Span::new(words, Tone::Dim)])]);
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
        self.add(Fold::Open, vec![Line::new([Span::new(&words, Tone::Dim)])]);
    }

    fn next(&self) -> usize {
        self.laid.folds.len()
    }

    /// Returns how the next block is shown.
    fn default(&self, otherwise: Fold) -> Fold {
        (self.fold)(self.next()).unwrap_or(otherwise)
    }

    /// Adds a block.
    fn add(&mut self, fold: Fold, lines: Vec<Line>) -> Option<&mut Row> {
        let unit = self.next();
        self.laid.folds.push(fold);
        let first = self.laid.rows.len();
        let more = lines.len().saturating_sub(MOST_ROWS);
        let rows = lines.into_iter().take(MOST_ROWS);
        self.laid.rows.extend(rows.map(|line| Row { line, unit, ..Row::default() }));
        if more > 0 {
            let words = format!("… {} more: P shows all", plural(more as u64, "line"));
            let line = Line::new([Span::new(&words, Tone::Dim)]);
            self.laid.rows.push(Row { line, unit, ..Row::default() });
        }
        self.laid.rows.get_mut(first)
    }

    /// Adds a block that folds to its first line.
    fn fold_lines(&mut self, mut lines: Vec<Line>, rest: usize) {
        let fold = self.default(Fold::Open);
        if rest > 0 {
            let words = format!("… {} more: P shows all", bytes(rest as u64));
            lines.push(Line::new([Span::new(&words, Tone::Dim)]));
        }
        if fold == Fold::Shut && lines.len() > 1 {
            let many = plural(lines.len() as u64, "line");
            let first = lines.iter().find(|line| line.width() > 0).cloned().unwrap_or_default();
            let room = self.look.width.saturating_sub(14).max(8);
            let first = truncate_to(joined(&[first]).trim_start(), room);
            let first = Line::new([Span::new("▸ ", Tone::Dim), Span::new(&first, Tone::Plain)]);
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
        let title = Span::new(&truncate_to(title, room), tone);
        let mut lines = vec![Line::new([Span::new(mark, Tone::Dim), title])];
        lines.extend(indented(content.unwrap_or_default()));
        if let Some(row) = self.add(fold, lines) {
            row.right = bytes(size);
        }
    }

    fn room(&self) -> usize {
        self.look.width.saturating_sub(2).max(8)
    }

    /// Calls that say nothing by themselves are one block.
    fn calls(&mut self, calls: &[ToolCall]) {
        let is_quiet = |call: &ToolCall| call.status == ToolStatus::Success && call.diff.is_none();
        let mut rest = calls;
        while let Some(first) = rest.first() {
            let many = if self.look.level == Level::Actions && is_quiet(first) {
                rest.iter().take_while(|call| is_quiet(call)).count()
            } else {
                1
            };
            let (group, more) = rest.split_at(many);
            if let [call] = group {
                self.call(call);
            } else {
                self.group(group);
            }
            rest = more;
        }
    }

    fn group(&mut self, calls: &[ToolCall]) {
        self.note(|| calls.iter().map(output).collect::<Vec<_>>().join("\n"));
        let fold = self.default(Fold::Shut);
        let size: usize = calls.iter().map(|call| output(call).len()).sum();
        let mark = if fold == Fold::Shut { "▸ " } else { "▾ " };
        let title = format!("{} calls: {}", calls.len(), names(calls));
        let title = truncate_to(&title, self.look.width.saturating_sub(12).max(8));
        let mut lines =
            vec![Line::new([Span::new(mark, Tone::Dim), Span::new(&title, Tone::Tool)])];
        if fold != Fold::Shut {
            let room = self.room();
            let inner = Look { width: room, level: Level::Full, ..self.look };
            for call in calls {
                let block = CallBlock::new(call, Level::Full, self.look.project);
                let mut one = vec![inner.call_heading(&block)];
                one.extend(indented(Self::outcome(&block, Fold::Open, room.saturating_sub(2))));
                lines.extend(indented(one));
            }
        }
        if let Some(row) = self.add(fold, lines) {
            row.right = if size > 0 { bytes(size as u64) } else { String::new() };
            row.is_call = true;
        }
    }

    fn call(&mut self, call: &ToolCall) {
        self.note(|| call.diff.clone().unwrap_or_else(|| output(call).to_owned()));
        let level = self.look.level;
        let is_error = call.status == ToolStatus::Error;
        let otherwise = match level {
            Level::Talk | Level::Actions if call.diff.is_some() && !is_error => Fold::Brief,
            Level::Talk | Level::Actions => Fold::Shut,
            Level::Full | Level::Trace => Fold::Brief,
        };
        let fold = self.default(otherwise);
        let shown = if fold == Fold::Open { level.max(Level::Full) } else { level };
        let block = CallBlock::new(call, shown, self.look.project);
        let mut lines = vec![self.heading_of(&block, fold)];
        if fold != Fold::Shut {
            let room = self.room();
            if let Some(arguments) = &block.arguments {
                let (text, _) = cut(&arguments.text);
                lines.extend(indented(code::lines(text, &arguments.language, room, Paint::On)));
            }
            if let Some(diff) = &block.diff {
                // The heading has the name already.
                let patch =
                    if fold == Fold::Brief { without_names(diff.patch) } else { diff.patch };
                lines.extend(indented(diff::lines(cut(patch).0, room)));
            }
            lines.extend(indented(Self::outcome(&block, fold, room)));
        }
        let size = output(call).len();
        let is_change = call.diff.is_some();
        if let Some(row) = self.add(fold, lines) {
            let is_hidden = fold == Fold::Shut && size > 0 && !is_error;
            row.right = if is_hidden { bytes(size as u64) } else { String::new() };
            (row.is_call, row.is_error, row.is_change) = (true, is_error, is_change);
        }
    }

    fn heading_of(&self, call: &CallBlock<'_>, fold: Fold) -> Line {
        let mark = match call.status {
            ToolStatus::Success if fold == Fold::Shut => Span::new("▸ ", Tone::Dim),
            ToolStatus::Success => Span::new("▾ ", Tone::Dim),
            other => call_mark(other),
        };
        let mut spans = vec![mark, Span::new(call.name, Tone::Tool)];
        let ending = call.ending().map(|ending| match call.error.filter(|_| fold == Fold::Shut) {
            Some(error) => format!("  {ending}: {}", single_line(error)),
            None => format!("  {ending}"),
        });
        let room = self.look.width.saturating_sub(width(call.name) + 14);
        if let Some(key) = call.key_argument {
            let room = if ending.is_some() { room * 2 / 3 } else { room };
            let key = truncate_to(&single_line(key), room.max(8));
            spans.push(Span::new(&format!(" {key}"), Tone::Plain));
        }
        if let Some(agent) = call.agent {
            spans.push(Span::new(&format!("  (sub-agent {})", single_line(agent)), Tone::Dim));
        }
        if let Some(ending) = ending {
            let tone = if *call.status == ToolStatus::Error { Tone::Error } else { Tone::Warning };
            let taken = Line::new(spans.iter().cloned()).width();
            let room = self.look.width.saturating_sub(taken).max(8);
            spans.push(Span::new(&truncate_to(&ending, room), tone));
        }
        Line::new(spans)
    }

    /// Lays out what a call returned.
    fn outcome(call: &CallBlock<'_>, fold: Fold, room: usize) -> Vec<Line> {
        let tone = if *call.status == ToolStatus::Error { Tone::Error } else { Tone::Dim };
        let (text, rest) = cut(call.outcome().trim_end());
        let mut lines = plain::lines(text, tone, room);
        let mut note = |words: &str, tone| lines.push(Line::new([Span::new(words, tone)]));
        if rest > 0 {
            note(&format!("… {} more: P shows all", bytes(rest as u64)), Tone::Dim);
        }
        if call.is_cut {
            note("(the agent cut this output; the rest is gone)", Tone::Warning);
        }
        for media in call.media {
            note(&format!("[{}, {}]", media.mime, bytes(media.bytes)), Tone::Dim);
        }
        if fold == Fold::Brief && lines.len() > BRIEF + 1 {
            let more = lines.len() - BRIEF;
            lines.truncate(BRIEF);
            let words = format!("… {} more: tab shows them", plural(more as u64, "line"));
            lines.push(Line::new([Span::new(&words, Tone::Dim)]));
        }
        lines
    }
}

/// Returns a patch from its first change on.
fn without_names(patch: &str) -> &str {
    let is_name = |line: &&str| !line.starts_with("@@");
    let names: usize = patch.split_inclusive('\n').take_while(is_name).map(str::len).sum();
    patch.get(names..).filter(|rest| !rest.is_empty()).unwrap_or(patch)
}

fn joined(lines: &[Line]) -> String {
    let line = |line: &Line| line.spans().iter().map(Span::text).collect::<String>();
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn output(call: &ToolCall) -> &str {
    call.output.as_deref().or(call.display.as_deref()).unwrap_or_default()
}

/// Names the tools of calls, in the order of first use.
fn names(calls: &[ToolCall]) -> String {
    let mut names: Vec<(&str, usize)> = Vec::new();
    for call in calls {
        let name = call.display_name.as_deref().filter(|name| !name.is_empty());
        let name = name.unwrap_or(&call.name);
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, times)) => *times += 1,
            None => names.push((name, 1)),
        }
    }
    let word = |(name, times): &(&str, usize)| match times {
        1 => single_line(name),
        times => format!("{} ×{times}", single_line(name)),
    };
    names.iter().map(word).collect::<Vec<_>>().join(", ")
}

fn indented(lines: Vec<Line>) -> impl Iterator<Item = Line> {
    let margin = Line::new([Span::new("  ", Tone::Plain)]);
    lines.into_iter().map(move |line| line.after(&margin))
}

/// Returns the start of a text, and how many bytes are left out.
fn cut(text: &str) -> (&str, usize) {
    if text.len() <= MOST_BYTES {
        return (text, 0);
    }
    let end = (0..=MOST_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    (text.get(..end).unwrap_or_default(), text.len() - end)
}
