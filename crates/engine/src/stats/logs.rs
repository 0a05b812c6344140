//! All sessions with their usage logs: from the catalog if nothing has changed, else from the files.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use recount_model::{Problem, SessionFacts, SessionId, SourceName};

use super::walk::Names;
use crate::cache::remembered::met;
use crate::projects::resolve::Effort;
use crate::search::index::session_key;
use crate::sessions::list::{After, Claim, Digest, ListQuery, Listing, Used};
use crate::sessions::scope::ListScope;
use crate::snapshot::disk_scan::Progress;
use crate::stats::usage::{UsageLogReader, unbound};
use crate::{Engine, Error};

/// All sessions with their usage logs.
#[derive(Debug, Default)]
pub(crate) struct UsageLogs {
    /// Every session.
    pub(crate) sessions: Vec<Arc<SessionFacts>>,
    /// Their numbers, earliest start first.
    order: Vec<usize>,
    /// Further facts per session.
    pub(crate) places: Vec<Place>,
    /// The usage logs per session, not yet decoded: one, or several if its files have other names.
    pub(crate) by_session: Vec<Vec<Arc<[u8]>>>,
    /// Problems that belong to no session.
    pub(crate) problems: Vec<Problem>,
    /// The project that the query is limited to.
    pub(crate) scope: Option<ListScope>,
}

/// The place of a session in the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its number.
    pub(crate) session: usize,
    /// The session that it belongs to: for a sub-agent its caller, else itself.
    pub(crate) main: usize,
    /// Whether it is selected.
    pub(crate) is_asked: bool,
}

/// The sessions in two parts, each in order of time.
#[derive(Debug)]
pub(crate) struct Halves {
    pub(crate) first: Vec<usize>,
    /// In order of time after the first, unless they are of other sources.
    pub(crate) second: Vec<usize>,
    /// Whether a message may be in both. Keys of messages include the source.
    pub(crate) may_cross: bool,
}

fn bytes_of(usage_logs: &[Arc<[u8]>]) -> usize {
    usage_logs.iter().map(|log| log.len()).sum()
}

/// Every session, the usage logs, and the sessions excluded by a filter.
type AllLogs = (Listing, Vec<Arc<[u8]>>, BTreeSet<Claim>);

impl Engine {
    /// Opens the usage logs.
    pub(crate) fn usage_logs(
        &self,
        query: &ListQuery,
        progress: &dyn Progress,
    ) -> Result<UsageLogs, Error> {
        self.aliases()?;
        let said = query.text.as_deref().map(|text| self.sessions_matching(text, progress));
        let said = said.transpose()?;
        let since = query.since.map_or(i64::MIN, Timestamp::as_millisecond);
        let (mut listing, usage_logs, unmatched) = self.all_usage_logs(query, since, progress)?;
        let (asked, scope) = self.asked(&mut listing.sessions, query, &unmatched, said.as_ref())?;
        listing.scope = scope;
        Ok(UsageLogs::new(listing, usage_logs, &asked))
    }

    fn all_usage_logs(
        &self,
        query: &ListQuery,
        since: i64,
        progress: &dyn Progress,
    ) -> Result<AllLogs, Error> {
        let effort = Effort::List;
        let engine = self.pin();
        let known = engine.known_as_before(&effort, progress, |catalog| {
            let (leaves, groups) = self.leaves(catalog, since, |_| true, &mut 0)?;
            Some((leaves, Some(groups)))
        });
        if let Some((known, usage_logs)) = known {
            let unmatched = engine.without(&query.content, &known.disk, progress)?;
            return Ok((known.listing, usage_logs, unmatched));
        }
        let (disk, digests) = engine.gather_usage(progress)?;
        let conclude = |digests| engine.conclude(&disk, digests, (&effort, After::Rows), progress);
        // Rows first: what was needed to build them is dropped before the usage logs are read.
        let mut concluded = conclude(digests)?;
        let mut usage_logs = self.usage_logs_of(&concluded.digests, since);
        if usage_logs.is_none() {
            // What could not be cached is read again.
            concluded = conclude(engine.read_all_groups(&disk, progress)?)?;
            usage_logs = self.usage_logs_of(&concluded.digests, since);
        }
        let unmatched = engine.without(&query.content, &disk, progress)?;
        Ok((concluded.listing, usage_logs.unwrap_or_default(), unmatched))
    }

    /// Reads usage logs of groups, and the sum over all groups that were found.
    fn leaves(
        &self,
        catalog: &recount_catalog::Catalog,
        since: i64,
        wanted: impl Fn(u64) -> bool,
        found: &mut usize,
    ) -> Option<(Vec<Arc<[u8]>>, u64)> {
        let (mut leaves, mut groups, mut sound) = (Vec::new(), 0, true);
        let mut visit = |leaf: recount_catalog::UsageLogPart<'_>| {
            groups = met(groups, (leaf.key, leaf.stamp));
            if !wanted(leaf.key) {
                return;
            }
            *found += 1;
            let Some(content) = leaf.content else { return };
            match unbound(content) {
                Some(bound) => leaves.extend(bound.into_iter().map(Arc::from)),
                None => sound = false,
            }
        };
        catalog.each_usage_log(self.roots_key(), since, &mut visit).ok()?;
        sound.then_some((leaves, groups))
    }

    /// Collects the usage logs of sessions that were just listed. `None` if some that should be cached are not.
    fn usage_logs_of(&self, digests: &[Digest], since: i64) -> Option<Vec<Arc<[u8]>>> {
        let mut usage_logs = Vec::with_capacity(digests.len());
        let (mut groups, mut sessions) = (HashSet::new(), HashSet::new());
        for digest in digests {
            match &digest.used {
                Used::Now { usage_log, .. } => usage_logs.push(Arc::clone(usage_log)),
                // As those in the catalog: of older ones nothing is counted.
                Used::Both { last, usage_log } if *last >= since => {
                    usage_logs.push(Arc::clone(usage_log));
                }
                Used::Both { .. } => {}
                Used::With(key) => {
                    groups.insert(*key);
                    sessions.insert(session_key(&digest.facts));
                }
            }
        }
        if groups.is_empty() {
            return Some(usage_logs);
        }
        let mut found = 0;
        let wanted = |key: u64| groups.contains(&key);
        let (leaves, _) = self.leaves(&self.catalog()?, since, wanted, &mut found)?;
        let is_wanted = |usage_log: &Arc<[u8]>| {
            UsageLogReader::session_of(usage_log).is_some_and(|key| sessions.contains(&key))
        };
        usage_logs.extend(leaves.into_iter().filter(is_wanted));
        (found == groups.len()).then_some(usage_logs)
    }
}

impl UsageLogs {
    /// Selects only one session and its sub-agents.
    pub(crate) fn ask_only(&mut self, wanted: &SessionFacts) {
        let wanted = session_key(wanted);
        let number = self.sessions.iter().position(|session| session_key(session) == wanted);
        for place in &mut self.places {
            place.is_asked = Some(place.main) == number || Some(place.session) == number;
        }
    }

    /// Returns the selected sessions.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &Arc<SessionFacts>> {
        let all = self.sessions.iter().zip(&self.places);
        all.filter(|(_, place)| place.is_asked).map(|(session, _)| session)
    }

    fn new(listing: Listing, usage_logs: Vec<Arc<[u8]>>, asked: &[bool]) -> Self {
        let Listing { sessions, problems, scope, .. } = listing;
        // Copies belong to the session that began first. Forks may keep the times of what they copy: then it is the one that
        // ended first.
        let mut order: Vec<usize> = (0..sessions.len()).collect();
        let began = |at: &usize| sessions.get(*at).map(|s| (s.started, s.updated, &s.id));
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
        for usage_log in usage_logs {
            let number = UsageLogReader::session_of(&usage_log).and_then(|key| keys.get(&key));
            if let Some(own) = number.and_then(|number| sorted.get_mut(*number)) {
                own.push(usage_log);
            }
        }
        Self { order, places, by_session: sorted, sessions, problems, scope }
    }

    /// Splits the sessions into halves with about as much data in their usage logs.
    pub(crate) fn halves(&self) -> Halves {
        let size = |at: &usize| self.by_session.get(*at).map_or(0, |logs| bytes_of(logs));
        let source = |at: &usize| self.sessions.get(*at).map(|session| session.source);
        let mut by_source: BTreeMap<Option<SourceName>, usize> = BTreeMap::new();
        for at in &self.order {
            *by_source.entry(source(at)).or_default() += size(at);
        }
        let all: usize = by_source.values().sum();
        if let Some((largest, bytes)) = by_source.into_iter().max_by_key(|(_, bytes)| *bytes)
            && bytes < all - all / 4
        {
            let (first, second) = self.order.iter().partition(|at| source(at) == largest);
            return Halves { first, second, may_cross: false };
        }
        let mut sum = 0;
        let below = |at: &&usize| {
            sum += size(at);
            sum <= all / 2
        };
        let first: Vec<usize> = self.order.iter().take_while(below).copied().collect();
        let second = self.order.iter().skip(first.len()).copied().collect();
        Halves { first, second, may_cross: true }
    }

    /// Returns all models, in the order in which they are first named.
    pub(crate) fn models(&self) -> Names {
        let mut models = Names::default();
        let contents = self.in_order().flat_map(|(_, usage_logs)| usage_logs);
        for page in contents.filter_map(|content| UsageLogReader::open(content)) {
            for model in &page.head.models {
                models.number(model);
            }
        }
        models
    }

    /// Returns the numbers of all sessions, earliest start first.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Returns places and usage logs of all sessions, earliest start first.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (Place, &[Arc<[u8]>])> {
        self.of(&self.order)
    }

    /// Returns places and usage logs of some sessions.
    pub(crate) fn of(&self, sessions: &[usize]) -> impl Iterator<Item = (Place, &[Arc<[u8]>])> {
        sessions.iter().filter_map(|at| {
            let usage_logs = self.by_session.get(*at)?;
            Some((*self.places.get(*at)?, usage_logs.as_slice()))
        })
    }
}
