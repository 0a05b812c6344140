//! The catalog kept up to date: what has not changed is not read again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::PathBuf;

use recount_catalog::{Catalog, Error as Fault, Row};
use recount_formats::SOURCES;
use recount_formats::source::Family;
use recount_platform::system_nanos;

use crate::Engine;
use crate::cached::{self, decode, encode};
use crate::growth::{Anew, Growth};
use crate::list::Digest;
use crate::survey::{Ground, Group, Progress, survey};

/// The catalog's file in our data folder.
const FILE: &str = "catalog.db";
/// A file that was written so short a time ago may be written again without a change that we can see.
const RACY: i128 = 2_000_000_000;
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

    /// Writes to the catalog while other work goes on.
    fn write_later(&self, write: impl FnOnce() + Send + 'static) {
        let handle = std::thread::spawn(write);
        if let Ok(mut writing) = self.writing.lock() {
            writing.push(handle);
        }
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

    /// Opens the catalog's file, or makes it again when it is damaged.
    pub(crate) fn catalog(&self) -> Option<Catalog> {
        self.finish_writing();
        let folder = self.folders.data.as_ref()?;
        let path = folder.join(FILE);
        recount_writer::create_private_folder(folder).ok()?;
        match Catalog::open(&path, &version()) {
            Err(Fault::Damaged(_)) => {
                for beside in ["", "-wal", "-shm"] {
                    recount_writer::remove(&PathBuf::from(format!("{}{beside}", path.display())))
                        .ok()?;
                }
                Catalog::open(&path, &version()).ok()
            }
            opened => opened.ok(),
        }
    }
}

/// What is kept under another version is not understood.
pub(crate) fn version() -> String {
    let sources = SOURCES.iter().map(|source| format!("{}{}", source.name(), source.version()));
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
    let groups = ground.groups(|_| true);
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
    let growth = Growth::new(memory.catalog);
    let mut read: BTreeMap<usize, Vec<Digest>> = BTreeMap::new();
    for (at, digest) in survey(ground, changed, &growth, progress, digest) {
        read.entry(numbers.get(at).copied().unwrap_or_default()).or_default().push(digest);
    }
    let mut new = Vec::new();
    for number in numbers {
        let found = read.remove(&number).unwrap_or_default();
        if let (Some(group), Some((key, stamp))) = (groups.get(number), keys.get(number))
            && !is_racy(group)
            && let Some(content) = encode(group, &found.iter().collect::<Vec<_>>())
        {
            new.push(Row { key: *key, stamp: *stamp, content });
        }
        if let Some(slot) = digests.get_mut(number) {
            *slot = Some(found);
        }
    }
    let seen: HashSet<u64> = keys.iter().map(|(key, _)| *key).collect();
    let gone: Vec<u64> = memory.rows.keys().filter(|key| !seen.contains(key)).copied().collect();
    if let Some((mut catalog, states)) = growth.into_parts()
        && !(new.is_empty() && gone.is_empty() && states.is_empty())
    {
        let roots = memory.roots;
        // Nobody waits for it: the rows are on their way to the screen meanwhile.
        engine.write_later(move || {
            // A catalog that cannot be written costs time, nothing else.
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
            decode(&row.content, group, ground)
        };
        if groups.len() < MANY {
            return groups.iter().zip(keys).map(one).collect();
        }
        let rows = &self.rows;
        let one = |(group, (key, stamp)): (&Group, &(u64, u64))| {
            let row = rows.get(key).filter(|row| row.stamp == *stamp)?;
            decode(&row.content, group, ground)
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
