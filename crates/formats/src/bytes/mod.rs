//! Files in, pieces out: a reused buffer between the disk and a [`Reader`].
//!
//! Files are streamed, not mapped: if an agent truncates a file in place while it is mapped, a signal ends the process.

mod input;
mod share;

pub use input::Input;
pub use recount_files::{accept_link, confine, open, open_bounded, open_following};
pub(crate) use share::{PART, RECORD, RECORDS, WORTH_SHARING, feed_lines, in_order};

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::source::Reader;

/// Returns bytes as text, if they are UTF-8. For many or long texts: short ones gain nothing.
pub fn text(bytes: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(bytes).ok()
}

/// The read size. Larger messages make the buffer grow to their size.
const PIECE: usize = 256 * 1024;

/// The read size if one file has two cores to itself.
const LARGE_PIECE: usize = 4 * 1024 * 1024;

/// A record that is larger is an error. The agents themselves cannot load one: a string of JavaScript has less than 512 Mi characters.
const LARGEST_RECORD: usize = 1024 * 1024 * 1024;

/// A buffer that one thread reuses for all its files.
#[derive(Debug, Default)]
pub struct Buffer {
    bytes: Vec<u8>,
    /// The cores that may share the work on a file; `None` if it has one to itself.
    cores: Option<Arc<IdleCores>>,
}

/// How many cores have no file to read.
#[derive(Debug)]
pub struct IdleCores {
    idle: AtomicUsize,
    all: usize,
}

impl IdleCores {
    /// Starts with `all` cores, of which `busy` read files.
    pub fn new(all: usize, busy: usize) -> Self {
        Self { idle: AtomicUsize::new(all.saturating_sub(busy)), all }
    }

    /// One more has nothing to read.
    pub fn add_one(&self) {
        self.idle.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether each core that reads a file finds another one idle.
    fn suffice(&self) -> bool {
        self.idle.load(Ordering::Relaxed) * 2 >= self.all
    }
}

impl Buffer {
    /// Returns an empty buffer; it allocates memory with the first file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a buffer with large pieces that readers split among cores, if there is more than one; for one file at a time.
    pub fn large() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self::sharing(Arc::new(IdleCores::new(cores, 1)))
    }

    /// Returns a buffer whose pieces become large once there are enough idle cores.
    pub fn sharing(idle: Arc<IdleCores>) -> Self {
        Self { cores: Some(idle), ..Self::default() }
    }

    fn has_second_core(&self) -> bool {
        self.cores.as_deref().is_some_and(IdleCores::suffice)
    }

    /// Returns how much is read at once.
    fn piece(&self) -> usize {
        if self.has_second_core() { LARGE_PIECE } else { PIECE }
    }

    /// Feeds all of `input` to the reader that `choose` returns for its first piece.
    pub fn pump(
        &mut self,
        input: &mut dyn Read,
        choose: impl FnOnce(&[u8]) -> Box<dyn Reader>,
    ) -> io::Result<Box<dyn Reader>> {
        self.pump_and(input, choose, |_| {})
    }

    /// The same, with access to the reader before it is finished.
    pub fn pump_and(
        &mut self,
        input: &mut dyn Read,
        choose: impl FnOnce(&[u8]) -> Box<dyn Reader>,
        look: impl FnOnce(&dyn Reader),
    ) -> io::Result<Box<dyn Reader>> {
        let (mut filled, mut ended) = self.fill(input, 0)?;
        let mut reader = choose(self.filled(filled));
        loop {
            reader.may_share(self.has_second_core());
            let used = reader.feed(self.filled(filled)).min(filled);
            self.bytes.copy_within(used..filled, 0);
            filled -= used;
            let before = filled;
            if !ended {
                (filled, ended) = self.fill(input, filled)?;
            }
            if filled == before {
                look(&*reader);
                reader.finish(self.filled(filled));
                self.shrink();
                return Ok(reader);
            }
        }
    }

    /// Reads until the buffer is full or the input ends. Returns the filled length, and whether that is all. The buffer grows to its full
    /// size only if there is that much to read.
    fn fill(&mut self, input: &mut dyn Read, mut filled: usize) -> io::Result<(usize, bool)> {
        if filled == self.bytes.len() {
            if filled >= LARGEST_RECORD {
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, "a record is too large"));
            }
            self.grow();
        }
        loop {
            while let Some(free) = self.bytes.get_mut(filled..).filter(|free| !free.is_empty()) {
                match input.read(free) {
                    Ok(0) => return Ok((filled, true)),
                    Ok(count) => filled += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            if self.bytes.len() >= self.piece() {
                return Ok((filled, false));
            }
            self.grow();
        }
    }

    /// Doubles it, which keeps the repeated scans of one huge record linear.
    fn grow(&mut self) {
        self.bytes.resize((self.bytes.len() * 2).max(PIECE), 0);
    }

    fn filled(&self, filled: usize) -> &[u8] {
        self.bytes.get(..filled).unwrap_or_default()
    }

    /// Frees the memory of one large record: smaller pieces stay in the processor's cache.
    fn shrink(&mut self) {
        let piece = self.piece();
        if self.bytes.len() > piece {
            self.bytes.truncate(piece);
            self.bytes.shrink_to_fit();
        }
    }
}

/// Small files, such as markers and registries, are read up to this size.
const SMALL: u64 = 16 * 1024 * 1024;

/// How much of the end of a file of single lines is read.
pub const LINES_TAIL: u64 = SMALL;

/// Reads a small file completely; a larger one is an error. Links are followed: people link settings to other folders.
pub fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    read_whole(open_following(path)?, SMALL)
}

/// Reads a file of at most `limit` bytes completely; a larger one is an error. A link is not followed.
pub fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_whole(open(path)?, limit)
}

fn read_whole(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than expected"));
    }
    Ok(bytes)
}

/// Reads the first `limit` bytes of a file, or all of a shorter one. Links are followed.
///
/// # Errors
/// If the file cannot be read.
pub fn read_head(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_following(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the last `limit` bytes of a file, or all of a shorter one. What is appended meanwhile is not read. Links are
/// followed.
///
/// # Errors
/// If the file cannot be read.
pub fn read_tail(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut file = open_following(path)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(limit)))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the line of an offset, by counting from the last one that was requested.
#[derive(Debug)]
pub struct LineCounter {
    file: File,
    at: u64,
    line: u32,
}

impl LineCounter {
    /// Starts at the first line of a file.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: open(path)?, at: 0, line: 1 })
    }

    /// Returns the line that contains `offset`, from 1.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn line(&mut self, offset: u64) -> io::Result<u32> {
        if offset < self.at {
            (self.at, self.line) = (0, 1);
        }
        self.file.seek(SeekFrom::Start(self.at))?;
        let mut piece = [0; 16 * 1024];
        while self.at < offset {
            let wanted = usize::try_from(offset - self.at).unwrap_or(piece.len()).min(piece.len());
            let count = self.file.read(piece.get_mut(..wanted).unwrap_or_default())?;
            if count == 0 {
                break;
            }
            let lines = memchr::memchr_iter(b'\n', piece.get(..count).unwrap_or_default()).count();
            self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
            self.at += count as u64;
        }
        Ok(self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_buffer_takes_no_more_memory_than_there_is_to_read() {
        let cores = |all, busy| Arc::new(IdleCores::new(all, busy));
        let mut buffer = Buffer::sharing(cores(2, 1));
        let small = [7; 1000];
        assert_eq!(buffer.fill(&mut small.as_slice(), 0).unwrap(), (1000, true));
        assert_eq!(buffer.bytes.len(), PIECE);
        let large = vec![7; LARGE_PIECE + 5];
        assert_eq!(buffer.fill(&mut large.as_slice(), 0).unwrap(), (LARGE_PIECE, false));
        assert_eq!(buffer.bytes.len(), LARGE_PIECE);
        let mut other = Buffer::new();
        assert_eq!(other.fill(&mut large.as_slice(), 0).unwrap(), (PIECE, false));
        // Once as many cores are idle as are not.
        let idle = cores(4, 3);
        let mut sharing = Buffer::sharing(Arc::clone(&idle));
        assert_eq!(sharing.fill(&mut large.as_slice(), 0).unwrap(), (PIECE, false));
        idle.add_one();
        assert_eq!(sharing.fill(&mut large.as_slice(), 0).unwrap(), (LARGE_PIECE, false));
        // There is no second core.
        let mut alone = Buffer::sharing(cores(1, 1));
        assert_eq!(alone.fill(&mut large.as_slice(), 0).unwrap(), (PIECE, false));
        // What is one record makes it grow.
        assert_eq!(other.fill(&mut large.as_slice(), PIECE).unwrap(), (2 * PIECE, false));
    }
}
