//! The expected values of a synthetic home: what a reader must find.

use std::path::PathBuf;

use crate::{
    json::{Json, record},
    options::Era,
};

/// The totals of a home.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExpectedHome {
    /// Projects that have at least one session.
    pub projects: usize,
    /// Sessions, not counting sub-agents.
    pub sessions: usize,
    /// Sessions of sub-agents.
    pub subagents: usize,
    /// All files of the home.
    pub files: usize,
    /// Their sizes together.
    pub bytes: u64,
    /// Messages that the program's own loader shows, in all sessions and sub-agents.
    pub messages: u64,
    /// The expected values of each session, in creation order.
    pub truth: Vec<SessionTruth>,
}

/// Whether a human or an agent had the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedKind {
    /// A conversation with a human.
    Main,
    /// A conversation that another session's tool call started.
    Subagent,
}

/// The expected values of one session. "Kept" is what the program's own loader shows of [`SessionTruth::main_file`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTruth {
    /// The session's id.
    pub id: String,
    /// The main session or a sub-agent's.
    pub kind: ExpectedKind,
    /// The main session's id, for a sub-agent.
    pub parent: Option<String>,
    /// The folder the program was started in.
    pub project: String,
    /// The era that wrote the session's main file.
    pub era: Era,
    /// The file to open, relative to the home.
    pub main_file: PathBuf,
    /// Every other file of the session: copies, twins, stubs; relative to the home.
    pub other_files: Vec<PathBuf>,
    /// Size of the main file.
    pub bytes: u64,
    /// When the session began, RFC 3339.
    pub started: String,
    /// When it was last written to, RFC 3339.
    pub updated: String,
    /// Counts over the kept messages.
    pub kept: ExpectedCounts,
    /// Distinct message ids in the main file, kept or not.
    pub ever: u64,
}

/// Counts over a list of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExpectedCounts {
    /// Messages of any kind.
    pub messages: u64,
    /// What a human typed.
    pub prompts: u64,
    /// Replies of the model.
    pub answers: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool calls that failed.
    pub failed: u64,
    /// Tool calls that were cancelled.
    pub cancelled: u64,
    /// Tokens in total, each request once.
    pub tokens: u64,
}

impl ExpectedHome {
    /// Returns the report as the `manifest.json` that benchmarks compare a reader's counts with.
    pub(crate) fn manifest(&self) -> String {
        let files = self.truth.iter().map(|session| {
            let file = session.main_file.strip_prefix(".gemini/tmp").unwrap_or(&session.main_file);
            record! {
                "file": file.to_string_lossy().into_owned(),
                "source": session.era.agent().name(),
                "sessionId": session.id.as_str(),
                "form": if session.main_file.extension().is_some_and(|end| end == "json") { "json" } else { "jsonl" },
                "kind": match session.kind { ExpectedKind::Main => "main", ExpectedKind::Subagent => "subagent" },
                "bytes": session.bytes,
                "startTime": session.started.as_str(),
                "lastUpdated": session.updated.as_str(),
                "project": session.project.as_str(),
                "messages": session.kept.messages,
                "user": session.kept.prompts,
                "tokens": session.kept.tokens,
                "toolCalls": session.kept.tool_calls,
            }
        });
        record! {
            "summary": record! {
                "sessions": self.sessions as u64,
                "subagents": self.subagents as u64,
                "bytes": self.truth.iter().map(|session| session.bytes).sum::<u64>(),
                "messages": self.messages,
            },
            "files": Json::list(files),
        }
        .to_pretty()
    }
}
