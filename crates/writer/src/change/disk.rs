//! The disk operations of a change: the change pipeline does everything through this trait, so that tests can stop it after
//! any operation, fill the disk, or simulate a power cut.

use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use recount_platform::DiskSpace;

/// A disk. Operations succeed or fail; none retries.
pub trait Disk: Debug + Sync {
    /// Returns the metadata of `path` itself, without following links; `None` if nothing exists.
    fn metadata(&self, path: &Path) -> io::Result<Option<FileMetadata>>;

    /// Opens a file for reading.
    fn read(&self, path: &Path) -> io::Result<Box<dyn Read + '_>>;

    /// Opens a file so that it can still be read after its name is gone.
    fn hold(&self, path: &Path) -> io::Result<Box<dyn HeldFile + '_>>;

    /// Lists the entries of a folder, sorted.
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>>;

    /// Returns the path with links resolved.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns the free space, if the system reports it.
    fn room(&self, path: &Path) -> Option<DiskSpace>;

    /// Creates one folder; fails if anything exists.
    fn make_folder(&self, path: &Path, mode: Option<u32>) -> io::Result<()>;

    /// Removes an empty folder.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// Creates a file that only its owner can read; fails if anything exists.
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile + '_>>;

    /// Opens a file of recount's own to continue at `at`; anything after that is cut off.
    fn continue_at(&self, path: &Path, at: u64) -> io::Result<Box<dyn NewFile + '_>>;

    /// Appends one line to a file of recount's own, which need not exist, and syncs it. An incomplete line that a crash
    /// left at the end is terminated first.
    fn append_line(&self, path: &Path, line: &[u8]) -> io::Result<()>;

    /// Appends bytes to a file, which need not exist, as an agent does.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Replaces the content of a file, which need not exist, as an agent does.
    fn overwrite(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Renames a file in the same file system; an existing file of that name is replaced atomically.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Syncs the names in a folder.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Sets the time of a folder to the system's current time.
    fn touch_folder(&self, path: &Path) -> io::Result<()>;

    /// Takes the system's lock on a file until the result is dropped; `None` if there is no file, or locks are not
    /// supported.
    ///
    /// It does not wait: [`io::ErrorKind::WouldBlock`] while another process has the lock.
    fn lock_file(&self, path: &Path) -> io::Result<Option<Box<dyn Debug + '_>>>;
}

/// A file that is being written.
pub trait NewFile: Write {
    /// Sets its time and permissions, and syncs its bytes.
    fn finish(self: Box<Self>, modified: Option<i64>, mode: Option<u32>) -> io::Result<()>;
}

/// An open file, independent of its name.
pub trait HeldFile {
    /// Returns its current metadata.
    fn metadata(&self) -> io::Result<FileMetadata>;

    /// Reads all of it.
    fn bytes(&mut self) -> io::Result<Vec<u8>>;
}

/// The metadata of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMetadata {
    /// What it is.
    pub kind: FileKind,
    /// Its size.
    pub bytes: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified: Option<i64>,
    /// Its permissions, where the system has them.
    pub mode: Option<u32>,
}

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a device, or another type.
    Other,
}
