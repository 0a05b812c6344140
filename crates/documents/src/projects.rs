//! A project as JSON.

use recount_display::words;
use recount_engine::stats::Money;
use recount_engine::{Moved, ProjectPart, ProjectRow};
use recount_model::{Clue, ProjectHash, ProjectState, RecordedPath, SourceName, Tokens};
use serde::Serialize;

/// One project, with the command to run if its folder has moved.
#[derive(Debug, Serialize)]
pub struct ProjectDocument<'a> {
    path: Option<&'a RecordedPath>,
    name: &'a str,
    alias: Option<&'a str>,
    state: ProjectState,
    slug: Option<&'a str>,
    hash: Option<&'a ProjectHash>,
    sources: &'a [SourceName],
    sessions: u64,
    prompts: u64,
    bytes: u64,
    tokens: &'a Tokens,
    cost_usd: Option<Money>,
    cost_is_lower_bound: bool,
    began: Option<jiff::Timestamp>,
    last_used: Option<jiff::Timestamp>,
    evidence: &'a [Clue],
    moved_to: Option<NewPlace<'a>>,
    parts: &'a [ProjectPart],
}

#[derive(Debug, Serialize)]
struct NewPlace<'a> {
    #[serde(flatten)]
    moved: &'a Moved,
    /// The command that relocates the project.
    command: String,
}

impl<'a> ProjectDocument<'a> {
    /// Returns the document of a project.
    pub fn new(row: &'a ProjectRow) -> Self {
        let moved_to = row.path.as_ref().zip(row.moved_to.as_ref()).map(|(old, moved)| NewPlace {
            command: words::relocate(old.as_str(), &moved.path),
            moved,
        });
        Self {
            path: row.path.as_ref(),
            name: &row.name,
            alias: row.alias.as_deref(),
            state: row.state,
            slug: row.slug.as_deref(),
            hash: row.hash.as_ref(),
            sources: &row.sources,
            sessions: row.sessions,
            prompts: row.prompts,
            bytes: row.bytes,
            tokens: &row.tokens,
            cost_usd: row.cost_usd,
            cost_is_lower_bound: row.cost_is_lower_bound,
            began: row.began,
            last_used: row.last_used,
            evidence: &row.evidence,
            moved_to,
            parts: &row.parts,
        }
    }
}
