//! The report of pending deletions.

use std::path::PathBuf;
use std::sync::Arc;

use recount_formats::retention::RetentionNote;
use recount_model::{PendingDeletion, Project, SessionId, SessionKind, SourceName, TitleFrom};
use serde::Serialize;

use crate::sessions::list::Listing;

/// The forecast.
#[derive(Debug)]
pub struct Forecast {
    /// The agents that delete sessions, each with the release whose rules were used.
    pub agents: Vec<Agent>,
    /// One per project directory with sessions, those that lose something first.
    pub projects: Vec<Guarded>,
    /// Every session, and the problems.
    pub listing: Listing,
}

/// An agent and its release.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Which.
    pub source: SourceName,
    /// The name of the program.
    pub program: &'static str,
    /// The release whose rules were used.
    pub release: String,
    /// How the release is known.
    pub release_from: ReleaseFrom,
    /// The file that records the installed release.
    pub installed: Option<PathBuf>,
    /// The newest release whose rules are known.
    pub newest_known: &'static str,
    /// The setting with which it deletes no sessions, and its file.
    pub setting: &'static str,
}

/// How a release is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReleaseFrom {
    /// The user gave it.
    Asked,
    /// It is installed.
    Installed,
    /// None was found: the newest known one.
    Guessed,
}

/// What a project directory would lose.
#[derive(Clone, Debug)]
pub struct Guarded {
    /// The project.
    pub project: Arc<Project>,
    /// Its agent.
    pub source: SourceName,
    /// The directory.
    pub directory: PathBuf,
    /// What the agent keeps there.
    pub retention: RetentionLimits,
    /// Sessions that would lose files.
    pub sessions: Vec<SessionAtRisk>,
    /// Other files that would be deleted.
    pub others: Vec<PendingDeletion>,
    /// Sessions that would lose nothing.
    pub safe: Safe,
}

/// What an agent keeps.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RetentionLimits {
    /// Whether sessions are deleted.
    pub on: bool,
    /// If not, why.
    pub off_because: Option<String>,
    /// The maximum age of a session.
    pub max_age: Option<String>,
    /// The maximum number of sessions.
    pub max_count: Option<u64>,
    /// The settings files; none if it is the default.
    #[serde(serialize_with = "recount_model::path_text::paths")]
    pub from: Vec<PathBuf>,
    /// What people should know about these settings.
    #[serde(skip)]
    pub notes: Vec<RetentionNote>,
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
    /// The bytes that would be deleted.
    pub bytes: u64,
    /// Its own files that would be deleted.
    pub files: Vec<PendingDeletion>,
    /// Its artifacts that would be deleted, too.
    pub beside: Vec<PendingDeletion>,
}

/// How much of a session would be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lost {
    /// The whole conversation.
    Whole,
    /// A part of the conversation.
    Part,
    /// Only files without content of their own: stubs, twins, copies, links.
    Spare,
}

impl Guarded {
    /// Returns all files that would be deleted.
    pub fn deletions(&self) -> impl Iterator<Item = &PendingDeletion> {
        let sessions = self.sessions.iter().flat_map(|s| s.files.iter().chain(&s.beside));
        sessions.chain(&self.others)
    }

    /// Whether anything would be deleted that is not deleted at every start.
    pub fn is_in_danger(&self) -> bool {
        self.deletions().any(|deletion| !deletion.why.is_routine())
    }
}
