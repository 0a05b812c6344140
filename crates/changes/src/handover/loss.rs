//! What is lost when a conversation is handed over.

use std::collections::BTreeMap;

/// How many places of each kind of loss are reported.
const PLACES: usize = 5;

/// Something that the new session does not have, or has in another form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// What it is.
    pub kind: LossKind,
    /// How often it occurs.
    pub count: u64,
    /// The first messages where it occurs, by their number in the old session, from 1.
    pub messages: Vec<u64>,
}

/// A kind of loss.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LossKind {
    /// Thoughts of the model are left out: services accept only their own.
    Thoughts,
    /// Calls of a tool that the other agent does not have, kept under its name.
    Tool(String),
    /// Images and other binary parts that the other agent does not accept, or whose data is not in the session.
    Media,
    /// Calls without a recorded result get one that says so: services refuse calls without results.
    OpenCalls,
    /// Tool outputs that the old agent cut; the rest is not on disk.
    CutOutputs,
    /// Conversations of sub-agents are left out; what they returned is kept.
    Subagents,
    /// Shell commands that the human ran become prompts.
    ShellCommands,
    /// Summaries of a compressed conversation become prompts.
    Summaries,
    /// Notices and errors are left out.
    Notices,
    /// Context and hook output is left out: the other agent adds its own.
    Context,
    /// Messages that were undone, or replaced by a summary, are left out.
    Undone,
    /// Messages that cannot be read.
    Unread,
    /// Earlier turns of which only a summary is handed over.
    Summarized,
}

impl LossKind {
    /// Returns its name in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Thoughts => "thoughts",
            Self::Tool(_) => "tool",
            Self::Media => "media",
            Self::OpenCalls => "open-calls",
            Self::CutOutputs => "cut-outputs",
            Self::Subagents => "sub-agents",
            Self::ShellCommands => "shell-commands",
            Self::Summaries => "summaries",
            Self::Notices => "notices",
            Self::Context => "context",
            Self::Undone => "undone",
            Self::Unread => "unread",
            Self::Summarized => "summarized",
        }
    }
}

/// Collects losses.
#[derive(Debug, Default)]
pub(super) struct Losses {
    all: BTreeMap<LossKind, (u64, Vec<u64>)>,
}

impl Losses {
    /// Adds some at a message.
    pub(super) fn add(&mut self, kind: LossKind, count: u64, message: u64) {
        if count == 0 {
            return;
        }
        let (total, messages) = self.all.entry(kind).or_default();
        *total += count;
        if messages.len() < PLACES && messages.last() != Some(&message) {
            messages.push(message);
        }
    }

    /// Returns all of them.
    pub(super) fn finish(self) -> Vec<Loss> {
        let loss = |(kind, (count, messages))| Loss { kind, count, messages };
        self.all.into_iter().map(loss).collect()
    }
}
