//! The new content of a file: literal bytes and ranges of existing files. So unchanged parts are copied and never rebuilt,
//! and no file need fit in memory.

use std::fmt::Debug;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::Disk;
use super::state::{Hash, Hasher, metadata, pour};
use crate::Error;

/// The size of a block of generated content.
const BLOCK: usize = 64 * 1024;

/// The new content of a file.
#[derive(Clone, Debug, Default)]
pub struct NewContent {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Bytes(Vec<u8>),
    Stretch { file: PathBuf, from: u64, bytes: u64 },
    Packed { file: PathBuf, packed: u64 },
    Made(Arc<dyn Make>),
}

/// Generates the content of a file piece by piece, so that it need not fit in memory.
///
/// It is called twice, to measure and to write; both results must be equal.
pub trait Make: Debug + Send + Sync {
    /// Writes the content.
    ///
    /// # Errors
    /// If its input cannot be read, or `out` cannot be written.
    fn make(&self, out: &mut dyn Write) -> io::Result<()>;
}

impl NewContent {
    /// The whole of a file.
    pub fn of_file(file: impl Into<PathBuf>) -> Self {
        Self::default().then_stretch(file, 0, u64::MAX)
    }

    /// Literal bytes.
    pub fn of_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::default().then_bytes(bytes)
    }

    /// Generated content.
    pub fn of_maker(maker: Arc<dyn Make>) -> Self {
        Self { pieces: vec![Piece::Made(maker)] }
    }

    /// Adds literal bytes.
    #[must_use]
    pub fn then_bytes(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.pieces.push(Piece::Bytes(bytes.into()));
        self
    }

    /// Adds `bytes` of a file, or as many as it has, from an offset on.
    #[must_use]
    pub fn then_stretch(mut self, file: impl Into<PathBuf>, from: u64, bytes: u64) -> Self {
        self.pieces.push(Piece::Stretch { file: file.into(), from, bytes });
        self
    }

    /// Adds the unpacked content of the first `packed` bytes of a file.
    #[must_use]
    pub(crate) fn then_packed(mut self, file: impl Into<PathBuf>, packed: u64) -> Self {
        self.pieces.push(Piece::Packed { file: file.into(), packed });
        self
    }

    /// Compares it with the file at `path`.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn compare(&self, disk: &dyn Disk, path: &Path) -> Result<Likeness, Error> {
        if metadata(disk, path)?.is_none() {
            return Ok(Likeness::Missing);
        }
        let input = disk.read(path).map_err(|source| unread(path, source))?;
        let mut beside = Beside { input, alike: true, is_over: false };
        self.write(disk, &mut beside, path)?;
        let ends = beside.is_over || beside.next_byte().map_err(|e| unread(path, e))?.is_none();
        Ok(match (beside.alike, beside.is_over, ends) {
            (false, ..) => Likeness::Different,
            (true, true, _) => Likeness::GoesOn,
            (true, false, true) => Likeness::Same,
            (true, false, false) => Likeness::Start,
        })
    }

    /// Returns its last bytes, up to `most` of them.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn tail(&self, disk: &dyn Disk, most: usize) -> Result<Vec<u8>, Error> {
        let mut tail = Tail { most, bytes: Vec::new() };
        self.write(disk, &mut tail, Path::new(""))?;
        Ok(tail.bytes)
    }

    /// Returns the size and hash without writing anything.
    pub(crate) fn measure(&self, disk: &dyn Disk) -> Result<(u64, Hash), Error> {
        self.write(disk, &mut io::sink(), Path::new(""))
    }

    /// Writes it to the new file at `path`, and returns its size and hash.
    pub(crate) fn write(
        &self,
        disk: &dyn Disk,
        out: &mut dyn Write,
        path: &Path,
    ) -> Result<(u64, Hash), Error> {
        let mut hasher = Hasher::default();
        let unwritten = |source| Error::WriteFile { path: path.to_owned(), source };
        for piece in &self.pieces {
            let mut take = |bytes: &[u8]| {
                hasher.update(bytes);
                out.write_all(bytes)
            };
            match piece {
                Piece::Bytes(bytes) => take(bytes).map_err(unwritten)?,
                Piece::Made(maker) => {
                    let mut out = BufWriter::with_capacity(BLOCK, FnWriter(&mut take));
                    maker.make(&mut out).and_then(|()| out.flush()).map_err(unwritten)?;
                }
                Piece::Stretch { file, from, bytes } => {
                    let input = disk.read(file).map_err(|source| unread(file, source))?;
                    copy(input, file, (*from, *bytes), path, &mut take)?;
                }
                Piece::Packed { file, packed } => {
                    let input = disk.read(file).map_err(|source| unread(file, source))?;
                    let input = crate::vault::unpacked(input, *packed)
                        .map_err(|source| unread(file, source))?;
                    copy(input, file, (0, u64::MAX), path, &mut take)?;
                }
            }
        }
        Ok((hasher.bytes(), hasher.hash()))
    }
}

/// Writes by calling a function.
struct FnWriter<'a>(&'a mut dyn FnMut(&[u8]) -> io::Result<()>);

impl Write for FnWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How content compares with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// There is no file.
    Missing,
    /// Both are the same.
    Same,
    /// The file continues after it.
    Start,
    /// It continues after the file.
    GoesOn,
    /// Neither is the start of the other.
    Different,
}

/// A file that is read in parallel.
struct Beside<'a> {
    input: Box<dyn Read + 'a>,
    alike: bool,
    /// Whether the file has ended.
    is_over: bool,
}

impl Beside<'_> {
    fn next_byte(&mut self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        Ok((self.input.read(&mut byte)? > 0).then_some(byte).map(|[byte]| byte))
    }
}

impl Write for Beside<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.alike && !self.is_over {
            let mut theirs = Vec::with_capacity(bytes.len());
            (&mut self.input).take(bytes.len() as u64).read_to_end(&mut theirs)?;
            self.alike = bytes.starts_with(&theirs);
            self.is_over = theirs.len() < bytes.len();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Tail {
    most: usize,
    bytes: Vec<u8>,
}

impl Write for Tail {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        let over = self.bytes.len().saturating_sub(self.most);
        self.bytes.drain(..over);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn unread(file: &Path, source: io::Error) -> Error {
    Error::ReadFile { path: file.to_owned(), source }
}

fn copy(
    mut input: Box<dyn Read + '_>,
    file: &Path,
    (from, bytes): (u64, u64),
    to: &Path,
    take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), Error> {
    let unread = |source| unread(file, source);
    let skipped = pour(&mut *input, from, |_| Ok(())).map_err(unread)?;
    let mut unwritten = None;
    let poured = pour(&mut *input, bytes, |piece| {
        take(piece).map_err(|error| {
            let kind = error.kind();
            unwritten = Some(error);
            kind.into()
        })
    });
    match (poured, unwritten) {
        (_, Some(source)) => Err(Error::WriteFile { path: to.to_owned(), source }),
        (Err(source), None) => Err(unread(source)),
        // A missing range would be skipped silently.
        (Ok(poured), None) if skipped < from || (bytes != u64::MAX && poured < bytes) => {
            Err(unread(io::ErrorKind::UnexpectedEof.into()))
        }
        (Ok(_), None) => Ok(()),
    }
}
