//! Files that may be compressed, read by offsets of their content.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

use zstd::stream::read::Decoder;

use super::open;

/// The first bytes of a zstd frame.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The content of a compressed file up to this size is kept in memory once it is read out of order: seeking back would
/// decompress it again from its start.
const KEPT: u64 = 32 * 1024 * 1024;

/// The maximum ratio of unpacked to packed size. Sessions compress to a tenth, rarely to a hundredth.
const DENSEST: u64 = 1000;

/// At most this much more is read than there was when the file was opened.
const GROWTH: u64 = 64 * 1024 * 1024;

/// A file read by its content: plain, or decompressed. Offsets are those of the content.
#[derive(Debug)]
pub struct Input {
    kind: Kind,
    /// The current offset.
    at: u64,
    /// Where the content ends for this reader: a file that grows without end, or a decompression bomb, must not block it
    /// forever.
    limit: u64,
    is_torn: bool,
}

enum Kind {
    Plain(File),
    Zstd {
        file: File,
        decoder: Decoder<'static, BufReader<File>>,
    },
    /// All of a compressed file.
    Kept(Vec<u8>),
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Zstd { .. } => "Zstd",
            Self::Kept(_) => "Kept",
        })
    }
}

impl Input {
    /// Opens a regular file. Whether it is compressed is decided by its first bytes, not by its name.
    ///
    /// # Errors
    /// If it cannot be opened or read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = open(path)?;
        let size = file.metadata()?.len();
        let mut magic = [0; ZSTD.len()];
        let mut read = 0;
        while let Some(rest) = magic.get_mut(read..).filter(|rest| !rest.is_empty()) {
            match file.read(rest)? {
                0 => break,
                count => read += count,
            }
        }
        file.seek(SeekFrom::Start(0))?;
        let is_packed = magic == ZSTD && read == ZSTD.len();
        let limit = size.saturating_mul(if is_packed { DENSEST } else { 1 }).saturating_add(GROWTH);
        let kind = if is_packed {
            Kind::Zstd { decoder: Decoder::new(file.try_clone()?)?, file }
        } else {
            Kind::Plain(file)
        };
        Ok(Self { kind, at: 0, limit, is_torn: false })
    }

    /// Whether the file is compressed.
    pub fn is_compressed(&self) -> bool {
        !matches!(self.kind, Kind::Plain(_))
    }

    /// Whether reading reached a place where the compressed data is cut off or damaged: what comes before it was read.
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Seeks to an offset of the content. In a compressed file seeking forward is linear, and the first seek back keeps a
    /// small file in memory.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn seek_to(&mut self, offset: u64) -> io::Result<()> {
        match &mut self.kind {
            Kind::Plain(file) => {
                file.seek(SeekFrom::Start(offset))?;
                self.at = offset;
            }
            Kind::Kept(_) => self.at = offset,
            Kind::Zstd { .. } if offset >= self.at => self.skip(offset - self.at)?,
            Kind::Zstd { .. } => {
                self.rewind()?;
                self.skip(offset)?;
            }
        }
        Ok(())
    }

    fn skip(&mut self, count: u64) -> io::Result<()> {
        io::copy(&mut self.by_ref().take(count), &mut io::sink())?;
        Ok(())
    }

    /// Restarts a compressed file, or keeps all of it in memory if it is small.
    fn rewind(&mut self) -> io::Result<()> {
        let Kind::Zstd { file, decoder } = &mut self.kind else { return Ok(()) };
        file.seek(SeekFrom::Start(0))?;
        *decoder = Decoder::new(file.try_clone()?)?;
        (self.at, self.is_torn) = (0, false);
        let mut content = Vec::new();
        let read = (&mut *decoder).take(KEPT + 1).read_to_end(&mut content);
        if let Err(error) = read {
            if content.is_empty() || !is_damage(&error) {
                return Err(error);
            }
            self.is_torn = true;
        }
        if content.len() as u64 <= KEPT {
            self.kind = Kind::Kept(content);
            return Ok(());
        }
        file.seek(SeekFrom::Start(0))?;
        *decoder = Decoder::new(file.try_clone()?)?;
        Ok(())
    }
}

/// Whether the compressed data is the cause of an error, and not the disk.
fn is_damage(error: &io::Error) -> bool {
    error.raw_os_error().is_none() && error.kind() != io::ErrorKind::Interrupted
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.limit.saturating_sub(self.at)).unwrap_or(usize::MAX);
        if left == 0 && matches!(self.kind, Kind::Zstd { .. }) {
            let kind = io::ErrorKind::FileTooLarge;
            return Err(io::Error::new(kind, "it unpacks to far more than a session"));
        }
        let most = into.len().min(left);
        let into = into.get_mut(..most).unwrap_or_default();
        let count = match &mut self.kind {
            Kind::Plain(file) => file.read(into)?,
            Kind::Zstd { .. } if self.is_torn => 0,
            Kind::Zstd { decoder, .. } => match decoder.read(into) {
                Err(error) if self.at > 0 && is_damage(&error) => {
                    self.is_torn = true;
                    0
                }
                read => read?,
            },
            Kind::Kept(content) => {
                let at = usize::try_from(self.at).unwrap_or(usize::MAX).min(content.len());
                content.get(at..).unwrap_or_default().read(into)?
            }
        };
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "test setup")]
mod tests {
    use super::*;

    fn content(input: &mut Input, offset: u64, count: u64) -> Vec<u8> {
        input.seek_to(offset).unwrap();
        let mut bytes = Vec::new();
        input.take(count).read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn offsets_are_those_of_the_content_whether_it_is_compressed_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let text: Vec<u8> = (0..100_000u32).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        // Two frames, one after the other, like a file that was appended to.
        let (first, second) = text.split_at(300_000);
        let packed = [zstd::encode_all(first, 3).unwrap(), zstd::encode_all(second, 3).unwrap()];
        for (name, bytes) in [("plain", text.clone()), ("packed", packed.concat())] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let mut input = Input::open(&path).unwrap();
            assert_eq!(input.is_compressed(), name == "packed");
            for (offset, count) in [(10, 20), (400_000, 50), (299_990, 20), (0, 7), (588_000, 5000)]
            {
                let at = usize::try_from(offset).unwrap();
                let end = (at + usize::try_from(count).unwrap()).min(text.len());
                assert_eq!(content(&mut input, offset, count), text[at..end], "{name} {offset}");
            }
        }
    }

    #[test]
    fn what_comes_before_damage_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let text: Vec<u8> = (0..100_000u32).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        let packed = zstd::encode_all(&*text, 3).unwrap();
        std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
        let mut input = Input::open(&path).unwrap();
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).unwrap();
        assert!(input.is_torn() && bytes.len() > 1000);
        assert_eq!(bytes, text[..bytes.len()]);
        assert_eq!(content(&mut input, 10, 20), text[10..30]);
        assert!(!Input::open(&path).unwrap().is_torn());
    }

    #[test]
    fn a_damaged_or_short_file_is_an_error_or_plain() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, &ZSTD[..3]).unwrap();
        assert!(!Input::open(&path).unwrap().is_compressed());
        let packed = zstd::encode_all(&b"hello hello hello hello"[..], 3).unwrap();
        std::fs::write(&path, &packed[..packed.len() - 4]).unwrap();
        let mut bytes = Vec::new();
        assert!(Input::open(&path).unwrap().read_to_end(&mut bytes).is_err());
    }
}
