//! All sessions with their ledgers: from the catalog where nothing has changed, else from the files.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use recount_model::{Problem, SessionFacts, SessionId};

use crate::index::session_key;
use crate::ledger::{Ledger, unbound};
use crate::list::{Digest, Listing, Query, Used};
use crate::passport::Effort;
use crate::remembered::met;
use crate::survey::Progress;
use crate::{Engine, Error};

/// All sessions with their ledgers.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// Every session, the first to begin first.
    pub(crate) sessions: Vec<SessionFacts>,
    /// Per session what else is known of it.
    pub(crate) places: Vec<Place>,
    /// Per session its ledgers, not yet read: one, or several when its files do not bear its name.
    pub(crate) ledgers: Vec<Vec<Vec<u8>>>,
    /// What could not be looked at and belongs to no session.
    pub(crate) problems: Vec<Problem>,
}

/// Where a session belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its number.
    pub(crate) session: usize,
    /// The session that it belongs to: for a sub-agent the one that ran it, else itself.
    pub(crate) main: usize,
    /// Whether it is asked for.
    pub(crate) is_asked: bool,
}

impl Engine {
    /// Opens the books.
    pub(crate) fn books(&self, query: &Query, progress: &dyn Progress) -> Result<Books, Error> {
        self.aliases()?;
        let said = query.text.as_deref().map(|text| self.sessions_saying(text, progress));
        let said = said.transpose()?;
        let since = query.since.map_or(i64::MIN, Timestamp::as_millisecond);
        let (listing, ledgers, unheld) = self.all_books(query, since, progress);
        let mut asked = listing.clone();
        self.keep_asked(&mut asked, query, &unheld, said.as_ref())?;
        let asked: HashSet<u64> = asked.sessions.iter().map(session_key).collect();
        Ok(Books::new(listing, ledgers, |session| asked.contains(&session_key(session))))
    }

    fn all_books(
        &self,
        query: &Query,
        since: i64,
        progress: &dyn Progress,
    ) -> (Listing, Vec<Vec<u8>>, BTreeSet<crate::list::Claim>) {
        let effort = Effort::List;
        let known = query.holds.is_nothing().then(|| {
            self.known_as_before(&effort, progress, |catalog| {
                let (leaves, groups) = self.leaves(catalog, since, |_| true)?;
                Some((leaves, Some(groups)))
            })
        });
        if let Some(((listing, ..), ledgers)) = known.flatten() {
            return (listing, ledgers, BTreeSet::new());
        }
        let (ground, digests) = self.gather_rows(&query.holds, progress);
        let unheld = digests.iter().filter(|digest| !digest.held);
        let unheld = unheld.map(|digest| (digest.facts.source, digest.facts.id.clone())).collect();
        let ledgers = self.ledgers_of(&digests, since);
        let (listing, _) = self.conclude(&ground, digests, &effort, progress);
        (listing, ledgers, unheld)
    }

    /// Reads ledgers of groups, and the sum over all groups that were met.
    fn leaves(
        &self,
        catalog: &recount_catalog::Catalog,
        since: i64,
        wanted: impl Fn(u64) -> bool,
    ) -> Option<(Vec<Vec<u8>>, u64)> {
        let (mut leaves, mut groups, mut sound) = (Vec::new(), 0, true);
        let mut visit = |leaf: recount_catalog::Leaf<'_>| {
            groups = met(groups, (leaf.key, leaf.stamp));
            let Some(content) = leaf.content.filter(|_| wanted(leaf.key)) else { return };
            match unbound(content) {
                Some(bound) => leaves.extend(bound.into_iter().map(<[u8]>::to_vec)),
                None => sound = false,
            }
        };
        catalog.each_ledger(self.roots_key(), since, &mut visit).ok()?;
        sound.then_some((leaves, groups))
    }

    /// Collects the ledgers of sessions that were just listed.
    fn ledgers_of(&self, digests: &[Digest], since: i64) -> Vec<Vec<u8>> {
        let mut ledgers = Vec::with_capacity(digests.len());
        let mut kept: HashMap<u64, HashSet<u64>> = HashMap::new();
        for digest in digests {
            match &digest.used {
                Used::Now { ledger, .. } => ledgers.push(ledger.clone()),
                Used::With(key) => {
                    kept.entry(*key).or_default().insert(session_key(&digest.facts));
                }
            }
        }
        if kept.is_empty() {
            return ledgers;
        }
        let sessions: HashSet<u64> = kept.values().flatten().copied().collect();
        let catalog = self.catalog();
        let leaves = catalog.and_then(|c| self.leaves(&c, since, |key| kept.contains_key(&key)));
        let is_wanted = |ledger: &Vec<u8>| {
            Ledger::session_of(ledger).is_some_and(|session| sessions.contains(&session))
        };
        ledgers.extend(
            leaves.map(|(leaves, _)| leaves).unwrap_or_default().into_iter().filter(is_wanted),
        );
        ledgers
    }
}

impl Books {
    /// Asks for one session and its sub-agents, and for nothing else.
    pub(crate) fn ask_only(&mut self, wanted: &SessionFacts) {
        let wanted = session_key(wanted);
        let number = self.sessions.iter().position(|session| session_key(session) == wanted);
        for place in &mut self.places {
            place.is_asked = Some(place.main) == number || Some(place.session) == number;
        }
    }

    /// Returns the sessions that are asked for.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &SessionFacts> {
        let all = self.sessions.iter().zip(&self.places);
        all.filter(|(_, place)| place.is_asked).map(|(session, _)| session)
    }

    fn new(
        listing: Listing,
        ledgers: Vec<Vec<u8>>,
        is_asked: impl Fn(&SessionFacts) -> bool,
    ) -> Self {
        let Listing { mut sessions, problems, .. } = listing;
        // What was copied belongs to the session that began first.
        sessions.sort_by(|one, next| (one.started, &one.id).cmp(&(next.started, &next.id)));
        let numbers: HashMap<u64, usize> =
            sessions.iter().enumerate().map(|(at, session)| (session_key(session), at)).collect();
        let mains: HashMap<&SessionId, usize> = sessions
            .iter()
            .enumerate()
            .filter(|(_, session)| session.parent.is_none())
            .map(|(at, session)| (&session.id, at))
            .collect();
        let place = |(at, session): (usize, &SessionFacts)| Place {
            session: at,
            main: session.parent.as_ref().and_then(|id| mains.get(id)).copied().unwrap_or(at),
            is_asked: is_asked(session),
        };
        let places = sessions.iter().enumerate().map(place).collect();
        let mut sorted = vec![Vec::new(); sessions.len()];
        for ledger in ledgers {
            let number = Ledger::session_of(&ledger).and_then(|key| numbers.get(&key));
            if let Some(own) = number.and_then(|number| sorted.get_mut(*number)) {
                own.push(ledger);
            }
        }
        Self { sessions, places, ledgers: sorted, problems }
    }
}
