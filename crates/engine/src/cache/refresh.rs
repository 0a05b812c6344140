//! The catalog kept up to date: what has not changed is not read again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};

use recount_catalog::{Catalog, Row};
use recount_formats::Sources;
use recount_formats::source::Family;
use recount_platform::system_nanos;

use crate::cache::cached::{self, decode, encode};
use crate::cache::growth::{Anew, Growth};
use crate::sessions::list::Digest;
use crate::snapshot::survey::{Ground, Group, Progress, survey};
use crate::stats::ledger;
use crate::{Engine, Error};

/// The catalog's file in our data folder.
pub(crate) const FILE: &str = "catalog.db";
/// A file that was written so short a time ago may be written again without a change that we can see.
pub(crate) const RACY: i128 = 2_000_000_000;
/// From so many groups on a second thread pays.
const MANY: usize = 256;

/// What the catalog holds of some roots.
#[derive(Debug)]
pub(crate) struct Memory {
    catalog: Catalog,
    roots: u64,
    rows: HashMap<u64, Row>,
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
        let Ok(mut writing) = self.writing.lock() else { return };
        // One after the other.
        let (before, sources) = (std::mem::take(&mut *writing), self.sources);
        writing.push(std::thread::spawn(move || {
            for handle in before {
                let _ended = handle.join();
            }
            // A catalog that cannot be written costs time, nothing else.
            if let Ok(mut catalog) = Catalog::open(&path, &version(sources)) {
                write(&mut catalog);
            }
        }));
    }

    fn catalog_path(&self) -> Option<PathBuf> {
        self.folders.data.as_ref().map(|folder| folder.join(FILE))
    }

    /// Waits for what is being written to the catalog.
    pub(crate) fn finish_writing(&self) {
        let handles = self.writing.lock().map(|mut writing| std::mem::take(&mut *writing));
        for handle in handles.unwrap_or_default() {
            // One that failed has written nothing, which costs time and nothing else.
            let _ended = handle.join();
        }
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
    ground: &Ground,
    memory: Option<Memory>,
    progress: &dyn Progress,
    digest: impl Fn(&'static dyn recount_formats::Source, Family) -> Digest + Sync,
) -> Vec<Digest> {
    let groups = ground.groups(|_, _| true);
    let Some(memory) = memory else {
        return survey(ground, groups, &Anew, progress, digest)
            .into_iter()
            .map(|(_, digest)| digest)
            .collect();
    };
    let keys: Vec<(u64, u64)> = groups.iter().map(key).collect();
    let mut digests = memory.known(ground, &groups, &keys);
    let is_known = |number: usize| digests.get(number).is_some_and(Option::is_some);
    let (numbers, changed): (Vec<usize>, Vec<Group>) = groups
        .iter()
        .enumerate()
        .filter(|(number, _)| !is_known(*number))
        .map(|(n, group)| (n, group.clone()))
        .unzip();
    let growth = Growth::new(memory.catalog, &engine.outlines);
    let mut read: BTreeMap<usize, Vec<Digest>> = BTreeMap::new();
    for (at, digest) in survey(ground, changed, &growth, progress, digest) {
        read.entry(numbers.get(at).copied().unwrap_or_default()).or_default().push(digest);
    }
    let mut new = Vec::new();
    for number in numbers {
        let mut found = read.remove(&number).unwrap_or_default();
        if let (Some(group), Some((key, stamp))) = (groups.get(number), keys.get(number))
            && !is_racy(group)
            && let Some(content) = encode(group, &found.iter().collect::<Vec<_>>())
        {
            let ledger = ledger::take(&mut found, *key);
            new.push(Row { key: *key, stamp: *stamp, content, ledger });
        }
        if let Some(slot) = digests.get_mut(number) {
            *slot = Some(found);
        }
    }
    let seen: HashSet<u64> = keys.iter().map(|(key, _)| *key).collect();
    let gone: Vec<u64> = memory.rows.keys().filter(|key| !seen.contains(key)).copied().collect();
    let states = growth.into_states();
    if !(new.is_empty() && gone.is_empty() && states.is_empty()) {
        let roots = memory.roots;
        // The rows are on their way to the screen meanwhile.
        engine.write_later(move |catalog| {
            let _kept =
                catalog.keep(roots, &new, &gone).and_then(|()| catalog.keep_states(&states));
        });
    }
    digests.into_iter().flatten().flatten().collect()
}

impl Memory {
    /// Returns what is kept of each group, where it still holds.
    fn known(
        &self,
        ground: &Ground,
        groups: &[Group],
        keys: &[(u64, u64)],
    ) -> Vec<Option<Vec<Digest>>> {
        let one = |(group, (key, stamp)): (&Group, &(u64, u64))| {
            let row = self.rows.get(key).filter(|row| row.stamp == *stamp)?;
            decode((*key, &row.content), group, ground)
        };
        if groups.len() < MANY {
            return groups.iter().zip(keys).map(one).collect();
        }
        let rows = &self.rows;
        let one = |(group, (key, stamp)): (&Group, &(u64, u64))| {
            let row = rows.get(key).filter(|row| row.stamp == *stamp)?;
            decode((*key, &row.content), group, ground)
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

pub(crate) fn is_racy(group: &Group) -> bool {
    let now = system_nanos();
    group.files.iter().any(|(_, file)| now - file.stamp.nanos < RACY)
}
