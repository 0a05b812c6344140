//! The catalog kept up to date: what has not changed is not read again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread::JoinHandle;

use recount_catalog::{Catalog, CatalogRow, StoredReader};
use recount_formats::Sources;
use recount_formats::source::SessionFiles;

use crate::cache::cached::{self, decode, encode};
use crate::cache::growth::{FullRead, Growth, may_resume};
use crate::cancel::stop_if_cancelled;
use crate::sessions::list::Digest;
use crate::snapshot::disk_scan::{DiskSnapshot, Group, Progress, scan_files};
use crate::stats::usage;
use crate::{Engine, Error};

/// The catalog's file in our data folder.
pub(crate) const FILE: &str = "catalog.db";
/// A file that was written so short a time ago may be written again without a change that we can see.
pub(crate) const RACY: i128 = 2_000_000_000;
/// Number of groups from which a second thread pays.
const MANY: usize = 256;
/// Number of groups that are read before they are written: the least, so that all cores have work, and the most.
const AT_ONCE: std::ops::RangeInclusive<usize> = 64..=768;
/// So much is read before it is written, unless that is a few groups only.
const BYTES_AT_ONCE: u64 = 256 * 1024 * 1024;

/// What the catalog holds of some roots.
#[derive(Debug)]
pub(crate) struct Memory {
    catalog: Catalog,
    roots: u64,
    rows: HashMap<u64, CatalogRow>,
}

/// What is being written to the catalog, while other work goes on. What was read is not lost when the answer is out: the
/// last one to let go of an engine waits.
#[derive(Debug, Default)]
pub(crate) struct PendingWrites(Mutex<Vec<JoinHandle<()>>>);

impl PendingWrites {
    /// Waits for all of them.
    fn finish(&self) {
        let handles = self.0.lock().map(|mut writing| std::mem::take(&mut *writing));
        for handle in handles.unwrap_or_default() {
            // One that failed has written nothing, which costs time and nothing else.
            let _ended = handle.join();
        }
    }
}

impl Drop for PendingWrites {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Engine {
    /// Opens the catalog. Without one, everything is read each time.
    pub(crate) fn memory(&self) -> Option<Memory> {
        let catalog = self.catalog()?;
        let roots = self.roots_key();
        let rows = catalog.rows(roots).ok()?;
        Some(Memory { catalog, roots, rows })
    }

    /// Writes to the catalog while other work goes on: nobody waits for it but the end of the run.
    pub(crate) fn write_later(&self, write: impl FnOnce(&mut Catalog) + Send + 'static) {
        let Some(path) = self.catalog_path() else { return };
        let Ok(mut writing) = self.writing.0.lock() else { return };
        // One after the other.
        let (before, sources) = (std::mem::take(&mut *writing), self.sources);
        writing.push(std::thread::spawn(move || {
            for handle in before {
                let _ended = handle.join();
            }
            // A catalog that cannot be written costs time, nothing else.
            if let Ok(mut catalog) = Catalog::open(&path, &version(sources)) {
                let _unmapped = catalog.unmap();
                write(&mut catalog);
            }
        }));
    }

    fn catalog_path(&self) -> Option<PathBuf> {
        self.folders.data.as_ref().map(|folder| folder.join(FILE))
    }

    /// Waits for what is being written to the catalog.
    pub fn finish_writing(&self) {
        self.writing.finish();
    }

    /// What tells the roots that are read from others.
    pub(crate) fn roots_key(&self) -> u64 {
        let mut roots: Vec<_> =
            self.roots.iter().map(|root| (root.source.name(), &root.path)).collect();
        roots.sort();
        hash(&roots)
    }

    /// Removes a catalog that is damaged: it is made again.
    pub(crate) fn remove_catalog(&self) -> Result<(), Error> {
        self.finish_writing();
        let path = self.catalog_path().ok_or(Error::NoDataFolder)?;
        for beside in ["", "-wal", "-shm"] {
            let mut name = path.clone().into_os_string();
            name.push(beside);
            recount_writer::remove(Path::new(&name))?;
        }
        Ok(())
    }

    /// Says where the catalog lies that cannot be used, unless it is damaged: then it is made again.
    pub(crate) fn located<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|error| match (error, &self.folders.data) {
            (Error::Catalog(source), Some(folder)) if !source.is_damage() => {
                Error::DataFolder { folder: folder.clone(), source }
            }
            (error, _) => error,
        })
    }

    /// Opens the catalog, for those who can do without.
    pub(crate) fn catalog(&self) -> Option<Catalog> {
        self.needed_catalog().ok()
    }

    /// Opens the catalog's file, or makes it again when it is damaged.
    pub(crate) fn needed_catalog(&self) -> Result<Catalog, Error> {
        self.finish_writing();
        let folder = self.folders.data.as_ref().ok_or(Error::NoDataFolder)?;
        recount_writer::create_private_folder(folder)?;
        let path = folder.join(FILE);
        recount_writer::create_private_file(&path);
        let opened = match Catalog::open(&path, &version(self.sources)) {
            Err(fault) if fault.is_damage() => {
                self.remove_catalog()?;
                Catalog::open(&path, &version(self.sources))
            }
            opened => opened,
        };
        opened.map_err(|source| Error::DataFolder { folder: folder.clone(), source })
    }
}

/// What is kept under another version is not understood.
pub(crate) fn version(sources: Sources) -> String {
    let sources = sources.iter().map(|source| format!("{}{}", source.name(), source.version()));
    format!("{}/{}", cached::VERSION, sources.collect::<Vec<_>>().join(","))
}

/// Reads what has changed and remembers the rest. Sessions come in the order of their groups.
pub(crate) fn recall(
    engine: &Engine,
    disk: &DiskSnapshot,
    memory: Option<Memory>,
    progress: &dyn Progress,
    digest: impl Fn(&'static dyn recount_formats::Source, SessionFiles) -> Digest + Sync,
) -> Result<Vec<Digest>, Error> {
    let groups = disk.groups(|_, _| true);
    let Some(memory) = memory else {
        let read = scan_files(disk, groups, &FullRead, progress, digest);
        stop_if_cancelled(progress)?;
        return Ok(read.into_iter().map(|(_, digest)| digest).collect());
    };
    let keys: Vec<(u64, u64)> = groups.iter().map(key).collect();
    let mut digests = memory.known(disk, &groups, &keys);
    let seen: HashSet<u64> = keys.iter().map(|(key, _)| *key).collect();
    let Memory { catalog, roots, rows } = memory;
    let mut gone: Vec<u64> = rows.into_keys().filter(|key| !seen.contains(key)).collect();
    let mut changed: Vec<(usize, Group)> = groups
        .into_iter()
        .enumerate()
        .filter(|(number, _)| digests.get(*number).is_none_or(Option::is_none))
        .collect();
    // Largest first, so that no core is left with a large one at the end.
    changed.sort_by_key(|(_, group)| std::cmp::Reverse(group.bytes()));
    let growth = Growth::new(catalog, &engine.outlines);
    let total = changed.iter().map(|(_, group)| group.bytes()).sum();
    let mut done = 0;
    // What was read is written while more is read, so that it need not wait in memory.
    while !changed.is_empty() {
        let later = changed.split_off(share_of(&changed).min(changed.len()));
        let (numbers, share): (Vec<usize>, Vec<Group>) =
            std::mem::replace(&mut changed, later).into_iter().unzip();
        let part = Share { progress, done, total };
        done += share.iter().map(Group::bytes).sum::<u64>();
        let scanned = scan_files(disk, share.clone(), &growth, &part, &digest);
        stop_if_cancelled(progress)?;
        let mut read: BTreeMap<usize, Vec<Digest>> = BTreeMap::new();
        for (at, digest) in scanned {
            read.entry(at).or_default().push(digest);
        }
        let mut new = Vec::new();
        for (at, (number, group)) in numbers.into_iter().zip(&share).enumerate() {
            let mut found = read.remove(&at).unwrap_or_default();
            if let Some((key, stamp)) = keys.get(number)
                && !is_racy(group, disk)
                && let Some(content) = encode(group, &found.iter().collect::<Vec<_>>())
            {
                let usage_log = usage::take(&mut found, *key);
                new.push(CatalogRow { key: *key, stamp: *stamp, content, usage_log });
            }
            if let Some(slot) = digests.get_mut(number) {
                *slot = Some(found);
            }
        }
        keep_later(engine, roots, new, std::mem::take(&mut gone));
        keep_states_later(engine, growth.take_states());
    }
    keep_later(engine, roots, Vec::new(), gone);
    Ok(digests.into_iter().flatten().flatten().collect())
}

/// How many of the groups to read come next.
fn share_of(groups: &[(usize, Group)]) -> usize {
    let mut bytes = 0;
    let fits = |(_, group): &&(usize, Group)| {
        bytes += group.bytes();
        bytes <= BYTES_AT_ONCE
    };
    groups.iter().take_while(fits).count().clamp(*AT_ONCE.start(), *AT_ONCE.end())
}

/// Keeps readers of large logs, while others are on their way to the screen.
fn keep_states_later(engine: &Engine, states: Vec<(String, StoredReader)>) {
    if !states.is_empty() {
        engine.write_later(move |catalog| {
            // A reader that is not kept begins again.
            let _kept = catalog.keep_states(&states);
        });
    }
}

/// Keeps rows, and forgets those that are gone, while others are on their way to the screen.
fn keep_later(engine: &Engine, roots: u64, new: Vec<CatalogRow>, gone: Vec<u64>) {
    if !(new.is_empty() && gone.is_empty()) {
        engine.write_later(move |catalog| {
            // What is not kept is read again.
            let _kept = catalog.keep(roots, &new, &gone);
        });
    }
}

/// A part of the work, of which only the whole is told.
#[derive(Debug)]
struct Share<'a> {
    progress: &'a dyn Progress,
    done: u64,
    total: u64,
}

impl Progress for Share<'_> {
    fn advance(&self, done: u64, _total: u64) {
        self.progress.advance(self.done + done, self.total);
    }

    fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }
}

/// Reads some groups, whatever is remembered of them: large logs from where they were read last, if they only grew.
pub(crate) fn recall_groups(
    engine: &Engine,
    disk: &DiskSnapshot,
    groups: Vec<Group>,
    progress: &dyn Progress,
    digest: impl Fn(&'static dyn recount_formats::Source, SessionFiles) -> Digest + Sync,
) -> Result<Vec<Digest>, Error> {
    let large = groups.iter().flat_map(|group| &group.files).any(|(_, file)| may_resume(file));
    let read = match large.then(|| engine.catalog()).flatten() {
        None => scan_files(disk, groups, &FullRead, progress, digest),
        Some(catalog) => {
            let growth = Growth::new(catalog, &engine.outlines);
            let read = scan_files(disk, groups, &growth, progress, digest);
            keep_states_later(engine, growth.take_states());
            read
        }
    };
    stop_if_cancelled(progress)?;
    Ok(read.into_iter().map(|(_, digest)| digest).collect())
}

impl Memory {
    /// Returns what is kept of each group, where it still holds.
    fn known(
        &self,
        disk: &DiskSnapshot,
        groups: &[Group],
        keys: &[(u64, u64)],
    ) -> Vec<Option<Vec<Digest>>> {
        let one = |(group, (key, stamp)): (&Group, &(u64, u64))| {
            let row = self.rows.get(key).filter(|row| row.stamp == *stamp)?;
            decode((*key, &row.content), group, disk)
        };
        if groups.len() < MANY {
            return groups.iter().zip(keys).map(one).collect();
        }
        let rows = &self.rows;
        let one = |(group, (key, stamp)): (&Group, &(u64, u64))| {
            let row = rows.get(key).filter(|row| row.stamp == *stamp)?;
            decode((*key, &row.content), group, disk)
        };
        let half = groups.len() / 2;
        let ((first, later), (first_keys, later_keys)) =
            (groups.split_at(half), keys.split_at(half));
        std::thread::scope(|scope| {
            let second =
                scope.spawn(move || later.iter().zip(later_keys).map(one).collect::<Vec<_>>());
            let mut all: Vec<_> = first.iter().zip(first_keys).map(one).collect();
            all.extend(second.join().unwrap_or_default());
            all
        })
    }
}

/// What tells a group of files from others, and what changes when one of them does.
pub(crate) fn key(group: &Group) -> (u64, u64) {
    let paths: Vec<_> = group.files.iter().map(|(_, file)| file.path.as_os_str()).collect();
    let stamps: Vec<_> = group.files.iter().map(|(_, file)| file.stamp).collect();
    (hash(&(group.source.name(), paths)), hash(&stamps))
}

pub(crate) fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Whether a file of a group had been written so short a time before it was looked at that it may have changed since
/// without a sign.
pub(crate) fn is_racy(group: &Group, disk: &DiskSnapshot) -> bool {
    group.files.iter().any(|(_, file)| disk.looked - file.stamp.nanos < RACY)
}
