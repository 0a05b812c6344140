//! A finished session: its files, and their expected values.

use std::path::PathBuf;

use super::{Session, message::Message};
use crate::{
    json::{Json, Text},
    moment::Moment,
    options::Era,
    report::{ExpectedCounts, ExpectedKind},
};

/// One file of a session.
#[derive(Debug)]
pub(crate) struct Made {
    /// Path below `chats/`, or below the home for agents other than Gemini CLI.
    pub(crate) name: PathBuf,
    pub(crate) bytes: Vec<u8>,
    pub(crate) modified: Moment,
    pub(crate) role: Role,
}

impl Made {
    pub(crate) fn at(name: impl Into<PathBuf>, text: String, modified: Moment) -> Self {
        Self { name: name.into(), bytes: text.into_bytes(), modified, role: Role::Beside }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The file with the conversation.
    Main,
    /// The old document beside the lines file that continues it.
    Twin,
    /// What a resume leaves beside the file it continues.
    Stub,
    /// An earlier section of the conversation.
    Part,
    /// A file beside a session that has nothing of its conversation.
    Beside,
}

#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) id: Text,
    pub(crate) kind: ExpectedKind,
    pub(crate) parent: Option<Text>,
    /// The era of the main file.
    pub(crate) era: Era,
    /// The era the session was begun in, which decides its folder.
    pub(crate) first_era: Era,
    pub(crate) began: Moment,
    pub(crate) updated: Moment,
    pub(crate) files: Vec<Made>,
    pub(crate) subagents: Vec<Self>,
    pub(crate) kept: ExpectedCounts,
    pub(crate) ever: u64,
    /// What was typed, for `logs.json`.
    pub(crate) typed: Vec<(Moment, Text)>,
    /// Commands run with `!`, for `shell_history`.
    pub(crate) commands: Vec<Text>,
    /// Conversations kept with `/chat save`.
    pub(crate) saved: Vec<(Text, Json)>,
    /// Lines about the session in files that all sessions share.
    pub(crate) notes: Vec<(PathBuf, Moment, String)>,
}

impl Session<'_> {
    /// Ends the program and closes the file.
    pub(crate) fn finish(mut self) -> Finished {
        let first = self.messages.first().map(|message| message.time);
        let name =
            self.file_name(self.began, if self.era.is_document() { "json" } else { "jsonl" });
        let kind = self.kind();
        let mut kept = ExpectedCounts::default();
        self.messages.iter().for_each(|message: &Message| message.count(&mut kept));
        let text = self.page.close(self.summary.as_ref(), first);
        let main = Made { role: Role::Main, ..Made::at(name, text, self.now) };
        self.done.insert(0, main);
        Finished {
            id: self.id,
            kind,
            parent: self.parent,
            era: self.era,
            first_era: self.first_era,
            began: self.began,
            updated: self.now,
            files: self.done,
            subagents: self.subagents,
            kept,
            ever: self.ids.len() as u64,
            typed: self.typed,
            commands: self.commands,
            saved: self.saved,
            notes: Vec::new(),
        }
    }

    /// Returns `session-<minute>-<first eight of the id>.<extension>`, or the agent's id in its parent's folder.
    pub(super) fn file_name(&self, at: Moment, extension: &str) -> String {
        if let Some(parent) = &self.parent {
            return format!("{parent}/{}.{extension}", self.id);
        }
        let short: String = self.id.chars().take(8).collect();
        format!("session-{}-{short}.{extension}", at.minute())
    }
}
