//! What we learned about folders, kept in our own data folder: what was proven, which searches found nothing, which
//! repository a folder held. Deleting it loses time, and the repositories of folders that are gone.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use recount_formats::Source;
use recount_model::{ClueKind, ProjectHash, RecordedPath};
use serde::{Deserialize, Serialize};

use crate::clues::git::GitIdentity;
use crate::scan::ScanRoot;

/// The form of the file. A file of a later form is left alone, unread.
const VERSION: u32 = 1;
/// How long a failed search is remembered, as long as nothing visibly changed.
const VAIN: SignedDuration = SignedDuration::from_hours(7 * 24);
/// How long a list goes by what the machine said when it was last asked.
const ASKED: SignedDuration = SignedDuration::from_hours(24);
/// How long a search that ran out of time is not tried again unasked.
const UNFINISHED: SignedDuration = SignedDuration::from_hours(1);

/// What we learned about folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// By source and hash.
    proven: BTreeMap<(String, String), Proven>,
    /// By source and hash.
    vain: BTreeMap<(String, String), Vain>,
    /// By place and whether time was enough: what a search had no time for does not undo what an earlier one saw.
    searched: BTreeMap<(String, bool), Searched>,
    /// By path.
    repositories: BTreeMap<String, GitIdentity>,
    /// Folders that a search met which may be the new place of one that is gone.
    spots: BTreeSet<String>,
}

/// A path that was proven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proven {
    source: String,
    hash: String,
    /// The path.
    pub path: RecordedPath,
    /// How it was found.
    pub clue: ClueKind,
    /// Where it was found.
    pub detail: String,
    /// When.
    pub when: Timestamp,
}

/// A directory whose own files tell nothing of its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Vain {
    source: String,
    hash: String,
    /// What the files looked like.
    stamp: String,
    /// When the rest of the machine was last asked.
    when: Timestamp,
}

impl Vain {
    fn is_recent(&self, now: Timestamp) -> bool {
        now.duration_since(self.when) < ASKED
    }
}

/// A place that was searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Searched {
    /// The place.
    pub place: String,
    /// How many levels below it.
    pub depth: usize,
    /// What its upper levels looked like.
    pub shape: String,
    /// Whether time was enough.
    pub finished: bool,
    /// How long it might have taken, in milliseconds.
    pub patience: u64,
    /// When.
    pub when: Timestamp,
    /// What was looked for and not found: hashes and names.
    pub unfound: BTreeSet<String>,
}

impl Searched {
    fn key(&self) -> (String, bool) {
        (self.place.clone(), self.finished)
    }

    /// Whether `wanted` need not be looked for again at a place that looks like `shape`.
    fn settles(&self, wanted: &str, place: &ScanRoot, shape: &str, now: Timestamp) -> bool {
        let is_same = if self.finished {
            self.shape == shape
        } else {
            self.patience >= millis(place.patience)
        };
        is_same && self.counts_at(now) && self.depth >= place.depth && self.unfound.contains(wanted)
    }

    /// Whether what it missed may be told together with what a later search of the same place missed.
    fn is_as_thorough_as(&self, later: &Self) -> bool {
        self.shape == later.shape
            && self.depth >= later.depth
            && (self.finished || self.patience >= later.patience)
            && self.counts_at(later.when)
    }

    fn counts_at(&self, now: Timestamp) -> bool {
        now.duration_since(self.when) < if self.finished { VAIN } else { UNFINISHED }
    }
}

/// The file.
#[derive(Default, Serialize, Deserialize)]
struct File {
    version: u32,
    proven: Vec<Proven>,
    #[serde(default)]
    vain: Vec<Vain>,
    #[serde(default)]
    searched: Vec<Searched>,
    #[serde(default)]
    repositories: Vec<(String, GitIdentity)>,
    #[serde(default)]
    spots: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// The file was written by a release that knows more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newer;

impl Learned {
    /// Reads the file. A damaged one counts as none: all of it can be found again.
    ///
    /// # Errors
    /// If a newer release wrote it: then it is not ours to replace.
    pub fn parse(bytes: &[u8]) -> Result<Self, Newer> {
        let version = serde_json::from_slice::<Version>(bytes).map_or(VERSION, |file| file.version);
        if version > VERSION {
            return Err(Newer);
        }
        let file: File = serde_json::from_slice(bytes).unwrap_or_default();
        Ok(Self {
            proven: file
                .proven
                .into_iter()
                .map(|entry| ((entry.source.clone(), entry.hash.clone()), entry))
                .collect(),
            vain: file
                .vain
                .into_iter()
                .map(|entry| ((entry.source.clone(), entry.hash.clone()), entry))
                .collect(),
            searched: file.searched.into_iter().map(|entry| (entry.key(), entry)).collect(),
            repositories: file.repositories.into_iter().collect(),
            spots: file.spots,
        })
    }

    /// Writes the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let file = File {
            version: VERSION,
            proven: self.proven.values().cloned().collect(),
            vain: self.vain.values().cloned().collect(),
            searched: self.searched.values().cloned().collect(),
            repositories: self.repositories.clone().into_iter().collect(),
            spots: self.spots.clone(),
        };
        let mut bytes = serde_json::to_vec(&file).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Takes over what another run learned; where both know something, the other is newer.
    pub fn absorb(&mut self, other: Self) {
        self.proven.extend(other.proven);
        self.vain.extend(other.vain);
        for record in other.searched.into_values() {
            self.searched(record);
        }
        self.repositories.extend(other.repositories);
        self.spots.extend(other.spots);
        self.vain.retain(|key, _| !self.proven.contains_key(key));
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// How many folders are known.
    pub fn len(&self) -> usize {
        self.proven.len()
    }

    /// Lists what was proven. An entry that does not hash to its name is none: nothing is believed that cannot be
    /// checked.
    pub fn proven(&self, source: &'static dyn Source) -> impl Iterator<Item = &Proven> {
        let own = move |entry: &&Proven| {
            entry.source == source.name().as_str()
                && source
                    .project_hash(entry.path.as_str())
                    .is_some_and(|hash| hash.as_str() == entry.hash)
        };
        self.proven.values().filter(own)
    }

    /// Whether this hash is known.
    pub fn knows(&self, source: &dyn Source, hash: &ProjectHash) -> bool {
        self.proven.contains_key(&key(source, hash))
    }

    /// Adds a path that was proven.
    pub fn prove(
        &mut self,
        source: &dyn Source,
        path: &RecordedPath,
        clue: (ClueKind, &str),
        when: Timestamp,
    ) {
        let Some(hash) = source.project_hash(path.as_str()) else { return };
        let entry = Proven {
            source: source.name().as_str().to_owned(),
            hash: hash.as_str().to_owned(),
            path: path.clone(),
            clue: clue.0,
            detail: clue.1.to_owned(),
            when,
        };
        self.proven.insert(key(source, &hash), entry);
    }

    /// Whether files with this `stamp` were read without a result.
    pub fn is_vain(&self, source: &dyn Source, hash: &ProjectHash, stamp: &str) -> bool {
        self.vain.get(&key(source, hash)).is_some_and(|vain| vain.stamp == stamp)
    }

    /// Remembers that files were read without a result.
    pub fn give_up(
        &mut self,
        source: &dyn Source,
        hash: &ProjectHash,
        stamp: String,
        when: Timestamp,
    ) {
        let (name, text) = key(source, hash);
        let entry = Vain { source: name.clone(), hash: text.clone(), stamp, when };
        self.vain.insert((name, text), entry);
    }

    /// Whether a search of the machine for this hash failed recently.
    pub fn asked_recently(&self, source: &dyn Source, hash: &ProjectHash, now: Timestamp) -> bool {
        self.vain.get(&key(source, hash)).is_some_and(|vain| vain.is_recent(now))
    }

    /// Remembers that a search of the machine failed, if what is `known` of that is old.
    pub fn asked_in_vain(
        &mut self,
        known: &Self,
        source: &dyn Source,
        hash: &ProjectHash,
        now: Timestamp,
    ) {
        let key = key(source, hash);
        if let Some(old) = known.vain.get(&key).filter(|old| !old.is_recent(now)) {
            self.vain.entry(key).or_insert_with(|| Vain { when: now, ..old.clone() });
        }
    }

    /// Whether `wanted` was looked for at a place that has not changed since.
    pub fn is_settled(&self, wanted: &str, place: &ScanRoot, shape: &str, now: Timestamp) -> bool {
        let record = |finished| self.searched.get(&(place.path.to_str()?.to_owned(), finished));
        [true, false]
            .into_iter()
            .filter_map(record)
            .any(|record| record.settles(wanted, place, shape, now))
    }

    /// Whether a search for `wanted` was not finished somewhere, and no other there was.
    pub fn is_unfinished(&self, wanted: &str, now: Timestamp) -> bool {
        let misses = |record: &Searched| record.unfound.contains(wanted);
        self.searched.values().any(|record| {
            let finished = || self.searched.get(&(record.place.clone(), true));
            let is_as_good = |done: &Searched| {
                misses(done) && (done.shape == record.shape || done.when >= record.when)
            };
            let counts = now.duration_since(record.when) < VAIN;
            counts && !record.finished && misses(record) && !finished().is_some_and(is_as_good)
        })
    }

    /// Remembers a search, beside what an earlier one missed at the same place.
    pub fn searched(&mut self, mut record: Searched) {
        if let Some(old) = self.searched.get(&record.key())
            && !old.unfound.is_subset(&record.unfound)
            && old.is_as_thorough_as(&record)
        {
            record.unfound.extend(old.unfound.iter().cloned());
            record.when = record.when.min(old.when);
        }
        self.searched.insert(record.key(), record);
    }

    /// Lists folders that may be the new place of one that is gone.
    pub fn spots(&self) -> impl Iterator<Item = &str> {
        self.spots.iter().map(String::as_str)
    }

    /// Remembers folders that may be the new place of one that is gone.
    pub fn saw_spots(&mut self, spots: &BTreeSet<String>) {
        self.spots.extend(spots.iter().cloned());
    }

    /// Returns the repository that a folder held when it was last seen.
    pub fn repository(&self, path: &str) -> Option<&GitIdentity> {
        self.repositories.get(path)
    }

    /// Remembers the repository in a folder.
    pub fn saw_repository(&mut self, path: &str, identity: GitIdentity) {
        self.repositories.insert(path.to_owned(), identity);
    }
}

/// Returns a duration as it is kept.
pub fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn key(source: &dyn Source, hash: &ProjectHash) -> (String, String) {
    (source.name().as_str().to_owned(), hash.as_str().to_owned())
}

#[cfg(test)]
mod tests;
