//! Lists a folder, and reads what its entries look like through the open folder: no path is resolved twice.

use std::ffi::{OsStr, OsString};
use std::fs::{FileType, Metadata};
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// A folder that is open.
#[derive(Debug)]
pub struct OpenFolder(system::Handle);

/// What an entry of a folder is. A link is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryType {
    /// A folder.
    Folder,
    /// A regular file.
    File,
    /// A link.
    Link,
    /// Anything else.
    Other,
}

/// What a file looks like from outside.
#[derive(Clone, Copy, Debug)]
pub struct FileStatus {
    /// What it is.
    pub kind: EntryType,
    /// Its size.
    pub bytes: u64,
    /// When it was last written, in nanoseconds since 1970; `None` if before.
    pub modified: Option<i128>,
    /// Its inode number; 0 where there are none.
    pub inode: u64,
    /// When its content or its permissions last changed, in nanoseconds since 1970; 0 where that is not known.
    pub changed: i128,
}

impl EntryType {
    fn of(kind: FileType) -> Self {
        if kind.is_dir() {
            Self::Folder
        } else if kind.is_file() {
            Self::File
        } else if kind.is_symlink() {
            Self::Link
        } else {
            Self::Other
        }
    }
}

impl OpenFolder {
    /// Opens a folder.
    ///
    /// # Errors
    /// If it cannot be opened, or is not a folder.
    pub fn open(path: &Path) -> io::Result<Self> {
        system::open(path).map(Self)
    }

    /// Opens a folder in this one.
    ///
    /// # Errors
    /// If it cannot be opened, or is not a folder.
    pub fn inner(&self, name: &OsStr) -> io::Result<Self> {
        system::inner(&self.0, name).map(Self)
    }

    /// Lists what is in it, sorted by name so that two runs see the same. What cannot be read is left out.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn list(&self) -> io::Result<Vec<(OsString, EntryType)>> {
        let mut listed = system::list(&self.0)?;
        listed.sort_unstable_by(|one, next| one.0.cmp(&next.0));
        Ok(listed)
    }

    /// Reads what an entry looks like, without following a link.
    ///
    /// # Errors
    /// If it is not there, or cannot be looked at.
    pub fn status(&self, name: &OsStr) -> io::Result<FileStatus> {
        system::status(&self.0, name)
    }
}

impl FileStatus {
    /// Returns the same from the metadata of a file.
    pub fn of(metadata: &Metadata) -> Self {
        let kind = EntryType::of(metadata.file_type());
        let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            kind,
            bytes: metadata.len(),
            modified: since.and_then(|since| i128::try_from(since.as_nanos()).ok()),
            inode: inode(metadata),
            changed: changed(metadata),
        }
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> i128 {
    use std::os::unix::fs::MetadataExt as _;

    i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn changed(_metadata: &Metadata) -> i128 {
    0
}

#[cfg(not(unix))]
fn inode(_metadata: &Metadata) -> u64 {
    0
}

#[cfg(target_os = "linux")]
mod system {
    use std::ffi::{OsStr, OsString};
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, openat, statat};

    use super::{EntryType, FileStatus};

    pub(super) type Handle = OwnedFd;

    /// Room for the names of a few hundred files, so that most folders are listed in one call.
    const ROOM: usize = 16 * 1024;

    pub(super) fn open(path: &Path) -> io::Result<Handle> {
        open_at(CWD, path.as_os_str())
    }

    pub(super) fn inner(folder: &Handle, name: &OsStr) -> io::Result<Handle> {
        open_at(folder, name)
    }

    fn open_at(above: impl AsFd, name: &OsStr) -> io::Result<Handle> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        Ok(openat(above, name, flags, Mode::empty())?)
    }

    pub(super) fn list(folder: &Handle) -> io::Result<Vec<(OsString, EntryType)>> {
        let mut listed = Vec::new();
        let mut buffer = [MaybeUninit::<u8>::uninit(); ROOM];
        let mut entries = RawDir::new(folder, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not report it.
                FileType::Unknown => match status(folder, name) {
                    Ok(status) => status.kind,
                    Err(_) => EntryType::Other,
                },
                known => kind(known),
            };
            listed.push((name.to_owned(), kind));
        }
        Ok(listed)
    }

    pub(super) fn status(folder: &Handle, name: &OsStr) -> io::Result<FileStatus> {
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let modified = nanos(stat.st_mtime, stat.st_mtime_nsec);
        Ok(FileStatus {
            kind: kind(FileType::from_raw_mode(stat.st_mode)),
            bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: (modified >= 0).then_some(modified),
            inode: stat.st_ino,
            changed: nanos(stat.st_ctime, stat.st_ctime_nsec),
        })
    }

    fn nanos(seconds: impl Into<i128>, nanos: impl Into<i128>) -> i128 {
        seconds.into() * 1_000_000_000 + nanos.into()
    }

    fn kind(kind: FileType) -> EntryType {
        match kind {
            FileType::Directory => EntryType::Folder,
            FileType::RegularFile => EntryType::File,
            FileType::Symlink => EntryType::Link,
            _ => EntryType::Other,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::ffi::{OsStr, OsString};
    use std::path::{Path, PathBuf};
    use std::{fs, io};

    use super::{EntryType, FileStatus};

    pub(super) type Handle = PathBuf;

    pub(super) fn open(path: &Path) -> io::Result<Handle> {
        fs::read_dir(path).map(|_| path.to_owned())
    }

    pub(super) fn inner(folder: &Handle, name: &OsStr) -> io::Result<Handle> {
        open(&folder.join(name))
    }

    pub(super) fn list(folder: &Handle) -> io::Result<Vec<(OsString, EntryType)>> {
        let entries = fs::read_dir(folder)?.flatten();
        let listed = entries.map(|entry| {
            let kind = entry.file_type().map_or(EntryType::Other, EntryType::of);
            (entry.file_name(), kind)
        });
        Ok(listed.collect())
    }

    pub(super) fn status(folder: &Handle, name: &OsStr) -> io::Result<FileStatus> {
        fs::symlink_metadata(folder.join(name)).map(|metadata| FileStatus::of(&metadata))
    }
}
