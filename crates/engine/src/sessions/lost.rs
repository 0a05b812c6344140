//! Sessions that are gone: all that is left of them is what was typed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use recount_formats::source::{RecordedPrompt, Trace};
use recount_model::{
    Clue, ClueKind, Project, ProjectState, RecordedPath, SessionFacts, SessionId, SourceName,
    timestamp,
};
use serde::Serialize;

use crate::projects::matching::matching;
use crate::projects::resolve::Effort;
use crate::sessions::list::ListQuery;
use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error};

/// A session without files, known by its prompts.
#[derive(Clone, Debug, Serialize)]
pub struct LostSession {
    /// The agent that ran it.
    pub source: SourceName,
    /// Its id.
    pub id: SessionId,
    /// The folder it belonged to.
    pub project: Arc<Project>,
    /// When the first prompt was typed.
    pub started: Option<Timestamp>,
    /// When the last one was.
    pub updated: Option<Timestamp>,
    /// What was typed, in order.
    pub prompts: Vec<String>,
}

/// Sessions that are gone, as they are found.
struct LostSessions<'a> {
    known: HashSet<&'a str>,
    /// Files without a head are known by the start of their id alone.
    starts: Vec<&'a str>,
    lost: BTreeMap<SessionId, LostSession>,
    seen: BTreeSet<(SessionId, Option<i64>, String)>,
}

/// How long ids are. Those of files without a head are shorter.
const WHOLE: usize = 36;

impl<'a> LostSessions<'a> {
    fn new(sessions: &'a [Arc<SessionFacts>]) -> Self {
        let known: HashSet<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
        let starts = known.iter().copied().filter(|id| id.len() < WHOLE).collect();
        Self { known, starts, lost: BTreeMap::new(), seen: BTreeSet::new() }
    }

    fn add(&mut self, source: SourceName, trace: Trace, project: impl FnOnce() -> Arc<Project>) {
        let id = trace.session.as_str();
        if self.known.contains(id) || self.starts.iter().any(|start| id.starts_with(start)) {
            return;
        }
        let entry = self.lost.entry(trace.session.clone()).or_insert_with(|| LostSession {
            source,
            id: trace.session.clone(),
            project: project(),
            started: None,
            updated: None,
            prompts: Vec::new(),
        });
        let time = trace.time.and_then(timestamp);
        entry.started = entry.started.into_iter().chain(time).min();
        entry.updated = entry.updated.into_iter().chain(time).max();
        // The same prompt may be on record in several places.
        if self.seen.insert((trace.session, trace.time, trace.text.clone())) {
            entry.prompts.push(trace.text);
        }
    }
}

/// The project of a session that is gone, by the folder that is on record with its prompts.
fn on_record(path: RecordedPath) -> Arc<Project> {
    let is_there = Path::new(path.as_str()).is_dir();
    let state = if is_there { ProjectState::Present } else { ProjectState::Missing };
    let evidence = vec![Clue {
        clue: ClueKind::Session,
        detail: "recorded with its prompts".to_owned(),
        proves: true,
        weight: 100,
        names: None,
    }];
    Arc::new(Project { path: Some(path), state, evidence, ..Project::default() })
}

impl Engine {
    /// Lists sessions of which only the prompts are left, newest first.
    ///
    /// # Errors
    /// If the project asked for is not known or may be several, or the names given to projects are not understood.
    pub fn lost(
        &self,
        query: &ListQuery,
        progress: &dyn Progress,
    ) -> Result<Vec<LostSession>, Error> {
        self.aliases()?;
        let (listing, disk, resolved) = self.scan_all(&Effort::List, progress)?;
        let mut found = LostSessions::new(&listing.sessions);
        for (number, folder) in disk.folders.iter().enumerate() {
            let project = || resolved.projects.get(number).cloned().unwrap_or_default();
            for trace in folder.source.traces(&folder.at) {
                found.add(folder.source.name(), trace, project);
            }
        }
        for root in self.roots.iter().filter(|root| !root.is_ingested) {
            for RecordedPrompt { trace, project } in root.source.recorded_prompts(&root.path) {
                let project = || {
                    let known = resolved.project_of(usize::MAX, project.as_ref());
                    let is_known = known.path.is_some() || project.is_none();
                    if is_known { known } else { project.map(on_record).unwrap_or_default() }
                };
                found.add(root.source.name(), trace, project);
            }
        }
        let mut lost: Vec<LostSession> = found.lost.into_values().collect();
        if let Some(wanted) = &query.project {
            let projects: Vec<&Project> = lost.iter().map(|session| &*session.project).collect();
            let keep = matching(&projects, wanted, &self.folders)?;
            let mut number = 0..;
            lost.retain(|_| number.next().is_some_and(|at| keep.contains(&at)));
        }
        lost.retain(|session| {
            query.since.is_none_or(|since| session.updated.is_some_and(|updated| updated >= since))
                && query
                    .until
                    .is_none_or(|until| session.started.is_some_and(|started| started <= until))
        });
        lost.sort_by_key(|session| std::cmp::Reverse(session.updated));
        lost.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(lost)
    }
}
