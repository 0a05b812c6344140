//! The state of a file before or after a change: size, hash, time and permissions.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use super::disk::{Disk, FileKind, FileMetadata};
use super::refusal::Refusal;
use crate::Error;

/// The state of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Its size.
    pub bytes: u64,
    /// The SHA-256 of its bytes; `None` if only the metadata was read.
    pub hash: Option<Hash>,
    /// When it was last written, in nanoseconds since 1970.
    pub modified: Option<i64>,
    /// Its permissions, where the system has them.
    pub mode: Option<u32>,
}

impl FileState {
    /// Reads the file at `path`; `None` if nothing exists.
    ///
    /// # Errors
    /// If it cannot be read, or is not a regular file.
    pub fn of(disk: &dyn Disk, path: &Path) -> Result<Option<Self>, Error> {
        let Some(seen) = Self::seen(disk, path)? else { return Ok(None) };
        let (bytes, hash) = hash_file(disk, path)?;
        Ok(Some(Self { bytes, hash: Some(hash), ..seen }))
    }

    /// Reads the metadata of the file at `path`, not its bytes; `None` if nothing exists.
    pub(crate) fn seen(disk: &dyn Disk, path: &Path) -> Result<Option<Self>, Error> {
        let Some(metadata) = metadata(disk, path)? else { return Ok(None) };
        if metadata.kind != FileKind::File {
            return Err(Refusal::NotAFile { path: path.to_owned() }.into());
        }
        let FileMetadata { bytes, modified, mode, .. } = metadata;
        Ok(Some(Self { bytes, hash: None, modified, mode }))
    }

    /// Whether the metadata matches: cheap, and without reading its bytes.
    pub(crate) fn matches_metadata(&self, metadata: &FileMetadata) -> bool {
        metadata.kind == FileKind::File
            && metadata.bytes == self.bytes
            && metadata.modified == self.modified
    }

    /// Whether the bytes are the same, ignoring the time.
    pub(crate) fn same_bytes(&self, other: &Self) -> bool {
        self.bytes == other.bytes && self.hash.is_some() && self.hash == other.hash
    }
}

/// The SHA-256 of some bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash([u8; 32]);

impl Hash {
    /// Hashes bytes that are in memory.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.hash()
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bad = || serde::de::Error::custom("not a SHA-256");
        if text.len() != 64 {
            return Err(bad());
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            let pair = text.get(at * 2..at * 2 + 2).ok_or_else(bad)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| bad())?;
        }
        Ok(Self(bytes))
    }
}

/// Hashes bytes incrementally.
#[derive(Clone, Default)]
pub(crate) struct Hasher {
    inner: Sha256,
    bytes: u64,
}

impl Hasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.inner.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn hash(self) -> Hash {
        Hash(self.inner.finalize().into())
    }
}

/// Reads the metadata of a path.
pub(crate) fn metadata(disk: &dyn Disk, path: &Path) -> Result<Option<FileMetadata>, Error> {
    disk.metadata(path).map_err(|source| Error::ReadFile { path: path.to_owned(), source })
}

/// Reads a file to its end and returns its size and hash.
pub(crate) fn hash_file(disk: &dyn Disk, path: &Path) -> Result<(u64, Hash), Error> {
    let failed = |source| Error::ReadFile { path: path.to_owned(), source };
    let mut input = disk.read(path).map_err(failed)?;
    let mut hasher = Hasher::default();
    pour(&mut *input, u64::MAX, |piece| {
        hasher.update(piece);
        Ok(())
    })
    .map_err(failed)?;
    Ok((hasher.bytes(), hasher.hash()))
}

/// Passes up to `most` bytes of `input` on, a piece at a time. Returns their number.
pub(crate) fn pour(
    input: &mut dyn Read,
    most: u64,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<u64> {
    let mut buffer = vec![0; 256 * 1024];
    let mut input = input.take(most);
    let mut poured = 0;
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => return Ok(poured),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        take(buffer.get(..count).unwrap_or_default())?;
        poured += count as u64;
    }
}
