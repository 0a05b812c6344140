//! A conversation, independent of any file format: what was asked, answered, run, undone.
//!
//! The same scenario can be written in the format of any era (see `session`).

use crate::{call::Call, json::Text};

/// One conversation from beginning to end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scenario {
    /// The title that the program gave it later, if any.
    pub(crate) summary: Option<Text>,
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// A human asks.
    Ask(Prompt),
    /// The model answers one request.
    Reply(Reply),
    /// The program shows a notice.
    Notice(Level, Text),
    /// A human runs a command with `!`.
    Shell { command: Text, output: Text },
    /// A human asks and stops the model before it has answered.
    Stop(Text),
    /// A human asks and the service refuses.
    Refused(Text),
    /// `/rewind`: this number of prompts at the end, and everything after them, are undone.
    Rewind(usize),
    /// `/compress`: the conversation is replaced by this summary.
    Compress(Text),
    /// `/chat save` under this tag.
    Save(Text),
    /// The program is left, and started again with `--resume` this number of minutes later.
    Resume(i64),
    /// The session is forked this number of minutes later, and the conversation continues in the fork.
    Fork(i64),
}

#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    /// What was sent, before the file texts.
    pub(crate) text: Text,
    /// What was typed, where it differs.
    pub(crate) typed: Option<Text>,
    /// Texts of the files named with `@`.
    pub(crate) files: Vec<(Text, Text)>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    /// Subject and description.
    pub(crate) thoughts: Vec<(Text, Text)>,
    pub(crate) text: Text,
    pub(crate) calls: Vec<Call>,
    /// The model that answers from here on, if it changes.
    pub(crate) model: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Warning,
    Error,
}

impl Level {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Builds the scenarios in `scripted`: one line per step.
impl Scenario {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn titled(summary: &str) -> Self {
        Self { summary: Some(summary.into()), steps: Vec::new() }
    }

    fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    pub(crate) fn ask(self, text: &str) -> Self {
        self.then(Step::Ask(Prompt { text: text.into(), typed: None, files: Vec::new() }))
    }

    /// Adds a prompt that names files; `typed` as the human wrote it.
    pub(crate) fn ask_with(self, typed: &str, files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        self.then(Step::Ask(Prompt { text: typed.into(), typed: Some(typed.into()), files }))
    }

    /// Adds a reply of text only.
    pub(crate) fn say(self, text: &str) -> Self {
        self.then(Step::Reply(Reply { text: text.into(), ..Reply::default() }))
    }

    /// Adds a reply that calls tools, after `text` (which may be empty).
    pub(crate) fn act(self, text: &str, calls: impl IntoIterator<Item = Call>) -> Self {
        let calls = calls.into_iter().collect();
        self.then(Step::Reply(Reply { text: text.into(), calls, ..Reply::default() }))
    }

    /// Adds a thought to the last reply.
    pub(crate) fn thinking(mut self, subject: &str, description: &str) -> Self {
        if let Some(Step::Reply(reply)) = self.steps.last_mut() {
            reply.thoughts.push((subject.into(), description.into()));
        }
        self
    }

    /// From the last reply on, another model answers.
    pub(crate) fn model(mut self, model: &'static str) -> Self {
        if let Some(Step::Reply(reply)) = self.steps.last_mut() {
            reply.model = Some(model);
        }
        self
    }

    pub(crate) fn notice(self, level: Level, text: &str) -> Self {
        self.then(Step::Notice(level, text.into()))
    }

    pub(crate) fn shell(self, command: &str, output: &str) -> Self {
        self.then(Step::Shell { command: command.into(), output: output.into() })
    }

    pub(crate) fn stopped(self, text: &str) -> Self {
        self.then(Step::Stop(text.into()))
    }

    pub(crate) fn refused(self, text: &str) -> Self {
        self.then(Step::Refused(text.into()))
    }

    pub(crate) fn rewind(self, prompts: usize) -> Self {
        self.then(Step::Rewind(prompts))
    }

    pub(crate) fn compress(self, summary: &str) -> Self {
        self.then(Step::Compress(summary.into()))
    }

    pub(crate) fn save(self, tag: &str) -> Self {
        self.then(Step::Save(tag.into()))
    }

    pub(crate) fn resume(self, minutes: i64) -> Self {
        self.then(Step::Resume(minutes))
    }

    pub(crate) fn fork(self, minutes: i64) -> Self {
        self.then(Step::Fork(minutes))
    }
}
