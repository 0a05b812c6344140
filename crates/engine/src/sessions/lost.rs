//! Lost sessions: only their prompts are left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use recount_model::{Project, SessionFacts, SessionId, SourceName, timestamp};
use serde::Serialize;

use crate::projects::matching::matching;
use crate::projects::resolve::Effort;
use crate::sessions::list::ListQuery;
use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error};

/// A session without files, known by its prompts.
#[derive(Clone, Debug, Serialize)]
pub struct LostSession {
    /// The agent.
    pub source: SourceName,
    /// Its id.
    pub id: SessionId,
    /// Its project.
    pub project: Arc<Project>,
    /// When the first prompt was typed.
    pub started: Option<Timestamp>,
    /// When the last one was.
    pub updated: Option<Timestamp>,
    /// What was typed, in order.
    pub prompts: Vec<String>,
}

impl Engine {
    /// Lists sessions of which only the prompts are left, newest first.
    ///
    /// # Errors
    /// If the given project is unknown or ambiguous, or the aliases of projects are invalid.
    pub fn lost(
        &self,
        query: &ListQuery,
        progress: &dyn Progress,
    ) -> Result<Vec<LostSession>, Error> {
        self.aliases()?;
        let (listing, disk, resolved) = self.scan_all(&Effort::List, progress)?;
        let mut lost: BTreeMap<SessionId, LostSession> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for (number, folder) in disk.folders.iter().enumerate() {
            for trace in folder.source.traces(&folder.at) {
                // A file without a header is only known by the start of its id.
                let own = |session: &Arc<SessionFacts>| {
                    trace.session.as_str().starts_with(session.id.as_str())
                };
                if listing.sessions.iter().any(own) {
                    continue;
                }
                let entry = lost.entry(trace.session.clone()).or_insert_with(|| LostSession {
                    source: folder.source.name(),
                    id: trace.session.clone(),
                    project: resolved.projects.get(number).cloned().unwrap_or_default(),
                    started: None,
                    updated: None,
                    prompts: Vec::new(),
                });
                let time = trace.time.and_then(timestamp);
                entry.started = entry.started.into_iter().chain(time).min();
                entry.updated = entry.updated.into_iter().chain(time).max();
                // A hash folder and its copy have the same log.
                if seen.insert((trace.session, trace.time, trace.text.clone())) {
                    entry.prompts.push(trace.text);
                }
            }
        }
        let mut lost: Vec<LostSession> = lost.into_values().collect();
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
