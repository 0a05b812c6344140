//! The search index: updated, rebuilt, and its status.

mod session;
mod sound;
mod update;

use std::path::PathBuf;
use std::time::Duration;

use recount_catalog::Catalog;
use recount_model::{SessionFacts, SessionKind};
use recount_search::Index;
use serde::Serialize;

use crate::cache::growth::Growth;
use crate::cache::refresh::hash;
use crate::search::background::LARGE;
use crate::sessions::list::Digest;
use crate::snapshot::disk_scan::{DiskSnapshot, Group, Progress};
use crate::{Engine, Error};

pub(crate) use session::{Reader, SPLIT, with_document};
use update::Begun;
pub(crate) use update::{Work, stale};

/// The index's folder in recount's data folder.
const FOLDER: &str = "search";
/// Memory for the index's own buffers.
const MEMORY: usize = 160 * 1024 * 1024;
/// The newest sessions are committed after this time, while the others are still being indexed.
const FIRST: Duration = Duration::from_millis(400);
/// The bytes of the newest sessions with which a large first build begins, before the others are read.
const NEWEST: u64 = 16 * 1000 * 1000;
/// After that, the interval between commits.
const OFTEN: Duration = Duration::from_secs(20);

/// The outcome of an index update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IndexReport {
    /// Sessions that were indexed now.
    pub sessions: usize,
    /// Messages in them.
    pub messages: u64,
    /// Bytes of their files.
    pub bytes: u64,
    /// Sessions that were already indexed and have not changed.
    pub unchanged: usize,
}

/// The status of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IndexStatus {
    /// The number of sessions.
    pub sessions: usize,
    /// Sessions whose current state is indexed.
    pub indexed: usize,
    /// Sessions whose current state is not indexed.
    pub stale: usize,
    /// Indexed sessions whose files no longer exist.
    pub gone: usize,
    /// Messages in the index.
    pub messages: u64,
    /// Its size.
    pub bytes: u64,
    /// Its folder.
    pub folder: PathBuf,
}

/// Returns the key of a session in the index. Old sub-agents share their parent's id.
pub(crate) fn session_key(facts: &SessionFacts) -> u64 {
    let file = facts.files.first().filter(|_| facts.kind == SessionKind::Subagent);
    hash(&(facts.source.as_str(), facts.id.as_str(), file.map(|file| file.path.as_str())))
}

/// Returns the key of a file in the index.
pub(crate) fn file_key(path: &str) -> u64 {
    hash(&path)
}

impl Engine {
    /// Updates the search index.
    ///
    /// # Errors
    /// If there is no data folder, or it cannot be written.
    pub fn index(&self, progress: &dyn Progress) -> Result<IndexReport, Error> {
        // While it takes long, others search the files.
        if self.is_index_behind()
            && let Some(indexed) = self.index_with_note(progress)?
        {
            return Ok(indexed);
        }
        self.index_now(progress)
    }

    /// Updates the search index. In a first build, the newest sessions can be found before the others are read.
    pub(super) fn index_now(&self, progress: &dyn Progress) -> Result<IndexReport, Error> {
        let engine = self.pin();
        let mut catalog = self.needed_catalog()?;
        let index = self.located(self.open_index(&mut catalog))?;
        let begun = self.located(engine.index_newest(&index, &mut catalog))?;
        let (disk, digests) = engine.digests(progress)?;
        let files = (&*disk, &*digests);
        let indexed = engine.add_to_index(&index, &mut catalog, files, (begun, false), progress);
        let indexed = self.located(indexed)?;
        index.reload()?;
        Ok(indexed)
    }

    /// Begins the first build of a large index with the newest sessions.
    fn index_newest(&self, index: &Index, catalog: &mut Catalog) -> Result<Option<Begun>, Error> {
        let disk = self.look();
        if disk.bytes() <= LARGE || catalog.has_indexed(self.roots_key())? {
            return Ok(None);
        }
        let mut groups = disk.groups(|_, _| true);
        let newest = |group: &Group| group.files.iter().map(|(_, file)| file.stamp.nanos).max();
        groups.sort_by_cached_key(|group| std::cmp::Reverse(newest(group)));
        let mut bytes = 0;
        let first = groups.iter().take_while(|group| {
            let is_within = bytes < NEWEST;
            bytes += group.bytes();
            is_within
        });
        let first = first.flat_map(|group| &group.files).map(|(_, file)| file.group.clone());
        let digests = self.read_groups(&disk, &first.collect(), &())?;
        let growth = Growth::new(self.needed_catalog()?, &self.outlines);
        let (roots, mark) = (self.roots_key(), self.index_mark(catalog)?);
        let (reading, disk, digests) = (&growth, &*disk, &digests);
        let (progress, is_short) = (&(), false);
        let work = Work { index, mark, catalog, roots, reading, disk, digests, progress, is_short };
        Ok(work.update(None)?.1)
    }

    /// Indexes what has changed, and records it.
    pub(crate) fn update_index(
        &self,
        index: &Index,
        catalog: &mut Catalog,
        disk: &DiskSnapshot,
        digests: &[Digest],
        progress: &dyn Progress,
    ) -> Result<IndexReport, Error> {
        self.add_to_index(index, catalog, (disk, digests), (None, true), progress)
    }

    /// The same, continuing what was begun; with short merges or all.
    fn add_to_index(
        &self,
        index: &Index,
        catalog: &mut Catalog,
        (disk, digests): (&DiskSnapshot, &[Digest]),
        (begun, is_short): (Option<Begun>, bool),
        progress: &dyn Progress,
    ) -> Result<IndexReport, Error> {
        let growth = Growth::new(self.needed_catalog()?, &self.outlines);
        let (roots, mark) = (self.roots_key(), self.index_mark(catalog)?);
        let reading = &growth;
        let work = Work { index, mark, catalog, roots, reading, disk, digests, progress, is_short };
        let (indexed, begun) = work.update(begun)?;
        if let Some(begun) = begun {
            begun.end()?;
        }
        if indexed.sessions > 0 {
            // The library that writes the index makes it readable for others.
            recount_writer::make_private(&self.index_folder()?);
        }
        self.trust(index, catalog)?;
        self.mark_indexed(catalog, disk);
        let states = growth.take_states();
        if !states.is_empty() {
            // A reader that is not saved starts again.
            self.write_later(move |catalog| {
                let _kept = catalog.keep_states(&states);
            });
        }
        Ok(indexed)
    }

    /// Rebuilds the search index.
    ///
    /// # Errors
    /// Like [`Engine::index`].
    pub fn rebuild_index(&self, progress: &dyn Progress) -> Result<IndexReport, Error> {
        let mut catalog = self.needed_catalog()?;
        self.start_over(&mut catalog)?;
        drop(catalog);
        self.index(progress)
    }

    /// Returns the status of the index.
    ///
    /// # Errors
    /// If there is no data folder, or it cannot be read.
    pub fn index_status(&self, progress: &dyn Progress) -> Result<IndexStatus, Error> {
        let (disk, digests) = self.digests(progress)?;
        let mut catalog = self.needed_catalog()?;
        let index = self.located(self.open_index(&mut catalog))?;
        let known = catalog.indexed(self.roots_key())?;
        let stale = stale(&digests, &known, &disk).len();
        let gone = update::gone(&digests, &known).len();
        let folder = self.index_folder()?;
        let size = |entry: std::fs::DirEntry| entry.metadata().map_or(0, |metadata| metadata.len());
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        Ok(IndexStatus {
            sessions: digests.len(),
            indexed: digests.len() - stale,
            stale,
            gone,
            messages: index.searcher().messages(),
            bytes: entries.map(size).sum(),
            folder,
        })
    }

    /// Removes sessions whose files no longer exist, and returns their number.
    ///
    /// # Errors
    /// If the index or the catalog cannot be written.
    pub fn forget_gone(&self, progress: &dyn Progress) -> Result<usize, Error> {
        let (_, digests) = self.digests(progress)?;
        let mut catalog = self.needed_catalog()?;
        let index = self.located(self.open_index(&mut catalog))?;
        let roots = self.roots_key();
        let gone = update::gone(&digests, &catalog.indexed(roots)?);
        if !gone.is_empty() {
            let writer = index.writer(MEMORY, 1, &self.index_mark(&catalog)?)?;
            for session in &gone {
                writer.delete_session(*session);
            }
            writer.finish()?;
            self.trust(&index, &catalog)?;
            catalog.unset_indexed(roots, &gone)?;
            catalog.forget_listed(roots, &gone)?;
        }
        Ok(gone.len())
    }

    pub(crate) fn index_folder(&self) -> Result<PathBuf, Error> {
        let data = self.folders.data.as_ref().ok_or(Error::NoDataFolder)?;
        // Each home has its own index: counts of one must not include another.
        let folder = data.join(FOLDER).join(format!("{:016x}", self.roots_key()));
        recount_writer::create_private_folder(data)?;
        recount_writer::create_private_folder(&folder)?;
        Ok(folder)
    }
}
