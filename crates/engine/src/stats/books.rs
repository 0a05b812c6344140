//! All sessions with their ledgers: from the catalog where nothing has changed, else from the files.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use recount_model::{Problem, SessionFacts, SessionId};

use crate::cache::remembered::met;
use crate::projects::passport::Effort;
use crate::search::index::session_key;
use crate::sessions::list::{After, Claim, Digest, Listing, Query, Used};
use crate::snapshot::survey::Progress;
use crate::stats::ledger::{Page, unbound};
use crate::{Engine, Error};

/// All sessions with their ledgers.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// Every session.
    pub(crate) sessions: Vec<Arc<SessionFacts>>,
    /// Their numbers, the first to begin first.
    order: Vec<usize>,
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

/// Every session, the logs of what they used, and the sessions that a filter leaves out.
type AllLogs = (Listing, Vec<Vec<u8>>, BTreeSet<Claim>);

impl Engine {
    /// Opens the books.
    pub(crate) fn books(&self, query: &Query, progress: &dyn Progress) -> Result<Books, Error> {
        self.aliases()?;
        let said = query.text.as_deref().map(|text| self.sessions_saying(text, progress));
        let said = said.transpose()?;
        let since = query.since.map_or(i64::MIN, Timestamp::as_millisecond);
        let (mut listing, ledgers, unheld) = self.all_books(query, since, progress)?;
        let asked = self.asked(&mut listing.sessions, query, &unheld, said.as_ref())?;
        Ok(Books::new(listing, ledgers, &asked))
    }

    fn all_books(
        &self,
        query: &Query,
        since: i64,
        progress: &dyn Progress,
    ) -> Result<AllLogs, Error> {
        let effort = Effort::List;
        let engine = self.pin();
        let known = query.holds.is_nothing().then(|| {
            engine.known_as_before(&effort, progress, |catalog| {
                let (leaves, groups) = self.leaves(catalog, since, |_| true, &mut 0)?;
                Some((leaves, Some(groups)))
            })
        });
        if let Some((known, ledgers)) = known.flatten() {
            return Ok((known.listing, ledgers, BTreeSet::new()));
        }
        let (ground, mut digests) = engine.gather_rows(&query.holds, progress)?;
        let mut ledgers = self.ledgers_of(&digests, since);
        if ledgers.is_none() {
            // What could not be kept is read once more.
            digests = engine.gather_anew(&ground, progress)?;
            ledgers = self.ledgers_of(&digests, since);
        }
        let unheld = digests.iter().filter(|digest| !digest.held);
        let unheld = unheld.map(|digest| (digest.facts.source, digest.facts.id.clone())).collect();
        let concluded = engine.conclude(&ground, digests, (&effort, After::Rows), progress)?;
        Ok((concluded.listing, ledgers.unwrap_or_default(), unheld))
    }

    /// Reads ledgers of groups, and the sum over all groups that were met.
    fn leaves(
        &self,
        catalog: &recount_catalog::Catalog,
        since: i64,
        wanted: impl Fn(u64) -> bool,
        found: &mut usize,
    ) -> Option<(Vec<Vec<u8>>, u64)> {
        let (mut leaves, mut groups, mut sound) = (Vec::new(), 0, true);
        let mut visit = |leaf: recount_catalog::Leaf<'_>| {
            groups = met(groups, (leaf.key, leaf.stamp));
            if !wanted(leaf.key) {
                return;
            }
            *found += 1;
            let Some(content) = leaf.content else { return };
            match unbound(content) {
                Some(bound) => leaves.extend(bound.into_iter().map(<[u8]>::to_vec)),
                None => sound = false,
            }
        };
        catalog.each_ledger(self.roots_key(), since, &mut visit).ok()?;
        sound.then_some((leaves, groups))
    }

    /// Collects the ledgers of sessions that were just listed. `None` when some that should be kept are not.
    fn ledgers_of(&self, digests: &[Digest], since: i64) -> Option<Vec<Vec<u8>>> {
        let mut ledgers = Vec::with_capacity(digests.len());
        let (mut groups, mut sessions) = (HashSet::new(), HashSet::new());
        for digest in digests {
            match &digest.used {
                Used::Now { ledger, .. } => {
                    ledgers.extend(unbound(ledger)?.into_iter().map(<[u8]>::to_vec));
                }
                Used::With(key) => {
                    groups.insert(*key);
                    sessions.insert(session_key(&digest.facts));
                }
            }
        }
        if groups.is_empty() {
            return Some(ledgers);
        }
        let mut found = 0;
        let wanted = |key: u64| groups.contains(&key);
        let (leaves, _) = self.leaves(&self.catalog()?, since, wanted, &mut found)?;
        let is_wanted =
            |ledger: &Vec<u8>| Page::session_of(ledger).is_some_and(|key| sessions.contains(&key));
        ledgers.extend(leaves.into_iter().filter(is_wanted));
        (found == groups.len()).then_some(ledgers)
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
    pub(crate) fn asked(&self) -> impl Iterator<Item = &Arc<SessionFacts>> {
        let all = self.sessions.iter().zip(&self.places);
        all.filter(|(_, place)| place.is_asked).map(|(session, _)| session)
    }

    fn new(listing: Listing, ledgers: Vec<Vec<u8>>, asked: &[bool]) -> Self {
        let Listing { sessions, problems, .. } = listing;
        // What was copied belongs to the session that began first.
        let mut order: Vec<usize> = (0..sessions.len()).collect();
        let began = |at: &usize| sessions.get(*at).map(|session| (session.started, &session.id));
        order.sort_by(|one, next| began(one).cmp(&began(next)));
        let keys: HashMap<u64, usize> =
            sessions.iter().enumerate().map(|(at, session)| (session_key(session), at)).collect();
        let mains: HashMap<&SessionId, usize> = sessions
            .iter()
            .enumerate()
            .filter(|(_, session)| session.parent.is_none())
            .map(|(at, session)| (&session.id, at))
            .collect();
        let main = |session: &SessionFacts| mains.get(session.parent.as_ref()?).copied();
        let place = |(at, session): (usize, &Arc<SessionFacts>)| Place {
            session: at,
            main: main(session).unwrap_or(at),
            is_asked: asked.get(at).copied().unwrap_or_default(),
        };
        let places: Vec<Place> = sessions.iter().enumerate().map(place).collect();
        let mut sorted = vec![Vec::new(); sessions.len()];
        for ledger in ledgers {
            let number = Page::session_of(&ledger).and_then(|key| keys.get(&key));
            if let Some(own) = number.and_then(|number| sorted.get_mut(*number)) {
                own.push(ledger);
            }
        }
        Self { order, places, ledgers: sorted, sessions, problems }
    }

    /// Returns how many sessions, in the order of time, have half of all that is in the ledgers.
    pub(crate) fn middle(&self) -> usize {
        let size = |ledgers: &[Vec<u8>]| ledgers.iter().map(Vec::len).sum::<usize>();
        let half = self.ledgers.iter().map(|ledgers| size(ledgers)).sum::<usize>() / 2;
        let mut sum = 0;
        let below = |(_, ledgers): &(Place, &[Vec<u8>])| {
            sum += size(ledgers);
            sum <= half
        };
        self.in_order().take_while(below).count()
    }

    /// Returns places and ledgers of all sessions, the first to begin first.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (Place, &[Vec<u8>])> {
        self.order.iter().filter_map(|at| {
            let ledgers = self.ledgers.get(*at)?;
            Some((*self.places.get(*at)?, ledgers.as_slice()))
        })
    }
}
