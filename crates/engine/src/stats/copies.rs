//! Requests that stand in several sessions: forks and resumes copy what was said before.

use std::collections::{HashMap, HashSet};

use recount_model::SessionFacts;

use crate::search::index::session_key;
use crate::sessions::list::ListQuery;
use crate::snapshot::disk_scan::Progress;
use crate::stats::usage::UsageLogReader;
use crate::{Engine, Error};

/// Per session the keys of the requests that it holds copies of. They were made in the session that began first.
#[derive(Debug, Default)]
pub(crate) struct CopiedRequests(HashMap<u64, HashSet<u64>>);

impl CopiedRequests {
    /// Returns the requests that a session did not make.
    pub(crate) fn of(&self, session: &SessionFacts) -> Option<&HashSet<u64>> {
        self.0.get(&session_key(session))
    }
}

impl Engine {
    /// Finds the requests that stand in several sessions, as `stats` does.
    pub(crate) fn copied_requests(&self, progress: &dyn Progress) -> Result<CopiedRequests, Error> {
        let mut copied = CopiedRequests::default();
        let logs = self.usage_logs(&ListQuery::default(), progress)?;
        let mut met = HashSet::new();
        for (place, usage_logs) in logs.in_order() {
            let Some(session) = logs.sessions.get(place.session) else { continue };
            for page in usage_logs.iter().filter_map(|content| UsageLogReader::open(content)) {
                // What is kept is sealed: it is read whole or not at all.
                let _whole = page.each(|event, _| {
                    if event.request.is_some() && !met.insert(event.id) {
                        copied.0.entry(session_key(session)).or_default().insert(event.id);
                    }
                });
            }
        }
        Ok(copied)
    }
}
