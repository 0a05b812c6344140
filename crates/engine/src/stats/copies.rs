//! Requests that stand in several sessions: forks and resumes copy what was said before.

use std::collections::{HashMap, HashSet};

use recount_model::{SessionFacts, Tokens};

use crate::search::index::session_key;
use crate::sessions::list::ListQuery;
use crate::snapshot::disk_scan::Progress;
use crate::stats::usage::{Event, Said, UsageLogReader};
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

/// Per session what it holds copies of: the number of prompts, and what requests used.
#[derive(Debug, Default)]
pub(crate) struct CopiedUsage(HashMap<u64, (u64, Tokens)>);

impl CopiedUsage {
    /// Returns the number of prompts that are a session's own, and what its own requests used.
    pub(crate) fn own(&self, session: &SessionFacts) -> (u64, Tokens) {
        let (all, prompts) = (session.tokens, session.counts.prompts);
        let Some((copied_prompts, copied)) = self.0.get(&session_key(session)) else {
            return (prompts, all);
        };
        let tokens = Tokens {
            input: all.input.saturating_sub(copied.input),
            output: all.output.saturating_sub(copied.output),
            cached: all.cached.saturating_sub(copied.cached),
            cache_write: all.cache_write.saturating_sub(copied.cache_write),
            cache_write_1h: all.cache_write_1h.saturating_sub(copied.cache_write_1h),
            thoughts: all.thoughts.saturating_sub(copied.thoughts),
            tool: all.tool.saturating_sub(copied.tool),
            total: all.total.saturating_sub(copied.total),
        };
        (prompts.saturating_sub(*copied_prompts), tokens)
    }
}

impl Engine {
    /// Finds the requests that stand in several sessions, as `stats` does.
    pub(crate) fn copied_requests(&self, progress: &dyn Progress) -> Result<CopiedRequests, Error> {
        let mut copied = CopiedRequests::default();
        self.each_copy(progress, |session, event| {
            if event.request.is_some() {
                copied.0.entry(session).or_default().insert(event.id);
            }
        })?;
        Ok(copied)
    }

    /// Finds the prompts and the requests that stand in several sessions, as `stats` does.
    pub(crate) fn copied_usage(&self, progress: &dyn Progress) -> Result<CopiedUsage, Error> {
        let mut copied = CopiedUsage::default();
        self.each_copy(progress, |session, event| {
            let (prompts, tokens) = copied.0.entry(session).or_default();
            *prompts += u64::from(event.said == Said::Prompt);
            *tokens += event.request.as_ref().map(|request| request.tokens).unwrap_or_default();
        })?;
        Ok(copied)
    }

    /// Passes on each copy of a prompt or a request, with the key of the session that holds it.
    fn each_copy(
        &self,
        progress: &dyn Progress,
        mut each: impl FnMut(u64, &Event),
    ) -> Result<(), Error> {
        let logs = self.usage_logs(&ListQuery::default(), progress)?;
        let mut met = HashSet::new();
        for (place, usage_logs) in logs.in_order() {
            let Some(session) = logs.sessions.get(place.session) else { continue };
            for page in usage_logs.iter().filter_map(|content| UsageLogReader::open(content)) {
                // What is kept is sealed: it is read whole or not at all.
                let _whole = page.each(|event, _| {
                    let counts = event.request.is_some() || event.said == Said::Prompt;
                    if counts && !met.insert(event.id) {
                        each(session_key(session), event);
                    }
                });
            }
        }
        Ok(())
    }
}
