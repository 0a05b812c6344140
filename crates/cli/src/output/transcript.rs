//! A session as a person reads it: who said what, what was done, how much time passed.

use jiff::Timestamp;
use recount_engine::export::{Level, gap};
use recount_model::{
    Fate, Message, MessageKind, NoticeLevel, OutputState, SessionFacts, SessionKind, ToolCall,
    ToolStatus,
};
use recount_platform::Folders;

use super::canvas::Canvas;
use super::number::{count, plural};
use super::sanitize::single_line;
use super::span::{Line, Span};
use super::theme::Tone;
use super::wrap::wrap;
use super::{code, diff, markdown, plain};
use crate::when;

/// Lines of tool output that are shown at level `full`.
const OUTPUT_LINES: usize = 40;

/// Draws the messages of one session.
#[derive(Debug)]
pub(crate) struct Transcript {
    canvas: Canvas,
    level: Level,
    thoughts: bool,
    /// The project's folder; paths below it are shown without it.
    project: Option<String>,
    last: Option<Timestamp>,
    /// Who spoke last.
    speaker: Option<(String, Fate)>,
}

impl Transcript {
    pub(crate) fn new(
        canvas: Canvas,
        level: Level,
        thoughts: bool,
        session: &SessionFacts,
    ) -> Self {
        let project = session.project.path.as_ref().map(|path| format!("{path}/"));
        let thoughts = thoughts || level >= Level::Trace;
        Self { canvas, level, thoughts, project, last: None, speaker: None }
    }

    /// What stands above the messages.
    pub(crate) fn heading(
        &self,
        session: &SessionFacts,
        view: Figures,
        folders: &Folders,
    ) -> String {
        let title = session.title.as_deref().unwrap_or("(nothing said)");
        let path = session.project.path.as_ref().map(|path| folders.tilde(path.as_str()));
        let mut lines = wrap(&[Span::new(&single_line(title), Tone::Heading)], self.canvas.room());
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
            let words = format!(
                "{undone} undone or replaced messages are marked; --view strict leaves them out"
            );
            lines.extend(self.dim(&words));
        }
        self.canvas.print(lines)
    }

    /// Draws one message; empty when the level leaves it out.
    pub(crate) fn message(&mut self, message: &Message, number: usize) -> String {
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
        let inner = self.canvas.indent(Span::new(bar(message), tone(message)));
        if self.thoughts {
            for thought in &message.thoughts {
                let text = format!("{}\n{}", thought.subject, thought.description);
                page.push_str(&plain::render(text.trim(), Tone::Thought, &inner));
            }
        }
        page.push_str(&self.words(message, &inner));
        if self.level >= Level::Actions {
            for call in &message.tool_calls {
                page.push_str(&self.call(call, &inner));
            }
        }
        page
    }

    fn gap(&mut self, time: Option<Timestamp>) -> String {
        let Some(time) = time else { return String::new() };
        let before = self.last.replace(time);
        let Some(silence) = gap::between(before, time) else { return String::new() };
        let day = if before.is_some_and(|before| when::same_day(before, time)) {
            String::new()
        } else {
            format!(", {}", when::minute(time))
        };
        let words = format!("··· {silence} later{day} ···");
        self.canvas.print([Line::default(), Line::new([Span::new(&words, Tone::Dim)])])
    }

    fn title(&self, message: &Message, number: usize) -> Line {
        let mut spans = vec![Span::new(&who(message), tone(message))];
        if let Some(time) = message.time {
            spans.push(Span::new(&format!("  {}", when::clock_time(time)), Tone::Dim));
        }
        if message.fate != Fate::Kept {
            spans.push(Span::new(&format!("  [{}]", message.fate), Tone::Warning));
        }
        if self.level >= Level::Trace {
            let id = message.id.as_ref().map_or("no id", |id| id.as_str());
            let place = &message.place;
            let words = format!("  #{number} {id} {}:{} +{}", place.file, place.line, place.bytes);
            spans.push(Span::new(&words, Tone::Dim));
        }
        if let Some(tokens) = message.tokens.filter(|_| self.level >= Level::Full) {
            spans.push(Span::new(&format!("  {} tokens", count(tokens.total)), Tone::Dim));
        }
        Line::new(spans)
    }

    fn words(&self, message: &Message, inner: &Canvas) -> String {
        let text = if self.level >= Level::Trace { &message.text } else { &message.display_text };
        let mut page = match message.kind {
            MessageKind::Answer => markdown::render(text, inner),
            MessageKind::Notice => plain::render(text.trim(), notice_tone(message.level), inner),
            _ => plain::render(text.trim(), Tone::Plain, inner),
        };
        for media in &message.media {
            let words = format!("[{}, {}]", media.mime, super::number::bytes(media.bytes));
            page.push_str(&plain::render(&words, Tone::Dim, inner));
        }
        for file in &message.files {
            let words = format!("@{} ({} sent along)", file.path, super::number::bytes(file.bytes));
            page.push_str(&plain::render(&words, Tone::Dim, inner));
        }
        page
    }

    fn call(&self, call: &ToolCall, inner: &Canvas) -> String {
        let mark = match call.status {
            ToolStatus::Success => Span::new("● ", Tone::Added),
            ToolStatus::Error => Span::new("✗ ", Tone::Error),
            ToolStatus::Cancelled => Span::new("⊘ ", Tone::Warning),
            ToolStatus::Other(_) => Span::new("○ ", Tone::Dim),
        };
        let name =
            call.display_name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&call.name);
        let mut spans = vec![mark, Span::new(name, Tone::Tool)];
        if let Some(key) = call.key_arg.as_deref().filter(|_| self.level < Level::Trace) {
            let room = inner.room().saturating_sub(name.len() + 6)
                * if self.level >= Level::Full { 4 } else { 1 };
            let project = self.project.as_deref().unwrap_or_default();
            let key = key.strip_prefix(project).unwrap_or(key);
            let key = super::width::truncate_to(&single_line(key), room.max(20));
            spans.push(Span::new(&format!(" {key}"), Tone::Plain));
        }
        match call.status {
            ToolStatus::Error => spans.push(Span::new("  failed", Tone::Error)),
            ToolStatus::Cancelled => spans.push(Span::new("  cancelled", Tone::Warning)),
            ToolStatus::Success | ToolStatus::Other(_) => {}
        }
        if let Some(agent) = &call.agent_id {
            spans.push(Span::new(&format!("  (sub-agent {agent})"), Tone::Dim));
        }
        let mut page = inner.print(wrap(&spans, inner.room()));
        let deep = inner.indent(Span::new("  ", Tone::Dim));
        if self.level >= Level::Trace {
            page.push_str(&code::render(call.args.as_str(), "json", &deep));
        }
        if let Some(patch) = &call.diff {
            page.push_str(&diff::render(without_index(patch), &deep));
        }
        page.push_str(&self.outcome(call, &deep));
        page
    }

    /// Output at the fuller levels; an error always, in one line.
    fn outcome(&self, call: &ToolCall, deep: &Canvas) -> String {
        let output = call.output.as_deref().or(call.display.as_deref()).unwrap_or_default();
        let failed = call.status == ToolStatus::Error;
        if self.level < Level::Full {
            let line = output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            return if failed { plain::render(line, Tone::Error, deep) } else { String::new() };
        }
        let most = if self.level >= Level::Trace { usize::MAX } else { OUTPUT_LINES };
        let lines = output.lines().count();
        let shown: String = output.split_inclusive('\n').take(most).collect();
        let mut page =
            plain::render(shown.trim_end(), if failed { Tone::Error } else { Tone::Dim }, deep);
        if lines > most {
            let words = format!("… {} more lines (--level trace)", lines - most);
            page.push_str(&plain::render(&words, Tone::Dim, deep));
        }
        if matches!(call.output_state, OutputState::Truncated | OutputState::Masked) {
            page.push_str(&plain::render(
                "(the agent cut this output; the rest is gone)",
                Tone::Warning,
                deep,
            ));
        }
        page
    }

    fn dim(&self, words: &str) -> Vec<Line> {
        wrap(&[Span::new(words, Tone::Dim)], self.canvas.room())
    }
}

/// Agents put the file's name and a rule above the diff proper; the call names the file already.
fn without_index(patch: &str) -> &str {
    match patch.split_once("\n--- ") {
        Some((head, _)) if head.starts_with("Index: ") => {
            patch.get(head.len() + 1..).unwrap_or(patch)
        }
        _ => patch,
    }
}

/// Of which view the figures in the heading are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figures {
    Strict,
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
        figures.push(format!("{}, {}", when::minute(started), gap::stretch(seconds.max(0))));
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

fn who(message: &Message) -> String {
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

fn tone(message: &Message) -> Tone {
    match message.kind {
        _ if message.fate != Fate::Kept => Tone::Dim,
        MessageKind::Prompt => Tone::Prompt,
        MessageKind::Answer => Tone::Answer,
        MessageKind::Notice => notice_tone(message.level),
        _ => Tone::Dim,
    }
}

fn notice_tone(level: Option<NoticeLevel>) -> Tone {
    match level {
        Some(NoticeLevel::Error) => Tone::Error,
        Some(NoticeLevel::Warning) => Tone::Warning,
        _ => Tone::Dim,
    }
}

/// What stands in front of each line: a prompt is told from an answer without colour too.
fn bar(message: &Message) -> &'static str {
    match message.kind {
        MessageKind::Prompt => "> ",
        MessageKind::Answer => "  ",
        _ => "· ",
    }
}
