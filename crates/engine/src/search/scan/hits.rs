//! Collects the best matching messages.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use recount_formats::Source;
use recount_formats::bytes::Buffer;
use recount_formats::source::SessionFiles;
use recount_model::{Message, SessionFacts};
use recount_search::QueryPlan;

use super::sift::ByteFilter;
use crate::cache::growth::FullRead;
use crate::messages::{Messages, View};
use crate::projects::resolve::ProjectHints;
use crate::search::index::{file_key, session_key, with_document};
use crate::sessions::facts::{facts, main};
use crate::snapshot::disk_scan::{DiskSnapshot, Group};

/// Better hits are greater: more of the words, then newer; the location decides between equal ones, so that two runs print
/// the same.
type Rank = (usize, Option<i64>, Reverse<(u64, u64, u64)>);

/// The results of one thread.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Sessions that were read.
    pub(super) sessions: Vec<Session>,
    /// The best hits.
    pub(super) best: BTreeMap<Rank, Found>,
}

/// A session that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Session {
    pub(super) key: u64,
    /// The number of its group, if it may be in others as well.
    pub(super) group: Option<usize>,
    pub(super) hits: usize,
}

/// A matching message.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) session: Arc<Owner>,
    pub(super) message: Message,
    /// Whether the session's title belongs to it.
    pub(super) is_first: bool,
}

/// The session of a hit.
#[derive(Debug)]
pub(super) struct Owner {
    pub(super) key: u64,
    pub(super) facts: SessionFacts,
    pub(super) folder: usize,
    /// Recorded hashes of its project, with their directories.
    hashes: Vec<(usize, String)>,
}

impl Owner {
    fn of(source: &dyn Source, session_files: &SessionFiles) -> Self {
        let facts = facts(source, session_files);
        let folder = main(session_files).or_else(|| session_files.files.first());
        let hashes = session_files.files.iter().filter_map(|session_file| {
            Some((
                session_file.file.folder,
                session_file.file.outline.head.project_hash.as_deref()?.to_owned(),
            ))
        });
        Self {
            key: session_key(&facts),
            folder: folder.map_or(0, |session_file| session_file.file.folder),
            hashes: hashes.collect(),
            facts,
        }
    }

    /// Adds what it knows about its project.
    pub(super) fn add_hints(&self, hints: &mut ProjectHints) {
        for (folder, hash) in &self.hashes {
            hints.add(*folder, Some(hash), &[]);
        }
        hints.add(self.folder, None, &self.facts.directories);
        hints.paths.extend(self.facts.cwd.clone());
    }
}

impl Seen {
    /// Adds the results of another thread.
    pub(super) fn merge(&mut self, mut other: Self, limit: usize) {
        self.sessions.append(&mut other.sessions);
        for (rank, found) in other.best {
            self.keep(rank, limit, || found);
        }
    }

    /// Removes sessions as if they had not been read.
    pub(super) fn forget(&mut self, keys: &HashSet<u64>) {
        self.sessions.retain(|session| !keys.contains(&session.key));
        self.best.retain(|_, found| !keys.contains(&found.session.key));
    }

    fn keep(&mut self, rank: Rank, limit: usize, found: impl FnOnce() -> Found) {
        let is_full = self.best.len() >= limit;
        if is_full && self.best.first_key_value().is_none_or(|(worst, _)| *worst > rank) {
            return;
        }
        if is_full {
            self.best.pop_first();
        }
        self.best.insert(rank, found());
    }
}

/// Reads sessions and finds matching messages.
#[derive(Debug)]
pub(super) struct Hits<'a> {
    pub(super) plan: &'a QueryPlan,
    pub(super) disk: &'a DiskSnapshot,
    pub(super) sieve: &'a ByteFilter<'a>,
    /// The maximum number of hits.
    pub(super) limit: usize,
    /// Every hit, rather than the best of each session.
    pub(super) all: bool,
}

impl Hits<'_> {
    /// Reads all sessions of a group.
    pub(super) fn read(&self, number: usize, group: &Group, buffer: &mut Buffer, seen: &mut Seen) {
        for session_files in group.group_sessions(self.disk, &FullRead, buffer) {
            let owner = Arc::new(Owner::of(group.source, &session_files));
            let hits = self.session(group.source, &session_files, &owner, seen);
            // Sub-agents are with the session that ran them, whatever their ids.
            let group = (!session_files.kind.is_subagent()).then_some(number);
            seen.sessions.push(Session { key: owner.key, group, hits });
        }
    }

    /// Reads one session, whose files are all in the group.
    pub(super) fn read_one(&self, key: u64, group: &Group, buffer: &mut Buffer, seen: &mut Seen) {
        for session_files in group.group_sessions(self.disk, &FullRead, buffer) {
            let owner = Arc::new(Owner::of(group.source, &session_files));
            if owner.key == key {
                let hits = self.session(group.source, &session_files, &owner, seen);
                seen.sessions.push(Session { key, group: None, hits });
            }
        }
    }

    /// Reads a session, keeps the best hits, and returns the number of matching messages.
    fn session(
        &self,
        source: &'static dyn Source,
        session_files: &SessionFiles,
        owner: &Arc<Owner>,
        seen: &mut Seen,
    ) -> usize {
        let folder = self.disk.folders.get(owner.folder).map(|folder| &*folder.at.path);
        let mut messages = Messages::new(source, session_files, folder, View::Full);
        messages.keep_own();
        // The title belongs to the first message.
        let mut title = owner.facts.title.as_deref();
        let mut best: Option<(Rank, Message, bool)> = None;
        let mut hits = 0;
        loop {
            let mut wanted =
                |bytes: &[u8]| title.is_some() || self.sieve.may_hold_record(source, bytes);
            let Some(message) = messages.next_wanted(&mut wanted) else { break };
            // Unreadable messages are reported by lists and views; here they are skipped.
            let Ok(message) = message else { continue };
            let (is_first, title) = (title.is_some(), title.take().unwrap_or_default());
            let words =
                with_document(owner.key, title, &message, |document| self.plan.measure(document));
            let Some(words) = words else { continue };
            hits += 1;
            let place = (owner.key, file_key(&message.place.file), message.place.offset);
            let time = message.time.map(Timestamp::as_millisecond);
            let rank = (words, time, Reverse(place));
            if self.all {
                let found = || Found { session: Arc::clone(owner), message, is_first };
                seen.keep(rank, self.limit, found);
            } else if best.as_ref().is_none_or(|(before, ..)| *before < rank) {
                best = Some((rank, message, is_first));
            }
        }
        if let Some((rank, message, is_first)) = best {
            let found = || Found { session: Arc::clone(owner), message, is_first };
            seen.keep(rank, self.limit, found);
        }
        hits
    }
}
