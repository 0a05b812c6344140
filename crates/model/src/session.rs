//! What is known about a session without its messages: one row of a list.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Problem, Project, RawJson, RecordedPath, SessionId, SessionKey, SourceName, SourceState, Tokens,
};

/// One row of a list.
#[derive(Clone, Debug, Serialize)]
pub struct SessionFacts {
    /// The agent that wrote it.
    pub source: SourceName,
    /// Its id.
    pub id: SessionId,
    /// Whether a human or another session started it.
    pub kind: SessionKind,
    /// The main session of a sub-agent.
    pub parent: Option<SessionId>,
    /// The call in the parent that ran this sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_call: Option<String>,
    /// What a sub-agent is, where the source records it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentNote>,
    /// The title, with every script kept.
    pub title: Option<String>,
    /// Where the title comes from.
    pub title_from: TitleFrom,
    /// What the human typed first, on one line.
    pub first_prompt: Option<String>,
    /// What the human typed last, on one line.
    pub last_prompt: Option<String>,
    /// The git branch at the start, where the source records it.
    pub branch: Option<String>,
    /// How it was started, where the source records it.
    pub entrypoint: Option<Entrypoint>,
    /// What the user has added to it; `None` if not looked up.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// The folder it belongs to.
    pub project: Arc<Project>,
    /// The folder that it records as its own, where the source does that.
    #[serde(skip)]
    pub cwd: Option<RecordedPath>,
    /// The earliest time of the full view.
    pub started: Option<Timestamp>,
    /// The latest time of the full view.
    pub updated: Option<Timestamp>,
    /// Message counts of the full view.
    #[serde(flatten)]
    pub counts: MessageCounts,
    /// Tool calls of the full view.
    pub tool_calls: ToolCounts,
    /// Models that answered, in order of first use.
    pub models: Vec<String>,
    /// Each request once, undone ones included.
    pub tokens: Tokens,
    /// Its cost in dollars; `null` where no price is known, or nothing was recorded of what was used.
    pub cost_usd: Option<f64>,
    /// Whether the cost is incomplete.
    pub cost_is_lower_bound: Option<bool>,
    /// The version of the prices; 0 if none were looked up.
    #[serde(skip)]
    pub priced_by: u64,
    /// The same figures for the strict view.
    pub kept: StrictCounts,
    /// Workspace folders that were added.
    pub directories: Vec<String>,
    /// Notes that the agent's own memory made about the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<RawJson>,
    /// Every file of the session.
    pub files: Vec<FileFacts>,
    /// Its number in the agent's own list.
    pub agent_index: Option<u32>,
    /// Its title in the agent's own list.
    pub agent_title: Option<String>,
    /// Whether it is running; `null` if not checked.
    pub live: Option<bool>,
    /// Whether the agent's next start would delete it; `null` if not checked.
    #[serde(rename = "doomed")]
    pub pending_deletion: Option<bool>,
    /// The number of problems.
    pub problems: u64,
    /// Of these, records of a kind we do not know.
    pub not_understood: u64,
    /// The problems themselves, up to a limit.
    #[serde(skip)]
    pub problem_list: Vec<Problem>,
    /// Whether the agent ran it for itself: it is counted, but not listed.
    #[serde(skip)]
    pub is_background: bool,
    /// The source state of each of the files.
    #[serde(skip)]
    pub states: Vec<SourceState>,
}

impl SessionFacts {
    /// Returns what distinguishes it from all other sessions.
    pub fn key(&self) -> SessionKey {
        SessionKey { source: self.source, id: self.id.clone() }
    }

    /// Whether it has no conversation.
    pub fn is_empty(&self) -> bool {
        self.counts.prompts == 0 && self.counts.answers == 0
    }

    /// Returns its title, or what to show instead.
    pub fn shown_title(&self) -> &str {
        let instead = if self.is_empty() { "(no messages)" } else { "(no prompt recorded)" };
        self.title.as_deref().unwrap_or(instead)
    }

    /// Whether nothing was recorded of what it used: its tokens are not 0 but unknown.
    pub fn is_usage_unknown(&self) -> bool {
        self.tokens.total == 0 && self.cost_usd.is_none() && self.cost_is_lower_bound == Some(true)
    }

    /// Returns the number of prompts that a human typed. The first message of a sub-agent is a prompt, too, but an agent wrote it.
    pub fn typed_prompts(&self) -> u64 {
        if self.kind.is_subagent() { 0 } else { self.counts.prompts }
    }

    /// Returns its own files, without those it only shares the start of.
    pub fn own_files(&self) -> impl Iterator<Item = &FileFacts> {
        self.files.iter().filter(|file| file.role != FileRole::Base)
    }

    /// Returns the bytes of all its files.
    pub fn bytes(&self) -> u64 {
        self.own_files().map(|file| file.bytes).sum()
    }
}

/// What is recorded about a sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentNote {
    /// Its type: built in, or defined by the user.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The name that the agent gave it.
    pub name: Option<String>,
    /// Its purpose, in a few words.
    pub description: Option<String>,
}

/// What the user has added to a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Labels {
    /// The user's tags, sorted.
    pub tags: BTreeSet<String>,
    /// Whether it is kept when cleanup rules delete others.
    pub pinned: bool,
}

/// What a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    /// A conversation that its agent recorded.
    Main,
    /// Another session started it.
    Subagent,
    /// A conversation that is only known from what its agent printed.
    Headless,
}

impl SessionKind {
    /// Returns its name, as flags and JSON have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Subagent => "subagent",
            Self::Headless => "headless",
        }
    }

    /// Whether another session started it.
    pub const fn is_subagent(self) -> bool {
        matches!(self, Self::Subagent)
    }
}

/// How a session was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Entrypoint {
    /// In a terminal, by hand.
    Terminal,
    /// With a prompt on the command line, to print the answer.
    Headless,
    /// In an editor.
    Ide,
    /// By a program, through a library.
    Sdk,
}

/// Where a title comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TitleFrom {
    /// The user named it.
    Name,
    /// The agent summarized it.
    Summary,
    /// The first prompt.
    Prompt,
    /// There is none.
    None,
}

/// Message counts, by distinct message id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCounts {
    /// All messages.
    pub messages: u64,
    /// What humans typed.
    pub prompts: u64,
    /// What models said.
    pub answers: u64,
    /// Those whose fate is not `kept`.
    pub undone: u64,
}

/// Tool calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCounts {
    /// All of them.
    pub total: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that the human stopped.
    pub cancelled: u64,
}

/// Figures of the strict view: what the agent's own loader would show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrictCounts {
    /// Messages.
    pub messages: u64,
    /// What humans typed.
    pub prompts: u64,
    /// What models said.
    pub answers: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tokens.
    pub tokens: Tokens,
}

/// One file of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Its path.
    pub path: String,
    /// What it is to the session.
    pub role: FileRole,
    /// Its size.
    pub bytes: u64,
    /// Its grammar.
    pub grammar: Grammar,
}

/// The role of a file in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileRole {
    /// The one the agent itself would load.
    Main,
    /// An earlier or later section of the conversation.
    Part,
    /// The same conversation in another directory.
    Copy,
    /// The old format beside its successor.
    Twin,
    /// A header without a conversation, left over by a resume.
    Stub,
    /// A file that the agent cannot read.
    Unreadable,
    /// A file of another session, whose start this one begins with.
    Base,
}

impl FileRole {
    /// Returns its name, as JSON has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Part => "part",
            Self::Copy => "copy",
            Self::Twin => "twin",
            Self::Stub => "stub",
            Self::Unreadable => "unreadable",
            Self::Base => "base",
        }
    }
}

/// The grammar of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grammar {
    /// One JSON document.
    Json,
    /// One JSON value per line.
    Jsonl,
}
