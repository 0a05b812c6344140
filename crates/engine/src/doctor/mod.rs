//! What is wrong with sessions, with what lies around them and with our own data, and what mends it.

mod own;
mod places;
mod sessions;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use recount_model::{Project, SessionId};
use serde::Serialize;

use crate::projects::matching::matching;
use crate::snapshot::survey::{Ground, Progress};
use crate::{Engine, Error};

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// What it is about.
    pub topic: Topic,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub what: String,
    /// The session it is about.
    pub session: Option<SessionId>,
    /// Where it lies.
    pub path: Option<PathBuf>,
    /// The command that mends it.
    pub remedy: Option<String>,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is lost, will be lost, or cannot be used.
    Error,
    /// Something may be lost, or gets in the way.
    Warning,
    /// Worth knowing.
    Note,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// Sessions that the agent's next start would delete.
    Danger,
    /// What is in session files.
    Sessions,
    /// Who may read and write them.
    Permissions,
    /// How large they are.
    Sizes,
    /// Which directory stands for which project.
    Projects,
    /// What belongs to nobody.
    LeftOver,
    /// Our own data.
    Recount,
}

impl Topic {
    /// Returns it as a heading.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Danger => "in danger",
            Self::Sessions => "sessions",
            Self::Permissions => "permissions",
            Self::Sizes => "sizes",
            Self::Projects => "projects",
            Self::LeftOver => "left over",
            Self::Recount => "recount itself",
        }
    }
}

impl Engine {
    /// Looks for what is wrong, in one project or in all. Every session is read; nothing is changed.
    ///
    /// # Errors
    /// If the project is not known or may be several.
    pub fn doctor(
        &self,
        project: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Vec<Finding>, Error> {
        let (rows, listing) = self.projects(None, progress)?;
        let ground = Ground::look(&self.roots);
        let mut findings = Vec::new();
        sessions::check_sessions(&ground, &listing, progress, &mut findings);
        self.check_danger(progress, &mut findings)?;
        self.check_places(&ground, &listing, &rows, &mut findings);
        if let Some(wanted) = project {
            let projects: Vec<Project> = rows.iter().map(crate::ProjectRow::project).collect();
            let chosen = matching(&projects.iter().collect::<Vec<_>>(), wanted, &self.folders)?;
            let folders: Vec<&Path> = rows
                .iter()
                .enumerate()
                .filter(|(number, _)| chosen.contains(number))
                .flat_map(|(_, row)| row.parts.iter().map(|part| part.directory.as_path()))
                .collect();
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
        findings.sort();
        findings.dedup();
        Ok(findings)
    }
}
