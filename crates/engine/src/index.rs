//! The search index kept up to date: sessions that changed are indexed again, newest first.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use recount_catalog::{Catalog, Indexed as Row};
use recount_formats::Source;
use recount_formats::bytes::Buffer;
use recount_formats::source::Family;
use recount_model::{Message, SessionFacts, SessionId, SourceName};
use recount_search::{Document, Index, Writer};
use serde::Serialize;

use crate::growth::{Growth, Reading};
use crate::list::Digest;
use crate::messages::{Messages, View};
use crate::refresh::{hash, key};
use crate::survey::{Ground, Group, Progress};
use crate::wording::Wording;
use crate::{Engine, Error};

/// The index's folder in our data folder.
const FOLDER: &str = "search";
/// Memory for the index's own buffers.
const MEMORY: usize = 160 * 1024 * 1024;
/// The newest sessions can be searched after this time, while the others are still being indexed.
const FIRST: Duration = Duration::from_millis(1500);
/// After that, what is indexed is made safe this often.
const OFTEN: Duration = Duration::from_secs(20);

/// What became of the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Indexed {
    /// Sessions that were indexed now.
    pub sessions: usize,
    /// Messages in them.
    pub messages: u64,
    /// Bytes of their files.
    pub bytes: u64,
    /// Sessions that were indexed before and have not changed.
    pub unchanged: usize,
}

/// What is in the index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IndexStatus {
    /// Sessions there are.
    pub sessions: usize,
    /// Of these, those that are indexed as they are now.
    pub indexed: usize,
    /// Of these, those that are not.
    pub stale: usize,
    /// Sessions that are indexed and whose files are gone.
    pub gone: usize,
    /// Messages in the index.
    pub messages: u64,
    /// Its size.
    pub bytes: u64,
    /// Where it lies.
    pub folder: PathBuf,
}

/// A session to be indexed.
struct Stale<'a> {
    digest: &'a Digest,
    key: u64,
    stamp: u64,
    /// The key of the group in which its files lie; nought when there are several.
    files: u64,
}

/// Returns what stands for a session in the index.
pub(crate) fn session_key(source: SourceName, id: &SessionId) -> u64 {
    hash(&(source.as_str(), id.as_str()))
}

/// Returns what stands for a file in the index.
pub(crate) fn file_key(path: &str) -> u64 {
    hash(&path)
}

impl Engine {
    /// Brings the search index up to date.
    ///
    /// # Errors
    /// If there is no place for it, or it cannot be written.
    pub fn index(&self, progress: &dyn Progress) -> Result<Indexed, Error> {
        let (ground, digests) = self.digests(progress);
        let mut catalog = self.catalog().ok_or(Error::NoDataFolder)?;
        let index = self.open_index(&mut catalog)?;
        let growth = Growth::new(self.catalog().ok_or(Error::NoDataFolder)?);
        let indexed =
            update(&index, (&mut catalog, self.roots_key(), &growth), &ground, &digests, progress)?;
        self.mark_indexed(&catalog, &ground);
        Ok(indexed)
    }

    /// Makes the search index again.
    ///
    /// # Errors
    /// As [`Engine::index`].
    pub fn rebuild_index(&self, progress: &dyn Progress) -> Result<Indexed, Error> {
        let mut catalog = self.catalog().ok_or(Error::NoDataFolder)?;
        catalog.clear_indexed(self.roots_key())?;
        Index::rebuild(&self.index_folder()?)?;
        drop(catalog);
        self.index(progress)
    }

    /// Tells what is in the index.
    ///
    /// # Errors
    /// If there is no place for it, or it cannot be read.
    pub fn index_status(&self, progress: &dyn Progress) -> Result<IndexStatus, Error> {
        let (ground, digests) = self.digests(progress);
        let mut catalog = self.catalog().ok_or(Error::NoDataFolder)?;
        let index = self.open_index(&mut catalog)?;
        let known = catalog.indexed(self.roots_key())?;
        let stale = stale(&digests, &known, &ground).len();
        let folder = self.index_folder()?;
        let size = |entry: std::fs::DirEntry| entry.metadata().map_or(0, |metadata| metadata.len());
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        Ok(IndexStatus {
            sessions: digests.len(),
            indexed: digests.len() - stale,
            stale,
            gone: gone(&digests, &known).len(),
            messages: index.searcher().messages(),
            bytes: entries.map(size).sum(),
            folder,
        })
    }

    /// Forgets sessions whose files are gone, and says how many there were.
    ///
    /// # Errors
    /// If the index or the catalog cannot be written.
    pub fn forget_gone(&self, progress: &dyn Progress) -> Result<usize, Error> {
        let (_, digests) = self.digests(progress);
        let mut catalog = self.catalog().ok_or(Error::NoDataFolder)?;
        let index = self.open_index(&mut catalog)?;
        let gone = gone(&digests, &catalog.indexed(self.roots_key())?);
        if !gone.is_empty() {
            let mut writer = index.writer(MEMORY, 1)?;
            for session in &gone {
                writer.delete_session(*session);
            }
            writer.commit()?;
            catalog.unset_indexed(self.roots_key(), &gone)?;
        }
        catalog.forget_gone()?;
        Ok(gone.len())
    }

    /// Opens the index, and makes it again when it is damaged or of another version.
    pub(crate) fn open_index(&self, catalog: &mut Catalog) -> Result<Index, Error> {
        let folder = self.index_folder()?;
        match Index::open(&folder) {
            Err(recount_search::Error::Stale { .. }) => {
                catalog.clear_indexed(self.roots_key())?;
                Ok(Index::rebuild(&folder)?)
            }
            opened => Ok(opened?),
        }
    }

    fn index_folder(&self) -> Result<PathBuf, Error> {
        let data = self.folders.data.as_ref().ok_or(Error::NoDataFolder)?;
        // Each home has an index of its own: what is counted in one is not counted in another.
        let folder = data.join(FOLDER).join(format!("{:016x}", self.roots_key()));
        recount_writer::create_private_folder(data)?;
        recount_writer::create_private_folder(&folder)?;
        Ok(folder)
    }
}

/// Indexes the sessions that changed since they were last indexed.
pub(crate) fn update(
    index: &Index,
    (catalog, roots, reading): (&mut Catalog, u64, &dyn Reading),
    ground: &Ground,
    digests: &[Digest],
    progress: &dyn Progress,
) -> Result<Indexed, Error> {
    let known = catalog.indexed(roots)?;
    let stale = stale(digests, &known, ground);
    let unchanged = digests.len() - stale.len();
    if stale.is_empty() {
        return Ok(Indexed { unchanged, ..Indexed::default() });
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let mut writer = index.writer(MEMORY, threads)?;
    let mut report = run(&mut writer, (catalog, roots, reading), ground, &stale, &known, progress)?;
    report.unchanged = unchanged;
    Ok(report)
}

/// Lists the sessions that are not in the index as they are now, last used first.
fn stale<'a>(digests: &'a [Digest], known: &HashMap<u64, Row>, ground: &Ground) -> Vec<Stale<'a>> {
    let mut stale: Vec<Stale<'a>> = digests
        .iter()
        .map(|digest| {
            let files = digest.files.iter().map(|file| (file.at.path.as_os_str(), file.at.stamp));
            let stamp = hash(&files.collect::<Vec<_>>());
            let key = session_key(digest.facts.source, &digest.facts.id);
            Stale { digest, key, stamp, files: 0 }
        })
        .filter(|stale| known.get(&stale.key).map(|row| row.stamp) != Some(stale.stamp))
        .collect();
    if !stale.is_empty() {
        let groups = group_keys(ground);
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

/// The key of the group in which each file lies.
fn group_keys(ground: &Ground) -> HashMap<PathBuf, u64> {
    let mut keys = HashMap::new();
    for group in ground.groups(|_| true) {
        let (key, _) = key(&group);
        keys.extend(group.files.into_iter().map(|(_, file)| (file.path, key)));
    }
    keys
}

/// Lists the sessions that are in the index and no longer on disk.
fn gone(digests: &[Digest], known: &HashMap<u64, Row>) -> Vec<u64> {
    let key = |digest: &Digest| session_key(digest.facts.source, &digest.facts.id);
    let there: HashSet<u64> = digests.iter().map(key).collect();
    let mut gone: Vec<u64> = known.keys().filter(|key| !there.contains(key)).copied().collect();
    gone.sort_unstable();
    gone
}

/// What the threads that read and the one that commits share.
struct Round<'a> {
    stale: &'a [Stale<'a>],
    reading: &'a dyn Reading,
    known: &'a HashMap<u64, Row>,
    next: AtomicUsize,
    bytes: AtomicU64,
    messages: AtomicU64,
    /// Read and handed over, not yet safe.
    done: Mutex<Vec<Row>>,
    fault: Mutex<Option<Error>>,
}

fn run(
    writer: &mut Writer,
    (catalog, roots, reading): (&mut Catalog, u64, &dyn Reading),
    ground: &Ground,
    stale: &[Stale<'_>],
    known: &HashMap<u64, Row>,
    progress: &dyn Progress,
) -> Result<Indexed, Error> {
    let total: u64 = stale.iter().map(|stale| stale.digest.facts.bytes()).sum();
    let round = Round {
        stale,
        reading,
        known,
        next: AtomicUsize::new(0),
        bytes: AtomicU64::new(0),
        messages: AtomicU64::new(0),
        done: Mutex::default(),
        fault: Mutex::default(),
    };
    let began = Instant::now();
    let mut committed = began;
    // Everything up to a pause is made safe by the one who waits for the others.
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    while round.next.load(Ordering::Relaxed) < stale.len() {
        let until = if committed == began { began + FIRST } else { committed + OFTEN };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| {
                    round.work(writer, ground, until, &|done| progress.advance(done, total));
                });
            }
            round.work(writer, ground, until, &|done| progress.advance(done, total));
        });
        if let Some(fault) = round.fault.lock().ok().and_then(|mut fault| fault.take()) {
            return Err(fault);
        }
        writer.commit()?;
        committed = Instant::now();
        let done = round.done.lock().map(|mut done| std::mem::take(&mut *done)).unwrap_or_default();
        catalog.set_indexed(roots, &done)?;
    }
    Ok(Indexed {
        sessions: stale.len(),
        messages: round.messages.into_inner(),
        bytes: total,
        unchanged: 0,
    })
}

impl Round<'_> {
    /// Indexes sessions until none is left or it is time to make them safe.
    fn work(&self, writer: &Writer, ground: &Ground, until: Instant, told: &dyn Fn(u64)) {
        let mut buffer = Buffer::new();
        while Instant::now() < until {
            let Some(stale) = self.stale.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            if let Err(error) = self.session(writer, ground, stale, &mut buffer) {
                if let Ok(mut fault) = self.fault.lock() {
                    fault.get_or_insert(error);
                }
                self.next.store(usize::MAX / 2, Ordering::Relaxed);
                break;
            }
            let bytes = stale.digest.facts.bytes();
            told(self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes);
        }
    }

    fn session(
        &self,
        writer: &Writer,
        ground: &Ground,
        stale: &Stale<'_>,
        buffer: &mut Buffer,
    ) -> Result<(), Error> {
        let digest = stale.digest;
        let folder = ground.folders.get(digest.folder);
        let mut row = Row {
            session: stale.key,
            stamp: stale.stamp,
            files: stale.files,
            versions: 0,
            undone: digest.facts.counts.undone,
        };
        if let (Some(folder), Some(family)) = (folder, family(ground, digest, self.reading, buffer))
        {
            let grown = self.grown(stale, &family);
            if grown.is_none() && self.known.contains_key(&stale.key) {
                writer.delete_session(stale.key);
            }
            if let [only] = family.members.as_slice() {
                row.versions = only.file.outline.versions.len() as u64;
            }
            let mut messages =
                Messages::new(folder.source, &family, Some(&folder.at.path), View::Full);
            if let Some(versions) = grown {
                messages.keep_since(versions);
            }
            let mut title =
                digest.facts.title.as_deref().filter(|_| grown.is_none()).unwrap_or_default();
            // What cannot be read is told by lists and views; here it is not found.
            for message in messages.flatten() {
                if grown.is_some() {
                    writer.delete_message(message_key(stale.key, &message));
                }
                add(writer, stale.key, title, message)?;
                title = "";
                self.messages.fetch_add(1, Ordering::Relaxed);
            }
        }
        if let Ok(mut done) = self.done.lock() {
            done.push(row);
        }
        Ok(())
    }

    /// Returns how many versions are indexed already of a session of which only more came.
    fn grown(&self, stale: &Stale<'_>, family: &Family) -> Option<u64> {
        let known = self.known.get(&stale.key)?;
        let [only] = family.members.as_slice() else { return None };
        let more = only.file.outline.versions.len() as u64 >= known.versions;
        // What was undone since is marked anew, wherever it stands.
        let same = known.undone == stale.digest.facts.counts.undone && known.files == stale.files;
        (known.versions > 0 && known.files != 0 && more && same).then_some(known.versions)
    }
}

/// Reads the files of a session again, with their messages.
fn family(
    ground: &Ground,
    digest: &Digest,
    reading: &dyn Reading,
    buffer: &mut Buffer,
) -> Option<Family> {
    let source: &'static dyn Source = ground.folders.get(digest.folder)?.source;
    let files = digest.files.iter().map(|file| (file.folder, file.at.clone())).collect();
    let families = Group { source, files }.families(ground, reading, buffer);
    families.into_iter().find(|family| family.id == digest.facts.id)
}

/// Returns what stands for a message in the index.
fn message_key(session: u64, message: &Message) -> u64 {
    match &message.id {
        Some(id) => hash(&(session, id.as_str())),
        None => hash(&(session, message.place.offset)),
    }
}

/// Adds one message to the index.
fn add(writer: &Writer, session: u64, title: &str, message: Message) -> Result<(), Error> {
    let place = message.place.clone();
    let own = message_key(session, &message);
    let (time, kind, fate) = (message.time, message.kind, message.fate);
    let model = message.model.clone();
    let wording = Wording::of(message);
    let tools: Vec<&str> = wording.tools.iter().map(String::as_str).collect();
    let paths = wording.paths();
    writer.add(&Document {
        session,
        message: own,
        file: file_key(&place.file),
        offset: place.offset,
        bytes: place.bytes,
        line: u64::from(place.line),
        time: time.map(Timestamp::as_millisecond),
        kind,
        fate,
        model: model.as_deref(),
        tools: &tools,
        is_error: wording.is_error,
        text: wording.texts(&paths, title),
    })?;
    Ok(())
}

/// Returns the sessions by what stands for them in the index.
pub(crate) fn by_key(sessions: &[SessionFacts]) -> HashMap<u64, Arc<SessionFacts>> {
    let keyed =
        |facts: &SessionFacts| (session_key(facts.source, &facts.id), Arc::new(facts.clone()));
    sessions.iter().map(keyed).collect()
}
