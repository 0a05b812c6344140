//! A session for people: messages, actions and pauses.

use jiff::Timestamp;
use recount_blocks::{Block, BlockOptions, Body, CallBlock, Gap, Level, blocks, rough_duration};
use recount_engine::Field;
use recount_model::{
    Fate, Message, MessageKind, NoticeLevel, SessionFacts, SessionKind, ToolStatus,
};
use recount_platform::Folders;

use super::canvas::Canvas;
use super::number::{count, plural};
use super::sanitize::single_line;
use super::span::{Line, StyledSpan};
use super::theme::Tone;
use super::wrap::wrap;
use super::{code, diff, markdown, plain};
use crate::when;

/// The maximum number of lines of tool output at level `full`.
const OUTPUT_LINES: usize = 40;

/// Returns how the part of a message is drawn that a search found.
pub fn part_tone(part: Option<Field>) -> Tone {
    match part {
        Some(Field::Prompt | Field::Title) => Tone::Prompt,
        Some(Field::Answer) => Tone::Answer,
        Some(Field::Thought) => Tone::Thought,
        Some(Field::Call | Field::Path | Field::Tool) => Tone::Tool,
        _ => Tone::Dim,
    }
}

/// Draws the messages of one session.
#[derive(Clone, Debug)]
pub struct Transcript {
    canvas: Canvas,
    level: Level,
    thoughts: bool,
    /// The project's folder; paths below it are shown without it.
    project: String,
    last: Option<Timestamp>,
    /// The last speaker.
    speaker: Option<(String, Fate)>,
}

impl Transcript {
    /// Draws the messages of this session.
    pub fn new(canvas: Canvas, level: Level, thoughts: bool, session: &SessionFacts) -> Self {
        let project = session.project.path.as_ref().map(ToString::to_string).unwrap_or_default();
        let thoughts = thoughts || level >= Level::Trace;
        Self { canvas, level, thoughts, project, last: None, speaker: None }
    }

    /// Returns the part above the messages.
    pub fn heading(&self, session: &SessionFacts, view: Figures, folders: &Folders) -> String {
        let title = session.shown_title();
        let path = session.project.path.as_ref().map(|path| folders.tilde(path.as_str()));
        let mut lines =
            wrap(&[StyledSpan::new(&single_line(title), Tone::Heading)], self.canvas.room());
        let mut origin = vec![session.source.to_string(), session.id.to_string()];
        origin.insert(0, path.unwrap_or_else(|| session.project.name().to_owned()));
        if session.kind == SessionKind::Subagent {
            let parent = session.parent.as_ref().map_or("another session", |parent| parent.short());
            origin.push(format!("sub-agent of {parent}"));
        }
        lines.extend(self.dim(&origin.join(" · ")));
        lines.extend(self.dim(&figures(session, view).join(" · ")));
        if session.counts.undone > 0 && view == Figures::Full {
            let undone = session.counts.undone;
            let are = if undone == 1 { "message is" } else { "messages are" };
            let words =
                format!("{undone} undone or replaced {are} marked; --view strict leaves them out");
            lines.extend(self.dim(&words));
        }
        self.canvas.print(lines)
    }

    /// Draws one message; empty if the level hides it.
    pub fn message(&mut self, message: &Message, number: usize) -> String {
        if !self.level.shows(message, self.thoughts) {
            return String::new();
        }
        let mut page = self.gap(message.time);
        let speaker = Some((who(message), message.fate));
        let goes_on =
            page.is_empty() && self.level < Level::Full && message.kind == MessageKind::Answer;
        if !goes_on || self.speaker != speaker {
            page.push_str(&self.canvas.print([Line::default(), self.title(message, number)]));
        }
        self.speaker = speaker;
        let inner = self.canvas.indent(StyledSpan::new(bar(message), tone(message)));
        let options = BlockOptions {
            level: self.level,
            thoughts: self.thoughts,
            body: if self.level >= Level::Trace { Body::Sent } else { Body::Displayed },
            markdown_summaries: false,
            project: &self.project,
        };
        for block in blocks(message, &options) {
            page.push_str(&self.block(&block, &inner));
        }
        page
    }

    fn block(&self, block: &Block<'_>, inner: &Canvas) -> String {
        match block {
            Block::Markdown { blocks } => markdown::render(blocks, inner),
            Block::Text { text } | Block::Verbatim { text } | Block::Sent { text } => {
                plain::render(text.trim(), Tone::Plain, inner)
            }
            Block::Notice { level, text } => plain::render(text.trim(), notice_tone(*level), inner),
            Block::Thought { subject, description } => {
                let text = format!("{subject}\n{description}");
                plain::render(text.trim(), Tone::Thought, inner)
            }
            Block::File { path, bytes, .. } => {
                let words = format!("@{path} ({} sent along)", super::number::bytes(*bytes));
                plain::render(&words, Tone::Dim, inner)
            }
            Block::Media(media) => {
                let words = format!("[{}, {}]", media.mime, super::number::bytes(media.bytes));
                plain::render(&words, Tone::Dim, inner)
            }
            Block::Call(call) => self.call(call, inner),
            // Problems are reported below the transcript, with their locations.
            Block::Damage { .. } => String::new(),
        }
    }

    fn gap(&mut self, time: Option<Timestamp>) -> String {
        let Some(time) = time else { return String::new() };
        let before = self.last.replace(time);
        let Some(silence) = Gap::between(before, time) else { return String::new() };
        let day = if before.is_some_and(|before| when::same_day(before, time)) {
            String::new()
        } else {
            format!(", {}", when::minute(time))
        };
        let words = format!("··· {silence} later{day} ···");
        self.canvas.print([Line::default(), Line::new([StyledSpan::new(&words, Tone::Dim)])])
    }

    fn title(&self, message: &Message, number: usize) -> Line {
        let mut spans = vec![StyledSpan::new(&who(message), tone(message))];
        if let Some(time) = message.time {
            spans.push(StyledSpan::new(&format!("  {}", when::clock_time(time)), Tone::Dim));
        }
        if message.fate != Fate::Kept {
            spans.push(StyledSpan::new(&format!("  [{}]", message.fate), Tone::Warning));
        }
        if self.level >= Level::Trace {
            let id = message.id.as_ref().map_or("no id", |id| id.as_str());
            let place = &message.place;
            let words = format!("  #{number} {id} {}:{} +{}", place.file, place.line, place.bytes);
            spans.push(StyledSpan::new(&words, Tone::Dim));
        }
        if let Some(tokens) = message.tokens.filter(|_| self.level >= Level::Full) {
            spans.push(StyledSpan::new(&format!("  {} tokens", count(tokens.total)), Tone::Dim));
        }
        Line::new(spans)
    }

    fn call(&self, call: &CallBlock<'_>, inner: &Canvas) -> String {
        let mut spans = vec![call_mark(call.status), StyledSpan::new(call.name, Tone::Tool)];
        if let Some(key) = call.key_argument.filter(|_| self.level < Level::Trace) {
            let room = inner.room().saturating_sub(call.name.len() + 6)
                * if self.level >= Level::Full { 4 } else { 1 };
            let key = super::width::truncate_to(&single_line(key), room.max(20));
            spans.push(StyledSpan::new(&format!(" {key}"), Tone::Plain));
        }
        match call.status {
            ToolStatus::Error => spans.push(StyledSpan::new("  failed", Tone::Error)),
            ToolStatus::Cancelled => spans.push(StyledSpan::new("  cancelled", Tone::Warning)),
            ToolStatus::Success | ToolStatus::Other(_) => {}
        }
        if let Some(agent) = call.agent {
            spans.push(StyledSpan::new(&format!("  (sub-agent {agent})"), Tone::Dim));
        }
        let mut page = inner.print(wrap(&spans, inner.room()));
        let deep = inner.indent(StyledSpan::new("  ", Tone::Dim));
        if let Some(arguments) = &call.arguments {
            page.push_str(&code::render(&arguments.text, &arguments.language, &deep));
        }
        if let Some(diff) = &call.diff {
            page.push_str(&diff::render(diff.patch, &deep));
        }
        page.push_str(&self.outcome(call, &deep));
        page
    }

    /// Returns the output at the upper levels; an error always, on one line.
    fn outcome(&self, call: &CallBlock<'_>, deep: &Canvas) -> String {
        let output = call.outcome();
        let tone = if *call.status == ToolStatus::Error { Tone::Error } else { Tone::Dim };
        if self.level < Level::Full {
            return plain::render(output, tone, deep);
        }
        let most = if self.level >= Level::Trace { usize::MAX } else { OUTPUT_LINES };
        let lines = output.lines().count();
        let shown: String = output.split_inclusive('\n').take(most).collect();
        let mut page = plain::render(shown.trim_end(), tone, deep);
        if lines > most {
            let words = format!("… {} more lines (--level trace)", lines - most);
            page.push_str(&plain::render(&words, Tone::Dim, deep));
        }
        if call.is_cut {
            page.push_str(&plain::render(
                "(the agent cut this output; the rest is gone)",
                Tone::Warning,
                deep,
            ));
        }
        page
    }

    fn dim(&self, words: &str) -> Vec<Line> {
        wrap(&[StyledSpan::new(words, Tone::Dim)], self.canvas.room())
    }
}

/// Which view the figures in the heading are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figures {
    /// The strict view.
    Strict,
    /// The full view.
    Full,
}

fn figures(session: &SessionFacts, view: Figures) -> Vec<String> {
    let (prompts, answers, calls, tokens) = match view {
        Figures::Full => {
            let counts = session.counts;
            (counts.prompts, counts.answers, session.tool_calls.total, session.tokens)
        }
        Figures::Strict => {
            let kept = session.kept;
            (kept.prompts, kept.answers, kept.tool_calls, kept.tokens)
        }
    };
    let mut figures = Vec::new();
    if let (Some(started), Some(updated)) = (session.started, session.updated) {
        let seconds = updated.as_second() - started.as_second();
        figures.push(format!("{}, {}", when::minute(started), rough_duration(seconds.max(0))));
    }
    figures.push(plural(prompts, "prompt"));
    figures.push(plural(answers, "answer"));
    if calls > 0 {
        let failed = session.tool_calls.failed;
        let failed = match view {
            Figures::Full if failed > 0 => format!(" ({failed} failed)"),
            _ => String::new(),
        };
        figures.push(format!("{}{failed}", plural(calls, "tool call")));
    }
    figures.push(format!("{} tokens", count(tokens.total)));
    figures.extend(session.models.iter().cloned());
    figures
}

/// Returns the mark before a tool call: how it ended.
pub fn call_mark(status: &ToolStatus) -> StyledSpan {
    match status {
        ToolStatus::Success => StyledSpan::new("● ", Tone::Added),
        ToolStatus::Error => StyledSpan::new("✗ ", Tone::Error),
        ToolStatus::Cancelled => StyledSpan::new("⊘ ", Tone::Warning),
        ToolStatus::Other(_) => StyledSpan::new("○ ", Tone::Dim),
    }
}

/// Returns who speaks in a message.
pub fn who(message: &Message) -> String {
    match message.kind {
        MessageKind::Prompt => "you".into(),
        MessageKind::Answer => message.model.clone().unwrap_or_else(|| "model".into()),
        MessageKind::Notice => match message.level {
            Some(NoticeLevel::Error) => "error".into(),
            Some(NoticeLevel::Warning) => "warning".into(),
            _ => "info".into(),
        },
        MessageKind::Shell => "your shell".into(),
        other => other.to_string(),
    }
}

/// Returns the tone of a message's heading.
pub fn tone(message: &Message) -> Tone {
    match message.kind {
        _ if message.fate != Fate::Kept => Tone::Dim,
        MessageKind::Prompt => Tone::Prompt,
        MessageKind::Answer => Tone::Answer,
        MessageKind::Notice => notice_tone(message.level),
        _ => Tone::Dim,
    }
}

/// Returns the tone of a notice.
pub fn notice_tone(level: Option<NoticeLevel>) -> Tone {
    match level {
        Some(NoticeLevel::Error) => Tone::Error,
        Some(NoticeLevel::Warning) => Tone::Warning,
        _ => Tone::Dim,
    }
}

/// Returns the prefix of each line: it distinguishes prompts from answers without color too.
fn bar(message: &Message) -> &'static str {
    match message.kind {
        MessageKind::Prompt => "> ",
        MessageKind::Answer => "  ",
        _ => "· ",
    }
}
