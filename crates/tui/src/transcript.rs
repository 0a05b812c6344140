//! Messages as lines, for the preview and the reader.

use recount_blocks::{Block, BlockOptions, Body, CallBlock, Level, blocks};
use recount_display::canvas::Paint;
use recount_display::number::bytes;
use recount_display::sanitize::single_line;
use recount_display::span::{Line, StyledSpan};
use recount_display::theme::Tone;
use recount_display::transcript::{call_mark, notice_tone, tone, who};
use recount_display::width::truncate_to;
use recount_display::{code, diff, markdown, plain, when};
use recount_model::{Fate, Message, ToolStatus};

/// How messages are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look<'a> {
    /// How much is shown.
    pub(crate) level: Level,
    /// The number of columns.
    pub(crate) width: usize,
    /// The project's folder; paths below it are shown without it.
    pub(crate) project: &'a str,
}

impl Look<'_> {
    /// Returns the blocks' options.
    pub(crate) fn options(&self) -> BlockOptions<'_> {
        BlockOptions {
            level: self.level,
            thoughts: self.level >= Level::Trace,
            body: if self.level >= Level::Trace { Body::Sent } else { Body::Displayed },
            markdown_summaries: false,
            project: self.project,
        }
    }

    /// Lays out a whole message, with its heading.
    pub(crate) fn message(&self, message: &Message) -> Vec<Line> {
        if !self.level.shows(message, self.level >= Level::Trace) {
            return Vec::new();
        }
        let mut lines = vec![heading(message)];
        let margin = Line::new([StyledSpan::new("  ", Tone::Plain)]);
        let inner = Look { width: self.width.saturating_sub(2).max(8), ..*self };
        for block in blocks(message, &self.options()) {
            lines.extend(inner.block(&block).into_iter().map(|line| line.after(&margin)));
        }
        lines
    }

    /// Lays out one block.
    pub(crate) fn block(&self, block: &Block<'_>) -> Vec<Line> {
        match block {
            Block::Markdown { blocks } => markdown::lines(blocks, self.width, Paint::On),
            Block::Text { text } | Block::Verbatim { text } | Block::Sent { text } => {
                plain::lines(text.trim(), Tone::Plain, self.width)
            }
            Block::Notice { level, text } => {
                plain::lines(text.trim(), notice_tone(*level), self.width)
            }
            Block::Thought { subject, description } => {
                let text = format!("{subject}\n{description}");
                plain::lines(text.trim(), Tone::Thought, self.width)
            }
            Block::File { path, bytes: size, .. } => {
                let words = format!("@{path} ({} sent along)", bytes(*size));
                plain::lines(&words, Tone::Dim, self.width)
            }
            Block::Media(media) => {
                let words = format!("[{}, {}]", media.mime, bytes(media.bytes));
                plain::lines(&words, Tone::Dim, self.width)
            }
            Block::Call(call) => self.call(call),
            Block::Damage { .. } => {
                plain::lines("(damaged: see the problems)", Tone::Warning, self.width)
            }
        }
    }

    /// Lays out a call: its heading, arguments, diff and outcome.
    fn call(&self, call: &CallBlock<'_>) -> Vec<Line> {
        let mut lines = vec![self.call_heading(call)];
        let margin = Line::new([StyledSpan::new("  ", Tone::Plain)]);
        let room = self.width.saturating_sub(2).max(8);
        let mut add = |more: Vec<Line>| {
            lines.extend(more.into_iter().map(|line| line.after(&margin)));
        };
        if let Some(arguments) = &call.arguments {
            add(code::lines(&arguments.text, &arguments.language, room, Paint::On));
        }
        if let Some(diff) = &call.diff {
            add(diff::lines(diff.patch, room));
        }
        let tone = if *call.status == ToolStatus::Error { Tone::Error } else { Tone::Dim };
        add(plain::lines(call.outcome().trim_end(), tone, room));
        lines
    }

    /// Lays out the first line of a call: how it ended, its name and its key argument.
    pub(crate) fn call_heading(&self, call: &CallBlock<'_>) -> Line {
        let mut spans = vec![call_mark(call.status), StyledSpan::new(call.name, Tone::Tool)];
        if let Some(key) = call.key_argument {
            let room = self.width.saturating_sub(call.name.len() + 12).max(12);
            let key = truncate_to(&single_line(key), room);
            spans.push(StyledSpan::new(&format!(" {key}"), Tone::Plain));
        }
        match call.status {
            ToolStatus::Error => spans.push(StyledSpan::new("  failed", Tone::Error)),
            ToolStatus::Cancelled => spans.push(StyledSpan::new("  cancelled", Tone::Warning)),
            ToolStatus::Success | ToolStatus::Other(_) => {}
        }
        Line::new(spans)
    }
}

/// Returns the line above a message: who, when, and its fate.
pub(crate) fn heading(message: &Message) -> Line {
    let mut spans = vec![StyledSpan::new(&who(message), tone(message))];
    if let Some(time) = message.time {
        spans.push(StyledSpan::new(&format!("  {}", when::clock_time(time)), Tone::Dim));
    }
    if message.fate != Fate::Kept {
        spans.push(StyledSpan::new(&format!("  [{}]", message.fate), Tone::Warning));
    }
    Line::new(spans)
}
