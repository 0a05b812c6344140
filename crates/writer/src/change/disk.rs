//! What a change asks of a disk: everything the change pipeline does goes through this trait, so that tests can stop it after any
//! operation, fill the disk, or pull the plug.

use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use recount_platform::Room;

/// A disk. Operations do what they say or fail; none retries.
pub trait Disk: Debug + Sync {
    /// Tells what lies at `path` itself, links not followed; `None` if nothing does.
    fn look(&self, path: &Path) -> io::Result<Option<Look>>;

    /// Opens a file for reading.
    fn read(&self, path: &Path) -> io::Result<Box<dyn Read + '_>>;

    /// Opens a file so that it can be looked at when its name is gone.
    fn hold(&self, path: &Path) -> io::Result<Box<dyn HeldFile + '_>>;

    /// Lists what lies in a folder, sorted.
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>>;

    /// Returns the path without links on the way.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// Tells how much room there is, if the system says.
    fn room(&self, path: &Path) -> Option<Room>;

    /// Makes one folder; it is an error if there is anything.
    fn make_folder(&self, path: &Path, mode: Option<u32>) -> io::Result<()>;

    /// Removes an empty folder.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// Begins a new file that only its owner can read; it is an error if there is anything.
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile + '_>>;

    /// Opens a file of ours to go on at `at`; what lies behind that is cut off.
    fn go_on(&self, path: &Path, at: u64) -> io::Result<Box<dyn NewFile + '_>>;

    /// Adds one line to a file of ours, which need not be there, and makes sure that it is on disk. What a crash left of a
    /// line at the end is closed first.
    fn append_line(&self, path: &Path, line: &[u8]) -> io::Result<()>;

    /// Adds bytes to a file, which need not be there, as an agent does.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Puts bytes in the place of what is in a file, which need not be there, as an agent does.
    fn overwrite(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Gives a file another name in the same file system; what has that name is replaced in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes sure that names in a folder are on disk.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Sets the time of a folder to now, by the system's clock.
    fn touch_folder(&self, path: &Path) -> io::Result<()>;

    /// Takes the system's lock on a file until what is returned is dropped; `None` if there is no file, or there are no locks.
    ///
    /// It does not wait: [`io::ErrorKind::WouldBlock`] while another process has the lock.
    fn lock_file(&self, path: &Path) -> io::Result<Option<Box<dyn Debug + '_>>>;
}

/// A file that is being written.
pub trait NewFile: Write {
    /// Sets its time and permissions, and makes sure that its bytes are on disk.
    fn finish(self: Box<Self>, modified: Option<i64>, mode: Option<u32>) -> io::Result<()>;
}

/// A file, whatever its name is.
pub trait HeldFile {
    /// Tells what it is now.
    fn look(&self) -> io::Result<Look>;

    /// Reads all of it.
    fn bytes(&mut self) -> io::Result<Vec<u8>>;
}

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// What it is.
    pub kind: FileKind,
    /// Its size.
    pub bytes: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified: Option<i64>,
    /// Its permissions, where the system has such.
    pub mode: Option<u32>,
}

/// What kind of thing lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a device.
    Other,
}
