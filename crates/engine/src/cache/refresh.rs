//! The catalog kept up to date: what has not changed is not read again.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SendError, SyncSender};
use std::thread::JoinHandle;

use recount_catalog::{Catalog, CatalogRow, StoredReader};
use recount_formats::source::{FileAt, SessionFiles};
use recount_formats::{Source, Sources};

use crate::cache::cached::{self, decode, encode};
use crate::cache::growth::{FullRead, Growth, may_resume};
use crate::cancel::stop_if_cancelled;
use crate::sessions::list::Digest;
use crate::snapshot::disk_scan::{DiskSnapshot, Group, Progress, scan_files, scan_groups};
use crate::stats::usage::{self, UsageKept};
use crate::{Engine, Error};

/// The catalog's file in our data folder.
pub(crate) const FILE: &str = "catalog.db";
/// A file that was written so short a time ago may be written again without a change that we can see.
pub(crate) const RACY: i128 = 2_000_000_000;
/// Number of groups from which a second thread pays.
const MANY: usize = 256;
/// The number of bytes of rows that wait before they are given to the writer.
const BYTES_AT_ONCE: usize = 512 * 1024;

/// The maximum number of changes that wait for the writer: a thread with another one waits, rather than keep it in memory.
const MOST_WAITING: usize = 4;

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
pub(crate) struct PendingWrites(Mutex<Option<CatalogWriter>>);

/// One change of the catalog.
type CatalogWrite = Box<dyn FnOnce(&mut Catalog) + Send>;

/// A thread that writes to the catalog, one change after the other, through one connection: when the last connection is
/// closed, everything is copied from the log into the catalog, and the disk is waited for.
#[derive(Debug)]
struct CatalogWriter {
    writes: SyncSender<CatalogWrite>,
    thread: JoinHandle<()>,
}

impl CatalogWriter {
    fn start(path: PathBuf, version: String) -> Self {
        let (writes, inbox) = mpsc::sync_channel::<CatalogWrite>(MOST_WAITING);
        let thread = std::thread::spawn(move || {
            // A catalog that cannot be written costs time, nothing else.
            let Ok(mut catalog) = Catalog::open(&path, &version) else { return };
            let _unmapped = catalog.unmap();
            for write in inbox {
                write(&mut catalog);
            }
        });
        Self { writes, thread }
    }
}

impl PendingWrites {
    /// Waits for all of them, and ends the writer.
    fn finish(&self) {
        let writer = self.0.lock().map(|mut writer| writer.take());
        if let Ok(Some(CatalogWriter { writes, thread })) = writer {
            drop(writes);
            // One that failed has written nothing, which costs time and nothing else.
            let _ended = thread.join();
        }
    }

    /// Waits for all that were given so far.
    fn wait(&self) {
        let (done, is_done) = mpsc::channel::<()>();
        let told = self.0.lock().is_ok_and(|writer| {
            let write = Box::new(move |_: &mut Catalog| drop(done));
            writer.as_ref().is_some_and(|writer| writer.writes.send(write).is_ok())
        });
        if told {
            // Ends when the other end is dropped, by the writer or with it.
            let _done = is_done.recv();
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
        let Ok(mut writer) = self.writing.0.lock() else { return };
        let start = || CatalogWriter::start(path.clone(), version(self.sources));
        let writing = writer.get_or_insert_with(start);
        // One that could not open the catalog has ended; perhaps it can be opened now.
        if let Err(SendError(write)) = writing.writes.send(Box::new(write)) {
            *writing = start();
            let _sent = writing.writes.send(write);
        }
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
        self.writing.wait();
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
    kept: UsageKept,
    progress: &dyn Progress,
    digest: impl Fn(&'static dyn Source, SessionFiles) -> Digest + Sync,
) -> Result<Vec<Digest>, Error> {
    let groups = disk.groups(|_, _| true);
    let Some(memory) = memory else {
        let read = scan_files(disk, &groups, &FullRead, progress, digest);
        stop_if_cancelled(progress)?;
        return Ok(read.into_iter().map(|(_, digest)| digest).collect());
    };
    let keys: Vec<(u64, u64)> = groups.iter().map(key).collect();
    let mut digests = memory.known(disk, &groups, &keys);
    let seen: HashSet<u64> = keys.iter().map(|(key, _)| *key).collect();
    let Memory { catalog, roots, rows } = memory;
    let gone: Vec<u64> = rows.into_keys().filter(|key| !seen.contains(key)).collect();
    let (numbers, changed): (Vec<usize>, Vec<Group>) = groups
        .into_iter()
        .enumerate()
        .filter(|(number, _)| digests.get(*number).is_none_or(Option::is_none))
        .unzip();
    let growth = Growth::new(catalog, &engine.outlines);
    let writes = RowWrites::new(engine, roots);
    let read = scan_groups(disk, &changed, &growth, progress, |at, group, sessions| {
        let read = sessions.into_iter().map(|session_files| digest(group.source, session_files));
        let mut found: Vec<Digest> = read.collect();
        if let Some((key, stamp)) = numbers.get(at).and_then(|number| keys.get(*number))
            && !is_racy(group, disk)
            && let Some(content) = encode(group, &found)
        {
            let usage_log = usage::take(&mut found, *key, kept);
            writes.add(CatalogRow { key: *key, stamp: *stamp, content, usage_log });
        }
        writes.add_states(growth.take_states());
        // The memory that it was collected in is that of the files, which takes more.
        found.shrink_to_fit();
        found
    });
    writes.finish(gone);
    stop_if_cancelled(progress)?;
    for (at, found) in read {
        if let Some(slot) = numbers.get(at).and_then(|number| digests.get_mut(*number)) {
            *slot = Some(found);
        }
    }
    Ok(digests.into_iter().flatten().flatten().collect())
}

/// Rows on their way to the catalog: what was read is written while more is read, so that it need not wait in memory.
#[derive(Debug)]
struct RowWrites<'a> {
    engine: &'a Engine,
    roots: u64,
    waiting: Mutex<Waiting>,
    /// Whether there was so much that some of it was written before the end.
    has_written: AtomicBool,
}

#[derive(Debug, Default)]
struct Waiting {
    rows: Vec<CatalogRow>,
    states: Vec<(String, StoredReader)>,
    bytes: usize,
}

impl<'a> RowWrites<'a> {
    fn new(engine: &'a Engine, roots: u64) -> Self {
        Self { engine, roots, waiting: Mutex::default(), has_written: AtomicBool::new(false) }
    }

    fn add(&self, row: CatalogRow) {
        self.change(|waiting| {
            waiting.bytes += row.content.len() + row.usage_log.content.len();
            waiting.rows.push(row);
        });
    }

    fn add_states(&self, states: Vec<(String, StoredReader)>) {
        if !states.is_empty() {
            self.change(|waiting| {
                waiting.bytes += states.iter().map(|(_, state)| state.content.len()).sum::<usize>();
                waiting.states.extend(states);
            });
        }
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        let Ok(mut waiting) = self.waiting.lock() else { return };
        change(&mut waiting);
        if waiting.bytes >= BYTES_AT_ONCE {
            let ready = std::mem::take(&mut *waiting);
            drop(waiting);
            self.has_written.store(true, Ordering::Relaxed);
            self.write(ready, Vec::new());
        }
    }

    fn write(&self, Waiting { rows, states, .. }: Waiting, gone: Vec<u64>) {
        let roots = self.roots;
        if !(rows.is_empty() && states.is_empty() && gone.is_empty()) {
            self.engine.write_later(move |catalog| {
                // What is not kept is read again; a reader that is not kept begins again.
                let _kept = catalog.keep(roots, &rows, &gone);
                let _also = catalog.keep_states(&states);
            });
        }
    }

    /// Writes the rest, and forgets rows that are gone.
    fn finish(&self, gone: Vec<u64>) {
        let waiting = self.waiting.lock().map(|mut waiting| std::mem::take(&mut *waiting));
        self.write(waiting.unwrap_or_default(), gone);
        if self.has_written.load(Ordering::Relaxed) {
            // Now, while the answer is put together, rather than when everybody waits for the catalog to be closed.
            self.engine.write_later(|catalog| {
                let _copied = catalog.copy_log();
            });
        }
    }
}

/// Reads some groups, whatever is remembered of them: large logs from where they were read last, if they only grew.
pub(crate) fn recall_groups<T: Send>(
    engine: &Engine,
    disk: &DiskSnapshot,
    groups: &[Group],
    progress: &dyn Progress,
    digest: impl Fn(&'static dyn Source, SessionFiles) -> T + Sync,
) -> Result<Vec<T>, Error> {
    let large = groups.iter().flat_map(|group| &group.files).any(|(_, file)| may_resume(file));
    let read = match large.then(|| engine.catalog()).flatten() {
        None => scan_files(disk, groups, &FullRead, progress, digest),
        Some(catalog) => {
            let growth = Growth::new(catalog, &engine.outlines);
            let writes = RowWrites::new(engine, engine.roots_key());
            // The reader of a large log is as large as its outline: each is passed on as soon as it is there.
            let read = scan_files(disk, groups, &growth, progress, |source, session_files| {
                writes.add_states(growth.take_states());
                digest(source, session_files)
            });
            writes.add_states(growth.take_states());
            writes.finish(Vec::new());
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
        // The catalog beside them cannot be shared between threads.
        let rows = &self.rows;
        let one = |(group, (key, stamp)): (&Group, &(u64, u64))| {
            let row = rows.get(key).filter(|row| row.stamp == *stamp)?;
            decode((*key, &row.content), group, disk)
        };
        if groups.len() < MANY {
            return groups.iter().zip(keys).map(one).collect();
        }
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
    key_of(group.source, group.files.iter().map(|(_, file)| &**file))
}

fn key_of<'a>(source: &dyn Source, files: impl Iterator<Item = &'a FileAt> + Clone) -> (u64, u64) {
    let paths: Vec<_> = files.clone().map(|file| file.path.as_os_str()).collect();
    let stamps: Vec<_> = files.map(|file| file.stamp).collect();
    (hash(&(source.name(), paths)), hash(&stamps))
}

impl DiskSnapshot {
    /// Returns the [`key`] of each group, without copies of what was listed.
    pub(crate) fn group_keys(&self) -> Vec<(u64, u64)> {
        let mut groups: HashMap<(&str, &str), (&dyn Source, Vec<&FileAt>)> = HashMap::new();
        for folder in &self.folders {
            for file in &folder.at.files {
                let key = (folder.source.name().as_str(), file.group.as_str());
                groups.entry(key).or_insert_with(|| (folder.source, Vec::new())).1.push(file);
            }
        }
        let keys = groups.into_values();
        keys.map(|(source, files)| key_of(source, files.iter().copied())).collect()
    }
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
