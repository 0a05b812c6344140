//! Which sessions a change is about, and which id a new one gets.

use std::sync::Arc;

use recount_engine::disk::{Named, Survey};
use recount_engine::{ListQuery, Progress};
use recount_formats::NativeFormat;
use recount_model::{SessionFacts, SessionId, SessionKind};

use crate::{Changes, Deed, Error, Notice, Proposal, Reason};

/// How many ids are tried.
const TRIES: u32 = 1000;

/// Number of characters of the id by which the agent groups files into sessions when it cleans up.
const START: usize = 8;

impl Changes<'_> {
    /// Looks at everything there is, once, for a plan.
    pub(crate) fn scan_files(self, progress: &dyn Progress) -> Result<Survey, Error> {
        self.engine.aliases()?;
        Ok(self.engine.scan_files(progress)?)
    }

    /// Finds the session that an argument names, among all: its files are known by the ids in them, whatever their names say.
    /// What goes with something else is not taken on its own; `done` is what would be done to it.
    pub(crate) fn chosen<'s>(
        self,
        survey: &'s Survey,
        wanted: &str,
        done: Deed,
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

    /// Returns the sessions that some arguments name, each once; all but those that somebody works in when there are none.
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

    /// Returns an id for a new session that begins like that of no other.
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
        // Ids that begin with the time may all begin alike.
        let mut ids = (0..TRIES).map(|number| form.made_up_id(&format!("{now} {number}")));
        ids.find(is_free).unwrap_or_else(|| form.made_up_id(&now.to_string()))
    }
}
