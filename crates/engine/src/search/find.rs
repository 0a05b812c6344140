//! Applies a query to one session's messages, to the messages around a hit, or to every session.

use std::collections::HashSet;
use std::sync::Arc;

use recount_model::{Message, SessionFacts};
use recount_search::{Hit, QueryPlan, SearchOptions, SearchQuery as Question};

use crate::messages::View;
use crate::search::hits::Shown;
use crate::search::index::{session_key, with_document};
use crate::search::{IndexRequest, Match, Ready, SearchPath, SearchRequest, bad};
use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error, HitOrder};

/// The number of hits that are verified at once.
const SHARE: usize = 256;

/// Finds the messages of a session that match a query.
#[derive(Clone, Debug)]
pub struct Finder {
    plan: QueryPlan,
    session: u64,
}

impl Finder {
    /// Whether a message matches.
    pub fn finds(&self, message: &Message) -> bool {
        // The title does not belong to a message.
        with_document(self.session, "", message, |document| self.plan.holds(document))
    }
}

impl Engine {
    /// Prepares a search in the messages of one session.
    ///
    /// # Errors
    /// If the query is invalid.
    pub fn finder(&self, query: &str, session: &SessionFacts) -> Result<Finder, Error> {
        let question = Question::parse(query).map_err(|mistake| bad(query, mistake))?;
        let own = [Arc::new(session.clone())];
        let plan = question.plan(&self.now_for(&question), &mut |leaf| {
            // Another project, or none of this name: not this session.
            self.sessions_of(leaf, &own).unwrap_or_default()
        });
        Ok(Finder { plan, session: session_key(session) })
    }

    /// Returns a hit with up to `many` messages before and after it.
    ///
    /// # Errors
    /// If the session can no longer be opened.
    pub fn around(&self, hit: &Match, many: usize) -> Result<Vec<Message>, Error> {
        let opened = self.open(hit.session.id.as_str(), &())?;
        let Some(mut messages) = opened.messages(View::Full) else { return Ok(Vec::new()) };
        messages.keep_around(&hit.message.place, many);
        Ok(messages.flatten().collect())
    }

    /// Returns the sessions in which a query matches: all of its words.
    pub(crate) fn sessions_matching(
        &self,
        query: &str,
        progress: &dyn Progress,
    ) -> Result<HashSet<u64>, Error> {
        let asked = SearchRequest {
            query: query.to_owned(),
            limit: usize::MAX,
            sort: HitOrder::Time,
            all_hits: false,
            width: 0,
            without_index: false,
            at_once: true,
        };
        // If the index is not certain, the best hit of a session may not be confirmed where another is.
        let first = |plan: &QueryPlan| SearchOptions {
            may_relax: false,
            ..self.options(&asked, 0, usize::MAX, plan.is_exact())
        };
        let scan = || {
            let answer = self.scan_strictly(&asked, progress)?;
            Ok(answer.hits.iter().map(|hit| session_key(&hit.session)).collect())
        };
        let request = IndexRequest { query, first: &first, at_once: true, progress };
        let found = self.with_index(&request, SearchPath::Any, |ready| {
            if ready.first.is_exact {
                return Ok(ready.first.hits.iter().map(|hit| hit.session).collect());
            }
            Ok(self.confirmed_per_session(ready, ready.first.hits.clone()))
        });
        match found {
            Ok(None) => scan(),
            Err(error) if error.is_homeless() || error.is_busy() => scan(),
            found => found.map(Option::unwrap_or_default),
        }
    }

    /// Verifies hits until each session has a confirmed one, or none left.
    fn confirmed_per_session(&self, ready: &Ready<'_>, hits: Vec<Hit>) -> HashSet<u64> {
        let mut holding = HashSet::new();
        let mut open = hits;
        while !open.is_empty() {
            open.retain(|hit| !holding.contains(&hit.session));
            let later = open.split_off(open.len().min(SHARE));
            let read = self.read(ready, &open, &ready.plan, Shown::default());
            let held = open.iter().zip(read).filter(|(_, read)| matches!(read, Ok(Some(_))));
            holding.extend(held.map(|(hit, _)| hit.session));
            open = later;
        }
        holding
    }
}
