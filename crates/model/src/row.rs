//! A row of a list whose texts are elsewhere: for printing thousands of them.

use jiff::Timestamp;
use serde::Deserialize;

use crate::{
    AgentNote, Entrypoint, FileRole, Grammar, Labels, MessageCounts, SessionFacts, SessionKind,
    StrictCounts, TitleFrom, Tokens, ToolCounts,
};

/// What `--json` prints of a session, except its project. The fields are those of [`SessionFacts`].
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields are those of SessionFacts")]
pub struct SessionRow<'a> {
    pub source: &'a str,
    pub id: &'a str,
    pub kind: SessionKind,
    pub parent: Option<&'a str>,
    pub parent_call: Option<&'a str>,
    pub agent: Option<AgentNote>,
    pub title: Option<&'a str>,
    pub title_from: TitleFrom,
    pub first_prompt: Option<&'a str>,
    pub last_prompt: Option<&'a str>,
    pub branch: Option<&'a str>,
    pub entrypoint: Option<Entrypoint>,
    pub labels: Option<Labels>,
    pub started: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    pub counts: MessageCounts,
    pub tool_calls: ToolCounts,
    pub models: Vec<&'a str>,
    pub tokens: Tokens,
    pub cost_usd: Option<f64>,
    pub cost_is_lower_bound: Option<bool>,
    pub kept: StrictCounts,
    pub directories: Vec<&'a str>,
    pub memory: Option<&'a str>,
    pub files: Vec<FileRow<'a>>,
    pub agent_index: Option<u32>,
    pub agent_title: Option<&'a str>,
    pub live: Option<bool>,
    pub pending_deletion: Option<bool>,
    pub problems: u64,
    pub not_understood: u64,
}

/// One file of a session. The fields are those of [`FileFacts`](crate::FileFacts).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of FileFacts")]
pub struct FileRow<'a> {
    pub path: &'a str,
    pub role: FileRole,
    pub bytes: u64,
    pub grammar: Grammar,
}

impl<'a> From<&'a SessionFacts> for SessionRow<'a> {
    fn from(facts: &'a SessionFacts) -> Self {
        Self {
            source: facts.source.as_str(),
            id: facts.id.as_str(),
            kind: facts.kind,
            parent: facts.parent.as_ref().map(crate::SessionId::as_str),
            parent_call: facts.parent_call.as_deref(),
            agent: facts.agent.clone(),
            title: facts.title.as_deref(),
            title_from: facts.title_from,
            first_prompt: facts.first_prompt.as_deref(),
            last_prompt: facts.last_prompt.as_deref(),
            branch: facts.branch.as_deref(),
            entrypoint: facts.entrypoint,
            labels: facts.labels.clone(),
            started: facts.started,
            updated: facts.updated,
            counts: facts.counts,
            tool_calls: facts.tool_calls,
            models: facts.models.iter().map(String::as_str).collect(),
            tokens: facts.tokens,
            cost_usd: facts.cost_usd,
            cost_is_lower_bound: facts.cost_is_lower_bound,
            kept: facts.kept,
            directories: facts.directories.iter().map(String::as_str).collect(),
            memory: facts.memory.as_ref().map(crate::RawJson::as_str),
            files: facts.files.iter().map(FileRow::from).collect(),
            agent_index: facts.agent_index,
            agent_title: facts.agent_title.as_deref(),
            live: facts.live,
            pending_deletion: facts.pending_deletion,
            problems: facts.problems,
            not_understood: facts.not_understood,
        }
    }
}

impl<'a> From<&'a crate::FileFacts> for FileRow<'a> {
    fn from(file: &'a crate::FileFacts) -> Self {
        Self { path: &file.path, role: file.role, bytes: file.bytes, grammar: file.grammar }
    }
}
