//! Messages of one agent as messages that any other can have.

use jiff::Timestamp;
use recount_formats::HandoverFormat;
use recount_formats::handover::{HandoverCall, HandoverMessage, HandoverRole, arguments};
use recount_model::{AttachedFile, Fate, Message, MessageKind, OutputState, ToolCall, ToolStatus};

use super::loss::{LossKind, Losses};

/// The result of a call whose own was not recorded.
const NO_RESULT: &str = "(no result was recorded)";

/// Which messages of a session are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Those that its agent loads.
    Kept,
    /// If it loads none: all that were not undone by a human.
    NotUndone,
    /// If there are none of these: all.
    All,
}

impl Scope {
    pub(super) fn has(self, fate: Fate) -> bool {
        match self {
            Self::Kept => fate == Fate::Kept,
            Self::NotUndone => !matches!(fate, Fate::Rewound | Fate::Cancelled),
            Self::All => true,
        }
    }
}

/// Takes a message with the number of the old one.
pub(super) type Take<'a> = dyn FnMut(HandoverMessage, u64) + 'a;

/// Converts messages one by one.
#[derive(Debug)]
pub(super) struct Converter {
    from: &'static dyn HandoverFormat,
    scope: Scope,
    /// The time of the last message: times never go back.
    time: Timestamp,
    /// A prompt to which files may be attached by the next messages.
    prompt: Option<(HandoverMessage, u64)>,
    pub(super) losses: Losses,
}

impl Converter {
    pub(super) fn new(from: &'static dyn HandoverFormat, scope: Scope, started: Timestamp) -> Self {
        Self { from, scope, time: started, prompt: None, losses: Losses::default() }
    }

    /// Converts a message; `number` is its number in the session, from 1.
    pub(super) fn message(&mut self, message: Message, number: u64, take: &mut Take<'_>) {
        if !self.scope.has(message.fate) {
            return self.losses.add(LossKind::Undone, 1, number);
        }
        if let Some(time) = message.time {
            self.time = self.time.max(time);
        }
        match message.kind {
            MessageKind::Prompt => {
                self.flush(take);
                let files = message.files.into_iter().map(cleaned).collect();
                let (text, media) = (clean(message.display_text), message.media);
                let prompt = HandoverMessage { files, media, ..self.user(text) };
                self.prompt = Some((prompt, number));
            }
            MessageKind::Context => match &mut self.prompt {
                Some((prompt, _)) if !message.files.is_empty() => {
                    prompt.files.extend(message.files.into_iter().map(cleaned));
                }
                _ => self.losses.add(LossKind::Context, 1, number),
            },
            MessageKind::Hook | MessageKind::Nudge => {
                self.losses.add(LossKind::Context, 1, number);
            }
            MessageKind::Notice => self.losses.add(LossKind::Notices, 1, number),
            // The calls have them.
            MessageKind::ToolResult => {}
            MessageKind::Shell => {
                let is_tagged = message.text.trim_start().starts_with('<');
                let text = if is_tagged { message.display_text } else { message.text };
                self.losses.add(LossKind::ShellCommands, 1, number);
                self.told(&format!("I ran a shell command:\n{text}"), number, take);
            }
            MessageKind::Summary => {
                self.losses.add(LossKind::Summaries, 1, number);
                let text = message.display_text;
                self.told(&format!("Summary of the conversation so far:\n\n{text}"), number, take);
            }
            MessageKind::Answer => self.answer(message, number, take),
        }
    }

    /// Ends the conversation.
    pub(super) fn finish(&mut self, take: &mut Take<'_>) {
        self.flush(take);
    }

    fn user(&self, text: String) -> HandoverMessage {
        HandoverMessage {
            role: HandoverRole::User,
            time: self.time,
            text,
            files: Vec::new(),
            media: Vec::new(),
            model: None,
            calls: Vec::new(),
        }
    }

    fn told(&mut self, text: &str, number: u64, take: &mut Take<'_>) {
        self.flush(take);
        take(self.user(clean(text.to_owned())), number);
    }

    fn flush(&mut self, take: &mut Take<'_>) {
        let Some((mut prompt, number)) = self.prompt.take() else { return };
        prompt.files.retain(|file| !file.content.is_empty());
        let is_empty =
            prompt.text.trim().is_empty() && prompt.files.is_empty() && prompt.media.is_empty();
        if !is_empty {
            take(prompt, number);
        }
    }

    fn answer(&mut self, message: Message, number: u64, take: &mut Take<'_>) {
        self.flush(take);
        self.losses.add(LossKind::Thoughts, message.thoughts.len() as u64, number);
        let calls = message.tool_calls.into_iter();
        let calls: Vec<HandoverCall> = calls.map(|call| self.call(call, number)).collect();
        if message.text.trim().is_empty() && calls.is_empty() {
            return self.losses.add(LossKind::Media, message.media.len() as u64, number);
        }
        let answer = HandoverMessage {
            role: HandoverRole::Model,
            model: message.model,
            media: message.media,
            calls,
            ..self.user(clean(message.text))
        };
        take(answer, number);
    }

    fn call(&mut self, call: ToolCall, number: u64) -> HandoverCall {
        let is_cut = matches!(call.output_state, OutputState::Truncated | OutputState::Masked);
        self.losses.add(LossKind::CutOutputs, u64::from(is_cut), number);
        self.losses.add(LossKind::Subagents, u64::from(call.agent_id.is_some()), number);
        let is_open = call.output.is_none()
            && call.display.is_none()
            && !matches!(call.status, ToolStatus::Success);
        self.losses.add(LossKind::OpenCalls, u64::from(is_open), number);
        let action = self.from.action(&call);
        let args = arguments(&call);
        let is_error = is_open || matches!(call.status, ToolStatus::Error | ToolStatus::Cancelled);
        let output = call.output.or(call.display);
        let output = if is_open { NO_RESULT.to_owned() } else { output.unwrap_or_default() };
        HandoverCall {
            name: call.name,
            args,
            action,
            output: clean(output),
            is_error,
            diff: call.diff,
            media: call.media,
        }
    }
}

fn cleaned(file: AttachedFile) -> AttachedFile {
    AttachedFile { content: clean(file.content), ..file }
}

/// Services and databases refuse texts with a zero byte.
fn clean(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{FFFD}") } else { text }
}
