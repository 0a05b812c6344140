//! What is known about folders from earlier runs, stored in recount's data folder: proven paths, searches without a result,
//! and the repository in a folder. Deleting it costs time, and loses the repositories of deleted folders.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use recount_formats::Source;
use recount_model::{ClueKind, ProjectHash, RecordedPath};
use serde::{Deserialize, Serialize};

use crate::clues::git::GitIdentity;
use crate::scan::ScanRoot;

/// The version of the file format. A file of a later version is neither read nor changed.
const VERSION: u32 = 1;
/// How long a failed search is remembered, as long as nothing visibly changed.
const FAILED_TTL: SignedDuration = SignedDuration::from_hours(7 * 24);
/// How long a listing uses the last result of asking the machine.
const MACHINE_TTL: SignedDuration = SignedDuration::from_hours(24);
/// How long a search that timed out is not automatically repeated.
const UNFINISHED_TTL: SignedDuration = SignedDuration::from_hours(1);

/// What is known about folders from earlier runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// By source and hash.
    proven: BTreeMap<(String, String), Proven>,
    /// By source and hash.
    failed: BTreeMap<(String, String), FailedLookup>,
    /// By place and whether the search finished: one that timed out does not replace what an earlier one saw.
    searched: BTreeMap<(String, bool), Searched>,
    /// By path.
    repositories: BTreeMap<String, GitIdentity>,
    /// Folders found by a search that may be the new location of a missing one.
    spots: BTreeSet<String>,
}

/// A proven path.
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

/// A directory whose own files do not show its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FailedLookup {
    source: String,
    hash: String,
    /// The stamp of the files.
    stamp: String,
    /// When the rest of the machine was last searched.
    when: Timestamp,
}

impl FailedLookup {
    fn is_recent(&self, now: Timestamp) -> bool {
        now.duration_since(self.when) < MACHINE_TTL
    }
}

/// A place that was searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Searched {
    /// The place.
    pub place: String,
    /// How many levels below it.
    pub depth: usize,
    /// A fingerprint of its upper levels.
    pub shape: String,
    /// Whether the search finished.
    pub finished: bool,
    /// Its time limit, in milliseconds.
    pub patience: u64,
    /// When.
    pub when: Timestamp,
    /// What was not found: hashes and names.
    pub unfound: BTreeSet<String>,
}

impl Searched {
    fn key(&self) -> (String, bool) {
        (self.place.clone(), self.finished)
    }

    /// Whether `wanted` need not be searched again at a place with this `shape`.
    fn settles(&self, wanted: &str, place: &ScanRoot, shape: &str, now: Timestamp) -> bool {
        let is_same = if self.finished {
            self.shape == shape
        } else {
            self.patience >= millis(place.patience)
        };
        is_same && self.counts_at(now) && self.depth >= place.depth && self.unfound.contains(wanted)
    }

    /// Whether its misses may be merged with those of a later search of the same place.
    fn is_as_thorough_as(&self, later: &Self) -> bool {
        self.shape == later.shape
            && self.depth >= later.depth
            && (self.finished || self.patience >= later.patience)
            && self.counts_at(later.when)
    }

    fn counts_at(&self, now: Timestamp) -> bool {
        now.duration_since(self.when) < if self.finished { FAILED_TTL } else { UNFINISHED_TTL }
    }
}

/// The file.
#[derive(Default, Serialize, Deserialize)]
struct File {
    version: u32,
    proven: Vec<Proven>,
    #[serde(default, rename = "vain")]
    failed: Vec<FailedLookup>,
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

/// The file was written by a newer release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newer;

impl Learned {
    /// Reads the file. A damaged file counts as empty: all of it can be found again.
    ///
    /// # Errors
    /// If a newer release wrote it: then it must not be replaced.
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
            failed: file
                .failed
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
            failed: self.failed.values().cloned().collect(),
            searched: self.searched.values().cloned().collect(),
            repositories: self.repositories.clone().into_iter().collect(),
            spots: self.spots.clone(),
        };
        let mut bytes = serde_json::to_vec(&file).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Merges what another run learned; where both have an entry, the other is newer.
    pub fn absorb(&mut self, other: Self) {
        self.proven.extend(other.proven);
        self.failed.extend(other.failed);
        for record in other.searched.into_values() {
            self.record_search(record);
        }
        self.repositories.extend(other.repositories);
        self.spots.extend(other.spots);
        self.failed.retain(|key, _| !self.proven.contains_key(key));
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the number of known folders.
    pub fn len(&self) -> usize {
        self.proven.len()
    }

    /// Lists the proven paths. An entry whose hash does not match its name is ignored: every entry is checked.
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
    pub fn has_failed(&self, source: &dyn Source, hash: &ProjectHash, stamp: &str) -> bool {
        self.failed.get(&key(source, hash)).is_some_and(|failed| failed.stamp == stamp)
    }

    /// Records that files were read without a result.
    pub fn record_failed_read(
        &mut self,
        source: &dyn Source,
        hash: &ProjectHash,
        stamp: String,
        when: Timestamp,
    ) {
        let (name, text) = key(source, hash);
        let entry = FailedLookup { source: name.clone(), hash: text.clone(), stamp, when };
        self.failed.insert((name, text), entry);
    }

    /// Whether a search of the machine for this hash failed recently.
    pub fn asked_recently(&self, source: &dyn Source, hash: &ProjectHash, now: Timestamp) -> bool {
        self.failed.get(&key(source, hash)).is_some_and(|failed| failed.is_recent(now))
    }

    /// Records that a search of the machine failed, if the `known` result is old.
    pub fn record_failed_search(
        &mut self,
        known: &Self,
        source: &dyn Source,
        hash: &ProjectHash,
        now: Timestamp,
    ) {
        let key = key(source, hash);
        if let Some(old) = known.failed.get(&key).filter(|old| !old.is_recent(now)) {
            self.failed.entry(key).or_insert_with(|| FailedLookup { when: now, ..old.clone() });
        }
    }

    /// Whether `wanted` was searched at a place that has not changed since.
    pub fn is_settled(&self, wanted: &str, place: &ScanRoot, shape: &str, now: Timestamp) -> bool {
        let record = |finished| self.searched.get(&(place.path.to_str()?.to_owned(), finished));
        [true, false]
            .into_iter()
            .filter_map(record)
            .any(|record| record.settles(wanted, place, shape, now))
    }

    /// Whether a search for `wanted` was not finished somewhere, and no other search there was.
    pub fn is_unfinished(&self, wanted: &str, now: Timestamp) -> bool {
        let misses = |record: &Searched| record.unfound.contains(wanted);
        self.searched.values().any(|record| {
            let finished = || self.searched.get(&(record.place.clone(), true));
            let is_as_good = |done: &Searched| {
                misses(done) && (done.shape == record.shape || done.when >= record.when)
            };
            let counts = now.duration_since(record.when) < FAILED_TTL;
            counts && !record.finished && misses(record) && !finished().is_some_and(is_as_good)
        })
    }

    /// Records a search, merged with what an earlier one missed at the same place.
    pub fn record_search(&mut self, mut record: Searched) {
        if let Some(old) = self.searched.get(&record.key())
            && !old.unfound.is_subset(&record.unfound)
            && old.is_as_thorough_as(&record)
        {
            record.unfound.extend(old.unfound.iter().cloned());
            record.when = record.when.min(old.when);
        }
        self.searched.insert(record.key(), record);
    }

    /// Lists folders that may be the new location of a missing one.
    pub fn spots(&self) -> impl Iterator<Item = &str> {
        self.spots.iter().map(String::as_str)
    }

    /// Records folders that may be the new location of a missing one.
    pub fn record_spots(&mut self, spots: &BTreeSet<String>) {
        self.spots.extend(spots.iter().cloned());
    }

    /// Returns the repository that a folder had when it was last seen.
    pub fn repository(&self, path: &str) -> Option<&GitIdentity> {
        self.repositories.get(path)
    }

    /// Records the repository in a folder.
    pub fn record_repository(&mut self, path: &str, identity: GitIdentity) {
        self.repositories.insert(path.to_owned(), identity);
    }
}

/// Returns a duration as it is stored.
pub fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn key(source: &dyn Source, hash: &ProjectHash) -> (String, String) {
    (source.name().as_str().to_owned(), hash.as_str().to_owned())
}

#[cfg(test)]
mod tests;
