//! Files in, pieces out: a reused buffer between the disk and a [`Reader`].
//!
//! Files are streamed, not mapped: an agent that truncates a file in place while we read it would end us
//! with a signal.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::source::Reader;

/// What is read at a time. Larger messages make the buffer grow to their size.
const PIECE: usize = 512 * 1024;

/// A buffer that one thread uses for file after file.
#[derive(Debug, Default)]
pub struct Buffer {
    bytes: Vec<u8>,
}

impl Buffer {
    /// An empty buffer; it takes memory with the first file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Feeds all of `input` to `reader`.
    pub fn pump(&mut self, input: &mut dyn Read, reader: &mut dyn Reader) -> io::Result<()> {
        let mut filled = 0;
        loop {
            if self.bytes.len() < PIECE || filled == self.bytes.len() {
                // Doubling keeps the repeated look at one huge record linear.
                self.bytes.resize((self.bytes.len() * 2).max(PIECE), 0);
            }
            let free = self.bytes.get_mut(filled..).unwrap_or_default();
            let count = match input.read(free) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => result?,
            };
            if count == 0 {
                let all = self.bytes.get(..filled).unwrap_or_default();
                let used = reader.feed(all).min(filled);
                reader.finish(all.get(used..).unwrap_or_default());
                self.shrink();
                return Ok(());
            }
            filled += count;
            if filled < self.bytes.len() && filled < PIECE {
                continue;
            }
            let used = reader.feed(self.bytes.get(..filled).unwrap_or_default()).min(filled);
            self.bytes.copy_within(used..filled, 0);
            filled -= used;
        }
    }

    /// Gives back what one huge record took.
    fn shrink(&mut self) {
        if self.bytes.len() > 16 * PIECE {
            self.bytes = Vec::new();
        }
    }
}

/// Small files, such as markers and registries, are read up to this size.
const SMALL: u64 = 16 * 1024 * 1024;

/// Reads a small file whole; a larger one is an error.
pub fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let mut bytes = Vec::new();
    file.take(SMALL + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SMALL {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than 16 MiB"));
    }
    Ok(bytes)
}

/// Opens a regular file; anything else, such as a pipe, is refused without waiting for it.
pub fn open(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    File::open(path)
}
