//! Builds the index in a separate process while searches are answered from the files.
//!
//! A progress file in recount's data folder records that a build has started. It is removed when the build is complete, so
//! that an interrupted build is noticed and restarted; what was indexed until then is kept.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error, IndexReport};

/// If more than this many bytes are not indexed, searching the files takes less time than indexing them first.
pub(super) const LARGE: u64 = 64 * 1000 * 1000;
/// How often the progress file is updated.
const OFTEN: Duration = Duration::from_millis(500);

impl Engine {
    /// Whether the index is missing or incomplete, and building it would take longer than searching the files.
    pub fn is_index_behind(&self) -> bool {
        if self.index_note().is_some_and(|note| note.exists()) {
            return true;
        }
        let bytes = || self.look().bytes();
        let is_empty = || {
            let catalog = self.catalog();
            let has_any = catalog.and_then(|catalog| catalog.has_indexed(self.roots_key()).ok());
            !has_any.unwrap_or_default()
        };
        is_empty() && bytes() > LARGE
    }

    /// Returns the indexed and total number of bytes, while a build is running.
    pub fn index_progress(&self) -> Option<(u64, u64)> {
        let note = recount_formats::bytes::read_small(&self.index_note()?).ok()?;
        let note = String::from_utf8(note).ok()?;
        let (done, total) = note.trim().split_once(' ')?;
        Some((done.parse().ok()?, total.parse().ok()?))
    }

    /// Builds the index for later searches. `None` if another process is already doing so.
    ///
    /// # Errors
    /// If there is no data folder, or it cannot be written.
    pub fn index_for_later(&self) -> Result<Option<IndexReport>, Error> {
        self.index_with_note(&())
    }

    /// Builds the index, with a note of its progress for other processes. `None` if another process is already doing so.
    pub(super) fn index_with_note(
        &self,
        progress: &dyn Progress,
    ) -> Result<Option<IndexReport>, Error> {
        let note = self.index_note().ok_or(Error::NoDataFolder)?;
        recount_writer::create_private_folder(self.own_data()?)?;
        let lock = recount_writer::lock(&note, Duration::ZERO);
        let Ok(_lock) = lock else { return Ok(None) };
        let was_interrupted = note.exists();
        let noted = Noted { path: note.clone(), last: Mutex::new(None), progress };
        noted.advance(0, 0);
        let indexed = self.index_now(&noted);
        // A note that stays makes a later run build it. What another run writes meanwhile needs none.
        let is_elsewhere = !was_interrupted && indexed.as_ref().is_err_and(Error::is_busy);
        if indexed.is_ok() || is_elsewhere {
            recount_writer::remove(&note)?;
        }
        indexed.map(Some)
    }

    fn index_note(&self) -> Option<PathBuf> {
        let name = format!("indexing-{:016x}", self.roots_key());
        Some(self.folders.data.as_ref()?.join(name))
    }
}

/// Writes the progress of a build.
#[derive(Debug)]
struct Noted<'a> {
    path: PathBuf,
    last: Mutex<Option<Instant>>,
    /// Who else wants to know.
    progress: &'a dyn Progress,
}

impl Progress for Noted<'_> {
    fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }

    fn advance(&self, done: u64, total: u64) {
        self.progress.advance(done, total);
        let Ok(mut last) = self.last.try_lock() else { return };
        if last.is_some_and(|last| last.elapsed() < OFTEN) {
            return;
        }
        *last = Some(Instant::now());
        // Without it, only the progress is not shown.
        let note = format!("{done} {total}\n");
        let _written = recount_writer::write_atomically(&self.path, note.as_bytes());
    }
}
