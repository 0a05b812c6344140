//! What will be in a file: bytes of ours and stretches of files that are there, so that what is not meant to change is
//! copied and never made anew, and no file need fit in memory.

use std::fmt::Debug;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::Disk;
use super::state::{Hash, Hasher, pour};
use crate::Error;

/// How much of what is made is written at a time.
const BLOCK: usize = 64 * 1024;

/// What will be in a file.
#[derive(Clone, Debug, Default)]
pub struct Content {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Bytes(Vec<u8>),
    Stretch { file: PathBuf, from: u64, bytes: u64 },
    Made(Arc<dyn Make>),
}

/// Who makes what will be in a file, piece by piece, so that it need not fit in memory.
///
/// It is asked twice, to measure and to write; that both were the same is checked.
pub trait Make: Debug + Send + Sync {
    /// Writes it.
    ///
    /// # Errors
    /// If what it is made of cannot be read, or `out` cannot be written.
    fn make(&self, out: &mut dyn Write) -> io::Result<()>;
}

impl Content {
    /// The whole of a file.
    pub fn of_file(file: impl Into<PathBuf>) -> Self {
        Self::default().then_stretch(file, 0, u64::MAX)
    }

    /// Bytes of ours.
    pub fn of_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::default().then_bytes(bytes)
    }

    /// What somebody makes.
    pub fn of_maker(maker: Arc<dyn Make>) -> Self {
        Self { pieces: vec![Piece::Made(maker)] }
    }

    /// Adds bytes of ours.
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

    /// Tells size and hash without writing anything.
    pub(crate) fn measure(&self, disk: &dyn Disk) -> Result<(u64, Hash), Error> {
        self.write(disk, &mut io::sink(), Path::new(""))
    }

    /// Writes it out to what will lie at `path`, and tells its size and hash.
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
                    let mut out = BufWriter::with_capacity(BLOCK, Pour(&mut take));
                    maker.make(&mut out).and_then(|()| out.flush()).map_err(unwritten)?;
                }
                Piece::Stretch { file, from, bytes } => {
                    copy(disk, file, *from, *bytes, path, &mut take)?;
                }
            }
        }
        Ok((hasher.bytes(), hasher.hash()))
    }
}

/// Writes by giving to a function.
struct Pour<'a>(&'a mut dyn FnMut(&[u8]) -> io::Result<()>);

impl Write for Pour<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn copy(
    disk: &dyn Disk,
    file: &Path,
    from: u64,
    bytes: u64,
    to: &Path,
    take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), Error> {
    let unread = |source| Error::ReadFile { path: file.to_owned(), source };
    let mut input = disk.read(file).map_err(unread)?;
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
        // A stretch that is not there would be left out in silence.
        (Ok(poured), None) if skipped < from || (bytes != u64::MAX && poured < bytes) => {
            Err(unread(io::ErrorKind::UnexpectedEof.into()))
        }
        (Ok(_), None) => Ok(()),
    }
}
