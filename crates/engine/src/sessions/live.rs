//! Which sessions somebody is working in right now.
//!
//! The same answer as the live board gives. Where the processes cannot be sampled, the session that was written last in a folder in which
//! an agent works is the one.

use std::collections::BTreeSet;
use std::sync::Arc;

use recount_model::SessionFacts;

use crate::Engine;

impl Engine {
    /// Returns which of these sessions are live, by their number.
    pub(crate) fn live(&self, sessions: &[Arc<SessionFacts>]) -> BTreeSet<usize> {
        if let Some(owners) = self.live_owners() {
            let is_live = |facts: &SessionFacts| {
                !facts.kind.is_subagent()
                    && owners
                        .iter()
                        .any(|one| one.source == facts.source && one.session == facts.id)
            };
            let all = sessions.iter().enumerate();
            return all.filter(|(_, facts)| is_live(facts)).map(|(at, _)| at).collect();
        }
        let mut live = BTreeSet::new();
        for process in self.processes.running(&["PWD"]) {
            let Some(source) = self.sources.iter().find(|source| source.is_running(&process.args))
            else {
                continue;
            };
            let folder = process.folder.as_deref().and_then(std::path::Path::to_str);
            let began_in = process.variables.get("PWD").map(String::as_str);
            let is_there = |facts: &SessionFacts| {
                let path = facts.project.path.as_ref().map(recount_model::RecordedPath::as_str);
                path.is_some() && (path == folder || path == began_in)
            };
            let candidates = sessions.iter().enumerate().filter(|(_, facts)| {
                facts.source == source.name() && !facts.kind.is_subagent() && is_there(facts)
            });
            live.extend(candidates.max_by_key(|(_, facts)| facts.updated).map(|(at, _)| at));
        }
        live
    }
}
