//! What is told of what would be lost.

use std::path::PathBuf;
use std::sync::Arc;

use recount_model::{PendingDeletion, Project, SessionId, SessionKind, SourceName, TitleFrom};
use serde::Serialize;

use crate::sessions::list::Listing;

/// What is foretold.
#[derive(Debug)]
pub struct Forecast {
    /// The agents that delete sessions, each with the release whose rules were taken.
    pub agents: Vec<Agent>,
    /// One per project directory with sessions, those that lose something first.
    pub projects: Vec<Guarded>,
    /// Every session there is, and what could not be looked at.
    pub listing: Listing,
}

/// An agent and its release.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Which.
    pub source: SourceName,
    /// The program, as people start it.
    pub program: &'static str,
    /// The release whose rules were taken.
    pub release: String,
    /// How it is known.
    pub release_from: ReleaseFrom,
    /// The file that says which release is installed.
    pub installed: Option<PathBuf>,
    /// The newest release whose rules are known.
    pub newest_known: &'static str,
    /// The setting with which it deletes no sessions, and where it stands.
    pub setting: &'static str,
}

/// How a release is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReleaseFrom {
    /// The user named it.
    Asked,
    /// It is the one that is installed.
    Installed,
    /// None was found: the newest we know.
    Guessed,
}

/// What a project directory would lose.
#[derive(Clone, Debug, Serialize)]
pub struct Guarded {
    /// The project.
    pub project: Arc<Project>,
    /// Whose directory it is.
    pub source: SourceName,
    /// The directory.
    pub directory: PathBuf,
    /// What the agent keeps there.
    pub retention: RetentionLimits,
    /// Sessions that would lose files.
    pub sessions: Vec<SessionAtRisk>,
    /// Other files that would go.
    pub others: Vec<PendingDeletion>,
    /// Sessions that would lose nothing.
    pub safe: Safe,
}

/// What an agent keeps.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RetentionLimits {
    /// Whether sessions are cleaned up.
    pub on: bool,
    /// If not, why.
    pub off_because: Option<String>,
    /// How old a session may get.
    pub max_age: Option<String>,
    /// How many are kept.
    pub max_count: Option<u64>,
    /// Files that say so; none when it is the default.
    pub from: Vec<PathBuf>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// Sessions that would lose nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Safe {
    /// Main sessions.
    pub sessions: u64,
    /// Bytes of their files, and of their sub-agents'.
    pub bytes: u64,
}

/// A session that would lose files.
#[derive(Clone, Debug, Serialize)]
pub struct SessionAtRisk {
    /// Its id.
    pub id: SessionId,
    /// Whether a human or another session started it.
    pub kind: SessionKind,
    /// The main session of a sub-agent.
    pub parent: Option<SessionId>,
    /// Its title.
    pub title: Option<String>,
    /// Where the title comes from.
    pub title_from: TitleFrom,
    /// When it was last used.
    pub updated: Option<jiff::Timestamp>,
    /// What humans typed.
    pub prompts: u64,
    /// How much of it would be lost.
    pub lost: Lost,
    /// Bytes that would go.
    pub bytes: u64,
    /// Its own files that would go.
    pub files: Vec<PendingDeletion>,
    /// What lies beside them and would go, too.
    pub beside: Vec<PendingDeletion>,
}

/// How much of a session would be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lost {
    /// All that was said.
    Whole,
    /// Some of what was said.
    Part,
    /// Only files that say nothing of their own: stubs, twins, copies, links.
    Spare,
}

impl Guarded {
    /// Returns all files that would go.
    pub fn deletions(&self) -> impl Iterator<Item = &PendingDeletion> {
        let sessions = self.sessions.iter().flat_map(|s| s.files.iter().chain(&s.beside));
        sessions.chain(&self.others)
    }

    /// Whether anything would go that is not wiped at every start.
    pub fn is_in_danger(&self) -> bool {
        self.deletions().any(|deletion| !deletion.why.is_routine())
    }
}
