//! Large logs that only grow: what was appended is read, the rest is remembered.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::quality::FixedState;
use recount_catalog::{Catalog, StoredReader};
use recount_formats::outline::Outline;
use recount_formats::source::{FileAt, ReaderState, Stamp};
use recount_formats::{Source, bytes, bytes::Buffer};

use super::refresh::hash;
use crate::Engine;

/// A smaller file is read again, which takes a few milliseconds. Keeping the state of thousands of them would make every first list slower.
const LARGE: u64 = 4 * 1024 * 1024;
/// Number of outlines that are kept for the next reader.
const LAID_BY: usize = 4;
/// A reader is kept again when so much has been appended since.
const FURTHER: u64 = 256 * 1024;
/// How much of both ends of what was read tells whether it is still there.
const ENDS: u64 = 4096;
/// How much is read at once for a fingerprint.
const CHUNK: u64 = 64 * 1024;

/// How files are read.
pub(crate) trait Reading: Sync {
    /// Reads the outline of a file.
    fn outline(&self, source: &'static dyn Source, file: &FileAt, buffer: &mut Buffer) -> Outline;
}

/// From the start.
pub(crate) struct FullRead;

impl Reading for FullRead {
    fn outline(&self, source: &'static dyn Source, file: &FileAt, buffer: &mut Buffer) -> Outline {
        source.outline(&file.path, buffer)
    }
}

/// Outlines of large logs that were read a moment ago, for who reads them next in the same run.
#[derive(Debug, Default)]
pub(crate) struct Outlines(Mutex<LaidBy>);

#[derive(Debug, Default)]
struct LaidBy {
    outlines: HashMap<PathBuf, (Stamp, Outline)>,
    /// Files that somebody reads while they grow.
    followed: HashSet<PathBuf>,
}

impl Outlines {
    fn lock(&self) -> MutexGuard<'_, LaidBy> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the outline of a file that took long to read, if few were: many did not just grow.
    pub(crate) fn lay_by(&self, file: &FileAt, outline: Outline) {
        let mut own = self.lock();
        let has_room = own.outlines.len() < LAID_BY || own.outlines.contains_key(&file.path);
        if file.bytes >= LARGE && has_room {
            own.outlines.insert(file.path.clone(), (file.stamp, outline));
        }
    }

    /// Keeps the outline of a file that has changed, if somebody reads it.
    pub(crate) fn lay_by_followed(&self, file: &FileAt, outline: Outline) {
        if self.lock().followed.contains(&file.path) {
            self.lay_by(file, outline);
        } else {
            outline.recycle();
        }
    }

    /// Takes what was read a moment ago, if the file has not changed since.
    fn take(&self, file: &FileAt) -> Option<Outline> {
        let (stamp, outline) = self.lock().outlines.remove(&file.path)?;
        (stamp == file.stamp).then_some(outline)
    }
}

impl Engine {
    /// Names the files that somebody reads while they grow, instead of those that were named before. What a refresh reads of them is
    /// kept for the next who opens their session, so that it need not be read twice.
    pub fn follow_files<'a>(&self, paths: impl Iterator<Item = &'a Path>) {
        let mut own = self.outlines.lock();
        own.followed = paths.map(Path::to_owned).collect();
        let LaidBy { outlines, followed } = &mut *own;
        outlines.retain(|path, _| followed.contains(path));
    }
}

/// Whether a file is one whose readers are kept.
pub(crate) fn may_resume(file: &FileAt) -> bool {
    let is_log = file.path.extension().is_some_and(|ending| ending == "jsonl");
    is_log && file.bytes >= LARGE
}

/// From where a reader was kept.
pub(crate) struct Growth<'a> {
    catalog: Mutex<Catalog>,
    outlines: &'a Outlines,
    kept: Mutex<Vec<(String, StoredReader)>>,
}

impl<'a> Growth<'a> {
    pub(crate) fn new(catalog: Catalog, outlines: &'a Outlines) -> Self {
        Self { catalog: Mutex::new(catalog), outlines, kept: Mutex::default() }
    }

    /// Returns the readers to keep, as far as they are not yet kept.
    pub(crate) fn take_states(&self) -> Vec<(String, StoredReader)> {
        self.kept.lock().map(|mut kept| std::mem::take(&mut *kept)).unwrap_or_default()
    }

    fn go_on(&self, source: &dyn Source, file: &FileAt, path: &str) -> Option<Outline> {
        let state = self.catalog.lock().ok()?.state(path).ok()??;
        let same = state.inode == file.stamp.inode
            && state.offset <= file.bytes
            && print(&file.path, state.offset)? == state.print;
        let kept = same.then(|| {
            source.outline_from(&file.path, &mut Buffer::new(), &state.content, FURTHER)
        })??;
        self.keep(file, path, kept.saved);
        Some(kept.outline)
    }

    fn keep(&self, file: &FileAt, path: &str, saved: Option<ReaderState>) {
        let Some(saved) = saved else { return };
        let Some(print) = print(&file.path, saved.offset) else { return };
        let state = StoredReader {
            inode: file.stamp.inode,
            offset: saved.offset,
            print,
            content: saved.state,
        };
        if let Ok(mut kept) = self.kept.lock() {
            kept.push((path.to_owned(), state));
        }
    }
}

impl Reading for Growth<'_> {
    fn outline(&self, source: &'static dyn Source, file: &FileAt, buffer: &mut Buffer) -> Outline {
        let Some(path) = file.path.to_str().filter(|_| may_resume(file)) else {
            return source.outline(&file.path, buffer);
        };
        let known = self.outlines.take(file).or_else(|| self.go_on(source, file, path));
        known.unwrap_or_else(|| {
            let kept = source.outline_to_keep(&file.path, buffer);
            self.keep(file, path, kept.saved);
            kept.outline
        })
    }
}

/// Returns a fingerprint of the first `length` bytes of a file, made from both ends of them.
fn print(path: &Path, length: u64) -> Option<u64> {
    let end = ENDS.min(length);
    print_of(path, &[(0, end), (length - end, end)])
}

/// Returns a fingerprint of a range of a file: of all of it if it is small, else of both ends.
pub(crate) fn range_print(file: &FileAt, range: Range<u64>) -> Option<u64> {
    let length = range.end.checked_sub(range.start)?;
    if length < LARGE {
        return print_of(&file.path, &[(range.start, length)]);
    }
    let ends = [(range.start, ENDS), (range.end - ENDS, ENDS)];
    Some(hash(&(file.stamp.inode, print_of(&file.path, &ends)?)))
}

/// Returns a fingerprint of some ranges of a file, each an offset and a length.
fn print_of(path: &Path, ranges: &[(u64, u64)]) -> Option<u64> {
    let mut file = bytes::open(path).ok()?;
    let mut hasher = FixedState::default().build_hasher();
    let mut chunk = Vec::new();
    for &(start, mut left) in ranges {
        file.seek(SeekFrom::Start(start)).ok()?;
        while left > 0 {
            chunk.clear();
            let read = file.by_ref().take(left.min(CHUNK)).read_to_end(&mut chunk).ok()?;
            hasher.write(&chunk);
            left -= read as u64;
            if read == 0 {
                break;
            }
        }
    }
    Some(hasher.finish())
}
