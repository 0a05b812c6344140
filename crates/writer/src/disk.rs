//! The write functions: only this file and `real.rs` below it may change bytes on disk.
//!
//! Each function documents what a reader can find after a crash at any moment. None of them reads, decides or retries; that
//! is up to their callers.

#![expect(clippy::disallowed_methods, reason = "the one place exempt from the write ban")]

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant, SystemTime},
};

use jiff::Timestamp;

use crate::Error;

mod real;

pub use real::RealDisk;

/// Writes `bytes` to `path`, replacing an existing file atomically.
///
/// The bytes are written to a temporary file in the same folder with the old file's permissions, synced and renamed over
/// it; then the folder is synced.
///
/// After a crash or a power cut at any point `path` has either its complete old content or its complete new content. Once
/// the function has returned `Ok` it is the new one. A crash (not an error) may leave the temporary file: it is called
/// `.NAME.PID-N.tmp` and nobody reads it.
///
/// If `path` is a symbolic link, the link itself is replaced, not its target.
///
/// # Errors
///
/// On every error except [`Error::SyncFolder`] the old content is untouched and the temporary file is removed.
/// [`Error::SyncFolder`] means that the new content is in place, but may be lost in a power cut.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let (leftover, mut file) = create_beside(path, ANYONE)?;
    // Before the bytes are written: a private file must never be readable by others.
    copy_permissions(path, &file, leftover.path())?;
    put(path, bytes, leftover, &mut file)
}

/// Writes `bytes` to `path`, a file of recount's own that only its owner may read, like [`write_atomically`]. The
/// permissions of an older file are not kept.
///
/// # Errors
///
/// Those of [`write_atomically`].
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let (leftover, mut file) = create_beside(path, OWNER)?;
    put(path, bytes, leftover, &mut file)
}

fn put(path: &Path, bytes: &[u8], leftover: Leftover, file: &mut File) -> Result<(), Error> {
    fill(file, leftover.path(), bytes)?;
    file.sync_all()
        .map_err(|source| Error::SyncFile { path: leftover.path().to_owned(), source })?;
    fs::rename(leftover.path(), path)
        .map_err(|source| Error::ReplaceFile { path: path.to_owned(), source })?;
    leftover.keep();
    sync_folder(folder_of(path))
}

/// Writes the output of `content` to `path`, replacing an existing file atomically. Returns its size.
///
/// For files that can be created again and may be larger than memory, such as exports: the bytes are written to a temporary
/// file in the same folder, which is renamed; nothing is synced. After a kill at any point `path` has its complete old or
/// new content; after a power cut it may be empty or short. A kill may leave the temporary file, as with
/// [`write_atomically`].
///
/// # Errors
///
/// Those of [`write_atomically`]; [`Error::WriteFile`] if `content` fails. The old content is then untouched.
pub fn write_with(
    path: &Path,
    content: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<u64, Error> {
    let mut draft = Draft::new(path)?;
    content(&mut draft)
        .map_err(|source| Error::WriteFile { path: path.to_owned(), source })
        .and_then(|()| draft.finish())
}

/// A file that is being written, for callers that write several at once; see [`write_with`]. It does not exist under its
/// name before [`finish`](Self::finish), and never if it is dropped.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    out: io::BufWriter<File>,
    leftover: Leftover,
}

impl Draft {
    /// Starts a file that will be at `path`.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be created.
    pub fn new(path: &Path) -> Result<Self, Error> {
        let (leftover, file) = create_beside(path, ANYONE).map_err(|error| {
            // People know the file by the name they gave it.
            if let Error::CreateFile { source, .. } = error {
                return Error::CreateFile { path: path.to_owned(), source };
            }
            error
        })?;
        copy_permissions(path, &file, leftover.path())?;
        let out = io::BufWriter::with_capacity(256 * 1024, file);
        Ok(Self { path: path.to_owned(), out, leftover })
    }

    /// Moves the file into place, and returns its size.
    ///
    /// # Errors
    ///
    /// If it cannot be written completely or renamed. An existing file is then untouched.
    pub fn finish(self) -> Result<u64, Error> {
        self.finish_at(None)
    }

    /// Moves the file into place with a modification time, and returns its size.
    ///
    /// # Errors
    ///
    /// As [`Draft::finish`].
    pub fn finish_at(mut self, modified: Option<Timestamp>) -> Result<u64, Error> {
        let failed = |source| Error::WriteFile { path: self.path.clone(), source };
        self.out.flush().map_err(failed)?;
        if let Some(modified) = modified {
            let set = self.out.get_ref().set_modified(SystemTime::from(modified));
            set.map_err(|source| Error::SetTime { path: self.path.clone(), source })?;
        }
        let length =
            self.out.get_ref().metadata().map(|metadata| metadata.len()).map_err(failed)?;
        let Self { path, out, leftover } = self;
        drop(out);
        fs::rename(leftover.path(), &path)
            .map_err(|source| Error::ReplaceFile { path: path.clone(), source })?;
        leftover.keep();
        Ok(length)
    }
}

impl io::Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Opens a file for appending, which only the user may read if it is new.
///
/// # Errors
///
/// [`Error::CreateFile`] if it cannot be opened.
pub fn append_private(path: &Path) -> Result<File, Error> {
    let mut options = File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|source| Error::CreateFile { path: path.to_owned(), source })
}

/// Locks `path` against other runs until the lock is dropped.
///
/// It is a lock on an empty file beside it, `NAME.lock`, which the system releases when its holder dies.
///
/// # Errors
///
/// [`Error::Busy`] if another run holds it for longer than `timeout`, [`Error::CreateFile`] if it cannot be created.
pub fn lock(path: &Path, timeout: Duration) -> Result<Lock, Error> {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(".lock");
    let beside = path.with_file_name(name);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let lock = with_mode(&mut options, OWNER)
        .open(&beside)
        .map_err(|source| Error::CreateFile { path: beside, source })?;
    let began = Instant::now();
    let mut held = true;
    while let Err(error) = lock.try_lock() {
        match error {
            TryLockError::WouldBlock if began.elapsed() < timeout => {
                thread::sleep(Duration::from_millis(10));
            }
            // Some network disks do not support locks; there, the last run to write wins.
            TryLockError::Error(error) if error.kind() == io::ErrorKind::Unsupported => {
                held = false;
                break;
            }
            TryLockError::WouldBlock | TryLockError::Error(_) => {
                return Err(Error::Busy { path: path.to_owned() });
            }
        }
    }
    Ok(Lock { _file: lock, held })
}

/// A lock on a file, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    held: bool,
}

impl Lock {
    /// Whether others are locked out: some disks do not support locks.
    pub fn is_held(&self) -> bool {
        self.held
    }
}

/// Replaces the content of `path` by the result of `change`, under a lock; `None` leaves it unchanged.
///
/// The lock is on an empty file beside it, `NAME.lock`, which the system releases when its holder dies. See
/// [`write_atomically`] for the state after a crash.
///
/// # Errors
///
/// [`Error::Busy`] if another run holds the lock for ten seconds, [`Error::ReadFile`] if an existing file cannot be read;
/// else those of [`write_atomically`].
pub fn update(
    path: &Path,
    change: impl FnOnce(Option<Vec<u8>>) -> Option<Vec<u8>>,
) -> Result<(), Error> {
    let _lock = lock(path, Duration::from_secs(10))?;
    let read = recount_files::open_following(path).and_then(|mut file| {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map(|_| bytes)
    });
    let old = match read {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        // An unreadable file must not be treated as missing, and replaced.
        Err(source) => return Err(Error::ReadFile { path: path.to_owned(), source }),
    };
    match change(old) {
        Some(bytes) => write_private(path, &bytes),
        None => Ok(()),
    }
}

/// Removes the file `path`, if it exists.
///
/// After a crash it exists completely or not at all.
///
/// # Errors
///
/// [`Error::RemoveFile`] if it cannot be removed.
pub fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::RemoveFile { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Removes the folder `path` if it is empty.
///
/// # Errors
///
/// [`Error::RemoveFile`] if it is empty and cannot be removed.
pub fn remove_empty_folder(path: &Path) -> Result<(), Error> {
    use io::ErrorKind::{DirectoryNotEmpty, NotFound};
    match fs::remove_dir(path) {
        Err(source) if !matches!(source.kind(), DirectoryNotEmpty | NotFound) => {
            Err(Error::RemoveFile { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Creates `path` with `bytes` in it, and optionally a modification time; never overwrites.
///
/// For files that can be created again, such as synthetic homes: nothing is synced. After a crash the file may be missing,
/// empty or short.
///
/// # Errors
///
/// [`Error::AlreadyExists`] if anything exists at `path`, which is then left alone. On any other error no file is left
/// behind.
pub fn create_new(path: &Path, bytes: &[u8], modified: Option<Timestamp>) -> Result<(), Error> {
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Error::AlreadyExists { path: path.to_owned() });
        }
        Err(source) => return Err(Error::CreateFile { path: path.to_owned(), source }),
    };
    let leftover = Leftover { path: Some(path.to_owned()) };
    fill(&mut file, path, bytes)?;
    if let Some(modified) = modified {
        file.set_modified(SystemTime::from(modified))
            .map_err(|source| Error::SetTime { path: path.to_owned(), source })?;
    }
    leftover.keep();
    Ok(())
}

/// Creates the folder `path` and its missing parents; does nothing if it exists already.
///
/// After a crash any leading part of the path may exist.
///
/// # Errors
///
/// [`Error::CreateFolder`] if a part of the path cannot be created, or is a file. Folders that were already created stay.
pub fn create_folders(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|source| Error::CreateFolder { path: path.to_owned(), source })
}

/// Creates the private folder `path` for recount's own data, with its missing parents. An existing one that others may read
/// is made private, with everything in it.
///
/// # Errors
///
/// As [`create_folders`].
pub fn create_private_folder(path: &Path) -> Result<(), Error> {
    if close(path) {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|source| Error::CreateFolder { path: path.to_owned(), source })
}

/// Makes the folder `path` of recount's own private, with everything in it, if others may read it. Returns whether it
/// exists.
pub fn close(path: &Path) -> bool {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_dir);
    if found.as_ref().is_some_and(is_open_to_others) {
        make_private(path);
    }
    found.is_some()
}

/// Creates the file `path` of recount's own, empty and private, for a library that would create it readable for everybody.
/// An existing one is left alone, and one that cannot be created is left to that library.
pub fn create_private_file(path: &Path) {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    drop(with_mode(&mut options, OWNER).open(path));
}

/// Removes the permissions of others from a folder of recount's own and from everything in it. Links are left alone, and so
/// are files of other users.
#[cfg(unix)]
pub fn make_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;

    // From the outside in: once the first folder is private nobody can reach the rest.
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_symlink() {
            continue;
        }
        if is_open_to_others(&metadata) {
            let mode = metadata.permissions().mode() & 0o700;
            drop(fs::set_permissions(&path, fs::Permissions::from_mode(mode)));
        }
        if metadata.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(entries.map(|entry| entry.path()));
        }
    }
}

/// Other systems protect a user's folders by themselves.
#[cfg(not(unix))]
pub fn make_private(_path: &Path) {}

#[cfg(unix)]
fn is_open_to_others(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_metadata: &fs::Metadata) -> bool {
    false
}

/// The mode of a new file, before the user's umask.
const ANYONE: u32 = 0o666;
/// The mode of a new file of recount's own.
const OWNER: u32 = 0o600;

#[cfg(unix)]
fn with_mode(options: &mut OpenOptions, mode: u32) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, mode)
}

#[cfg(not(unix))]
fn with_mode(options: &mut OpenOptions, _mode: u32) -> &mut OpenOptions {
    options
}

/// Removes an unfinished file when dropped, unless it is kept.
#[derive(Debug)]
struct Leftover {
    path: Option<PathBuf>,
}

impl Leftover {
    fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }

    fn keep(mut self) {
        self.path = None;
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // The original error is the one to report; a second one adds nothing.
            drop(fs::remove_file(path));
        }
    }
}

/// Opens a temporary file of an unused name in the folder of `path`.
fn create_beside(path: &Path, mode: u32) -> Result<(Leftover, File), Error> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| Error::NotAFile { path: path.to_owned() })?;
    loop {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{}.tmp", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let beside = path.with_file_name(hidden);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        match with_mode(&mut options, mode).open(&beside) {
            Ok(file) => return Ok((Leftover { path: Some(beside) }, file)),
            // Left by a crashed process of the same id: the next number is free.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(Error::CreateFile { path: beside, source }),
        }
    }
}

fn fill(file: &mut File, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    file.write_all(bytes).map_err(|source| Error::WriteFile { path: path.to_owned(), source })
}

/// Gives the new file the permissions of the regular file it will replace, if there is one.
fn copy_permissions(old: &Path, new: &File, new_path: &Path) -> Result<(), Error> {
    match fs::symlink_metadata(old) {
        Ok(metadata) if metadata.is_file() => new
            .set_permissions(metadata.permissions())
            .map_err(|source| Error::SetPermissions { path: new_path.to_owned(), source }),
        _ => Ok(()),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes a rename in `folder` survive a power cut.
fn sync_folder(folder: &Path) -> Result<(), Error> {
    // Folders cannot be opened as files on Windows; its file system journals renames by itself.
    if !cfg!(unix) {
        return Ok(());
    }
    File::open(folder)
        .and_then(|handle| handle.sync_all())
        .map_err(|source| Error::SyncFolder { path: folder.to_owned(), source })
}

#[cfg(test)]
mod tests;
