//! Reads single records by location: the file stays open and the buffer is reused.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use recount_formats::bytes::Input;

/// How much of a record is read to show a hit.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Reads records. Those of one file should be read one after the other.
#[derive(Debug, Default)]
pub(crate) struct Records {
    open: Option<(PathBuf, Input)>,
    bytes: Vec<u8>,
}

impl Records {
    /// Reads `length` bytes from `offset` on, or as many as there are. `None` if the file cannot be read.
    pub(crate) fn read(&mut self, path: &Path, offset: u64, length: u64) -> Option<&[u8]> {
        let is_open = self.open.as_ref().is_some_and(|(open, _)| open == path);
        if !is_open {
            self.open = Some((path.to_owned(), Input::open(path).ok()?));
        }
        let (_, file) = self.open.as_mut()?;
        let length = length.min(LARGEST);
        file.seek_to(offset).ok()?;
        self.bytes.clear();
        self.bytes.reserve(usize::try_from(length).ok()?);
        file.take(length).read_to_end(&mut self.bytes).ok()?;
        Some(&self.bytes)
    }
}
