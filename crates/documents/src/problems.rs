//! What `doctor` finds.

use std::path::{Path, PathBuf};

use recount_changes::{Finding, Severity, Topic};
use recount_display::words;
use recount_model::SessionId;
use serde::Serialize;

/// A finding as text.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FindingDocument {
    /// What it is about.
    pub topic: Topic,
    /// How serious it is.
    pub severity: Severity,
    /// What was found.
    pub what: String,
    /// The session.
    pub session: Option<SessionId>,
    /// The file or folder.
    #[serde(serialize_with = "recount_model::path_text::maybe_path")]
    pub path: Option<PathBuf>,
    /// The command that fixes it.
    pub remedy: Option<String>,
    /// The same for people, with `~` for the home.
    #[serde(skip)]
    pub short_remedy: Option<String>,
}

impl FindingDocument {
    fn new(finding: Finding, home: Option<&Path>) -> Self {
        let Finding { topic, severity, what, session, path, remedy } = finding;
        let remedy = remedy.as_ref().map(words::remedy);
        Self {
            topic,
            severity,
            what: words::symptom(&what),
            session,
            path,
            short_remedy: remedy.as_ref().map(|command| command.below_home(home)),
            remedy: remedy.map(|command| command.to_string()),
        }
    }
}

/// Returns findings as text, sorted, each once.
pub fn findings(found: Vec<Finding>, home: Option<&Path>) -> Vec<FindingDocument> {
    let mut all: Vec<FindingDocument> =
        found.into_iter().map(|one| FindingDocument::new(one, home)).collect();
    all.sort();
    all.dedup();
    all
}
