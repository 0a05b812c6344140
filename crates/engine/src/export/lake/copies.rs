//! Which messages are copies of those in another session of this machine: the rule of `stats`.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use recount_model::{SessionFacts, timestamp};

use super::LakeMonth;

use crate::search::index::session_key;
use crate::sessions::list::ListQuery;
use crate::snapshot::disk_scan::Progress;
use crate::stats::usage::{Event, Said, UsageLogReader};
use crate::{Engine, Error};

/// The messages that stand in several sessions, each with the session that made it.
#[derive(Debug, Default)]
pub(super) struct SharedMessages {
    /// By the key of a message, the sessions to which the message and its request belong.
    owners: HashMap<u64, MessageOwner>,
    /// By session, a fingerprint of what it has from others.
    stamps: HashMap<u64, u64>,
    /// By session, the months in which it has messages that count.
    months: HashMap<u64, BTreeSet<LakeMonth>>,
}

#[derive(Clone, Copy, Debug)]
struct MessageOwner {
    message: u64,
    /// `None` as long as the message was only seen without figures.
    request: Option<u64>,
    /// Whether another session has it too.
    is_shared: bool,
}

impl Engine {
    /// Finds the messages that stand in several sessions, as `stats` does.
    pub(super) fn shared_messages(&self, progress: &dyn Progress) -> Result<SharedMessages, Error> {
        let mut shared = SharedMessages::default();
        let logs = self.usage_logs(&ListQuery::default(), progress)?;
        for (place, usage_logs) in logs.in_order() {
            let Some(session) = logs.sessions.get(place.session) else { continue };
            let (started, session) = (session.started, session_key(session));
            let mut months = MonthsSeen::default();
            for page in usage_logs.iter().filter_map(|content| UsageLogReader::open(content)) {
                // What is kept is sealed: it is read whole or not at all.
                let mut last = started.map(Timestamp::as_millisecond);
                let _whole = page.each(|event, time| {
                    last = time.or(last);
                    months.add(last);
                    shared.add(session, event);
                });
            }
            shared.months.insert(session, months.months);
        }
        shared.owners.retain(|_, owner| owner.is_shared);
        shared.owners.shrink_to_fit();
        Ok(shared)
    }
}

impl SharedMessages {
    fn add(&mut self, session: u64, event: &Event) {
        let asks = event.request.is_some();
        // An answer may have lost its figures in one session and kept them in another.
        let is_bare = event.said == Said::Answer && !asks;
        let new = MessageOwner {
            message: session,
            request: (!is_bare).then_some(session),
            is_shared: false,
        };
        let owner = self.owners.entry(event.id).or_insert(new);
        if asks && owner.request.is_none() {
            owner.request = Some(session);
        }
        if owner.message != session {
            owner.is_shared = true;
            let stamp = self.stamps.entry(session).or_default();
            *stamp = stamp.rotate_left(5) ^ event.id ^ u64::from(owner.request == Some(session));
        }
    }

    /// Whether a message, and whether its request, was made in another session.
    pub(super) fn is_copy(&self, session: u64, key: u64) -> (bool, bool) {
        self.owners.get(&key).map_or((false, false), |owner| {
            (owner.message != session, owner.request.is_some_and(|other| other != session))
        })
    }

    /// Returns the months in which a session has messages that count.
    pub(super) fn months(&self, session: u64) -> Option<&BTreeSet<LakeMonth>> {
        self.months.get(&session).filter(|months| !months.is_empty())
    }

    /// Returns a fingerprint of what a session has from others.
    pub(super) fn stamp(&self, session: u64) -> u64 {
        self.stamps.get(&session).copied().unwrap_or_default()
    }
}

/// The months of times; most have the day of the one before.
#[derive(Default)]
struct MonthsSeen {
    months: BTreeSet<LakeMonth>,
    day: Option<i64>,
}

impl MonthsSeen {
    fn add(&mut self, time: Option<i64>) {
        const DAY: i64 = 24 * 60 * 60 * 1000;
        let day = time.map(|time| time.div_euclid(DAY));
        if day.is_some() && self.day != day {
            self.day = day;
            self.months.extend(time.and_then(timestamp).map(LakeMonth::of));
        }
    }
}

/// Returns the key of a session among those of this machine.
pub(super) fn local_key(facts: &SessionFacts) -> u64 {
    session_key(facts)
}
