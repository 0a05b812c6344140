//! Finds problems of sessions, of the files around them and of recount's own data, with remedies.

mod integrations;
mod own;
mod places;
mod sessions;
mod symptom;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use recount_engine::disk::DiskSnapshot;
use recount_engine::{Engine, Listing, Progress, ProjectRow};
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
            Scope::new(&chosen, &listing, &disk).narrow(&mut findings);
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

/// What belongs to some projects.
struct Scope<'a> {
    /// Directories that have sessions of one project only.
    own: Vec<&'a Path>,
    /// The files of their sessions, and the folders of the projects themselves.
    paths: HashSet<&'a Path>,
    sessions: HashSet<&'a SessionId>,
}

impl<'a> Scope<'a> {
    fn new(chosen: &'a [ProjectRow], listing: &'a Listing, disk: &DiskSnapshot) -> Self {
        let is_shared = shared_directories(disk);
        let parts = chosen.iter().flat_map(|row| &row.parts).map(|part| part.directory.as_path());
        let own: Vec<&Path> = parts.filter(|directory| !is_shared.contains(directory)).collect();
        let keys: HashSet<String> = chosen.iter().map(|row| row.project().key()).collect();
        let folders = chosen.iter().filter_map(|row| row.path.as_ref());
        let mut paths: HashSet<&Path> = folders.map(|path| Path::new(path.as_str())).collect();
        let mut sessions = HashSet::new();
        for facts in &listing.sessions {
            let mut files = facts.own_files().map(|file| Path::new(&file.path));
            let is_in = |file: &Path| own.iter().any(|folder| file.starts_with(folder));
            if keys.contains(&facts.project.key()) || files.any(is_in) {
                paths.extend(facts.own_files().map(|file| Path::new(&file.path)));
                sessions.insert(&facts.id);
            }
        }
        Self { own, paths, sessions }
    }

    /// Keeps what is about these projects.
    fn narrow(&self, findings: &mut Vec<Finding>) {
        let is_own = |path: &Path| {
            self.paths.contains(path) || self.own.iter().any(|folder| path.starts_with(folder))
        };
        findings.retain(|finding| {
            finding.path.as_deref().is_some_and(is_own)
                || finding.session.as_ref().is_some_and(|id| self.sessions.contains(id))
        });
    }
}

/// Returns the directories in which an agent may keep sessions of several projects, as one for each day.
fn shared_directories(disk: &DiskSnapshot) -> HashSet<&Path> {
    let shared = disk.folders.iter().filter(|folder| !folder.at.is_project);
    shared.map(|folder| folder.at.path.as_path()).collect()
}
