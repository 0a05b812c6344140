//! Opens files. Every reader of files that other programs write opens them here.
//!
//! Agents, and whatever agents run, write into the folders that are read. A session file in a
//! listing may be a link to a device, a pipe or a secret by the time it is opened. So nothing is
//! checked before opening: the file is opened without following links and without blocking, and its
//! type is read from the open descriptor. Parent folders may have become links, too: for a file in
//! an agent's data folder, the real path of the descriptor is checked as well.

#![expect(clippy::disallowed_methods, reason = "the one place where files are opened for reading")]

mod folder;

use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Take};
use std::path::{Component, Path, PathBuf};
use std::sync::{PoisonError, RwLock};

pub use folder::{EntryType, FileStatus, OpenFolder};

/// At most this much of what is appended during a read is read; the next read gets the rest.
const GROWTH: u64 = 64 * 1024 * 1024;

/// Links that were checked, with the identity of their targets at that time.
static ACCEPTED: RwLock<Option<HashMap<PathBuf, Identity>>> = RwLock::new(None);

/// Data folders, each with the real folders that its files may be in.
static CONFINED: RwLock<Vec<(PathBuf, Vec<PathBuf>)>> = RwLock::new(Vec::new());

/// The identity of a file, independent of its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

/// Opens a regular file for reading. A link is refused, unless it was accepted and still leads to
/// the same file.
///
/// # Errors
/// If it cannot be opened, is a link, or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    open_with_metadata(path).map(|(file, _)| file)
}

fn open_with_metadata(path: &Path) -> io::Result<(File, Metadata)> {
    // Nearly all paths have no link in them, and are their own real path.
    if is_named_in_place(path)
        && let Some(file) = open_without_links(path)
    {
        return regular(file);
    }
    match open_here(path) {
        Ok(file) => {
            let (file, metadata) = regular(file)?;
            if is_in_place(&file, path) { Ok((file, metadata)) } else { Err(refused()) }
        }
        Err(error) if is_link(&error, path) => open_accepted(path),
        Err(error) => Err(error),
    }
}

/// Opens a regular file and follows links: for files that people link themselves, such as settings.
///
/// # Errors
/// If it cannot be opened, or is not a regular file.
pub fn open_following(path: &Path) -> io::Result<File> {
    regular(options(true).open(path)?).map(|(file, _)| file)
}

/// Opens a file like [`open`], limited to its size when it was opened plus a bounded growth.
///
/// # Errors
/// If it cannot be opened, is a link, or is not a regular file.
pub fn open_bounded(path: &Path) -> io::Result<Take<File>> {
    let (file, metadata) = open_with_metadata(path)?;
    let limit = metadata.len().saturating_add(GROWTH);
    Ok(file.take(limit))
}

/// Accepts a link with its target: [`open`] then follows it as long as it leads to that target.
pub fn accept_link(link: &Path, target: &Metadata) {
    let Some(identity) = identity(target) else { return };
    let mut accepted = ACCEPTED.write().unwrap_or_else(PoisonError::into_inner);
    accepted.get_or_insert_default().insert(link.to_owned(), identity);
}

/// Confines a data folder: [`open`] then refuses files named below it whose real path is elsewhere
/// because a parent folder became a link. `folders` in it may already be links.
pub fn confine<'a>(root: &Path, folders: impl IntoIterator<Item = &'a Path>) {
    let Ok(real) = root.canonicalize() else { return };
    let folders = folders.into_iter().filter_map(|folder| folder.canonicalize().ok());
    let outside: Vec<PathBuf> = folders.filter(|folder| !folder.starts_with(&real)).collect();
    let places: Vec<PathBuf> = std::iter::once(real).chain(outside).collect();
    let mut confined = CONFINED.write().unwrap_or_else(PoisonError::into_inner);
    match confined.iter_mut().find(|(known, _)| known == root) {
        Some((_, known)) => *known = places,
        None => confined.push((root.to_owned(), places)),
    }
}

/// Whether a path is in the data folder that it names, if there is no link in it.
fn is_named_in_place(path: &Path) -> bool {
    let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    let confined = CONFINED.read().unwrap_or_else(PoisonError::into_inner);
    let mut places = confined.iter().filter(|(root, _)| path.starts_with(root));
    places.any(|(_, places)| places.iter().any(|place| path.starts_with(place)))
        && path.is_absolute()
        && path.components().all(is_plain)
}

/// Opens a file, unless there is a link in its path or the system cannot tell.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_without_links(path: &Path) -> Option<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok().map(File::from)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_without_links(_path: &Path) -> Option<File> {
    None
}

/// Whether an open file is in the data folder that its path names. True where the system does not
/// report the path.
fn is_in_place(file: &File, path: &Path) -> bool {
    let confined = CONFINED.read().unwrap_or_else(PoisonError::into_inner);
    let mut places = confined.iter().filter(|(root, _)| path.starts_with(root)).peekable();
    if places.peek().is_none() {
        return true;
    }
    let Some(real) = place(file) else { return true };
    places.any(|(_, places)| places.iter().any(|place| real.starts_with(place)))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn place(file: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd as _;

    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

#[cfg(target_vendor = "apple")]
fn place(file: &File) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;

    let path = rustix::fs::getpath(file).ok()?;
    Some(std::ffi::OsString::from_vec(path.into_bytes()).into())
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn place(_file: &File) -> Option<PathBuf> {
    None
}

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "a link, which is not followed")
}

fn open_accepted(path: &Path) -> io::Result<(File, Metadata)> {
    let accepted = {
        let accepted = ACCEPTED.read().unwrap_or_else(PoisonError::into_inner);
        accepted.as_ref().and_then(|accepted| accepted.get(path).copied()).ok_or_else(refused)?
    };
    let (file, metadata) = regular(options(true).open(path)?)?;
    if identity(&metadata) == Some(accepted) { Ok((file, metadata)) } else { Err(refused()) }
}

/// Returns an open file if it is a regular one.
fn regular(file: File) -> io::Result<(File, Metadata)> {
    let metadata = file.metadata()?;
    if metadata.is_file() {
        return Ok((file, metadata));
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

fn open_here(path: &Path) -> io::Result<File> {
    options(false).open(path)
}

#[cfg(unix)]
fn options(follow: bool) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    // Opening a pipe does not wait for its other end, and a terminal does not become the
    // controlling terminal.
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    if !follow {
        flags |= OFlags::NOFOLLOW;
    }
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    options
}

#[cfg(windows)]
fn options(follow: bool) -> OpenOptions {
    use std::os::windows::fs::OpenOptionsExt as _;

    /// Opens the link itself.
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    let mut options = OpenOptions::new();
    options.read(true);
    if !follow {
        options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    }
    options
}

#[cfg(not(any(unix, windows)))]
fn options(_follow: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}

/// Whether opening failed because of a link. Systems disagree on the code.
#[cfg(unix)]
fn is_link(error: &io::Error, path: &Path) -> bool {
    use rustix::io::Errno;

    let code = error.raw_os_error();
    [Errno::LOOP, Errno::MLINK].iter().any(|link| code == Some(link.raw_os_error()))
        && path.is_symlink()
}

#[cfg(not(unix))]
fn is_link(_error: &io::Error, path: &Path) -> bool {
    path.is_symlink()
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems do not report it")]
fn identity(metadata: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;

    Some(Identity { device: metadata.dev(), inode: metadata.ino() })
}

#[cfg(not(unix))]
fn identity(_metadata: &Metadata) -> Option<Identity> {
    None
}

#[cfg(all(test, unix))]
mod tests;
