//! What a question finds out by reading whole sessions, kept with the files: asked again, it reads only what has changed.
//!
//! What every list needs is in the rows of the catalog ([`cached`](super::cached)). What only some questions need, and takes a
//! look at every message, would make the first list slower: it is noted when somebody asks.

use std::collections::{BTreeMap, HashMap, HashSet};

use recount_catalog::Note;
use recount_formats::Source;
use recount_formats::source::{SessionFile, SessionFiles};
use recount_model::{FileRole, What};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cache::growth::FullRead;
use crate::cache::refresh::{is_racy, key};
use crate::cancel::stop_if_cancelled;
use crate::snapshot::disk_scan::{DiskSnapshot, Group, Progress, scan_files};
use crate::{Engine, Error};

/// What was found out about a session.
#[derive(Clone, Debug)]
pub struct Noted<T> {
    /// What.
    pub value: T,
    /// Whether it holds as long as the session's files do not change.
    pub lasts: bool,
}

/// What is kept of one session.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    value: T,
    /// Files of other sessions whose start it begins with: where they lie, and how much of them it needs.
    bases: Vec<(String, u64)>,
}

/// What was read of one session.
struct Read<T> {
    kept: Kept<T>,
    lasts: bool,
}

impl<T> Read<T> {
    fn new(source: &'static dyn Source, files: SessionFiles, look: impl Look<T>) -> Self {
        let bases = files.files.iter().filter(|file| file.role == FileRole::Base);
        let base = |file: &SessionFile| {
            (file.file.at.path.to_string_lossy().into_owned(), file.file.at.bytes)
        };
        let bases: Vec<_> = bases.map(base).collect();
        let problems = files.files.iter().flat_map(|file| &file.file.outline.problems.kept);
        // A file that was missing or could not be read may be there the next time.
        let is_passing = |what: What| matches!(what, What::BaseMissing | What::Unreadable);
        let is_whole = !{ problems }.any(|problem| is_passing(problem.what));
        let Noted { value, lasts } = look(source, files);
        Self { kept: Kept { value, bases }, lasts: lasts && is_whole }
    }
}

/// Tells something of a session.
trait Look<T>: Fn(&'static dyn Source, SessionFiles) -> Noted<T> {}

impl<T, F: Fn(&'static dyn Source, SessionFiles) -> Noted<T>> Look<T> for F {}

impl Engine {
    /// Finds something out about every session on `disk`, in the order of their groups. `look` is asked about those whose files have
    /// changed since it was asked last; what it said of the others is kept under `topic`.
    ///
    /// # Errors
    /// If it was cancelled.
    pub fn noted<T: Serialize + DeserializeOwned + Send>(
        &self,
        topic: &'static str,
        disk: &DiskSnapshot,
        progress: &dyn Progress,
        look: impl Fn(&'static dyn Source, SessionFiles) -> Noted<T> + Sync,
    ) -> Result<Vec<T>, Error> {
        let groups = disk.groups(|_, _| true);
        let keys: Vec<(u64, u64)> = groups.iter().map(key).collect();
        let roots = self.roots_key();
        let notes = self.catalog().and_then(|catalog| catalog.notes(roots, topic).ok());
        let notes = notes.unwrap_or_default();
        let mut found: Vec<Option<Vec<T>>> =
            keys.iter().map(|(key, stamp)| known(&notes, *key, *stamp)).collect();
        let seen: HashSet<u64> = keys.iter().map(|(key, _)| *key).collect();
        let gone: Vec<u64> = notes.into_keys().filter(|key| !seen.contains(key)).collect();
        let changed = groups.into_iter().enumerate();
        let (numbers, changed): (Vec<usize>, Vec<Group>) =
            changed.filter(|(at, _)| found.get(*at).is_none_or(Option::is_none)).unzip();
        let digest = |source, files: SessionFiles| Read::new(source, files, &look);
        let scanned = scan_files(disk, &changed, &FullRead, progress, digest);
        stop_if_cancelled(progress)?;
        let mut read: BTreeMap<usize, Vec<Read<T>>> = BTreeMap::new();
        for (at, one) in scanned {
            read.entry(at).or_default().push(one);
        }
        let mut new = Vec::new();
        for (at, (number, group)) in numbers.into_iter().zip(&changed).enumerate() {
            let sessions = read.remove(&at).unwrap_or_default();
            let lasts = !is_racy(group, disk) && sessions.iter().all(|session| session.lasts);
            let sessions: Vec<Kept<T>> = sessions.into_iter().map(|one| one.kept).collect();
            if let Some((key, stamp)) = keys.get(number).filter(|_| lasts)
                && let Ok(content) = postcard::to_allocvec(&sessions)
            {
                new.push(Note { key: *key, stamp: *stamp, content });
            }
            if let Some(slot) = found.get_mut(number) {
                *slot = Some(sessions.into_iter().map(|session| session.value).collect());
            }
        }
        if !(new.is_empty() && gone.is_empty()) {
            self.write_later(move |catalog| {
                // What is not kept is found out again.
                let _kept = catalog.keep_notes(roots, topic, &new, &gone);
            });
        }
        Ok(found.into_iter().flatten().flatten().collect())
    }
}

/// Returns what was noted of the sessions of a group, if it still holds.
fn known<T: DeserializeOwned>(notes: &HashMap<u64, Note>, key: u64, stamp: u64) -> Option<Vec<T>> {
    let note = notes.get(&key).filter(|note| note.stamp == stamp)?;
    let sessions: Vec<Kept<T>> = postcard::from_bytes(&note.content).ok()?;
    // A base that is gone or was cut is not what was read.
    let is_there = |(path, bytes): &(String, u64)| {
        std::fs::metadata(path).is_ok_and(|known| known.len() >= *bytes)
    };
    let bases = sessions.iter().flat_map(|session| &session.bases);
    { bases }.all(is_there).then(|| sessions.into_iter().map(|session| session.value).collect())
}
