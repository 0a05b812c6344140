//! Indexes changed sessions, newest first, on all cores.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use recount_catalog::{Catalog, IndexedSession as Row, ListRow};
use recount_formats::bytes::Buffer;
use recount_search::{Index, Writer};

use super::session::Reader;
use super::{FIRST, IndexReport, MEMORY, OFTEN, session_key};
use crate::Error;
use crate::cache::growth::Reading;
use crate::cache::refresh::{hash, key};
use crate::cache::remembered;
use crate::cancel::stop_if_cancelled;
use crate::sessions::list::Digest;
use crate::snapshot::disk_scan::{DiskSnapshot, Progress};

/// A session whose current state is not in the index.
pub(crate) struct Stale<'a> {
    pub(crate) digest: &'a Digest,
    pub(crate) key: u64,
    pub(super) stamp: u64,
    /// The key of the group of its files; 0 if there are several.
    pub(super) files: u64,
}

/// What is needed to update an index.
pub(crate) struct Work<'a> {
    pub(crate) index: &'a Index,
    /// The mark of its commits.
    pub(crate) mark: String,
    pub(crate) catalog: &'a mut Catalog,
    pub(crate) roots: u64,
    pub(crate) reading: &'a dyn Reading,
    pub(crate) disk: &'a DiskSnapshot,
    pub(crate) digests: &'a [Digest],
    pub(crate) progress: &'a dyn Progress,
    /// Whether an index that has messages gets only merges that take a fraction of a second, as somebody waits for it.
    pub(crate) is_short: bool,
}

/// A build that was begun: its writer, which keeps others from writing, and what was done.
pub(super) struct Begun {
    writer: Writer,
    has_words: bool,
    done: IndexReport,
}

impl Begun {
    /// Ends the build. A first one leaves its segments as they are: later updates merge them.
    pub(super) fn end(self) -> Result<(), Error> {
        if self.has_words {
            self.writer.settle()?;
        }
        Ok(())
    }
}

/// Lists the sessions whose current state is not in the index, most recent first.
pub(crate) fn stale<'a>(
    digests: &'a [Digest],
    known: &HashMap<u64, Row>,
    disk: &DiskSnapshot,
) -> Vec<Stale<'a>> {
    let mut stale: Vec<Stale<'a>> = digests
        .iter()
        .map(|digest| {
            let files = digest.files.iter().map(|file| (file.at.path.as_os_str(), file.at.stamp));
            let stamp = hash(&files.collect::<Vec<_>>());
            let key = session_key(&digest.facts);
            Stale { digest, key, stamp, files: 0 }
        })
        .filter(|stale| known.get(&stale.key).map(|row| row.stamp) != Some(stale.stamp))
        .collect();
    if !stale.is_empty() {
        let groups = group_keys(disk);
        for stale in &mut stale {
            let mut keys = stale.digest.files.iter().map(|file| groups.get(&*file.at.path));
            let first = keys.next().flatten();
            let alone = keys.all(|key| key == first);
            stale.files = first.copied().filter(|_| alone).unwrap_or_default();
        }
    }
    stale.sort_by_key(|stale| std::cmp::Reverse(stale.digest.facts.updated));
    stale
}

/// Returns the key of the group of each file.
fn group_keys(disk: &DiskSnapshot) -> HashMap<PathBuf, u64> {
    let mut keys = HashMap::new();
    for group in disk.groups(|_, _| true) {
        let (key, _) = key(&group);
        keys.extend(group.files.into_iter().map(|(_, file)| (file.path.clone(), key)));
    }
    keys
}

/// Lists the indexed sessions that are no longer on disk.
pub(super) fn gone(digests: &[Digest], known: &HashMap<u64, Row>) -> Vec<u64> {
    let key = |digest: &Digest| session_key(&digest.facts);
    let there: HashSet<u64> = digests.iter().map(key).collect();
    let mut gone: Vec<u64> = known.keys().filter(|key| !there.contains(key)).copied().collect();
    gone.sort_unstable();
    gone
}

/// Shared by the threads that read and the one that commits.
struct Round<'a> {
    stale: &'a [Stale<'a>],
    /// Whether anything was in the index at the start: the catalog may not know about an interrupted run.
    has_words: bool,
    reader: Reader<'a>,
    progress: &'a dyn Progress,
    /// The bytes of all files to be read.
    total: u64,
    next: AtomicUsize,
    bytes: AtomicU64,
    messages: AtomicU64,
    /// Read and passed on, not yet committed.
    done: Mutex<Vec<(Row, Option<ListRow>)>>,
    fault: Mutex<Option<Error>>,
}

impl Work<'_> {
    /// Indexes the sessions that changed since they were last indexed. Returns what is needed to go on, too.
    pub(super) fn update(
        self,
        earlier: Option<Begun>,
    ) -> Result<(IndexReport, Option<Begun>), Error> {
        let known = self.catalog.indexed(self.roots)?;
        let stale = stale(self.digests, &known, self.disk);
        let mut done = earlier.as_ref().map(|earlier| earlier.done).unwrap_or_default();
        done.unchanged = (self.digests.len() - stale.len()).saturating_sub(done.sessions);
        if stale.is_empty() {
            return Ok((done, earlier));
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        let is_begun = earlier.is_some();
        let (mut writer, has_words) = if let Some(earlier) = earlier {
            (earlier.writer, earlier.has_words)
        } else {
            let has_words = self.index.searcher().messages() > 0;
            let writer = self.index.writer(MEMORY, threads, &self.mark)?;
            if has_words && self.is_short {
                writer.merge_shortly();
            }
            (writer, has_words)
        };
        let round = Round {
            stale: &stale,
            has_words,
            reader: Reader { disk: self.disk, reading: self.reading, known: &known },
            progress: self.progress,
            total: stale.iter().map(|stale| stale.digest.facts.bytes()).sum(),
            next: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            messages: AtomicU64::new(0),
            done: Mutex::default(),
            fault: Mutex::default(),
        };
        let began = Instant::now();
        let mut committed = began;
        while round.next.load(Ordering::Relaxed) < stale.len() {
            let is_first = committed == began && !is_begun;
            let until = committed + if is_first { FIRST } else { OFTEN };
            std::thread::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(|| round.work(&writer, until));
                }
                round.work(&writer, until);
            });
            // Everything up to here is committed by the thread that waited for the others.
            round.commit(&mut writer, self.catalog, self.roots)?;
            committed = Instant::now();
        }
        done.sessions += stale.len();
        done.messages += round.messages.into_inner();
        done.bytes += round.total;
        Ok((done, Some(Begun { writer, has_words, done })))
    }
}

impl Round<'_> {
    /// Indexes sessions until none is left or it is time to commit.
    fn work(&self, writer: &Writer, until: Instant) {
        let mut buffer = Buffer::new();
        while Instant::now() < until {
            let Some(stale) = self.stale.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            let added = stop_if_cancelled(self.progress)
                .and_then(|()| self.session(writer, stale, &mut buffer));
            if let Err(error) = added {
                if let Ok(mut fault) = self.fault.lock() {
                    fault.get_or_insert(error);
                }
                self.next.store(usize::MAX / 2, Ordering::Relaxed);
                break;
            }
            let bytes = stale.digest.facts.bytes();
            let done = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
            self.progress.advance(done, self.total);
        }
    }

    fn session(
        &self,
        writer: &Writer,
        stale: &Stale<'_>,
        buffer: &mut Buffer,
    ) -> Result<(), Error> {
        let read = self.reader.read(stale, buffer);
        if !read.is_grown && (self.has_words || self.reader.known.contains_key(&stale.key)) {
            writer.delete_session(stale.key);
        }
        let mut fault = None;
        let is_whole = read.each(stale, &mut |document| {
            if read.is_grown {
                writer.delete_message(document.message);
            }
            self.messages.fetch_add(1, Ordering::Relaxed);
            let added = writer.add(document);
            fault = added.err();
            fault.is_none()
        });
        if let Some(fault) = fault {
            return Err(fault.into());
        }
        let folder = self.reader.disk.folders.get(stale.digest.folder);
        let listed =
            folder.and_then(|folder| remembered::encode(&stale.digest.facts, &folder.at.path));
        if let Ok(mut done) = self.done.lock() {
            done.push((read.row(stale, is_whole), listed));
        }
        Ok(())
    }

    /// Commits what was indexed. After a crash between the two it is only done again.
    fn commit(&self, writer: &mut Writer, catalog: &mut Catalog, roots: u64) -> Result<(), Error> {
        if let Some(fault) = self.fault.lock().ok().and_then(|mut fault| fault.take()) {
            return Err(fault);
        }
        writer.commit()?;
        let done = self.done.lock().map(|mut done| std::mem::take(&mut *done)).unwrap_or_default();
        let (rows, listed): (Vec<Row>, Vec<Option<ListRow>>) = done.into_iter().unzip();
        catalog.set_indexed(roots, &rows)?;
        // A finished list has better rows of them.
        let is_listed =
            catalog.list(roots)?.is_some_and(|list| list.shape == self.reader.disk.shape());
        if !is_listed {
            catalog.keep_listed(roots, &listed.into_iter().flatten().collect::<Vec<_>>())?;
        }
        Ok(())
    }
}
