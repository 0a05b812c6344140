//! Keeps the fact file up to date: changed sessions are read again, newest first.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use recount_catalog::Error as Fault;
use recount_catalog::facts::{FactFile, SessionRows};
use recount_formats::bytes::Buffer;

use super::rows::rows;
use crate::cache::growth::{FullRead, Growth, Reading};
use crate::cache::refresh::{hash, is_racy, version};
use crate::cancel::stop_if_cancelled;
use crate::sessions::list::Digest;
use crate::snapshot::disk_scan::{DiskSnapshot, Group, Progress};
use crate::{Engine, Error};

/// The folder of fact files in recount's data folder.
const FOLDER: &str = "facts";
/// Raised with every change to the content of the tables.
const ROWS: u32 = 3;
/// How long to wait for another run that is filling the file.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The interval between commits,
const OFTEN: Duration = Duration::from_millis(500);
/// or the number of messages between them.
const MANY: usize = 20_000;
/// The maximum number of sessions that wait to be written: they are in memory.
const WAITING: usize = 4;

/// A session whose current state is not in the file.
struct Stale<'a> {
    digest: &'a Digest,
    group: Group,
    key: u64,
    stamp: u64,
}

impl Engine {
    /// Updates the fact file and returns its path, and whether another run is writing it.
    pub(super) fn fresh_facts(
        &self,
        disk: &DiskSnapshot,
        digests: &[Digest],
        progress: &dyn Progress,
    ) -> Result<(Option<PathBuf>, bool), Error> {
        let data = self.folders.data.as_ref().ok_or(Error::NoDataFolder)?;
        let folder = data.join(FOLDER);
        recount_writer::create_private_folder(data)?;
        recount_writer::create_private_folder(&folder)?;
        let path = folder.join(format!("{:016x}.db", self.roots_key()));
        let updated = match self.update_facts(&path, disk, digests, progress) {
            Err(Error::Catalog(Fault::Damaged(_))) => {
                remove(&path)?;
                self.update_facts(&path, disk, digests, progress)
            }
            updated => updated,
        };
        let is_behind = match updated {
            Ok(()) => false,
            Err(
                Error::Catalog(Fault::Busy(_)) | Error::Write(recount_writer::Error::Busy { .. }),
            ) => true,
            Err(error) => return Err(error),
        };
        Ok((Some(path), is_behind))
    }

    fn update_facts(
        &self,
        path: &Path,
        disk: &DiskSnapshot,
        digests: &[Digest],
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let version = format!("{ROWS}/{}", version(self.sources));
        recount_writer::create_private_file(path);
        let mut file = FactFile::open(path, &version)?;
        let sessions: Vec<Stale<'_>> =
            digests.iter().filter_map(|digest| session(disk, digest)).collect();
        if is_fresh(&sessions, &file.stamps()?) && file.knows_copies()? {
            return Ok(());
        }
        let _turn = recount_writer::lock(path, TIMEOUT)?;
        // Another run may have done it meanwhile.
        let known = file.stamps()?;
        let keys: HashSet<u64> = sessions.iter().map(|session| session.key).collect();
        let mut gone: Vec<u64> = known.keys().filter(|key| !keys.contains(key)).copied().collect();
        gone.sort_unstable();
        file.forget(&gone)?;
        let mut stale = sessions;
        stale.retain(|session| known.get(&session.key) != Some(&session.stamp));
        stale.sort_by_key(|stale| std::cmp::Reverse(stale.digest.facts.updated));
        match self.catalog().map(|catalog| Growth::new(catalog, &self.outlines)) {
            Some(growth) => fill(&mut file, disk, &stale, &growth, progress)?,
            None => fill(&mut file, disk, &stale, &FullRead, progress)?,
        }
        Ok(file.find_copies()?)
    }
}

/// Removes a fact file: it can be rebuilt.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    for beside in ["", "-wal", "-shm"] {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(beside);
        recount_writer::remove(&path.with_file_name(name))?;
    }
    Ok(())
}

fn is_fresh(sessions: &[Stale<'_>], known: &HashMap<u64, u64>) -> bool {
    sessions.len() == known.len()
        && sessions.iter().all(|session| known.get(&session.key) == Some(&session.stamp))
}

/// Returns the key of a session, and a stamp that changes when one of its files does.
fn session<'a>(disk: &DiskSnapshot, digest: &'a Digest) -> Option<Stale<'a>> {
    let source = disk.folders.get(digest.folder)?.source;
    let files: Vec<_> = digest.files.iter().map(|file| (file.folder, file.at.clone())).collect();
    let facts = &digest.facts;
    let key = {
        let paths: Vec<_> = files.iter().map(|(_, file)| file.path.as_os_str()).collect();
        hash(&(facts.source.as_str(), facts.id.as_str(), paths))
    };
    let stamp = hash(&files.iter().map(|(_, file)| file.stamp).collect::<Vec<_>>());
    Some(Stale { digest, group: Group { source, files }, key, stamp })
}

/// Reads stale sessions on all cores, and writes them here.
fn fill(
    file: &mut FactFile,
    disk: &DiskSnapshot,
    stale: &[Stale<'_>],
    reading: &dyn Reading,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(stale.len());
    let (sender, receiver) = sync_channel(WAITING);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || read(disk, stale, reading, next, &sender));
        }
        drop(sender);
        let written = write(file, &receiver, stale, progress);
        // Readers notice that the receiver is gone.
        drop(receiver);
        written
    })
}

fn read(
    disk: &DiskSnapshot,
    stale: &[Stale<'_>],
    reading: &dyn Reading,
    next: &AtomicUsize,
    sender: &SyncSender<(u64, SessionRows)>,
) {
    let mut buffer = Buffer::new();
    while let Some(stale) = stale.get(next.fetch_add(1, Ordering::Relaxed)) {
        let bytes = stale.digest.facts.bytes();
        // The receiver is gone if writing failed: then there is no point in continuing.
        if sender.send((bytes, one(disk, stale, reading, &mut buffer))).is_err() {
            return;
        }
    }
}

fn one(
    disk: &DiskSnapshot,
    stale: &Stale<'_>,
    reading: &dyn Reading,
    buffer: &mut Buffer,
) -> SessionRows {
    let facts = &stale.digest.facts;
    let folder = disk.folders.get(stale.digest.folder).map(|folder| &folder.at.path);
    let session_files = stale.group.session_files(&facts.id, disk, reading, buffer);
    let (files, messages) = session_files
        .map(|session_files| {
            let folder = folder.map(PathBuf::as_path);
            rows(stale.group.source, &session_files, folder, facts.started)
        })
        .unwrap_or_default();
    SessionRows {
        key: stale.key,
        // What may change again without a visible change is read again.
        stamp: if is_racy(&stale.group, disk) { 0 } else { stale.stamp },
        source: facts.source.as_str(),
        id: facts.id.as_str().to_owned(),
        folder: folder.map(|folder| folder.to_string_lossy().into_owned()),
        began: facts.started.map(jiff::Timestamp::as_millisecond),
        ended: facts.updated.map(jiff::Timestamp::as_millisecond),
        is_background: facts.is_background,
        files,
        messages,
    }
}

fn write(
    file: &mut FactFile,
    receiver: &Receiver<(u64, SessionRows)>,
    stale: &[Stale<'_>],
    progress: &dyn Progress,
) -> Result<(), Error> {
    let total: u64 = stale.iter().map(|stale| stale.digest.facts.bytes()).sum();
    let (mut done, mut messages) = (0, 0);
    let mut batch = Vec::new();
    let mut last = Instant::now();
    for (bytes, session) in receiver {
        stop_if_cancelled(progress)?;
        done += bytes;
        messages += session.messages.len();
        batch.push(session);
        if messages >= MANY || last.elapsed() >= OFTEN {
            file.keep(&batch)?;
            batch.clear();
            messages = 0;
            last = Instant::now();
        }
        progress.advance(done, total);
    }
    Ok(file.keep(&batch)?)
}
