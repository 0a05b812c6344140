//! Large logs that only grow: what was appended is read, the rest is remembered.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Mutex;

use recount_catalog::{Catalog, State};
use recount_formats::outline::Outline;
use recount_formats::source::{FileAt, Saved};
use recount_formats::{Source, bytes, bytes::Buffer};

/// A file of less is read again, which takes no longer than to remember it.
const LARGE: u64 = 1024 * 1024;
/// A reader is kept again when so much has been appended since.
const FURTHER: u64 = 256 * 1024;
/// How much of both ends of what was read tells whether it is still there.
const ENDS: u64 = 4096;

/// How files are read.
pub(crate) trait Reading: Sync {
    /// Reads the outline of a file.
    fn outline(&self, source: &'static dyn Source, file: &FileAt, buffer: &mut Buffer) -> Outline;
}

/// From the start.
pub(crate) struct Anew;

impl Reading for Anew {
    fn outline(&self, source: &'static dyn Source, file: &FileAt, buffer: &mut Buffer) -> Outline {
        source.outline(&file.path, buffer)
    }
}

/// From where a reader was kept.
pub(crate) struct Growth {
    catalog: Mutex<Catalog>,
    kept: Mutex<Vec<(String, State)>>,
}

impl Growth {
    pub(crate) fn new(catalog: Catalog) -> Self {
        Self { catalog: Mutex::new(catalog), kept: Mutex::default() }
    }

    /// Returns the catalog, and the readers to keep.
    pub(crate) fn into_parts(self) -> Option<(Catalog, Vec<(String, State)>)> {
        Some((self.catalog.into_inner().ok()?, self.kept.into_inner().ok()?))
    }

    fn go_on(&self, source: &dyn Source, file: &FileAt, path: &str) -> Option<Outline> {
        let state = self.catalog.lock().ok()?.state(path).ok()??;
        let same = state.inode == file.stamp.inode
            && state.offset <= file.bytes
            && print(&file.path, state.offset)? == state.print;
        let kept =
            same.then(|| source.outline_from(&file.path, &mut Buffer::new(), &state.content))??;
        let further = kept.saved.filter(|saved| saved.offset >= state.offset + FURTHER);
        self.keep(file, path, further);
        Some(kept.outline)
    }

    fn keep(&self, file: &FileAt, path: &str, saved: Option<Saved>) {
        let Some(saved) = saved else { return };
        let Some(print) = print(&file.path, saved.offset) else { return };
        let state =
            State { inode: file.stamp.inode, offset: saved.offset, print, content: saved.state };
        if let Ok(mut kept) = self.kept.lock() {
            kept.push((path.to_owned(), state));
        }
    }
}

impl Reading for Growth {
    fn outline(&self, source: &'static dyn Source, file: &FileAt, buffer: &mut Buffer) -> Outline {
        let is_log = file.path.extension().is_some_and(|ending| ending == "jsonl");
        let Some(path) = file.path.to_str().filter(|_| is_log && file.bytes >= LARGE) else {
            return source.outline(&file.path, buffer);
        };
        self.go_on(source, file, path).unwrap_or_else(|| {
            let kept = source.outline_to_keep(&file.path, buffer);
            self.keep(file, path, kept.saved);
            kept.outline
        })
    }
}

/// Tells the first `length` bytes of a file from others, by their ends.
fn print(path: &Path, length: u64) -> Option<u64> {
    let mut file = bytes::open(path).ok()?;
    let mut hasher = DefaultHasher::new();
    for start in [0, length.saturating_sub(ENDS)] {
        let mut end = Vec::new();
        file.seek(SeekFrom::Start(start)).ok()?;
        file.by_ref().take(ENDS.min(length)).read_to_end(&mut end).ok()?;
        end.hash(&mut hasher);
    }
    Some(hasher.finish())
}
