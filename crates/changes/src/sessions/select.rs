//! Selects the sessions of a change, and the id of a new one.

use std::sync::Arc;

use recount_engine::disk::{Named, Survey};
use recount_engine::{ListQuery, Progress};
use recount_formats::NativeFormat;
use recount_model::{SessionFacts, SessionId, SessionKind};

use crate::{Changes, Error, Notice, Operation, Proposal, Reason};

/// The number of ids to try.
const TRIES: u32 = 1000;

/// The number of characters of the id by which the agent groups files into sessions during cleanup.
const START: usize = 8;

impl Changes<'_> {
    /// Reads everything once, for a plan.
    pub(crate) fn scan_files(self, progress: &dyn Progress) -> Result<Survey, Error> {
        self.engine.aliases()?;
        Ok(self.engine.scan_files(progress)?)
    }

    /// Finds the session that an argument matches, among all: its files are found by the ids in them, not by their names. A
    /// session that belongs to another is refused; `done` is the requested operation.
    pub(crate) fn chosen<'s>(
        self,
        survey: &'s Survey,
        wanted: &str,
        done: Operation,
    ) -> Result<&'s SessionFacts, Error> {
        let facts = match self.engine.find_in(survey, wanted)? {
            Named::Session(facts) => facts,
            Named::Saved(_) => return Err(Reason::SavedChat { done }.into()),
        };
        if facts.kind == SessionKind::Subagent {
            let (session, parent) = (facts.id.clone(), facts.parent.clone());
            return Err(Reason::Subagent { session, parent, done }.into());
        }
        Ok(facts)
    }

    /// Returns the sessions that some arguments match, without duplicates; all except those in use if there are no
    /// arguments.
    pub(crate) fn all_chosen(
        self,
        wanted: &[String],
        offer: &mut Proposal,
        progress: &dyn Progress,
    ) -> Result<Vec<Arc<SessionFacts>>, Error> {
        let mut chosen: Vec<Arc<SessionFacts>> = Vec::new();
        for wanted in wanted {
            let opened = self.engine.open(wanted, progress)?;
            if !chosen.iter().any(|known| known.id == opened.facts.id) {
                chosen.push(Arc::new(opened.facts));
            }
        }
        if !wanted.is_empty() {
            return Ok(chosen);
        }
        let sessions = self.engine.list(&ListQuery::default(), &())?.sessions;
        let owners = self.owners(&sessions);
        let (live, free): (Vec<_>, Vec<_>) = sessions
            .into_iter()
            .partition(|facts| owners.iter().any(|owner| owner.session == facts.id.as_str()));
        for facts in live {
            offer.notice(Notice::InUse(facts.id.clone()));
        }
        Ok(free)
    }

    /// Returns an id for a new session whose start is unique.
    pub(crate) fn new_id(
        self,
        form: &dyn NativeFormat,
        sessions: &[Arc<SessionFacts>],
    ) -> SessionId {
        let now = self.engine.clock().now().as_nanosecond();
        let is_free = |id: &SessionId| {
            let start = |id: &SessionId| id.as_str().chars().take(START).collect::<String>();
            let own = start(id);
            sessions.iter().all(|facts| start(&facts.id) != own)
        };
        // Ids that begin with the time may all have the same start.
        let mut ids = (0..TRIES).map(|number| form.made_up_id(&format!("{now} {number}")));
        if let Some(id) = ids.find(is_free) {
            return id;
        }
        let is_new = |id: &SessionId| sessions.iter().all(|facts| facts.id != *id);
        let names = (0..TRIES).map(|number| format!("{now} {number}"));
        let mut ids =
            std::iter::once(now.to_string()).chain(names).map(|name| form.made_up_id(&name));
        ids.find(is_new).unwrap_or_else(|| form.made_up_id(&now.to_string()))
    }
}
