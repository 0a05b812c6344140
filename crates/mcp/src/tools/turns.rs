//! What is shown of one message: each line with its speaker, so that no line can pass for somebody else's.

use recount_engine::Error;
use recount_model::{Message, MessageKind, NoticeLevel, SessionFacts, ToolCall, ToolStatus};

use super::echo::is_own;
use super::fate;
use crate::memory::Moment;
use crate::text::cut;

/// The characters of a message's text.
pub(super) const TEXT: usize = 1200;
/// The characters of a key argument, and of an error.
const SHORT: usize = 120;
/// The characters of arguments and of outputs in the full view.
const ARGUMENTS: usize = 300;
const OUTPUT: usize = 800;

/// Shows the messages of one session.
#[derive(Debug)]
pub(super) struct Teller<'a> {
    moment: &'a Moment<'a>,
    agent: &'static str,
    /// The project's folder: paths below it are relative to it.
    folder: String,
}

impl<'a> Teller<'a> {
    pub(super) fn new(moment: &'a Moment<'a>, facts: &SessionFacts) -> Self {
        let path = facts.project.path.as_ref();
        let folder = path.map(|path| format!("{path}/")).unwrap_or_default();
        Self { moment, agent: facts.source.as_str(), folder }
    }

    /// Returns who said a message.
    pub(super) fn speaker(&self, kind: MessageKind) -> &'static str {
        match kind {
            MessageKind::Prompt => "you",
            MessageKind::Answer => self.agent,
            MessageKind::Context => "context",
            MessageKind::Hook => "hook output",
            MessageKind::ToolResult => "tool output",
            MessageKind::Shell => "you ran",
            MessageKind::Notice => "notice",
            MessageKind::Summary => "summary",
            MessageKind::Nudge => "automatic",
        }
    }

    /// Returns the lines of a message in a story: words, tools with their key argument, errors. Prompts begin with their number.
    pub(super) fn story(&self, message: &Message, number: usize) -> Result<Vec<String>, Error> {
        let mut lines = Vec::new();
        let speaker = self.speaker(message.kind);
        let undone = fate(message.fate);
        match message.kind {
            MessageKind::Prompt => {
                let who = format!("#{number} {speaker}{undone}");
                lines.extend(self.text(&who, &message.display_text, TEXT)?);
            }
            MessageKind::Answer | MessageKind::Summary => {
                lines.extend(self.text(
                    &format!("{speaker}{undone}"),
                    &message.display_text,
                    TEXT,
                )?);
            }
            MessageKind::Shell => {
                lines.push(format!(
                    "{speaker}: {}",
                    self.moment.line(&message.display_text, SHORT)?
                ));
            }
            MessageKind::Notice if message.level == Some(NoticeLevel::Error) => {
                lines.push(format!("error: {}", self.moment.line(&message.display_text, SHORT)?));
            }
            _ => {}
        }
        for call in &message.tool_calls {
            lines.push(self.call(call)?);
        }
        Ok(lines)
    }

    /// Returns the line of a call.
    fn call(&self, call: &ToolCall) -> Result<String, Error> {
        let key = call.key_arg.as_deref().unwrap_or_default();
        let key = self.moment.line(key.strip_prefix(&self.folder).unwrap_or(key), SHORT)?;
        let name = self.moment.line(&call.name, 60)?;
        let outcome = match call.status {
            ToolStatus::Error => {
                let output = call.output.as_deref().unwrap_or_default();
                format!(" — failed: {}", self.moment.line(output, SHORT)?)
            }
            ToolStatus::Cancelled => " — cancelled".to_owned(),
            ToolStatus::Success | ToolStatus::Other(_) => String::new(),
        };
        Ok(format!("- {name} {key}{outcome}"))
    }

    /// Returns the lines of a message with everything that it has, each part cut.
    pub(super) fn full(
        &self,
        message: &Message,
        head: &str,
        most: usize,
    ) -> Result<Vec<String>, Error> {
        let mut lines = vec![head.to_owned()];
        let speaker = self.speaker(message.kind);
        if !message.display_text.trim().is_empty() {
            lines.extend(self.text(speaker, &message.display_text, most)?);
        }
        for file in &message.files {
            lines.push(format!("attached file: {}", self.moment.line(&file.path, SHORT)?));
        }
        for call in &message.tool_calls {
            lines.push(self.call(call)?);
            let arguments = self.moment.line(call.args.as_str(), ARGUMENTS)?;
            if arguments.len() > 4 {
                lines.push(format!("tool call: {arguments}"));
            }
            if is_own(call) {
                lines.push("tool output: (an earlier answer of recount, left out)".to_owned());
            } else if let Some(output) = call.diff.as_deref().or(call.output.as_deref()) {
                lines.extend(self.text("tool output", output, OUTPUT.min(most))?);
            }
        }
        Ok(lines)
    }

    /// Returns a text with its speaker; the lines after the first are marked as part of it.
    fn text(&self, speaker: &str, text: &str, most: usize) -> Result<Vec<String>, Error> {
        let clean = self.moment.clean(text.trim(), most)?;
        let shown = cut(&clean, most);
        let more = text.trim().chars().count().saturating_sub(shown.chars().count());
        let is_cut = shown.len() < clean.len();
        let mut lines: Vec<String> = Vec::new();
        for line in shown.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            let mark = if lines.is_empty() { format!("{speaker}:") } else { "|".to_owned() };
            lines.push(format!("{mark} {line}"));
        }
        if is_cut {
            let end = format!("… [cut: {more} more characters]");
            match lines.last_mut() {
                Some(last) => {
                    last.push(' ');
                    last.push_str(&end);
                }
                None => lines.push(format!("{speaker}: {end}")),
            }
        }
        Ok(lines)
    }
}
