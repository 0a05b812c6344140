//! Whether recount is in place in each agent.

use std::path::{Path, PathBuf};

use recount_formats::integration::{Edit, EditState, Part};
use recount_model::SourceName;
use serde::Serialize;

use super::ledger::{Ledger, hash};
use super::{RELEASE, Target, agents};
use crate::guard::retention::read;
use crate::{Changes, Error};

/// How recount and an agent stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IntegrationStatus {
    /// The agent.
    pub agent: SourceName,
    /// Its display name.
    pub name: &'static str,
    /// The state.
    pub state: IntegrationState,
    /// The release of recount that wrote the integration.
    pub release: Option<String>,
    /// The program that the agent starts.
    pub command: Option<String>,
    /// The number of tools that the server offers, if it was asked.
    pub tools: Option<usize>,
    /// What is wrong.
    #[serde(skip)]
    pub problem: Option<IntegrationProblem>,
    /// The file that it is about.
    #[serde(skip)]
    pub path: Option<PathBuf>,
}

/// What is wrong with an integration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntegrationProblem {
    /// A file of it is gone.
    FileGone,
    /// A file of it was changed.
    FileChanged,
    /// An entry in the agent's settings is gone.
    EntryGone,
    /// An entry in the agent's settings was changed.
    EntryChanged,
    /// The agent's settings cannot be read.
    UnreadableSettings,
    /// The server cannot be started, because of this error of the system.
    NotStarted(String),
    /// The server does not answer.
    NoAnswer,
    /// The server offers no tools.
    NoTools,
}

/// The state of an integration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntegrationState {
    /// The agent is neither installed nor was it ever used.
    NoAgent,
    /// The agent is there, recount is not added to it.
    NotThere,
    /// It works.
    Wired,
    /// It was written by another release.
    Older,
    /// Files were changed or are gone, or the server does not answer.
    Broken,
}

impl Changes<'_> {
    /// Returns the state of every agent. With `asks`, each server is started once and asked for its tools.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn integrations(self, asks: bool) -> Result<Vec<IntegrationStatus>, Error> {
        let mut all = Vec::new();
        for source in agents() {
            let mut status = IntegrationStatus {
                agent: source.name(),
                name: source.display_name(),
                state: IntegrationState::NotThere,
                release: None,
                command: None,
                tools: None,
                problem: None,
                path: None,
            };
            if let Some(ledger) = self.ledger(source.name().as_str(), None)? {
                self.examine(Target::Agent(source), &ledger, asks, &mut status)?;
            } else if !self.is_there(source) {
                status.state = IntegrationState::NoAgent;
            }
            all.push(status);
        }
        Ok(all)
    }

    fn examine(
        self,
        target: Target,
        ledger: &Ledger,
        asks: bool,
        status: &mut IntegrationStatus,
    ) -> Result<(), Error> {
        status.release = Some(ledger.release.clone());
        status.command = Some(ledger.command.clone());
        let mut is_older = ledger.release != RELEASE;
        let mut broken = |problem: IntegrationProblem, path: &Path| {
            if status.problem.is_none() {
                (status.problem, status.path) = (Some(problem), Some(path.to_owned()));
            }
        };
        for file in &ledger.files {
            match read(&file.path)? {
                None => broken(IntegrationProblem::FileGone, &file.path),
                Some(now) if hash(&now) != file.hash => {
                    broken(IntegrationProblem::FileChanged, &file.path);
                }
                Some(_) => {}
            }
        }
        for part in self.parts_of(target, ledger)? {
            match part {
                Part::Own { path, text } => match ledger.file(&path) {
                    Some(known) => is_older |= known.hash != hash(text.as_bytes()),
                    None => is_older = true,
                },
                Part::Shared { path, edits, is_optional: false, .. } => {
                    let now = read(&path)?;
                    let known = ledger.edited(&path).zip(now.as_deref());
                    let is_ours = |edit: &Edit| known.is_some_and(|(l, now)| l.is_ours(edit, now));
                    for edit in edits {
                        match edit.state(now.as_deref()) {
                            Ok(EditState::Same) => {}
                            Ok(EditState::Other) if is_ours(&edit) => is_older = true,
                            Ok(EditState::Other) => {
                                broken(IntegrationProblem::EntryChanged, &path);
                            }
                            Ok(EditState::Missing) => {
                                broken(IntegrationProblem::EntryGone, &path);
                            }
                            Err(_) => broken(IntegrationProblem::UnreadableSettings, &path),
                        }
                    }
                }
                Part::Shared { .. } => {}
            }
        }
        if status.problem.is_none() && asks {
            let args = ["mcp", "--agent", target.name()].map(str::to_owned);
            match super::check::tools(&ledger.command, &args) {
                Ok(tools) => status.tools = Some(tools),
                Err(problem) => status.problem = Some(problem),
            }
        }
        status.state = match (&status.problem, is_older) {
            (Some(_), _) => IntegrationState::Broken,
            (None, true) => IntegrationState::Older,
            (None, false) => IntegrationState::Wired,
        };
        Ok(())
    }
}
