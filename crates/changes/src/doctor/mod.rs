//! Finds problems of sessions, of the files around them and of recount's own data, with remedies.

mod integrations;
mod own;
mod places;
mod sessions;
mod symptom;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use recount_engine::{Engine, Progress};
use recount_model::SessionId;
use serde::Serialize;

use crate::{Changes, Error};

pub use symptom::{Remedy, Symptom};

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its topic.
    pub topic: Topic,
    /// Its severity.
    pub severity: Severity,
    /// What is wrong.
    pub what: Symptom,
    /// The session it is about.
    pub session: Option<SessionId>,
    /// The path it is about.
    pub path: Option<PathBuf>,
    /// How to fix it.
    pub remedy: Option<Remedy>,
}

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is lost, will be lost, or cannot be used.
    Error,
    /// Something may be lost, or is an obstacle.
    Warning,
    /// Information.
    Note,
}

/// The topic of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// Sessions that the agent's next start would delete.
    Danger,
    /// The contents of session files.
    Sessions,
    /// The permissions of session files.
    Permissions,
    /// The sizes of session files.
    Sizes,
    /// The mapping of directories to projects.
    Projects,
    /// Orphaned files.
    LeftOver,
    /// recount's own data.
    Recount,
    /// recount in the agents.
    Integrations,
}

impl Changes<'_> {
    /// Finds problems, in one project or in all. Sessions that have changed since the last time are read; nothing is
    /// changed.
    ///
    /// # Errors
    /// If the project is unknown or ambiguous.
    pub fn doctor(
        self,
        project: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Vec<Finding>, Error> {
        let (rows, listing) = self.engine.projects(None, progress)?;
        let disk = self.engine.disk();
        let mut findings = Vec::new();
        self.check_sessions(&disk, &listing, progress, &mut findings)?;
        self.check_danger(progress, &mut findings)?;
        self.check_places(&disk, &listing, &rows, &mut findings);
        if let Some(wanted) = project {
            let mut chosen = rows.clone();
            Engine::keep_matching(&mut chosen, wanted, self.engine.folders())?;
            let parts = chosen.iter().flat_map(|row| &row.parts);
            let folders: Vec<&Path> = parts.map(|part| part.directory.as_path()).collect();
            let ids: BTreeSet<&SessionId> = listing
                .sessions
                .iter()
                .filter(|facts| {
                    let is_in = |file: &str| folders.iter().any(|f| Path::new(file).starts_with(f));
                    facts.files.iter().any(|file| is_in(&file.path))
                })
                .map(|facts| &facts.id)
                .collect();
            findings.retain(|finding| {
                let by_path = finding.path.as_deref();
                by_path.is_some_and(|path| folders.iter().any(|folder| path.starts_with(folder)))
                    || finding.session.as_ref().is_some_and(|id| ids.contains(id))
            });
        } else {
            self.check_own(&mut findings)?;
        }
        findings.sort_by(|one, next| {
            let key = |finding: &Finding| (finding.topic, finding.severity);
            let place = |finding: &Finding| (finding.session.clone(), finding.path.clone());
            key(one).cmp(&key(next)).then_with(|| place(one).cmp(&place(next)))
        });
        findings.dedup();
        Ok(findings)
    }
}
